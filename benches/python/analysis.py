#!/usr/bin/env python3
"""What answers about traces of torch.profiler cost, next to HolisticTraceAnalysis and to decompression.

    python benches/python/analysis.py [--trace nccl.json.gz] [--times 51] [--hta PYTHON] [--repeats 3] [--json out.json]

Rows E1, E2, E3 and E5. The trace is repeated along its time axis until it is as large as wanted. Every measure is a
process of its own, taken in turns; a row has the median of CPU seconds (user and system) and the highest memory.
``--hta`` is the Python of an environment with HolisticTraceAnalysis, which is asked for its temporal, kernel and
idle-time breakdowns and its overlap; without it there are no ratios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from reports import ROOT, built, cost

TRACE = ROOT / "crates/marey-analysis/tests/data/traces/nccl_parser_config__nccl_data.json.gz"
ASK_HTA = """
import sys
from hta.trace_analysis import TraceAnalysis
asked = TraceAnalysis(trace_files={0: sys.argv[1]}, trace_dir="/")
asked.get_temporal_breakdown(visualize=False)
asked.get_gpu_kernel_breakdown(visualize=False)
asked.get_idle_time_breakdown(ranks=[0], visualize=False)
asked.get_comm_comp_overlap(visualize=False)
"""
NUMBERS = r'"(correlation|External id|Python id|Python parent id|Ev Idx|Record function id)": (\d+)'


def repeated(source: Path, times: int) -> str:
    """The text of a trace with all its events several times, one copy after the other on the time axis."""
    text = gzip.open(source, "rt", encoding="utf-8", errors="surrogateescape").read()
    start = text.index("[", text.index('"traceEvents"')) + 1
    end = start + re.search(r"\n  \],\n|\n  \]\n\}|\n  \]\}", text[start:]).start()
    events = re.split(r"(?<=\n  \}),", text[start:end])
    marks = ('"ph": "M"', '"cat": "Trace"', '"pid": "Spans"', "Record Window", "Iteration Start")
    once = [event for event in events if any(mark in event for mark in marks)]
    copied = ",".join(event for event in events if not any(mark in event for mark in marks))
    starts = [int(ts) for ts in re.findall(r'"ts": (\d+)', copied)]
    ends = [int(ts) + int(dur) + 1 for ts, dur in re.findall(r'"ts": (\d+)[.\d]*, "dur": (\d+)', copied)]
    span = max(starts + ends) - min(starts) + 1000
    stride = max(int(value) for _, value in re.findall(NUMBERS, copied) if int(value) < 10**9) + 1
    pattern = re.compile(r'"ts": (\d+)|' + NUMBERS + r'|("ph": "[sf]", "id": )(\d+)|ProfilerStep#(\d+)')

    def shifted(copy: int) -> str:
        def number(found: re.Match[str]) -> str:
            ts, key, value, arrow, arrow_id, step = found.groups()
            if ts:
                return f'"ts": {int(ts) + copy * span}'
            if key:
                return found[0] if int(value) == 0 else f'"{key}": {int(value) + copy * stride}'
            if arrow:
                return f"{arrow}{int(arrow_id) + copy * stride}"
            return f"ProfilerStep#{int(step) + copy * 100}"

        return pattern.sub(number, copied) if copy else copied

    return text[:start] + ",".join([*map(shifted, range(times)), *once]) + text[end:]


def write(source: Path, times: int, path: Path) -> int:
    """Writes the trace that is repeated; its characters."""
    text = repeated(source, times)
    path.write_bytes(gzip.compress(text.encode("utf-8", "surrogateescape"), 6))
    return len(text)


def bench() -> Path:
    """The program that takes the measures of the importer."""
    command = ["cargo", "bench", "--locked", "--no-run", "-p", "marey-analysis", "--bench", "reading_traces"]
    lines = subprocess.run([*command, "--message-format=json"], cwd=ROOT, check=True, capture_output=True, text=True)
    messages = [json.loads(line) for line in lines.stdout.splitlines()]
    return Path(next(m["executable"] for m in reversed(messages) if m.get("executable")))


def main() -> None:
    """Measures and prints the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", type=Path, default=TRACE)
    parser.add_argument("--times", type=int, default=51)
    parser.add_argument("--hta", help="Python of an environment with HolisticTraceAnalysis")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    reading, marey = str(bench()), str(built("marey-cli") / "marey")
    with tempfile.TemporaryDirectory(prefix="marey-analysis-") as folder:
        path = Path(folder, "trace.json.gz")
        # A program that is started from here would count as large as this process is.
        with ProcessPoolExecutor(1) as writer:
            size = writer.submit(write, arguments.trace, arguments.times, path).result()
        print(f"{size / 1e6:.0f} MB of JSON, {path.stat().st_size / 1e6:.1f} MB compressed", flush=True)
        commands = {
            "decompression": [reading, "floor", str(path)],
            "columns": [reading, "columns", str(path)],
            "four breakdowns (E1)": [reading, "breakdowns", str(path)],
            "full report (E2)": [marey, "analyze", str(path), "--format", "json", "--output", f"{folder}/report.json"],
        }
        if arguments.hta:
            commands["HTA"] = [arguments.hta, "-c", ASK_HTA, str(path)]
        taken: dict[str, list[tuple[float, int]]] = {name: [] for name in commands}
        for _ in range(arguments.repeats):
            for name, command in commands.items():
                taken[name].append(cost(command))
    rows = []
    peer = taken.get("HTA")
    for name, costs in taken.items():
        cpu_s = [cpu for cpu, _ in costs]
        row = {"measure": name, "cpu_s": statistics.median(cpu_s), "peak_bytes": max(peak for _, peak in costs)}
        line = f"{name:22} {row['cpu_s']:6.2f} s ({min(cpu_s):.2f}-{max(cpu_s):.2f})  {row['peak_bytes'] >> 20:5} MiB"
        if peer and name != "HTA":
            row["cpu_ratio"] = statistics.median(cpu for cpu, _ in peer) / row["cpu_s"]
            row["memory_ratio"] = max(peak for _, peak in peer) / row["peak_bytes"]
            line += f"  1/{row['cpu_ratio']:.0f} of HTA's time, 1/{row['memory_ratio']:.0f} of its memory"
        rows.append(row)
        print(line)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
