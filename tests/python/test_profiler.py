"""`marey.Profiler`: what its methods are told is in the capture, and nothing that they are told makes them raise."""

from __future__ import annotations

from capture_records import of_kind, recorded
from interpreter import Interpreter, read_capture


def test_values_arrive_with_their_units(interpreter: Interpreter) -> None:
    def program():
        import marey

        with marey.Profiler(enabled=True, output_dir="out") as profiler, profiler.session("clip"):
            profiler.record_diffusion_step(
                step=3, timestep=0.75, block_size=3, computation_time_ms=12.5, guidance_scale=6.0
            )
            profiler.record_diffusion_step(4, 0.5, 3, 10)
            profiler.record_block_computation(
                block_index=1, block_size=3, computation_time_ms=50.25, memory_usage_mb=1536.5
            )
            profiler.record_model_parameters("wan", 1_300_000_000, "transformer")
            profiler.record_streaming_event(3, 8.5, network_latency_ms=20, buffer_occupancy=0.25)
            profiler.record_streaming_event(3, 8.5)
            profiler.record_dropped_frames()
            profiler.record_dropped_frames(count=5)
            profiler.record_cache_event("hits", 4096)
            profiler.record_cache_event("misses", 4096, requested_size=512)
            profiler.record_cache_event("eviction", 3584, evicted_size=512)
            profiler.record_memory_event("alloc", 1 << 20, "caching", "vae")
            profiler.record_memory_event("dealloc", 1 << 20)

    records = recorded(interpreter.run(program))
    assert of_kind(records, "step") == [
        {
            "step": 3,
            "timestep": 0.75,
            "block_size": 3,
            "computation_ns": 12_500_000,
            "guidance_scale": 6.0,
            "session": 0,
        },
        {
            "step": 4,
            "timestep": 0.5,
            "block_size": 3,
            "computation_ns": 10_000_000,
            "guidance_scale": None,
            "session": 0,
        },
    ]
    assert of_kind(records, "block") == [
        {"index": 1, "size": 3, "computation_ns": 50_250_000, "memory_bytes": 1_611_137_024, "session": 0}
    ]
    assert of_kind(records, "model") == [
        {
            "name": "wan",
            "count": 1_300_000_000,
            "type": "transformer",
            "flops_per_call": None,
            "calls_per_step": None,
            "session": 0,
        }
    ]
    assert of_kind(records, "streaming") == [
        {
            "frames": 3,
            "encoding_ns": 8_500_000,
            "network_latency_ns": 20_000_000,
            "buffer_occupancy": 0.25,
            "session": 0,
        },
        {"frames": 3, "encoding_ns": 8_500_000, "network_latency_ns": None, "buffer_occupancy": None, "session": 0},
    ]
    assert of_kind(records, "dropped_frames") == [{"count": 1, "session": 0}, {"count": 5, "session": 0}]
    assert records["cache_events"] == [
        {"outcome": "Hit", "held_bytes": 4096, "data": {}, "session": 0},
        {"outcome": "Miss", "held_bytes": 4096, "data": {"requested_size": 512}, "session": 0},
        {"outcome": "Eviction", "held_bytes": 3584, "data": {"evicted_size": 512}, "session": 0},
    ]
    assert of_kind(records, "allocation") == [
        {"is_release": False, "bytes": 1_048_576, "allocator": "caching", "context": "vae", "session": 0},
        {"is_release": True, "bytes": 1_048_576, "allocator": None, "context": None, "session": 0},
    ]


