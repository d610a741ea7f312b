"""The evidence of identity refuses what contradicts itself, and its scorecards declare what users build on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple

import pytest

from harness.scoring.cards import Scorecard
from harness.scoring.clusters import ClusterScorecard
from harness.scoring.finding import CAUSES, FindScorecard, tally_finding
from harness.scoring.format import format_scorecard
from harness.scoring.people import UNKNOWN, Evidence
from harness.scoring.searching import Operating, Search
from harness.scoring.selfies import SelfieScorecard
from harness.scoring.uncertainty import intervals
from harness.scoring.verification import VerifyScorecard
from tests.scoring.worlds import World

CARDS = (VerifyScorecard, ClusterScorecard, SelfieScorecard, FindScorecard)


def small() -> World:
    world = World()
    ann = world.person("ann")
    for _ in range(2):
        world.face(world.photo(), (1, 0), ann)
    world.query(ann, (1, 0), 0)
    return world


def swapped(evidence: Evidence) -> None:
    evidence.faces.photo[:] = evidence.faces.photo[::-1]


@pytest.mark.parametrize(
    ("break_it", "message"),
    [
        (lambda e: e.faces.photo.__setitem__(1, 2), "face 1: its photo is none of 2"),
        (swapped, "face 1: its photo comes before that of the face before it"),
        (lambda e: e.faces.person.__setitem__(0, 1), "face 0: its person is none of 1"),
        (lambda e: e.faces.person.__setitem__(0, -3), "face 0: its person is none of 1"),
        (lambda e: e.faces.vectors.__setitem__(1, 2), "face 1: it is enrolled and its vector has not the length 1"),
        (lambda e: e.faces.vectors.__setitem__(1, float("nan")), "face 1: it is enrolled and its vector"),
        (lambda e: e.appearances.person.__setitem__(1, 1), "appearance 1: its person is none of 1"),
        (lambda e: e.appearances.photo.__setitem__(0, -1), "appearance 0: its photo is none of 2"),
        (lambda e: e.appearances.photo.__setitem__(0, 1), "appearance 0: its person is listed twice in its photo"),
        (lambda e: e.appearances.face.__setitem__(0, 2), "appearance 0: its face is none of 2"),
        (lambda e: e.queries.person.__setitem__(0, 1), "query 0: its person is none of 1"),
        (lambda e: e.queries.photo.__setitem__(0, 2), "query 0: its photo is none of 2"),
        (lambda e: e.queries.vectors.__setitem__(0, 0), "query 0: its vector has not the length 1"),
    ],
)
def test_what_is_wrong_is_named(break_it: Callable[[Evidence], None], message: str) -> None:
    evidence = small().evidence()
    break_it(evidence)
    with pytest.raises(ValueError, match=message):
        Evidence(evidence.people, evidence.photos, evidence.faces, evidence.appearances, evidence.queries)


def test_faces_and_queries_of_people_who_are_not_there_are_refused() -> None:
    world = small()
    world.seen.pop((0, 1))
    with pytest.raises(ValueError, match="face 1: its person is not labelled in its photo"):
        world.evidence()
    world.faces[1]["person"] = UNKNOWN
    world.queries[0]["photo"] = 1
    with pytest.raises(ValueError, match="query 0: its person is not labelled in its photo"):
        world.evidence()


def test_rates_and_what_the_gate_does_with_them() -> None:
    rates = {rate.metric: rate for card in CARDS for rate in card.DECLARED.rates.values()}
    assert [metric for metric, rate in rates.items() if rate.gate == "judged"] == [
        "find/by_selfie",
        "find/by_both",
        "find/by_both_precision",
    ]
    assert [metric for metric, rate in rates.items() if rate.better == "lower"] == [
        "cluster/people_split",
        "cluster/people_merged",
        "selfie/fnir_at_fpir_1e-2",
        "selfie/fnir_at_fpir_1e-1",
        "selfie/fpir",
    ]
    assert {metric: rate.headline for metric, rate in rates.items() if rate.headline} == {
        "selfie/map": "selfie mAP",
        "find/by_selfie": "found by selfie",
        "find/by_both": "found by both",
    }
    assert [metric for metric in rates if metric.startswith(("verify", "find"))] == [
        *(f"verify/tar_at_far_{far}" for far in ("1e-2", "1e-3", "1e-4")),
        *(f"find/by_{way}" for way in ("number", "selfie", "both")),
        *(f"find/by_{way}_precision" for way in ("number", "selfie", "both")),
    ]


def test_everything_is_logged_once_and_every_rate_is_shown() -> None:
    names = [name for card in CARDS for name in (*card.DECLARED.counts.values(), *card.DECLARED.metrics)]
    assert len(names) == len(set(names))
    for card in CARDS:
        shown = [metric for section in card.DECLARED.sections for metric in section.metrics]
        assert sorted(shown) == sorted(card.DECLARED.metrics)


@pytest.mark.parametrize("card", [VerifyScorecard, SelfieScorecard, FindScorecard])
def test_an_empty_card_counts_nothing(card: type[Scorecard]) -> None:
    assert set(astuple(card())) == {0}


def test_find_as_it_is_shown() -> None:
    world = small()
    world.face(world.photo(), (0, 1), 0)
    evidence = world.evidence()
    tally = tally_finding(Search(evidence), Operating.fixed(0.01, 0.5, 100, ""))
    text = format_scorecard(tally.counted(), slices=tally.slices, intervals=intervals(tally.counts, evidence.groups))
    assert text.startswith("Runners find their photos  (1 runners, 3 wanted photos, fewer than five groups")
    assert "by selfie            50.0%" in text
    assert "nothing to count for: by number, by number: theirs" in text
    assert "0 nobody readable, 0 face not found, 0 not enrolled, 1 below threshold" in text
    assert "both face_40_80" in text
    assert set(CAUSES) <= set(tally.counted().counts)
