#!/usr/bin/env python3
"""Puts the reports of all ranks of a job together.

    python examples/profiling/aggregate_profiling_reports.py --reports_dir profiling_results --output aggregated.json

Takes captures, profiling_report.json files and traces of torch.profiler; see `marey aggregate --help`. The exit code
is that of the command: 0 when everything is there, 1 when a rank is missing, damaged or did not end by itself, 2 when
nothing could be read.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import marey


def is_whole(job: dict[str, Any]) -> bool:
    """Whether all ranks of a job are there, and none was cut short."""
    states = {member["state"] for member in job["members"]}
    return not job["missing"] and not job["unread"] and states <= {"whole", "running"}


def main() -> int:
    """Aggregate, print the summary, and write the file asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reports_dir", "--reports-dir", required=True, metavar="DIR", help="where the reports lie")
    parser.add_argument("--output", metavar="FILE", help="file to write (default: none, the summary is printed)")
    parser.add_argument("--format", help="of that file (default: by the end of its name)")
    parser.add_argument("--quiet", action="store_true", help="print no summary")
    asked = parser.parse_args()
    try:
        found = marey.aggregate_reports(asked.reports_dir, output=asked.output, format=asked.format, quiet=asked.quiet)
    except (marey.Error, ValueError) as error:
        parser.exit(2, f"{parser.prog}: {error}\n")
    return 0 if not found["unread"] and all(map(is_whole, found["jobs"])) else 1


if __name__ == "__main__":
    sys.exit(main())
