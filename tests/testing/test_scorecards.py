"""Scorecards that break one rule of their contract each, and the rule that notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.scoring import Declaration, ItemCounts, Rate
from harness.testing import ScorecardContract
from harness.types import PhotoLabels, PhotoPrediction
from tests.testing.broken import broken_rules

DECLARED = Declaration("example", rates={"recall": Rate.share("example/recall", "hit", "miss")})
Score = Callable[[Sequence[PhotoLabels], Sequence[PhotoPrediction], Any], ItemCounts]


def card(hit: Callable[[PhotoLabels, PhotoPrediction, int], float], *, unlabelled: int = 0) -> Score:
    """Counts bibs: those that are found by `hit`, and the rest."""

    def score(labels: Sequence[PhotoLabels], found: Sequence[PhotoPrediction], _: Any) -> ItemCounts:
        pairs = list(enumerate(zip(labels, found, strict=True)))
        hits = np.array([hit(photo, seen, place) if photo.bibs else 0 for place, (photo, seen) in pairs])
        wanted = np.array([unlabelled if photo.bibs is None else len(photo.bibs) for _, (photo, _) in pairs])
        return ItemCounts(DECLARED, {"hit": hits, "miss": wanted - hits}, len(labels))

    return score


def found_bibs(labels: PhotoLabels, found: PhotoPrediction, place: int) -> int:
    wanted = {box.number for box in labels.bibs or ()}
    return len(wanted & {box.number for box in found.bibs}) and sum(
        box.number in {seen.number for seen in found.bibs} for box in labels.bibs or ()
    )


def prior(labels: Any, found: Any, at: Any) -> ItemCounts:
    """A card that adds one to be never empty."""
    counts = card(found_bibs)(labels, found, at)
    hit, miss = counts.columns["hit"], counts.columns["miss"]
    return ItemCounts(DECLARED, {"hit": np.append(hit, 1), "miss": np.append(miss, 0)}, counts.items)


def in_total(labels: Any, found: Any, at: Any) -> ItemCounts:
    """A card that knows the whole and gives each photo its share of it."""
    counts = card(found_bibs)(labels, found, at)
    if not labels:
        return counts
    columns = {name: np.full(len(labels), np.mean(column)) for name, column in counts.columns.items()}
    return ItemCounts(DECLARED, columns, counts.items)


def misdeclared(labels: Any, found: Any, at: Any) -> ItemCounts:
    counts = card(found_bibs)(labels, found, at)
    return ItemCounts(Declaration("x", rates={"r": Rate.of("x/r", "hit", "all")}), counts.columns, counts.items)


class CardUnderTest(ScorecardContract):
    def __init__(self, score: Score) -> None:
        self.score = score

    def make(self) -> Any:
        return self.score


DECLARES = "test_it_declares_rates_of_counts_that_it_has"
NOTHING = "test_without_photos_its_rates_are_not_known_rather_than_0"
ADD_UP = "test_every_photo_has_its_row_and_rows_add_up"
ORDER = "test_the_order_of_the_photos_does_not_matter"
UNLABELLED = "test_a_photo_that_nobody_labelled_has_no_part_in_a_rate"
BEST = "test_finding_everything_scores_best_and_finding_nothing_is_no_better"
STABLE = "test_the_same_photos_give_the_same_counts"
_COUNTS = count()


@pytest.mark.parametrize(
    ("score", "broken"),
    [
        (card(found_bibs), set()),
        (misdeclared, {DECLARES}),
        (prior, {NOTHING, ADD_UP, ORDER, UNLABELLED}),
        (in_total, {ADD_UP}),
        (card(lambda labels, found, place: found_bibs(labels, found, place) * (place == 0)), {ADD_UP, ORDER, BEST}),
        (card(found_bibs, unlabelled=1), {UNLABELLED}),
        (card(lambda *_: 0), {BEST}),
        (card(lambda labels, found, _: len(labels.bibs or ()) * (1 if found.bibs else 2)), {BEST}),
        (card(lambda *_: next(_COUNTS)), {ADD_UP, ORDER, BEST, STABLE}),
    ],
    ids=["good", "undeclared", "prior", "means", "first only", "unlabelled", "never", "empty is best", "fickle"],
)
def test_a_scorecard_breaks_the_rules_that_it_breaks(score: Score, broken: set[str], tmp_path: Path) -> None:
    found = set(broken_rules(CardUnderTest(score), tmp_path))
    assert broken <= found
    assert found - broken <= ({ORDER} if score is in_total else set())