def test_what_makes_no_sense_is_absent_and_never_zero(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Broken:
            def __float__(self):
                raise RuntimeError("no number")

        nonsense = [
            None,
            float("nan"),
            float("inf"),
            -1,
            -0.5,
            1e300,
            "12",
            b"1",
            [1],
            True,
            Broken(),
            object(),
            10**400,
        ]
        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            for value in nonsense:
                profiler.record_diffusion_step(value, None, value, value, None)
                profiler.record_block_computation(value, 1.5, value, value)
            profiler.record_diffusion_step(0, -1000.0, 0, 0.0, -1.0)

    records = recorded(interpreter.run(program))
    absent = {"step": None, "timestep": None, "block_size": None, "computation_ns": None, "guidance_scale": None}
    *nonsense, zeros = of_kind(records, "step")
    assert nonsense == [absent | {"session": None}] * 13
    assert zeros == {
        "step": 0,
        "timestep": -1000.0,
        "block_size": 0,
        "computation_ns": 0,
        "guidance_scale": -1.0,
        "session": None,
    }
    nothing = {"index": None, "size": None, "computation_ns": None, "memory_bytes": None, "session": None}
    assert of_kind(records, "block") == [nothing] * 13


def test_scalars_count_as_numbers_and_nothing_waits_for_a_gpu(interpreter: Interpreter) -> None:
    def program():
        import types

        import marey

        class Tensor:
            """Looks like a tensor; a device of its own must not be asked for its value."""

            def __init__(self, value, device, ndim=0):
                self.value, self.device, self.ndim = value, device, ndim

            def __float__(self):
                assert self.device == "cpu" or self.device.type == "cpu"
                asked.append(self.value)
                return float(self.value)

            def __repr__(self):
                assert self.device == "cpu" or self.device.type == "cpu"
                return "tensor"

        asked = []
        cpu, cuda = types.SimpleNamespace(type="cpu"), types.SimpleNamespace(type="cuda")
        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            profiler.record_diffusion_step(Tensor(7, cpu), Tensor(0.5, cpu), Tensor(3, "cpu"), Tensor(2.5, cpu))
            profiler.record_diffusion_step(Tensor(7, cuda), Tensor(0.5, cuda), Tensor(3, cuda), Tensor(2.5, cuda))
            profiler.record_diffusion_step(Tensor(7, cpu, ndim=1), 0.5, 3, 2.5)
            profiler.add_event(
                "tensors", {"cpu": Tensor(7.5, cpu), "cuda": Tensor(7.5, cuda), "list": [Tensor(1, cuda)]}
            )
        return asked

    finished = interpreter.run(program)
    records = recorded(finished)
    steps = of_kind(records, "step")
    assert [(row["step"], row["timestep"], row["block_size"], row["computation_ns"]) for row in steps] == [
        (7, 0.5, 3, 2_500_000),
        (None, None, None, None),
        (None, 0.5, 3, 2_500_000),
    ]
    assert finished.result == [7, 0.5, 3, 2.5, 7.5]
    assert records["events"][0]["data"] == {"cpu": 7.5, "cuda": "Tensor", "list": ["Tensor"]}


def test_unknown_types_are_counted_and_said_once_and_are_no_lookups(interpreter: Interpreter) -> None:
    def program():
        import marey

        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            for _ in range(2):
                profiler.record_cache_event("hits", 1)
            profiler.record_cache_event("hti", 1)
            profiler.record_cache_event("lookup", 1)
            profiler.record_cache_event(None, 1)
            profiler.record_memory_event("grow", 1)
            profiler.record_memory_event("alloc", "many")
            profiler.record_dropped_frames("many")
        return marey._core.losses()["notes_dropped"]

    finished = interpreter.run(program)
    records = recorded(finished)
    assert [event["outcome"] for event in records["cache_events"]] == ["Hit", "Hit"]
    assert of_kind(records, "allocation") == []
    assert of_kind(records, "dropped_frames") == []
    assert finished.result == 6
    assert finished.stderr.splitlines() == [
        'record_cache_event("hti") was not recorded: the types are hits, misses, evictions'
    ]


def test_events_take_whatever_data_there_is(interpreter: Interpreter) -> None:
    def program():
        import collections

        import marey

        class Hostile:
            def __repr__(self):
                raise RuntimeError("no repr")

            def __str__(self):
                raise RuntimeError("no str")

        class Long:
            def __repr__(self):
                return "x" * 10_000

        circle = {"name": "circle"}
        circle["self"] = circle
        knot = [1]
        knot.append(knot)
        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            profiler.add_event("plain")
            profiler.add_event("flat", {"bool": True, "int": 3, "float": 0.5, "text": "x", "none": None})
            profiler.add_event("nested", {"a": {"b": {"c": 1}, "d": [1, {"e": [None, float("nan")]}]}, "t": (1, "x")})
            profiler.add_event("not a dict", [1, 2])
            profiler.add_event("ordered", collections.OrderedDict(z=1, a=2))
            profiler.add_event("hostile", {"h": Hostile(), Hostile(): 1, "long": Long()})
            profiler.add_event(Hostile(), Hostile())
            profiler.add_event("circle", circle)
            profiler.add_event("knot", {"knot": knot})
            profiler.add_event("wide", {str(i): i for i in range(10_000)})
            profiler.add_event("\x1b[2J</script>\ud800", {"\x1b": "\ud800"})

    finished = interpreter.run(program)
    events = recorded(finished)["events"]
    data = {event["name"]: event["data"] for event in events}
    assert len(events) == 11
    assert data["plain"] == {}
    assert data["flat"] == {"bool": True, "int": 3, "float": 0.5, "text": "x", "none": None}
    assert data["nested"] == {"a.b.c": 1, "a.d": [1, '{"e":[null,null]}'], "t": [1, "x"]}
    assert data["not a dict"] == {"value": [1, 2]}
    assert data["ordered"] == {"z": 1, "a": 2}
    assert data["hostile"] == {"h": "Hostile", "Hostile": 1, "long": "x" * 200}
    assert data["Hostile"] == {"value": "Hostile"}
    assert data["circle"]["self.self.name"] == "circle"
    assert data["knot"]["knot"][0] == 1
    assert len(data["wide"]) == 256
    assert finished.stderr == ""
    read_capture(finished.captures[0])


def test_layers_are_measured_by_token_and_by_block(interpreter: Interpreter) -> None:
    def program():
        import math
        import time

        import marey

        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            start = profiler.start_layer_computation("attention")
            before = time.perf_counter()
            sum(range(200_000))
            at_least = (time.perf_counter() - before) * 1e3
            ms = profiler.end_layer_computation("attention", start, 1000)
            with profiler.layer("ffn", parameters_count=2000):
                sum(range(1000))
            try:
                with profiler.layer("failed"):
                    raise KeyError("mine")
            except KeyError:
                pass
            unknown = [profiler.end_layer_computation("made up", start) for start in (None, "x", 1, -1, 1 << 63, 0.5)]
        return ms, at_least, all(map(math.isnan, unknown))

    finished = interpreter.run(program)
    ms, at_least, all_unknown = finished.result
    layers = of_kind(recorded(finished), "layer")
    assert ms >= at_least * 0.999
    assert layers[0]["computation_ns"] == round(ms * 1e6)
    assert (layers[0]["name"], layers[0]["parameters"]) == ("attention", 1000)
    assert (layers[1]["name"], layers[1]["parameters"]) == ("ffn", 2000)
    assert layers[1]["computation_ns"] > 0
    assert all_unknown
    assert [(row["name"], row["computation_ns"]) for row in layers[2:]] == [("made up", None)] * 6


def test_what_is_not_enabled_makes_nothing_and_takes_every_call(interpreter: Interpreter) -> None:
    def program():
        import math
        import threading
        from pathlib import Path

        import marey

        profiler = marey.Profiler(output_dir="out")
        assert not profiler.is_enabled
        with profiler, profiler.session("s") as session, profiler.stage("x", {"a": 1}), profiler.layer("l"):
            assert session == "s"
            assert profiler.start_session("t", {"a": object()}) == "t"
            profiler.add_event("e", object())
            profiler.record_diffusion_step(0, 0.5, 1, 2.0)
            profiler.record_block_computation(0, 1, 2.0, 3.0)
            profiler.record_model_parameters("m", 1, "x")
            profiler.record_streaming_event(1, 2.0)
            profiler.record_dropped_frames("many")
            profiler.record_cache_event("what", 1)
            profiler.record_memory_event("what", "x")
            assert math.isnan(profiler.end_layer_computation("l", profiler.start_layer_computation("l")))
            assert set(profiler.get_current_metrics()) == {"timestamp", "sessions"}
            assert profiler.end_session() is None
        wrapped = profiler.profile_function(len)
        assert wrapped([1, 2]) == 2
        return (
            Path("out").exists(),
            threading.active_count(),
            marey._core.capture_path(),
            len(list(Path("/proc/self/task").iterdir())),
        )

    assert interpreter.result(program) == [False, 1, None, 1]


def test_switched_off_by_the_environment_it_is_not_enabled(interpreter: Interpreter) -> None:
    def program():
        from pathlib import Path

        import marey

        with marey.Profiler(enabled=True, output_dir="out") as profiler, profiler.stage("x"):
            profiler.add_event("e")
        return profiler.is_enabled, Path("out").exists()

    assert interpreter.result(program, env={"MAREY_ENABLED": "0"}) == [False, False]


def test_a_start_that_cannot_be_raises_before_the_program_runs(interpreter: Interpreter) -> None:
    def program():
        from pathlib import Path

        import marey

        Path("file").write_text("in the way")
        messages = []
        for keywords in ({"output_dir": "file/out"}, {"profile_vae_decod": False}, {"gpu_monitor_interval": "fast"}):
            try:
                marey.Profiler(enabled=True, **keywords)
            except marey.Error as error:
                messages.append((type(error).__name__, next(iter(keywords)) in str(error)))
        return messages

    found = interpreter.result(program)
    assert [kind for kind, _ in found] == ["CaptureError", "ConfigError", "ConfigError"]
    assert [is_named for _, is_named in found[1:]] == [True, True]


def test_configurations_come_as_objects_files_mappings_and_keywords(interpreter: Interpreter) -> None:
    def program():
        import marey

        with open("profiling.yaml", "w") as file:
            file.write("profiling:\n  enabled: true\n  output_dir: out\n  session_tags: {model: self_forcing}\n")
        made = [
            marey.Profiler("profiling.yaml"),
            marey.Profiler(marey.ProfilingConfig.from_yaml("profiling.yaml"), session_tags={"model": "other"}),
            marey.Profiler({"profiling": {"enabled": True, "output_dir": "out"}}),
        ]
        for number, profiler in enumerate(made):
            with profiler.session(f"clip-{number}", {"seed": number}):
                pass
        return [profiler.config.session_tags for profiler in made]

    finished = interpreter.run(program)
    assert finished.result == [{"model": "self_forcing"}, {"model": "other"}, {}]
    sessions = recorded(finished)["sessions"]
    assert [session["tags"] for session in sessions] == [
        {"model": "self_forcing", "seed": 0},
        {"model": "other", "seed": 1},
        {"seed": 2},
    ]


def test_a_profiler_is_copied_as_itself_and_pickled_as_its_configuration(interpreter: Interpreter) -> None:
    def program():
        import copy
        import pickle

        import marey

        class Pipeline:
            def __init__(self, profiler):
                self._profiler = profiler

        profiler = marey.Profiler(enabled=True, output_dir="out", session_tags={"a": 1})
        copied = copy.deepcopy(Pipeline(profiler))
        again = pickle.loads(pickle.dumps(profiler))
        return (
            copied._profiler is profiler,
            copy.copy(profiler) is profiler,
            again.config == profiler.config,
            again.is_enabled,
        )

    assert interpreter.result(program) == [True, True, True, True]


def test_a_subclass_with_arguments_of_its_own_works(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Mine(marey.Profiler):
            def __init__(self, name, *, extra):
                super().__init__(enabled=True, output_dir="out")
                self.name = name + extra

        class Forgetful(marey.Profiler):
            def __init__(self):
                pass

        with Mine("a", extra="b") as mine, mine.stage("x"):
            pass
        with Forgetful().stage("y"):
            pass
        return mine.name, Forgetful().is_enabled

    finished = interpreter.run(program)
    assert finished.result == ["ab", False]
    assert [row["name"] for row in recorded(finished)["sections"]] == ["x"]


def test_current_metrics_have_only_what_is_known(interpreter: Interpreter) -> None:
    def program():
        import time

        import marey

        off = {"monitor_cpu_usage": False, "monitor_system_memory": False, "real_time_display": False}
        with marey.Profiler(enabled=True, output_dir="out", **off) as profiler:
            outside = profiler.get_current_metrics()
            with profiler.session("a"), profiler.session("b"):
                inside = profiler.get_current_metrics()
                profiler.record_dropped_frames(2)
                dropped = profiler.get_current_metrics()["dropped_frames"]
        return outside, inside, dropped, time.time()

    outside, inside, dropped, now = interpreter.result(program)
    assert set(outside) == {"timestamp", "sessions"}
    assert outside["sessions"] == []
    assert 0 <= now - outside["timestamp"] < 300
    assert (inside["session"], inside["sessions"]) == ("b", ["a", "b"])
    assert dropped == 2


def test_ctrl_c_in_a_conversion_goes_on(interpreter: Interpreter) -> None:
    def program():
        import marey

        class Slow:
            def __float__(self):
                raise KeyboardInterrupt

        with marey.Profiler(enabled=True, output_dir="out") as profiler:
            try:
                profiler.record_diffusion_step(0, Slow(), 1, 1.0)
            except KeyboardInterrupt:
                return "interrupted"

    assert interpreter.result(program) == "interrupted"
