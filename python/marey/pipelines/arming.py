"""Pipelines of programs that know nothing of Marey.

Armed, this waits for the import of a few modules, and then sees to it that every pipeline is instrumented when it is
made and every load is recorded. It imports none of them itself, and other imports cost it two looks into a dict.

```text
import diffusers ─► find_spec("diffusers.pipelines.pipeline_utils") ─► its loader ─► DiffusionPipeline is hooked
pipe = WanPipeline(…) ─► register_modules(…) ─► instrument(pipe)
unet = UNet2DModel(…) ─► register_to_config(…) ─► standalone.made(unet)
```

Imports of packages that take long are sections ``import``, with the attribute ``module``; what they import is in them::

    from diffusers import WanPipeline   |--import: diffusers--|--import: diffusers.pipelines.wan.pipeline_wan--|
      torch, transformers                    |------------|      |------------------------------|
"""

from __future__ import annotations

import os
import sys
import threading

from marey import _core
from marey.replacements import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


def arm() -> None:
    """Wait for the modules; those that are there already are hooked at once. Arming twice changes nothing.

    Nothing when ``MAREY_INSTRUMENT`` is 0, false, no or off.
    """
    if (
        os.environ.get("MAREY_INSTRUMENT", "").strip().lower() in ("0", "false", "no", "off")
        or _finder in sys.meta_path
    ):
        return
    sys.meta_path.insert(0, _finder)
    for name in _ARMED:
        module = sys.modules.get(name)
        if module is not None:
            _hook(name, module)


def disarm() -> None:
    """Wait no more, and take out of the classes what is in them. Pipelines that are instrumented stay so."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    while _taken:
        _taken.pop()()


class _Importing(threading.local):
    """What this thread imports is in a section already."""

    is_on = False


class _Finder:
    """Finds what the others find, with a loader that says when it is done."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_timed = name.partition(".")[0] in _HEAVY and not _importing.is_on
        if not is_timed and name not in _ARMED:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(name, spec.loader, is_timed)
                return spec
        return None


class _Loader:
    """The real loader, and something after it. The module never sees this one."""

    def __init__(self, name: str, loader: Any, is_timed: bool) -> None:  # noqa: ANN401
        self._name = name
        self._loader = loader
        self._is_timed = is_timed

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        if self._is_timed and not _importing.is_on:
            self._exec_in_section(module)
        else:
            self._loader.exec_module(module)
        if self._name in _ARMED:
            _hook(self._name, module)

    def _exec_in_section(self, module: ModuleType) -> None:
        _importing.is_on = True
        try:
            with _core.profile_section("import", module=self._name):
                self._loader.exec_module(module)
        finally:
            _importing.is_on = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._loader, name)


def _hook(name: str, module: ModuleType) -> None:
    try:
        _ARMED[name](module)
    except Exception as error:
        from marey.pipelines.patches import pass_over

        pass_over(name, error)


def _hook_loaders(module: Any, *names: str) -> None:  # noqa: ANN401
    from marey.pipelines.load import hook_loaders

    for name in names:
        if hasattr(module, name):
            _taken.extend(hook_loaders(getattr(module, name)))


def _hook_pipelines(module: Any) -> None:  # noqa: ANN401
    _instrument_after(module.DiffusionPipeline, "register_modules")
    _hook_loaders(module, "DiffusionPipeline")


def _hook_models(module: Any) -> None:  # noqa: ANN401
    _hook_loaders(module, "ModelMixin", "PreTrainedModel", "FromSingleFileMixin", "FromOriginalModelMixin")


def _hook_encoders(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.standalone import made_by_transformers

    _hook_models(module)
    _after(module.PreTrainedModel, "__init__", made_by_transformers)


def _hook_configured(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.standalone import made

    _after(module.ConfigMixin, "register_to_config", made)


def _hook_modules(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines import models_seen

    _taken.append(models_seen.watch(module))


def _hook_wrapper(module: Any, name: str) -> None:  # noqa: ANN401
    def wrapped(wrapper: Any) -> None:  # noqa: ANN401
        standalone: Any = sys.modules.get("marey.pipelines.standalone")
        if standalone is not None:
            standalone.wrapped(wrapper)

    _after(getattr(module, name), "__init__", wrapped)


def _hook_xdit(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.engines import xdit

    _after(module.xFuserPipelineBaseWrapper, "__init__", xdit)


def _hook_sglang(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.engines import sglang

    _after(module.ComposedPipelineBase, "__init__", sglang)


def _hook_sglang_steps(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.engines import sglang_step_begins, sglang_step_ends

    _after(module.StageProfiler, "__enter__", sglang_step_begins)
    _after(module.StageProfiler, "__exit__", sglang_step_ends, gets_arguments=True)


def _hook_omni(module: Any) -> None:  # noqa: ANN401
    from marey.pipelines.engines import vllm_omni

    _after(module.DiffusionModelRunner, "load_model", vllm_omni)


def _hook_collectives(_module: Any) -> None:  # noqa: ANN401
    from marey.distributed import instrument

    installed = instrument()
    if installed is not None:
        _taken.append(installed.undo)


def _instrument_after(kind: Any, method: str) -> None:  # noqa: ANN401
    """Pipelines tell their parts by this method, in their ``__init__``."""
    from marey.diffusers import instrument

    _after(kind, method, instrument)


def _after(kind: Any, method: str, action: Callable[..., object], gets_arguments: bool = False) -> None:  # noqa: ANN401
    """Do this with an object after each call of a method of its class; where asked for, with the arguments, too."""
    import functools

    before = getattr(kind, method)
    if hasattr(before, "is_of_marey"):
        return

    @functools.wraps(before)
    def after(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        result = before(self, *args, **kwargs)
        try:
            action(self, *(args if gets_arguments else ()))
        except Exception as error:
            from marey.pipelines.patches import pass_over

            pass_over(f"a new {type(self).__name__}", error)
        return result

    made: Any = after
    made.is_of_marey = True
    _taken.append(put(kind, method, made))


_importing = _Importing()
_finder = _Finder()
_taken: list[Callable[[], object]] = []
_HEAVY = frozenset(
    "accelerate bitsandbytes cv2 diffusers flash_attn jax numpy pandas peft scipy sklearn tensorflow torch torchao "
    "torchaudio torchvision transformers triton xformers".split()
)
_ARMED: dict[str, Callable[[ModuleType], None]] = {
    "diffusers.pipelines.pipeline_utils": _hook_pipelines,
    "diffusers.models.modeling_utils": _hook_models,
    "diffusers.loaders.single_file": _hook_models,
    "diffusers.loaders.single_file_model": _hook_models,
    "transformers.modeling_utils": _hook_encoders,
    "diffusers.configuration_utils": _hook_configured,
    "diffusers.modular_pipelines.modular_pipeline": lambda module: _instrument_after(
        module.ModularPipeline, "register_components"
    ),
    "torch.nn.modules.module": _hook_modules,
    "torch._dynamo.eval_frame": lambda module: _hook_wrapper(module, "OptimizedModule"),
    "torch.nn.parallel.data_parallel": lambda module: _hook_wrapper(module, "DataParallel"),
    "torch.distributed.distributed_c10d": _hook_collectives,
    "xfuser.model_executor.pipelines.base_pipeline": _hook_xdit,
    "sglang.multimodal_gen.runtime.pipelines_core.composed_pipeline_base": _hook_sglang,
    "sglang.multimodal_gen.runtime.utils.perf_logger": _hook_sglang_steps,
    "vllm_omni.diffusion.worker.diffusion_model_runner": _hook_omni,
}
