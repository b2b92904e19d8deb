"""Stages of random programs, nested, in threads and in asyncio tasks, belong to the sessions that the programs say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interpreter import Interpreter, read_capture


@pytest.mark.parametrize("seed", range(5))
def test_stages_belong_to_the_sessions_that_the_program_says(interpreter: Interpreter, seed: int) -> None:
    capture, counts, parents = interpreter.result(_program, seed)
    expected: dict[str, dict[str, int]] = {name: {} for name in counts}
    for name, count in counts.items():
        for around in _chain(name, parents):
            if count:
                expected[around][f"of {name}"] = count
    sessions = [s for s in read_capture(interpreter.folder / capture)["sessions"] if "stage_analysis" in s]
    assert len(sessions) >= min(len(counts), 40)
    for session in sessions:
        stages = (session["stage_analysis"] or {"stages": {}})["stages"]
        found = {name: row["call_count"] for name, row in stages.items() if name != "plain"}
        assert found == expected[session["name"]], session["name"]


def _chain(name: str | None, parents: dict[str, str | None]) -> Iterator[str]:
    while name is not None:
        yield name
        name = parents[name]


def _program(seed: int) -> tuple[object, ...]:
    import asyncio
    import random
    import threading

    import marey

    random.seed(seed)
    profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)
    counts, parents, lock = {}, {}, threading.Lock()

    def begin(parent):
        with lock:
            name = f"session {len(counts)}"
            counts[name], parents[name] = 0, parent
        return name

    def stage(session):
        with lock:
            counts[session] += 1
        return profiler.stage(f"of {session}")

    def block(chance, depth, current):
        for _ in range(chance.randint(1, 4) if depth < 5 else 0):
            kind = chance.random()
            if kind < 0.45 and current:
                with stage(current):
                    block(chance, depth + 1, current)
            elif kind < 0.6:
                with marey.profile_section("plain"):
                    block(chance, depth + 1, current)
            else:
                name = begin(current)
                with profiler.session(name):
                    block(chance, depth + 1, name)

    async def task(chance, depth, current):
        for _ in range(chance.randint(1, 4) if depth < 5 else 0):
            kind = chance.random()
            await asyncio.sleep(0)
            if kind < 0.5 and current:
                with stage(current):
                    await task(chance, depth + 1, current)
            elif kind < 0.65 and current:
                inner = [random.Random(chance.random()) for _ in range(2)]
                await asyncio.gather(*(asyncio.create_task(task(one, depth + 1, current)) for one in inner))
            else:
                name = begin(current)
                with profiler.session(name):
                    await task(chance, depth + 1, name)

    def in_threads():
        own = [random.Random(random.random()) for _ in range(2)]
        threads = [threading.Thread(target=block, args=(chance, 1, None)) for chance in own]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for _ in range(2):
        block(random.Random(random.random()), 0, None)
        in_threads()
        asyncio.run(task(random.Random(random.random()), 0, None))
    return str(marey.stop()), counts, parents
