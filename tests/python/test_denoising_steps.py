"""Who is told of the end of a denoising step."""

import threading

from interpreter import Interpreter, read_capture
from marey import denoising_steps


def turn(inner=lambda: None):
    begun = denoising_steps.begin()
    inner()
    denoising_steps.end(begun)


def test_the_innermost_turn_is_the_step():
    told = []
    leave = denoising_steps.listen(lambda: told.append("step"))
    #  loop   |-----------|-----------|
    #  step      |--|        |--|
    turn(lambda: turn())
    turn(lambda: turn())
    assert told == ["step", "step"]
    turn()
    assert told == ["step"] * 3
    leave()
    leave()
    turn()
    assert told == ["step"] * 3


def test_several_steps_in_one_turn_are_each_told():
    told = []
    leave = denoising_steps.listen(lambda: told.append("step"))

    def two():
        turn()
        turn()

    turn(two)
    leave()
    assert told == ["step", "step"]


def test_a_step_of_another_thread_does_not_take_the_place_of_ones_own():
    told = []
    leave = denoising_steps.listen(lambda: told.append(threading.current_thread().name))

    def other():
        thread = threading.Thread(target=turn, name="other")
        thread.start()
        thread.join()

    turn(other)
    leave()
    assert told == ["other", threading.current_thread().name]


def test_a_turn_that_began_before_anybody_listened_is_not_told():
    told = []
    begun = denoising_steps.begin()
    leave = denoising_steps.listen(lambda: told.append("step"))
    denoising_steps.end(begun)
    leave()
    assert told == []


def test_tasks_that_take_turns_have_loops_of_their_own(interpreter: Interpreter) -> None:
    """Two of one thread, without a session."""

    def program():
        import asyncio

        import marey

        profiler = marey.Profiler(enabled=True, output_dir="out", real_time_display=False)

        async def generate():
            for step in range(4):
                profiler.record_diffusion_step(step, computation_time_ms=10.0)
                await asyncio.sleep(0)

        async def both():
            await asyncio.gather(generate(), generate())

        asyncio.run(both())

    found = read_capture(interpreter.run(program).captures[0])["diffusion_analysis"]
    assert [found[key] for key in ("total_steps", "total_loops", "max_steps_per_loop")] == [8, 2, 4]
    assert {step["passes"] for step in found["steps"]} == {1}
