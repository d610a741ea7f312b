"""Kinds of detection errors, and recall by tag."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring import BibBox, FaceBox, score_bibs
from harness.scoring.error_types import BibErrorScorecard, tally_bib_errors, tally_face_errors
from harness.scoring.slices import slice_bibs, slice_faces
from harness.scoring.uncertainty import rate_intervals
from harness.types import PhotoLabels, PhotoPrediction


def bib(x: float, number: str = "1", scope: str = "bib") -> BibBox:
    return BibBox(x=x, y=0.0, w=0.2, h=0.2, number=number, scope=scope)


#: An IoU of exactly one half with a bib at 0.
HALF = BibBox(x=0.0, y=0.0, w=0.1, h=0.2, number="1")


def errors(predicted: list[BibBox], labels: list[BibBox]) -> BibErrorScorecard:
    tally = tally_bib_errors([PhotoLabels(bibs=tuple(labels))], [PhotoPrediction(bibs=tuple(predicted))])
    return tally.scorecard()


@pytest.mark.parametrize(
    ("predicted", "labels", "expected"),
    [
        ([bib(0.0), bib(0.02)], [bib(0.0)], BibErrorScorecard(1, 0, 0, 0, 0)),
        ([bib(0.0), HALF], [bib(0.0)], BibErrorScorecard(1, 0, 0, 0, 0)),
        ([bib(0.1)], [bib(0.0)], BibErrorScorecard(0, 1, 0, 1, 0)),
        ([bib(0.5)], [bib(0.0)], BibErrorScorecard(0, 0, 1, 0, 1)),
        ([bib(0.0, "2")], [bib(0.0)], BibErrorScorecard(0, 0, 0, 0, 0, wrong_text=1)),
        ([bib(0.0)], [bib(0.0, scope="not_bib")], BibErrorScorecard(0, 0, 1, 0, 0)),
        ([bib(0.0)], [bib(0.0, scope="bib_obscured")], BibErrorScorecard(0, 0, 0, 0, 0)),
        ([], [], BibErrorScorecard(0, 0, 0, 0, 0)),
    ],
)
def test_each_kind(predicted: list[BibBox], labels: list[BibBox], expected: BibErrorScorecard) -> None:
    assert errors(predicted, labels) == expected


def test_a_misplaced_box_between_two_targets_belongs_to_the_first() -> None:
    """The first was found by another box, so the second is missed outright."""
    labels, between = [bib(0.0), bib(0.26)], bib(0.13)
    assert errors([bib(0.0), between], labels) == BibErrorScorecard(0, 1, 0, 0, 1)
    assert errors([between, bib(0.26)], labels) == BibErrorScorecard(0, 1, 0, 1, 0)


@pytest.mark.parametrize(("place", "kind"), [(0.16, "localisation"), (0.17, "background")])
def test_below_a_tenth_a_box_has_nothing_to_do_with_the_target(place: float, kind: str) -> None:
    card = errors([bib(place)], [bib(0.0)])
    assert {name: card.to_dict()[name] for name in ("localisation", "background")} == {
        "localisation": int(kind == "localisation"),
        "background": int(kind == "background"),
    }


def test_face_errors_have_no_text() -> None:
    face = FaceBox(x=0, y=0, w=0.2, h=0.2)
    card = tally_face_errors([PhotoLabels(faces=(face,))], [PhotoPrediction()]).scorecard()
    assert card.metrics()["error/face_missed"] == 1
    assert "error/face_wrong_text" not in card.metrics()


def test_errors_round_trip() -> None:
    card = errors([bib(0.1), bib(0.5)], [bib(0.0)])
    assert BibErrorScorecard.from_dict(card.to_dict()) == card


scopes = st.sampled_from(["bib", "bib_clipped", "bib_obscured", "not_bib"])
boxes = st.lists(st.builds(bib, st.sampled_from([0.0, 0.03, 0.1, 0.17, 0.3, 0.6]), st.just("1"), scopes), max_size=6)


@given(boxes, boxes)
def test_the_kinds_add_up(predicted: list[BibBox], labels: list[BibBox]) -> None:
    kinds, card = errors(predicted, labels), score_bibs(predicted, labels)
    assert kinds.false_predictions == card.detection_fp
    assert kinds.missed_targets == card.detection_fn
    assert kinds.wrong_text == card.ocr_total - card.ocr_correct


def test_recall_by_tag_of_the_box_and_of_the_photo() -> None:
    tiny = FaceBox(x=0, y=0, w=0.1, h=0.1, tags=("tiny", "blurry"))
    clear = FaceBox(x=0.5, y=0, w=0.1, h=0.1)
    aside = FaceBox(x=0.8, y=0, w=0.1, h=0.1, scope="uncertain", tags=("tiny",))
    labels = PhotoLabels(faces=(tiny, clear, aside), face_tags=("light_faces",))
    found = slice_faces([labels, PhotoLabels()], [PhotoPrediction(faces=(clear,)), PhotoPrediction(faces=(clear,))])
    counted = [(item.tag, item.found, item.total) for item in found]
    assert counted == [("blurry", 0, 1), ("light_faces", 1, 2), ("tiny", 0, 1)]
    assert [item.interval for item in found] == [rate_intervals({"r": ([n], [of])})["r"] for _, n, of in counted]
    assert found[1].recall == 0.5
    together = slice_faces([labels] * 6, [PhotoPrediction(faces=(clear,))] * 6, groups=["burst"] * 3 + [""] * 3)
    assert [item.interval.groups for item in together if item.interval] == [4, 4, 4]
    assert found[1].metric == "slice/face_recall_light_faces"


def test_a_tag_without_targets_has_no_slice() -> None:
    assert slice_bibs([PhotoLabels(bibs=(), bib_tags=("no_bib",))], [PhotoPrediction()]) == ()
