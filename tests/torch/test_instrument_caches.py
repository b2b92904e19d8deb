"""What step caches decide is what is recorded, with the numbers that they compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import diffusers
import numpy as np
import pytest
from diffusers.hooks.first_block_cache import FBCHeadBlockHook
from recorded_pipeline import generate, quiet, recorded

import marey.diffusers

STEPS = 8


def with_cache(kind: str, config: Any) -> Any:
    tiny = quiet(kind)
    tiny.pipe.transformer.enable_cache(config)
    return tiny


@pytest.mark.parametrize("threshold", [0.0, 0.3, 1e9])
@pytest.mark.parametrize("kind", ["flux", "wan"])
def test_first_block_cache_hits_as_diffusers_decides(
    kind: str, threshold: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Diffusers' own decisions are noted by wrapping its method in the class, with the same frames in the end."""
    decisions: list[bool] = []
    decide = FBCHeadBlockHook._should_compute_remaining_blocks

    def noted(self: Any, residual: Any) -> bool:
        decisions.append(not decide(self, residual))
        return not decisions[-1]

    expected = generate(with_cache(kind, diffusers.FirstBlockCacheConfig(threshold=threshold)), STEPS)
    monkeypatch.setattr(FBCHeadBlockHook, "_should_compute_remaining_blocks", noted)
    tiny, got = with_cache(kind, diffusers.FirstBlockCacheConfig(threshold=threshold)), []
    marey.diffusers.instrument(tiny.pipe)
    found = recorded(tmp_path, lambda: got.append(generate(tiny, STEPS)))
    assert np.array_equal(got[0], expected)
    assert len(decisions) == STEPS * tiny.forwards_per_step
    cache = found.report["cache_analysis"]["caches"]["first_block_cache"]
    assert (cache["hits"], cache["misses"]) == (sum(decisions), len(decisions) - sum(decisions))
    if threshold == 0.0:
        assert cache["hits"] == 0
    if threshold == 1e9:
        assert cache["misses"] == tiny.forwards_per_step  # of the first step, which has nothing to compare with


def test_scores_are_those_that_were_compared(tmp_path: Path) -> None:
    """A score at or below the threshold is a hit, one above is none; the first step of each pass has none."""
    tiny = with_cache("wan", diffusers.FirstBlockCacheConfig(threshold=0.3))
    instrumented = marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, STEPS))
    assert [event["step"] for event in events] == [step for step in range(STEPS) for _ in "cu"]
    assert [event["meta"]["context"] for event in events] == ["cond", "uncond"] * STEPS
    assert [event["score"] for event in events[:2]] == [None, None]
    for event in events[2:]:
        assert event["threshold"] == 0.3
        assert (event["score"] <= 0.3) == (event["outcome"] == "hit")
    instrumented.undo()
    head = tiny.pipe.transformer.blocks[0]._diffusers_hook.hooks["fbc_leader_block_hook"]
    assert type(head.threshold) is float
    assert "_should_compute_remaining_blocks" not in vars(head)


def capture_events(work: Any) -> list[dict[str, Any]]:
    """Every decision that reaches the recorder while something is done."""
    from marey.pipelines import caches

    class Log:
        def __init__(self) -> None:
            self.events: list[dict[str, Any]] = []

        def add(self, cache: str, outcome: str, **details: Any) -> bool:
            self.events.append({"cache": cache, "outcome": outcome, **details})
            return True

    log, before = Log(), caches._log
    caches._log = log
    try:
        work()
    finally:
        caches._log = before
    return log.events


def test_mag_cache_skips_as_many_steps_as_its_ratios_say() -> None:
    """Ratios of 1 are no error: of 8 steps the first 2 are retained (a quarter), then 3 may be skipped in a row.

    step      0     1     2    3    4    5     6    7
              miss  miss  hit  hit  hit  miss  hit  hit
    """
    config = diffusers.MagCacheConfig(
        threshold=0.5, max_skip_steps=3, retention_ratio=0.25, num_inference_steps=STEPS, mag_ratios=[1.0] * STEPS
    )
    tiny = with_cache("flux", config)
    marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, STEPS))
    assert [event["outcome"][0] for event in events] == list("mmhhhmhh")
    assert {event["score"] for event in events} == {None, 0.0}
    assert {event["cache"] for event in events} == {"mag_cache"}
    assert {event["threshold"] for event in events} == {0.5}


def test_taylorseer_computes_every_third_step() -> None:
    """Computed: before step 2, and where (step - 2 - 1) is a multiple of 3; decided by each hooked module alike."""
    config = diffusers.TaylorSeerCacheConfig(cache_interval=3, disable_cache_before_step=2, max_order=1)
    tiny = with_cache("flux", config)
    marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, STEPS))
    by_step = {step: {event["outcome"] for event in events if event["step"] == step} for step in range(STEPS)}
    hit, miss = {"hit"}, {"miss"}
    assert by_step == {0: miss, 1: miss, 2: hit, 3: miss, 4: hit, 5: hit, 6: miss, 7: hit}
    assert {event["score"] for event in events} == {None}


