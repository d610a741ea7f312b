"""The scorecards of photos keep the contract that the harness ships, the worked example of the docs included."""

from __future__ import annotations

import pytest

from harness.scoring.detection import Thresholds
from harness.tasks.photos.scores import SCORECARDS, ScorePhotos
from harness.testing import ScorecardContract
from tests.tasks.photos.mean_iou import tally_overlap


def name_of(score: ScorePhotos) -> str:
    return score([], [], Thresholds(0.5, 0.5)).declared.name


CARDS: dict[str, ScorePhotos] = {name_of(score): score for score in SCORECARDS} | {
    "overlap": lambda labels, found, at: tally_overlap(labels, found, at.face_iou).items()
}


@pytest.mark.parametrize("card", CARDS)
class TestScorecards(ScorecardContract):
    @pytest.fixture(autouse=True)
    def chosen(self, card: str) -> None:
        self.card = card

    def make(self) -> ScorePhotos:
        return CARDS[self.card]
