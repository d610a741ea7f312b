"""Curves over the score threshold, and scores beside outcomes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import bib_behaviour, face_behaviour, tally_faces
from harness.scoring.curves import STEPS
from harness.types import BibBox, FaceBox, FaceScope, PhotoLabels, PhotoPrediction


def face(place: int, score: float | None = None, scope: str = FaceScope.KEEP) -> FaceBox:
    return FaceBox(x=0.1 * place, y=0.1, w=0.09, h=0.1, score=score, scope=scope)


def test_a_curve_by_hand() -> None:
    labels = [PhotoLabels(faces=(face(0), face(1)))]
    found = [PhotoPrediction(faces=(face(0, 0.9), face(1, 0.3), face(5, 0.5)))]
    curve = {point.step: (point.precision, point.recall) for point in face_behaviour(labels, found).curve}
    assert tuple(curve) == STEPS
    assert curve[0] == curve[30] == (2 / 3, 1.0)
    assert curve[32] == curve[50] == (0.5, 0.5)
    assert curve[52] == curve[90] == (1.0, 0.5)
    assert curve[92] == curve[100] == (None, 0.0)


def test_a_rate_without_a_denominator_is_no_metric() -> None:
    labels = [PhotoLabels(faces=(face(0),))]
    metrics = face_behaviour(labels, [PhotoPrediction(faces=(face(0, 0.5),))]).metrics("face")
    assert set(metrics) == {"curve/face_precision", "curve/face_recall"}
    assert max(metrics["curve/face_precision"]) == 50
    assert max(metrics["curve/face_recall"]) == 100


def test_a_prediction_without_a_score_stays_and_is_not_calibrated() -> None:
    behaviour = face_behaviour([PhotoLabels(faces=(face(0),))], [PhotoPrediction(faces=(face(0),))])
    assert {point.recall for point in behaviour.curve} == {1.0}
    assert (behaviour.reliability.n, behaviour.reliability.ece) == (0, None)


def test_what_covers_an_ignore_region_or_is_not_labelled_is_no_outcome() -> None:
    labels = [PhotoLabels(faces=(face(0, scope=FaceScope.UNCERTAIN), face(1))), PhotoLabels()]
    found = [PhotoPrediction(faces=(face(0, 0.9), face(1, 0.8))), PhotoPrediction(faces=(face(2, 0.7),))]
    reliability = face_behaviour(labels, found).reliability
    assert [(b.low, b.n, b.accuracy) for b in reliability.bins if b.n] == [(0.8, 1, 1.0)]


def test_a_bib_is_right_when_it_is_found_and_read() -> None:
    def bib(place: int, number: str | None, score: float | None = None) -> BibBox:
        return BibBox(x=0.2 * place, y=0.1, w=0.15, h=0.1, number=number, score=score)

    labels = [PhotoLabels(bibs=(bib(0, "12"), bib(1, "34"), bib(2, "5?")))]
    found = [PhotoPrediction(bibs=(bib(0, "12", 0.95), bib(1, "43", 0.85), bib(2, "56", 0.75), bib(3, "7", 0.65)))]
    bins = [(entry.low, entry.accuracy) for entry in bib_behaviour(labels, found).reliability.bins if entry.n]
    assert bins == [(0.6, 0.0), (0.7, 1.0), (0.8, 0.0), (0.9, 1.0)]


scored = st.lists(st.tuples(st.integers(0, 8), st.floats(0, 1)), max_size=8)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sets(st.integers(0, 8)), scored), max_size=4))
def test_each_point_is_the_scorecard_of_what_is_left(photos: list[tuple[set[int], list[tuple[int, float]]]]) -> None:
    labels = [PhotoLabels(faces=tuple(face(place) for place in places)) for places, _ in photos]
    found = [PhotoPrediction(faces=tuple(face(place, score) for place, score in boxes)) for _, boxes in photos]
    for point in face_behaviour(labels, found).curve:
        left = [PhotoPrediction(faces=tuple(f for f in p.faces if (f.score or 0) >= point.threshold)) for p in found]
        card = tally_faces(labels, left).scorecard() if photos else None
        expected = (card.detection_tp, card.detection_fp, card.detection_fn) if card else (0, 0, 0)
        assert (point.found, point.false, point.missed) == expected
