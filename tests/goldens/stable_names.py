"""The figures of a document under names that stay when its keys are renamed: ``kernels.gemm.total_ns``.

A name is the way to a figure, its unit at its end; rows of lists are named by what they are of. Times are in
nanoseconds, moments in microseconds of Unix time, sizes in bytes, shares as ratios. A key that is renamed gets a line
in ``RENAMED``, and the names stay; a field that tells rows apart is in ``IDENTITY``, too.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

Figures = dict[str, str]
"""Names and what stands for their values in a golden."""

RENAMED = [
    (r"^files\.(answers\.(devices\.)?)?", ""),
    (r"^(devices\.[^.]+\.)?kernels\.classes\.", r"\1kernels."),
    (r"^(devices\.[^.]+\.)?kernels\.rows\.", r"\1kernels.by_name."),
    (r"(^|\.)(transfers|operators|modules)\.rows\.", r"\1\2."),
    (r"^jobs\.", ""),
    (r"\.base_unix_ns$", ".base_ns"),
    (r"^(findings\.found\..*\.evidence\..*)\.value$", r"\1.figure.value"),
    (r"\.stage_analysis\.stages\.", ".stages."),
    (r"\.percentage(_of_\w+)?$", ".share_percent"),
    (r"\.(timestamp|start_time|end_time|generated_at|peak_at|peak_until)$", r".\1_unix_s"),
    (r"((?:gpu_utilization|(?:avg|peak|min)_cpu_usage)(?:_(?:avg|max|min|sum))?)$", r"\1_percent"),
    (r"((?:avg|peak|min|cpu)_usage)$", r"\1_percent"),
    (r"((?:avg|min|max|peak)_(?:memory_)?utilization)$", r"\1_percent"),
    (r"_percent_of_a_core$", "_of_a_core_percent"),
    (r"_mb_(avg|max|min|sum)$", r"_\1_mb"),
    (r"share_of_wall$", "share_of_wall_ratio"),
    (r"(hit|miss)_rate$", r"\1_ratio"),
    (r"^(samples\..*(?:first|last))_ns$", r"\1_at_ns"),
    (r"^(timestamp)$", r"\1_unix_s"),
    (r"^run\.start$", "run.start_unix_s"),
    (r"\.(wall|duration|inclusive|self|under_no_other_stage|(total|covered|avg|min|max)_time)$", r".\1_s"),
    (r"\.(start|end|so_far|before_recording|deadline|delivery_time|saving\.at_most|saving\.estimate)$", r".\1_s"),
    (r"\.seconds$", ".s"),
    (r"^(timing_stats|sections|iteration_profilers)\.(.+)\.(total|mean|min|max|first|last|median|p50|p95|p99|std_dev|rest_mean)$",
     r"\1.\2.\3_s"),
]  # fmt: skip
"""How a document has a name today, and the name: expressions, tried in turn on the whole name, before its unit is."""

UNITS = {
    "unix_s": ("unix_us", 1e6),
    "unix_ns": ("unix_us", 1e-3),
    "s": ("ns", 1e9),
    "seconds": ("ns", 1e9),
    "ms": ("ns", 1e6),
    "us": ("ns", 1e3),
    "kb": ("bytes", 1 << 10),
    "mb": ("bytes", 1 << 20),
    "gb": ("bytes", 1 << 30),
    "percent": ("ratio", 0.01),
    "mb_per_s": ("bytes_per_s", 1 << 20),
    **{unit: (unit, 1) for unit in ("unix_us", "ns", "bytes", "ratio", "per_s", "per_second")},
}
"""By the ending of a name, or a field `unit` beside a figure: the unit that goldens have, and how many of it one is."""

LONGEST_FIRST = sorted(UNITS, key=len, reverse=True)

STATISTICS = set(
    "value limit min avg mean median max peak total first last p50 p95 p99 std_dev "
    "difference baseline candidate".split()
)
"""Keys without a unit of their own: it is that of what they are of."""

IDENTITY = (
    "path",
    "owner",
    "name",
    "stage",
    "rule",
    "label",
    "session_id",
    "class",
    "operator",
    "range",
    "module",
    "direction",
    "host_memory",
    "reason",
    "cause",
    "given",
    "source",
    "subject",
    "kind",
    "pool",
    "shapes",
    "group",
    "element_type",
    "format",
    "rank",
    "place",
    "device",
    "thread_or_stream",
    "stream",
    "id",
    "uuid",
    "title",
    "document",
    "places",
    "stack",
    "figures",
    "unit",
    "event",
    "start_ns",
    "start_s",
    "at_ns",
    "at_s",
    "timestamp",
)
"""Fields by which rows are told apart, as many of them as it takes; moments only where nothing else does."""

SHOWN_TOO = set(IDENTITY[IDENTITY.index("document") :])
"""Of these fields, which name a row only where the others do not, the figures are shown, too."""

BY_PLACE = {"each", "documents", "hosts", "versions"}
"""Lists in which a row's place is what it is of."""

