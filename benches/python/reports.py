#!/usr/bin/env python3
"""What reports of large captures cost: CPU seconds and memory of ``marey report``.

    python benches/python/reports.py [--sections 10000000] [--repeats 3] [--json out.json] [--strict]

Row C2. The capture is recorded by the example ``volume`` of the crate ``marey``; text and JSON are made of it in
processes of their own, one after the other, ``--repeats`` times. The row's time is the median of both together, its
memory the highest.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET_S, TARGET_BYTES = 5.0, 1 << 30


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
    with tempfile.TemporaryDirectory(prefix="marey-reports-") as folder:
        environment = {**os.environ, "MAREY_ENABLED": "1", "MAREY_OUTPUT_DIR": folder, "MAREY_JOB_ID": "job"}
        # Room for all of them.
        environment["MAREY_CAPTURE_BYTES"] = "1_000_000_000"
        subprocess.run([str(volume), str(arguments.sections)], env=environment, check=True)
        [capture] = Path(folder, "job").glob("*.marey")
        size = capture.stat().st_size
        costs = [
            [cost([str(marey), "report", str(capture), "--format", form]) for form in ("text", "json")]
            for _ in range(arguments.repeats)
        ]
    seconds = [text[0] + document[0] for text, document in costs]
    peak = max(bytes_ for repeat in costs for _, bytes_ in repeat)
    row = {
        "id": "C2",
        "sections": arguments.sections,
        "capture_bytes": size,
        "cpu_s": statistics.median(seconds),
        "cpu_s_spread": [min(seconds), max(seconds)],
        "peak_bytes": peak,
        "holds": statistics.median(seconds) <= TARGET_S and peak <= TARGET_BYTES,
    }
    print(f"{arguments.sections} sections, capture of {size / 1e6:.0f} MB, {arguments.repeats} repeats")
    time = f"{row['cpu_s']:.2f} s CPU ({min(seconds):.2f}-{max(seconds):.2f}), target {TARGET_S:.0f} s"
    memory = f"at most {peak / (1 << 20):.0f} MiB, target {TARGET_BYTES >> 20} MiB"
    print(f"C2  text and JSON report: {time}; {memory}: {'holds' if row['holds'] else 'MISSED'}")
    if arguments.json:
        arguments.json.write_text(json.dumps([row], indent=2) + "\n")
    if arguments.strict and not row["holds"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
