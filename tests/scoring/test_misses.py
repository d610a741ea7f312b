"""Why numbers were missed: one cause for each, and the causes add up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring import BibBox, MissScorecard, missed_numbers, tally_misses, tally_numbers
from harness.types import DroppedText, PhotoLabels, PhotoPrediction
from tests.scoring.test_properties import photos

PLACE: dict[str, Any] = {"x": 0.4, "y": 0.5, "w": 0.1, "h": 0.1}
BESIDE: dict[str, Any] = {"x": 0.7, "y": 0.5, "w": 0.1, "h": 0.1}
NOWHERE: dict[str, Any] = {"x": 0, "y": 0, "w": 0, "h": 0}
LABELS = PhotoLabels(bibs=(BibBox(**PLACE, number="1184"),))


def bib(number: str | None, place: dict[str, Any] = PLACE) -> BibBox:
    return BibBox(**place, number=number, score=0.9)


def text(read: str, rule: str = "format", place: dict[str, Any] = PLACE, **by: Any) -> DroppedText:
    return DroppedText(**place, text=read, rule=rule, **by)


def why(prediction: PhotoPrediction, labels: PhotoLabels = LABELS, traced: bool = True) -> str:
    """The cause of the only missed number, and what is said about it."""
    (missed,) = missed_numbers(labels, prediction, traced)
    assert missed.number == "1184"
    return f"{missed.cause}: {missed.words()}"


SMALL = {"x": 0.42, "y": 0.58, "w": 0.06, "h": 0.01}  # a line of small print on the bib


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (PhotoPrediction(), "not_seen: not seen"),
        (PhotoPrediction(bibs=(bib("1134"),)), 'misread: seen as "1134"'),
        (PhotoPrediction(bibs=(bib("33"),)), 'misread: seen as "33"'),
        (PhotoPrediction(bibs=(bib("118?"),)), 'partial: read in part as "118?"'),
        (PhotoPrediction(bibs=(bib("19"), bib("11?"))), 'partial: read in part as "11?"'),
        (PhotoPrediction(bibs=(bib("1184?"),)), 'partial: read in part as "1184?"'),
        (PhotoPrediction(bibs=(bib("?PRINGRUN2024"),)), 'misread: seen as "?PRINGRUN2024"'),
        (PhotoPrediction(bibs=(bib("?"),)), 'misread: seen as "?"'),
        (PhotoPrediction(bibs=(bib(None),)), "unread: the bib was found and nothing read on it"),
        (
            PhotoPrediction(dropped=(text("1184", "min_char_score", value=0.46, limit=0.5),)),
            'dropped_by_rule: dropped by min_char_score 0.46 < 0.5, read "1184"',
        ),
        (
            PhotoPrediction(dropped=(text("11B4", "rival_share", value=0.9, limit=0.6),)),
            'dropped_by_rule: dropped by rival_share 0.9 > 0.6, read "11B4"',
        ),
        (PhotoPrediction(dropped=(text("", "clearance"),)), "dropped_by_rule: dropped by clearance, not read"),
        (PhotoPrediction(dropped=(text("11B4"),)), 'dropped_by_rule: dropped by format, read "11B4"'),
        (PhotoPrediction(dropped=(text("118", "partial"),)), 'partial: read in part as "118"'),
    ],
)
def test_a_missed_number_has_one_cause(found: PhotoPrediction, said: str) -> None:
    assert why(found) == said


def test_what_was_predicted_there_comes_before_what_was_dropped_and_the_number_itself_is_told() -> None:
    dropped = (text("11B4"), text("1184", "vote", value=0.41, limit=0.59))
    found = PhotoPrediction(bibs=(bib("1134"),), dropped=dropped)
    assert why(found) == 'misread: seen as "1134"; the number itself was dropped by vote 0.41 < 0.59'
    assert why(replace(found, dropped=dropped[:1])) == 'misread: seen as "1134"'
    assert why(replace(found, bibs=(bib(None),))) == 'dropped_by_rule: dropped by vote 0.41 < 0.59, read "1184"'


def test_what_lies_elsewhere_is_no_cause_unless_it_is_the_number_itself() -> None:
    assert (
        why(PhotoPrediction(bibs=(bib("1134", BESIDE),), dropped=(text("11B4", place=BESIDE),))) == "not_seen: not seen"
    )
    assert why(PhotoPrediction(dropped=(text("1184", place=BESIDE),))).startswith("dropped_by_rule")


def test_small_print_on_the_bib_is_not_the_number() -> None:
    assert why(PhotoPrediction(dropped=(text("LAKESIDE RUN", place=SMALL),))) == "not_seen: not seen"
    assert why(PhotoPrediction(dropped=(text("1I84", place=SMALL),))).startswith("dropped_by_rule")
    assert why(PhotoPrediction(dropped=(text("IIBA"),))).startswith("dropped_by_rule")  # as high as the bib


def test_a_neighbour_that_is_read_right_is_no_misreading() -> None:
    near: dict[str, Any] = {"x": 0.43, "y": 0.5, "w": 0.1, "h": 0.1}  # half of it lies on the other bib
    labels = PhotoLabels(bibs=(*(LABELS.bibs or ()), BibBox(**near, number="53")))
    assert why(PhotoPrediction(bibs=(bib("53", near),)), labels) == "not_seen: not seen"
    twice = PhotoPrediction(bibs=(bib("53", near), bib("53", {"x": 0.39, "y": 0.5, "w": 0.04, "h": 0.1})))
    assert why(twice, labels) == 'misread: seen as "53"'


def test_without_coordinates_likeness_decides() -> None:
    labels = PhotoLabels(bibs=(BibBox(**NOWHERE, number="1184"), BibBox(**NOWHERE, number="53")))
    right = bib("53")
    assert why(PhotoPrediction(bibs=(right, bib("1134"))), labels) == 'misread: seen as "1134"'
    assert why(PhotoPrediction(bibs=(right, bib("?184"))), labels) == 'partial: read in part as "?184"'
    assert why(PhotoPrediction(bibs=(right, bib("999"))), labels) == "not_seen: not seen"
    assert why(PhotoPrediction(bibs=(right,), dropped=(text("11B4"),)), labels).startswith("dropped_by_rule")
    assert why(PhotoPrediction(bibs=(right,), dropped=(text("VOLTA"),)), labels) == "not_seen: not seen"
    assert why(PhotoPrediction(dropped=(text("11B4", place=NOWHERE),))).startswith("dropped_by_rule")


def test_a_reader_without_a_trace_is_never_said_to_have_seen_nothing() -> None:
    assert why(PhotoPrediction(), traced=False) == "no_trace: no trace: the reader does not tell what it saw"
    assert why(PhotoPrediction(bibs=(bib("1134"),)), traced=False) == 'misread: seen as "1134"'
    card = tally_misses([LABELS], [PhotoPrediction()]).scorecard()
    assert (card.no_trace, card.not_seen) == (1, 0)


def test_what_is_no_target_is_never_missed() -> None:
    for scope in ("bib_obscured", "not_bib"):
        assert missed_numbers(PhotoLabels(bibs=(BibBox(**PLACE, number="7", scope=scope),)), PhotoPrediction()) == ()
    assert missed_numbers(PhotoLabels(bibs=(BibBox(**PLACE, number="7?"),)), PhotoPrediction()) == ()
    assert missed_numbers(PhotoLabels(), PhotoPrediction()) == ()


def test_counts_and_their_names() -> None:
    found = [PhotoPrediction(), PhotoPrediction(bibs=(bib("1134"),)), PhotoPrediction(bibs=(bib("1184"),))]
    card = tally_misses([LABELS] * 3, found, traced=True).scorecard()
    assert card == MissScorecard(not_seen=1, misread=1)
    assert card.metrics()["reading/not_seen"] == card.metrics()["reading/misread"] == 1
    assert card.metrics().keys() == {
        f"reading/{cause}" for cause in ("not_seen", "misread", "partial", "dropped_by_rule", "unread", "no_trace")
    }


texts = st.builds(
    lambda x, w, read, rule: DroppedText(x=x, y=0.5, w=w, h=0.2, text=read, rule=rule),
    st.sampled_from([0.0, 0.04, 0.1, 0.3, 0.7]),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from(["", "1", "2Z", "22", "RUN"]),
    st.sampled_from(["", "format", "partial", "vote"]),
)


@given(st.lists(st.tuples(photos(), st.lists(texts, max_size=3)), max_size=5), st.booleans())
def test_the_causes_add_up_to_the_missed_numbers_photo_by_photo(batch: list[Any], traced: bool) -> None:
    labels = [known for (known, _), _ in batch]
    found = [replace(prediction, dropped=tuple(dropped)) for (_, prediction), dropped in batch]
    causes, numbers = tally_misses(labels, found, traced), tally_numbers(labels, found)
    assert causes.counts.sum(axis=1).tolist() == numbers.column("number_fn").tolist()
    assert causes.counts.min(initial=0) >= 0
    assert not causes.column("no_trace" if traced else "not_seen").any()
