"""Denoising steps of a pipeline, found by the calls of its parts.

An iteration begins with the first call of a denoiser, or of a ControlNet, since the last one ended, and ends with the
scheduler's step. What the pipeline does between two iterations (callbacks, the progress bar) belongs to none.

```text
denoising_step   |-------------------------|      |-------------------------|
  cond_pass        |--------|                       |--------|
    transformer     |------|                          |------|
  uncond_pass                 |------|                         |------|
  scheduler_step                      |---|                            |---|
windows learn of it                        ^                                ^
callback                                    |--|                             |--|
vae_decode                                                                         |-----|
readings                                                            after_denoising ^     ^ after_vae_decode
```

A step of Heun's method and its like is two evaluations, the last one of a schedule one; they are one iteration:

```text
denoising_step   |------------------------------------|     |------------------------------------|     |---------------|
  unet             |-----|             |-----|                |-----|             |-----|                |-----|
  scheduler_step          |--| order 1        |--| 2                 |--| order 1        |--| 2                 |--| 1
windows learn of it                                   ^                                          ^                     ^
```

An iteration that no step of a scheduler ends is over when decoding begins or the generation ends; one in which the
denoiser raised has failed. Each thread has a loop of its own, and each generation.

How guidance is computed, where a pipeline opens no passes with names, is known from the batches of one evaluation:

| calls of the denoiser | its batch, to that of the scheduler | guidance |
|---|---|---|
| 1 | 1 | none, or an input of the model |
| 1 | 2 | one call with a doubled batch |
| 1 | 3 | one call with a tripled batch: perturbed attention beside the other two |
| 2 | 1 | separate calls |
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, cast

from marey import _core, denoising_steps, work_device
from marey.memory import MemoryTracker
from marey.pipelines.patches import kind_of, owner_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from marey.pipelines.patches import Around, Call
    from marey.pipelines.timesteps import Timesteps


_FOLD = {2: "doubled", 3: "tripled"}


class Loop:
    """One denoising loop, or several one after the other, of a generation or of a thread without one."""

    def __init__(self, is_of_generation: bool = False) -> None:
        """Begin with no iteration."""
        self.is_of_generation = is_of_generation
        self.is_scheduled = False
        """Without a generation: a scheduler has its time steps, and has not taken the last one."""
        self.step = 0
        self.context: str | None = None
        self.is_guided: Callable[[], bool] = bool
        self._iterations = _core.IterationLog("denoising_step", True)
        self._place: _core.WorkPlace | None = None
        self.memory = MemoryTracker()
        self._is_open = False
        self._has_denoised = False
        self._batches: list[int | None] = []
        self.has_passes = False
        self._has_evaluated = False
        self._is_outside = False
        self.is_in_stage = False

    def begin_iteration(self) -> None:
        """Begin an iteration unless one is open, or what is called is no part of one."""
        if not (self._is_open or self._is_outside):
            self._is_open = self._has_denoised = True
            self._place = _core.WorkPlace.here()
            self._iterations.begin()

    def denoiser_called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A denoiser is called: an iteration begins with it."""
        self.begin_iteration()
        if not (self._has_evaluated or self._is_outside):
            self._batches.append(batch_of(args, kwargs))

    def evaluated(self, sample: Any) -> None:  # noqa: ANN401
        """The scheduler has taken what the denoiser says of a sample: then it is known how guidance is made."""
        if self._has_evaluated or not self._batches:
            return
        self._has_evaluated = True
        said = guidance(self._batches, batch_of((sample,), {}), self._is_guidance_on())
        # Passes have names that say it.
        if said is not None and not self.has_passes:
            _core.event("guidance", **said)

    def end_iteration(self, is_failed: bool = False) -> None:
        """End the iteration that is open, if one is."""
        if self._is_open:
            self._is_open = False
            # Where it began, which is where the denoiser works; a scheduler may work elsewhere.
            with self._place or nullcontext():
                self._iterations.end(is_failed)
            self.step += 1
            self._batches.clear()

    def _is_guidance_on(self) -> bool:
        try:
            return self.is_guided()
        except Exception:
            # A property of the pipeline that is not ready.
            return False

    def end_denoising(self) -> None:
        """No more iterations for now: decoding begins, or the generation ends."""
        self.end_iteration()
        self.is_scheduled = False
        if self._has_denoised:
            self._has_denoised = False
            _core.tell_schedule()
            self.memory.snapshot("after_denoising")

    def enter_outside(self) -> bool:
        """What is called now is no part of a step; returns what ``leave_outside`` wants."""
        self.end_iteration()
        was_outside, self._is_outside = self._is_outside, True
        return was_outside

    def leave_outside(self, was_outside: bool) -> None:
        """Calls of the denoiser are steps again."""
        self._is_outside = was_outside


class _Current(threading.local):
    """The loop of a thread, from its first use on: a loop begins a recording, which an import must not."""

    _loop: Loop | None = None

    @property
    def loop(self) -> Loop:
        if self._loop is None:
            self._loop = Loop()
        return self._loop

    @loop.setter
    def loop(self, loop: Loop) -> None:
        self._loop = loop


current = _Current()


