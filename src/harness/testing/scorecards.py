"""The contract of scorecards of photos: functions that count, photo by photo, what is right and wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from harness.scoring import Counted, ItemCounts, Rate
from harness.scoring.detection import Thresholds
from harness.testing.choices import scorecard_from
from harness.testing.photos import as_predicted, labelled_photos
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction

if TYPE_CHECKING:
    from harness.tasks.photos.scores import ScorePhotos

THRESHOLDS = Thresholds(bib_iou=0.5, face_iou=0.5)
NOTHING = PhotoPrediction()


class ScorecardContract:
    """What a scorecard of photos promises. A subclass names the `choice` of `scoring` that lists it last in `cards`."""

    choice: ClassVar[str]
    conf: ClassVar[Path | None] = None

    def make(self) -> ScorePhotos:
        """The function that counts."""
        return scorecard_from(self.choice, self.conf)

    def count(self, labels: Sequence[PhotoLabels], found: Sequence[PhotoPrediction]) -> ItemCounts:
        """What it counts on these photos."""
        return self.make()(labels, found, THRESHOLDS)

    def test_it_declares_rates_of_counts_that_it_has(self) -> None:
        counts = self.count([], [])
        card = counts.declared
        assert card.name, "a scorecard without a name"
        assert card.metrics or card.counts, f"{card.name}: nothing of it would be logged"
        assert len(set(card.metrics)) == len(card.metrics), f"{card.name}: two metrics of one name"
        used = [name for rate in card.rates.values() for name in (*rate.numerator, *rate.denominator)]
        unknown = {*used, *card.counts} - set(counts.columns)
        assert not unknown, f"{card.name}: declared and never counted: {sorted(unknown)}"
        shown = {metric for section in card.sections for metric in section.metrics} - set(card.metrics)
        assert not shown, f"{card.name}: shown in a section and declared nowhere: {sorted(shown)}"

    def test_without_photos_its_rates_are_not_known_rather_than_0(self) -> None:
        counts = self.count([], [])
        assert counts.items == 0
        known = set(counts.total().metrics()) & {rate.metric for rate in counts.declared.rates.values()}
        assert not known, f"a rate of nothing is n/a, not a number: {sorted(known)}"

    def test_every_photo_has_its_row_and_rows_add_up(self) -> None:
        labels, found = examples()
        counts = self.count(labels, found)
        assert counts.items == len(labels)
        for name, column in counts.columns.items():
            assert len(column) == len(labels), f"{name}: {len(column)} rows for {len(labels)} photos"
        half = len(labels) // 2
        parts = self.count(labels[:half], found[:half]).by_item() + self.count(labels[half:], found[half:]).by_item()
        for row, (whole, part) in enumerate(zip(counts.by_item(), parts, strict=True)):
            assert part == pytest.approx(whole), f"photo {row} counts otherwise when other photos are scored with it"

    def test_the_order_of_the_photos_does_not_matter(self) -> None:
        labels, found = examples()
        forward, backward = self.count(labels, found).by_item(), self.count(labels[::-1], found[::-1]).by_item()
        for one, other in zip(forward, backward[::-1], strict=True):
            assert other == pytest.approx(one)

    def test_a_photo_that_nobody_labelled_has_no_part_in_a_rate(self) -> None:
        _, found = examples()
        counts = self.count([PhotoLabels() for _ in found], found)
        for metric, (above, below) in counts.sides().items():
            assert not np.any(above), f"{metric}: labels that are None say nothing, neither right nor wrong"
            assert not np.any(below), f"{metric}: labels that are None say nothing, neither right nor wrong"

    def test_finding_everything_scores_best_and_finding_nothing_is_no_better(self) -> None:
        labels = labelled_photos()
        perfect = self.count(labels, [as_predicted(photo) for photo in labels]).total()
        empty = self.count(labels, [NOTHING for _ in labels]).total()
        for rate in perfect.declared.rates.values():
            best = 1.0 if rate.better == "higher" else 0.0
            if perfect.denominator(rate):
                assert perfect.value(rate) == pytest.approx(best), f"{rate.metric} of perfect predictions"
            assert _no_better(rate, empty, best), f"{rate.metric}: finding nothing scores {empty.value(rate)}"

    def test_the_same_photos_give_the_same_counts(self) -> None:
        labels, found = examples()
        assert self.count(labels, found).by_item() == self.count(labels, found).by_item()


def examples() -> tuple[list[PhotoLabels], list[PhotoPrediction]]:
    """Photos of which some are predicted well, some badly, some not at all, and some are not labelled."""
    labels = labelled_photos(12)
    found = [(as_predicted(photo), _shifted(as_predicted(photo)), NOTHING)[row % 3] for row, photo in enumerate(labels)]
    labels[4], labels[9] = PhotoLabels(), PhotoLabels(bibs=labels[9].bibs)
    return labels, found


def _shifted(found: PhotoPrediction) -> PhotoPrediction:
    """Faces a little aside, bibs misread, one thing of each kind too many."""
    bibs = [BibBox(x=b.x, y=b.y, w=b.w, h=b.h, number=f"{b.number}0", score=0.6) for b in found.bibs]
    faces = [FaceBox(x=f.x + f.w / 5, y=f.y, w=f.w, h=f.h, score=0.7) for f in found.faces]
    return PhotoPrediction(
        (*bibs, BibBox(x=0.7, y=0.8, w=0.1, h=0.1, number="1", score=0.4)),
        (*faces, FaceBox(x=0.1, y=0.7, w=0.1, h=0.1, score=0.3)),
        found.links,
    )


def _no_better(rate: Rate, found: Counted, best: float) -> bool:
    value = found.value(rate)
    if not found.denominator(rate):
        return True
    return value <= best if rate.better == "higher" else value >= best
