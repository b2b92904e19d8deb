"""Runs seeds by hand: some of them, or new ones for so many minutes."""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import known
from checking import Mismatch, check
from programs import program


def seeds(given: argparse.Namespace) -> Iterator[int]:
    """Those that were named, or random ones until the time is up."""
    yield from given.seeds
    end = time.monotonic() + given.minutes * 60
    while time.monotonic() < end:
        yield random.randrange(1000, 10**9)


def main() -> int:
    """1 when a figure was wrong."""
    parser = argparse.ArgumentParser(prog="python tests/oracle", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, help="seeds to run")
    parser.add_argument("--minutes", type=float, default=0, help="run new seeds for so long")
    parser.add_argument("--known", action="store_true", help="show what is known as a defect, too")
    parser.add_argument("--keep", type=Path, help="keep what was wrong, with log and recording, below this folder")
    given = parser.parse_args()
    n_wrong = n = 0
    for seed in seeds(given):
        made = program(seed)
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = check(made, Path(folder))
            except AssertionError as failed:  # A reader that could not read is wrong, too; the others go on.
                found = [Mismatch("a command", "exit", "success", str(failed))]
            if not given.known:
                found = known.unknown(found, made["kind"])
            if found and given.keep:
                shutil.rmtree(given.keep / str(seed), ignore_errors=True)
                shutil.copytree(folder, given.keep / str(seed))
        n += 1
        n_wrong += bool(found)
        if found or given.seeds:
            print(f"seed {seed} ({made['kind']}): {len(found)} figures are wrong", flush=True)
        for one in found[:10]:
            print(f"  {one}"[:500], flush=True)
    print(f"{n} programs, {n_wrong} with a wrong figure")
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
