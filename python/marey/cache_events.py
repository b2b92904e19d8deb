"""What caches did while frames were generated."""

from __future__ import annotations

from marey import _core
from marey.recording import as_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class CacheEvent:
    """One decision of a cache, as it was given."""

    __slots__ = ("cache_type", "chunk_id", "kind", "meta", "step_index")

    def __init__(
        self, cache_type: str, kind: str, step_index: int | None, chunk_id: int | None, meta: dict[str, Any]
    ) -> None:
        """Hold what was given."""
        self.cache_type = cache_type
        self.kind = kind
        self.step_index = step_index
        self.chunk_id = chunk_id
        self.meta = meta

    def __repr__(self) -> str:
        """As it would be written in a program."""
        fields = (self.cache_type, self.kind, self.step_index, self.chunk_id, self.meta)
        return f"CacheEvent({', '.join(map(repr, fields))})"


class CacheEventRecorder:
    """Records lookups of caches and what came of them: hits, misses, evictions.

    Chunks and steps give events their place; both are optional. A hit rate is hits over hits and misses. Keeps the
    first 100 000 events; later ones are in the capture only. An event costs about 2 us.
    """

    def __init__(self) -> None:
        """Make an empty recorder."""
        self._begin()

    def _begin(self) -> None:
        self._log = _core.CacheLog()
        self._events: list[CacheEvent] = []
        self._chunk: int | None = None
        self._n_chunks = 0
        self._chunk_begin = 0
        self._step: int | None = None

    def reset(self) -> None:
        """Forget all events and begin with chunk 0 again. The capture keeps them."""
        self._begin()

    def start_chunk(self, *, start_frame: int = 0, steps: int | None = None, label: str | None = None) -> None:
        """Begin a chunk of frames.

        Args:
            start_frame: First frame of the chunk.
            steps: Denoising steps that it will take.
            label: A name for it.
        """
        self._chunk = self._n_chunks
        self._n_chunks += 1
        self._chunk_begin = len(self._events)
        self._step = None
        _core.event("cache_chunk_start", chunk=self._chunk, start_frame=start_frame, steps=steps, label=label)

    def mark_step(self, step_index: int) -> None:
        """Say which denoising step runs."""
        self._step = step_index

    def record_event(
        self,
        cache_type: str,
        meta: dict[str, Any] | None = None,
        *,
        kind: str = "hit",
        score: float | None = None,
        threshold: float | None = None,
        held_bytes: int | None = None,
        step: int | None = None,
        block: int | None = None,
    ) -> None:
        """Record one decision.

        Args:
            cache_type: Which cache.
            meta: Anything else worth keeping.
            kind: ``hit``, ``miss``, ``eviction`` or ``lookup``. A hit or miss is a lookup by itself; record
                lookups only where what came of them is recorded apart, or not known.
            score: What was compared.
            threshold: What it was compared with.
            held_bytes: What the cache held afterwards.
            step: Default the step of ``mark_step``.
            block: Default the running chunk.

        Raises:
            ValueError: ``kind`` is none of the four.
        """
        step = self._step if step is None else step
        block = self._chunk if block is None else block
        details = as_dict(meta, "meta")
        is_kept = self._log.add(
            cache_type,
            kind,
            step=step,
            block=block,
            score=score,
            threshold=threshold,
            held_bytes=held_bytes,
            meta=details,
        )
        if is_kept:
            self._events.append(CacheEvent(cache_type, kind, step, block, details))

    def record_hit(self, cache_type: str, **details: Any) -> None:  # noqa: ANN401
        """As ``record_event(..., kind="hit")``."""
        self.record_event(cache_type, kind="hit", **details)

    def record_miss(self, cache_type: str, **details: Any) -> None:  # noqa: ANN401
        """As ``record_event(..., kind="miss")``."""
        self.record_event(cache_type, kind="miss", **details)

    def record_eviction(self, cache_type: str, **details: Any) -> None:  # noqa: ANN401
        """As ``record_event(..., kind="eviction")``."""
        self.record_event(cache_type, kind="eviction", **details)

    def finalize_chunk(self, *, end_frame: int | None = None) -> None:
        """End the running chunk."""
        if self._chunk is not None:
            _core.event("cache_chunk_end", chunk=self._chunk, end_frame=end_frame)
        self._chunk = None
        self._step = None

    def cancel_chunk(self) -> None:
        """Drop the running chunk and its events from this recorder, if one runs. The capture keeps them."""
        if self._chunk is None:
            return
        del self._events[self._chunk_begin :]
        self._log.truncate(self._chunk_begin)
        self._chunk = None
        self._step = None

    def has_events(self) -> bool:
        """Whether anything was recorded."""
        return bool(self._events)

    def events(self) -> list[CacheEvent]:
        """All events in order."""
        return list(self._events)

    def to_markdown(self) -> str:
        """The timeline as a Markdown table, with hits and misses."""
        return self._log.markdown()
