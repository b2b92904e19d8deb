"""How guidance is computed where a pipeline opens no passes with names: told from the batches of one evaluation.

| calls of the denoiser | its batch, to that of the scheduler | guidance |
|---|---|---|
| 1 | 1 | none, or an input of the model |
| 1 | 2 | one call with a doubled batch |
| 1 | 3 | one call with a tripled batch: perturbed attention beside the other two |
| 2 | 1 | separate calls |
"""

from __future__ import annotations

from typing import Any

_FOLD = {2: "doubled", 3: "tripled"}


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
