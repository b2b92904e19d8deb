"""A plain replay of a memory snapshot: events one by one, with what is there in dictionaries; slow and complete.

State ``n`` is the one after ``n`` events; the last one is that of the snapshot.
"""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Node = dict[str, Any]
# Innermost first: function, file and line.
Stack = tuple[tuple[str, str, int], ...]

GRANULE = 512
IN_USE = ("active_allocated", "active_awaiting_free")


class Values(pickle.Unpickler):
    """Reads nothing but values."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"{module}.{name} is no value")


def read(path: Path) -> Node:
    """What a snapshot's pickle holds."""
    return Values(io.BytesIO(path.read_bytes())).load()


@dataclass(frozen=True)
class Allocation:
    """A part of memory that the program asked for."""

    bytes: int
    stack: Stack
    is_before: bool = False


@dataclass
class State:
    """What there is after some events, by address."""

    allocated: dict[int, Allocation] = field(default_factory=dict)
    awaiting_free: dict[int, Allocation] = field(default_factory=dict)
    segments: dict[int, int] = field(default_factory=dict)

    def sums(self) -> tuple[int, int, int]:
        """Bytes that are allocated, that wait to be free, and that the allocator holds."""
        in_use = (sum(one.bytes for one in group.values()) for group in (self.allocated, self.awaiting_free))
        return (*in_use, sum(self.segments.values()))

    def largest_free(self) -> int:
        """The longest piece of a segment that nothing lies in."""
        used = sorted((address, one.bytes) for address, one in (self.allocated | self.awaiting_free).items())
        largest = 0
        for start, length in self.segments.items():
            within = [(address, size) for address, size in used if start <= address < start + length]
            edges = [start, *(edge for address, size in within for edge in (address, address + size)), start + length]
            largest = max(largest, *(b - a for a, b in zip(edges[::2], edges[1::2], strict=True)))
        return largest

    def by_stack(self) -> list[Node]:
        """What is allocated, by stack; that from before the recording apart."""
        groups: dict[tuple[Stack, bool], list[int]] = defaultdict(list)
        for one in self.allocated.values():
            groups[one.stack, one.is_before].append(one.bytes)
        rows = [
            {"bytes": sum(sizes), "count": len(sizes), "largest_bytes": max(sizes), "is_before": before, "stack": stack}
            for (stack, before), sizes in groups.items()
        ]
        return sorted(rows, key=lambda row: -row["bytes"])


