#!/usr/bin/env python3
"""Measures what recording costs, against what people would use otherwise, and compares with the targets.

    python benches/python/run.py [--only A1 A5] [--json out.json] [--once-a-release] [--strict]

Marey must be importable. Peers that are not installed are named in the table and left out; nothing is installed here.
Absolute times belong to the machine; the ratios, each taken within one process, are what is compared with a target.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import empty_context
from comparisons import CELLS, COMPARISONS, HEADINGS, Comparison, result
from import_cost import more_than

HERE = Path(__file__).parent
IMPORT_TARGET_MS = 15.0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="+", metavar="ROW", help="these rows, as A1 A5; default: all")
    parser.add_argument("--once-a-release", action="store_true", help="also the peers of row A4")
    parser.add_argument("--processes", type=int, default=5, metavar="N", help="of each group, default: %(default)s")
    parser.add_argument("--batches", type=int, default=60, metavar="N", help="in a process, default: %(default)s")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a target is missed or has no figure")
    asked = parser.parse_args(arguments)
    known = {comparison.row for comparison in COMPARISONS} | {"A14"}
    if unknown := set(asked.only or ()) - known:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    return asked


def chosen(asked: argparse.Namespace) -> list[Comparison]:
    """The comparisons asked for; the peers of A4 only when the release is asked for, or the row itself is."""
    if asked.only:
        return [comparison for comparison in COMPARISONS if comparison.row in asked.only]
    return [comparison for comparison in COMPARISONS if asked.once_a_release or not comparison.once_a_release]


def work(group: str, batches: int, extra_path: str) -> dict:
    """What one process measures for the group."""
    paths = [extra_path, str(HERE), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, str(HERE / "worker.py"), group, str(batches)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict[str, object]:
    """What the figures belong to."""
    cpu = next(
        (line.split(": ", 1)[1] for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), ""
    )
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "load": os.getloadavg(),
    }


def import_row(repeats: int) -> dict[str, object]:
    """Row A14: what `import marey` takes more than `import json`."""
    marey_ms, json_ms = more_than("marey", "json", repeats)
    more_ms = marey_ms - json_ms
    verdict = "HOLDS" if more_ms <= IMPORT_TARGET_MS else "MISSED"
    print(
        f"A14  import marey {marey_ms:.1f} ms CPU, import json {json_ms:.1f} ms: {more_ms:+.1f} ms, "
        f"target +{IMPORT_TARGET_MS:.0f} ms  {verdict}"
    )
    return {"row": "A14", "marey_ms": marey_ms, "json_ms": json_ms, "target_ms": IMPORT_TARGET_MS, "verdict": verdict}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table; exit code 1 only with --strict, 2 without marey."""
    asked = parse(arguments)
    if subprocess.run([sys.executable, "-c", "import marey"], check=False).returncode:
        print("marey cannot be imported by this Python; install it first")
        return 2
    about, comparisons = machine(), chosen(asked)
    print(" · ".join(f"{key} {value}" for key, value in about.items()))
    groups = list(dict.fromkeys(comparison.group for comparison in comparisons))
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        if reason := empty_context.compile_into(Path(folder)):
            print(f"the empty C context manager could not be built: {reason}")
        measured: dict[str, list[dict]] = {group: [] for group in groups}
        for _ in range(asked.processes):
            for group in groups:
                if not any("not_installed" in found for found in measured[group]):
                    measured[group].append(work(group, asked.batches, folder))
    if comparisons:
        print(CELLS.format(*HEADINGS))
    for comparison in comparisons:
        found = result(comparison, measured[comparison.group])
        print(found.line())
        rows.append(found.as_json())
    if not asked.only or "A14" in asked.only:
        rows.append(import_row(asked.processes * 4))
    if asked.json:
        asked.json.write_text(json.dumps({"machine": about, "rows": rows}, indent=2) + "\n")
    failed = [row for row in rows if row["verdict"] not in ("HOLDS", "for information")]
    return 1 if asked.strict and failed else 0


if __name__ == "__main__":
    sys.exit(main())
