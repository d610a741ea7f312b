"""What photos are scored: every scorecard under its name, and average precision where predictions carry scores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.scoring.cards import Counted
from harness.scoring.detection import Thresholds
from harness.tasks.photos.scores import SCORECARDS, declared, score
from harness.types import BibScope, DroppedText, FaceBox, FaceScope, PhotoLabels, PhotoPrediction
from tests.report.reports import BIB, FACE, LABELS, NOTHING, RIGHT, evaluation_of

AT = Thresholds(0.5, 0.5)
STRANGER = FaceBox(x=0.7, y=0.2, w=0.1, h=0.15, score=0.95)


def figures(*pairs: tuple[PhotoLabels, PhotoPrediction]) -> dict[str, float]:
    """The figures of the scorecards on photos with these labels and predictions, seconds left out."""
    photos = evaluation_of([found for _, found in pairs], [labels for labels, _ in pairs]).photos
    cards = score(photos, AT).counted()
    found = {name: value for card in cards.values() for name, value in card.figures.items()}
    return {name: value for name, value in found.items() if not name.startswith("runtime/")}


def test_each_scorecard_has_a_name_and_no_two_metrics_are_the_same() -> None:
    cards = declared()
    names = ["number", "reading", "bib", "face", "link", "bib_errors", "face_errors", "speed"]
    assert [card.name for card in cards] == names
    assert len(SCORECARDS) == len(cards) - 1
    metrics = [metric for card in cards for metric in (*card.metrics, *card.counts.values())]
    assert len(metrics) == len(set(metrics))


def test_every_metric_that_is_declared_as_shown_exists() -> None:
    for card in declared():
        shown = [metric for section in card.sections for metric in section.metrics]
        assert set(shown) <= set(card.metrics)
        assert set(card.headlines) <= set(shown)
        counted = set(card.counts)
        noted = {note.count for section in card.sections for note in section.notes}
        rows = {name for section in card.sections for row in section.rows for name in row.counts}
        assert noted | rows <= counted


def test_average_precision_of_what_is_right_is_1_and_of_nothing_0() -> None:
    assert figures((LABELS, RIGHT)) == {"bib/ap": pytest.approx(1), "face/ap": pytest.approx(1)}
    assert figures((LABELS, NOTHING)) == {"bib/ap": 0, "face/ap": 0}


def test_without_a_score_or_a_target_there_is_no_average_precision() -> None:
    unscored = replace(RIGHT, faces=(replace(RIGHT.faces[0], score=None),))
    assert figures((LABELS, unscored), (LABELS, RIGHT)) == {"bib/ap": pytest.approx(1)}
    assert figures((PhotoLabels(bibs=(), faces=()), RIGHT)) == {}


def test_a_photo_that_nobody_labelled_has_no_part_in_it() -> None:
    strangers = PhotoPrediction(faces=(STRANGER,))
    assert figures((LABELS, RIGHT), (PhotoLabels(), strangers))["face/ap"] == pytest.approx(1)
    assert figures((LABELS, RIGHT), (PhotoLabels(faces=()), strangers))["face/ap"] == pytest.approx(0.5)


def test_a_prediction_in_an_ignore_region_is_not_wrong_and_one_on_a_non_object_is() -> None:
    seen = replace(RIGHT, faces=(*RIGHT.faces, STRANGER))
    for scope, expected in ((FaceScope.UNCERTAIN, 1.0), (FaceScope.EXCLUDE, 0.5)):
        labels = replace(LABELS, faces=(FACE, replace(STRANGER, scope=scope, score=None)))
        assert figures((labels, seen))["face/ap"] == pytest.approx(expected)
    hidden = replace(LABELS, bibs=(replace(BIB, scope=BibScope.BIB_OBSCURED),))
    assert "bib/ap" not in figures((hidden, RIGHT)), "what is not scored is no target"


def test_figures_belong_to_the_scorecard_that_declares_them() -> None:
    cards = score(evaluation_of([RIGHT]).photos, AT).counted()
    assert {name: set(card.figures) for name, card in cards.items() if card.figures} == {
        "bib": {"bib/ap"},
        "face": {"face/ap"},
        "speed": {"runtime/pipeline_seconds", "runtime/photos_per_second"},
    }
    assert isinstance(cards["speed"], Counted)


SEEN = DroppedText(x=0.4, y=0.5, w=0.1, h=0.1, text="4I7", rule="min_char_score", value=0.46, limit=0.5)


def test_every_missed_number_has_a_cause_and_they_add_up() -> None:
    photos = evaluation_of([NOTHING, RIGHT, replace(NOTHING, dropped=(SEEN,))]).photos
    traced, untraced = score(photos, AT, traced=True), score(photos, AT)
    assert [len(traced.missed.get(photo.sha256, ())) for photo in photos] == [1, 0, 1]
    told = [
        (card["not_seen"], card["no_trace"]) for card in (x.counted()["reading"].counts for x in (traced, untraced))
    ]
    assert told == [(1, 0), (0, 1)]
    for scores in (traced, untraced):
        counts = scores.counted()
        assert sum(counts["reading"].counts.values()) == counts["number"].counts["number_fn"] == 2
        assert counts["reading"].counts["dropped_by_rule"] == 1
    unread = score(photos, AT, frozenset({"numbers"}))
    assert unread.counted()["reading"].metrics() == {}, "a program that reads no numbers has missed none"


def test_runs_that_predict_the_same_have_the_same_predictions_whatever_they_dropped() -> None:
    one, other = (evaluation_of([replace(RIGHT, dropped=dropped)]).result() for dropped in ((), (SEEN,)))
    assert one.predictions == other.predictions
    assert one.predictions != evaluation_of([NOTHING]).result().predictions
