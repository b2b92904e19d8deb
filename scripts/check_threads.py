"""Checks that threads of Marey are begun where no signal of the program's reaches them.

In Rust within `without_signals(…)`, in Python by `marey.threads.started`. Tests and example programs are not shipped
and do not count; nor does the `spawn` of a sampler, which begins a thread that way.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = re.compile(r"^#\[cfg\(test\)\]\n.*", re.MULTILINE | re.DOTALL)
BEGUN = {
    # `Command::spawn` takes no argument.
    ".rs": re.compile(r"(?<!without_signals\(\|\| )\b(?!sampler\b)\w+\.spawn(?:_scoped)?\(\s*[^)\s]|thread::spawn\("),
    ".py": re.compile(r"threading\.Thread\(\w|_thread\.start_new_thread"),
}


def main() -> None:
    """Print where threads are begun by other means; exit 1 where that is somewhere."""
    n_found = 0
    for path in [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/**/*.py")]:
        if "tests" in path.parts or path.name in ("tests.rs", "threads.py"):
            continue
        text = TESTS.sub("", path.read_text("utf-8"))
        for found in BEGUN[path.suffix].finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            print(f"{path.relative_to(ROOT)}:{line}: a thread that signals of the program reach: {found[0]}")
            n_found += 1
    sys.exit(min(n_found, 1))


if __name__ == "__main__":
    main()
