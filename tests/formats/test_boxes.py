"""Boxes on their way into a reference set: every edge is checked, cut at the border, and a polygon gives its hull."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import GradingError, ReferenceSetError
from harness.formats import import_labels
from harness.formats.document import Box, stated_size
from harness.formats.labels import unit_box
from harness.formats.yolo import read_shapes
from harness.references.store import LabelStore
from tests.references.test_importing import photos, xywh, yolo

SIZE = (200, 100)
#: Which edge sticks out -> a box with that edge alone far outside the photo.
OUTSIDE = {
    "left": (-30, 20, 40, 60),
    "top": (10, -30, 40, 60),
    "right": (10, 20, 230, 60),
    "bottom": (10, 20, 40, 130),
}
#: Which edge -> the same by as much as rounding may do, and what is left of it.
ROUNDED = {
    "left": ((-1, 20, 40, 60), (0, 0.2, 0.2, 0.4)),
    "top": ((10, -1, 40, 60), (0.05, 0, 0.15, 0.6)),
    "right": ((10, 20, 201, 60), (0.05, 0.2, 0.95, 0.4)),
    "bottom": ((10, 20, 40, 101), (0.05, 0.2, 0.15, 0.8)),
}
#: The same edges of a YOLO line: centre and size.
YOLO_OUTSIDE = {
    "left": "0.1 0.5 0.24 0.1",
    "top": "0.5 0.1 0.1 0.24",
    "right": "0.9 0.5 0.24 0.1",
    "bottom": "0.5 0.9 0.1 0.24",
}


def box(*edges: float) -> Box:
    return Box.of_edges(edges, "here", ReferenceSetError)


@pytest.mark.parametrize("edge", OUTSIDE)
def test_a_box_that_sticks_out_at_one_edge_is_refused(edge: str) -> None:
    with pytest.raises(ReferenceSetError, match=r"here: the box from .* sticks out of the photo, which is 200 x 100"):
        unit_box(box(*OUTSIDE[edge]), SIZE, "here")


@pytest.mark.parametrize("edge", ROUNDED)
def test_a_pixel_at_one_edge_is_rounding_and_cut(edge: str) -> None:
    given, expected = ROUNDED[edge]
    assert tuple(unit_box(box(*given), SIZE, "here").values()) == pytest.approx(expected)
    beyond = tuple(value * 1.02 if value in (-1, 101, 201) else value for value in given)
    with pytest.raises(ReferenceSetError, match="sticks out"):
        unit_box(box(*beyond), SIZE, "here")


@pytest.mark.parametrize("edges", [(201, 20, 230, 60), (10, 101, 40, 130)], ids=["right of it", "below it"])
def test_a_box_beside_the_photo_is_refused_even_where_boxes_are_cut(edges: tuple[float, ...]) -> None:
    with pytest.raises(ReferenceSetError, match="sticks out"):
        unit_box(box(*edges), SIZE, "here", tolerance=float("inf"))


@pytest.mark.parametrize("edge", YOLO_OUTSIDE)
def test_a_yolo_box_that_sticks_out_at_one_edge_is_refused(tmp_path: Path, edge: str) -> None:
    with pytest.raises(ReferenceSetError, match=r"a\.txt: line 1: the box .* sticks out"):
        import_labels(LabelStore(tmp_path / "set"), "yolo", yolo(tmp_path / "yolo", f"0 {YOLO_OUTSIDE[edge]}"))


@pytest.mark.parametrize(
    "edges",
    [
        (40, 20, 10, 60),
        (10, 60, 40, 20),
        *(
            tuple(bad if place == n else edge for place, edge in enumerate((10, 20, 40, 60)))
            for n in range(4)
            for bad in (float("nan"), float("inf"), 1e9, -1e9)
        ),
    ],
    ids=str,
)
def test_what_is_no_box_is_refused(edges: tuple[float, ...]) -> None:
    with pytest.raises(GradingError, match="here: not a box: left"):
        Box.of_edges(edges, "here", GradingError)


def test_a_box_keeps_what_its_file_says() -> None:
    assert Box.of_size((0.1, 0.2, 0.7, 0.1), "here", GradingError).xywh == (0.1, 0.2, 0.7, 0.1)
    assert box(0.1, 0.2, 0.8, 0.3)[:4] == (0.1, 0.2, 0.8, 0.3)


@pytest.mark.parametrize(
    ("stated", "size"),
    [((200, 100), (200, 100)), ((0, 0), None), ((200, 0), None), ((0, 100), None), ((float("nan"), 1), None)],
)
def test_a_size_that_a_tool_does_not_know_is_none(stated: tuple[float, float], size: tuple[int, int] | None) -> None:
    assert stated_size(*stated) == size


# Polygons


def test_yolo_boxes_and_polygons_in_one_file(tmp_path: Path) -> None:
    text = (
        "0 0.15 0.55 0.1 0.1\n"
        "0 0.30 0.40 0.50 0.35 0.45 0.70\n"  # a triangle
        "1 0.62 0.10 0.70 0.15 0.68 0.30 0.60 0.28 0.55 0.20\n"  # five points
        "1 0.05 0.05 0.1 0.1\n"
        "1 0.20 0.10 0.30 0.20 0.20 0.30 0.10 0.20\n"  # a box that is turned
    )
    store = LabelStore(tmp_path / "set")
    import_labels(store, "yolo", yolo(tmp_path / "yolo", text))
    assert xywh(photos(store)["a.jpg"]) == [
        (0.1, 0.5, 0.1, 0.1),
        (0.3, 0.35, 0.2, 0.35),
        (0.55, 0.1, 0.15, 0.2),
        (0.0, 0.0, 0.1, 0.1),
        (0.1, 0.1, 0.2, 0.2),
    ]


def test_a_polygon_is_cut_at_the_border_as_a_box_is(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "set")
    import_labels(store, "yolo", yolo(tmp_path / "yolo", "0 -0.005 0.1 1.005 0.2 0.5 1.009"))
    assert xywh(photos(store)["a.jpg"]) == [(0.0, 0.1, 1.0, 0.9)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0", "expected class and four numbers .* got 1 fields"),
        ("0 0.1 0.1", "expected class and four numbers"),
        ("0 0.5 0.5 0.1 0.1 0.93", "expected class and four numbers .* got 6 fields"),
        ("0 0.1 0.1 0.2 0.2 0.3 0.1 0.93", "expected class and four numbers"),
        ("0 0.1 0.1 0.2 0.2 0.3 x", "expected class and four numbers"),
        ("0 0.1 0.1 0.2 0.2 0.3 nan", "not a polygon"),
        ("0 0.1 0.1 0.2 inf 0.3 0.2", "not a polygon"),
        ("0 0.1 0.1 0.2 0.2 0.3 1.02", "the box .* sticks out"),
        ("7 0.1 0.1 0.2 0.2 0.3 0.1", "no class 7"),
    ],
)
def test_a_broken_polygon_is_named_by_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    store = LabelStore(tmp_path / "set")
    with pytest.raises(ReferenceSetError, match=rf"a\.txt: line 2: {message}"):
        import_labels(store, "yolo", yolo(tmp_path / "yolo", f"0 0.5 0.5 0.1 0.1\n{line}\n"))
    assert not store.root.exists()


def test_poses_are_not_taken_for_polygons(tmp_path: Path) -> None:
    folder = yolo(tmp_path / "yolo", "0 0.5 0.5 0.1 0.1 0.2 0.3 2 0.4 0.5 2")
    (folder / "classes.txt").unlink()
    (folder / "data.yaml").write_text("names: [bib, face]\nkpt_shape: [2, 3]\n")
    with pytest.raises(ReferenceSetError, match=r"data\.yaml: kpt_shape: this set has poses"):
        import_labels(LabelStore(tmp_path / "set"), "yolo", folder)


share = st.floats(0, 1, allow_nan=False)


@given(st.lists(st.tuples(share, share), min_size=3, max_size=12))
def test_the_box_of_a_polygon_is_the_least_and_greatest_of_its_points(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[float, float]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "polygon.txt"
    file.write_text("0 " + " ".join(f"{x!r} {y!r}" for x, y in points) + "\n")
    (shape,) = read_shapes(file, {0: "bib"})
    xs, ys = zip(*points, strict=True)
    assert shape.box[:4] == (min(xs), min(ys), max(xs), max(ys))
