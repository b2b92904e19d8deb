"""The public face of Marey as sorted lines, asked of the program itself: `python tests/goldens/face.py --write`.

A line is `KIND NAME  REST`: what it is, the name that a user writes, and its default, value or meaning. `face.txt` has
the lines of the last commit; `test_face.py` compares them exactly, so nothing comes, changes or goes unless that file
does, too.

What a user wrote down and no longer finds has to be told. So `--write` refuses to let go of a line, that is of a name
or of what stood behind it, until `CHANGELOG.md` names it in backticks under `### Changed` or `### Removed` of
`## [Unreleased]`. What goes together with its owner (a command's flags, a module's names, a table's columns) is covered
by the owner's name. Who edits `face.txt` by hand goes around this; then the line is in the diff.

Where lines come from:

| kind | asked of |
|---|---|
| `command`, `argument`, `flag` | `marey --help` and `marey COMMAND --help`; an alias that these hide by trying it |
| `exit` | commands that are run; below 0 it is a signal |
| `variable` | a recording beside all words `MAREY_…` of the sources: those that it does not call unknown |
| `figure` | `marey compare --fail-on`, asked for each word of the sources that could be one |
| `file` | a recording in a temporary folder, its reports, exports and pages |
| `python`, `script` | `inspect`, `argparse` |
| `key`, `rule`, `column` | `ProfilingConfig`, the checks of a run, a trace and a job, the schemas of `to_arrow` |
| `json` | `docs/schema`, two levels deep; other tests hold all documents to it |
| `threshold`, `metric` | tables of `docs/findings.md` and `docs/metrics.md`, which tests in Rust hold to the code |
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))

import face_of_python
from interpreter import Interpreter, environment

ROOT = Path(__file__).resolve().parents[2]
FACE = Path(__file__).with_name("face.txt")
CHANGELOG = ROOT / "CHANGELOG.md"


class Line(NamedTuple):
    """A line of the face."""

    kind: str
    name: str
    rest: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}  {self.rest}".rstrip()

    @classmethod
    def of(cls, text: str) -> Line:
        """The line of a text."""
        kind, _, rest = text.partition(" ")
        name, _, rest = rest.partition("  ")
        return cls(kind, name, rest)


def face(folder: Path) -> list[str]:
    """The lines of the program as it is; what has to be run is run in this folder."""
    lines = [*commands(), *of_python(folder), *files_and_rules(folder), *exits(folder), *schemas(), *tables()]
    lines += [*variables(folder), *figures(folder)]
    return sorted({str(line) for line in lines})


def committed() -> list[str]:
    """The lines of the last `--write`."""
    return FACE.read_text(encoding="utf-8").splitlines() if FACE.exists() else []


def marey(*arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command of marey that has ended."""
    return subprocess.run(
        [sys.executable, "-m", "marey", *arguments],
        cwd=folder,
        env=environment() | {"NO_COLOR": "1", "COLUMNS": "200", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def shown(*arguments: str, folder: Path = ROOT) -> str:
    """What a command shows that ends with 0 or 1."""
    done = marey(*arguments, folder=folder)
    assert done.returncode in (0, 1), f"marey {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def commands() -> Iterator[Line]:
    """Commands with their arguments and flags, and the values and defaults of those."""
    top = shown("--help")
    yield from _parameters("marey", top)
    listed = top.split("Commands:\n")[1].split("\n\n")[0]
    for name in re.findall(r"^  (\S+)", listed, re.MULTILINE):
        yield Line("command", f"marey {name}")
        yield from _parameters(f"marey {name}", shown(name, "--help"))
    if "unexpected argument" not in marey("aggregate", "--reports-dir", "nowhere").stderr:
        yield Line("flag", "marey aggregate --reports-dir", "as --reports_dir")


def _parameters(command: str, text: str) -> Iterator[Line]:
    # A parameter begins less deep than what is said about it.
    for part in re.split(r"^ {2,6}(?=[-<\[]\S)", text.partition("Usage:")[2], flags=re.MULTILINE)[1:]:
        head = re.split(r"\n| {2,}", part)[0]
        said = " ".join(re.split(r"\n(?=\S)", part)[0].split())
        default = re.search(r"\[(default[^\]]*)\]", said)
        long = re.search(r"--[\w-]+", head)
        name = f"{command} {long[0] if long else head}"
        rest = [head if long else "", default[1] if default else ""]
        yield Line("flag" if long else "argument", name, "  ".join(filter(None, rest)))
        for value in re.findall(r"^ +- ([\w-]+):", part, re.MULTILINE):
            yield Line("flag", f"{name} {value}", "a value")


def of_python(folder: Path) -> Iterator[Line]:
    """Names of Python with their signatures, flags of profiled scripts, keys of the configuration."""
    for lines in (face_of_python.names, face_of_python.flags_of_scripts, face_of_python.keys):
        yield from (Line(*line) for line in Interpreter(folder).result(lines))


PROGRAM = """
import marey
from marey import CacheEventRecorder, MemoryTracker, Profiler, ProfilingConfig

profiler = Profiler(ProfilingConfig(enabled=True, save_raw_data=True))
with profiler.session("clip"), marey.profile_section("denoise"):
    profiler.record_diffusion_step(step=0)
MemoryTracker().snapshot("end")
CacheEventRecorder().record_event("teacache", kind="hit")
"""


def files_and_rules(folder: Path) -> Iterator[Line]:
    """Files that a recording, its reports and exports are, columns of its tables, and rules of findings."""
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "trace.json").write_text('{"traceEvents": []}', encoding="utf-8")
    (folder / "memory.pickle").write_bytes(pickle.dumps({"segments": [], "device_traces": []}))
    run = ("run", "--quiet", "--output", "out", "--", sys.executable, "program.py")
    before = set(folder.iterdir())
    assert marey(*run, folder=folder).returncode == 0
    job = (folder / "out/latest").resolve().name
    yield from _files(folder, "marey run", before, job)
    for arguments in (
        ("report", "out", "--format", "all"),
        ("compare", "out", "out", "--format", "html"),
        ("aggregate", "out", "--format", "html"),
        ("aggregate", "out", "--format", "perfetto"),
        ("analyze", "trace.json", "--format", "html"),
        ("analyze", "memory.pickle", "--format", "html"),
        ("analyze", "trace.json", "--format", "csv", "--output", "csv"),
        *(("export", "out", "--format", f) for f in ("perfetto", "chrome", "tensorboard", "parquet")),
    ):
        before = set(folder.rglob("*"))
        shown(*arguments, folder=folder)
        command = " ".join(word for word in arguments if word not in ("out", "trace.json", "memory.pickle"))
        yield from _files(folder, f"marey {command}", before, job)
    for whose, arguments in {
        "run": ("report", "out"),
        "trace": ("analyze", "trace.json"),
        "job": ("aggregate", "out"),
    }.items():
        found = json.loads(shown(*arguments, "--format", "json", folder=folder))
        yield from (Line("rule", rule, f"of a {whose}") for rule in set(_rules(found)))
    tables = Interpreter(folder).result(face_of_python.columns, "out")
    yield from (Line("column", *column) for column in tables)


def _files(folder: Path, command: str, before: set[Path], job: str) -> Iterator[Line]:
    for path in set(folder.rglob("*")) - before:
        name = str(path.relative_to(folder)).replace(job, "JOB")
        name = re.sub(r"(rank0-|launcher-)\d+", r"\1PID", re.sub(r"\.\d{13}\.", ".MS.", name))
        # What a table's files are called is nobody's matter.
        name = re.sub(r"kind=.*\.parquet$", "kind=KIND/rank=RANK/*.parquet", name)
        if path.is_file() and not path.is_symlink():
            yield Line("file", name, f"by {command}")
        elif path.is_symlink():
            yield Line("file", name, f"by {command}, a link")


def _rules(value: Any) -> Iterator[str]:
    """All that anything below a document names as its rule."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inside:
        yield from _rules(one)
    if isinstance(value, dict) and isinstance(value.get("rule"), str):
        yield value["rule"]


def exits(folder: Path) -> Iterator[Line]:
    """Codes with which commands end, in a folder that has the recording `out`."""
    (folder / "program.sh").write_text("exit 7\n", encoding="utf-8")
    for command in (
        "doctor",
        "top",
        "top --once",
        "run -q --output failed -- sh program.sh",
        "run -q -- no-such-program",
        "run -q -- ./program.sh",
        "run -q -- sh -c 'kill -9 $$'",
        "view --no-browser --port 0 --timeout 1 out",
        "compare",
        "compare out out",
        "compare out out --fail-on any-change",
        "compare out nothing",
        "compare out failed",
        *(f"{reader} {of}" for reader in ("report", "export", "aggregate") for of in ("out", "nothing")),
        "aggregate out nothing",
        "analyze trace.json",
        "analyze nothing",
        "analyze out",
        "report --no-such-flag",
    ):
        code = marey(*shlex.split(command), folder=folder).returncode
        yield Line("exit", f"marey {command}", f"ends with {code}")


def schemas() -> Iterator[Line]:
    """Keys of the JSON documents, two levels deep."""
    for path in sorted((ROOT / "docs/schema").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        for key in set(_keys(schema, schema, "", 2)):
            yield Line("json", path.name.removesuffix(".schema.json") + key)


def _keys(schema: Any, root: Any, path: str, levels: int) -> Iterator[str]:
    if not levels:  # Some refer to themselves.
        return
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target[step]
        yield from _keys(target, root, path, levels)
    for choice in ("oneOf", "anyOf", "allOf"):
        for one in schema.get(choice, []):
            yield from _keys(one, root, path, levels)
    for inside, mark in (("items", "[]"), ("additionalProperties", ".*")):
        if isinstance(schema.get(inside), dict):
            yield from _keys(schema[inside], root, path + mark, levels)
    for key, value in schema.get("properties", {}).items():
        yield f"{path}.{key}"
        yield from _keys(value, root, f"{path}.{key}", levels - 1)


def tables() -> Iterator[Line]:
    """Thresholds and metrics, from tables of the documents that tests hold to the code."""
    findings = (ROOT / "docs/findings.md").read_text(encoding="utf-8")
    limits = findings.partition("<!-- limits -->")[2].partition("<!-- /limits -->")[0]
    for name, default in re.findall(r"^\| `(\w+)` \| (\S+) \|", limits, re.MULTILINE):
        yield Line("threshold", name, default)
    document = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in row.split("|")] for row in document.splitlines()]
    heads = next((row for row in rows if "metric" in row), None)
    assert heads, "docs/metrics.md has no table with a column metric"
    for row in rows:
        if len(row) == len(heads) and row[heads.index("metric")].startswith("`"):
            yield Line("metric", row[heads.index("metric")].strip("`"), row[heads.index("type")])


def variables(folder: Path) -> Iterator[Line]:
    """The variables that a recording does not call unknown, of all that anybody wrote down."""
    words = set(_words(r"\bMAREY_[A-Z_]*[A-Z]\b", "crates", "python", "docs", "tests/goldens"))
    # One that nobody knows proves that the recording says so.
    asked = dict.fromkeys(words | {"MAREY_FACE"}, "") | {"MAREY_RING_DIR": os.environ["MAREY_RING_DIR"]}
    done = Interpreter(folder).run("import marey\nmarey.start('asked')\n", env=asked | {"MAREY_ENABLED": "1"})
    unknown = set(re.findall(r"(MAREY_\w+) is not a variable", done.stderr))
    assert "MAREY_FACE" in unknown, done.stderr
    yield from (Line("variable", name) for name in words - unknown)
    for name in Interpreter(folder).result(face_of_python.aliases):
        yield Line("variable", name, "of another system")


def figures(folder: Path) -> Iterator[Line]:
    """What `marey compare --fail-on` takes before a limit, of all words of its sources that could be one."""
    rows = _words(r"^\s+([A-Z][A-Za-z]+): [A-Z]\w+, [A-Z]\w+, [A-Z]\w+;$", "crates")
    words = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in rows}
    words |= {Line.of(text).name for text in committed() if text.startswith("figure ")}
    words |= set(re.findall(r"\w+", marey("compare", "a", "b", "--fail-on", "no such>5%").stderr))
    yield from (Line("figure", name) for name in Interpreter(folder).result(face_of_python.figures, sorted(words)))


def _words(pattern: str, *folders: str) -> Iterator[str]:
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*")):
        if path.suffix in (".rs", ".py", ".md", ".txt"):
            yield from re.findall(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)


def gone(old: Iterable[str], new: Iterable[str], changelog: str) -> list[str]:
    """The names that `changelog` does not tell of, of lines that are only in the old face."""
    kept = {Line.of(text).name for text in new}
    lost = {Line.of(text).name for text in set(old) - set(new)}
    owners = tuple(name + mark for name in lost - kept for mark in (" ", ".", "[", "("))
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## ")[0]
    parts = re.findall(r"^### (?:Changed|Removed)\n(.*?)(?=^###|\Z)", unreleased, re.MULTILINE | re.DOTALL)
    told = [span for part in parts for span in re.findall(r"`([^`]+)`", part)]

    def is_told(name: str) -> bool:
        whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        return any(whole.search(span) for span in told)

    return sorted(name for name in lost if not name.startswith(owners) and not is_told(name))


def main() -> None:
    """Writes the face, or shows it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--write", action="store_true", help=f"write {FACE.name}; refuses what CHANGELOG.md does not tell of"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MAREY_RING_DIR"] = str(Path(folder) / "rings")
        Path(folder, "work").mkdir()
        new = face(Path(folder, "work"))
    if not arguments.write:
        print(*new, sep="\n")
        return
    if untold := gone(committed(), new, CHANGELOG.read_text(encoding="utf-8")):
        sys.exit(
            "nothing was written: these left the face or changed, and CHANGELOG.md has to name each, in backticks as"
            " here, under `### Changed` or `### Removed` of [Unreleased]:\n" + "\n".join(f"`{name}`" for name in untold)
        )
    FACE.write_text("".join(f"{line}\n" for line in new), encoding="utf-8")


if __name__ == "__main__":
    main()
