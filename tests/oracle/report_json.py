"""What ``marey report --format json`` says, by the names that the truth has for it; seconds and bytes."""

from __future__ import annotations

from typing import Any

from logbook import by_path

Report = dict[str, Any]
MIB = 1 << 20
CALLS = (
    "count",
    "errors",
    "total",
    "mean",
    "min",
    "max",
    "last",
    "median",
    "p50",
    "p95",
    "p99",
    "std_dev",
    "first",
    "rest_mean",
    "percentiles_are_exact",
)


def figures(report: Report) -> dict[str, Any]:
    """All figures of a report that an oracle can know."""
    wall = report["run"]["wall"]
    said: dict[str, Any] = {"run.wall": wall, "summary.wall": report["summary"]["duration"]}
    said["status"] = report["status"]["kind"]
    for path, row in by_path(report["sections"]).items():
        key = f"path[{path}]"
        said |= {f"{key}.{name}": row[name] for name in (*CALLS, "inclusive", "self")}
        said[f"{key}.covered"] = _times(row["share_of_wall"], wall)
        said[f"{key}.open"] = row["open"] and row["open"]["count"]
    for name, row in report["timing_stats"].items():
        said |= {f"name[{name}].{figure}": row[figure] for figure in (*CALLS, "self")}
        said[f"name[{name}].covered"] = _times(row["share_of_wall"], wall)
    for name, row in report["iteration_profilers"].items():
        said |= {f"loop[{name}].{figure}": row[figure] for figure in CALLS}
        said[f"loop[{name}].per_second"] = row["iterations_per_second"]
    said["under no section"] = report["under_no_section"]["seconds"]
    said["under any section"] = report["stage_analysis"]["covered_time"]
    for name, row in report["counters"].items():
        said |= {f"counter[{name}].{figure}": row[figure] for figure in ("count", "min", "max", "mean", "last")}
    for reading in report["memory_snapshots"]:
        said[f"reading[{reading['label']}]"] = reading["allocated_mb"] * MIB
    said |= _process(report) | _used(report)
    said |= _activity("", report)
    sessions = [session for session in report["sessions"] if "session_info" in session]
    said["sessions"] = len(report["sessions"])
    for session in sessions:
        key = f"session[{session['name']}]."
        parent = session["parent"]
        said[f"{key}duration"] = session["duration"]
        said[f"{key}start"] = session["start"]
        said[f"{key}tags"] = session["tags"]
        if used := session["resources"]:
            said |= {f"{key}used.{name}": figure for name, figure in used["process"].items()}
            said[f"{key}used.growth_bytes"] = used["growth_bytes"]
        said[f"{key}parent"] = None if parent is None else report["sessions"][parent]["name"]
        said |= _activity(key, session)
    return said


def _times(share: float | None, wall: float) -> float | None:
    return None if share is None else share * wall


def _process(report: Report) -> dict[str, Any]:
    said: dict[str, Any] = {}
    cpu = report["cpu_metrics"] or {}
    if not _was_read_at_the_end(report):
        return said
    process, disk = cpu.get("process") or {}, cpu.get("disk") or {}
    if process.get("resident_mb"):
        said["process.peak_bytes"] = process["resident_mb"]["peak"] * MIB
    if process.get("user_s") is not None:
        said["process.cpu_s"] = process["user_s"] + process["system_s"]
    for name, key in (("read_bytes", "calls_read_mb"), ("written_bytes", "calls_written_mb")):
        if disk.get(key):
            said[f"process.{name}"] = disk[key]["total"] * MIB
    for source in (report["memory"] or {}).get("sources", []):
        if source["source"] == "process" and source["counted_peak_mb"] is not None:
            said["memory.counted_peak_bytes"] = source["counted_peak_mb"] * MIB
    return said


def _was_read_at_the_end(report: Report) -> bool:
    """The end does not wait for a sampler that was slow, on a busy machine: totals end with its last round then."""
    timeline = (report["cpu_metrics"] or {}).get("timeline") or [{"timestamp": 0}]
    return timeline[-1]["timestamp"] > report["run"]["start"] + report["run"]["wall"] - 0.005


