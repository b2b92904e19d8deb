"""What a brute-force reference says of a trace in whole nanoseconds, and where the command has the same.

Both sides become figures by name, with those of the reference (``exact_ns.json``): ``device 0.transfers.DtoD.bytes``. A
quantity of the reference that no table here names has no figure on the other side, and so is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

Figures = dict[str, Any]

# By quantity of the reference: where a device of the command's document has it, at one place or several.
DEVICE = {
    "span": ["utilization.span_ns"],
    "busy": ["utilization.busy_ns"],
    "idle": ["idle_gaps.total_ns"],
    "compute_union": ["utilization.compute_ns"],
    "comm_union": ["utilization.communication_ns", "overlap.communication_ns"],
    "mem_union": ["utilization.memory_ns", "overlap.memory_ns"],
    "comm_overlapped_by_compute": ["overlap.overlapped_communication_ns"],
    "exposed_comm": ["utilization.exposed_communication_ns", "overlap.exposed_communication_ns"],
    "exposed_mem": ["utilization.exposed_memory_ns", "overlap.exposed_memory_ns"],
    "gaps.count": ["idle_gaps.n_gaps"],
    "gaps.gt_10us": ["idle_gaps.n_over_10us"],
    "gaps.gt_100us": ["idle_gaps.n_over_100us"],
}
# Likewise, where a row of the command's lists has it.
KERNEL = {"count": "count", "sum": "total_ns", "max": "max_ns", "min": "min_ns"}
TRANSFER = {"count": "count", "ns": "total_ns", "bytes": "bytes"}
STREAM = {"n": "n_ops", "busy": "busy_ns", "span": "span_ns", "self_overlap": "self_overlap_ns"}
PART = {"cpu_dur": "host_ns", "gpu_ops": "work.n_ops", "gpu_busy": "work.busy_ns", "gpu_span": "work.span_ns"}

KINDS = {"compute": "kernel", "communication": "kernel", "memcpy": "memcpy", "memset": "memset"}

# What of the reference the command does not show, and why.
NOT_SHOWN = {
    "file": "no figure",
    "unit": "no figure",
    "gpu_user_annotations": "torch draws ranges of the host on the device's rows, too; they are no work of the device",
    "count_by_cause": "a gap has one cause there; here it is split where what came next was launched: idle_time.py",
    "sum_by_cause": "likewise",
    "cause": "likewise",
    "host_sync_overlap": "of gaps over 20 µs and calls named Synchronize only: idle_time.py",
}
# What the reference lists the largest of, or leaves out where there are many.
MAY_BE_MORE = re.compile(r"device [^.]*\.(top_kernels|user_annotations)\[")
N_KERNELS = 25
N_GAPS = 10


def differences(reference: dict[str, Any], answers: dict[str, Any]) -> list[str]:
    """Where the command's answers are not those of the reference."""
    true, found = truth(reference), figures(answers)
    names = [name for name in true | found if name in true or not MAY_BE_MORE.match(name)]
    wrong = [name for name in names if true.get(name, "nothing") != found.get(name, "nothing")]
    return [f"{name}: {true.get(name, 'nothing')} is {found.get(name, 'nothing')} to the command" for name in wrong]


def truth(reference: dict[str, Any]) -> Figures:
    """What the reference says."""
    said = {key: value for key, value in reference.items() if key != "devices" and key not in NOT_SHOWN}
    said["devices"] = sorted(reference["devices"])
    for device, quantities in reference["devices"].items():
        for name, value in _of_reference_device(quantities):
            said[f"device {device}.{name}"] = value
    return said


