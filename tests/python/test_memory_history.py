"""Memory history: switched on and off once, never somebody else's, and it never raises. Torch is a stand-in."""

from __future__ import annotations

import pickle
import re
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from marey import memory_history
from marey.memory_history import MemoryHistory, dump_now
from marey.windows.export import MemoryWindow


class Torch(types.ModuleType):
    """What of torch the history touches, with a list of what was asked of it."""

    def __init__(self) -> None:
        super().__init__("torch")
        self.asked: list[tuple[object, ...]] = []
        self.is_on = False
        self.has_cuda = True
        self.is_initialized = True
        self.observers: list[object] = []
        self.broken: set[str] = set()
        self.cuda = types.SimpleNamespace(
            is_available=lambda: self.has_cuda,
            is_initialized=lambda: self.is_initialized,
            memory=types.SimpleNamespace(_record_memory_history=self.record, _dump_snapshot=self.write),
        )
        self._C = types.SimpleNamespace(
            _cuda_isHistoryEnabled=self.ask,
            _cuda_attach_out_of_memory_observer=self.observers.append,
        )

    def ask(self) -> bool:
        # torch's own function ends the process here, by SIGSEGV.
        assert self.is_initialized
        return self.is_on

    def record(self, enabled: str | None, **limits: object) -> None:
        if "record" in self.broken:
            raise RuntimeError("no history\nwith a long story")
        self.is_initialized = True
        self.asked.append((enabled, limits.get("max_entries"), limits.get("stacks")))
        self.is_on = enabled is not None

    def write(self, path: str) -> None:
        Path(path).write_bytes(b"half")
        if "write" in self.broken:
            raise OSError("disk full")
        Path(path).write_bytes(pickle.dumps({"segments": [], "device_traces": []}))

    def run_out(self) -> None:
        """Memory runs out; what an observer raises would reach the program."""
        for observer in self.observers:
            observer(0, 1, 2, 3)  # type: ignore[operator]


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    """A torch with CUDA, and a process that has switched nothing on."""
    torch = Torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(memory_history, "_state", memory_history._State())
    monkeypatch.setattr(memory_history, "MIN_FREE_BYTES", 0)
    return torch


def test_it_is_on_from_start_to_stop_with_its_limits(torch: Torch) -> None:
    history = MemoryHistory(max_entries=500)
    assert history.start()
    assert history.why_not is None
    history.stop()
    history.stop()
    assert torch.asked == [("all", 500, "python"), (None, None, None)]


def test_torch_is_not_asked_before_cuda_is_initialised(torch: Torch) -> None:
    torch.is_initialized = False
    history = MemoryHistory(max_entries=500)
    assert history.start()
    assert not history.is_of_user
    history.stop()
    assert torch.asked == [("all", 500, "python"), (None, None, None)]


def test_a_history_that_the_program_begins_meanwhile_is_not_switched_off(torch: Torch) -> None:
    before = torch.cuda.memory._record_memory_history
    history = MemoryHistory(max_entries=500)
    assert history.start()
    torch.cuda.memory._record_memory_history("all", max_entries=7)
    assert history.is_of_user
    history.stop()
    assert torch.is_on
    assert torch.asked == [("all", 500, "python"), ("all", 7, None)]
    assert torch.cuda.memory._record_memory_history == before
    again = MemoryHistory()
    assert again.start()
    assert again.is_of_user
    again.stop()
    assert torch.is_on


def test_of_two_the_last_one_switches_it_off(torch: Torch) -> None:
    first, second = MemoryHistory(), MemoryHistory()
    assert first.start()
    assert second.start()
    first.stop()
    assert torch.is_on
    second.stop()
    assert [asked[0] for asked in torch.asked] == ["all", None]


def test_a_history_of_the_user_is_left_as_it_is(torch: Torch, tmp_path: Path) -> None:
    torch.record("all", max_entries=7)
    history = MemoryHistory()
    assert history.start()
    assert history.is_of_user
    assert history.dump(tmp_path / "a.pickle") == tmp_path / "a.pickle"
    history.stop()
    assert torch.asked == [("all", 7, None)]


def test_without_torch_or_a_device_it_says_why_not(torch: Torch, monkeypatch: pytest.MonkeyPatch) -> None:
    torch.has_cuda = False
    history = MemoryHistory()
    assert not history.start()
    assert history.why_not == "torch sees no CUDA device"
    monkeypatch.delitem(sys.modules, "torch")
    assert not history.start()
    assert history.why_not == "torch is not imported"
    history.stop()
    assert torch.asked == []


def test_what_torch_refuses_is_said_in_a_line(torch: Torch) -> None:
    torch.broken.add("record")
    history = MemoryHistory()
    assert not history.start()
    assert history.why_not == "RuntimeError: no history"
    history.stop()


def test_a_file_appears_only_when_it_is_complete(torch: Torch, tmp_path: Path) -> None:
    history = MemoryHistory()
    history.start()
    path = tmp_path / "new" / "a.pickle"
    torch.broken.add("write")
    assert history.dump(path) is None
    assert history.why_not == "OSError: disk full"
    assert list(path.parent.iterdir()) == []
    torch.broken.clear()
    assert history.dump(path) == path
    assert history.why_not is None
    assert [file.name for file in path.parent.iterdir()] == ["a.pickle"]


