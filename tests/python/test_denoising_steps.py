"""Who is told of the end of a denoising step."""

import threading

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