IN_ORDER = BY_PLACE | {"frames", "evidence", "headline", "formats"}
"""Lists that have an order of their own, which tells apart what has one name."""

WEIGHT = (
    "total_ns",
    "total_s",
    "self_ns",
    "self_s",
    "busy_ns",
    "busy_s",
    "own_ns",
    "own_s",
    "total",
    "inclusive",
    "total_time",
    "bytes",
    "length_ns",
    "length_s",
    "count",
    "n_ops",
)
"""Fields by which the largest rows are found, the first that there is."""

MOMENTS = {"timestamp", "start_time", "end_time", "generated_at", "peak_at", "peak_until"}
"""Moments, which are not added up."""

WHOLE = {"found", "classes", "causes", "reasons", "kinds"}
"""Lists of which every row stands in a golden."""

ONLY_ONE = {"files", "jobs", "devices"}
"""Lists whose row goes without a name if there is no other."""


def figures(document: Any, rows: int | None = None) -> Figures:
    """All figures of a document; of each list the largest rows, if a number is given, and sums over all of them."""
    found: Figures = {}
    for path, unit, value in _leaves(document, rows, (), None):
        name, value = _canonical(path, unit, value)
        assert found.setdefault(name, value) == value, f"two figures are called {name}: {found[name]} and {value}"
    return found


def _leaves(
    node: Any, rows: int | None, path: tuple[str, ...], unit: str | None
) -> Iterator[tuple[tuple[str, ...], str | None, Any]]:
    if isinstance(node, dict):
        inner = node["figure"] if isinstance(node.get("figure"), dict) else node
        unit = inner["unit"] if isinstance(inner.get("unit"), str) else unit
        for key, value in node.items():
            own = _unit_of(str(key))
            part = key.removesuffix(f"_{own}") if own and isinstance(value, dict) else str(key)
            if key != "unit" or unit is None:
                yield from _leaves(value, rows, (*path, _segment(part)), unit if own == "per_s" else own or unit)
    elif isinstance(node, list) and any(isinstance(row, dict) for row in node):
        yield from _rows(node, rows, path, unit)
    elif isinstance(node, list):
        yield path, unit, node
    elif not (isinstance(node, str) and re.search(r"\s", node)):  # Sentences may be worded anew.
        yield path, unit, node


def _rows(nodes: list[Any], rows: int | None, path: tuple[str, ...], unit: str | None) -> Iterator[Any]:
    nodes = _with_paths([node for node in nodes if isinstance(node, dict)])
    if len(nodes) == 1 and path[-1] in ONLY_ONE:
        yield from _leaves(nodes[0], rows, path, unit)
        return
    yield (*path, "n"), None, len(nodes)
    names, keys = (list(map(str, range(len(nodes)))), set[str]()) if path[-1] in BY_PLACE else _identities(nodes)
    often = Counter(names)
    named = list(zip(names, _numbered(names), nodes, strict=True))
    if rows is not None and len(nodes) > rows and path[-1] not in WHOLE:
        yield from _sums(nodes, (*path, "sum"), unit)
        if path[-1] not in IN_ORDER:
            named = sorted(named, key=lambda row: (-_weight(row[2]), row[1]))
        named = named[:rows]
    for name, its_own, node in named:
        assert often[name] == 1 or path[-1] in IN_ORDER, f"only their places tell rows {name!r} of {path} apart"
        yield from _leaves({key: node[key] for key in node if key not in keys}, rows, (*path, its_own), unit)


def _sums(nodes: list[Any], path: tuple[str, ...], unit: str | None) -> Iterator[Any]:
    """Of each column its sum and in how many rows it is known; of texts how many there are."""
    columns: dict[tuple[tuple[str, ...], str | None], _Column] = {}
    for node in nodes:
        for leaf, its_unit, value in _leaves(node, 0, path, unit):
            has_unit_of_list = leaf[-1] in STATISTICS or leaf[-1].endswith("per_s")
            if leaf[-1] not in MOMENTS and "unix" not in leaf[-1]:
                columns.setdefault((leaf, its_unit if has_unit_of_list else None), _Column()).add(value)
    for (leaf, its_unit), column in columns.items():
        if column.n_known:
            yield leaf, its_unit, column


