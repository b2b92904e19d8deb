"""Models and schedulers that a program uses without a pipeline.

diffusers tells the configuration of each when it is made, before anything else of it is there. A scheduler is hooked
then, a model with its first call, when its inside can be seen; both give way to a pipeline that gets them.

```text
unet = UNet2DConditionModel(…)   register_to_config(…) ─► waits ─┬─► unet(…) ─► sections, as those of a pipeline
                                                                 └─► StableDiffusionPipeline(unet, …) ─► the pipeline's
set_timesteps   |---|
unet                  |---|      |---|            |---|
step                       |--|       |--|             |--|
denoising_step        |-------|  |-------|        |-------|    only between set_timesteps and the last of them
```

What is called within a pipeline's call is that pipeline's, or nobody's.
"""

from __future__ import annotations

import re
import weakref
from typing import TYPE_CHECKING, Any

from marey.diffusers import Instrumented
from marey.pipelines import modules, parts, patches, stages, steps, timesteps

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.patches import Around, Call

_NAMES = (
    ("ControlNet", "controlnet"),
    ("Autoencoder|VAE|VQ", "vae"),
    ("UNet", "unet"),
    ("Transformer|DiT", "transformer"),
    ("Vision|ImageEncoder", "image_encoder"),
    ("Text|Encoder", "text_encoder"),
)
"""What a pipeline would call a model whose class has such a name."""
_ENCODER = re.compile("(Text|Encoder|Vision)Model(WithProjection)?$")
_called: dict[str, Callable[[], Any]] = {}


class _Model(Instrumented):
    """A single one, whose calls are steps while there is a schedule."""

    def _counts_steps(self, found: list[parts.Part]) -> Callable[[], bool] | None:
        return lambda: steps.current.loop.is_scheduled


def made(part: Any) -> None:  # noqa: ANN401
    """Record a model or a scheduler from now on; nothing of anything else, and of what is recorded already."""
    if part in patches.provisional:
        return
    if parts.is_module(part):
        _wait(part)
    elif parts.parts({"": part}):
        _hook_scheduler(part)


def made_by_transformers(model: Any) -> None:  # noqa: ANN401
    """As ``made``, of an encoder; a language model writes text and makes no pictures."""
    if _ENCODER.search(type(model).__name__):
        made(model)


def wrapped(wrapper: Any) -> None:  # noqa: ANN401
    """Record the calls of what was put around a model, by ``torch.compile`` or ``DataParallel``, instead of its own."""
    if _model_in(wrapper) in patches.provisional:
        stages.leave_inside(wrapper)
        made(wrapper)


def _wait(model: Any) -> None:  # noqa: ANN401
    waiting = patches.Patches()
    patches.provisional[model] = waiting.take_back
    reference = weakref.ref(model)

    def first(method: str) -> Around:
        def around(_call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
            called = reference()
            waiting.take_back()
            try:
                _hook_model(called)
            except Exception as error:
                patches.pass_over(type(called).__name__, error)
            return getattr(called, method)(*args, **kwargs)

        return _alone(around)

    modules.hook(waiting, model, "", first("__call__"))
    for method in ("encode", "decode"):
        if hasattr(patches.kind_of(model), method):
            waiting.wrap(model, method, first(method))


def _hook_model(model: Any) -> None:  # noqa: ANN401
    kind = type(_model_in(model)).__name__
    instrumented = _Model(None, True, {_name(model, kind): model})
    instrumented.before_generation(kind)
    patches.provisional[model] = instrumented.undo


def _hook_scheduler(scheduler: Any) -> None:  # noqa: ANN401
    put, known = patches.Patches(), timesteps.Timesteps()

    def set_timesteps(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        steps.current.loop.end_denoising()
        steps.current.loop = steps.Loop()
        steps.current.loop.is_scheduled = True
        for model in list(patches.provisional):
            # ``compile()`` has put its own call over ours.
            if parts.is_module(model) and modules.is_compiled(model) and not modules.is_hooked(model):
                patches.release(model)
                made(model)
        return known.set(call, args, kwargs)

    put.wrap(scheduler, "set_timesteps", _alone(set_timesteps))
    put.wrap(scheduler, "step", _alone(steps.scheduler_step(scheduler, known)))
    patches.provisional[scheduler] = put.take_back


def _alone(around: Around) -> Around:
    def outside(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        if steps.current.loop.is_of_generation:
            return call(*args, **kwargs)
        return around(call, args, kwargs)

    return outside


def _model_in(model: Any) -> Any:  # noqa: ANN401
    return model.module if modules.is_replicated(model) else modules.unwrapped(model)


def _name(model: Any, kind: str) -> str:  # noqa: ANN401
    """As a pipeline would call it, and with a number where a model that is still there has that name."""
    found = next((name for pattern, name in _NAMES if re.search(pattern, kind)), None)
    if found is None:
        found = "transformer" if parts.blocks(model) else kind
    number, name = 1, found
    while (other := _called.get(name, bool)()) and other is not model:
        number += 1
        name = f"{found}_{number}"
    _called[name] = weakref.ref(model)
    return name
