"""What is on each track of a trace for a viewer: slices and their time, readings and their sum, texts."""

from __future__ import annotations

import gzip
import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Message = dict[int, list[Any]]
"""Fields of a protobuf message by their numbers: integers, and bytes of what has a length."""

# Perfetto's numbers of the fields that are read here.
PACKET = 1
TIMESTAMP, SEQUENCE, TRACK_EVENT, INTERNED, DESCRIPTOR = 8, 10, 11, 12, 60
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def of_perfetto(path: Path) -> dict[str, Any]:
    """The tracks of a trace in Perfetto's own format."""
    titles: dict[int, str] = {}
    names: dict[tuple[int, int], str] = {}
    tracks: defaultdict[int, Track] = defaultdict(Track)
    n_packets = 0
    for packet in map(message, message(gzip.decompress(path.read_bytes()))[PACKET]):
        n_packets += 1
        sequence, at = packet.get(SEQUENCE, [0])[0], packet.get(TIMESTAMP, [0])[0]
        for interned in map(message, packet.get(INTERNED, [])):
            for name in map(message, interned.get(2, [])):
                names[sequence, name[1][0]] = name[2][0].decode()
        for descriptor in map(message, packet.get(DESCRIPTOR, [])):
            titles[descriptor[1][0]] = _title(descriptor, titles)
        for event in map(message, packet.get(TRACK_EVENT, [])):
            name = names[sequence, event[10][0]] if 10 in event else event[23][0].decode() if 23 in event else None
            value = struct.unpack("<d", event[44][0])[0] if 44 in event else event.get(30, [None])[0]
            tracks[event.get(11, [0])[0]].add(event[9][0], at, name, value)
    found = [{"title": titles.get(track, "")} | of.told() for track, of in tracks.items()]
    return {"n_packets": n_packets, "n_descriptors": len(titles), "tracks": found}


def of_chrome(path: Path) -> dict[str, Any]:
    """The tracks of a trace in the way of torch.profiler."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    titles: dict[tuple[Any, Any], str] = {}
    tracks: defaultdict[tuple[Any, Any], Track] = defaultdict(Track)
    n_by_phase: defaultdict[str, int] = defaultdict(int)
    for event in document["traceEvents"]:
        place = event.get("pid"), event.get("tid")
        n_by_phase[event["ph"]] += 1
        if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
            titles[place if event["name"] == "thread_name" else (place[0], None)] = event["args"]["name"]
        elif event["ph"] == "X":
            begun = round(event["ts"] * 1e3)
            tracks[place].add(BEGIN, begun, event["name"], None)
            tracks[place].add(END, begun + round(event["dur"] * 1e3), None, None)
        elif event["ph"] in "iI":
            tracks[place].add(INSTANT, 0, event["name"], None)
        elif event["ph"] == "C":
            tracks[place].add(COUNTER, 0, event["name"], sum(event["args"].values()))
    found = [
        {"title": f"{titles.get((pid, None), pid)}/{titles.get((pid, tid), tid)}"} | of.told()
        for (pid, tid), of in tracks.items()
    ]
    return {"n_by_phase": n_by_phase, "tracks": found}


class Track:
    """What is on one track."""

    def __init__(self) -> None:
        self.n: defaultdict[int, int] = defaultdict(int)
        self.slices_ns = 0
        self.values: list[float] = []
        self.names: set[str] = set()

    def add(self, kind: int, at: int, name: str | None, value: float | None) -> None:
        """An event: a slice's time is the sum of its ends, less that of its beginnings."""
        self.n[kind] += 1
        self.slices_ns += {BEGIN: -at, END: at}.get(kind, 0)
        self.values += [] if value is None else [value]
        self.names |= set() if name is None else {name}

    def told(self) -> dict[str, Any]:
        """Its figures."""
        texts = {"n_texts": len(self.names), "n_bytes_of_texts": sum(len(name.encode()) for name in self.names)}
        slices = {"n_slices": self.n[BEGIN], "n_open": self.n[BEGIN] - self.n[END], "slices_ns": self.slices_ns}
        return (
            slices
            | {"n_instants": self.n[INSTANT], "n_readings": self.n[COUNTER], "readings_sum": sum(self.values)}
            | texts
        )


def _title(descriptor: Message, titles: dict[int, str]) -> str:
    own = descriptor.get(2, [b""])[0]
    for process in map(message, descriptor.get(3, [])):
        own = process.get(6, [b""])[0] or own
    for thread in map(message, descriptor.get(4, [])):
        own = thread.get(5, [b""])[0] or own
    outer = titles.get(descriptor.get(5, [0])[0], "")
    return f"{outer}/{own.decode()}".lstrip("/")


def message(data: bytes) -> Message:
    """The fields of a protobuf message."""
    found: Message = {}
    for number, value in _fields(data):
        found.setdefault(number, []).append(value)
    return found


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        match key & 7:
            case 0:
                value, at = varint(data, at)
                yield key >> 3, value
            case 1:
                yield key >> 3, data[at : at + 8]
                at += 8
            case 2:
                length, at = varint(data, at)
                yield key >> 3, data[at : at + length]
                at += length
            case 5:
                yield key >> 3, data[at : at + 4]
                at += 4
            case other:
                raise AssertionError(other)


def varint(data: bytes, at: int) -> tuple[int, int]:
    """An integer of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
