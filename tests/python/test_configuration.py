"""`ProfilingConfig` and the flags of profiled scripts: layers, types, copies and errors."""

from __future__ import annotations

import argparse
import copy
import pickle
from pathlib import Path
from types import MappingProxyType

import pytest

import marey
from interpreter import Interpreter
from marey.cli_args import add_profiling_args, get_args


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith(("MAREY_", "FRAMEPACK_")):
            monkeypatch.delenv(name)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


DEFAULTS = {
    "enabled": False,
    "real_time_display": True,
    "display_interval": 5.0,
    "gpu_monitor_interval": 0.5,
    "monitor_gpu_memory": True,
    "monitor_gpu_utilization": True,
    "monitor_gpu_temperature": True,
    "monitor_gpu_power": True,
    "cpu_monitor_interval": 1.0,
    "monitor_cpu_usage": True,
    "monitor_system_memory": True,
    "generate_final_report": True,
    "report_format": "both",
    "output_dir": None,
    "save_raw_data": False,
    "max_data_points": 10_000,
    "profile_inference_steps": True,
    "profile_vae_decode": True,
    "profile_text_encoding": True,
    "profile_diffusion_steps": True,
    "profile_block_computation": True,
    "profile_model_parameters": True,
    "torch_ranges": False,
    "session_tags": {},
    "thresholds": {},
}

# Of each key another value than its default.
OTHERS = {
    key: {
        "report_format": "html",
        "output_dir": "elsewhere",
        "session_tags": {"model": "m", "seed": 7, "scale": 6.5, "tiled": True, "build": "7"},
        "thresholds": {"frames_per_second": 5.0, "steps_per_generation": 40.0},
        "max_data_points": 2,
    }.get(key, (not value) if isinstance(value, bool) else 0.25)
    for key, value in DEFAULTS.items()
}


def test_without_anything_said_there_are_the_defaults() -> None:
    config = marey.ProfilingConfig()
    assert config.to_dict() == DEFAULTS
    assert list(config.to_dict()) == list(DEFAULTS)
    assert repr(config) == "ProfilingConfig()"


@pytest.mark.parametrize("key", DEFAULTS)
def test_every_key_is_a_keyword_and_an_attribute_that_cannot_be_set(key: str) -> None:
    config = marey.ProfilingConfig(**{key: OTHERS[key]})
    assert config.to_dict() == DEFAULTS | {key: OTHERS[key]}
    assert getattr(config, key) == OTHERS[key]
    assert type(getattr(config, key)) is type(OTHERS[key])
    assert repr(config) == f"ProfilingConfig({key}={OTHERS[key]!r})"
    with pytest.raises(AttributeError):
        setattr(config, key, OTHERS[key])


@pytest.mark.parametrize("key", DEFAULTS)
def test_every_key_is_a_variable_of_the_environment(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"model": "m", "seed": "7"} if key == "session_tags" else OTHERS[key]
    text = ", ".join(f"{name} = {value}" for name, value in other.items()) if isinstance(other, dict) else str(other)
    monkeypatch.setenv(f"MAREY_{key.upper()}", text)
    assert marey.ProfilingConfig().to_dict() == DEFAULTS | {key: other}


def test_tags_that_were_read_are_a_copy() -> None:
    config = marey.ProfilingConfig(session_tags=OTHERS["session_tags"])
    config.session_tags["model"] = "changed"
    config.to_dict()["session_tags"].clear()
    assert config.session_tags == OTHERS["session_tags"]
    assert list(config.session_tags) == list(OTHERS["session_tags"])


def test_file_environment_and_keywords_override_one_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(
        tmp_path / "p.yaml",
        "profiling: {display_interval: 1, gpu_monitor_interval: 1, cpu_monitor_interval: 1}\n",
    )
    monkeypatch.setenv("MAREY_GPU_MONITOR_INTERVAL", "2")
    monkeypatch.setenv("MAREY_CPU_MONITOR_INTERVAL", "2")
    for config in (
        marey.ProfilingConfig.from_yaml(path, cpu_monitor_interval=3),
        marey.ProfilingConfig.from_yaml(str(path), cpu_monitor_interval=3),
        marey.ProfilingConfig.from_dict(
            {"display_interval": 1, "gpu_monitor_interval": 1, "cpu_monitor_interval": 1}, cpu_monitor_interval=3
        ),
    ):
        assert (config.display_interval, config.gpu_monitor_interval, config.cpu_monitor_interval) == (1.0, 2.0, 3.0)


def test_the_environment_names_a_file_unless_the_program_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAREY_PROFILING_CONFIG", str(write(tmp_path / "e.yaml", "profiling: {max_data_points: 3}")))
    own = write(tmp_path / "own.yaml", "profiling: {display_interval: 7}")
    assert marey.ProfilingConfig().max_data_points == 3
    assert marey.ProfilingConfig(max_data_points=4).max_data_points == 4
    assert marey.ProfilingConfig.from_args(get_args([])).max_data_points == 3
    assert marey.ProfilingConfig.from_yaml(own).max_data_points == 10_000
    args = get_args(["--profiling_config", str(own)])
    assert marey.ProfilingConfig.from_args(args).max_data_points == 10_000