def _used(report: Report) -> dict[str, Any]:
    names = {row["id"]: path for path, row in by_path(report["sections"]).items()}
    said: dict[str, Any] = {}
    for row in report["section_resources"]:
        key = f"used[{names[row['section']]}]"
        process, thread = row["process"], row["thread"] or {}
        said[f"{key}.calls"] = row["calls_measured"]
        said[f"{key}.growth_bytes"] = row["growth_bytes"]
        said[f"{key}.thread_cpu_s"] = thread.get("cpu_s")
        figures = ("cpu_s", "read_bytes", "written_bytes")
        said |= {f"{key}.{name}": process[name] if process else None for name in figures}
    return said


def _activity(prefix: str, of: Report) -> dict[str, Any]:
    """What the run and each session have alike."""
    said: dict[str, Any] = {}
    stages = of["stage_analysis"]
    said["stages.count"] = stages["total_stages"] if stages else 0
    for name, row in stages["stages"].items() if stages else ():
        key = f"stage[{name}]"
        said[f"{key}.count"] = row["call_count"]
        said[f"{key}.own"] = row["under_no_other_stage"]
        for figure, shown in (("total", "total_time"), ("mean", "avg_time"), ("min", "min_time"), ("max", "max_time")):
            said[f"{key}.{figure}"] = row[shown]
        share = row["percentage_of_total"]
        said[f"{key}.covered"] = None if share is None else share / 100 * stages["total_time"]
    said |= _steps(of["diffusion_analysis"])
    for rate in (of["diffusion_analysis"] or {}).get("frame_rates", []):
        if "frames delivered" not in rate["meaning"]:
            holds = [rate["frames"], rate["includes_text_encoding"], rate["includes_vae_decoding"]]
            holds = [rate["frames"], "generations"] if "generations" in rate["meaning"] else holds
            said[f"rate[{', '.join(map(str, holds))}]"] = rate["fps"]
    said |= _blocks(of["block_analysis"])
    said |= _streaming(of["streaming_analysis"])
    said |= _layers(of["layer_analysis"])
    said |= _memory_events(of["memory_events"])
    said |= _caches(of["cache_analysis"])
    said["events"] = [[event["name"], event["data"]] for event in of["events"]]
    said |= {f"event[{index}].timestamp": event["timestamp"] for index, event in enumerate(of["events"])}
    models = of["model_analysis"]
    said["models"] = models and {name: row["parameters_count"] for name, row in models["models"].items()}
    said["parameters"] = models and models["total_parameters"]
    return {f"{prefix}{name}": value for name, value in said.items()}


def _steps(found: Report | None) -> dict[str, Any]:
    if not found or not found["total_steps"]:
        return {"steps.count": 0}
    said: dict[str, Any] = {"steps.count": found["total_steps"]}
    for name in ("total", "avg", "min", "max"):
        said[f"steps.{name}"] = _seconds(found[f"{name}_computation_time_ms"])
        if name != "total":
            said[f"steps.timestep.{name}"] = found[f"{name}_timestep"]
            said[f"steps.frames.{name}"] = found[f"{name}_block_size"]
    for name, key in (("loops", "total_loops"), ("per_loop_max", "max_steps_per_loop")):
        said[f"steps.{name}"] = found[key]
    said |= {f"steps.{name}": found[name] for name in ("total_frames", "fps", "bps", "outliers")}
    for part in ("warm_up", "steady"):
        said |= _durations(f"steps.{part}", found[part])
    loops = list(dict.fromkeys(step["loop"] for step in found["steps"]))
    keys = ("step", "timestep", "block_size", "loop", "passes", "cached")
    said["steps.each"] = [
        [loops.index(step[key]) if key == "loop" else step[key] for key in keys] for step in found["steps"]
    ]
    if caching := found["step_caching"]:
        said["steps.caching.cached"] = caching["cached_steps"]
        said["steps.caching.computed"] = caching["computed_steps"]
        said["steps.caching.saved"] = _seconds(caching["time_saved_ms"])
    return said


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1e3


def _durations(key: str, row: Report | None) -> dict[str, Any]:
    if row is None:
        return {}
    names = ("total", "avg", "min", "max", "p50", "p95", "p99", "std_dev")
    return {f"{key}.count": row["count"]} | {f"{key}.{name}": _seconds(row[f"{name}_ms"]) for name in names}


