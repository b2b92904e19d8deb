"""Perfetto's own messages, from its Python package, decode what was written."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

from drawn_traces import Drawn

START = 1_795_000_000_000_000_000
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def decoded(path: Path) -> list[proto.TracePacket]:
    trace = proto.Trace()
    trace.ParseFromString(gzip.decompress(path.read_bytes()))
    return list(trace.packet)


def names(packets: list[proto.TracePacket]) -> dict[tuple[int, int], str]:
    """Interned names of events, by sequence and number; each is written once, before it is needed."""
    found: dict[tuple[int, int], str] = {}
    for packet in packets:
        for name in packet.interned_data.event_names:
            key = (packet.trusted_packet_sequence_id, name.iid)
            assert key not in found
            found[key] = name.name
        event = packet.track_event
        if event.HasField("name_iid"):
            assert (packet.trusted_packet_sequence_id, event.name_iid) in found
    return found


def descriptors(packets: list[proto.TracePacket]) -> list[proto.TrackDescriptor]:
    return [packet.track_descriptor for packet in packets if packet.HasField("track_descriptor")]


def title(track: proto.TrackDescriptor) -> str:
    return track.process.process_name or track.thread.thread_name or track.name


def test_nothing_is_unknown_to_perfettos_messages(drawn: Drawn) -> None:
    for packet in decoded(drawn("perfetto", "known", "t.gz")):
        again = proto.TracePacket()
        again.ParseFromString(packet.SerializeToString())
        again.DiscardUnknownFields()
        assert again.SerializeToString() == packet.SerializeToString()


def test_tracks_lie_below_their_process_in_their_order(drawn: Drawn) -> None:
    tracks = descriptors(decoded(drawn("perfetto", "known", "t.gz")))
    by_uuid = {track.uuid: track for track in tracks}
    assert len(by_uuid) == len(tracks)
    shown = [
        (title(track), title(by_uuid[track.parent_uuid]) if track.parent_uuid else "", track.sibling_order_rank)
        for track in tracks[1:]
    ]
    assert shown == [
        ("generate.py", "", 0),
        ("sessions", "generate.py", 0),
        ("profiler windows", "generate.py", 1),
        ("main", "generate.py", 2),
        ("main: tasks 1", "main", 3),
        ("main: tasks 2", "main", 4),
        ("decoder", "generate.py", 5),
        ("cache teacache", "generate.py", 6),
        ("GPU 0", "generate.py", 7),
        ("GPU 0 stream 7", "GPU 0", 7),
        ("GPU 0 stream 20", "GPU 0", 8),
        ("memory.allocated cuda:0", "generate.py", 9),
        ("memory.reserved cuda:0", "generate.py", 10),
        ("gpu.power GPU-5f", "generate.py", 11),
        ("loss", "generate.py", 12),
    ]
    assert tracks[0].process_ordering == proto.TrackDescriptor.PROCESS_ORDERING_EXPLICIT
    assert tracks[0].thread_ordering == proto.TrackDescriptor.THREAD_ORDERING_EXPLICIT
    assert {track.child_ordering for track in tracks[1:]} == {proto.TrackDescriptor.EXPLICIT}


def test_counters_have_units_and_only_numbers(drawn: Drawn) -> None:
    packets = decoded(drawn("perfetto", "known", "t.gz"))
    tracks = {track.uuid: track for track in descriptors(packets)}
    units = {t.name: (t.counter.unit, t.counter.unit_name) for t in tracks.values() if t.HasField("counter")}
    assert units["memory.allocated cuda:0"] == (proto.CounterDescriptor.UNIT_SIZE_BYTES, "")
    assert units["gpu.power GPU-5f"] == (proto.CounterDescriptor.UNIT_UNSPECIFIED, "W")
    readings = [
        (tracks[p.track_event.track_uuid].name, p.timestamp - START, p.track_event.double_counter_value)
        for p in packets
        if p.track_event.type == COUNTER
    ]
    assert [reading for reading in readings if reading[0] == "loss"] == [
        ("loss", 110_000, 1.5),
        ("loss", 210_000, 0.5),
    ]


def test_arrows_lead_from_each_section_to_its_work(drawn: Drawn) -> None:
    packets = decoded(drawn("perfetto", "job", "t.gz"))
    begun = {i: p.timestamp for p in packets for i in p.track_event.flow_ids}
    ended = {i: p.timestamp for p in packets for i in p.track_event.terminating_flow_ids}
    assert begun.keys() == ended.keys()
    waits = [ended[flow] - at for flow, at in begun.items()]
    assert waits == [20_000, 30_000, 5_000] * 2


@pytest.mark.parametrize("run", ["known", "job", "video", "hostile", "extremes"])
def test_every_track_opens_and_closes_its_slices_in_turn(drawn: Drawn, run: str) -> None:
    packets = decoded(drawn("perfetto", run, "t.gz"))
    names(packets)
    open_slices: Counter[int] = Counter()
    last: dict[int, int] = {}
    for packet in packets:
        event = packet.track_event
        if event.type not in (BEGIN, END):
            continue
        assert packet.timestamp >= last.get(event.track_uuid, 0)
        last[event.track_uuid] = packet.timestamp
        open_slices[event.track_uuid] += 1 if event.type == BEGIN else -1
        assert open_slices[event.track_uuid] >= 0
    assert set(open_slices.values()) == {0}


def test_hostile_names_come_back_as_they_were(drawn: Drawn) -> None:
    found = set(names(decoded(drawn("perfetto", "extremes", "t.gz"))).values())
    for name in ["", "</script><script>", "\x1b[31m", "a\0b", "\u2028\u202e", "ProfilerStep#x", "x" * (1 << 20)]:
        assert name in found


def test_a_file_is_one_member_of_gzip(drawn: Drawn) -> None:
    import zlib

    decompressor = zlib.decompressobj(wbits=31)
    decompressor.decompress(drawn("perfetto", "video", "t.gz").read_bytes())
    assert decompressor.eof
    assert decompressor.unused_data == b""
