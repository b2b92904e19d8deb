"""What holds for every trace: nothing is lost, and parts come to their whole; and what somebody counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Node = dict[str, Any]

# Attention by path: kernels, and kernels that prepare.
ATTENTION = {
    "traces__inference__xdit_flux.1_aiter_sage__profile_trace_rank_0": {"sage": (228, 228), "eager": (24, 0)},
    # The denoiser, and the text encoder and the VAE.
    "flux1_split_iter0": {"flash": (228 + 13, 0), "eager": (24, 0)},
    "traces__inference__vllm_decode_full__graph_execution": {"paged": (24, 0)},
}
# Calls of the denoiser: operations, and microseconds that the device was busy.
CALLS = {
    "traces__inference__xdit_flux.1_aiter_sage__profile_trace_rank_0": [
        (1573, 42_404),
        (1573, 43_162),
        (1573, 42_474),
        (1573, 43_089),
    ],
    "flux1_split_iter0": [(1000, 35_610), (1000, 34_819), (1000, 35_037), (1000, 34_938)],
}
# What a finding can save at most: time in which a device did nothing, or its work; all others the span of the trace.
SAVES_IDLE = {"low-gpu-utilization", "launch-bound", "data-bound", "synchronisation-points"}
SAVES_WORK = {"exposed-transfers", "exposed-communication", "eager-attention"}


def wrong(name: str, file: Node) -> list[str]:
    """What does not add up in what the command says of the trace of this name."""
    answers = file["answers"]
    pairs = [
        *_lost(answers["quality"]),
        *(pair for device in answers["devices"] for pair in _device(device)),
        *_parts(answers),
        *_by_hand(name, answers),
    ]
    found = [f"{what}: {is_} instead of {should}" for what, is_, should in pairs if is_ != should]
    return found + list(_savings(file))


def _lost(quality: Node) -> Iterator[tuple[str, Any, Any]]:
    for key, none in {"n_broken": 0, "is_truncated": False, "damage": None}.items():
        yield f"quality.{key}", quality[key], none


def _device(device: Node) -> Iterator[tuple[str, Any, Any]]:
    used, gaps, kernels = device["utilization"], device["idle_gaps"], device["kernels"]
    about = f"device {device['device']}"
    exposed_ns = used["exposed_communication_ns"] + used["exposed_memory_ns"]
    not_busy_ns = used["idle_ns"] + used["unknown_ns"]
    yield f"{about}: span of its parts", used["compute_ns"] + exposed_ns + not_busy_ns, used["span_ns"]
    yield f"{about}: gaps", gaps["total_ns"], not_busy_ns
    yield f"{about}: busy no more than the sum of its work", kernels["total_ns"] >= used["busy_ns"], True
    yield f"{about}: work by name", sum(row["total_ns"] for row in kernels["rows"]), kernels["total_ns"]
    yield f"{about}: number by name", sum(row["count"] for row in kernels["rows"]), used["n_ops"]
    # Copies and fills are of no class.
    classified = [row for row in kernels["rows"] if row["kind"] in ("compute", "communication")]
    for key in ("count", "total_ns"):
        of_classes = sum(row[key] for row in kernels["classes"])
        yield f"{about}: {key} by class", of_classes, sum(row[key] for row in classified)
    for cause in gaps["causes"]:
        reasons = [reason for reason in gaps["reasons"] if reason["cause"] == cause["cause"]]
        for key in ("n_gaps", "total_ns"):
            yield f"{about}: {key} of reasons of {cause['cause']}", sum(row[key] for row in reasons), cause[key]


def _parts(answers: Node) -> Iterator[tuple[str, Any, Any]]:
    """What no part launched and the parts come to all work; the times of each to its span."""
    devices = {(device["document"], device["device"]): device for device in answers["devices"]}
    for kind, lists in answers["parts"].items():
        for one in lists:
            if one["device"] is None:
                continue
            device = devices[one["document"], one["device"]]
            works = [(part["name"], part["work"]) for part in one["parts"]]
            for own, key, whole in (
                ("own_n_ops", "n_ops", device["utilization"]["n_ops"]),
                ("own_work_ns", "work_ns", device["kernels"]["total_ns"]),
            ):
                all_of_it = sum(work[own] for _, work in works) + sum(rest[key] for rest in one["rest"])
                yield f"{kind} and the rest: {key}", all_of_it, whole
            for name, work in works:
                exposed_ns = work["exposed_communication_ns"] + work["exposed_memory_ns"]
                yield f"{kind} {name}: span", work["compute_ns"] + exposed_ns + work["idle_ns"], work["span_ns"]


def _by_hand(name: str, answers: Node) -> Iterator[tuple[str, Any, Any]]:
    for path, expected in ATTENTION.get(name, {}).items():
        uses = {use["path"]: (use["count"], use["n_preparing"]) for use in answers["devices"][0]["attention"]}
        yield f"{path} attention", uses.get(path), expected
    if name in CALLS:
        works = [part["work"] for part in answers["parts"]["steps"][0]["parts"]]
        rounded = [(work["n_ops"], (work["busy_ns"] + 500) // 1000) for work in works]
        yield "calls of the denoiser", rounded, CALLS[name]


def _savings(file: Node) -> Iterator[str]:
    """Causes on the host save no more than a device did nothing, work no more than it took; without one, than all."""
    answers = file["answers"]
    used = [device["utilization"] for device in answers["devices"]]
    for finding in file["findings"]["found"]:
        limit_ns = answers["span_ns"]
        if finding["rule"] in SAVES_IDLE:
            limit_ns = max((one["idle_ns"] for one in used), default=limit_ns)
        elif finding["rule"] in SAVES_WORK:
            limit_ns = max((one["busy_ns"] for one in used), default=limit_ns)
        at_most_ns = (finding["saving"] or {}).get("at_most_ns")
        if at_most_ns is not None and at_most_ns > limit_ns:
            yield f"{finding['rule']} saves {at_most_ns} of {limit_ns}"