def _of_reference_device(quantities: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in quantities.items():
        if key in NOT_SHOWN:
            continue
        if key == "top_kernels":
            yield "top_kernels", [row["sum"] for row in value]
            for row in value:
                yield from _rest(f"top_kernels[{row['kind']} {row['name']}]", row, "kind", "name")
        elif key == "gaps":
            yield from _rest("gaps", value, "largest", *NOT_SHOWN)
            for gap in _longest(value["largest"], "ns"):
                yield from _rest(f"gaps.largest[{gap['at']}]", gap, "at", *NOT_SHOWN)
        elif key == "profiler_steps":
            for step in value:
                yield from _rest(f"profiler_steps[{step['name']} {step['cpu_start']}]", step, "name", "cpu_start")
        elif key == "user_annotations":
            yield from _ranges_by_name(value)
        else:
            yield from _flat(key, value)


def _ranges_by_name(ranges: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Sums of the ranges of each name; one within another of its name adds nothing but its number."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for one in sorted(ranges, key=lambda one: (one["cpu_start"], -one["cpu_dur"])):
        by_name.setdefault(one["name"], []).append(one)
    for name, all_of_it in by_name.items():
        outer: list[dict[str, Any]] = []
        for one in all_of_it:
            if not outer or one["cpu_start"] >= outer[-1]["cpu_start"] + outer[-1]["cpu_dur"]:
                outer.append(one)
        place = f"user_annotations[{name}]"
        yield f"{place}.count", len(all_of_it)
        yield f"{place}.cpu_start", outer[0]["cpu_start"]
        for key in dict.fromkeys(key for one in outer for key in one if key not in ("name", "cpu_start")):
            yield f"{place}.{key}", sum(one[key] for one in outer)


def figures(answers: dict[str, Any]) -> Figures:
    """What the command says, by the reference's names."""
    devices = answers["devices"]
    said = {
        "n_events": answers["quality"]["n_events"],
        "n_gpu": sum(device["utilization"]["n_ops"] for device in devices),
        "devices": sorted(device["device"] for device in devices),
    }
    for device in devices:
        for name, value in _of_device(device, answers["parts"]):
            said[f"device {device['device']}.{name}"] = value
    return said


def _of_device(device: dict[str, Any], parts: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, places in DEVICE.items():
        values = {at(device, place) for place in places}
        yield name, values.pop() if len(values) == 1 else f"{values} at {places}"
    ratio = device["overlap"]["communication_overlap_ratio"]
    yield "comm_overlap_pct", None if ratio is None else round(ratio * 100, 4)
    kernels = device["kernels"]["rows"]
    yield "top_kernels", [row["total_ns"] for row in kernels[:N_KERNELS]]
    for row in kernels:
        yield from _row(f"top_kernels[{KINDS[row['kind']]} {row['name']}]", row, KERNEL)
    yield from _gaps(device)
    for row in device["transfers"]:
        yield from _row(f"transfers.{row['direction']}", row, TRANSFER)
    for row in device["utilization"]["streams"]:
        yield from _row(f"per_stream.{row['stream']}", row, STREAM)
    first_ns = device["utilization"]["first_ns"]
    for part in _parts(parts["profiler_steps"], device):
        yield from _row(f"profiler_steps[ProfilerStep#{part['name']} {part['start_ns'] - first_ns}]", part, PART)
    for part in _parts(parts["phases"], device):
        place = f"user_annotations[{part['name'][:100]}]"
        yield f"{place}.count", part["count"]
        yield f"{place}.cpu_start", part["start_ns"] - first_ns
        yield from _row(place, part, PART)


def _gaps(device: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    gaps = device["idle_gaps"]
    for gap in _longest(gaps["longest"], "length_ns"):
        place = f"gaps.largest[{gap['start_ns'] - device['utilization']['first_ns']}]"
        yield f"{place}.ns", gap["length_ns"]
        yield f"{place}.next", gap["next"][:80]


def _longest(gaps: list[dict[str, Any]], length: str) -> list[dict[str, Any]]:
    """Those that are longer than the last one that is listed: of equals any may be."""
    shortest = gaps[-1][length] if len(gaps) == N_GAPS else -1
    return [gap for gap in gaps if gap[length] > shortest]


def _parts(lists: list[dict[str, Any]], device: dict[str, Any]) -> Iterable[dict[str, Any]]:
    own = (device["document"], device["device"])
    return [part for one in lists if (one["document"], one["device"]) == own for part in one["parts"]]


def _row(place: str, row: dict[str, Any], table: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for name, where in table.items():
        yield f"{place}.{name}", at(row, where)


def _rest(place: str, row: dict[str, Any], *keys: str) -> Iterator[tuple[str, Any]]:
    """What a row says besides what tells it apart."""
    yield from _flat(place, {name: value for name, value in row.items() if name not in keys})


def _flat(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, more in value.items():
            yield from _flat(f"{place}.{name}", more)
    else:
        yield place, value


def at(value: Any, place: str) -> Any:
    """What lies at ``a.b.c``."""
    for key in place.split("."):
        value = value[key]
    return value
