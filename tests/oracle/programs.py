"""Random programs as trees of plain data: the same seed is the same program.

A node is ``{"op": …}``; what each one does is in ``player.py``. Names are neutral, so that no reader takes a section
for a step or a stage of its own; those that mean something are used on purpose.
"""

from __future__ import annotations

import random
from typing import Any

Node = dict[str, Any]

NAMES = ("alpha", "beta", "gamma", "delta", "attn", "mlp", "mix")
KINDS = (
    "nesting",
    "threads",
    "tasks",
    "generations",
    "caches",
    "resources",
    "cut off",
    "requests",
    "phases",
    "turns",
    "generators",
    "drops",
    "pipelines",
    "processes",
)
MIB = 1 << 20
# The smallest ring that there is.
ENVIRONMENTS = {"drops": {"MAREY_RING_RECORDS": "64"}}


def program(seed: int) -> Node:
    """The program of a seed."""
    return _Maker(seed).program()


class _Maker:
    """Draws one program."""

    def __init__(self, seed: int) -> None:
        self.kind = KINDS[seed % len(KINDS)]
        self.chance = random.Random(seed)
        self.seed = seed
        self.names_steps = self.chance.random() < 0.6
        self.direction = self.chance.choice(["up", "down"])
        self.has_sessions = self.chance.random() < 0.5
        self.n_sessions = self.n_loops = self.n_generations = self.n_names = 0

    def program(self) -> Node:
        body = {
            "nesting": self.nesting,
            "threads": self.threads,
            "tasks": self.tasks,
            "generations": self.generations,
            "caches": self.caches,
            "resources": self.resources,
            "cut off": self.cut_off,
            "requests": self.requests,
            "phases": self.phases,
            "turns": self.turns,
            "generators": self.generators,
            "drops": self.drops,
            "pipelines": self.pipelines,
            "processes": self.processes,
        }[self.kind]()
        made: Node = {"seed": self.seed, "kind": self.kind, "body": body}
        if self.kind == "cut off":
            ending = self.chance.choice(["exit", "kill", "raise"])
            if ending == "raise":
                made["raises"] = True
            else:
                self.put_deep(body, {"op": "cut_off", "how": ending})
        elif self.kind == "processes":
            made["others"] = [self.part() for _ in range(self.chance.randint(0, 2))]
            made["is_beside"] = self.chance.random() < 0.4
        else:
            self.put_deep(body, {"op": "pause"})
        if self.kind == "pipelines":
            made["profilers"] = 2
        made["environment"] = ENVIRONMENTS.get(self.kind, {})
        if self.kind in ("resources", "requests"):
            made["is_sampled"] = True
            made["configuration"] = {"cpu_monitor_interval": self.chance.choice([0.05, 1.0])}
        return made

    def put_deep(self, body: list[Node], last: Node) -> None:
        """Adds a last node: at the end, or within new sections there."""
        for _ in range(self.chance.randint(0, 2)):
            around = self.section([])
            around["how"] = "section"
            around["fails"] = False
            body.append(around)
            body = around["body"]
        body += [self.sleep(), last, self.sleep()]

    # Kinds of programs

    def nesting(self) -> list[Node]:
        return [self.section(self.sections(1)) for _ in range(self.chance.randint(2, 4))] + [self.loop()]

    def threads(self) -> list[Node]:
        if self.chance.random() < 0.5:  # Each has a session of its own.
            bodies = [[self.session([*self.sections(1), self.loop(), *self.told()])] for _ in range(self.few())]
            return [*self.sections(1), {"op": "threads", "bodies": bodies}]
        bodies = [[*self.sections(0), self.loop()] for _ in range(self.few())]
        return [self.session([*self.sections(1), self.section([{"op": "threads", "bodies": bodies}])])]

    def tasks(self) -> list[Node]:
        """All tasks have a session or none has: whose a task without one is while others have one, nobody can say."""
        around = self.chance.choice(["nothing", "section", "session", "session in each"])
        tasks = [self.task(1, may_begin=around == "session") for _ in range(self.few())]
        if around == "session in each":
            tasks = [[self.session(task)] for task in tasks]
        inside = {"op": "tasks", "bodies": tasks}
        if around == "section":
            return [self.section([inside]), *self.sections(1)]
        return [self.session([*self.sections(1), inside]) if around == "session" else inside, *self.sections(1)]

    def generations(self) -> list[Node]:
        body: list[Node] = [self.model()]
        for _ in range(self.chance.randint(1, 3)):
            inside = [*self.sections(1), *self.clip(), *self.told()]
            if self.chance.random() < 0.3:
                inside.insert(self.chance.randint(0, len(inside)), self.session([*self.clip(), *self.sections(1)]))
            body.append(self.session(inside) if self.chance.random() < 0.8 else self.section(inside))
        return body

    def caches(self) -> list[Node]:
        loops = [self.loop(is_cached=True) for _ in range(self.chance.randint(1, 3))]
        body = loops if self.chance.random() < 0.4 else [self.session([one]) for one in loops]
        for _ in range(self.chance.randint(0, 6)):
            outcome = self.chance.choice(["hit", "miss", "eviction"])
            held = {"held_bytes": self.chance.randint(0, 9999)} if self.chance.random() < 0.5 else {}
            # Of a cache of prompts: no step is answered by it.
            body.append({"op": "decide", "cache": "prompt_cache", "outcome": outcome, "details": held})
        for _ in range(self.chance.randint(0, 4)):
            given = [self.chance.choice(["hits", "miss", "evictions"]), self.chance.randint(0, 5000)]
            body.append({"op": "cache_event", "given": given})
        return body

    def resources(self) -> list[Node]:
        body: list[Node] = [{"op": "snapshot", "label": "begin"}]
        for index in range(self.chance.randint(2, 4)):
            size = self.chance.randint(4, 40) * MIB
            inside: list[Node] = [self.sleep(), {"op": "allocate", "name": f"held {index}", "bytes": size}]
            inside += [{"op": "snapshot", "label": f"held {index}"}, self.sleep()]
            if self.chance.random() < 0.7:
                inside.append({"op": "free", "name": f"held {index}"})
            name, size = f"file {index}", self.chance.randint(1, 8) * MIB
            moved: list[Node] = [{"op": "write_file", "name": name, "bytes": size}]
            moved += [{"op": "read_file", "name": name}] * self.chance.randint(0, 2)
            inside += [self.section(moved), *self.sections(2)] if self.chance.random() < 0.5 else moved
            inside += [{"op": "snapshot", "label": f"after {index}"}, *self.told()]
            body.append(self.section(inside))
        return body

    def cut_off(self) -> list[Node]:
        return [self.session([*self.sections(1), *self.clip()]), *self.sections(1), *self.told()]

    def requests(self) -> list[Node]:
        """A server: requests at the same time, each a session, some work in other threads."""
        requests = []
        for _ in range(self.chance.randint(2, 4)):
            inside = [{"op": "to_thread", "body": [*self.sections(1), *self.told()]}, *self.sections(2), *self.told()]
            self.chance.shuffle(inside)
            requests.append([self.sleep(), self.session([*inside, *self.clip()])])
        return [{"op": "tasks", "bodies": requests}]

    def phases(self) -> list[Node]:
        """Clips whose text encoding and VAE decoding are sections with such names."""
        has_text, has_vae = self.chance.random() < 0.7, self.chance.random() < 0.7
        body: list[Node] = []
        for _ in range(self.chance.randint(1, 3)):
            inside = [self.named("text_encoding", {})] if has_text else []
            inside += self.clip()
            inside += [self.named("vae_decode", {"frames": self.chance.randint(1, 16)})] if has_vae else []
            body.append(self.session(inside))
        return body

    def named(self, name: str, attributes: Node) -> Node:
        body = [{"op": "sleep", "ms": self.chance.choice([2, 4, 8])}]
        return {"op": "section", "name": name, "how": "section", "attributes": attributes, "body": body}

    def turns(self) -> list[Node]:
        """Loops that are timed turn by turn: the steps are these turns, or are reported without a time."""
        reports = self.chance.choice(["no", "no", "inside", "after"])
        body: list[Node] = []
        for _ in range(self.chance.randint(1, 3)):
            self.n_loops += 1
            frames = {"frames": self.chance.randint(1, 8)} if reports != "no" else {}
            turns = {"op": "turns", "number": self.n_loops, "count": self.chance.randint(2, 8), "reports": reports}
            turns |= frames | {"body": [*self.sections(3), {"op": "sleep", "ms": 1}]}
            around = self.section([turns])
            body.append(self.session([around]) if self.chance.random() < 0.5 else around)
        return body

    def generators(self) -> list[Node]:
        body: list[Node] = []
        for _ in range(self.chance.randint(2, 4)):
            made: Node = {"op": "generator", "name": f"frames {self.chance.randint(0, 2)}", "body": self.sections(3)}
            made |= {"count": self.chance.randint(0, 5), "consumer": [self.sleep(), *self.sections(3)]}
            body.append(self.section([made]) if self.chance.random() < 0.7 else made)
        return body

    def drops(self) -> list[Node]:
        """More sections than a small ring holds: totals stay exact, percentiles come from histograms."""
        body: list[Node] = []
        for name in ("alpha", "beta"):
            inner = {"op": "section", "name": "tiny", "how": "section", "body": []}
            body.append(self.section([inner] * self.chance.randint(300, 700)))
            body.append({"op": "section", "name": name, "how": "section", "body": [self.sleep(), inner, inner]})
        return body

    def pipelines(self) -> list[Node]:
        """Two pipelines with a profiler each, whose generations overlap; one may run in the steps of the other."""

        def other(*body: Node) -> Node:
            return {"op": "as", "who": 1, "body": list(body)}

        body: list[Node] = [self.model(), other(self.model())]
        for _ in range(self.chance.randint(1, 2)):
            inner: list[Node] = []
            for _ in range(self.chance.randint(1, 3)):
                inner += (
                    [*self.clip(), self.stage()] if self.chance.random() < 0.5 else [other(*self.clip(), self.stage())]
                )
                if self.chance.random() < 0.5:
                    around = self.loop()
                    for step in around["steps"]:
                        step["body"] = [self.sleep(), other(self.loop())]
                    inner.append(around)
            inner += [self.delivery(), other(self.delivery()), {"op": "event", "name": "saved", "data": {"frames": 3}}]
            first = self.session([])
            second = self.session([{"op": "as", "who": 0, "body": inner}])
            first["body"] += [self.stage(), other(second)]
            body.append(first)
        return body

    def processes(self) -> list[Node]:
        """A program of a command that starts others, each of which says what it did itself."""
        body = self.work()
        for _ in range(self.chance.randint(1, 3)):
            how = self.chance.choice(["fork", "programs", "pool"])
            bodies = [self.part() for _ in range(self.few())]
            if how == "fork" and self.chance.random() < 0.3:
                self.put_deep(bodies[0], {"op": "cut_off", "how": self.chance.choice(["exit", "kill"])})
            started: Node = {"op": how, "bodies": bodies, "beside": self.sections(3)}
            started["method"] = self.chance.choice(["fork", "spawn"])
            body.append(self.section([started]) if self.chance.random() < 0.5 else started)
        body += self.sections(2)
        return [self.session(body)] if self.has_sessions else body

    def part(self) -> list[Node]:
        """What one of several processes does. All have a session or none has, as tasks."""
        return [self.session(self.work())] if self.has_sessions else self.work()

    def work(self) -> list[Node]:
        self.n_names += 1
        made = [*self.sections(2), *(self.clip() if self.chance.random() < 0.5 else [self.loop()]), *self.told()]
        return [*made, {"op": "snapshot", "label": f"reading {self.n_names}"}]

    def stage(self) -> Node:
        return {"op": "section", "name": self.chance.choice(NAMES), "how": "stage", "body": [self.sleep()]}

    # Pieces

    def few(self) -> int:
        return self.chance.randint(2, 3)

    def sleep(self) -> Node:
        return {"op": "sleep", "ms": round(self.chance.choice([0, 0.1, 1, 2, 4]) * self.chance.random(), 3)}

    def section(self, body: list[Node]) -> Node:
        how = self.chance.choices(["section", "stage", "iteration"], [4, 3, 1])[0]
        name = f"loop {self.chance.choice('xyz')}" if how == "iteration" else self.chance.choice(NAMES)
        fails = self.chance.random() < 0.15
        return {"op": "section", "name": name, "how": how, "body": [*body, self.sleep()], "fails": fails}

    def sections(self, depth: int) -> list[Node]:
        """Some sections and calls, nested up to four deep."""
        made: list[Node] = []
        for _ in range(self.chance.randint(1, 3) if depth < 4 else 0):
            kind = self.chance.random()
            if kind < 0.12:
                made.append(
                    {"op": "function", "name": "recursive", "depth": self.chance.randint(1, 4), "body": [self.sleep()]}
                )
            elif kind < 0.25:  # The same many times, so that percentiles mean something.
                turn = self.section([])
                made += [{**turn, "body": [self.sleep()]} for _ in range(self.chance.randint(5, 25))]
            else:
                made.append(self.section(self.sections(depth + 1)))
        return made

    def session(self, body: list[Node]) -> Node:
        self.n_sessions += 1
        tags = {"seed": self.chance.randint(0, 99), "model": "wan"} if self.chance.random() < 0.5 else {}
        return {"op": "session", "name": f"clip-{self.n_sessions}", "tags": tags, "body": [self.sleep(), *body]}

    def task(self, depth: int, *, may_begin: bool) -> list[Node]:
        body: list[Node] = [self.sleep()]
        for _ in range(self.chance.randint(1, 3)):
            kind = self.chance.random()
            if kind < 0.5:
                body.append(self.section([*self.sections(3), self.sleep()]))
            elif kind < 0.65 and depth < 3:
                inner = [self.task(depth + 1, may_begin=may_begin) for _ in range(2)]
                body.append(self.section([{"op": "tasks", "bodies": inner}]))
            elif kind < 0.8 or not may_begin:
                body.append({"op": "to_thread", "body": self.sections(2)})
            else:
                body.append(self.session([self.section([self.sleep()]), self.loop(), *self.told()]))
        return body

    def clip(self) -> list[Node]:
        """One generation: blocks of a video, or one loop."""
        if self.chance.random() < 0.3:
            return [self.loop()]
        self.n_generations += 1
        made: list[Node] = []
        for block in range(self.chance.randint(1, 4)):
            # Where a loop without a block may come before, its last number must not be the first of this one.
            direction = self.direction if self.kind == "pipelines" else self.chance.choice(["up", "down"])
            made.append(self.loop(block=block, direction=direction))
            if self.chance.random() < 0.7:
                made.append(self.delivery())
        return made

    def loop(self, *, is_cached: bool = False, block: int | None = None, direction: str | None = None) -> Node:
        """A loop of two steps or more: of one alone nobody can say where the next begins."""
        self.n_loops += 1
        n_steps, n_passes = self.chance.randint(2, 6), self.chance.choice([1, 1, 1, 2, 2, 3])
        frames = self.chance.choice([None, 1, 3, 8])
        guidance = self.chance.choice([None, 1.0, 6.5])
        has_timesteps = self.chance.random() < 0.8
        is_heun = has_timesteps and n_passes == 2 and self.chance.random() < 0.4
        numbers = list(range(n_steps))
        if (direction or self.direction) == "down":
            numbers.reverse()
        slow = self.chance.randrange(1, n_steps) if self.chance.random() < 0.3 else None
        steps = []
        for turn, number in enumerate(numbers):
            reported: Node = {"step": number, "block_size": frames, "guidance_scale": guidance}
            if has_timesteps:
                reported["timestep"] = round(1 - turn / n_steps, 4)
            ms = 15 if turn == slow else self.chance.choice([0.5, 1, 1.5])
            passes = [reported] * n_passes
            if is_heun:  # The second evaluation is at the time step of the next step.
                passes = [reported, reported | {"timestep": round(1 - (turn + 1) / n_steps, 4)}]
            step: Node = {"passes": passes, "body": [{"op": "sleep", "ms": ms}]}
            if is_cached:
                step |= self.answered(number)
            steps.append(step)
        made: Node = {"op": "loop", "number": self.n_loops, "steps": steps, "is_timed": True}
        if block is not None:
            memory = {"memory_usage_mb": self.chance.randint(100, 900)} if self.chance.random() < 0.7 else {}
            made["block"] = {"block_index": block, "block_size": frames, **memory}
            made["generation"] = self.n_generations
        return made

    def answered(self, number: int) -> Node:
        """What a step cache decided of a step, and so whether it is cached."""
        is_hit = self.chance.random() < 0.5
        details: Node = {"score": round(self.chance.random(), 3), "threshold": 0.5}
        if self.names_steps:
            details["step"] = number
        if self.chance.random() < 0.5:
            details["held_bytes"] = self.chance.randint(1, 1 << 20)
        outcome = "hit" if is_hit else "miss"
        return {
            "cached": is_hit,
            "decisions": [{"op": "decide", "cache": "teacache", "outcome": outcome, "details": details}],
        }

    def model(self) -> Node:
        self.n_names += 1
        given: Node = {"model_name": f"model {self.n_names}", "parameters_count": self.chance.randint(1000, 10**9)}
        if self.chance.random() < 0.5:
            given["model_type"] = "transformer"
        return {"op": "model", "given": given}

    def delivery(self) -> Node:
        given: Node = {"batch_size": self.chance.randint(1, 5)}
        if self.chance.random() < 0.7:
            given |= {"encoding_time_ms": self.chance.randint(1, 9), "network_latency_ms": self.chance.randint(1, 30)}
        if self.chance.random() < 0.5:
            given["buffer_occupancy"] = self.chance.randint(0, 100) / 100
        return {"op": "deliver", "given": given}

    def told(self) -> list[Node]:
        """Some of the other things that programs tell."""
        every: list[Node] = [
            {"op": "event", "name": self.chance.choice(["saved", "moved"]), "data": self.data()},
            {"op": "counter", "name": self.chance.choice(["kv_bytes", "queue"]), "value": self.chance.randint(-5, 900)},
            self.delivery(),
            {"op": "drop", "count": self.chance.randint(1, 4)},
            {"op": "memory_event", "given": {"event_type": "alloc", "size_bytes": 1 << 20, "allocator": "cuda"}},
            {"op": "layer", "name": f"layer {self.chance.randint(0, 2)}", "parameters": 64, "body": [self.sleep()]},
            self.model(),
        ]
        return self.chance.sample(every, self.chance.randint(0, 4))

    def data(self) -> Node:
        every: Node = {
            "frames": self.chance.randint(0, 81),
            "scale": 0.5,
            "is_last": True,
            "codec": "h264",
            "shape": [3, 480, 832],
            "seed": None,
        }
        return {key: every[key] for key in self.chance.sample(sorted(every), self.chance.randint(0, 4))}
