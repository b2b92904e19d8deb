"""What idle time of devices is due to, by brute force from a trace: nanoseconds after the first event that lasts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

# Categories of calls of a device's runtime, and of work of devices.
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "mtia_runtime", "Runtime"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
COPIES = ("cudaMemcpy", "hipMemcpy", "cuMemcpy")


class Events:
    """Events that last: calls and work."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        lasting = [event for event in events if event.get("ph") == "X"]
        self._origin = min((Decimal(event["ts"]) for event in lasting), default=Decimal(0))
        self.calls = [event for event in lasting if event.get("cat") in CALLS]
        self.work = [event for event in lasting if event.get("cat") in WORK]
        self._launches: dict[Any, list[int]] = defaultdict(list)
        for call in self.calls:
            self._launches[_argument(call, "correlation")].append(self.start_ns(call))

    def start_ns(self, event: dict[str, Any]) -> int:
        return int((Decimal(event["ts"]) - self._origin) * 1000)

    def end_ns(self, event: dict[str, Any]) -> int:
        return self.start_ns(event) + max(0, int(Decimal(event["dur"]) * 1000))

    def by_cause(self) -> dict[str, dict[str, int]]:
        """By device: time until the launch of what came next, after it, and where no launch before that is known."""
        devices: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for work in self.work:
            devices[str(work["pid"])].append(work)
        return {device: dict(self._of_device(work)) for device, work in devices.items()}

    def _of_device(self, all_work: list[dict[str, Any]]) -> Counter[str]:
        sums: Counter[str] = Counter()
        until_ns = None
        for work in sorted(all_work, key=lambda work: (self.start_ns(work), _stream(work), self.end_ns(work))):
            start_ns = self.start_ns(work)
            if until_ns is not None and start_ns > until_ns:
                launched_ns = self._launched_ns(work)
                if launched_ns is None:
                    sums["not_known"] += start_ns - until_ns
                else:
                    split_ns = max(until_ns, launched_ns)
                    sums["launch_late"] += split_ns - until_ns
                    sums["launched_before"] += start_ns - split_ns
            until_ns = max(until_ns or 0, self.end_ns(work))
        return +sums

    def _launched_ns(self, work: dict[str, Any]) -> int | None:
        """The last call with its number that began before it did."""
        correlation = _argument(work, "correlation")
        known = self._launches[correlation] if correlation is not None else []
        assert not known or min(known) <= self.start_ns(work), "clocks differ, which is not looked at here"
        return max((at for at in known if at <= self.start_ns(work)), default=None)

    def waited_ns(self, start_ns: int, end_ns: int) -> int | None:
        """Time of the host in calls that wait, between two moments, each thread by itself; None without calls."""
        threads: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        for call in self._waiting():
            threads[call["pid"], call["tid"]].append((self.start_ns(call), self.end_ns(call)))
        waited = 0
        for times in threads.values():
            at_ns = start_ns
            for from_ns, until_ns in sorted(times):
                from_ns, until_ns = max(from_ns, at_ns), min(until_ns, end_ns)
                waited += max(0, until_ns - from_ns)
                at_ns = max(at_ns, until_ns)
        return waited if self.calls else None

    def _waiting(self) -> Iterator[dict[str, Any]]:
        to_host = {_argument(w, "correlation"): self.end_ns(w) for w in self.work if "DtoH" in w["name"]}
        for call in self.calls:
            name = call["name"]
            if "Synchronize" in name:
                yield call
            elif name.startswith(COPIES):
                at_once = "Async" not in name and "DtoD" not in name
                copied_ns = to_host.get(_argument(call, "correlation"))
                if at_once or (copied_ns is not None and copied_ns <= self.end_ns(call)):
                    yield call


def _argument(event: dict[str, Any], name: str) -> Any:
    return (event.get("args") or {}).get(name)


def _stream(work: dict[str, Any]) -> tuple[bool, Any]:
    stream = _argument(work, "stream")
    return isinstance(stream, str), stream if stream is not None else -1
