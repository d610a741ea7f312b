"""Bib and face scorecards: detection, ignore regions, reading."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring import (
    BibBox,
    BibScorecard,
    FaceBox,
    FaceScorecard,
    score_bibs,
    score_faces,
    tally_bibs,
)
from harness.scoring.detection import Thresholds
from harness.scoring.faces import detect_faces
from harness.types import PhotoLabels, PhotoPrediction


def bib(x: float, number: str | None = None, scope: str = "bib", w: float = 0.2) -> BibBox:
    return BibBox(x=x, y=0.2, w=w, h=0.2, number=number, scope=scope)


def face(x: float, scope: str = "keep") -> FaceBox:
    return FaceBox(x=x, y=0.2, w=0.2, h=0.2, scope=scope)


def test_found_false_and_missed_bibs_are_counted() -> None:
    card = score_bibs([bib(0.0), bib(0.75)], [bib(0.0), bib(0.4)])
    assert (card.detection_tp, card.detection_fp, card.detection_fn) == (1, 1, 1)
    assert (card.detection_precision, card.detection_recall, card.detection_f1) == (0.5, 0.5, 0.5)


def test_the_threshold_is_inclusive() -> None:
    half = bib(0.0, w=0.1)  # IoU with a box twice as wide is exactly 1/2
    assert score_bibs([half], [bib(0.0)], iou_threshold=0.5).detection_tp == 1
    assert score_bibs([half], [bib(0.0)], iou_threshold=0.500001).detection_tp == 0


def test_the_best_overlap_wins_and_ties_fall_to_the_lower_index() -> None:
    card = score_bibs([bib(0.05, "2"), bib(0.0, "1"), bib(0.0, "3")], [bib(0.0, "1")])
    assert (card.detection_tp, card.detection_fp, card.ocr_correct) == (1, 2, 1)


@pytest.mark.parametrize(("scope", "lenient", "strict"), [("bib_obscured", 0, 1), ("not_bib", 1, 1)])
def test_a_bib_prediction_on_an_unscored_label(scope: str, lenient: int, strict: int) -> None:
    card = score_bibs([bib(0.0)], [bib(0.0, scope=scope)])
    assert card.detection_fn == 0
    assert card.detection_fp == lenient
    assert card.detection_fp + card.ignored == strict


def test_a_prediction_half_inside_an_ignore_region_covers_it() -> None:
    region = BibBox(x=0.0, y=0.0, w=0.5, h=1.0, scope="bib_obscured")
    half_in = BibBox(x=0.375, y=0.0, w=0.25, h=0.25)
    less = BibBox(x=0.38, y=0.0, w=0.25, h=0.25)
    assert score_bibs([half_in], [region]).ignored == 1
    assert score_bibs([less], [region]).detection_fp == 1


def test_an_uncertain_face_is_an_ignore_region_and_an_excluded_one_is_not() -> None:
    assert score_faces([face(0.0)], [face(0.0, "uncertain")]).ignored == 1
    assert score_faces([face(0.0)], [face(0.0, "exclude")]).detection_fp == 1


def test_reading_is_judged_on_matched_pairs_with_a_complete_label() -> None:
    labels = [bib(0.0, " 12 "), bib(0.3, "62?"), bib(0.6, "7"), bib(0.8, "9", w=0.15)]
    read = [bib(0.0, "12"), bib(0.3, "621"), bib(0.6, "1")]
    card = score_bibs(read, labels)
    assert (card.ocr_correct, card.ocr_total, card.ocr_partial) == (1, 2, 1)
    assert card.ocr_accuracy == card.metrics()["ocr/accuracy"] == 0.5


@pytest.mark.parametrize(("label", "read"), [("62?", "62?"), (None, "None"), ("", ""), (" ", None)])
def test_a_partial_label_is_never_read_right(label: str | None, read: str | None) -> None:
    card = score_bibs([bib(0.0, read)], [bib(0.0, label)])
    assert (card.ocr_correct, card.ocr_total, card.ocr_partial) == (0, 0, 1)


def test_a_number_read_in_part_is_wrong_where_the_label_is_whole_and_left_out_where_it_is_not() -> None:
    card = score_bibs([bib(0.0, "62?"), bib(0.3, "62?")], [bib(0.0, "621"), bib(0.3, "62?")])
    assert (card.detection_tp, card.ocr_correct, card.ocr_total, card.ocr_partial) == (2, 0, 1, 1)


def test_a_label_without_coordinates_takes_part_in_no_iou_metric() -> None:
    card = score_bibs([bib(0.0)], [BibBox(x=0, y=0, w=0, h=0, number="5")])
    assert (card.detection_tp, card.detection_fp, card.detection_fn) == (0, 1, 0)


def test_an_empty_scorecard_logs_no_rate() -> None:
    assert score_faces([], []).detection_recall == 0.0
    assert not [name for name in score_faces([], []).metrics() if "recall" in name or "precision" in name]
    assert score_bibs([], [bib(0.0)]).metrics()["bib/recall"] == 0.0
    assert "bib/precision" not in score_bibs([], [bib(0.0)]).metrics()


def test_an_unlabelled_photo_is_counted_and_not_scored() -> None:
    card = tally_bibs([PhotoLabels(), PhotoLabels(bibs=())], [PhotoPrediction(bibs=(bib(0.0),))] * 2).scorecard()
    assert (card.photos, card.unlabeled_photos, card.detection_fp) == (1, 1, 1)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (BibBox(x=float("nan"), y=0, w=0.1, h=0.1), r"photo 0, predicted bib 1: x=nan"),
        (BibBox(x=0, y=0, w=-0.1, h=0.1), r"photo 0, predicted bib 1: .*w=-0.1"),
    ],
)
def test_a_broken_box_is_refused_by_name(box: BibBox, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_bibs([bib(0.0), box], [])


@pytest.mark.parametrize("card", [BibScorecard(1, 2, 3, ocr_correct=1, ocr_total=2), FaceScorecard(4, 5, 6, ignored=1)])
def test_scorecards_round_trip(card: BibScorecard | FaceScorecard) -> None:
    assert type(card).from_dict(card.to_dict()) == card


scopes = st.sampled_from(["bib", "bib_clipped", "bib_obscured", "not_bib"])
boxes = st.lists(
    st.builds(bib, st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.6]), st.sampled_from(["1", "2", "3?"]), scopes), max_size=6
)


@given(boxes, boxes)
def test_counts_add_up(predicted: list[BibBox], labels: list[BibBox]) -> None:
    card = score_bibs(predicted, labels)
    assert card.detection_tp + card.detection_fp + card.ignored == len(predicted)
    assert card.detection_tp + card.detection_fn == sum(label.scope in ("bib", "bib_clipped") for label in labels)
    assert card.ocr_total + card.ocr_partial == card.detection_tp
    low, high = sorted((card.detection_precision, card.detection_recall))
    assert low - 1e-12 <= card.detection_f1 <= high + 1e-12
    assert card.strict_precision <= card.detection_precision


def test_without_a_threshold_it_is_one_half() -> None:
    half, less = FaceBox(x=0.0, y=0.2, w=0.1, h=0.2), FaceBox(x=0.0, y=0.2, w=0.099, h=0.2)
    assert [score_faces([box], [face(0.0)]).detection_tp for box in (half, less)] == [1, 0]
    labels, found = PhotoLabels(faces=(face(0.0),)), PhotoPrediction(faces=(half,))
    assert detect_faces([labels], [found]).matches.matched.tolist() == [True]
    assert [score_bibs([bib(0.0, w=w)], [bib(0.0)]).detection_tp for w in (0.1, 0.099)] == [1, 0]


@pytest.mark.parametrize("wrong", [0.0, -0.1, 1.0001, float("nan")])
def test_thresholds_are_above_0_and_at_most_1(wrong: float) -> None:
    assert Thresholds(1.0, 1e-6) == Thresholds(bib_iou=1.0, face_iou=1e-6)
    with pytest.raises(ValueError, match=r"bib_iou is .*; expected a number above 0 and at most 1"):
        Thresholds(wrong, 0.5)
    with pytest.raises(ValueError, match="face_iou is"):
        Thresholds(0.5, wrong)


def test_a_box_needs_width_and_height_to_be_matched() -> None:
    flat, thin = (FaceBox(x=0.0, y=0.2, w=w, h=h) for w, h in ((0.2, 0.0), (0.0, 0.2)))
    for box in (flat, thin):
        card = score_faces([box], [face(0.0)])
        assert (card.detection_tp, card.detection_fp, card.detection_fn) == (0, 0, 1)
        assert score_faces([face(0.0)], [box]).detection_fn == 0
