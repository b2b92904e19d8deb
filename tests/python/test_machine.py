"""What a configuration says of the machine's readings: which, how often, how many are kept; and their figures."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import pytest

from interpreter import Interpreter, read_capture
from stand_in_nvml import StandInNvml
from test_reports import holds_to_the_schema

# What each switch brings; names that end in a dot stand for all that begin so.
SERIES = {
    "monitor_gpu_memory": ("gpu.memory.",),
    "monitor_gpu_utilization": ("gpu.utilization", "gpu.memory_controller.utilization", "gpu.pcie."),
    "monitor_gpu_temperature": ("gpu.temperature",),
    "monitor_gpu_power": ("gpu.power", "gpu.power.limit", "gpu.energy"),
    "monitor_cpu_usage": ("host.cpu.", "core.", "process.cpu.", "children.cpu.", "process.threads"),
    "monitor_system_memory": ("host.memory.", "process.memory.", "children.memory.", "process.disk.", "process.io."),
}
ALL_OFF = dict.fromkeys(SERIES, False)


def sample(keywords, temperature):
    """Records until all that is wanted was read, and that temperature of a GPU; the job's folder."""
    import marey
    from patience import eventually

    profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, save_raw_data=True, **keywords)
    config = profiler.config.to_dict()
    on = [key for key, value in config.items() if key.startswith("monitor_") and value]
    wanted = {"gpu" if key.startswith("monitor_gpu") else "cpu" for key in on}
    eventually(profiler.get_current_metrics, lambda read: wanted <= read.keys())
    if temperature:
        eventually(
            lambda: [gpu.get("temperature_celsius") for gpu in profiler.get_current_metrics().get("gpu", {}).values()],
            lambda temperatures: temperature in temperatures,
        )
    return str(marey.stop().parent)


def raw_series(
    interpreter: Interpreter,
    environment: dict[str, str],
    temperature: int | None = None,
    **keywords: Any,
) -> list[dict[str, Any]]:
    """The series of a program that does nothing but let itself be sampled."""
    job = interpreter.result(sample, keywords, temperature, env=environment)
    raw = json.loads((interpreter.folder / job / "raw_profiling_data_run.json").read_text())
    return raw["gpu_data"] + raw["cpu_data"]


@pytest.mark.parametrize("switch", SERIES)
def test_each_switch_alone_brings_its_series_and_no_others(
    interpreter: Interpreter, nvml: StandInNvml, switch: str
) -> None:
    pcie = {"nvmlDeviceGetPcieThroughput.0": "12", "nvmlDeviceGetPcieThroughput.1": "34"}
    environment = nvml.environment(**{"GPU-1": pcie})
    quick = {"gpu_monitor_interval": 0.02, "cpu_monitor_interval": 0.02}
    series = raw_series(interpreter, environment, **quick, **(ALL_OFF | {switch: True}))
    names = {row["name"] for row in series if not row["name"].startswith("sampler.")}

    def brings(key: str, name: str) -> bool:
        return any(name == known or (known.endswith(".") and name.startswith(known)) for known in SERIES[key])

    for known in SERIES[switch]:
        assert any(name == known or name.startswith(known) for name in names), known
    assert [name for name in names if any(brings(key, name) for key in SERIES if key != switch)] == []
    is_of_gpu = switch.startswith("monitor_gpu")
    assert {name.startswith("gpu.") for name in names} == {is_of_gpu}


def test_with_every_switch_off_nothing_is_sampled(interpreter: Interpreter, nvml: StandInNvml) -> None:
    assert raw_series(interpreter, nvml.environment(**{"GPU-1": {}}), **ALL_OFF) == []


def of(series: list[dict[str, Any]], name: str, subject: str) -> dict[str, Any]:
    """The one series of that name."""
    (found,) = [row for row in series if (row["name"], row["subject"]) == (name, subject)]
    return found


