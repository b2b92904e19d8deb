# ruff: noqa: ANN401  # what ComfyUI gives
"""A package for ComfyUI's ``custom_nodes``: time and peak memory node by node. It adds no node to the menu.

Two coroutines of ComfyUI's module ``execution`` get something around them. ``execute`` is called with the prompt for
each node that is due; ``get_output_data`` within it runs a node, and is not called for one whose output is cached::

    execute_async                |---------------- session "workflow" ----------------|
      get_output_data of 1, 2      |-LoadCheckpoint-|  |-Upscale-|
      of what 2 expands into                                       |---- Upscale ---|
                                                                     |VAEDecode|
"""

from __future__ import annotations

import contextvars
import functools
from contextlib import ExitStack
from typing import Any

import execution  # ComfyUI's

import marey

NODE_CLASS_MAPPINGS: dict[str, type] = {}

_prompt: contextvars.ContextVar[Any] = contextvars.ContextVar("prompt")
_memory = marey.MemoryTracker()


def _hook() -> None:
    if hasattr(execution.execute, "__wrapped__"):
        return
    execute, run_node = execution.execute, execution.get_output_data
    executor = execution.PromptExecutor
    run_prompt = executor.execute_async

    @functools.wraps(execute)
    async def with_prompt(server: Any, dynprompt: Any, *args: Any, **kwargs: Any) -> Any:
        _prompt.set(dynprompt)
        return await execute(server, dynprompt, *args, **kwargs)

    @functools.wraps(run_node)
    async def in_section(prompt_id: str, unique_id: str, obj: Any, *args: Any, **kwargs: Any) -> Any:
        path = _path(unique_id)
        with ExitStack() as stack:
            for name in path[:-1]:
                stack.enter_context(marey.profile_section(name))
            stack.enter_context(marey.profile_section(path[-1], node=unique_id))
            result = await run_node(prompt_id, unique_id, obj, *args, **kwargs)
        _memory.snapshot(f"after {path[-1]}")
        return result

    @functools.wraps(run_prompt)
    async def in_session(self: Any, prompt: Any, prompt_id: str, *args: Any, **kwargs: Any) -> Any:
        with marey.session("workflow", prompt_id=prompt_id, nodes=len(prompt)):
            return await run_prompt(self, prompt, prompt_id, *args, **kwargs)

    execution.execute, execution.get_output_data = with_prompt, in_section
    executor.execute_async = in_session


def _path(node: str | None) -> list[str]:
    """The class of a node, behind those of the nodes that it is expanded from, the outermost first."""
    prompt, path = _prompt.get(), []
    while node is not None:
        path.insert(0, str(prompt.get_node(node)["class_type"]))
        node = prompt.get_parent_node_id(node)
    return path


_hook()
