"""The site that `make docs` made, as a reader has it: files, opened in a browser that reaches nothing else."""

from __future__ import annotations

import os
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(__file__).parents[2] / "target" / "site"
FOREIGN = re.compile(r"[a-z]+:|//")


class Page(HTMLParser):
    """What a page links to, what it loads, and which anchors it has."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        of = {name: value or "" for name, value in attrs}
        self.anchors |= {of[name] for name in ("id", "name") if name in of}
        if tag == "a" and "href" in of:
            self.links.append(of["href"])
        elif (tag == "link" and of.get("rel") in ("stylesheet", "icon")) or "src" in of:
            self.loaded.append(of.get("href") or of["src"])


PAGES = {path: Page(path) for path in sorted(SITE.rglob("*.html"))}


def test_the_site_was_made() -> None:
    assert {"index.html", "search.html", "how-to/memory.html"} <= {str(path.relative_to(SITE)) for path in PAGES}


def test_every_link_leads_to_a_page_and_an_anchor_of_it() -> None:
    lost = []
    for path, page in PAGES.items():
        for link in (link for link in page.links if not FOREIGN.match(link)):
            target = (path.parent / unquote(urlsplit(link).path)).resolve() if urlsplit(link).path else path
            if not target.exists() or (
                target in PAGES and unquote(urlsplit(link).fragment) not in PAGES[target].anchors
            ):
                lost.append(f"{path.relative_to(SITE)}: {link}")
    assert lost == []


def test_a_page_loads_files_of_the_site_alone() -> None:
    foreign = [f"{path.name}: {url}" for path, page in PAGES.items() for url in page.loaded if FOREIGN.match(url)]
    assert foreign == []
    styles = "".join(path.read_text(encoding="utf-8") for path in SITE.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?https?:[^)]*", styles) == []


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("VRAM", "how-to/memory.html"),
        ("torchrun", "how-to/ranks.html"),
        ("stage-bottleneck", "reference/rules.html"),
        ("profile_section", "reference/python.html"),
    ],
)
def test_the_search_finds_without_a_network(word: str, page: str, tmp_path: Path) -> None:
    """From a file, as somebody opens it; names lead to no machine."""
    chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    offline = ["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=20000"]
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", *offline]
    shown = subprocess.run(
        [chromium, *options, "--dump-dom", f"{(SITE / 'search.html').as_uri()}?q={word}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    results = shown.stdout.partition('id="search-results"')[2]
    assert f'href="{page}' in results, results[:3000]
