#!/usr/bin/env python3
"""Puts the reports of all ranks of a job together.

    python examples/profiling/aggregate_profiling_reports.py --reports_dir profiling_results --output aggregated.json

Takes captures, profiling_report.json files and traces of torch.profiler; see `marey aggregate --help`.
"""

from __future__ import annotations

import argparse

import marey


def main() -> None:
    """Aggregate, print the summary, and write the file asked for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reports_dir", "--reports-dir", required=True, metavar="DIR", help="where the reports lie")
    parser.add_argument("--output", metavar="FILE", help="file to write (default: none, the summary is printed)")
    parser.add_argument("--format", help="of that file (default: by the end of its name)")
    parser.add_argument("--quiet", action="store_true", help="print no summary")
    asked = parser.parse_args()
    marey.aggregate_reports(asked.reports_dir, output=asked.output, format=asked.format, quiet=asked.quiet)


if __name__ == "__main__":
    main()
