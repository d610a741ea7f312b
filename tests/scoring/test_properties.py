"""What holds for every scorecard over photos, whatever the photos hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring import (
    SCORER_VERSION,
    Tally,
    intervals,
    tally_bib_errors,
    tally_bibs,
    tally_face_errors,
    tally_faces,
    tally_links,
    tally_misses,
    tally_numbers,
)
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, PhotoPrediction

Score = Callable[[Sequence[PhotoLabels], Sequence[PhotoPrediction]], Tally[Any]]
TALLIES: list[Score] = [
    tally_bibs,
    tally_numbers,
    tally_misses,
    tally_faces,
    tally_links,
    tally_bib_errors,
    tally_face_errors,
]

places = st.sampled_from([0.0, 0.04, 0.1, 0.3, 0.34, 0.7])
numbers = st.sampled_from([None, "", "1", "22", "3?", "2?", " 22 "])
bibs = st.builds(
    lambda x, w, number, scope: BibBox(x=x, y=0.5, w=w, h=0.2, number=number, scope=scope),
    places,
    st.sampled_from([0.0, 0.2]),
    numbers,
    st.sampled_from(["bib", "bib_clipped", "bib_obscured", "not_bib"]),
)
faces = st.builds(
    lambda x, scope: FaceBox(x=x, y=0.1, w=0.2, h=0.2, scope=scope),
    places,
    st.sampled_from(["keep", "uncertain", "exclude"]),
)


@st.composite
def photos(draw: st.DrawFn) -> tuple[PhotoLabels, PhotoPrediction]:
    def links(n_bibs: int, n_faces: int) -> tuple[BibFaceLink, ...]:
        pairs = [BibFaceLink(b, f) for b in range(n_bibs) for f in range(n_faces)]
        return tuple(draw(st.lists(st.sampled_from(pairs), max_size=3))) if pairs else ()

    label_bibs, label_faces = draw(st.lists(bibs, max_size=4)), draw(st.lists(faces, max_size=4))
    labels = PhotoLabels(
        bibs=draw(st.sampled_from([tuple(label_bibs), None])),
        faces=draw(st.sampled_from([tuple(label_faces), None])),
        links=draw(st.sampled_from([links(len(label_bibs), len(label_faces)), None])),
    )
    found_bibs, found_faces = draw(st.lists(bibs, max_size=4)), draw(st.lists(faces, max_size=4))
    found = PhotoPrediction(tuple(found_bibs), tuple(found_faces), links(len(found_bibs), len(found_faces)))
    return labels, found


batches = st.lists(photos(), max_size=5)


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
@given(batch=batches, data=st.data())
def test_the_order_of_photos_changes_nothing(
    score: Score, batch: list[tuple[PhotoLabels, PhotoPrediction]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(batch))))
    there = score([item[0] for item in batch], [item[1] for item in batch])
    back = score([batch[i][0] for i in order], [batch[i][1] for i in order])
    assert (back.counts == there.counts[list(order)]).all()


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
@given(batch=batches)
def test_rates_are_shares_and_f1_lies_between_precision_and_recall(
    score: Score, batch: list[tuple[PhotoLabels, PhotoPrediction]]
) -> None:
    card = score([item[0] for item in batch], [item[1] for item in batch]).scorecard()
    rates = {name: card.rate(name) for name in card.DECLARED.rates}
    assert all(0 <= rate <= 1 for rate in rates.values())
    for prefix in {name.removesuffix("_f1") for name in rates if name.endswith("_f1")}:
        recall = rates.get(f"{prefix}_recall", rates.get("detection_recall", 0.0))
        low, high = sorted((rates[f"{prefix}_precision"], recall))
        assert low - 1e-12 <= rates[f"{prefix}_f1"] <= high + 1e-12


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
def test_an_empty_set_logs_no_rate_and_no_interval(score: Score) -> None:
    for labels in ([], [PhotoLabels()], [PhotoLabels(bibs=(), faces=(), links=())]):
        tally = score(labels, [PhotoPrediction()] * len(labels))
        names = set(tally.scorecard().metrics())
        assert names.isdisjoint(ratio.metric for key, ratio in tally.card.DECLARED.rates.items() if key != "pass_rate")
        assert set(intervals(tally)) <= {"number/pass_rate"}


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
@given(batch=batches)
def test_cards_round_trip_and_say_which_rules_made_them(
    score: Score, batch: list[tuple[PhotoLabels, PhotoPrediction]]
) -> None:
    card = score([item[0] for item in batch], [item[1] for item in batch]).scorecard()
    assert type(card).from_dict(card.to_dict()) == card
    assert card.to_dict()["scorer_version"] == SCORER_VERSION
    assert {field.name for field in fields(card)} <= set(card.to_dict())
    assert {type(getattr(card, field.name)) for field in fields(card)} == {int}


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
def test_every_count_is_logged_under_a_name_of_its_own(score: Score) -> None:
    card = score([], []).card
    counts = {field.name: 100 + place for place, field in enumerate(fields(card))}
    logged = card(**counts).metrics()
    values = [
        value for name, value in logged.items() if name.startswith(("count/", "error/", "reading/", "number/partial"))
    ]
    text = {"wrong_text"} if score is tally_face_errors else set()
    assert sorted(values) == sorted(value for name, value in counts.items() if name not in text)
    assert all(value == 0 for value in card(*[0] * len(counts)).metrics().values())


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
def test_counts_that_are_not_given_are_0(score: Score) -> None:
    card = score([], []).card
    needed = {field.name: 7 for field in fields(card) if field.default is MISSING}
    others = {field.name for field in fields(card)} - needed.keys()
    assert {name: getattr(card(**needed), name) for name in others} == dict.fromkeys(others, 0)


@pytest.mark.parametrize("score", TALLIES, ids=lambda score: score.__name__)
def test_predictions_and_labels_must_cover_the_same_photos(score: Score) -> None:
    with pytest.raises(ValueError, match="1 labelled photos, 0 predictions; expected one a photo"):
        score([PhotoLabels()], [])


def test_an_interval_holds_its_rate_and_narrows_with_more_photos() -> None:
    box = BibBox(x=0, y=0, w=0.2, h=0.2)
    labels = [PhotoLabels(bibs=(box,))] * 40
    found = [PhotoPrediction(bibs=(box,) if number % 4 else ()) for number in range(40)]
    few, many = (intervals(tally_bibs(labels * times, found * times))["bib/recall"] for times in (1, 25))
    assert few.low < 0.75 < few.high
    assert many.high - many.low < (few.high - few.low) / 3
    assert np.isfinite([few.low, few.high]).all()
