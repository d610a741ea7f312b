"""Which raw object a prediction was made from: swapped, dropped, near and doubtful ones, beside a plain slow reference.

The reference is the written rule, word by word: it lists what a standardizer would have emitted, tries every place in
the trace one by one, and knows nothing of the code that it is compared with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.confidence import Trace, score_objects
from harness.scoring.coord_tokens import TraceForm, numbers_in, read_objects
from harness.scoring.standardizer import (
    AUTO,
    EXACT,
    Converter,
    Drops,
    InDoubtError,
    Standardizer,
    Standardizing,
    choose,
    reproduce,
)
from harness.tasks.confidence.postop import CONFIDENCE_FILE, DEFAULTS, SUMMARY_FILE, Options, run_postop

Box = tuple[int, ...]
SIZES = [(97, 61), (640, 480), (4000, 3000)]
ORIGIN = Standardizer(Converter.ROUND_999_LAST, Drops.DEGENERATE)


def token(k: int) -> str:
    return f"<|coord_{k}|>"


def pixels(name: str, bins: Sequence[int], size: tuple[int, int]) -> list[int] | None:
    """What a converter makes of bins, by its name."""
    if name == "pixels":
        return [min(k, size[n % 2] - 1) for n, k in enumerate(bins)]
    cut, scale, end = name.split("_")
    if max(bins) > int(scale):
        return None
    sides = [side - 1 if end == "last" else side for side in size]
    exact = [k / int(scale) * sides[n % 2] for n, k in enumerate(bins)]
    return [round(value) if cut == "round" else math.floor(value) for value in exact]


def raw(bins: Box, desc: str = "cat") -> dict[str, Any]:
    return {"desc": desc, "bbox_2d" if len(bins) == 4 else "poly": [token(k) for k in bins]}


def emitted(name: str, boxes: list[Box], size: tuple[int, int], *, drop: bool = True) -> list[dict[str, Any]]:
    """The predictions that a standardizer makes of boxes and polygons."""
    made = []
    for bins in boxes:
        points = pixels(name, bins, size)
        if points is None or (drop and (len(set(points[::2])) == 1 or len(set(points[1::2])) == 1)):
            continue
        made.append({"type": "bbox_2d" if len(bins) == 4 else "poly", "points": points, "desc": "cat"})
    return made


def trace_of(boxes: list[Box]) -> Trace:
    """All coordinates one after the other, each box with a log-probability of its own: -1, -2, ..."""
    tokens = [token(k) for bins in boxes for k in bins]
    return Trace(tokens, [-float(n + 1) for n, bins in enumerate(boxes) for _ in bins])


def scores(entries: list[dict[str, Any]]) -> list[float | None]:
    """The log-probabilities that were given, as numbers of boxes from 1; None for what has no score."""
    return [None if entry["score"] is None else -round(math.log(entry["score"]), 6) for entry in entries]


def reasons(entries: list[dict[str, Any]]) -> list[Any]:
    return [entry["confidence_details"]["failure_reason"] for entry in entries]


@pytest.mark.parametrize("size", [*SIZES, (None, None)])
@pytest.mark.parametrize("asked", [ORIGIN, AUTO, Standardizer(Converter.TOLERANCE)], ids=str)
@given(
    st.tuples(st.integers(5, 400), st.integers(5, 400), st.integers(420, 900), st.integers(420, 900)),
    st.tuples(*[st.integers(0, 3)] * 4),
)
def test_swapped_near_duplicates_never_get_each_others_score(
    size: Any, asked: Standardizer, first: Box, apart: Box
) -> None:
    """Unless their pixels are the same, so that nobody can say that they were swapped."""
    second = tuple(a + b for a, b in zip(first, apart, strict=True))
    there = emitted("round_999_last", [first, second], size if size[0] else (640, 480))
    raws = {"objects": [raw(first), raw(second)]}
    kept = score_objects(there, raws, trace_of([first, second]), size, standardizing=Standardizing(asked))
    swapped = score_objects(there[::-1], raws, trace_of([first, second]), size, standardizing=Standardizing(asked))
    assert scores(kept) in ([1, 2], [None, None])
    if there[0]["points"] != there[1]["points"]:
        assert reasons(swapped) == ["pred_alignment_mismatch"] * 2
    if asked.converter is not Converter.TOLERANCE and size[0]:
        assert scores(kept) == [1, 2]


@pytest.mark.parametrize("size", SIZES)
@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(450, 999), st.integers(450, 999)), max_size=5
    ),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 999), st.integers(0, 999), st.booleans()), max_size=4),
)
def test_degenerate_boxes_cost_only_themselves(
    size: tuple[int, int], good: list[Box], flat: list[tuple[int, int, int, bool]]
) -> None:
    boxes = list(good)
    for at, k, other, upright in flat:
        boxes.insert(at, (k, other, k, 999 - other) if upright else (other, k, 999 - other, k))
    pred, own = emitted("round_999_last", boxes, size), [n + 1 for n, box in enumerate(boxes) if box in good]
    results = score_objects(pred, {"objects": [raw(box) for box in boxes]}, trace_of(boxes), size)
    assert scores(results) == own


def test_every_name_but_auto_and_tolerance_is_exact_and_preferred_in_its_order() -> None:
    assert list(EXACT) == [each for each in Converter if each not in (Converter.AUTO, Converter.TOLERANCE)]


@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("converter", EXACT)
def test_every_converter_reproduces_what_it_makes(converter: Converter, drop: bool) -> None:
    boxes = [(k, k // 2, 999 - k // 3, 999) for k in range(0, 900, 7)] + [(5, 5, 5, 80), (1, 2, 3, 4, 5, 6)]
    by = Standardizer(converter, Drops.DEGENERATE if drop else Drops.NOTHING)
    pred, raws = emitted(converter, boxes, (1777, 1234), drop=drop), read_objects({"objects": [*map(raw, boxes)]})
    kept = [n for n, box in enumerate(boxes) if not drop or box != (5, 5, 5, 80)]
    assert raws is not None
    assert reproduce(pred, raws, (1777, 1234), by) == kept
    assert [each for each in EXACT if reproduce(pred, raws, (1777, 1234), Standardizer(each, by.drops))] == [converter]


def test_the_origins_converter_in_numbers() -> None:
    raws = read_objects({"objects": [raw((0, 0, 999, 999)), raw((500, 500, 501, 502))]})
    pred = [
        {"type": "bbox_2d", "points": [0, 0, 639, 479], "desc": "cat"},
        {"type": "bbox_2d", "points": [320, 240, 320, 241], "desc": "cat"},  # 319.8, 239.7, 320.5, 240.7
    ]
    assert raws is not None
    assert reproduce(pred, raws, (640, 480), Standardizer(ORIGIN.converter, Drops.NOTHING)) == [0, 1]
    assert reproduce(pred[:1], raws, (640, 480), ORIGIN) == [0]
    assert reproduce(pred, raws, (640, 480), ORIGIN) is None


@pytest.mark.parametrize("odd", ["text", None, {"desc": "cat"}, {"desc": "cat", "bbox_2d": [1, 2, 3]}])
def test_a_raw_object_without_a_place_may_have_been_dropped(odd: Any) -> None:
    boxes: list[Box] = [(1, 2, 30, 40), (5, 6, 70, 80)]
    output = {"objects": [raw(boxes[0]), odd, raw(boxes[1])]}
    results = score_objects(emitted("round_999_last", boxes, (640, 480)), output, trace_of(boxes), (640, 480))
    assert scores(results) == [1, 2]


def test_bins_beyond_the_scale_are_dropped() -> None:
    boxes: list[Box] = [(1, 2, 30, 40), (5, 6, 1000, 80)]
    output = {"objects": [*map(raw, boxes)]}
    assert scores(score_objects(emitted("round_999_last", boxes, (640, 480)), output, trace_of(boxes), (640, 480))) == [
        1
    ]
    edge = Standardizing(Standardizer(Converter.FLOOR_1000_EDGE, Drops.DEGENERATE))
    pred = emitted("floor_1000_edge", boxes, (640, 480))
    assert pred[1]["points"] == [3, 2, 640, 38]
    assert scores(score_objects(pred, output, trace_of(boxes), (640, 480), standardizing=edge)) == [1, 2]


def test_an_object_that_is_dropped_keeps_its_tokens_from_others() -> None:
    """The end of the degenerate box and the beginning of the polygon are the tokens of the box that follows."""
    flat, polygon, box = (1, 5, 1, 600), (200, 900, 10, 10, 60, 10), (1, 600, 200, 900)
    boxes: list[Box] = [flat, polygon, box, box]
    pred = emitted("round_999_last", boxes, (640, 480))
    assert [item["type"] for item in pred] == ["poly", "bbox_2d", "bbox_2d"]
    results = score_objects(pred, {"objects": [*map(raw, boxes)]}, trace_of(boxes), (640, 480))
    assert scores(results) == [None, 3, 4]
    assert [entry["confidence_details"]["ambiguous_matches"] for entry in results] == [0, 1, 0]


def test_an_object_with_two_geometries_takes_the_tokens_of_both() -> None:
    box = (10, 20, 300, 400)
    both = {"desc": "cat", "bbox_2d": [*map(token, box)], "poly": [*map(token, (1, 2, 3, 4, 50, 60))]}
    tokens = [token(k) for k in (*box, 1, 2, 3, 4, 50, 60, *box)]
    trace = Trace(tokens, [-1.0] * 10 + [-2.0] * 4)
    pred = emitted("round_999_last", [box], (640, 480))
    assert scores(score_objects(pred, {"objects": [both, raw(box)]}, trace, (640, 480))) == [2]


@pytest.mark.parametrize("size", [(None, None), (640, None), (None, 480), (640.5, 480.5)])
def test_without_a_size_a_prediction_must_fit_its_own_raw_object_alone(size: Any) -> None:
    far: list[Box] = [(10, 20, 300, 400), (600, 500, 900, 990), (5, 40, 5, 90)]
    near: list[Box] = [(10, 20, 300, 400), (11, 21, 301, 400)]
    for boxes, expected in ((far, [1, 2]), (near, [None, None])):
        pred = emitted("round_999_last", boxes, (640, 480))
        results = score_objects(pred, {"objects": [*map(raw, boxes)]}, trace_of(boxes), size)
        assert scores(results) == expected
    lost = score_objects(emitted("round_999_last", far[:1], (640, 480)), {"objects": [*map(raw, far)]}, None, size)
    assert reasons(lost) == ["missing_trace"]
    lost = score_objects(
        emitted("round_999_last", far[:1], (640, 480)), {"objects": [*map(raw, far)]}, trace_of(far), size
    )
    assert reasons(lost) == ["pred_alignment_mismatch"]  # the second is no box that a standardizer drops


def test_without_a_size_an_object_without_a_place_fits_whatever_has_its_name() -> None:
    box = (10, 20, 300, 400)
    pred = emitted("round_999_last", [box], (640, 480))
    for desc, expected in (("cat", [None]), ("dog", [1])):
        output = {"objects": [{"desc": desc, "bbox_2d": None}, raw(box)]}
        assert scores(score_objects(pred, output, trace_of([box]))) == expected


# How `auto` chooses, on files.

#: Two boxes of which every converter makes other pixels, and one of which all that round make the same.
WIDE: list[Box] = [(234, 263, 672, 816), (128, 356, 552, 945)]
SMALL: list[Box] = [(10, 20, 30, 40)]


def record(name: str, boxes: list[Box], size: Any = (640, 480), **fields: Any) -> dict[str, Any]:
    pred = emitted(name, boxes, size if size[0] else (640, 480), drop=fields.pop("drop", True))
    sizes = {"width": size[0], "height": size[1]} if size[0] else {}
    return {"image": "a.jpg", "pred": pred, "raw_output_json": {"objects": [*map(raw, boxes)]}, **sizes, **fields}


def run(
    folder: Path, records: list[dict[str, Any]], options: Options = DEFAULTS
) -> tuple[dict[str, Any], list[list[Any]]]:
    traces = []
    for n, each in enumerate(records):
        objects = (each["raw_output_json"] or {"objects": []})["objects"]
        tokens = [text for item in objects for text in next(value for key, value in item.items() if key != "desc")]
        traces.append({"line_idx": n, "generated_token_text": tokens, "token_logprobs": [-0.5] * len(tokens)})
    for name, rows in (("a.jsonl", records), ("t.jsonl", traces)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    run_postop(folder / "a.jsonl", folder / "t.jsonl", folder / "out", options)
    lines = [json.loads(line) for line in (folder / "out" / CONFIDENCE_FILE).read_text().splitlines()]
    return json.loads((folder / "out" / SUMMARY_FILE).read_text()), [reasons(line["objects"]) for line in lines]


@pytest.mark.parametrize(
    ("records", "converter", "compared", "reproduced"),
    [
        ([record("floor_1000_edge", WIDE)] * 3, "floor_1000_edge", 3, 3),
        ([record("round_999_last", SMALL), record("round_1000_edge", WIDE)], "round_1000_edge", 2, 2),
        ([record("round_999_last", WIDE), record("round_1000_edge", WIDE)], "round_999_last", 2, 1),
        ([record("round_1000_edge", WIDE), record("round_999_last", WIDE)], "round_999_last", 2, 1),
        ([record("pixels", WIDE)] * 2 + [record("round_999_last", WIDE)], "pixels", 3, 2),
        ([record("round_999_last", WIDE)] + [record("floor_999_last", WIDE)] * 2, "floor_999_last", 3, 2),
        ([record("round_999_last", WIDE, (None, None))], "tolerance", 0, 0),
        ([record("round_999_last", WIDE, raw_output_json=None)] * 2, "tolerance", 0, 0),
        ([record("round_999_last", WIDE, raw_output_json=None)] * 2 + [record("pixels", WIDE)], "pixels", 1, 1),
        ([record("round_999_last", [])] * 5 + [record("floor_999_edge", WIDE)], "floor_999_edge", 1, 1),
        (
            [record("pixels", WIDE, (None, None)), record("round_999_last", SMALL), record("floor_999_last", WIDE)],
            "round_999_last", 2, 1,
        ),
        ([], "tolerance", 0, 0),
    ],
)  # fmt: skip
def test_auto_takes_the_converter_that_reproduces_most_records_and_names_it(
    records: list[dict[str, Any]], converter: str, compared: int, reproduced: int, tmp_path: Path
) -> None:
    summary, found = run(tmp_path, records)
    assert (summary["converter"], summary["records_compared"], summary["records_reproduced"]) == (
        converter,
        compared,
        reproduced,
    )
    if compared:
        sized = [failed for each, failed in zip(records, found, strict=True) if "width" in each]
        assert sum(set(failed) == {None} for failed in sized) == reproduced


def test_where_no_converter_reaches_half_the_tolerance_stands_in(tmp_path: Path) -> None:
    ceiling = record("round_999_last", WIDE)
    ceiling["pred"] = [{**item, "points": [point + 1 for point in item["points"]]} for item in ceiling["pred"]]
    near = record("round_999_last", [WIDE[0], tuple(k + 1 for k in WIDE[0])])
    near["pred"] = [{**item, "points": [point + 1 for point in item["points"]]} for item in near["pred"]]
    summary, found = run(tmp_path, [ceiling, ceiling, near, record("round_999_last", WIDE)])
    assert (summary["converter"], summary["records_reproduced"]) == ("tolerance", 3)
    assert found == [[None, None], [None, None], ["pred_alignment_mismatch"] * 2, [None, None]]


def test_a_record_without_a_size_does_not_hang_on_what_the_records_beside_it_say(tmp_path: Path) -> None:
    """They emit degenerate boxes, all alike or so differently that the file is read again; it has left one out."""
    flat: Box = (300, 20, 300, 400)
    sizeless = record("round_999_last", [*WIDE, flat], (None, None))
    emitting = [record("round_999_last", [*WIDE, flat], drop=False)] * 2
    agreed, found = run(tmp_path, [sizeless, *emitting])
    doubted, again = run(tmp_path, [sizeless, *emitting, record("floor_999_last", [*WIDE, flat], drop=False)])
    assert (agreed["drops"], agreed["records_reproduced"]) == (doubted["drops"], doubted["records_reproduced"])
    assert (agreed["drops"], doubted["records_compared"]) == ("nothing", 3)
    assert found[0] == again[0] == [None] * len(WIDE)
    asked = Options(standardizer=Standardizer(Converter.AUTO, Drops.NOTHING))
    assert run(tmp_path, [sizeless, *emitting], asked)[1][0] == ["pred_alignment_mismatch"] * len(WIDE)


@pytest.mark.parametrize("last", ["round_999_last", "round_1000_edge", "nothing"])
def test_the_same_bytes_twice_also_where_a_file_is_read_again(last: str, tmp_path: Path) -> None:
    """Agreement, doubt, and nothing that reaches half; with the traces in reverse, which is a reason of its own."""
    records = [record("round_999_last", SMALL), record(last if last != "nothing" else "pixels", WIDE)]
    if last == "nothing":
        records[0]["pred"][0]["points"] = [0, 0, 1, 1]
        records += [record("floor_999_edge", WIDE), record("round_1000_last", WIDE), record("floor_1000_edge", WIDE)]
    written = []
    for _ in range(2):
        run(tmp_path, records)
        written.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
        lines = (tmp_path / "t.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / "t.jsonl").write_text("".join(lines[::-1]))
        run_postop(tmp_path / "a.jsonl", tmp_path / "t.jsonl", tmp_path / "out")
        written.append([path.read_bytes() for path in sorted((tmp_path / "out").iterdir())])
    assert written == [written[0]] * 4


def test_what_is_dropped_is_found_out_with_the_converter(tmp_path: Path) -> None:
    flat = [*WIDE, (5, 6, 5, 90)]
    kept = [record("round_999_last", WIDE), record("round_999_last", flat, drop=False)]
    summary, found = run(tmp_path, kept)
    assert (summary["converter"], summary["drops"]) == ("round_999_last", "nothing")
    assert found == [[None] * 2, [None] * 3]
    summary, found = run(tmp_path, kept, Options(standardizer=ORIGIN))
    assert (summary["drops"], found[1]) == ("degenerate", ["pred_alignment_mismatch"] * 3)


def test_a_named_converter_is_taken_at_its_word(tmp_path: Path) -> None:
    records = [record("floor_1000_edge", WIDE)] * 2 + [record("round_999_last", WIDE, (None, None))]
    summary, found = run(tmp_path, records, Options(standardizer=ORIGIN))
    assert (summary["converter"], summary["records_reproduced"]) == ("round_999_last", 0)
    assert found == [["pred_alignment_mismatch"] * 2] * 2 + [[None, None]]


NAMED = st.sampled_from([str(each) for each in EXACT])


@given(st.lists(st.tuples(NAMED, st.booleans(), st.sampled_from([WIDE, SMALL, [*SMALL, (5, 6, 5, 90)]])), max_size=8))
def test_auto_comes_to_what_plain_counting_comes_to(given_records: list[tuple[str, bool, list[Box]]]) -> None:
    counts = {(name, drop): 0 for name in map(str, EXACT) for drop in (True, False)}
    records = []
    for name, drop, boxes in given_records:
        pred, raws = emitted(name, boxes, (640, 480), drop=drop), read_objects({"objects": [*map(raw, boxes)]})
        records.append((pred, raws or [], (640, 480)))
        for each in counts:
            counts[each] += emitted(each[0], boxes, (640, 480), drop=each[1]) == pred
    most, listed = max(counts.values()), list(counts)
    name, drop = next(each for each in listed if counts[each] == most)
    expected = Standardizer(Converter(name), Drops.DEGENERATE if drop else Drops.NOTHING)
    if 2 * most < len(records) or not records:
        expected = Standardizer(Converter.TOLERANCE, Drops.AUTO)
    one_pass = Standardizing(AUTO)
    try:
        for record in records:
            one_pass.own_objects(*record)
        one_pass.finish()
    except InDoubtError:
        assert choose(records, AUTO) == expected
    else:
        assert one_pass.used == expected


# The rule in plain words, beside the code, on adversarial records.


def oracle(
    pred: list[dict[str, Any]], output: Any, tokens: list[str], size: tuple[int, int], name: str, drop: bool
) -> list[tuple[str | None, list[int], int]]:
    """For each prediction the reason why it has no score, its tokens, and how many other places were free."""
    objects = [item for item in output["objects"] if isinstance(item, dict)]
    bins = [plain_bins(item) for item in objects]
    attempts = []
    for keep_placeless in (False, True):
        made: list[tuple[int, str, str, list[int] | None]] = []
        for n, item in enumerate(objects):
            kind = "bbox_2d" if "bbox_2d" in item else "poly"
            own = bins[n]
            if own is None or (len(own) != 4 if kind == "bbox_2d" else len(own) < 6 or len(own) % 2):
                if keep_placeless:
                    made.append((n, kind, item["desc"].strip(), None))
                continue
            points = pixels(name, own, size)
            if points is None or (drop and (len(set(points[::2])) == 1 or len(set(points[1::2])) == 1)):
                continue
            made.append((n, kind, item["desc"].strip(), points))
        if len(made) == len(pred) and all(
            kind == item["type"] and desc == item["desc"].strip() and points in (None, item["points"])
            for (_, kind, desc, points), item in zip(made, pred, strict=True)
        ):
            attempts.append([n for n, *_ in made])
    if not attempts:
        return [("pred_alignment_mismatch", [], 0)] * len(pred)
    where = [n for n, text in enumerate(tokens) if text.startswith("<|coord_")]
    used: set[int] = set()
    spans: list[tuple[list[int], int] | None] = []
    for own in bins:
        free = [
            where[n : n + len(own)]
            for n in range(len(where))
            if own
            and [tokens[t] for t in where[n : n + len(own)]] == [token(k) for k in own]
            and not used & set(where[n : n + len(own)])
        ] if own else []  # fmt: skip
        spans.append((free[0], len(free) - 1) if free else None)
        used |= set(free[0]) if free else set()
    answers: list[tuple[str | None, list[int], int]] = []
    for item, n in zip(pred, attempts[0], strict=True):
        own, span = bins[n], spans[n]
        if item["type"] != "bbox_2d":
            answers.append(("unsupported_geometry_type", [], 0))
        elif own is None or len(own) != 4:
            answers.append(("missing_coord_bins", [], 0))
        elif span is None:
            answers.append(("missing_span", [], 0))
        else:
            answers.append((None, *span))
    return answers


def plain_bins(item: dict[str, Any]) -> list[int] | None:
    values = item.get("bbox_2d", item.get("poly"))
    if values is None:
        return None
    if values and all(isinstance(value, list) for value in values):
        values = [value for pair in values for value in pair]
    found = []
    for value in values:
        if isinstance(value, str):
            if not value.startswith("<|coord_"):
                return None
            value = int(value[8:-2])
        if value != int(value):
            return None
        found.append(int(value))
    return found


#: Few values, so that boxes repeat, overlap in the trace, fall together in pixels and have no area.
BIN = st.sampled_from([0, 1, 2, 3, 500, 501, 998, 999, 1000])
WRITTEN: st.SearchStrategy[Any] = st.sampled_from([token, int, float])


@st.composite
def adversarial(draw: st.DrawFn) -> tuple[Any, ...]:
    size, name, drop = draw(st.sampled_from(SIZES)), draw(NAMED), draw(st.booleans())
    objects: list[Any] = []
    boxes: list[Box] = []
    for _ in range(draw(st.integers(0, 6))):
        bins = draw(
            st.one_of(st.tuples(*[BIN] * 4), st.tuples(*[BIN] * 4), st.tuples(*[BIN] * 6), st.tuples(*[BIN] * 3))
        )
        kind, desc = "poly" if len(bins) == 6 else "bbox_2d", draw(st.sampled_from(["cat", "dog", " cat "]))
        values: list[Any] = [draw(WRITTEN)(k) for k in bins]
        shape = draw(st.sampled_from(["flat", "flat", "flat", "pairs", "broken"]))
        if shape == "pairs" and len(values) % 2 == 0:
            values = [values[n : n + 2] for n in range(0, len(values), 2)]
        if shape == "broken":
            values[0] = draw(st.sampled_from([0.5, "x"]))
        objects.append({"desc": desc, kind: values})
        boxes.append(bins)
    keep = draw(st.booleans())
    pred = []
    for item, bins in zip(objects, boxes, strict=True):
        points = pixels(name, bins, size) if plain_bins(item) and len(bins) != 3 else [9, 9, 99, 99] if keep else None
        if points is None or (drop and (len(set(points[::2])) == 1 or len(set(points[1::2])) == 1)):
            continue
        pred.append({"type": "poly" if "poly" in item else "bbox_2d", "points": points, "desc": item["desc"]})
    if len(pred) > 1 and draw(st.integers(0, 4)) == 0:
        a, b = draw(st.tuples(*[st.integers(0, len(pred) - 1)] * 2))
        pred[a], pred[b] = pred[b], pred[a]
    if pred and draw(st.integers(0, 9)) == 0:
        pred.pop(draw(st.integers(0, len(pred) - 1)))
    tokens = [
        text for bins in boxes for k in bins for text in (token(k), draw(st.sampled_from([",", "]", "<|coord|>"])))
    ]
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        tokens.insert(draw(st.integers(0, len(tokens))), token(draw(BIN)))
    return pred, {"objects": objects}, tokens, size, name, drop


@settings(max_examples=400)
@given(adversarial())
def test_adversarial_records_agree_with_the_plain_reference(case: tuple[Any, ...]) -> None:
    pred, output, tokens, size, name, drop = case
    by = Standardizing(Standardizer(Converter(name), Drops.DEGENERATE if drop else Drops.NOTHING))
    tokens_as_numbers = [-0.01 * (n + 1) for n in range(len(tokens))]
    results = score_objects(pred, output, Trace(tokens, tokens_as_numbers), size, standardizing=by)
    expected = oracle(pred, output, tokens, size, name, drop)
    found = [entry["confidence_details"] for entry in results]
    assert [
        (each["failure_reason"], list(each["matched_token_indices"]), each["ambiguous_matches"]) for each in found
    ] == expected
    for entry, (reason, own, _) in zip(results, expected, strict=True):
        if reason is None:
            assert entry["score"] == pytest.approx(math.exp(sum(tokens_as_numbers[n] for n in own) / 4))


def tolerance_oracle(pred: list[dict[str, Any]], output: Any, size: tuple[int, int], drop: bool) -> list[int] | None:
    """The raw object of each prediction, where each fits exactly one, in order, and the rest may have been dropped."""
    objects, own = output["objects"], []
    bins = [plain_bins(item) for item in objects]
    kinds = ["bbox_2d" if "bbox_2d" in item else "poly" for item in objects]
    placed = [k is not None and len(k) == (4 if kind == "bbox_2d" else 6) for k, kind in zip(bins, kinds, strict=True)]
    for item in pred:
        fitting = []
        for n, raw_object in enumerate(objects):
            if kinds[n] != item["type"] or raw_object["desc"].strip() != item["desc"].strip():
                continue
            off = [
                abs(point - k / 1000 * size[at % 2]) <= size[at % 2] / 1000 + 2 + 1e-9
                for at, (k, point) in enumerate(zip(bins[n] or (), item["points"], strict=False))
            ]
            if not placed[n] or (len(bins[n] or ()) == len(item["points"]) and all(off)):
                fitting.append(n)
        if len(fitting) != 1:
            return None
        own += fitting
    for n, own_bins in enumerate(bins):
        if n not in own and placed[n] and own_bins:
            spread = [(max(own_bins[side::2]) - min(own_bins[side::2])) / 1000 * size[side] for side in (0, 1)]
            if not drop or min(spread) >= 1:
                return None
    return own if own == sorted(set(own)) else None


@settings(max_examples=300)
@given(adversarial())
def test_the_tolerance_agrees_with_a_plain_reference(case: tuple[Any, ...]) -> None:
    pred, output, _, size, _, drop = case
    by = Standardizing(Standardizer(Converter.TOLERANCE, Drops.DEGENERATE if drop else Drops.NOTHING))
    raws = read_objects(output)
    assert raws is not None
    if pred:
        assert by.own_objects(pred, raws, size) == tolerance_oracle(pred, output, size, drop)


class TestDigits:
    """Models without coordinate tokens write the digits of a number."""

    TOKENS = ('{"', "bbox", "_2d", '":', " [", "1", "2", ",", " ", "3", "4", "5", ", ", "600", ", 7", "89", "]}")

    def test_a_coordinate_is_a_number_and_its_log_probability_the_sum_of_its_tokens(self) -> None:
        logprobs = [-0.001] * len(self.TOKENS)
        for at, value in ((5, -0.1), (6, -0.2), (9, -0.1), (10, -0.1), (11, -0.1), (13, -0.4), (14, -0.3), (15, -0.2)):
            logprobs[at] = value
        box = (12, 345, 600, 789)
        output = {"objects": [{"desc": "cat", "bbox_2d": list(box)}]}
        pred = emitted("round_999_last", [box], (640, 480))
        (entry,) = score_objects(pred, output, Trace(list(self.TOKENS), logprobs, TraceForm.DIGITS), (640, 480))
        assert entry["score"] == pytest.approx(math.exp((-0.3 - 0.3 - 0.4 - 0.5) / 4))
        assert entry["confidence_details"]["matched_token_indices"] == [5, 6, 9, 10, 11, 13, 14, 15]
        assert entry["confidence_details"]["coord_token_count"] == 8
        logprobs[6] = math.nan
        (entry,) = score_objects(pred, output, Trace(list(self.TOKENS), logprobs, TraceForm.DIGITS), (640, 480))
        assert entry["confidence_details"]["failure_reason"] == "nonfinite_logprob"

    @pytest.mark.parametrize(
        ("tokens", "numbers"),
        [
            (["[1, ", "2", "0", "]"], [(1, [0]), (20, [1, 2])]),
            (['"12', " 3", '"', ": 4"], [(4, [3])]),  # in a string
            (['"a\\"', '5"', "6"], [(6, [2])]),  # in a string with a quote
            (["1", "", "2"], [(12, [0, 2])]),  # an empty token holds no digit
            (["1, 2", ", 3"], [(None, [0]), (None, [0]), (3, [1])]),  # one token with two numbers
            (["-", "5", " 1.", "0", " 2.5", " 07", " 10000", " 1e3"],
             [(None, [0, 1]), (1, [2, 3]), (None, [4]), (None, [5]), (None, [6]), (None, [7])]),
            (['"', "12", ' "'], []),
            (['"', "12"], [(12, [1])]),  # a quote without an end
            ([], []),
        ],
    )  # fmt: skip
    def test_numbers_in_tokens(self, tokens: list[str], numbers: list[tuple[int | None, list[int]]]) -> None:
        assert list(zip(*numbers_in(tokens), strict=True)) == numbers

    @given(st.lists(st.lists(st.integers(0, 9999), min_size=4, max_size=4), max_size=4), st.randoms())
    def test_numbers_are_found_however_the_text_is_cut(self, boxes: list[list[int]], rng: Any) -> None:
        text, tokens = json.dumps([{"desc": "12 cats", "bbox_2d": box} for box in boxes]), []
        while text:
            cut = rng.randint(1, 3)
            tokens.append(text[:cut])
            text = text[cut:]
        values, held = numbers_in(tokens)
        expected = [k for box in boxes for k in box]
        assert len(values) == len(expected)
        for value, own, k in zip(values, held, expected, strict=True):
            assert value in (k, None)
            assert str(k) in "".join(tokens[n] for n in own)

    def test_a_number_that_is_no_bin_stands_in_the_way(self) -> None:
        box = (1, 2, 30, 40)
        output = {"objects": [{"desc": "cat", "bbox_2d": list(box)}]}
        trace = Trace(["1", " 2", " 0.5", " 30", " 40"], [-0.1] * 5, TraceForm.DIGITS)
        (entry,) = score_objects(emitted("round_999_last", [box], (640, 480)), output, trace, (640, 480))
        assert entry["confidence_details"]["failure_reason"] == "missing_span"

    def test_as_an_option_on_files(self, tmp_path: Path) -> None:
        box = [12, 345, 600, 789]
        item = {"type": "bbox_2d", "points": box, "desc": "cat"}
        row = {"image": "a", "width": 640, "height": 800, "pred": [item]}
        row["raw_output_json"] = {"objects": [{"desc": "cat", "bbox_2d": box}]}
        (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
        trace = {"line_idx": 0, "generated_token_text": list(self.TOKENS), "token_logprobs": [-0.1] * len(self.TOKENS)}
        (tmp_path / "t.jsonl").write_text(json.dumps(trace) + "\n")
        paths = tmp_path / "a.jsonl", tmp_path / "t.jsonl", tmp_path / "out"
        assert run_postop(*paths).card.dropped_by_reason == {"missing_span": 1}
        summary = run_postop(*paths, Options(trace_form=TraceForm.DIGITS)).to_dict()
        assert (summary["converter"], summary["trace_form"], summary["kept_pred_objects"]) == ("pixels", "digits", 1)
