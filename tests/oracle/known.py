"""Defects that are known and not mended yet: each has a program that shows it, and is taken out when that passes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from checking import Mismatch
from programs import ENVIRONMENTS, Node


@dataclass(frozen=True)
class Known:
    """A defect: in which readers, figures and kinds of programs it shows, and the shortest program that shows it."""

    why: str
    reader: str
    figure: str
    body: tuple[Node, ...]
    # Kinds of programs that it shows in; all where there are none. Its own program is of the first one.
    kinds: tuple[str, ...] = ()
    # What else there is to say of its program.
    more: tuple[tuple[str, Any], ...] = ()

    def explains(self, mismatch: Mismatch, kind: str) -> bool:
        is_of_kind = not self.kinds or kind in self.kinds
        return (
            is_of_kind
            and re.fullmatch(self.reader, mismatch.reader) is not None
            and re.fullmatch(self.figure, mismatch.figure) is not None
        )

    @property
    def program(self) -> Node:
        kind = self.kinds[0] if self.kinds else "known"
        made: Node = {"seed": 1, "kind": kind, "body": list(self.body), "environment": ENVIRONMENTS.get(kind, {})}
        return made | dict(self.more)


def section(name: str, *body: Node, how: str = "section") -> Node:
    return {"op": "section", "name": name, "how": how, "body": list(body)}


def sleep(ms: float) -> Node:
    return {"op": "sleep", "ms": ms}


def steps(count: int, ms: float) -> Node:
    """A loop of denoising steps of two passes each."""
    each = [{"passes": [{"step": step, "block_size": 1}] * 2, "body": [sleep(ms)]} for step in range(count)]
    return {"op": "loop", "number": 1, "steps": each, "is_timed": True}


def session(name: str, *body: Node) -> Node:
    return {"op": "session", "name": name, "tags": {}, "body": list(body)}


KNOWN: tuple[Known, ...] = ()


def unknown(found: list[Mismatch], kind: str) -> list[Mismatch]:
    """What no known defect explains."""
    return [one for one in found if not any(known.explains(one, kind) for known in KNOWN)]
