#!/usr/bin/env python3
"""What traces of a million slices cost: CPU seconds, bytes and memory of each format.

    python benches/python/traces.py [--repeats 5] [--json out.json] [--strict]

Row D4. The example ``traces`` of the crate ``marey-report`` draws the run and writes it, compressed, in a process of
its own. A rate is the bytes before compression over the CPU time of writing; the row has the median.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from reports import ROOT, built

TARGET_RATE, TARGET_BYTES = 100e6, 200 << 20


def main() -> None:
    """Measures and prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--strict", action="store_true", help="fail when a row misses its target")
    arguments = parser.parse_args()
    program = built("marey-report", "--example", "traces") / "examples" / "traces"
    rows = []
    for trace_format in ("perfetto", "chrome", "tensorboard"):
        with tempfile.TemporaryDirectory() as folder:
            command = [str(program), trace_format, "million", f"{folder}/trace.gz"]
            runs = [
                json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
                for _ in range(arguments.repeats)
            ]
        cpu_s = statistics.median(run["cpu_ns"] for run in runs) / 1e9
        row = {
            "format": trace_format,
            "cpu_s": cpu_s,
            "bytes": runs[0]["bytes"],
            "stored_bytes": runs[0]["stored_bytes"],
            "bytes_per_second": runs[0]["bytes"] / cpu_s,
            "peak_bytes": max(run["peak_kib"] for run in runs) * 1024,
        }
        row["holds"] = row["bytes_per_second"] >= TARGET_RATE and row["peak_bytes"] <= TARGET_BYTES
        rows.append(row)
        print(
            f"D4 {trace_format:12} {cpu_s:.2f} s  {row['bytes'] / 1e6:.1f} MB"
            f", compressed {row['stored_bytes'] / 1e6:.1f} MB"
            f"  {row['bytes_per_second'] / 1e6:.0f} MB/s (target {TARGET_RATE / 1e6:.0f})"
            f"  {row['peak_bytes'] / (1 << 20):.0f} MiB (target {TARGET_BYTES >> 20})"
            f"  {'holds' if row['holds'] else 'missed'}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    if arguments.strict and not all(row["holds"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
