"""Pipelines that are recorded without a change of their code.

>>> import marey.diffusers
>>> instrumented = marey.diffusers.instrument(pipe)         # doctest: +SKIP
>>> pipe("a red fox", num_inference_steps=20)               # doctest: +SKIP
>>> instrumented.undo()                                     # doctest: +SKIP

``marey run`` does this to every pipeline of diffusers by itself. Results are the same to the bit, exceptions pass
through as they are, and what cannot be recorded is noted as the event ``not_instrumented``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey import _core
from marey.pipelines import caches, compilations, offload, stages
from marey.pipelines.generation import KEY, is_watched, unwatch, watch
from marey.pipelines.identity import model_name
from marey.pipelines.modules import unwrapped
from marey.pipelines.parts import Part, Role, is_module, parameters_of, parts
from marey.pipelines.patches import Patches, kind_of, pass_over, reference_to, release, values_of
from marey.pipelines.steps import current

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

__all__ = ["Instrumented", "instrument"]


def instrument(pipe: Any = None, *, blocks: bool = True, **more_parts: Any) -> Instrumented:  # noqa: ANN401
    """Record the stages of a pipeline from now on: encoders, denoiser, scheduler, VAE, offloading, step caches.

    A pipeline that is instrumented already stays as it is. Parts that it gets later are found when it is called next.
    A call of a module costs about 0.4 us more, a step of the scheduler, which ends an iteration, about 5 us.

    Args:
        pipe: A pipeline of diffusers, any object with torch modules as attributes, or a mapping of names to modules.
        blocks: Record each block of the denoiser, too.
        more_parts: Parts by their names: ``instrument(transformer=…, vae=…, scheduler=…)``.

    Returns:
        What takes it back: ``undo()``, or the end of a ``with`` block.
    """
    known = values_of(pipe).get(KEY) if is_watched(pipe) else None
    if isinstance(known, Instrumented) and not more_parts:
        return known
    return Instrumented(pipe, blocks, more_parts)


class Instrumented:
    """A pipeline that is recorded, until ``undo()``."""

    def __init__(self, pipe: Any, blocks: bool, more_parts: dict[str, Any]) -> None:  # noqa: ANN401
        """Hook everything that is there."""
        self._pipe = reference_to(pipe)
        self._more_parts = [(name, reference_to(part)) for name, part in more_parts.items()]
        self._with_blocks = blocks
        self._patches = Patches()
        self._seen: dict[str, object] = {}
        self._counts: dict[str, tuple[Callable[[], object], int | None]] = {}
        self._compiles = compilations.Listener()
        self._watched: list[Callable[[], Any]] = []
        self._attempt("a pipeline", lambda: self.watch(pipe))
        self._hook_all()

    def watch(self, pipe: Any) -> None:  # noqa: ANN401
        """Make each call of a pipeline a session."""
        self._watched.append(reference_to(pipe))
        watch(self._patches, pipe, self)

    def move_to(self, wrapper: Any) -> None:  # noqa: ANN401
        """Make each call of a wrapper a session instead, which has put parts of its own into the pipeline."""
        self.undo()
        self._seen.clear()
        self._patches.put(self._pipe(), KEY, self)
        self.watch(wrapper)
        self._hook_all()

    def undo(self) -> None:
        """Leave the pipeline as it was. Doing it again changes nothing."""
        self._compiles.stop()
        for pipe in [reference() for reference in self._watched]:
            self._attempt("the class of a pipeline", lambda pipe=pipe: unwatch(pipe))
        self._patches.take_back()

    def __enter__(self) -> Instrumented:
        """The same."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """As ``undo``."""
        self.undo()

    def clean_pass(self) -> Outside:
        """For a ``with`` block: calls of the denoiser in it only fill a KV cache, and are no denoising steps.

        They are recorded under ``kv_cache_commit``.
        """
        return Outside()

    def before_generation(self, name: str) -> None:
        """Hook what is new since the last call, and report the models of the pipeline, which has this name."""
        self._hook_all()
        profiler = _core.process_profiler()
        for part in self._parts():
            if is_module(part.object):
                self._attempt("model parameters", lambda part=part: self._report(profiler, name, part))

    def _parts(self) -> list[Part]:
        pipe = self._pipe()
        own = [] if pipe is None else parts(pipe)
        more = {name: reference() for name, reference in self._more_parts}
        return own + parts({name: part for name, part in more.items() if part is not None})

    def _hook_all(self) -> None:
        pipe = self._pipe()
        if pipe is not None:
            self._attempt("stages", lambda: stages.hook_pipeline(self._patches, pipe))
        self._attempt("compilation", self._compiles.start)
        found: list[Part] = []
        self._attempt("parts of a pipeline", lambda: found.extend(self._parts()))
        asked = stages.Asked(self._with_blocks, self._counts_steps(found))
        for part in found:
            self._attempt(part.name, lambda part=part: self._hook(part, asked))

    def _counts_steps(self, found: list[Part]) -> Callable[[], bool] | None:
        """What says whether a denoiser that is called takes a step; None where no scheduler would end one."""
        if not any(part.role is Role.SCHEDULER for part in found):
            return None
        # Where generations are reported, a call outside of them is no step: nothing would end it.
        return (lambda: current.loop.is_of_generation) if is_watched(self._pipe()) else lambda: True

    def _hook(self, part: Part, asked: stages.Asked) -> None:
        release(part.object)
        if part.role is Role.SCHEDULER:
            stages.hook_part(self._patches, part, asked)
            return
        module = unwrapped(part.object)
        # A walk over all modules takes a while, and these are put in by a call for the whole model.
        put_in = offload.fingerprint(module)
        is_new = self._seen.get(part.name) != put_in
        if is_new:
            for inner in module.modules():
                release(inner)
        stages.hook_part(self._patches, part, asked)
        offload.hook_moves(self._patches, part.name, module)
        if is_new:
            self._seen[part.name] = put_in
            offload.hook_hooks(self._patches, part.name, module)
            caches.hook_caches(self._patches, module)

    def _report(self, profiler: _core.ProfilerCore, pipeline: str, part: Part) -> None:
        known, count = self._counts.get(part.name, (lambda: None, None))
        if known() is not part.object:
            count = parameters_of(part.object)
            self._counts[part.name] = (reference_to(part.object), count)
        name, kind = model_name(pipeline, part), kind_of(unwrapped(part.object)).__name__
        profiler.record_model_parameters(name, parameters_count=count, model_type=kind)

    def _attempt(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            pass_over(what, error)


class Outside:
    """Calls of a denoiser that are no steps."""

    def __enter__(self) -> None:
        """From now on."""
        self._loop = current.loop
        self._was_outside = self._loop.enter_outside()
        self._section = _core.profile_section("kv_cache_commit")
        self._section.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Until now."""
        self._section.__exit__(kind, error, traceback)
        self._loop.leave_outside(self._was_outside)
