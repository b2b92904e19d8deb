"""How Sphinx makes the site of `docs/`; `reference.py` makes what a page calls `<!-- made: NAME -->`."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
import reference

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Marey"
author = "the authors of Marey"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Marey"
# A line of 100 columns fits.
html_theme_options = {"light_css_variables": {"code-font-size": "73%"}}
html_static_path: list[str] = []
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_use_index = False
# Cells of notebooks are no Python, quite.
suppress_warnings = ["misc.highlighting_failure"]
PLACE = re.compile(r"<!-- made: ([\w-]+) ?(\w*) -->")
# A link to what the site does not hold leads nowhere on it.
OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?:examples|README)[^)]*\)")


def fill(_: Sphinx, page: str, source: list[str]) -> None:
    """Puts in what is made of the program."""
    text = OUTSIDE.sub(r"\1", source[0])
    source[0] = PLACE.sub(lambda place: reference.MADE[place[1]](*place[2].split()), text)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", fill)
