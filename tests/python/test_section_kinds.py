"""Switches like `profile_vae_decode`: sections of a kind are not recorded, whoever opens them and whoever says so."""

from __future__ import annotations

import pytest

from capture_records import of_kind, recorded, recorded_in
from interpreter import Interpreter


def test_switched_off_kinds_are_not_recorded_whoever_opens_them(either: Interpreter) -> None:
    def program():
        import marey

        @marey.profile_function("vae_decode")
        def decode():
            return "frames"

        @marey.profile_function("text_encoding")
        def encode():
            yield from range(3)

        def everything(label):
            for name in ("vae_decode", "text_encoding", "denoising_step", "block", "vae_encode"):
                with marey.profile_section(name), marey.profile_section(name, at=label), profiler.stage(name):
                    pass
                with profiler.stage(name, {"a": 1}):
                    pass
            assert decode() == "frames"
            assert list(encode()) == [0, 1, 2]

        def counts():
            return {name: row["count"] for name, row in marey.get_global_stats().get_all_stats().items()}

        profiler = marey.Profiler(enabled=True, output_dir="out")
        everything("before")
        found = [counts()]
        keywords = {"profile_vae_decode": False, "profile_text_encoding": False}
        more = {"profile_inference_steps": False, "profile_block_computation": False}
        with marey.Profiler(enabled=True, **keywords), marey.Profiler(enabled=True, **keywords, **more):
            everything("off")
            found.append(counts())
        everything("after")
        found.append(counts())
        return found

    before, off, after = either.result(program)
    once = {"vae_decode": 5, "text_encoding": 5, "denoising_step": 4, "block": 4, "vae_encode": 4}
    assert before == once
    assert off == once | {"vae_encode": 8}
    assert after == {name: 2 * count for name, count in once.items()} | {"vae_encode": 12}


FIRST_USES = ["section", "section with attributes", "function", "coroutine", "generator", "method", "turn"]


@pytest.mark.parametrize("mode", ["first use", "autostart", "start"])
@pytest.mark.parametrize("first", FIRST_USES)
def test_the_environment_switches_kinds_off_from_the_first_use_on(
    interpreter: Interpreter, first: str, mode: str
) -> None:
    def program(first, mode):
        import asyncio

        import marey
        from marey.decorators import profile_method

        if mode == "start":
            marey.start("out")

        def open_section(**attributes):
            with marey.profile_section("vae_decode", **attributes):
                pass

        def function():
            marey.profile_function("vae_decode")(lambda: None)()

        async def coroutine():
            @marey.profile_function("vae_decode")
            async def decode():
                pass

            await decode()

        def generator():
            @marey.profile_function("vae_decode")
            def decode():
                yield

            return decode()

        class Pipeline:
            @profile_method("vae_decode")
            def decode(self):
                pass

        def turn():
            loop = marey.IterationProfiler("vae_decode")
            with loop.iteration():
                pass
            assert loop.get_stats() == {}

        uses = {
            "section": open_section,
            "section with attributes": lambda: open_section(at=1),
            "function": function,
            "coroutine": lambda: asyncio.run(coroutine()),
            "generator": lambda: list(generator()),
            "method": lambda: Pipeline().decode(),
            "turn": turn,
        }
        uses[first]()
        for use in uses.values():
            use()
        with marey.profile_section("vae_encode"):
            pass
        return sorted(marey.get_global_stats().get_all_stats())

    env = {"MAREY_PROFILE_VAE_DECODE": "0"} | ({"MAREY_ENABLED": "1"} if mode == "autostart" else {})
    assert interpreter.result(program, first, mode, env=env) == ["vae_encode"]


def test_turns_of_a_loop_that_is_named_after_steps_are_steps(interpreter: Interpreter) -> None:
    def program():
        import marey

        loops = [marey.IterationProfiler(name) for name in ("denoising_step", "denoising_steps", "chunks")]

        def turn_all():
            for loop in loops:
                with loop.iteration():
                    pass

        turn_all()
        profiler = marey.Profiler(
            enabled=True, output_dir="out", profile_inference_steps=False, real_time_display=False
        )
        turn_all()
        with loops[0].iteration():
            profiler.cleanup()
            with loops[0].iteration():
                pass
        turn_all()
        return [loop.get_stats()["count"] for loop in loops]

    finished = interpreter.run(program)
    assert finished.result == [3, 2, 3], finished.stderr
    names = [row["name"] for row in recorded(finished)["sections"]]
    assert [names.count(name) for name in ("denoising_step", "denoising_steps", "chunks")] == [3, 2, 3]


def test_the_environment_switches_off_what_decorators_report(interpreter: Interpreter) -> None:
    def program():
        import marey
        from marey.decorators import profile_block_computation, profile_diffusion_step, profile_model_parameters

        marey.start("out")

        @profile_model_parameters(lambda args, kwargs: {"model_name": "wan", "parameters_count": 7})
        @profile_block_computation(lambda args, kwargs: {"block_index": 1})
        @profile_diffusion_step(lambda args, kwargs: {"step": 1})
        def everything():
            pass

        everything()
        return str(marey.stop())

    switches = ("DIFFUSION_STEPS", "BLOCK_COMPUTATION", "MODEL_PARAMETERS")
    for off in switches:
        capture = interpreter.result(program, env={f"MAREY_PROFILE_{off}": "0"})
        records = recorded_in(interpreter.folder / capture)
        found = [of_kind(records, kind) != [] for kind in ("step", "block", "model")]
        assert found == [off != switch for switch in switches]


def test_what_a_profiler_says_stands_above_the_environment_while_it_lives(interpreter: Interpreter) -> None:
    def program():
        import gc

        import marey

        def count():
            with marey.profile_section("vae_decode"):
                pass
            return marey.get_global_stats().get_stats("vae_decode").get("count", 0)

        keywords = {"enabled": True, "output_dir": "out", "real_time_display": False}
        found = [count()]
        with marey.Profiler(profile_vae_decode=True, **keywords):
            found.append(count())
            with marey.Profiler(**keywords):
                found.append(count())
            found.append(count())
        found.append(count())
        dropped = marey.Profiler(profile_vae_decode=True, **keywords)
        found.append(count())
        del dropped
        gc.collect()
        found.append(count())
        return found

    assert interpreter.result(program, env={"MAREY_PROFILE_VAE_DECODE": "0"}) == [0, 1, 1, 2, 2, 3, 3]
