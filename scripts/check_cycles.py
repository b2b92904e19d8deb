"""Checks that no modules of `marey-python` use each other in a circle.

A module uses another when a path in its code leads there: `crate::`, `super::` or one of its own `mod`s. Code of
tests does not count. A circle of n modules has to be understood, tested and changed as one module of that size.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "crates/marey-python/src"
COMMENT = re.compile(r"//[^\n]*")
TESTS = re.compile(r"#\[cfg\(test\)\].*", re.DOTALL)
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"\b[a-z_]\w*(?:::\w+)+")
CHILD = re.compile(r"\bmod\s+(\w+);")

Module = tuple[str, ...]


def module_of(file: Path) -> Module:
    """The path of a file's module below `crate`; `()` is the crate itself."""
    return tuple(part for part in file.relative_to(SOURCE).with_suffix("").parts if part not in ("mod", "lib"))


def expanded(tree: str) -> list[str]:
    """`a::{b, c::{d}}` as the list of its paths."""
    before, brace, rest = tree.partition("{")
    if not brace:
        return [tree.split(" as ")[0].strip()]
    depth, part, parts = 0, "", []
    for letter in rest:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth < 0:
            break
        if letter == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [before.strip() + path for part in [*parts, part] if part.strip() for path in expanded(part.strip())]


def used_by(module: Module, text: str, modules: set[Module]) -> set[Module]:
    """The modules that a text leads to."""
    code = COMMENT.sub("", TESTS.sub("", text))
    uses = [path for tree in USE.findall(code) for path in expanded(" ".join(tree.split()))]
    children = set(CHILD.findall(code))
    found: set[Module] = set()
    imported: dict[str, Module] = {}
    for path in [*uses, *PATH.findall(USE.sub("", code))]:
        parts = path.replace("r#", "").split("::")
        if parts[0] == "crate":
            names: Module = tuple(parts[1:])
        elif parts[0] == "super":
            n_up = sum(part == "super" for part in parts)
            names = (*module[: len(module) - n_up], *parts[n_up:])
        elif parts[0] in children:
            names = (*module, *parts)
        else:
            names = (*imported.get(parts[0], ()), *parts[1:]) if parts[0] in imported else ()
        target = next((names[:n] for n in range(len(names), 0, -1) if names[:n] in modules), None)
        if target is None and parts[0] == "super":
            target = module[:-1]
        if target is not None and target != module:
            found.add(target)
            if names == target:
                imported[parts[-1]] = target
    return found


def circles(graph: dict[Module, set[Module]]) -> list[list[Module]]:
    """The strongly connected components of more than one module (Tarjan)."""
    order: dict[Module, int] = {}
    lowest: dict[Module, int] = {}
    stack: list[Module] = []
    found: list[list[Module]] = []

    def visit(module: Module) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for used in sorted(graph[module]):
            if used not in order:
                visit(used)
                lowest[module] = min(lowest[module], lowest[used])
            elif used in stack:
                lowest[module] = min(lowest[module], order[used])
        if lowest[module] == order[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return found


def main() -> None:
    """Print the circles; exit 1 when there is one."""
    files = {module_of(file): file for file in SOURCE.rglob("*.rs")}
    del files[()]
    graph = {module: used_by(module, file.read_text("utf-8"), set(files)) for module, file in files.items()}
    found = circles(graph)
    for circle in found:
        inside = {module: sorted("::".join(used) for used in graph[module] & set(circle)) for module in circle}
        print(f"{len(circle)} modules use each other in a circle:")
        for module, used in inside.items():
            print(f"  {'::'.join(module)} uses {', '.join(used)}")
    if found:
        sys.exit(1)
    print(f"the {len(files)} modules of {SOURCE.parent.name} use each other in no circle")


if __name__ == "__main__":
    main()