def test_a_mapping_may_have_the_root_and_need_not_be_a_dict() -> None:
    bare = MappingProxyType({"enabled": True, "session_tags": MappingProxyType({"seed": 7})})
    rooted = MappingProxyType({"profiling": bare, "model": {"name": "other"}})
    for mapping in (bare, rooted):
        config = marey.ProfilingConfig.from_dict(mapping)
        assert config.enabled
        assert config.session_tags == {"seed": 7}
    assert marey.ProfilingConfig.from_dict({}).to_dict() == DEFAULTS
    assert marey.ProfilingConfig.from_dict({"profiling": None}).to_dict() == DEFAULTS


def test_arguments_override_file_and_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "p.yaml", "profiling: {enabled: false, output_dir: file, save_raw_data: true}")
    monkeypatch.setenv("MAREY_ENABLED", "0")
    monkeypatch.setenv("MAREY_OUTPUT_DIR", "environment")
    config = marey.ProfilingConfig.from_args(get_args(["--profiling-config", str(path)]))
    assert (config.enabled, config.output_dir, config.save_raw_data) == (False, "environment", True)
    config = marey.ProfilingConfig.from_args(get_args(["--enable_profiling", "--profiling-output-dir", "arguments"]))
    assert (config.enabled, config.output_dir) == (True, "arguments")
    config = marey.ProfilingConfig.from_args(get_args(["--enable-profiling"]), enabled=False)
    assert not config.enabled


@pytest.mark.parametrize("separator", ["-", "_"])
def test_flags_have_two_spellings(separator: str) -> None:
    line = ["--enable-profiling", "--profiling-config=c", "--profiling-output-dir=d", "--profiling-iterations=3"]
    args = get_args(["--" + flag[2:].replace("-", separator) for flag in line])
    expected = {
        "enable_profiling": True,
        "profiling_config": "c",
        "profiling_output_dir": "d",
        "profiling_iterations": 3,
    }
    assert expected.items() <= vars(args).items()


@pytest.mark.parametrize("is_first", [True, False])
def test_flags_go_with_those_of_a_script(is_first: bool) -> None:
    parser = argparse.ArgumentParser()
    if is_first:
        parser.add_argument("--steps", type=int, default=30)
    assert add_profiling_args(parser) is parser
    if not is_first:
        parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--enabled", default=True)  # is the script's own
    args = parser.parse_args([])
    expected = {
        "steps": 30,
        "enable_profiling": False,
        "profiling_config": None,
        "profiling_output_dir": None,
        "profiling_iterations": None,
        "profile": False,
        "track_memory": False,
    }
    assert expected.items() <= vars(args).items()
    assert marey.ProfilingConfig.from_args(args).to_dict() == DEFAULTS


@pytest.mark.parametrize("given", ["0", "-1", "two"])
def test_iterations_are_at_least_one(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        get_args([f"--profiling-iterations={given}"])
    assert "--profiling-iterations" in capsys.readouterr().err


def test_the_old_variable_switches_profiling_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEPACK_ENABLE_PROFILING", "1")
    assert marey.ProfilingConfig().enabled
    monkeypatch.setenv("MAREY_ENABLED", "0")
    assert not marey.ProfilingConfig().enabled


def test_equal_configurations_are_equal() -> None:
    assert marey.ProfilingConfig(**OTHERS) == marey.ProfilingConfig.from_dict(OTHERS)
    assert marey.ProfilingConfig() != marey.ProfilingConfig(enabled=True)
    assert marey.ProfilingConfig() != DEFAULTS
    with pytest.raises(TypeError):
        hash(marey.ProfilingConfig())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda config: pickle.loads(pickle.dumps(config))])