def read_often(sampler, intervals):
    """Records until that sampler has read ten times at least, and the other once; the job's folder."""
    import marey
    from patience import eventually

    profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False, save_raw_data=True, **intervals)

    def wait_for(is_shown):
        eventually(profiler.get_current_metrics, is_shown)

    wait_for(lambda now: {"gpu", "cpu"} <= now.keys())
    if sampler == "gpu":  # whose temperature is how often it was read
        wait_for(lambda now: now["gpu"]["GPU-1"]["temperature_celsius"] >= 10)
    else:  # each reading shows memory that the one before did not
        touched = []
        for _ in range(10):
            before = profiler.get_current_metrics()["cpu"]["process_memory_mb"]
            touched.append(b"x" * (16 << 20))
            wait_for(lambda now, before=before: now["cpu"]["process_memory_mb"] > before + 8)
    return str(marey.stop().parent)


@pytest.mark.parametrize(("often", "seldom"), [("gpu", "host"), ("host", "gpu")])
def test_intervals_say_how_often_each_is_read(
    interpreter: Interpreter, nvml: StandInNvml, often: str, seldom: str
) -> None:
    """One goes on for as long as it is let, the other's second round is due tomorrow."""
    of_gpu, of_host = (0.01, 86400.0) if often == "gpu" else (86400.0, 0.01)
    intervals = {"gpu_monitor_interval": of_gpu, "cpu_monitor_interval": of_host}
    numbered = {"nvmlDeviceGetTemperature": " ".join(map(str, range(41)))}
    job = interpreter.result(read_often, often, intervals, env=nvml.environment(**{"GPU-1": numbered}))
    raw = json.loads((interpreter.folder / job / "raw_profiling_data_run.json").read_text())
    points = {name: of(raw["gpu_data"] + raw["cpu_data"], "sampler.late", name)["points"] for name in ("gpu", "host")}
    rounds = {name: sum(point["count"] for point in points[name]) for name in points}
    assert rounds[often] >= 10
    # The first, and the one that the end asks for where a round is quick.
    assert rounds[seldom] in (1, 2)


def test_points_are_joined_beyond_the_most_that_are_kept_and_the_start_stays(
    interpreter: Interpreter, nvml: StandInNvml
) -> None:
    # The temperature is how often it was read.
    numbered = {"nvmlDeviceGetTemperature": " ".join(map(str, range(41)))}
    environment = nvml.environment(**{"GPU-1": numbered | {"nvmlDeviceGetPowerUsage": "100000 " * 3 + "300000"}})
    intervals = {"gpu_monitor_interval": 0.01, "cpu_monitor_interval": 0.01}
    series = raw_series(interpreter, environment, temperature=40, max_data_points=8, **intervals)
    for row in series:
        if len(row["points"]) <= 8:
            continue
        # 8, then at most 4 for each doubling of the time.
        first, last = row["points"][0]["timestamp"], row["points"][-1]["until"]
        of_the_first_8 = row["points"][:8][-1]["until"] - first
        doublings = math.log2(max(1, (last - first) / of_the_first_8))
        assert len(row["points"]) <= 8 + 4 * math.ceil(doublings) + 1, row
    power = of(series, "gpu.power", "GPU-1")["points"]
    assert sum(point["count"] for point in power) > 16
    assert [point["count"] for point in power[:8]] == [1] * 8
    # Whether there is such a reading was tried before.
    n_low = sum(point["mean"] == 100 for point in power)
    assert 1 <= n_low <= 3
    assert [point["mean"] for point in power[:8]] == [100] * n_low + [300] * (8 - n_low)
    assert power[-1]["min"] == power[-1]["max"] == 300
    assert power[-1]["count"] > 1
    for before, after in itertools.pairwise(power):
        assert before["until"] < after["timestamp"]


def run_report(interpreter: Interpreter) -> dict[str, Any]:
    """The report of the run that the program recorded."""
    job: Path = interpreter.folder / interpreter_job(interpreter)
    report = json.loads((job / "profiling_report.json").read_text())
    assert holds_to_the_schema(report)
    return report


