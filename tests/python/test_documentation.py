"""The documentation: every command and program on it runs and prints what it shows.

But for those of `NOT_RUN` and `NOT_COMPARED` in `documented.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from documented import BLOCK, OF_TORCH, PAGES, ROOT, Reader

PIPE = "pipe = lambda *prompt, **options: None\n"


def has_something_to_run(page: str) -> bool:
    blocks = BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))
    run = ("python", "console", "bash", "yaml")
    return any(language in run or block.startswith("marey: ") for language, block in blocks)


@pytest.mark.parametrize("page", [page for page in PAGES if page not in OF_TORCH and has_something_to_run(page)])
def test_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    if page.endswith("jupyter.md") and sys.version_info < (3, 11):
        pytest.skip("the IPython of the tests wants 3.11")
    reader = Reader(tmp_path / "home", prelude=PIPE)
    reader.prepare()
    reader.follow(page)


def test_cargo_runs_the_examples_in_rust() -> None:
    included = (ROOT / "crates/marey-testing/src/lib.rs").read_text(encoding="utf-8")
    pages = [page for page in PAGES if "```rust" in (ROOT / page).read_text(encoding="utf-8")]
    assert [page for page in pages if f'"../../../{page}"' not in included] == []


def test_pages_of_torch_exist() -> None:
    assert set(PAGES) >= OF_TORCH
