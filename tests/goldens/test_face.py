"""The public face is what `face.txt` says, and the documents' tests are what `documents.txt` says."""

from __future__ import annotations

import difflib
import hashlib
from pathlib import Path

import face

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = Path(__file__).with_name("documents.txt")


def test_the_public_face_is_the_one_that_was_agreed(tmp_path: Path) -> None:
    old, new = face.committed(), face.face(tmp_path)
    found = "\n".join(difflib.unified_diff(old, new, "face.txt", "the program", lineterm="", n=0))
    assert not found, (
        "the public face changed. If it was meant to: name what left or changed in backticks under `### Changed` or"
        f" `### Removed` of [Unreleased] in CHANGELOG.md, then run `python tests/goldens/face.py --write`.\n{found}"
    )


def test_what_leaves_the_face_is_told_in_the_changelog() -> None:
    old = [
        "flag marey run --full  --full",
        "command marey view",
        "flag marey view --port  --port",
        "key profiling.enabled  False",
    ]
    new = ["key profiling.enabled  True"]

    def changelog(part: str, text: str) -> str:
        return f"## [Unreleased]\n\n### {part}\n\n- {text}\n\n## [0.1.0]\n\n### Removed\n\n- `marey run --full`\n"

    all_names = ["marey run --full", "marey view", "profiling.enabled"]
    assert face.gone(old, new, changelog("Removed", "Nothing.")) == all_names
    assert face.gone(old, new, changelog("Added", "`marey run --full`")) == all_names
    assert face.gone(old, new, changelog("Removed", "`marey run --fullest`, marey run --full")) == all_names
    assert face.gone(old, new, changelog("Removed", "`marey run --full` and `marey view`")) == ["profiling.enabled"]
    assert face.gone(old, new, changelog("Changed", "`marey run --full`, `marey view`, `profiling.enabled`")) == []
    # A command that stays does not answer for its flags.
    kept = ["command marey view"]
    assert face.gone([*kept, "flag marey view --port"], kept, changelog("Changed", "`marey view`")) == [
        "marey view --port"
    ]


def test_the_tests_of_the_documents_are_as_they_were() -> None:
    lines = DOCUMENTS.read_text(encoding="utf-8").splitlines()
    rows = [line.split(maxsplit=2) for line in lines if line and not line.startswith("#")]
    changed = [
        f"{path}  {found}"
        for path, known, *_ in rows
        if (found := hashlib.sha256((ROOT / path).read_bytes()).hexdigest()) != known
    ]
    assert not changed, (
        "these tests are the promise of the five documents: they are not adapted to the code, the code is mended. Where"
        f" one has to change all the same, write its new hash by hand into {DOCUMENTS.name}, with the reason behind it"
        " on the same line:\n" + "\n".join(changed)
    )
    listed = {path for path, *_ in rows}
    missing = [str(path.relative_to(ROOT)) for path in ROOT.glob("tests/*/test_document_*.py")]
    assert not set(missing) - listed, f"{DOCUMENTS.name} has to name them, too: {sorted(set(missing) - listed)}"