def interpreter_job(interpreter: Interpreter) -> str:
    """The job's folder, as ``sample`` told it."""
    return json.loads((interpreter.folder / "result.json").read_text())


def test_figures_of_a_gpu_are_those_that_the_library_gave(interpreter: Interpreter, nvml: StandInNvml) -> None:
    mib = 1 << 20
    changing = {
        "nvmlDeviceGetMemoryInfo_v2": f"{24564 * mib}/{7200 * mib}/0 " * 4 + f"{24564 * mib}/{9800 * mib}/0",
        "nvmlDeviceGetUtilizationRates": "75/10 " * 4 + "92/20",
        "nvmlDeviceGetTemperature": "60 " * 4 + "72",
        "nvmlDeviceGetPowerUsage": "200000 " * 4 + "350000",
    }
    series = raw_series(interpreter, nvml.environment(**{"GPU-1": changing}), temperature=72, gpu_monitor_interval=0.01)
    # How often it is read is up to how long a call takes.
    (counted,) = (row for row in series if row["name"] == "gpu.energy")
    assert counted["points"][0]["min"] == 5
    gpu = run_report(interpreter)["gpu_metrics"]
    memory, busy = gpu["memory_analysis"], gpu["utilization_analysis"]
    assert (memory["min_usage_mb"], memory["peak_usage_mb"], memory["total_memory_mb"]) == (7200, 9800, 24564)
    assert memory["peak_utilization_percent"] == pytest.approx(100 * 9800 / 24564)
    assert 7200 < memory["avg_usage_mb"] < 9800
    assert (busy["min_utilization"], busy["peak_utilization"]) == (75, 92)
    temperature = gpu["temperature_analysis"]
    assert (temperature["min_temperature"], temperature["peak_temperature"]) == (60, 72)
    power = gpu["power_analysis"]
    assert power["peak_power_watts"] == 350
    assert list(gpu["devices"]) == ["GPU-1"]


def test_what_a_session_took_stays_as_it_was_when_it_ended(interpreter: Interpreter, nvml: StandInNvml) -> None:
    """300 W for as long as each session lasts, although the series gets ever coarser afterwards."""
    # The temperature is how often it was read.
    numbered = {"nvmlDeviceGetTemperature": " ".join(map(str, range(1000)))}
    env = nvml.environment(**{"GPU-a": {"nvmlDeviceGetTotalEnergyConsumption": "!3"} | numbered})
    env |= {"MAREY_GPU_MONITOR_INTERVAL": "0.01", "MAREY_MAX_DATA_POINTS": "20"}

    def program() -> list[tuple[float, float]]:
        import time

        import marey
        from patience import eventually

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        def n_readings():
            gpus = profiler.get_current_metrics().get("gpu", {})
            return gpus.get("GPU-a", {}).get("temperature_celsius", 0)

        def wait_for(n_more):
            """A moment at which the last of so many readings was still to come."""
            wanted = n_readings() + n_more
            looked = [time.monotonic()]

            def read():
                looked.append(time.monotonic())
                return n_readings()

            eventually(read, lambda n: n >= wanted)
            return looked[-2]

        lasted = []
        for name in ("early", "late"):
            wait_for(40)
            began = time.monotonic()
            with marey.session(name):
                wait_for(1)
                first_is_there = time.monotonic()
                last_is_not = wait_for(20)
            lasted.append((last_is_not - first_is_there, time.monotonic() - began))
        wait_for(150)
        return lasted

    finished = interpreter.run(program, env=env)
    sessions = read_capture(finished.captures[0])["sessions"]
    assert [session["name"] for session in sessions] == ["early", "late"]
    for session, (between_s, lasted_s) in zip(sessions, finished.result, strict=True):
        power = session["gpu_metrics"]["power_analysis"]
        # Between the first reading and the last.
        assert 300 * between_s * 0.999 <= power["total_energy_joules"] <= 300 * lasted_s * 1.001, session["name"]
