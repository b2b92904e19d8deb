"""What reference pages are made of: the command's help, the package's docstrings and types, rules, schemas."""

from __future__ import annotations

import ast
import importlib.resources
import inspect
import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

DOCS = Path(__file__).parents[2] / "docs"
# The modules that programs import; tests/goldens/face_of_python.py has the same.
PARTS = ("cli_args", "decorators", "diffusers", "distributed", "memory_history", "sinks", "torch")
MODULES = ("marey", *(f"marey.{part}" for part in PARTS))


def command_line() -> str:
    """The help of each command, as `marey help COMMAND` prints it."""
    overview = helped()
    commands = re.findall(r"^  (\w+)  +\S", overview.partition("Commands:")[2].partition("Options:")[0], re.MULTILINE)
    sections = [f"## marey {name}\n\n```text\n{helped(name)}```\n" for name in commands if name != "help"]
    return f"```text\n{overview}```\n\n" + "\n".join(sections)


def helped(*command: str) -> str:
    """What `marey help` says of a command."""
    asked = [sys.executable, "-m", "marey", *command, "--help"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def python() -> str:
    """Each public name: how it is called, with types where the stubs have them, and its docstring."""
    return "\n".join(part for name in MODULES for part in module(importlib.import_module(name)))


def module(of: ModuleType) -> Iterator[str]:
    """A module and its public names."""
    yield f"## {of.__name__}\n\n{described(of)}\n"
    own = [name for name, value in vars(of).items() if getattr(value, "__module__", None) == of.__name__]
    for name in sorted(getattr(of, "__all__", own), key=str.lower):
        value = getattr(of, name)
        if name.startswith("_") or not callable(value):
            continue
        yield f"### {of.__name__}.{name}\n\n```python\n{called(name, value)}\n```\n\n{described(value)}\n"
        if inspect.isclass(value) and not issubclass(value, Exception):
            yield from (member(*each) for each in members(value))


def members(of: type) -> list[tuple[str, str, object]]:
    """Public methods and properties of a class, and of what it extends in Rust, by name: those with a docstring."""
    classes = [each for each in reversed(of.__mro__) if each.__module__.startswith("marey")]
    found = {name: (each.__name__, value) for each in classes for name, value in vars(each).items() if name[0] != "_"}
    described = sorted((name, each) for name, each in found.items() if inspect.getdoc(each[1]))
    return [(of.__name__, f"{owner}.{name}", value) for name, (owner, value) in described]


def member(owner: str, name: str, value: object) -> str:
    """One method or property."""
    shown = f"{owner}.{name.rpartition('.')[2]}"
    signature = shown if inspect.isdatadescriptor(value) else called(name, value).replace(name, shown, 1)
    return f"```python\n{signature}\n```\n\n{described(value)}\n"


def called(name: str, value: Any) -> str:  # noqa: ANN401
    """How it is called: in the stub's words where it is written in Rust."""
    stub = STUBS.get(name) or STUBS.get(f"{name}.__new__")
    if isinstance(value, type) and issubclass(value, Exception):
        return f"class {name}({value.__bases__[0].__name__})"
    if stub:
        returned = f" -> {ast.unparse(stub.returns)}" if stub.returns and stub.name != "__new__" else ""
        signature = f"({ast.unparse(stub.args)}){returned}"
    else:
        signature = str(inspect.signature(value))
    return wrapped(name + re.sub(r"^\((?:self|cls)(?:, /)?(?:, )?", "(", signature).replace("'", ""))


def wrapped(signature: str) -> str:
    """An argument a line where all are too wide for the page."""
    if len(signature) <= 84:
        return signature
    head, _, rest = signature.partition("(")
    inner, arrow, returned = rest.rpartition(")")
    parts = re.split(r", (?![^\[(]*[\])])", inner)
    return f"{head}(\n" + "".join(f"    {part},\n" for part in parts) + f"{arrow}{returned}"


def stubs() -> dict[str, ast.FunctionDef]:
    """Functions of `_core.pyi`, and methods as `Class.method`."""
    path = importlib.resources.files("marey").joinpath("_core.pyi")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    classes = [(f"{each.name}.", each.body) for each in body if isinstance(each, ast.ClassDef)]
    scopes = [("", body), *classes]
    return {
        f"{scope}{node.name}": node for scope, nodes in scopes for node in nodes if isinstance(node, ast.FunctionDef)
    }


def described(value: object) -> str:
    """A docstring as Markdown: examples and drawings as code, arguments as a list."""
    paragraphs = []
    for paragraph in (inspect.getdoc(value) or "").split("\n\n"):
        head, _, rest = paragraph.partition("\n")
        if paragraph.startswith(">>>"):
            paragraph = f"```python\n{paragraph}\n```"
        elif paragraph.startswith("    "):
            paragraph = f"```text\n{paragraph}\n```"
        elif head in ("Args:", "Returns:", "Raises:", "Yields:", "Attributes:"):
            items = re.sub(r"^(\*{0,2}[\w.]+):", r"* `\1`:", textwrap.dedent(rest), flags=re.MULTILINE)
            paragraph = f"**{head}**\n\n{items}"
        paragraphs.append(paragraph)
    return "\n\n".join(paragraphs) + "\n"


def rules() -> str:
    """Each rule of findings under a heading of its own, with its limits: the tables of `docs/findings.md`."""
    limits = {row[0]: row for row in table("limits")}
    parts = []
    for name, checks, goes_by, names, saves in table("rules"):
        facts = [f"**Goes by**: {goes_by}", f"**Could save**: {saves}"]
        for limit in names.split(", ") if names != "none" else ():
            _, default, meaning = limits[limit]
            facts.append(f"**Limit** {limit} = {default}: {meaning}")
        parts.append(f"## {name.strip('`')}\n\nChecks whether {checks}.\n\n" + "".join(f"* {fact}\n" for fact in facts))
    return "\n".join(parts)


def table(name: str) -> list[list[str]]:
    """The rows of a table of `docs/findings.md` between its marks."""
    text = (DOCS / "findings.md").read_text(encoding="utf-8")
    lines = text.partition(f"<!-- {name} -->")[2].partition(f"<!-- /{name} -->")[0].strip().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def schema(name: str) -> str:
    """The keys of a JSON document, type by type."""
    document = json.loads((DOCS / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))
    roots = document.get("oneOf", [document])
    types = [(root.get("title", name), root) for root in roots] + sorted(document.get("$defs", {}).items())
    return document["description"] + "\n" + "".join(keys(title, node) for title, node in types if "properties" in node)


def keys(title: str, node: dict[str, Any]) -> str:
    """The table of one type."""
    about = [(key, kind(value), cell(value.get("description", ""))) for key, value in node["properties"].items()]
    rows = [f"| `{key}` | {of} | {what} |\n" for key, of, what in about]
    described = "" if "$defs" in node else node.get("description", "")
    return f"\n## {title}\n\n{described}\n\n| key | type | what it is |\n|---|---|---|\n{''.join(rows)}"


def kind(node: dict[str, Any]) -> str:
    """A type in a few words."""
    if "$ref" in node:
        return f"`{node['$ref'].rpartition('/')[2]}`"
    if "anyOf" in node:
        return " or ".join(map(kind, node["anyOf"]))
    if "items" in node:
        return f"array of {kind(node['items'])}"
    if "const" in node:
        return f"`{json.dumps(node['const'])}`"
    named = node.get("type", "object" if "properties" in node else "any")
    return named if isinstance(named, str) else " or ".join(named)


def cell(text: str) -> str:
    """A text within a table."""
    return " ".join(text.split()).replace("|", "\\|")


STUBS = stubs()
MADE: dict[str, Callable[..., str]] = {"command-line": command_line, "python": python, "rules": rules, "schema": schema}
