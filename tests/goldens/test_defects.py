"""Every defect of `tests/defects.txt` has its line, and the tests that are named there exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFECTS = ROOT / "tests/defects.txt"
HIGHEST = {"H": 34, "N": 28, "T": 11, "P": 9, "M": 12}
BEGINNINGS = {".py": "def {}(", ".rs": "fn {}(", ".mjs": 'test("{}"'}


def test_every_defect_has_a_line_and_the_tests_that_hold_it_exist() -> None:
    lines = DEFECTS.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    rows = [re.fullmatch(r"([HNTPMC]\d+)  (\S.*?)  \((.+)\)", line) for line in lines]
    odd = [line for line, row in zip(lines, rows, strict=True) if row is None]
    assert not odd, f"a line of {DEFECTS.name} is: number, two blanks, tests or -, two blanks, (what is wrong):\n{odd}"
    said = [row[1] for row in rows if row is not None]
    assert len(said) == len(set(said)), "a number is there twice"
    numbers = {f"{letter}{number}" for letter, last in HIGHEST.items() for number in range(1, last + 1)}
    missing = sorted(numbers - set(said))
    assert not missing, f"a defect keeps its line in {DEFECTS.name} for good; these are missing: {missing}"
    named = [(row[1], test) for row in rows if row is not None and row[2] != "-" for test in split(row[2])]
    gone = [f"{number}  {test}" for number, test in named if not exists(test)]
    assert not gone, (
        "these tests do not exist, and nothing holds their defects. Where a test was renamed or moved, say the new"
        f" place in {DEFECTS.name}; where it was taken out, name another that would fail if the defect came back, or"
        " write one:\n" + "\n".join(gone)
    )


def split(tests: str) -> list[str]:
    """The tests of a line; a test of the page may have a comma in its name."""
    return re.split(r", (?=\S+::)", tests)


def exists(test: str) -> bool:
    """Whether a file has the test, by how one of its language begins."""
    path, _, name = test.partition("::")
    file = ROOT / path
    return file.is_file() and BEGINNINGS[file.suffix].format(name) in file.read_text(encoding="utf-8")