def test_copies_are_equal_whatever_the_environment_says_by_then(copied, monkeypatch: pytest.MonkeyPatch) -> None:
    config = marey.ProfilingConfig(**OTHERS)
    default = marey.ProfilingConfig()
    monkeypatch.setenv("MAREY_DISPLAY_INTERVAL", "not a number")
    monkeypatch.setenv("MAREY_MAX_DATA_POINTS", "33")
    monkeypatch.setenv("MAREY_PROFILING_CONFIG", "/nowhere")
    assert copied(config) == config
    assert copied(default) == default


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"gpu_interval": 1}, r"keyword: unknown key `gpu_interval`; no valid key has a similar name"),
        ({"max_data_point": 1}, r"keyword: unknown key `max_data_point`; did you mean `max_data_points`\?"),
        ({"enabled": 1}, r"keyword: `enabled` is the number 1, but must be true or false"),
        ({"enabled": None}, r"`enabled` is nothing \(null\), but must be true or false"),
        ({"display_interval": True}, r"`display_interval` is true, but must be a number of seconds from 0.01 to 86400"),
        ({"display_interval": float("nan")}, r"`display_interval` is the number NaN"),
        ({"max_data_points": 2.0}, r"`max_data_points` is the number 2.0, but must be a whole number, at least 2"),
        ({"max_data_points": 10**30}, r"is a whole number of more than 64 bits, but"),
        ({"report_format": Path("html")}, r"`report_format` is the path html, but must be html, json or both"),
        ({"output_dir": ["a"]}, r"`output_dir` is a list"),
        ({"output_dir": object()}, r"`output_dir` is an object of type object"),
        (
            {"session_tags": {"a": {"b": 1}}},
            r"`session_tags.a` is a mapping, but must be text, a number, true or false",
        ),
        ({"session_tags": [("a", 1)]}, r"`session_tags` is a list, but must be a mapping of names to values"),
        ({"thresholds": {"stage_ratio": True}}, r"`thresholds.stage_ratio` is true, but must be a number, 0 or more"),
        (
            {"thresholds": {"frame_per_second": 5}},
            r"unknown key `thresholds.frame_per_second`; did you mean `frames_per_second`\?",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_key_and_reason(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(marey.ConfigError, match=message) as caught:
        marey.ProfilingConfig(**keywords)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, marey.Error)


def test_a_mapping_that_contains_itself_is_refused() -> None:
    endless: dict[str, object] = {}
    endless["session_tags"] = endless
    with pytest.raises(marey.ConfigError, match="session_tags"):
        marey.ProfilingConfig.from_dict(endless)
    with pytest.raises(marey.ConfigError, match="session_tags"):
        marey.ProfilingConfig(session_tags=endless)


def test_an_error_in_a_file_names_the_line_and_the_nearest_key(tmp_path: Path) -> None:
    path = write(tmp_path / "p.yaml", "profiling:\n  enabled: true\n  gpu_monitor_intervall: 1\n")
    with pytest.raises(marey.ConfigError) as caught:
        marey.ProfilingConfig.from_yaml(path)
    assert str(caught.value) == (
        f"{path}, line 3, column 3: unknown key `gpu_monitor_intervall`; did you mean `gpu_monitor_interval`?"
    )


def test_an_error_in_a_variable_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAREY_REPORT_FORMAT", "pdf")
    with pytest.raises(marey.ConfigError, match=r"^MAREY_REPORT_FORMAT: `report_format` is the text \"pdf\""):
        marey.ProfilingConfig(enabled=True)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(marey.ConfigError, match=r"nowhere\.yaml: cannot be read: "):
        marey.ProfilingConfig.from_args(get_args(["--profiling_config", str(tmp_path / "nowhere.yaml")]))


def test_a_folder_may_be_a_path_of_any_bytes() -> None:
    assert marey.ProfilingConfig(output_dir=Path("a") / "b").output_dir == "a/b"
    assert marey.ProfilingConfig(output_dir="caf\udce9").output_dir == "caf\udce9"


def test_importing_marey_does_not_import_the_flags(interpreter: Interpreter) -> None:
    def program():
        import sys

        import marey

        config = marey.ProfilingConfig(output_dir="x")
        return config.output_dir, "marey.cli_args" in sys.modules, "argparse" in sys.modules

    assert interpreter.result(program) == ["x", False, False]


FLAGS = """
import argparse
import marey
from marey.cli_args import add_profiling_args

config = marey.ProfilingConfig.from_args(add_profiling_args(argparse.ArgumentParser()).parse_args())
with marey.Profiler(config) as profiler:
    with profiler.session("generation"), profiler.stage("vae_decode"):
        sum(range(200_000))
    print("done")
"""


def test_flags_of_the_note_end_with_a_summary_and_where_the_reports_are(interpreter: Interpreter) -> None:
    flags = ["--enable-profiling", "--profiling-iterations", "3", "--profiling-output-dir", "test_profile"]
    sure = f"import sys\nsys.argv += {flags!r}\n"
    finished = interpreter.run(sure + FLAGS)
    assert (finished.returncode, finished.stdout) == (0, "done\n")
    *_, last = finished.stderr.splitlines()
    assert "vae_decode" in finished.stderr
    folder = last.removeprefix("marey: reports are in ")
    assert folder.startswith("test_profile/")
    assert (interpreter.folder / folder / "profiling_report.json").exists()


def test_without_the_flag_and_under_marey_run_the_program_says_nothing_itself(interpreter: Interpreter) -> None:
    finished = interpreter.run(FLAGS.replace("Profiler(config)", "Profiler(config, enabled=True)"))
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "done\n", "")
    finished = interpreter.run(
        "import sys\nsys.argv.append('--enable-profiling')\n" + FLAGS, env={"MAREY_LAUNCHER": "1"}
    )
    assert (finished.returncode, finished.stdout) == (0, "done\n")
    assert "vae_decode" not in finished.stderr