def test_nothing_is_written_to_a_disk_that_is_nearly_full(
    torch: Torch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_history, "MIN_FREE_BYTES", 1 << 62)
    history = MemoryHistory()
    history.start()
    assert history.dump(tmp_path / "a.pickle") is None
    assert history.why_not is not None
    assert history.why_not.startswith("the disk has only")
    assert list(tmp_path.iterdir()) == []


def test_memory_that_runs_out_writes_a_few_files(torch: Torch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # s        0  1      60     120    180
    # ran out  x  x      x      x      x        the second is too soon, the last one too many
    now = [1000.0]
    monkeypatch.setattr(memory_history.time, "monotonic", lambda: now[0])
    names = iter(f"oom-{n}.pickle" for n in range(9))
    history = MemoryHistory(out_of_memory_path=lambda: tmp_path / next(names))
    history.start()
    for after in (0, 1, 59, 60, 60):
        now[0] += after
        torch.run_out()
    assert [path.name for path in history.out_of_memory_files] == ["oom-0.pickle", "oom-1.pickle", "oom-2.pickle"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["oom-0.pickle", "oom-1.pickle", "oom-2.pickle"]


def test_torch_is_told_of_one_observer_which_rests_while_no_history_is_on(torch: Torch, tmp_path: Path) -> None:
    for _ in range(3):
        history = MemoryHistory(out_of_memory_path=lambda: tmp_path / "oom.pickle")
        history.start()
        history.stop()
    assert len(torch.observers) == 1
    torch.run_out()
    assert list(tmp_path.iterdir()) == []


def test_an_observer_never_raises(torch: Torch, tmp_path: Path) -> None:
    def nowhere() -> Path:
        raise ValueError("no name")

    history = MemoryHistory(out_of_memory_path=nowhere)
    history.start()
    torch.run_out()
    torch.broken.add("write")
    other = MemoryHistory(out_of_memory_path=lambda: tmp_path / "oom.pickle")
    other.start()
    torch.run_out()
    assert other.out_of_memory_files == []
    assert other.why_not == "OSError: disk full"


def test_the_end_of_the_interpreter_switches_it_off(torch: Torch) -> None:
    MemoryHistory().start()
    memory_history._end()
    assert not torch.is_on


def test_a_snapshot_can_be_written_without_a_history(torch: Torch, tmp_path: Path) -> None:
    path = dump_now(tmp_path / "now.pickle")
    assert path is not None
    assert pickle.loads(path.read_bytes()) == {"segments": [], "device_traces": []}
    torch.broken.add("write")
    assert dump_now(tmp_path / "later.pickle") is None


class Noted:
    """What a window's log is told."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.failures: list[tuple[str, str]] = []
        self.remarks: list[str] = []

    def remark(self, text: str) -> None:
        self.remarks.append(text)

    def exported(self, path: str, n_bytes: int, _watch: object) -> None:
        assert Path(path).stat().st_size == n_bytes
        self.files.append(Path(path).name)

    def failed(self, during: str, error: str) -> None:
        self.failures.append((during, error))


@contextmanager
def during(_what: str) -> Iterator[None]:
    yield


def test_a_window_writes_a_snapshot_at_its_end_and_when_memory_runs_out(torch: Torch, tmp_path: Path) -> None:
    window, log = MemoryWindow(tmp_path, "flux", 1), Noted()
    assert window.start(log) is None  # type: ignore[arg-type]
    torch.run_out()
    torch.run_out()
    assert [name for name in log.files if not re.fullmatch(r"flux-rank1-memory-\d+-oom\.pickle", name)] == []
    assert len(log.files) == 1
    window.finish(log, during)  # type: ignore[arg-type]
    assert log.files[1:] == [window.path.name]
    assert re.fullmatch(r"flux-rank1-memory-\d+\.pickle", window.path.name)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(log.files)
    assert not torch.is_on
    assert log.failures == []


def test_a_snapshot_that_cannot_be_written_is_a_failure_of_the_window(torch: Torch, tmp_path: Path) -> None:
    window, log = MemoryWindow(tmp_path, "flux", 0), Noted()
    assert window.start(log) is None  # type: ignore[arg-type]
    torch.broken.add("write")
    window.finish(log, during)  # type: ignore[arg-type]
    assert log.failures == [("export", "OSError: disk full")]
    assert list(tmp_path.iterdir()) == []
    assert not torch.is_on


def test_windows_of_one_second_have_names_of_their_own(
    torch: Torch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("marey.windows.export.time.time", lambda: 1_700_000_000.5)
    windows = [MemoryWindow(tmp_path, "flux", 0) for _ in range(3)]
    for window in windows:
        assert window.start(Noted()) is None  # type: ignore[arg-type]
    for window in windows:
        window.finish(Noted(), during)  # type: ignore[arg-type]
    stem = "flux-rank0-memory-1700000000"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"{stem}-2.pickle",
        f"{stem}-3.pickle",
        f"{stem}.pickle",
    ]
