"""``examples/comfyui`` on a stand-in of ComfyUI's executor; with ``COMFYUI``, a checkout, on the real one, too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interpreter import Interpreter, paths_of, read_capture

PACKAGE = Path(__file__).parents[2] / "examples" / "comfyui" / "__init__.py"
EXECUTORS = ["stand-in", *filter(None, [os.environ.get("COMFYUI")])]


def workflow(package: str, executor: str) -> None:
    """Four nodes, of which one expands into two more; the second time all is cached."""
    import asyncio
    import importlib.util
    import sys
    import types

    import marey

    class Load:
        FUNCTION, RETURN_TYPES, CATEGORY = "run", ("INT",), ""
        INPUT_TYPES = classmethod(lambda _kind: {"required": {}})

        def run(self) -> object:
            return (1,)

    class Twice(Load):
        INNER = "Load"

        def run(self) -> object:
            inner = {f"{self.INNER}.{n}": {"class_type": self.INNER, "inputs": {}} for n in range(2)}
            expand = {f"{type(self).__name__}.{name}": info for name, info in inner.items()}
            return {"result": ([next(iter(expand)), 0],), "expand": expand}

    class Save(Load):
        OUTPUT_NODE, RETURN_TYPES = True, ()
        INPUT_TYPES = classmethod(lambda _kind: {"required": {"value": ("INT",)}})

        def run(self, value: int = 1) -> object:
            return ()

    nodes = types.ModuleType("nodes")
    nodes.NODE_CLASS_MAPPINGS = {"Load": Load, "Twice": Twice, "Save": Save}
    nodes.interrupt_processing = nodes.before_node_execution = lambda *_: None
    sys.modules["nodes"] = nodes
    if executor == "stand-in":
        import stand_in_comfyui

        sys.modules["execution"] = stand_in_comfyui
    else:
        sys.path.insert(0, executor)
    spec = importlib.util.spec_from_file_location("marey_of_comfyui", package)
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    import execution

    server = types.SimpleNamespace(client_id=None, last_node_id=None, send_sync=lambda *_: None)
    marey.start("out")
    runs = execution.PromptExecutor(server)
    prompt = {"1": {"class_type": "Load", "inputs": {}}, "2": {"class_type": "Twice", "inputs": {}}}
    prompt["3"] = {"class_type": "Save", "inputs": {"value": ["1", 0]}}
    prompt["4"] = {"class_type": "Save", "inputs": {"value": ["2", 0]}}
    for name in ("first", "again"):
        asyncio.run(runs.execute_async(prompt, name, {}, ["3", "4"]))
    marey.stop()


@pytest.mark.parametrize("executor", EXECUTORS)
def test_each_node_is_a_section_in_those_that_it_is_expanded_from(interpreter: Interpreter, executor: str) -> None:
    """What is cached does not run; a node that expands has its own call, and one around each node within it."""
    finished = interpreter.run(workflow, str(PACKAGE), executor)
    assert finished.returncode == 0, finished.stderr
    report = read_capture(finished.captures[0])
    found = paths_of(report)
    n_within = found["Twice > Load"]
    assert found == {"Load": 1, "Twice": 1 + n_within, "Twice > Load": n_within, "Save": 2}
    assert n_within == (2 if executor == "stand-in" else 1)  # The real one runs only what is asked for.
    assert [session["tags"] for session in report["sessions"]] == [
        {"prompt_id": name, "nodes": 4} for name in ("first", "again")
    ]
    assert [row["label"] for row in report["memory_snapshots"]].count("after Load") == 1 + n_within
    nodes = [call["attributes"]["node"] for call in report["section_attributes"]]
    assert {"1", "2", "3", "4", "Twice.Load.0"} <= set(nodes)
