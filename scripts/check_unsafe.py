"""Checks that `unsafe` is allowed exactly where ARCHITECTURE.md lists it.

A file that allows it must stand in the list between the marks `unsafe-files` of ARCHITECTURE.md, and the other way
round. Tests and example programs are not shipped and do not count.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALLOWS = re.compile(r"#!?\[(?:allow|expect)\(\s*unsafe_code\b")


def files_that_allow() -> set[str]:
    """Source files of the crates that switch the lint off."""
    sources = ((path, path.relative_to(ROOT).as_posix()) for path in ROOT.glob("crates/*/src/**/*.rs"))
    return {name for path, name in sources if "/tests" not in name and ALLOWS.search(path.read_text("utf-8"))}


def files_that_are_listed() -> set[str]:
    """Files that ARCHITECTURE.md names, each in backquotes."""
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    _, _, rest = text.partition("<!-- unsafe-files -->")
    listed, end, _ = rest.partition("<!-- /unsafe-files -->")
    if not end:
        sys.exit("ARCHITECTURE.md has no list between <!-- unsafe-files --> and <!-- /unsafe-files -->")
    return set(re.findall(r"`(crates/[^`]+\.rs)`", listed))


def main() -> None:
    """Print what differs; exit 1 when anything does."""
    allowed, listed = files_that_allow(), files_that_are_listed()
    for path in sorted(allowed - listed):
        print(f"{path} allows unsafe code and is not in the list of ARCHITECTURE.md")
    for path in sorted(listed - allowed):
        print(f"{path} is in the list of ARCHITECTURE.md and allows no unsafe code")
    if allowed != listed:
        sys.exit(1)
    print(f"unsafe code is allowed in the {len(allowed)} files that ARCHITECTURE.md lists")


if __name__ == "__main__":
    main()
