"""One rank of a job: ``recorded_rank.py FOLDER JOB``, with ``STEPS`` denoising steps in each of two blocks."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

import marey


def main() -> None:
    steps = int(os.environ["STEPS"])
    folder = Path(marey.start(sys.argv[1], job_id=sys.argv[2]))
    caches = marey.CacheEventRecorder()
    memory = marey.MemoryTracker()
    with marey.session("take 'one'", {"seed": 7}):
        for block in range(2):
            with marey.profile_section("block_computation", block=block):
                for step in range(steps):
                    with marey.profile_section("denoising_step", step=step), marey.profile_section("attention"):
                        pass
                    if step:
                        # Step 0 asks no cache, the even ones after it are answered.
                        (caches.record_hit if step % 2 == 0 else caches.record_miss)("teacache", step=step)
        memory.snapshot("after blocks")
    with contextlib.suppress(ValueError), marey.profile_section("decode / <b>"):
        raise ValueError
    memory.snapshot("end")
    marey.event("saved", path="clip.mp4")
    marey.counter("queue", 3)
    marey.stop()
    memory.export_json(folder / f"memory-{os.environ.get('RANK', 'none')}.json")


main()
