"""Decisions of caches that answer denoising steps, as they fall.

| cache | hit | score, threshold |
|---|---|---|
| first-block cache | the blocks behind the first one are not computed | what diffusers compares, as it does so |
| MagCache | likewise | accumulated error of a hit; absent of a miss, where diffusers has reset it |
| SeaCache | likewise | accumulated distance of a hit; absent of a miss |
| TaylorSeer, pyramid attention broadcast, FasterCache | the module is not computed, or half of its batch | none |
| cache-dit | it says that it can use its cache | its residual difference, where it took one |

Nothing is computed for it, and no value is fetched from a device that diffusers does not fetch itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from marey import _core
from marey.pipelines.patches import owner_of, pass_over, values_of
from marey.pipelines.steps import batch_of, current

if TYPE_CHECKING:
    from collections.abc import Callable

    from marey.pipelines.patches import Around, Call, Patches

_log = _core.CacheLog()


def hook_caches(patches: Patches, model: Any) -> None:  # noqa: ANN401
    """Record the decisions of all caches that are in a model now; kinds that are not known are passed over."""
    for module in model.modules():
        registry = getattr(module, "_diffusers_hook", None)
        for hook in list(getattr(registry, "hooks", {}).values()):
            _hook_one(patches, hook)
        manager = values_of(module).get("_context_manager")
        if hasattr(manager, "can_cache") and hasattr(manager, "get_residual_diff_threshold"):
            patches.wrap(manager, "can_cache", _cache_dit)


def _hook_one(patches: Patches, hook: Any) -> None:  # noqa: ANN401
    kind = type(hook).__name__
    if kind == "FBCHeadBlockHook":
        _hook_first_block(patches, hook)
        return
    of_kind = _COMPUTED.get(kind)
    function = getattr(hook, "fn_ref", None)
    if of_kind is not None and hasattr(function, "original_forward"):
        name, score = of_kind
        patches.wrap(function, "forward", _computed_or_not(name, function, lambda: _score_of(hook, score)))


class _Seen(float):
    """A threshold that keeps what it was compared with."""

    score: float | None = None

    def __lt__(self, other: float) -> bool:
        """Also asked for ``other > self``, before ``other`` is."""
        self.score = other
        return float.__lt__(self, other)

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        """A copy is a number."""
        return float, (float(self),)

    def __deepcopy__(self, _memo: object) -> float:
        """As a copy."""
        return float(self)


def _hook_first_block(patches: Patches, hook: Any) -> None:  # noqa: ANN401
    if not isinstance(hook.threshold, float) or isinstance(hook.threshold, _Seen):
        return
    seen = _Seen(hook.threshold)
    patches.put(hook, "threshold", seen)

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        seen.score = None
        must_compute = call(*args, **kwargs)
        record("first_block_cache", not must_compute, seen.score, float(seen))
        return must_compute

    patches.wrap(hook, "_should_compute_remaining_blocks", around)


_COMPUTED = {
    "MagCacheHeadHook": ("mag_cache", "accumulated_err"),
    "SeaCacheLeaderBlockHook": ("sea_cache", "accumulated_distance"),
    "TaylorSeerCacheHook": ("taylorseer_cache", None),
    "PyramidAttentionBroadcastHook": ("pyramid_attention_broadcast", None),
    "FasterCacheBlockHook": ("faster_cache", None),
    "FasterCacheDenoiserHook": ("faster_cache_guidance", None),
}


def _computed_or_not(name: str, function: Any, score_of: Callable[[], tuple[float | None, float | None]]) -> Around:  # noqa: ANN401
    """A hook in whose call the module is computed, or not, or with the half of its batch."""

    def around(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        computed: list[int | None] = []
        original = function.original_forward

        def watched(*inner_args: Any, **inner_kwargs: Any) -> Any:  # noqa: ANN401
            computed.append(batch_of(inner_args, inner_kwargs))
            return original(*inner_args, **inner_kwargs)

        # Only for the time of the call: diffusers gives this function back to the module when the hook goes.
        function.original_forward = watched
        try:
            result = call(*args, **kwargs)
        finally:
            function.original_forward = original
        is_hit = not computed or computed[0] != batch_of(args, kwargs)
        score, threshold = score_of()
        record(name, is_hit, score if is_hit else None, threshold)
        return result

    return around


def _score_of(hook: Any, attribute: str | None) -> tuple[float | None, float | None]:  # noqa: ANN401
    if attribute is None:
        return None, None
    try:
        threshold = float(hook.config.threshold)
        score = getattr(hook.state_manager.get_state(), attribute)
        device = getattr(score, "device", None)
        # To fetch it from another device would wait for that.
        return (float(score) if device is None or device.type == "cpu" else None), threshold
    except Exception:
        # A version with other names: the decision is known all the same.
        return None, None


def _cache_dit(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    is_hit = call(*args, **kwargs)
    manager: Any = owner_of(call)
    score = threshold = None
    try:
        threshold = kwargs.get("threshold") or manager.get_residual_diff_threshold()
        is_second = manager.is_separate_cfg_step()
        diffs = manager.get_cfg_residual_diffs() if is_second else manager.get_residual_diffs()
        score = diffs.get(str(manager.get_current_step()))
        # Negative numbers say why nothing was compared.
        score = score if score is not None and score > 0 else None
    except Exception as error:
        pass_over("scores of cache-dit", error)
    record("cache_dit", bool(is_hit), score, threshold)
    return is_hit


def record(cache: str, is_hit: bool, score: float | None, threshold: float | None) -> None:
    """Record a decision of the running step."""
    loop = current.loop
    meta = {} if loop.context is None else {"context": loop.context}
    outcome = "hit" if is_hit else "miss"
    try:
        _log.add(cache, outcome, step=loop.step, score=score, threshold=threshold, meta=meta)
    except Exception as error:
        pass_over(f"decisions of {cache}", error)
