#!/usr/bin/env python3
"""What reports of large captures cost: CPU seconds and memory of the command.

    python benches/python/reports.py [--sections 10000000] [--repeats 3] [--json out.json] [--strict]

Captures are recorded by the example ``volume`` of the crate ``marey``. Row C2: text and JSON are made of one in
processes of their own, one after the other, ``--repeats`` times; the row's time is the median of both together, its
memory the highest. Rows I4: half as many sections in sessions of 250, against the same sections in no session, in
turns; ratios of the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET_S, TARGET_BYTES = 5.0, 1 << 30
TARGET_RATIO = 1.2


def built(package: str, *what: str) -> Path:
    """The folder of what cargo built."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", package, *what], cwd=ROOT, check=True)
    return ROOT / "target" / "release"


def cost(command: list[str]) -> tuple[float, int]:
    """CPU seconds and highest resident bytes of a command that ends well."""
    with open(os.devnull, "wb") as nothing:
        process = subprocess.Popen(command, stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def recorded(volume: Path, folder: Path, *what: int) -> Path:
    """A capture with room for all of its sections."""
    environment = {**os.environ, "MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": str(folder), "MAREY_JOB_ID": "job"}
    environment["MAREY_CAPTURE_BYTES"] = "1_000_000_000"
    subprocess.run([str(volume), *map(str, what)], env=environment, check=True)
    [capture] = folder.glob("job/*.marey")
    return capture


def reports(marey: Path, capture: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """Row C2."""
    costs = [
        [cost([str(marey), "report", str(capture), "--format", form]) for form in ("text", "json")]
        for _ in range(arguments.repeats)
    ]
    seconds = [text[0] + document[0] for text, document in costs]
    median, peak, size = statistics.median(seconds), max(at for pair in costs for _, at in pair), capture.stat().st_size
    holds = median <= TARGET_S and peak <= TARGET_BYTES
    print(f"{arguments.sections} sections, capture of {size / 1e6:.0f} MB, {arguments.repeats} repeats")
    time = f"{median:.2f} s CPU ({min(seconds):.2f}-{max(seconds):.2f}), target {TARGET_S:.0f} s"
    memory = f"at most {peak / (1 << 20):.0f} MiB, target {TARGET_BYTES >> 20} MiB"
    print(f"C2  text and JSON report: {time}; {memory}: {'holds' if holds else 'MISSED'}")
    return {
        "id": "C2",
        "sections": arguments.sections,
        "capture_bytes": size,
        "cpu_s": median,
        "cpu_s_spread": [min(seconds), max(seconds)],
        "peak_bytes": peak,
        "holds": holds,
    }


def sessions(marey: Path, without: Path, with_sessions: Path, out: Path, repeats: int) -> list[dict[str, object]]:
    """Rows I4."""
    rows: list[dict[str, object]] = []
    for name, *command in (
        ("text", "report", "CAPTURE"),
        ("JSON", "report", "CAPTURE", "--format", "json"),
        ("aggregate", "aggregate", "CAPTURE"),
        ("Parquet", "export", "CAPTURE", "--format", "parquet", "--output", str(out)),
    ):
        costs: list[list[tuple[float, int]]] = [[], []]
        for _ in range(repeats):
            for capture, own in zip((without, with_sessions), costs, strict=True):
                shutil.rmtree(out, ignore_errors=True)
                own.append(cost([str(marey), *(str(capture) if word == "CAPTURE" else word for word in command)]))
        seconds = [statistics.median(at for at, _ in own) for own in costs]
        bytes_ = [statistics.median(at for _, at in own) for own in costs]
        ratios = [seconds[1] / seconds[0], bytes_[1] / bytes_[0]]
        holds = max(ratios) <= TARGET_RATIO
        print(
            f"I4  {name}: {seconds[0]:.2f} -> {seconds[1]:.2f} s CPU, {ratios[0]:.2f}; "
            f"{bytes_[0] / (1 << 20):.0f} -> {bytes_[1] / (1 << 20):.0f} MiB, {ratios[1]:.2f}; "
            f"target {TARGET_RATIO}: {'holds' if holds else 'MISSED'}"
        )
        rows.append({"id": "I4", "what": name, "cpu_s": seconds, "bytes": bytes_, "ratios": ratios, "holds": holds})
    return rows


def main() -> None:
    """Measures and prints the row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--strict", action="store_true", help="fail when the row misses its target")
    arguments = parser.parse_args()

    volume = built("marey", "--example", "volume") / "examples" / "volume"
    marey = built("marey-cli") / "marey"
    with tempfile.TemporaryDirectory(prefix="marey-reports-") as name:
        folder = Path(name)
        rows = [reports(marey, recorded(volume, folder / "blocks", arguments.sections), arguments)]
        n = arguments.sections // 2
        without, with_sessions = (recorded(volume, folder / str(size), n, size) for size in (0, 250))
        rows += sessions(marey, without, with_sessions, folder / "out", arguments.repeats)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.strict and not all(row["holds"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
