"""A module that looks like Ray: tasks run when they are asked for, and wait in vain while no processor is free."""

from __future__ import annotations

import types
from dataclasses import dataclass
from typing import Any


@dataclass
class Task:
    """A task that has been handed in."""

    function: Any
    arguments: tuple[Any, ...]


@dataclass
class Result:
    """What a task returns, or one of the values."""

    task: Task
    place: int | None = None


class StandInRay(types.ModuleType):
    """A cluster of four processors.

    Args:
        free_after: After so many waits in vain all of them are free; None: other programs keep them.
    """

    def __init__(self, free_after: int | None) -> None:
        super().__init__("ray")
        self.free_after = free_after
        self.exceptions = types.SimpleNamespace(RayError=RuntimeError)
        self.waited: list[float] = []
        self.cancelled: list[Any] = []
        self.was_shut_down = False

    def is_initialized(self) -> bool:
        return False

    def init(self, **_options: Any) -> None:
        pass

    def shutdown(self) -> None:
        self.was_shut_down = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 4.0}

    def available_resources(self) -> dict[str, float]:
        return {"CPU": 4.0} if self.free_after == 0 else {}

    def remote(self, *function: Any, num_returns: int = 1, max_retries: int = 0) -> Any:
        def remote_function(function: Any) -> Any:
            def submit(*arguments: Any) -> Any:
                task = Task(function, arguments)
                return Result(task) if num_returns == 1 else [Result(task, place) for place in range(num_returns)]

            return types.SimpleNamespace(remote=submit)

        return remote_function(*function) if function else remote_function

    def wait(self, results: list[Result], timeout: float, fetch_local: bool) -> tuple[list[Result], list[Result]]:
        if self.free_after == 0:
            return results, []
        self.waited.append(timeout)
        if self.free_after is not None:
            self.free_after -= 1
        return [], results

    def get(self, asked: Any) -> Any:
        if isinstance(asked, list):
            return [self.get(one) for one in asked]
        arguments = [self.get(one) if isinstance(one, Result) else one for one in asked.task.arguments]
        returned = asked.task.function(*arguments)
        return returned if asked.place is None else returned[asked.place]

    def cancel(self, result: Result, *, force: bool) -> None:
        self.cancelled.append((result.task.function.__name__, force))
