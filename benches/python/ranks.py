#!/usr/bin/env python3
"""What putting many ranks together costs.

    python benches/python/ranks.py [--ranks 1024] [--sections 100000] [--summaries 10000] [--folder DIR] [--ray]

Rows F1 and F2, and F3 with `--ray`; `--strict` fails when a target is missed. The captures are recorded by the real
recorder (the example `many_ranks` of the crate `marey`), two at a time, into a folder below DIR that is removed at the
end: some 5 GB for 1 024 ranks of 10^5 sections. F1 is the whole command `marey aggregate`, its start included. F2 is
the same of documents of summaries, which are those of F1 with other ranks and numbers, in files of 64. F3 is F1 with
this Python's `marey`, in turns with the same by a Ray cluster of two processors that runs already, the connecting
included; this Python needs marey and ray. The page cache is as recording leaves it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
F1 = (20.0, 2 << 30)
F2 = 10.0
F3 = 1.5
IN_FILE = 64
REPEATS = 3


def built() -> Path:
    """The folder with the programs, in release."""
    cargo = ["cargo", "build", "--release", "--locked", "--quiet"]
    subprocess.run([*cargo, "-p", "marey-cli", "--bin", "marey"], cwd=ROOT, check=True)
    subprocess.run([*cargo, "-p", "marey", "--example", "many_ranks"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def record(programs: Path, folder: Path, ranks: int, sections: int) -> None:
    """The captures of all ranks of a job, by two processes, one half each."""
    half = ranks // 2
    numbers = [(0, half), (half, ranks)]
    environment = {**os.environ, "MAREY_RING_DIR": str(folder / "rings")}
    command = [str(programs / "examples/many_ranks"), str(folder / "out"), "job", str(ranks)]
    recorders = [
        subprocess.Popen([*command, str(first), str(end), str(sections)], env=environment) for first, end in numbers
    ]
    if any(recorder.wait() != 0 for recorder in recorders):
        raise SystemExit("a rank could not be recorded")


def measured(command: list[str]) -> tuple[float, float, int]:
    """Wall time, CPU time and peak memory of a command that may say that something is missing."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{command[1]} failed")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def multiplied(summaries: Path, folder: Path, wanted: int) -> int:
    """Documents with that many summaries; returns their bytes."""
    folder.mkdir()
    ranks = json.loads(summaries.read_bytes())["ranks"]
    size = 0
    for number in range(0, wanted, IN_FILE):
        part = []
        for rank in range(number, min(number + IN_FILE, wanted)):
            one = ranks[rank % len(ranks)]
            process = {**one["process"], "rank": rank, "world_size": wanted, "pid": rank + 1}
            part.append({**one, "process": process, "file": f"rank{rank}.marey"})
        document = json.dumps({"marey_rank_summaries": 1, "ranks": part, "unread": []})
        size += (folder / f"{number}.ranks.json").write_text(document)
    return size


def by_ray(job: Path, folder: Path) -> bool:
    """Prints the time of a Ray cluster against that of one process; raises when their answers differ."""
    from ray.cluster_utils import Cluster

    command = [sys.executable, "-m", "marey", "aggregate", str(job), "--output"]
    answers = [folder / "local.json", folder / "ray.json"]
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        engines = [[], ["--engine", "ray", "--address", cluster.address]]
        walls = [[measured([*command, str(answers[at]), *engines[at]])[0] for at in (0, 1)] for _ in range(REPEATS)]
    finally:
        cluster.shutdown()
    local, with_ray = (json.loads(answer.read_bytes()) for answer in answers)
    if local != with_ray:
        raise SystemExit("Ray's answers differ from the local ones")
    ratios = sorted(ray_wall / local_wall for local_wall, ray_wall in walls)
    middle = ratios[len(ratios) // 2]
    verdict = "holds" if middle <= F3 else "missed"
    seconds = ", ".join(f"{ray_wall:.2f}/{local_wall:.2f} s" for local_wall, ray_wall in walls)
    print(f"F3: {middle:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) times the local time, {seconds}: {verdict}")
    return middle <= F3


def row(name: str, wall: float, cpu: float, peak: int, is_met: bool) -> bool:
    """Prints a measurement."""
    verdict = "holds" if is_met else "missed"
    print(f"{name}: {wall:.2f} s wall, {cpu:.2f} s CPU, {peak / 2**20:.0f} MiB: {verdict}", flush=True)
    return is_met


def main() -> None:
    """Measure both rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--sections", type=int, default=100_000)
    parser.add_argument("--summaries", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--ray", action="store_true", help="F3, too")
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed")
    options = parser.parse_args()
    programs = built()
    marey = str(programs / "marey")
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="marey-ranks-") as made:
        folder = Path(made)
        record(programs, folder, options.ranks, options.sections)
        job = folder / "out/job"
        size = sum(capture.stat().st_size for capture in job.glob("*.marey"))
        print(f"{options.ranks} captures of {options.sections} sections, {size / 1e6:.0f} MB", flush=True)
        f1 = measured([marey, "aggregate", str(job)])
        name = f"F1, {options.ranks} ranks"
        met = [row(name, *f1, f1[0] <= F1[0] and f1[2] <= F1[1])]
        if options.ray:
            met.append(by_ray(job, folder))
        summaries = folder / "all.ranks.json"
        measured([marey, "aggregate", str(job), "--output", str(summaries)])
        print(f"a summary has {summaries.stat().st_size / options.ranks / 1e3:.1f} kB")
        parts = folder / "summaries"
        size = multiplied(summaries, parts, options.summaries)
        f2 = measured([marey, "aggregate", str(parts)])
        met.append(row(f"F2, {options.summaries} summaries, {size / 1e6:.0f} MB", *f2, f2[0] <= F2))
    if options.strict and not all(met):
        sys.exit(1)


if __name__ == "__main__":
    main()
