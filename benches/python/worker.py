"""One process of the bench: times one group and prints one line of JSON.

    python worker.py GROUP BATCHES

`{"costs_ns": {subject: ns}, "losses": {what: count}}`, or `{"not_installed": package}`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from batches import costs_ns
from subjects import GROUPS

import marey


def losses() -> dict[str, int]:
    """What the recorder could not keep so far, by kind."""
    return dict(marey._core.losses())


def main() -> None:
    """Record into a folder that is thrown away, and time."""
    group, batches = sys.argv[1], int(sys.argv[2])
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        marey.start(output_dir=folder)
        try:
            found = measured(group, batches)
        except ModuleNotFoundError as error:
            found = {"not_installed": error.name}
        finally:
            marey.stop()
    print(json.dumps(found))


def measured(group: str, batches: int) -> dict[str, object]:
    """The costs of the group's subjects, and what was lost while they were measured."""
    subjects = list(GROUPS[group]())
    before = losses()
    costs = costs_ns(subjects, batches)
    lost = {what: count - before.get(what, 0) for what, count in losses().items()}
    return {"costs_ns": costs, "losses": {what: count for what, count in lost.items() if count}}


if __name__ == "__main__":
    main()
