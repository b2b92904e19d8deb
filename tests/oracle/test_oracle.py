"""Every reader says of random programs what these logged themselves. ``python tests/oracle --help`` runs others."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import aggregated
import compared
import first_screen
import first_screen_truth
import known
import page
import perturbed
import report_json
from checking import Mismatch, check, check_played, everything, mismatches
from figures import Figures
from known import KNOWN, Known
from logbook import Log
from played import Played, marey, play
from programs import KINDS, Node, program

SEEDS = range(6 * len(KINDS))
Says = Callable[[Node], list[Mismatch]]


def of_kind(kind: str, count: int) -> list[int]:
    """The first seeds of a kind of program."""
    return [KINDS.index(kind) + len(KINDS) * place for place in range(count)]


def says(found: list[object], seed: int) -> str:
    """What a failure shows."""
    lines = [f"{len(found)} figures are wrong; run it again with: python tests/oracle {seed}", *map(str, found[:20])]
    return "\n".join(lines)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_reader_says_what_the_program_did(seed: int, tmp_path: Path) -> None:
    made = program(seed)
    found = known.unknown(check(made, tmp_path), made["kind"])
    assert not found, says(list(found), seed)


def test_what_is_known_as_a_defect_is_still_one(tmp_path: Path) -> None:
    def shows(place: int, defect: Known) -> bool:
        attempts = (play(defect.program, tmp_path / f"{place}-{attempt}") for attempt in range(3))
        # On a machine that is busy the stamps may leave room for what is wrong.
        found = itertools.chain.from_iterable(map(check_played, attempts))
        return any(defect.explains(one, defect.program["kind"]) for one in found)

    mended = [defect.why for place, defect in enumerate(KNOWN) if not shows(place, defect)]
    assert not mended, "take these out of KNOWN"


@pytest.mark.parametrize("seed", of_kind("generations", 3) + of_kind("turns", 1))
def test_ranks_together_are_what_each_of_them_did(seed: int, tmp_path: Path) -> None:
    logs: dict[int | None, Log] = {}
    for rank in range(3):
        made = program(seed + len(KINDS) * rank) | {"configuration": {"output_dir": "../out"}}
        place = {"RANK": str(rank), "WORLD_SIZE": "3", "MAREY_JOB_ID": "job"}
        logs[rank] = play(made, tmp_path / f"rank{rank}", is_watched=False, **place).log()
    figures = aggregated.figures(_json("aggregate", str(tmp_path / "out"), "--format", "json"))
    found = known.unknown(mismatches("aggregate", figures, aggregated.truth(logs)), "ranks")
    assert not found, says(list(found), seed)


@pytest.mark.parametrize("kind", ["nesting", "generations", "caches", "turns", "processes"])
def test_both_sides_of_a_comparison_are_what_was_recorded(kind: str, tmp_path: Path) -> None:
    seed = KINDS.index(kind)
    sides = {side: play(program(seed), tmp_path / side, is_watched=False) for side in ("baseline", "candidate")}
    figures = compared.figures(_compare(tmp_path))
    truth = compared.truth(sides["baseline"].log(), "baseline") | compared.truth(sides["candidate"].log(), "candidate")
    found = mismatches("compare", figures, truth)
    assert not found, says(list(found), seed)


def test_a_section_that_got_slower_is_the_one_that_is_called_worse(tmp_path: Path) -> None:
    def calls(slow_ms: float) -> Node:
        turn = [known.section("slow", known.sleep(slow_ms)), known.section("same", known.sleep(3))]
        return {"seed": 1, "kind": "known", "body": turn * 20}

    # Twenty times as long: other load on the machine makes neither side of it the other.
    play(calls(2), tmp_path / "baseline")
    play(calls(40), tmp_path / "candidate")
    measures = {
        measure["subject"]["path"][0]: measure
        for measure in _compare(tmp_path)["measures"]
        if measure["kind"] == "section_per_call"
    }
    assert measures["slow"]["verdict"] == "worse"
    added = {name: measure["candidate"]["value"] - measure["baseline"]["value"] for name, measure in measures.items()}
    assert added["same"] < added["slow"]


def _report(played: Played, truth: Figures) -> tuple[Node, perturbed.Places, Says]:
    report = played.report()
    return report, perturbed.of_report(report), lambda other: mismatches("", report_json.figures(other), truth)


def _page(played: Played, truth: Figures) -> tuple[Node, perturbed.Places, Says]:
    model = played.page()
    return model, perturbed.of_page(model), lambda other: mismatches("", page.figures(other), truth)


def _screen(played: Played, truth: Figures) -> tuple[Node, perturbed.Places, Says]:
    brief = played.brief()

    def wrong(other: Node) -> list[Mismatch]:
        return mismatches(
            "", first_screen.figures(other), truth | first_screen_truth.of(played.log(), other["account"])
        )

    return brief, perturbed.of_screen(brief), wrong


@pytest.mark.parametrize(("look", "n_kinds"), [(_report, 150), (_page, 60), (_screen, 20)])
def test_a_document_that_is_off_is_noticed(look: Callable[..., Any], n_kinds: int, tmp_path: Path) -> None:
    kinds, noticed = set(), set()
    for seed in range(10):
        played = play(program(seed), tmp_path / str(seed), is_watched=False)
        document, places_of, wrong = look(played, everything(played.log()))

        def says(other: Node, wrong: Says = wrong) -> set[Mismatch] | str:
            try:
                return set(wrong(other))
            except AssertionError as contradiction:  # Parts of it say different things.
                return str(contradiction)

        before = says(document)
        for kind, places in places_of.items():
            kinds.add(kind)
            changed = (perturbed.changed(document, place) for place in places if kind not in noticed)
            if any(says(other) != before for other in changed):
                noticed.add(kind)
    assert len(kinds) > n_kinds
    assert not kinds - noticed, f"nobody would have noticed other values of {sorted(kinds - noticed)}"


def _compare(folder: Path) -> Node:
    return _json("compare", str(folder / "baseline/out"), str(folder / "candidate/out"), "--format", "json")


def _json(*arguments: str) -> Node:
    return json.loads(marey(*arguments, may_fail=True))