def _blocks(found: Report | None) -> dict[str, Any]:
    if not found:
        return {"blocks.count": None}
    said: dict[str, Any] = {"blocks.count": found["total_blocks"]}
    for name in ("total", "avg", "min", "max"):
        said[f"blocks.{name}"] = _seconds(found[f"{name}_computation_time_ms"])
    said |= {f"blocks.{name}": found[name] for name in ("total_frames", "fps", "bps")}
    for name, key in (("avg", "avg"), ("max", "peak"), ("min", "min")):
        said[f"blocks.memory.{name}"] = found[f"{key}_memory_usage_mb"]
        said[f"blocks.frames.{name}"] = found[f"{name}_block_size"]
    said["blocks.time_to_first"] = _seconds(found["time_to_first_block_ms"])
    said["blocks.between.count"] = None
    said |= _durations("blocks.between", found["between"])
    said["blocks.jitter"] = _seconds(found["jitter_ms"])
    return said


def _streaming(found: Report | None) -> dict[str, Any]:
    if not found:
        return {"streaming.deliveries": None}
    buffer = found["buffer_occupancy"] or {}
    return {
        "streaming.deliveries": found["total_streaming_events"],
        "streaming.frames": found["total_frames_streamed"],
        "streaming.dropped": found["total_dropped_frames"],
        "streaming.drop_percent": found["drop_rate_percent"],
        "streaming.fps": found["current_fps"],
        "streaming.delivery_time": found["delivery_time"],
        "streaming.encoding_ms": found["avg_encoding_time_ms"],
        "streaming.latency_ms": found["avg_network_latency_ms"],
        "streaming.buffer.avg": buffer.get("avg"),
        "streaming.buffer.max": buffer.get("max"),
        "streaming.each": [event["batch_size"] for event in found["events"]],
        "streaming.drops": [drop["count"] for drop in found["drops"]],
    } | {
        f"streaming.each[{index}].{name}": event[name]
        for index, event in enumerate(found["events"])
        for name in ("encoding_time_ms", "network_latency_ms", "buffer_occupancy")
    }


def _layers(found: Report | None) -> dict[str, Any]:
    if not found:
        return {"layers": None}
    said: dict[str, Any] = {"layers": found["total_layers"], "layers.total": found["total_time_ms"] / 1e3}
    for name, row in found["layers"].items():
        said[f"layer[{name}].calls"] = row["call_count"]
        said[f"layer[{name}].parameters"] = row["parameters_count"]
        said[f"layer[{name}].total"] = row["total_time_ms"] / 1e3
        said[f"layer[{name}].mean"] = row["avg_time_ms"] / 1e3
        said[f"layer[{name}].min"] = row["min_time_ms"] / 1e3
        said[f"layer[{name}].max"] = row["max_time_ms"] / 1e3
        said[f"layer[{name}].share"] = row["percentage_of_layers"] / 100
    return said


def _memory_events(found: Report | None) -> dict[str, Any]:
    if not found:
        return {"memory_events.each": None}
    sums = ("n_allocations", "allocated_bytes", "n_releases", "released_bytes", "held_bytes")
    signed = [(1 if one["event_type"] == "alloc" else -1) * one["size_bytes"] for one in found["events"]]
    return {
        "memory_events.each": signed,
        "memory_events.all": [found[name] for name in sums],
        "memory_events.peak": found["peak_bytes"],
        "memory_events.peak_at": found["peak_at"],
        "memory_events.uses": [[use[name] for name in ("allocator", "context", *sums)] for use in found["uses"]],
    }


def _caches(found: Report | None) -> dict[str, Any]:
    if not found:
        return {"caches.lookups": None}
    together = found["cache_performance"]
    said = {
        "caches.lookups": together["total_requests"],
        "caches.hit": together["hits"],
        "caches.miss": together["misses"],
        "caches.eviction": together["evictions"],
        "caches.hit_rate": found["cache_efficiency"]["hit_rate"],
    }
    for name, row in found["caches"].items():
        key = f"cache[{name}]"
        said |= {f"{key}.lookups": row["lookups"], f"{key}.hit": row["hits"], f"{key}.miss": row["misses"]}
        said |= {f"{key}.eviction": row["evictions"], f"{key}.hit_rate": row["hit_rate"]}
        said[f"{key}.peak_held"] = row["peak_held_bytes"]
    return said