def test_pyramid_attention_broadcast_skips_every_other_attention() -> None:
    """A range of 2 within all timesteps: computed in even steps, in each of 3 blocks."""
    tiny = quiet("flux")
    config = diffusers.PyramidAttentionBroadcastConfig(
        spatial_attention_block_skip_range=2,
        spatial_attention_timestep_skip_range=(-1, 1001),
        spatial_attention_block_identifiers=("transformer_blocks",),
        current_timestep_callback=lambda: 500,
    )
    tiny.pipe.transformer.enable_cache(config)
    marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, 4))
    assert [event["outcome"] for event in events] == (["miss"] * 3 + ["hit"] * 3) * 2
    assert {event["cache"] for event in events} == {"pyramid_attention_broadcast"}


def test_faster_cache_skips_every_other_attention_after_the_first_step() -> None:
    """The first step is outside of its range of timesteps; then odd steps are skipped, in each of 3 blocks."""
    tiny = quiet("flux")
    config = diffusers.FasterCacheConfig(
        spatial_attention_block_skip_range=2,
        spatial_attention_timestep_skip_range=(-1, 901),
        spatial_attention_block_identifiers=("transformer_blocks",),
        current_timestep_callback=lambda: 500 if tiny.pipe.scheduler.step_index else 1000,
        attention_weight_callback=lambda _module: 0.3,
        tensor_format="BCHW",
        is_guidance_distilled=True,
    )
    tiny.pipe.transformer.enable_cache(config)
    marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, 6))
    attention = [event["outcome"] for event in events if event["cache"] == "faster_cache"]
    assert attention == (["miss"] * 3 + ["hit"] * 3) * 3
    whole = [event["outcome"] for event in events if event["cache"] == "faster_cache_guidance"]
    assert whole == ["miss"] * 6


def test_sea_cache_answers_two_steps_in_a_row_at_most() -> None:
    """Under a threshold that nothing reaches; the first and the last step are always computed. Both passes alike.

    step   0     1    2    3     4    5
           miss  hit  hit  miss  hit  miss
    """
    tiny = with_cache("wan", diffusers.SeaCacheConfig(threshold=1e9))
    marey.diffusers.instrument(tiny.pipe)
    events = capture_events(lambda: generate(tiny, 6))
    for context in ("cond", "uncond"):
        mine = [event for event in events if event["meta"]["context"] == context]
        assert [event["outcome"][0] for event in mine] == list("mhhmhm")
        assert [event["score"] is not None for event in mine] == [event["outcome"] == "hit" for event in mine]
        assert {event["threshold"] for event in mine} == {1e9}


def test_a_cache_that_is_switched_on_later_is_found_and_off_again_leaves_nothing() -> None:
    """Diffusers takes its hooks out of the modules; what is left is the plain forward."""
    tiny = quiet("flux")
    instrumented = marey.diffusers.instrument(tiny.pipe)
    assert capture_events(lambda: generate(tiny, 2)) == []
    transformer = tiny.pipe.transformer
    transformer.enable_cache(diffusers.FirstBlockCacheConfig(threshold=0.3))
    assert len(capture_events(lambda: generate(tiny, 2))) == 2
    transformer.disable_cache()
    assert capture_events(lambda: generate(tiny, 2)) == []
    transformer.enable_cache(diffusers.TaylorSeerCacheConfig(cache_interval=2, disable_cache_before_step=1))
    assert len(capture_events(lambda: generate(tiny, 2))) > 0
    transformer.disable_cache()
    instrumented.undo()
    for block in [*transformer.transformer_blocks, *transformer.single_transformer_blocks]:
        assert block.forward.__func__ is type(block).forward


def test_cache_dit_is_recorded_where_it_is_installed() -> None:
    """What its own statistics say of a generation: the steps that it answered, and their differences."""
    cache_dit = pytest.importorskip("cache_dit")
    tiny = quiet("flux")
    marey.diffusers.instrument(tiny.pipe)
    cache_dit.enable_cache(
        tiny.pipe,
        cache_config=cache_dit.DBCacheConfig(
            Fn_compute_blocks=1, Bn_compute_blocks=0, max_warmup_steps=2, residual_diff_threshold=0.9
        ),
    )
    events = capture_events(lambda: generate(tiny, STEPS))
    stats = cache_dit.summary(tiny.pipe)
    stats = stats[0] if isinstance(stats, list) else stats
    hits = [event["step"] for event in events if event["outcome"] == "hit"]
    assert hits == list(stats.cached_steps)
    assert hits
    scores = {str(event["step"]): event["score"] for event in events if event["score"] is not None}
    assert scores == {step: diff for step, diff in stats.residual_diffs.items() if diff > 0}
    cache_dit.disable_cache(tiny.pipe)
