"""Time steps of a scheduler, as numbers of the host.

A pipeline goes over ``scheduler.timesteps``, which may lie on a GPU: to read one there would wait for all that the GPU
was given before. So what ``set_timesteps`` makes there is made on the CPU, too, in a copy of the scheduler, and a time
step is found by its place in memory.

```text
scheduler.timesteps on the GPU   | 999 | 749 | 499 | 249 |
t, a view of it                        ^ 1 behind the first
on the host                      [ 999,  749,  499,  249 ]
```
"""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

from marey.pipelines.patches import kind_of, owner_of, pass_over

if TYPE_CHECKING:
    from marey.pipelines.patches import Call


class Timesteps:
    """Those of one scheduler."""

    def __init__(self) -> None:
        """None are known."""
        self._values: list[float] = []
        self._place = (0, 0, 1)
        self._length = 0

    def set(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """A call of ``set_timesteps``."""
        scheduler: Any = owner_of(call)
        self._values, self._length = [], 0
        try:
            # First, because the copy may share parts with the scheduler, which are to be as the call leaves them.
            self._values = _on_cpu(scheduler, args, kwargs)
        except Exception as error:
            pass_over("time steps", error)
        result = call(*args, **kwargs)
        try:
            self._place = _place(scheduler.timesteps)
            self._length = len(scheduler.timesteps)
        except Exception:
            # A scheduler of the user's own, with other names.
            self._values = []
        return result

    def of(self, timestep: Any) -> float | None:  # noqa: ANN401
        """A time step that is given to the scheduler; None where it is not known without a wait."""
        try:
            if isinstance(timestep, (int, float)) or timestep.device.type == "cpu":
                return float(timestep)
            return self._values[self._index(timestep)]
        except Exception:
            # Several at once, or a kind of tensor that tells nothing.
            return None

    def place(self, timestep: Any) -> tuple[int, int]:  # noqa: ANN401
        """Which one of the schedule it is, the first is 1, and how many there are; 0 of 0 where that is not known."""
        try:
            return self._index(timestep) + 1, self._length
        except Exception:
            return 0, 0

    def _index(self, timestep: Any) -> int:  # noqa: ANN401
        """Raises where it is none of the schedule."""
        storage, first, stride = self._place
        its_storage, at, _ = _place(timestep.reshape(1))
        index, rest = divmod(at - first, stride)
        if its_storage != storage or rest or not 0 <= index < self._length:
            raise LookupError
        return index


def _on_cpu(scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[float]:  # noqa: ANN401
    """Empty where they are on the CPU anyway."""
    twin = copy.copy(scheduler)
    bound = inspect.signature(kind_of(scheduler).set_timesteps).bind(twin, *args, **kwargs)
    if str(bound.arguments.get("device") or "cpu") == "cpu":
        return []
    bound.arguments["device"] = "cpu"
    kind_of(scheduler).set_timesteps(*bound.args, **bound.kwargs)
    return [float(timestep) for timestep in twin.timesteps.tolist()]


def _place(tensor: Any) -> tuple[int, int, int]:  # noqa: ANN401
    return tensor.untyped_storage().data_ptr(), tensor.storage_offset(), tensor.stride(0)
