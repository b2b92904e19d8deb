"""Tables of a recording, read without a library: what ``marey.load`` hands over by Arrow's C stream interface."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


class _Schema(ctypes.Structure):
    """``struct ArrowSchema``."""


class _Array(ctypes.Structure):
    """``struct ArrowArray``."""


class _Stream(ctypes.Structure):
    """``struct ArrowArrayStream``."""


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.c_void_p),
    ("release", ctypes.c_void_p),
    ("private_data", ctypes.c_void_p),
]


def rows(table: Any) -> list[Row]:
    """All rows of an object with ``__arrow_c_stream__``; null is None."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    assert stream.contents.get_schema(stream, ctypes.byref(schema)) == 0
    columns = [schema.children[at].contents for at in range(schema.n_children)]
    found: list[Row] = []
    while True:
        batch = _Array()
        assert stream.contents.get_next(stream, ctypes.byref(batch)) == 0
        if not batch.release:
            return found
        values = [list(_values(batch.children[at].contents, c.format)) for at, c in enumerate(columns)]
        names = [c.name.decode() for c in columns]
        found += [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _values(array: _Array, kind: bytes) -> Iterator[Any]:
    valid = array.buffers[0]
    for place in range(array.offset, array.offset + array.length):
        if valid and not _bit(valid, place):
            yield None
        elif kind == b"u":
            ends = ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int32))
            yield ctypes.string_at(array.buffers[2] + ends[place], ends[place + 1] - ends[place]).decode()
        elif kind == b"l":
            yield ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_int64))[place]
        elif kind == b"g":
            yield ctypes.cast(array.buffers[1], ctypes.POINTER(ctypes.c_double))[place]
        elif kind == b"b":
            yield _bit(array.buffers[1], place)
        else:
            raise AssertionError(kind)


def _bit(buffer: int, place: int) -> bool:
    return bool(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_uint8))[place // 8] >> (place % 8) & 1)
