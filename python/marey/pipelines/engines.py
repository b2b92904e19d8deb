"""Engines that run pipelines in ways of their own: what in each of them is a generation, a stage and a part.

| engine | a generation | sections more | parts |
|---|---|---|---|
| xDiT | a call of its wrapper of a pipeline | | those of the pipeline, as the wrapper has changed them |
| sglang-diffusion | ``forward`` of a pipeline, of one request or a batch | its stages, by name | ``modules`` |
| vLLM-Omni | the same | for requests in steps: what each step calls | its attributes |

What is recorded of each part is what is recorded of a pipeline of diffusers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from marey import denoising_steps
from marey.diffusers import Instrumented, instrument
from marey.pipelines.generation import KEY, TAGS, generate
from marey.pipelines.stages import in_section
from marey.pipelines.steps import current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from marey.pipelines.patches import Around, Call


def xdit(wrapper: Any) -> None:  # noqa: ANN401
    """Record an ``xFuserPipelineBaseWrapper`` that was made around a pipeline."""
    instrument(wrapper.module).move_to(wrapper)


def sglang(pipeline: Any) -> None:  # noqa: ANN401
    """Record a ``ComposedPipelineBase`` that was made."""
    stages = ((stage, "forward", in_section(stage._active_profile_stage_name())) for stage in pipeline.stages)
    _Served(pipeline, pipeline.modules, stages)


def sglang_step_begins(profiler: Any) -> None:  # noqa: ANN401
    """A ``StageProfiler`` is entered; it is around each stage and each step, also where no scheduler takes it."""
    if profiler.stage_name.startswith("denoising_step_"):
        profiler.marey_begun = denoising_steps.begin()


def sglang_step_ends(profiler: Any, error: type[BaseException] | None, *_: object) -> None:  # noqa: ANN401
    """It is left, by an error or by none: what raised is no step."""
    if hasattr(profiler, "marey_begun"):
        current.loop.end_iteration(is_failed=error is not None)
        if error is None:
            denoising_steps.end(profiler.marey_begun)


def vllm_omni(runner: Any) -> None:  # noqa: ANN401
    """Record the pipeline of a ``DiffusionModelRunner`` that has loaded it."""
    arounds = {name: in_section(name) for name in ("prepare_encode", "post_decode")}
    arounds |= {"denoise_step": in_section("denoising_step"), "step_scheduler": _step_of_request}
    _Served(runner.pipeline, {}, ((runner.pipeline, method, around) for method, around in arounds.items()))


def _step_of_request(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """A step, whose end a scheduler that was copied for the request does not say."""
    begun = denoising_steps.begin()
    result = in_section("step_scheduler")(call, args, kwargs)
    denoising_steps.end(begun)
    return result


class _Served(Instrumented):
    """A pipeline of a server, which is given requests."""

    def __init__(self, pipeline: Any, more_parts: dict[str, Any], arounds: Iterable[tuple[Any, str, Around]]) -> None:  # noqa: ANN401
        super().__init__(pipeline, True, more_parts)
        for owner, method, around in arounds:
            self._patches.wrap(owner, method, around)

    def watch(self, pipe: Any) -> None:  # noqa: ANN401
        """Make what is given requests a session each time."""
        self._patches.put(pipe, KEY, self)
        self._patches.wrap(pipe, "forward", self._around)
        self._patches.wrap(pipe, "forward_batch", self._around)

    def _around(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        pipe = self._pipe()
        # Of several requests each may be given to ``forward``: one generation is no part of another.
        if pipe is None or current.loop.is_of_generation:
            return call(*args, **kwargs)
        given = _said(next(iter((*args, *kwargs.values())), None))
        return generate(self, pipe, given, lambda: call(*args, **kwargs))


def _said(requests: Any) -> dict[str, Any]:  # noqa: ANN401
    """What a request asks for, or the first of several, by the names of a pipeline's arguments."""
    try:
        several: Any = getattr(requests, "requests", requests)
        first: Any = next(iter(cast("list[Any]", several)), None) if isinstance(several, list) else several
        asked = getattr(first, "sampling_params", first)
        return {name: getattr(asked, name, None) for names in TAGS.values() for name in names}
    except Exception:
        # A property of the request; the engine will say what is wrong with it.
        return {}
