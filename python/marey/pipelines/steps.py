"""Denoising steps of a pipeline, told from the calls of its parts.

A turn begins with the first call of a denoiser since the last one ended, and ends with the scheduler's step. What the
pipeline does between two turns (callbacks, the progress bar) belongs to none.

```text
denoising_step   |-------------------------|      |-------------------------|
  cond_pass        |--------|                       |--------|
    transformer     |------|                          |------|
  uncond_pass                 |------|                         |------|
  scheduler_step                      |---|                            |---|
told to windows                            ^                                ^
callback                                    |--|                             |--|
vae_decode                                                                         |-----|
readings                                                            after_denoising ^     ^ after_vae_decode
```

A turn that no step of a scheduler ends is over when decoding begins or the generation ends; one in which the denoiser
raised has failed. Each thread has a loop of its own, and each generation.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from marey import _core, denoising_steps
from marey.memory import MemoryTracker

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.patches import Around, Call


class Loop:
    """One denoising loop, or several one after the other, of a generation or of a thread without one."""

    def __init__(self, is_of_generation: bool = False) -> None:
        """Begin with no turn."""
        self.is_of_generation = is_of_generation
        self.step = 0
        self.context: str | None = None
        self.is_guided: Callable[[], bool] = bool
        self._turns = _core.IterationLog("denoising_step", True)
        self._memory = MemoryTracker()
        self._is_open = False
        self._has_denoised = False
        self._calls = 0
        self._has_passes = False
        self._is_outside = False
        self._stage: str | None = None

    def denoiser_called(self) -> None:
        """A denoiser is called: a turn begins unless one is open."""
        if self._is_outside:
            return
        self._calls += 1
        if not self._is_open:
            self._begin()

    def _begin(self) -> None:
        self._is_open = self._has_denoised = True
        self._turns.begin()

    def pass_begins(self) -> None:
        """A pass of guidance begins: a turn begins with it unless one is open."""
        self._has_passes = True
        if not (self._is_open or self._is_outside):
            self._begin()

    def enter_context(self, context: str) -> str | None:
        """A pass of guidance has a name; returns that of the one around it."""
        outer, self.context = self.context, context
        return outer

    def end_turn(self, is_failed: bool = False) -> None:
        """End the turn that is open, if one is."""
        if not self._is_open:
            return
        self._is_open = False
        self._turns.end(is_failed)
        if self.step == 0 and not is_failed:
            self._say_guidance()
        self.step += 1
        self._calls = 0

    def _say_guidance(self) -> None:
        """Once a generation: how guidance is computed, where passes have no names that say so."""
        if self._calls > 0 and not self._has_passes and self._is_guidance_on():
            how = "one call with a doubled batch" if self._calls == 1 else "separate calls"
            _core.event("guidance", how=how, calls_per_step=self._calls)

    def _is_guidance_on(self) -> bool:
        try:
            return self.is_guided()
        except Exception:
            # A property of the pipeline that is not ready.
            return False

    def end_denoising(self) -> None:
        """No more turns for now: decoding begins, or the generation ends."""
        self.end_turn()
        if self._has_denoised:
            self._has_denoised = False
            self.read("after_denoising")

    def enter_outside(self) -> bool:
        """What is called now is no part of a step; returns what ``leave_outside`` wants."""
        self.end_turn()
        was_outside, self._is_outside = self._is_outside, True
        return was_outside

    def leave_outside(self, was_outside: bool) -> None:
        """Calls of the denoiser are steps again."""
        self._is_outside = was_outside

    def enter_stage(self, stage: str) -> str | None:
        """A stage begins; returns the one around it."""
        outer = self._stage
        self._stage = outer or stage
        return outer

    def leave_stage(self, outer: str | None) -> None:
        """A stage ends."""
        self._stage = outer

    def read(self, label: str) -> None:
        """Read memory under a label."""
        self._memory.snapshot(label)


class _Current(threading.local):
    def __init__(self) -> None:
        self.loop = Loop()


current = _Current()


def in_stage(name: str, label: str, is_decoding: bool = False) -> Around:
    """A section, and a reading of memory after it unless it is part of another stage or raised."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        loop = current.loop
        if is_decoding:
            loop.end_denoising()
        outer = loop.enter_stage(name)
        try:
            with _core.profile_section(name):
                result = call(*args, **kwargs)
        finally:
            loop.leave_stage(outer)
        if outer is None:
            loop.read(label)
        return result

    return around


def in_turn(name: str, in_generations: bool) -> Around:
    """A call of a denoiser.

    Where generations are told, one outside of them is no step: nothing would end it.
    """

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        loop = current.loop
        if loop.is_of_generation or not in_generations:
            loop.denoiser_called()
        try:
            with _core.profile_section(name):
                return call(*args, **kwargs)
        except BaseException:
            loop.end_turn(is_failed=True)
            raise

    return around


def scheduler_step(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """A step of a scheduler: the end of a turn."""
    loop = current.loop
    begun = denoising_steps.begin()
    try:
        with _core.profile_section("scheduler_step"):
            result = call(*args, **kwargs)
    except BaseException:
        loop.end_turn(is_failed=True)
        raise
    loop.end_turn()
    denoising_steps.end(begun)
    return result


class Pass:
    """One pass of guidance, around the context that a pipeline opens for it."""

    def __init__(self, context: Any, name: str, begins_turn: bool) -> None:  # noqa: ANN401
        """Not entered yet."""
        self._begins_turn = begins_turn
        self._context = context
        self._name = name
        self._section = _core.profile_section(f"{name}_pass")

    def __enter__(self) -> Any:  # noqa: ANN401
        """Open the section, then the context."""
        self._loop = current.loop
        if self._begins_turn:
            self._loop.pass_begins()
        self._outer = self._loop.enter_context(self._name)
        self._section.__enter__()
        try:
            return self._context.__enter__()
        except BaseException as error:
            self._leave(type(error), error)
            raise

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:  # noqa: ANN401
        """Close both; the context says whether the exception goes on."""
        try:
            return self._context.__exit__(kind, error, traceback)
        finally:
            self._leave(kind, error)

    def _leave(self, kind: Any, error: Any) -> None:  # noqa: ANN401
        self._section.__exit__(kind, error, None)
        self._loop.context = self._outer


def guidance_in_turn(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """As ``guidance_pass``, of a denoiser whose turns are told."""
    return guidance_pass(call, args, kwargs, begins_turn=True)


def guidance_in_generation(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """As ``guidance_pass``, of a denoiser whose turns are told in generations."""
    return guidance_pass(call, args, kwargs, begins_turn=current.loop.is_of_generation)


def guidance_pass(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any], begins_turn: bool = False) -> Any:  # noqa: ANN401
    """A call of ``cache_context("cond")``: a pass of guidance with a name."""
    context = call(*args, **kwargs)
    name = kwargs.get("name", args[0] if args else None)
    return Pass(context, name, begins_turn) if isinstance(name, str) else context