class Replay:
    """One device's allocator over time."""

    def __init__(self, snapshot: Node, device: int = 0) -> None:
        self.segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
        self.blocks = {block["address"]: block for block in _blocks(self.segments) if block["state"] in IN_USE}
        traces = snapshot["device_traces"]
        self.events: list[Node] = traces[device] if device < len(traces) else []
        self._last_alloc = {event["addr"]: at for at, event in enumerate(self.events) if event["action"] == "alloc"}
        self.start = self._before()
        sums = [state.sums() for state in self.states()]
        self.allocated, self.awaiting_free, self.reserved = ([*of] for of in zip(*sums, strict=True))

    def _before(self) -> State:
        """What must have been there when the history begins: what is freed without having been allocated, or stays."""
        state, seen = State(), set()
        reserved = {segment["address"]: segment["total_size"] for segment in self.segments}
        for event in reversed(self.events):
            if event["action"] == "segment_alloc":
                del reserved[event["addr"]]
            elif event["action"] == "segment_free":
                reserved[event["addr"]] = event["size"]
        state.segments = reserved
        for event in self.events:
            action, address = event["action"], event.get("addr")
            if action in ("alloc", "free_requested", "free_completed") and address not in seen:
                seen.add(address)
                before = Allocation(_rounded(event["size"]), (), is_before=True)
                if action != "alloc":
                    (state.allocated if action == "free_requested" else state.awaiting_free)[address] = before
        for address, block in self.blocks.items():
            if address not in seen:
                group = state.allocated if block["state"] == "active_allocated" else state.awaiting_free
                group[address] = Allocation(block["size"], _stack(block), is_before=True)
        return state

    def states(self) -> Iterator[State]:
        """Each state in turn, in one object that changes."""
        state = State(dict(self.start.allocated), dict(self.start.awaiting_free), dict(self.start.segments))
        yield state
        for at, event in enumerate(self.events):
            self._apply(state, at, event)
            yield state

    def state(self, number: int) -> State:
        """One of the states."""
        return next(state for at, state in enumerate(self.states()) if at == number)

    def _apply(self, state: State, at: int, event: Node) -> None:
        action = event["action"]
        if action in ("oom", "snapshot"):
            return
        address = event["addr"]
        if action == "alloc":
            stays = self._last_alloc[address] == at and address in self.blocks
            size = self.blocks[address]["size"] if stays else _rounded(event["size"])
            state.allocated[address] = Allocation(size, _stack(event))
        elif action == "free_requested":
            state.awaiting_free[address] = state.allocated.pop(address)
        elif action == "free_completed":
            del state.awaiting_free[address]
        elif action == "segment_alloc":
            state.segments[address] = event["size"]
        elif action == "segment_free":
            del state.segments[address]
        else:
            raise AssertionError(f"{action} is nothing that this replay knows")

    def at_ns(self, number: int) -> int:
        """When a state began, after the first event."""
        return (self.events[max(number - 1, 0)]["time_us"] - self.events[0]["time_us"]) * 1000

    def level(self, number: int) -> Node:
        """The sums of a state."""
        state = self.state(number)
        allocated, awaiting_free, reserved = state.sums()
        return {
            "at_ns": self.at_ns(number),
            "event": number,
            "allocated_bytes": allocated,
            "reserved_bytes": reserved,
            "awaiting_free_bytes": awaiting_free,
            "free_bytes": reserved - allocated - awaiting_free,
            "largest_free_bytes": state.largest_free(),
            "other_pools_free_bytes": self.free_of_other_pools(state),
            "n_ranges": len(state.segments),
        }

    def free_of_other_pools(self, state: State) -> int:
        """What is free in segments that are of another pool at the end."""
        others = [one["address"] for one in self.segments if tuple(one.get("segment_pool_id", (0, 0))) != (0, 0)]
        free = 0
        for start in set(others) & state.segments.keys():
            end = start + state.segments[start]
            used = (one.bytes for at, one in (state.allocated | state.awaiting_free).items() if start <= at < end)
            free += end - start - sum(used)
        return free

    def out_of_memory(self) -> list[Node]:
        """Requests that were not met: where, what was asked for, and what the device had left."""
        failed = [(at, event) for at, event in enumerate(self.events) if event["action"] == "oom"]
        return [
            {
                "at_ns": self.at_ns(at + 1),
                "asked_bytes": event["size"],
                "device_free_bytes": event["device_free"],
                "level": self.level(at + 1),
                "stack": _stack(event),
            }
            for at, event in failed
        ]

    def pools(self) -> dict[tuple[Any, ...], Node]:
        """What the allocator holds at the end by kind of segment, pool and stream."""
        groups: dict[tuple[Any, ...], list[Node]] = defaultdict(list)
        for segment in self.segments:
            key = (segment["segment_type"], *segment["segment_pool_id"], segment["stream"])
            groups[key].append(segment)
        return {key: _pool(segments) for key, segments in groups.items()}


def _pool(segments: list[Node]) -> Node:
    sizes: dict[str, list[int]] = defaultdict(list)
    rounding = 0
    for block in _blocks(segments):
        sizes[block["state"]].append(block["size"])
        if block["state"] == "active_allocated":
            rounding += block["size"] - block["requested_size"]
    return {
        "n_segments": len(segments),
        "reserved_bytes": sum(segment["total_size"] for segment in segments),
        "allocated_bytes": sum(sizes["active_allocated"]),
        "rounding_bytes": rounding,
        "awaiting_free_bytes": sum(sizes["active_awaiting_free"]),
        "free_bytes": sum(sizes["inactive"]),
        "n_free": len(sizes["inactive"]),
        "largest_free_bytes": max(sizes["inactive"], default=0),
    }


def _blocks(segments: Iterable[Node]) -> Iterator[Node]:
    return (block for segment in segments for block in segment["blocks"])


def _rounded(size: int) -> int:
    return max(1, -(-size // GRANULE)) * GRANULE


def _stack(of: Node) -> Stack:
    return tuple((frame["name"], frame["filename"], frame["line"]) for frame in of["frames"])