def in_stage(name: str, label: str, is_decoding: bool = False) -> Around:
    """A section, and a reading of memory after it unless it is part of another stage or raised."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        loop = current.loop
        if is_decoding:
            loop.end_denoising()
        is_inner, loop.is_in_stage = loop.is_in_stage, True
        try:
            with work_device.of(owner_of(call)), _core.profile_section(name):
                result = call(*args, **kwargs)
        finally:
            loop.is_in_stage = is_inner
        if not is_inner:
            loop.memory.snapshot(label)
            if is_decoding:
                _say_frames(name, result)
        return result

    return around


def _say_frames(section: str, decoded: Any) -> None:  # noqa: ANN401
    """How many frames of pixels came out: of a batch of clips, or of images, each of which is a frame."""
    try:
        sample: Any = cast("Any", decoded)[0] if isinstance(decoded, tuple) else getattr(decoded, "sample", decoded)
        shape: tuple[int, ...] = tuple(sample.shape)
        frames = {4: shape[0], 5: shape[0] * shape[2]}.get(len(shape))
    except Exception:
        # A decoder with results of its own.
        return
    if frames is not None:
        _core.event("frames_decoded", section=section, frames=frames)


def in_turn(name: str, is_turn: Callable[[], bool], is_helper: bool) -> Around:
    """A call of a denoiser, or of what helps it."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        loop = current.loop
        if is_turn():
            loop.begin_iteration() if is_helper else loop.denoiser_called(args, kwargs)
        try:
            with _core.profile_section(name):
                return call(*args, **kwargs)
        except BaseException:
            loop.end_iteration(is_failed=True)
            raise

    return around


def scheduler_step(scheduler: Any, timesteps: Timesteps) -> Around:  # noqa: ANN401
    """A step of a scheduler, ``step(output, timestep, sample)``: the end of an iteration, or the half of one."""
    has_halves = hasattr(kind_of(scheduler), "state_in_first_order")

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        loop = current.loop
        begun = denoising_steps.begin()
        given = args[1] if len(args) > 1 else kwargs.get("timestep")
        timestep = timesteps.of(given)
        said: dict[str, Any] = {} if timestep is None else {"timestep": timestep}
        try:
            with _core.profile_section("scheduler_step", **said):
                result = call(*args, **kwargs)
        except BaseException:
            loop.end_iteration(is_failed=True)
            raise
        is_over = not (has_halves and _is_half(owner_of(call)))
        loop.evaluated(args[2] if len(args) > 2 else kwargs.get("sample"))
        if is_over:
            loop.end_iteration()
            # Two evaluations are a step, but for the last one.
            n_made, n_steps = ((n + has_halves) // (1 + has_halves) for n in timesteps.place(given))
            _core.tell_schedule(n_made, n_steps)
            denoising_steps.end(begun)
            if loop.is_scheduled and 0 < n_steps == n_made:
                loop.end_denoising()
        return result

    return around


def _is_half(scheduler: Any) -> bool:  # noqa: ANN401
    """Whether a second evaluation follows for the step that a scheduler has begun."""
    try:
        # It has begun a step behind the last one, too.
        return not scheduler.state_in_first_order and scheduler.step_index < len(scheduler.timesteps)
    except Exception:
        return False


@contextmanager
def _in_pass(context: Any, name: str, begins_turn: bool) -> Generator[Any]:  # noqa: ANN401
    """One pass of guidance, around the context that a pipeline opens for it."""
    loop = current.loop
    if begins_turn:
        loop.has_passes = True
        loop.begin_iteration()
    outer, loop.context = loop.context, name
    try:
        with _core.profile_section(f"{name}_pass"), context as opened:
            yield opened
    finally:
        loop.context = outer


def guidance_pass(is_turn: Callable[[], bool]) -> Around:
    """A call of ``cache_context("cond")``: a pass of guidance with a name, which may begin an iteration."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        context = call(*args, **kwargs)
        name = kwargs.get("name", args[0] if args else None)
        return _in_pass(context, name, is_turn()) if isinstance(name, str) else context

    return around


def guidance(batches: list[int | None], samples: int | None, is_on: bool) -> dict[str, Any] | None:
    """Attributes of the event ``guidance``; None where there is none.

    Args:
        batches: Of each call of the denoiser; None of one that is not known.
        samples: How many the scheduler got.
        is_on: The pipeline says that there is guidance.
    """
    known = [batch // samples for batch in batches if batch and samples and batch % samples == 0]
    factor = max(known) if len(known) == len(batches) > 0 else None
    if not batches or not (is_on or (factor or 1) > 1) or (len(batches), factor) == (1, 1):
        return None
    how = "separate calls" if len(batches) > 1 else "one call"
    if len(batches) == 1 and factor is not None:
        how = f"one call with a {_FOLD.get(factor, f'{factor}-fold')} batch"
    said: dict[str, Any] = {"how": how, "calls_per_step": len(batches)}
    return said if factor is None else {**said, "batch_factor": factor}


def batch_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """How many samples a call of a module gets: the first size of its first tensor that has one."""
    for value in (*args, *kwargs.values()):
        try:
            shape = getattr(value, "shape", None)
            if shape is not None and len(shape):
                return int(shape[0])
        except Exception:
            # Anything may call itself a shape.
            continue
    return None
