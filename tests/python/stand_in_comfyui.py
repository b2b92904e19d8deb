"""Stands for ComfyUI's module ``execution``: its functions by name and signature, for a prompt given in order."""

from __future__ import annotations

from typing import Any

import nodes


class DynamicPrompt:
    """The nodes of a prompt, and those that were expanded."""

    def __init__(self, prompt: dict[str, Any]) -> None:
        self.nodes, self.parents = dict(prompt), {}

    def get_node(self, node_id: str) -> Any:
        return self.nodes[node_id]

    def get_parent_node_id(self, node_id: str) -> str | None:
        return self.parents.get(node_id)


async def get_output_data(
    prompt_id: str, unique_id: str, obj: Any, input_data_all: Any, execution_block_cb: Any = None, **more: Any
) -> Any:
    result = getattr(obj, obj.FUNCTION)()
    return result, {}, isinstance(result, dict), False


async def execute(
    server: Any, dynprompt: Any, caches: Any, current_item: str, extra_data: Any, executed: set[str], prompt_id: str
) -> Any:
    if current_item in caches:
        return "success", None, None
    kind = nodes.NODE_CLASS_MAPPINGS[dynprompt.get_node(current_item)["class_type"]]
    result, _, has_subgraph, _ = await get_output_data(prompt_id, current_item, kind(), {}, execution_block_cb=None)
    if has_subgraph:
        for node, info in result["expand"].items():
            dynprompt.nodes[node], dynprompt.parents[node] = info, current_item
            await execute(server, dynprompt, caches, node, extra_data, executed, prompt_id)
    caches[current_item] = result
    return "success", None, None


class PromptExecutor:
    def __init__(self, server: Any) -> None:
        self.server, self.caches = server, {}

    async def execute_async(
        self, prompt: dict[str, Any], prompt_id: str, extra_data: Any = None, execute_outputs: Any = None
    ) -> None:
        dynprompt, executed = DynamicPrompt(prompt), set()
        for node in prompt:
            await execute(self.server, dynprompt, self.caches, node, extra_data, executed, prompt_id)
