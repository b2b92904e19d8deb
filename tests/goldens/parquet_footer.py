"""What the footer of a Parquet file says, read without a library: rows, columns, and the statistics of each column."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tracks import varint

INT64, DOUBLE = 2, 5
LITTLE_ENDIAN = {INT64: "<q", DOUBLE: "<d"}


def read(path: Path) -> dict[str, Any]:
    """The number of rows; of each column how many are null, and the lowest and the highest number."""
    data = path.read_bytes()
    assert data[-4:] == b"PAR1"
    (length,) = struct.unpack("<I", data[-8:-4])
    footer, _ = _struct(data[-8 - length : -8], 0)
    columns: dict[str, dict[str, Any]] = {}
    for group in footer.get(4, []):
        for chunk in group[1]:
            about = chunk[3]
            row = columns.setdefault(about[3][-1].decode(), {"n_values": 0, "n_null": 0})
            statistics = about.get(12, {})
            row["n_values"] += about[5]
            row["n_null"] += statistics.get(3, 0)
            if about[1] in LITTLE_ENDIAN and 5 in statistics:
                high, low = (struct.unpack(LITTLE_ENDIAN[about[1]], statistics[key])[0] for key in (5, 6))
                row |= {"max": max(high, row.get("max", high)), "min": min(low, row.get("min", low))}
    return {"n_rows": footer[3], "columns": columns}


def _struct(data: bytes, at: int) -> tuple[dict[int, Any], int]:
    """Fields of a struct in Thrift's compact protocol by their numbers, and where it ends."""
    fields: dict[int, Any] = {}
    number = 0
    while (head := data[at]) != 0:
        at += 1
        if head >> 4:
            number += head >> 4
        else:
            number, at = _signed(data, at)
        fields[number], at = _value(data, at, head & 15)
    return fields, at + 1


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:
            return kind == 1, at
        case 3:
            return data[at], at + 1
        case 4 | 5 | 6:
            return _signed(data, at)
        case 7:
            return struct.unpack("<d", data[at : at + 8])[0], at + 8
        case 8:
            length, at = varint(data, at)
            return data[at : at + length], at + length
        case 9 | 10:
            size, inner, at = data[at] >> 4, data[at] & 15, at + 1
            if size == 15:
                size, at = varint(data, at)
            found = []
            for _ in range(size):
                if inner in (1, 2):  # In a list a flag has a byte of its own.
                    value, at = data[at] == 1, at + 1
                else:
                    value, at = _value(data, at, inner)
                found.append(value)
            return found, at
        case 12:
            return _struct(data, at)
        case other:
            raise AssertionError(other)


def _signed(data: bytes, at: int) -> tuple[int, int]:
    value, at = varint(data, at)
    return value >> 1 ^ -(value & 1), at