class _Column:
    """A column of a list: the sum of its numbers, how many texts it has, and in how many rows there is either."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.texts: set[str] = set()
        self.n_known = 0

    def add(self, value: Any) -> None:
        if isinstance(value, _Column):
            self.numbers += value.numbers
            self.texts |= value.texts
            self.n_known += value.n_known
        elif isinstance(value, str | int | float):
            self.n_known += 1
            if isinstance(value, str):
                self.texts.add(value)
            else:
                self.numbers.append(value)

    def shown(self, factor: float) -> str:
        is_whole = all(isinstance(value, int) for value in self.numbers)
        total = _shown(sum(self.numbers) if is_whole else math.fsum(self.numbers), factor) if self.numbers else None
        texts = f"{len(self.texts)} texts" if self.texts else None
        return " and ".join(filter(None, (total, texts))) + f" in {self.n_known}"


def _with_paths(nodes: list[Any]) -> list[Any]:
    """Rows of a tree, with the names from the outermost one on as their path."""
    of_tree = (key for key in ("id", "node") if all({key, "parent", "name"} <= node.keys() for node in nodes))
    key = next(of_tree, None)
    if key is None or any("path" in node for node in nodes):
        return nodes
    by_key = {node[key]: node for node in nodes}

    def path(node: Any) -> list[str]:
        outer = by_key.get(node["parent"])
        return [*(path(outer) if outer else ()), ("@" if node.get("kind") == "iteration" else "") + node["name"]]

    return [node | {"path": path(node)} for node in nodes]


def _identities(nodes: list[Any]) -> tuple[list[str], set[str]]:
    """What each row is called, by as few fields as tell all apart. And which fields these are."""
    names, keys = [""] * len(nodes), set[str]()
    for key in IDENTITY:
        texts = [_text(_field(node, key)) for node in nodes]
        if not any(texts) or (key == "reason" and any(" " in text for text in texts)):
            continue
        names = [f"{name}|{text}".lstrip("|") for name, text in zip(names, texts, strict=True)]
        if key not in SHOWN_TOO:
            keys.add(key)
        if len(set(names)) == len(names):
            break
    return [_segment(name) for name in names], keys


def _numbered(names: list[str]) -> list[str]:
    """Names of which each is there once."""
    often, seen = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        numbered.append(f"{name}#{seen[name]}" if often[name] > 1 or not name else name)
        seen[name] += 1
    return numbered


def _field(node: Any, key: str) -> Any:
    """A field of a row; of its one figure the unit, of its figures their kinds."""
    value = node.get("figure", node) if key == "unit" else node
    value = value.get(key) if isinstance(value, dict) else None
    if key in ("start_s", "at_s") and value is not None:
        return round(value * 1e9)
    return [figure.get("kind") for figure in value or ()] if key == "figures" else value


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return "/".join(filter(None, map(_text, value.values())))
    if isinstance(value, list):
        return ">".join(map(_text, value))
    return "" if value is None else str(value)


def _segment(text: str) -> str:
    """A part of a name: without blanks, and not longer than one reads."""
    text = re.sub(r"\s+", "_", text)
    return text if len(text) <= 56 else f"{text[:48]}~{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def _weight(node: Any) -> float:
    return next((node[key] for key in WEIGHT if isinstance(node.get(key), int | float)), 0)


def _unit_of(key: str) -> str | None:
    return next((unit for unit in LONGEST_FIRST if key.endswith((f"_{unit}", f".{unit}"))), None)


def _canonical(path: tuple[str, ...], unit: str | None, value: Any) -> tuple[str, str]:
    """Name and value in the unit of goldens."""
    name = ".".join(path)
    for pattern, replacement in RENAMED:
        name = re.sub(pattern, replacement, name)
    own = _unit_of(name)
    if own == "per_s" and unit in UNITS and unit not in ("per_s", "s"):
        of, factor = UNITS[unit]
        name = f"{name.removesuffix('per_s')}{of}_per_s"
    elif own is not None:
        wanted, factor = UNITS[own]
        name = name[: -len(own)] + wanted
    elif unit is not None and path[-1] in STATISTICS:
        wanted, factor = UNITS.get(unit, (_segment(unit), 1))
        name = f"{name}_{wanted}"
    else:
        factor = 1
    return name, _shown(value, factor)


def _shown(value: Any, factor: float) -> str:
    if isinstance(value, _Column):
        return value.shown(factor)
    if isinstance(value, list):
        items = [_shown(item, factor) for item in value[:16]] + [f"…{len(value)}"] * (len(value) > 16)
        return f"[{','.join(items)}]"
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    if isinstance(value, str):
        return re.sub(r"\s+", "_", value) or '""'
    if isinstance(value, int) and factor == 1:
        return str(value)
    scaled = value * factor
    return str(round(scaled)) if 1e12 <= abs(scaled) < 1e18 else f"{scaled:.12g}"
