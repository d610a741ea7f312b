"""One score a box from its coordinate tokens: each scenario and each failure reason of the rules, by its name."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.confidence import (
    Entry,
    Failure,
    Reducer,
    Trace,
    merge_scores,
    score_objects,
)
from harness.scoring.confidence_card import ConfidenceScorecard, tally_confidence
from harness.scoring.coord_tokens import Coordinates, Span, read_bins
from harness.scoring.standardizer import Drops, Standardizer, Standardizing, fits

SIZE = (1000, 1000)
NEG_INF, INF, NAN = -math.inf, math.inf, math.nan


def token(k: int) -> str:
    return f"<|coord_{k}|>"


def box(*bins: int, desc: str = "cat") -> dict[str, Any]:
    """A prediction whose pixels are its bins, as in an image of 1000 x 1000."""
    return {"type": "bbox_2d", "points": list(bins), "desc": desc}


def raw(*items: dict[str, Any]) -> dict[str, Any]:
    return {"objects": [{"desc": item["desc"], item["type"]: list(map(token, item["points"]))} for item in items]}


def trace(*bins: int, between: str = ", ", logprob: float = -0.1) -> Trace:
    """The tokens of coordinates with other tokens in between; coordinate n is token 2n."""
    tokens = [text for k in bins for text in (token(k), between)]
    return Trace(tokens, [logprob] * len(tokens))


def score(pred: list[dict[str, Any]], given: Trace | None, **options: Any) -> list[Entry]:
    return score_objects(pred, options.pop("raw_output", raw(*pred)), given, SIZE, **options)


def spans(tokens: list[str], *objects: tuple[int, ...]) -> list[Span | None]:
    """Where objects of these bins stand."""
    return Coordinates(tokens).place_all([("bbox_2d", "cat", bins, True) for bins in objects])


def details(entries: list[Entry], key: str) -> list[Any]:
    return [entry["confidence_details"][key] for entry in entries]


def reasons(entries: list[Entry]) -> list[Failure | None]:
    """The failure reasons, once it is clear that each entry agrees with its own."""
    for entry, reason in zip(entries, details(entries, "failure_reason"), strict=True):
        assert entry["kept"] is (reason is None)
        assert entry["confidence"] == entry["score"]
        assert (entry["score"] is None) is (reason is not None)
    assert [entry["object_idx"] for entry in entries] == list(range(len(entries)))
    return details(entries, "failure_reason")


A, B = box(1, 2, 3, 4), box(5, 6, 7, 8, desc="dog")


def test_scenario_bbox_confidence_computed_from_4_coord_tokens() -> None:
    logprobs = [-0.1, -0.2, -0.3, -0.4]
    results = score([A], Trace([token(k) for k in (1, 2, 3, 4)], logprobs))
    assert results[0]["confidence"] == results[0]["score"] == pytest.approx(math.exp(fmean(logprobs)), rel=1e-15)
    assert reasons(results) == [None]
    assert details(results, "matched_token_indices") == [[0, 1, 2, 3]]


def test_scenario_missing_trace_yields_missing_trace() -> None:
    poly = {"type": "poly", "points": [1, 2, 3, 4, 5, 6], "desc": "cat"}
    assert reasons(score([A, B, poly], None)) == [Failure.MISSING_TRACE] * 3


def test_trace_len_mismatch() -> None:
    assert reasons(score([A, B], Trace(["a", "b"], [-0.1]))) == [Failure.TRACE_LEN_MISMATCH] * 2


def test_scenario_unsupported_geometry_yields_null_confidence() -> None:
    poly = {"type": "poly", "points": [1, 2, 3, 4, 5, 6], "desc": "cat"}
    results = score([poly, B], trace(1, 2, 3, 4, 5, 6, 5, 6, 7, 8))
    assert reasons(results) == [Failure.UNSUPPORTED_GEOMETRY_TYPE, None]


@pytest.mark.parametrize("raw_output", [None, {}, {"objects": None}, "text", {"objects": "text"}])
def test_scenario_missing_raw_payload_yields_missing_coord_bins(raw_output: Any) -> None:
    poly = {"type": "poly", "points": [1, 2, 3, 4, 5, 6], "desc": "cat"}
    results = score([A, poly], trace(1, 2, 3, 4), raw_output=raw_output)
    assert reasons(results) == [Failure.MISSING_COORD_BINS, Failure.UNSUPPORTED_GEOMETRY_TYPE]


@pytest.mark.parametrize(
    "geometry",
    [{}, {"bbox_2d": None}, {"bbox_2d": [1, 2, 3]}, {"bbox_2d": [1, 2, 3, "x"]}, {"bbox_2d": [[1, 2], [3, "x"]]}],
)
def test_missing_coord_bins_of_one_object_leaves_the_others(geometry: dict[str, Any]) -> None:
    output = raw(A, B)
    output["objects"][0] = {"desc": "cat", **geometry}
    results = score([A, B], trace(1, 2, 3, 4, 5, 6, 7, 8), raw_output=output)
    assert reasons(results) == [Failure.MISSING_COORD_BINS, None]


def test_missing_span() -> None:
    assert reasons(score([A], trace(1, 2, 3))) == [Failure.MISSING_SPAN]
    assert reasons(score([A], trace(1, 2, 4, 3))) == [Failure.MISSING_SPAN]
    assert reasons(score([A], Trace([], []))) == [Failure.MISSING_SPAN]


@pytest.mark.parametrize("value", [NAN, INF, NEG_INF, None, 0.1, 1e6, -4e3])
@pytest.mark.parametrize("reducer", Reducer)
def test_nonfinite_logprob(value: float | None, reducer: Reducer) -> None:
    """Also where a score would not lie in (0, 1]: above 0 there is no log-probability, far below the score is 0."""
    logprobs: list[float | None] = (
        [value] * 4 if value is not None and math.isfinite(value) else [-0.1, value, -0.1, -0.1]
    )
    results = score([A], Trace([token(k) for k in (1, 2, 3, 4)], logprobs), reducer=reducer)
    assert reasons(results) == [Failure.NONFINITE_LOGPROB]
    assert details(results, "coord_token_count") == [4]


def test_nonfinite_logprob_of_a_token_that_is_not_matched_does_no_harm() -> None:
    results = score([A], Trace([token(1), ",", token(2), token(3), token(4)], [-0.1, NAN, -0.1, -0.1, -0.1]))
    assert reasons(results) == [None]


@pytest.mark.parametrize(
    "objects",
    [
        raw(A)["objects"],
        raw(A, B, B)["objects"],
        raw(B, A)["objects"],
        raw(A, {**B, "desc": "Dog"})["objects"],
        raw(A, {**B, "type": "poly"})["objects"],
        raw(A, {**B, "points": [5, 6, 7, 80]})["objects"],
        [*raw(A)["objects"], "dog"],
        [*raw(A)["objects"], {"desc": 3, "bbox_2d": [5, 6, 7, 8]}],
    ],
    ids=["fewer", "more", "order", "desc", "type", "points", "not an object", "desc is no text"],
)
def test_scenario_pred_alignment_mismatch_yields_pred_alignment_mismatch(objects: list[Any]) -> None:
    results = score([A, B], trace(1, 2, 3, 4, 5, 6, 7, 8), raw_output={"objects": objects})
    assert reasons(results) == [Failure.PRED_ALIGNMENT_MISMATCH] * 2


def test_alignment_trims_white_space_around_descriptions_and_nothing_else() -> None:
    output = {"objects": [{"desc": "  cat\n", "bbox_2d": [1, 2, 3, 4]}]}
    assert reasons(score([A], trace(1, 2, 3, 4), raw_output=output)) == [None]


def test_object_idx_oob_is_observable() -> None:
    good = score([A, B], trace(1, 2, 3, 4, 5, 6, 7, 8))
    kept, results = merge_scores([A, B], [good[1], {**good[0], "object_idx": 2}, {**good[0], "object_idx": -1}])
    assert kept == [{**B, "score": good[1]["score"]}]
    assert details(results, "failure_reason") == [None, Failure.OBJECT_IDX_OOB, Failure.OBJECT_IDX_OOB]
    assert [(entry["score"], entry["kept"]) for entry in results[1:]] == [(None, False)] * 2


def test_scenario_repeated_coord_token_sequences_choose_earliest_unused_match() -> None:
    results = score([A, A, A], trace(1, 2, 3, 4, 9, 1, 2, 3, 4))
    assert details(results, "matched_token_indices") == [[0, 2, 4, 6], [10, 12, 14, 16], ()]
    assert details(results, "ambiguous_matches") == [1, 0, 0]
    assert reasons(results) == [None, None, Failure.MISSING_SPAN]


def test_repeated_patterns_that_overlap_share_no_token() -> None:
    same = box(5, 5, 5, 5)
    results = score([same, same], trace(*[5] * 9), standardizing=Standardizing(Standardizer(drops=Drops.NOTHING)))
    assert details(results, "matched_token_indices") == [[0, 2, 4, 6], [8, 10, 12, 14]]
    assert details(results, "ambiguous_matches") == [5, 1]


def test_scenario_pixel_space_points_are_not_inverted_for_matching() -> None:
    """The pixels would lead to bins 150 and 350; the model wrote 151 and 349."""
    item = {"type": "bbox_2d", "points": [15, 15, 35, 35], "desc": "cat"}
    output = {"objects": [{"desc": "cat", "bbox_2d": [151, 151, 349, 349]}]}
    by_bins = score_objects([item], output, trace(151, 151, 349, 349), (100, 100))
    by_pixels = score_objects([item], output, trace(150, 150, 350, 350), (100, 100))
    assert reasons(by_bins) == [None]
    assert reasons(by_pixels) == [Failure.MISSING_SPAN]


def test_tokens_with_punctuation_between_coordinates_match() -> None:
    tokens = ["[", token(1), ",", " ", token(2), "], [", token(3), "<|coord_", token(4), "]"]
    results = score([A], Trace(tokens, [-0.5] * len(tokens)))
    assert details(results, "matched_token_indices") == [[1, 4, 6, 8]]


def test_a_coordinate_token_of_another_object_in_between_does_not_match() -> None:
    assert reasons(score([A], trace(1, 2, 77, 3, 4))) == [Failure.MISSING_SPAN]


@pytest.mark.parametrize(
    "text", ["<|coord_01|>", "<|coord_|>", " <|coord_2|>", "<|coord_2|> ", "<|coord_-2|>", "coord_2"]
)
def test_what_is_almost_a_coordinate_token_is_none(text: str) -> None:
    assert spans([token(1), text, token(3), token(4), token(5)], (1, 3, 4, 5)) == [([0, 2, 3, 4], 0)]
    assert read_bins([text, 1, 2, 3]) is None


@pytest.mark.parametrize(
    ("values", "bins"),
    [
        ([0, 1, 9998, 9999], (0, 1, 9998, 9999)),
        ([token(0), token(9999), token(10), token(1)], (0, 9999, 10, 1)),
        ([token(1), 2], (1, 2)),
        ([1, 2, 3, 10_000], None),
        ([1, 2, 3, -1], None),
        ([1, 2, 3, 4.0], (1, 2, 3, 4)),
        ([1, 2, 3, 4.5], None),
        ([1, 2, 3, NAN], None),
        ([[1, 2.0], [token(3), 4]], (1, 2, 3, 4)),
        ([[1, 2], 3, 4], None),
        ([[1, 2, 3, 4]], None),
        ([[1, 2], [3, True]], None),
        ([], ()),
        ([1, 2, 3, True], None),
        ([token(1), token(2), token(3), token(10_000)], None),
        ([token(1), token(2), token(3), None], None),
        ((1, 2, 3, 4), None),
        (None, None),
    ],
)
def test_bins_are_whole_numbers_of_up_to_four_digits(values: Any, bins: tuple[int, ...] | None) -> None:
    assert read_bins(values) == bins


def test_bins_may_be_numbers_or_tokens_and_raw_objects_may_name_their_type() -> None:
    output = {"objects": [{"type": "bbox_2d", "points": [1, token(2), 3, token(4)], "desc": "cat"}]}
    assert reasons(score([A], trace(1, 2, 3, 4), raw_output=output)) == [None]


def test_a_raw_object_of_another_type_is_not_the_prediction() -> None:
    output = {"objects": [{"type": "poly", "points": [1, 2, 3, 4], "desc": "cat"}]}
    assert reasons(score([A], trace(1, 2, 3, 4), raw_output=output)) == [Failure.PRED_ALIGNMENT_MISMATCH]


def test_six_bins_make_no_box_even_where_the_raw_object_names_no_type() -> None:
    six, output = box(1, 2, 3, 4, 5, 6), {"objects": [{"points": [1, 2, 3, 4, 5, 6], "desc": "cat"}]}
    assert reasons(score([six], trace(1, 2, 3, 4, 5, 6), raw_output=output)) == [Failure.MISSING_COORD_BINS]


def test_an_entry_says_which_object_it_is_about_and_how_it_was_scored() -> None:
    (entry,) = score([B], trace(5, 6, 7, 8))
    assert {name: entry[name] for name in ("object_idx", "type", "desc", "points")} == {"object_idx": 0, **B}
    assert entry["confidence_details"] == {
        "method": "exp_mean_logprob",
        "coord_token_count": 4,
        "matched_token_indices": [0, 2, 4, 6],
        "ambiguous_matches": 0,
        "failure_reason": None,
    }


def test_a_box_may_stand_right_before_one_that_was_placed_first() -> None:
    places = spans([token(k) for k in range(1, 9)], (5, 6, 7, 8), (1, 2, 3, 4))
    assert places == [([4, 5, 6, 7], 0), ([0, 1, 2, 3], 0)]


@pytest.mark.parametrize(
    ("reducer", "method", "expected"),
    [
        (Reducer.MEAN_LOGPROB, "exp_mean_logprob", math.exp(-0.25)),
        (Reducer.MIN_LOGPROB, "exp_min_logprob", math.exp(-0.4)),
        (Reducer.SUM_LOGPROB, "exp_sum_logprob", math.exp(-1.0)),
        (Reducer.PRODUCT, "product", math.exp(-1.0)),
        (Reducer.MEAN_PROB, "mean_prob", fmean(map(math.exp, [-0.1, -0.2, -0.3, -0.4]))),
    ],
)
def test_reducers(reducer: Reducer, method: str, expected: float) -> None:
    results = score([A], Trace([token(k) for k in (1, 2, 3, 4)], [-0.1, -0.2, -0.3, -0.4]), reducer=reducer)
    assert results[0]["score"] == pytest.approx(expected, rel=1e-12)
    assert details(results, "method") == [method]
    assert reducer.method == method


@given(
    st.lists(st.integers(0, 999), min_size=4, max_size=4),
    st.integers(1, 8000),
    st.integers(1, 8000),
    st.sampled_from(
        [lambda k, side: k / 1000 * side, lambda k, side: k / 999 * side, lambda k, side: k / 999 * (side - 1)]
    ),
    st.sampled_from([round, math.floor, math.ceil, float]),
)
def test_every_usual_conversion_to_pixels_is_recognised(
    bins: list[int], width: int, height: int, convert: Any, cut: Any
) -> None:
    points = [cut(convert(k, side)) for k, side in zip(bins, (width, height) * 2, strict=True)]
    assert fits(tuple(bins), points, (width, height))
    assert fits(tuple(bins), points, (None, height))
    assert fits(tuple(bins), points, (None, None))


def test_pixels_of_another_place_are_refused() -> None:
    assert not fits((100, 100, 200, 200), [64, 48, 140, 96], (640, 480))
    assert not fits((100, 100, 200, 200), [64, 48, 256, 96], (None, None))
    assert not fits((100, 100, 200, 200), [64, 48, math.nan, 96], (640, 480))
    assert not fits((100, 100, 200, 200), [64, 48, math.nan, 96], (None, None))
    assert not fits((100, 100, 200), [64, 48, 128, 96], (640, 480))


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_point_may_be_off_by_one_bin_and_two_pixels(place: int, sign: int) -> None:
    width, height = 2000, 4000
    points, one_bin = [200.0, 400.0, 400.0, 800.0], (2.0, 4.0)[place % 2]
    for off, expected in ((one_bin + 2, True), (one_bin + 2.01, False)):
        moved = [point + sign * off * (n == place) for n, point in enumerate(points)]
        assert fits((100, 100, 200, 200), moved, (width, height)) is expected
        assert fits((100, 100, 200, 200, 0, 0), [*moved, 0.0, 0.0], (width, height)) is expected


@pytest.mark.parametrize("place", range(4))
def test_what_is_at_the_edge_is_not_in_the_middle(place: int) -> None:
    points = [500.0 * (n != place) for n in range(4)]
    assert not fits((500, 500, 500, 500), points, (1000, 1000))
    bins = tuple(500 * (n != place) for n in range(4))
    assert not fits(bins, [500.0] * 4, (1000, 1000))


@pytest.mark.parametrize("size", [(640, 480), (640, None), (None, 480), (None, None)])
def test_a_side_that_is_unknown_is_judged_by_its_own_coordinates(size: tuple[float | None, float | None]) -> None:
    assert fits((100, 100, 200, 200), [64, 48, 128, 96], size)
    assert not fits((100, 100, 200, 200), [64, 48, 228, 96], size)
    assert not fits((100, 100, 200, 200), [64, 48, 128, 196], size)


@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6).map(tuple), max_size=6),
    st.lists(
        st.one_of(st.integers(0, 3).map(token), st.sampled_from([",", f"\0{token(1)}", f"{token(2)}\0", "\0", ""])),
        max_size=40,
    ),
)
def test_spans_agree_with_a_plain_search(objects: list[tuple[int, ...]], tokens: list[str]) -> None:
    coords, used, expected = [i for i, text in enumerate(tokens) if text in map(token, range(4))], set[int](), []
    for bins in objects:
        places = [coords[i : i + len(bins)] for i in range(len(coords) - len(bins) + 1)]
        places = [place for place in places if place and [tokens[i] for i in place] == [token(k) for k in bins]]
        free = [place for place in places if used.isdisjoint(place)]
        expected.append((free[0], len(free) - 1) if free else None)
        used.update(free[0] if free else ())
    assert spans(tokens, *objects) == expected


class TestScorecard:
    def test_objects_are_kept_or_dropped_for_one_reason(self) -> None:
        tally = tally_confidence([{"kept": 3, "missing_span": 1}, {"kept": 1, "missing_trace": 2, "missing_span": 1}])
        card = tally.scorecard()
        assert (card.kept, card.objects, card.samples) == (4, 8, 2)
        assert card.kept_fraction == card.metrics()["confidence/kept_fraction"] == 0.5
        assert card.dropped_by_reason == {"missing_trace": 2, "missing_span": 2}
        assert tally.column("kept").tolist() == [3, 1]

    def test_every_reason_is_a_count_of_its_own_that_is_logged_and_0_unless_given(self) -> None:
        assert set(ConfidenceScorecard().metrics().values()) == {0.0}
        for reason in Failure:
            card = ConfidenceScorecard(**{reason: 7})
            assert (card.objects, card.dropped_by_reason) == (7, {reason: 7})
            assert card.metrics()[f"confidence/dropped_{reason}"] == 7.0
        logged = ConfidenceScorecard(kept=3, samples=2).metrics()
        assert (logged["confidence/kept"], logged["confidence/samples"]) == (3.0, 2.0)


def test_a_list_with_something_else_among_its_tokens_has_no_bins() -> None:
    tokens = ["<|coord_1|>", "<|coord_2|>", "<|coord_3|>", "<|coord_4|>"]
    assert read_bins(tokens) == (1, 2, 3, 4)
    others: tuple[object, ...] = ([5], {}, "coord", None)
    for odd in others:
        assert read_bins([*tokens[:2], odd, tokens[3]]) is None
