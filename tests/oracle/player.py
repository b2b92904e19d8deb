"""Plays a program inside the process that Marey records, and logs by its own clock what it does.

Run as ``python player.py PROGRAM.json LOGS``. What is logged is known without Marey: stamps of ``time.perf_counter_ns``
right outside and right inside each section, the path of names that this player keeps itself, sizes and readings of its
own. Each process has a file in the folder of logs. Each line is written at once, so that the log of a program that is
cut off is as long as its life.
"""

from __future__ import annotations

import asyncio
import contextvars
import itertools
import json
import mmap
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import marey
from own_readings import PAGE, resident, usage_now, used_now

Node = dict[str, Any]
now = time.perf_counter_ns
QUIET = {"real_time_display": False, "generate_final_report": False, "save_raw_data": False}


class Oops(Exception):
    """What a section fails with."""


class Player:
    """Plays one program, and appends lines to a file of the process in a folder of logs."""

    def __init__(self, program: Node, logs: Path) -> None:
        self.program = program
        self.logs = logs
        self.log = self.opened_log()
        self.numbers = itertools.count()
        self.path: contextvars.ContextVar[tuple[str, ...]] = contextvars.ContextVar("path", default=())
        # Which of the program's profilers is told things, and the session that each has begun here.
        self.who: contextvars.ContextVar[int] = contextvars.ContextVar("who", default=0)
        self.sessions: contextvars.ContextVar[dict[int, str]] = contextvars.ContextVar("sessions")
        self.profilers: list[marey.Profiler] = []
        # Whether the next section is an outermost one of a task, which runs beside what was open where the task began.
        self.beside: contextvars.ContextVar[bool] = contextvars.ContextVar("beside", default=False)
        self.loops: dict[str, marey.IterationProfiler] = {}
        self.held: dict[str, mmap.mmap] = {}
        self.files: dict[str, Path] = {}
        self.no_task: tuple[str, ...] = ()

    def opened_log(self) -> int:
        self.logs.mkdir(exist_ok=True)
        return os.open(self.logs / str(os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    @property
    def profiler(self) -> marey.Profiler:
        return self.profilers[self.who.get()]

    @property
    def session(self) -> str | None:
        return self.sessions.get({}).get(self.who.get())

    def write(self, kind: str, **fields: Any) -> None:
        """Appends a line; what is known of the place comes along."""
        place = {"thread": threading.current_thread().name, "session": self.session, "path": self.path.get()}
        if kind == "enter":
            place["task"] = task_now()
        os.write(self.log, (json.dumps({"kind": kind} | place | fields) + "\n").encode())

    def noted(self, kind: str, call: Callable[[], Any], **fields: Any) -> Any:
        """Makes a call of Marey's between two stamps."""
        wall, before = time.time_ns(), now()
        made = call()
        self.write(kind, at=[before, now()], wall=[wall, time.time_ns()], **fields)
        return made

    # Sections, sessions, loops

    @contextmanager
    def inside(self, node: Node) -> Iterator[list[list[int]]]:
        """Within a section or a turn; what it raises on purpose ends here. Gives the stamps of its ends, at last."""
        ends: list[list[int]] = []
        number = next(self.numbers)
        name, how = node["name"], node.get("how", "section")
        is_beside = self.beside.get()
        mark = ("~" if is_beside else "") + ("@" if how == "iteration" else "") + name
        opened = self.opened(name, how, node.get("attributes", {}))
        path = self.path.set((*self.path.get(), mark))
        beside = self.beside.set(False)
        is_read = self.program.get("is_sampled", False) and len(self.path.get()) <= 2
        used = [used_now()] if is_read else []
        before = now()
        try:
            with opened:
                entered = now()
                told = {key: node[key] for key in ("attributes", "loop") if key in node}
                self.write("enter", number=number, how=how, at=[before, entered], **told)
                used += [used_now()] if is_read else []
                try:
                    yield ends
                    if node.get("fails"):
                        raise Oops
                finally:
                    used += [used_now()] if is_read else []
                    leaving = now()
        except Oops:
            pass
        after = now()
        used += [used_now()] if is_read else []
        ends += [[before, entered], [leaving, after]]
        self.write("leave", number=number, at=[leaving, after], failed=bool(node.get("fails")), used=used)
        self.path.reset(path)
        self.beside.reset(beside)

    def opened(self, name: str, how: str, attributes: Node) -> Any:
        if how == "iteration":
            return self.loops.setdefault(name, marey.IterationProfiler(name)).iteration()
        if how == "stage":
            return self.profiler.stage(name, attributes or None)
        return marey.profile_section(name, **attributes)

    @contextmanager
    def generation(self, node: Node) -> Iterator[None]:
        """Within a session."""
        used = [used_now()]
        before, parent = now(), self.session
        with self.profiler.session(node["name"], node.get("tags")):
            used += [used_now()]
            token = self.sessions.set(self.sessions.get({}) | {self.who.get(): node["name"]})
            self.write("begin", name=node["name"], tags=node.get("tags", {}), parent=parent, at=[before, now()])
            try:
                yield
            finally:
                self.sessions.reset(token)
                used += [used_now()]
                leaving = now()
        after = now()
        self.write("end", name=node["name"], at=[leaving, after], used=[*used, used_now()])

    def play(self, nodes: list[Node]) -> None:
        """Plays nodes one after the other in this thread."""
        for node in nodes:
            match node["op"]:
                case "section":
                    with self.inside(node):
                        self.play(node["body"])
                case "function":
                    self.call(node)
                case "session":
                    with self.generation(node):
                        self.play(node["body"])
                case "sleep":
                    time.sleep(node["ms"] / 1e3)
                case "as":
                    token = self.who.set(node["who"])
                    self.play(node["body"])
                    self.who.reset(token)
                case "threads":
                    self.in_threads(node["bodies"])
                case "tasks":
                    self.no_task = self.path.get()
                    asyncio.run(self.gather(node["bodies"]))
                case other:
                    getattr(self, other)(node)

    async def play_in_task(self, nodes: list[Node]) -> None:
        """The same in a task; what waits lets other tasks run."""
        for node in nodes:
            match node["op"]:
                case "section":
                    with self.inside(node):
                        await self.play_in_task(node["body"])
                case "session":
                    with self.generation(node):
                        await self.play_in_task(node["body"])
                case "sleep":
                    await asyncio.sleep(node["ms"] / 1e3)
                case "tasks":
                    await self.gather(node["bodies"])
                case "to_thread":
                    await asyncio.to_thread(self.play_elsewhere, node["body"])
                case _:
                    self.play([node])

    async def gather(self, bodies: list[list[Node]]) -> None:
        """Tasks at the same time."""

        def begun(body: list[Node]) -> Awaitable[None]:
            async def task() -> None:
                self.beside.set(True)
                await self.play_in_task(body)

            return asyncio.create_task(task())

        await asyncio.gather(*map(begun, bodies))

    def play_elsewhere(self, body: list[Node]) -> None:
        """In a thread that has the caller's context: its outermost sections run beside what tasks there have open."""
        # What the thread of the loop has open by itself is not in that context: then they are the worker's own.
        has_none = self.path.get() == self.no_task
        beside = self.beside.set(not has_none)
        if has_none:
            self.path.set(())
        self.play(body)
        self.beside.reset(beside)

    def in_threads(self, bodies: list[list[Node]]) -> None:
        names = [f"thread-{next(self.numbers)}" for _ in bodies]
        threads = [
            threading.Thread(target=self.play, args=(body,), name=name)
            for body, name in zip(bodies, names, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # Other processes

    def fork(self, node: Node) -> None:
        """Forked processes, in which nothing is open of what is open here, and what this one does beside them."""
        for body in node["bodies"]:
            if os.fork() == 0:
                self.log = self.opened_log()
                self.path.set(())
                self.sessions.set({})
                self.play_as_a_part(body)
                os._exit(0)
        self.play(node["beside"])
        for _ in node["bodies"]:
            child, _ = os.wait()
            self.write("gone", pid=child, at=[now(), now()])

    def programs(self, node: Node) -> None:
        """Programs that are started as a user's would be."""
        started = []
        for body in node["bodies"]:
            program = Path(f"{os.getpid()}-{next(self.numbers)}.json")
            program.write_text(json.dumps(self.program | {"body": body}))
            started.append(subprocess.Popen([sys.executable, __file__, program, self.logs]))
        self.play(node["beside"])
        assert [program.wait() for program in started] == [0] * len(started)

    def pool(self, node: Node) -> None:
        """Workers of ``multiprocessing``, each of which may play several bodies."""
        tasks = [(self.program | {"body": body}, self.logs) for body in node["bodies"]]
        with multiprocessing.get_context(node["method"]).Pool(2) as pool:
            played = pool.starmap_async(play_in_worker, tasks, chunksize=1)
            self.play(node["beside"])
            played.get(120)
            pool.close()
            pool.join()

    def play_as_a_part(self, body: list[Node]) -> None:
        """What one process of several does; the recording is that of the command."""
        self.write("start", is_sampled=False, at=when_it_began())
        self.play(body)
        self.write("stop", at=[now(), now()], usage=[usage_now(), usage_now()])

    def call(self, node: Node) -> None:
        """A decorated function that calls itself ``depth`` times: the same name, deeper each time."""
        numbers = [next(self.numbers) for _ in range(node["depth"])]
        calling: list[int] = []
        leaving: list[int] = []

        def outside(level: int) -> None:
            calling.append(now())
            recurse(level)
            after = now()
            self.write("leave", number=numbers[level], at=[leaving.pop(), after], failed=False)

        @marey.profile_function(node["name"])
        def recurse(level: int) -> None:
            entered = now()
            path = self.path.set((*self.path.get(), ("~" if self.beside.get() else "") + node["name"]))
            beside = self.beside.set(False)
            self.write("enter", number=numbers[level], how="section", at=[calling[level], entered])
            self.play(node["body"])
            if level + 1 < len(numbers):
                outside(level + 1)
            self.path.reset(path)
            self.beside.reset(beside)
            leaving.append(now())

        outside(0)

    def generator(self, node: Node) -> None:
        """A decorated generator, and what its consumer does between two items, which is none of its time."""
        number = next(self.numbers)
        resumed: list[int] = []
        suspended: list[int] = []

        @marey.profile_function(node["name"])
        def items() -> Iterator[int]:
            for item in range(node["count"] + 1):
                resumed.append(now())
                mark = ("~" if is_beside else "") + node["name"]
                path = self.path.set((*self.path.get(), mark))
                beside = self.beside.set(False)
                if item == 0:
                    self.write("enter", number=number, how="section", at=[asked[0], resumed[0]])
                if item < node["count"]:
                    self.play(node["body"])
                self.path.reset(path)
                self.beside.reset(beside)
                suspended.append(now())
                if item < node["count"]:
                    yield item

        is_beside = self.beside.get()
        asked: list[int] = []
        given: list[int] = []
        made = items()
        while True:
            asked.append(now())
            item = next(made, None)
            given.append(now())
            if item is None:
                break
            self.play(node["consumer"])
        ran = [(sum(suspended) - sum(resumed)) / 1e9, (sum(given) - sum(asked)) / 1e9]
        self.write("leave", number=number, at=[suspended[-1], given[-1]], failed=False, ran=ran)

    def turns(self, node: Node) -> None:
        """Turns of a loop of denoising steps; where they are reported, without a time, in the turn or after it."""
        for turn in range(node["count"]):
            before = after = 0
            given = {"step": turn, "block_size": node.get("frames")}

            def report(given: Node = given) -> tuple[int, int]:
                begun = now()
                self.profiler.record_diffusion_step(**given)
                return begun, now()

            with self.inside({"name": "denoising_step", "how": "iteration", "loop": node["number"]}) as ends:
                self.play(node["body"])
                if node["reports"] == "inside":
                    before, after = report()
            if node["reports"] == "after":
                before, after = report()
            if after:
                place = {"loop": node["number"], "turn": turn, "cached": None}
                self.write("step", at=[before, after], of_turn=ends, given=given, **place)

    # What a program tells of its work

    def loop(self, node: Node) -> None:
        """A loop of denoising steps, each of one or more passes that are reported with the time that they took."""
        begun, number = now(), next(self.numbers)  # The same node may be played again: that is another loop.
        for turn, step in enumerate(node["steps"]):
            for decision in step.get("decisions", []):
                self.decide(decision)
            for reported in step["passes"]:
                pass_begun = now()
                self.play(step["body"])
                took = {"computation_time_ms": (now() - pass_begun) / 1e6} if node["is_timed"] else {}
                given = reported | took
                self.noted(
                    "step",
                    lambda given=given: self.profiler.record_diffusion_step(**given),
                    loop=number,
                    turn=turn,
                    cached=step.get("cached"),
                    given=given,
                )
        if "block" in node:
            given = node["block"] | {"computation_time_ms": (now() - begun) / 1e6}
            self.noted(
                "block",
                lambda: self.profiler.record_block_computation(**given),
                loop=number,
                generation=node["generation"],
                given=given,
            )

    def decide(self, node: Node) -> None:
        cache, kind, details = node["cache"], node["outcome"], node.get("details", {})
        self.noted(
            "decision",
            lambda: self.caches.record_event(cache, kind=kind, **details),
            cache=cache,
            outcome=kind,
            details=details,
        )

    def cache_event(self, node: Node) -> None:
        given = node["given"]
        self.noted("cache_event", lambda: self.profiler.record_cache_event(*given), given=given)

    def model(self, node: Node) -> None:
        given = node["given"]
        self.noted("model", lambda: self.profiler.record_model_parameters(**given), given=given)

    def event(self, node: Node) -> None:
        name, data = node["name"], node["data"]
        self.noted("event", lambda: self.profiler.add_event(name, data), name=name, data=data)

    def counter(self, node: Node) -> None:
        name, value = node["name"], node["value"]
        self.noted("counter", lambda: marey.counter(name, value), name=name, value=value)

    def deliver(self, node: Node) -> None:
        given = node["given"]
        self.noted("delivery", lambda: self.profiler.record_streaming_event(**given), given=given)

    def drop(self, node: Node) -> None:
        count = node["count"]
        self.noted("dropped", lambda: self.profiler.record_dropped_frames(count), count=count)

    def memory_event(self, node: Node) -> None:
        given = node["given"]
        self.noted("memory_event", lambda: self.profiler.record_memory_event(**given), given=given)

    def layer(self, node: Node) -> None:
        before = now()
        with self.profiler.layer(node["name"], node.get("parameters")):
            entered = now()
            self.play(node["body"])
            leaving = now()
        left = now()
        took = [leaving - entered, left - before]
        self.write("layer", name=node["name"], parameters=node.get("parameters"), took=took, at=[leaving, left])

    # Memory and files

    def allocate(self, node: Node) -> None:
        held = self.held[node["name"]] = mmap.mmap(-1, node["bytes"])
        for at in range(0, node["bytes"], PAGE):
            held[at] = 1
        self.write("allocated", name=node["name"], bytes=node["bytes"], at=[now(), now()])

    def free(self, node: Node) -> None:
        self.held.pop(node["name"]).close()

    def snapshot(self, node: Node) -> None:
        before = resident()
        self.noted("snapshot", lambda: self.memory.snapshot(node["label"]), label=node["label"], before=before)
        self.write("resident", label=node["label"], after=resident())

    def write_file(self, node: Node) -> None:
        path = self.files[node["name"]] = Path(node["name"])
        path.write_bytes(b"\x2a" * node["bytes"])
        self.write("written", bytes=node["bytes"])

    def read_file(self, node: Node) -> None:
        self.write("read", bytes=len(self.files[node["name"]].read_bytes()))

    # Looks and ends

    def pause(self, _node: Node) -> None:
        """Asks Marey in the process, says that somebody may look from outside, and waits until they have."""
        self.write("pause", at=[now(), now()])
        told = {
            "sections": marey.get_global_stats().get_all_stats(),
            "loops": {name: loop.get_stats() for name, loop in self.loops.items()},
            "caches": self.caches.to_markdown(),
        }
        Path("told.json").write_text(json.dumps(told))
        print("ready", flush=True)
        sys.stdin.readline()
        self.write("resume", at=[now(), now()])

    def cut_off(self, node: Node) -> None:
        self.write("cut", how=node["how"], at=[now(), now()])
        if node["how"] == "exit":
            os._exit(3)
        os.kill(os.getpid(), signal.SIGKILL)

    def wait_for_the_first_reading(self) -> None:
        """What the process does before its sampler has read once is in no total, and that takes some milliseconds."""
        until = now() + 120_000_000_000
        while "cpu" not in self.profilers[0].get_current_metrics():
            assert now() < until, "nothing was read"
            time.sleep(0.001)

    def prepare(self) -> None:
        self.caches = marey.CacheEventRecorder()
        self.memory = marey.MemoryTracker()

    def run(self) -> None:
        """The whole program, from the start of the recording to its end."""
        if "others" in self.program:
            self.profilers = [marey.Profiler(enabled=True, **QUIET)]
            self.prepare()
            return self.play_as_a_part(self.program["body"])
        usage = usage_now()
        wall, before = time.time_ns(), now()
        asked = {"enabled": True, "output_dir": "out"} | QUIET | self.program.get("configuration", {})
        self.profilers = [marey.Profiler(**asked) for _ in range(self.program.get("profilers", 1))]
        started, ended = now(), time.time_ns()
        is_sampled = self.program.get("is_sampled", False)
        if is_sampled:
            self.wait_for_the_first_reading()
        stamps: Node = {"at": [before, started], "wall": [wall, ended], "usage": [usage, usage_now()]}
        self.write("start", is_sampled=is_sampled, **stamps)
        self.prepare()
        self.play(self.program["body"])
        if self.program.get("raises"):
            self.write("raise", at=[now(), now()])
            raise Oops
        usage, before = usage_now(), now()
        marey.stop()
        self.write("stop", at=[before, now()], usage=[usage, usage_now()])


def task_now() -> str | None:
    """The task that runs in this thread."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    return task and task.get_name()


def when_it_began() -> list[int]:
    """When this process was made, by the kernel: to a tick, counted since the machine was started."""
    after_name = Path("/proc/self/stat").read_text().rpartition(") ")[2].split()
    tick = 10**9 // os.sysconf("SC_CLK_TCK")
    slept = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - now()
    began = int(after_name[19]) * tick - slept
    return [began, began + tick]


WORKERS: dict[int, Player] = {}


def play_in_worker(program: Node, logs: Path) -> None:
    """In a worker of a pool, which may be a fork of the player: one player plays all that it is given."""
    if os.getpid() not in WORKERS:
        player = WORKERS[os.getpid()] = Player(program, logs)
        player.profilers = [marey.Profiler(enabled=True, **QUIET)]
        player.prepare()
    WORKERS[os.getpid()].play_as_a_part(program["body"])


if __name__ == "__main__":
    Player(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])).run()
