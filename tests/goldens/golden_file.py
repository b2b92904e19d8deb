"""A golden: a file of names and values, one a line, and how many there are.

A value that is known to be wrong has the number of its defect behind it: ``idle_ns 463 # N17``, after two blanks.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stable_names import Figures

NAMES = Path(__file__).with_name("names")
CHANGES = Path(__file__).with_name("CHANGES.md")
SHOWN = 40
"""So many differences are shown."""


@dataclass
class Golden:
    """What is written in the file: ``defects`` says by name which defect makes a value wrong."""

    file: Path
    n_names: int
    figures: Figures
    defects: dict[str, str]

    @classmethod
    def of(cls, name: str) -> Golden:
        """The golden of an input, without a name in it if there is none yet."""
        file = NAMES / f"{name}.txt"
        if not file.exists():
            return cls(file, 0, {}, {})
        head, *lines = file.read_text(encoding="utf-8").splitlines()
        figures: Figures = {}
        defects: dict[str, str] = {}
        for line in lines:
            told, _, defect = line.partition("  # ")
            name, _, value = told.partition(" ")
            figures[name] = value
            if defect:
                defects[name] = defect
        return cls(file, int(head.split()[1]), figures, defects)

    def differences(self, now: Figures) -> list[str]:
        """What is no longer as it was: name, was, is."""
        n = len(self.figures)
        found = [] if n >= self.n_names else [f"{n} of {self.n_names} names are in the file"]
        for name in sorted(self.figures.keys() | now.keys()):
            was, is_now = self.figures.get(name, "no such name"), now.get(name, "no such name")
            if was != is_now:
                defect = f"   (was known to be wrong: {self.defects[name]})" if name in self.defects else ""
                found.append(f"{name}\n    was {was}\n    is  {is_now}{defect}")
        return found

    def accept(self, now: Figures, why: str, may_be_fewer: bool) -> None:
        """Writes the figures of today; a mark stays where the number did. Says in CHANGES.md what changed, and why."""
        assert may_be_fewer or len(now) >= self.n_names, f"{len(now)} names, {self.n_names} before: only with --fewer"
        marks = {name: defect for name, defect in self.defects.items() if now.get(name) == self.figures[name]}
        if self.figures:
            self._explain(now, why, sorted({self.defects[name] for name in self.defects.keys() - marks.keys()}))
        behind = {name: f"  # {defect}" for name, defect in marks.items()}
        lines = [f"{name} {value}{behind.get(name, '')}" for name, value in sorted(now.items())]
        self.file.write_text("\n".join([f"# {len(now)} names", *lines, ""]), encoding="utf-8")

    def _explain(self, now: Figures, why: str, mended: list[str]) -> None:
        was = self.figures
        changed = sum(now[name] != was[name] for name in now.keys() & was.keys())
        counts = {"changed": changed, "new": len(now.keys() - was.keys()), "gone": len(was.keys() - now.keys())}
        what = ", ".join(f"{n} {how}" for how, n in counts.items() if n)
        no_longer = f", some no longer {' '.join(mended)}" if mended else ""
        with CHANGES.open("a", encoding="utf-8") as changes:
            changes.write(f"- `{self.file.stem}`: {what}{no_longer}: {why}\n")
