"""Shapes that are no upright boxes: what area each of them is, and how much two of them overlap."""

from __future__ import annotations

import doctest
import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

import harness.scoring.shapes
from harness.scoring.grading import Annotation, GradingRules, grade
from harness.scoring.shapes import Drawing, Point, ellipse, lines_of, mask, points, polygon, polyline, turned_box

SIZE = (640, 480)
SQUARE = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)]


def shape(id: str, drawing: Drawing) -> Annotation:
    return Annotation(id, "car", drawing.box, drawing=drawing)


def graded_iou(a: Annotation, b: Annotation, rules: GradingRules | None = None) -> float:
    """The IoU that the grade of `b` beside `a` goes by; 0 where they are no match."""
    (image,) = grade({"a": [a]}, {"a": [b]}, rules).images
    return image.matched[0].iou if image.matched else 0.0


def iou(a: Drawing, b: Drawing, rules: GradingRules | None = None) -> float:
    return graded_iou(shape("g", a), shape("s", b), rules)


class TestAreas:
    def test_the_examples_of_the_module_hold(self) -> None:
        assert doctest.testmod(harness.scoring.shapes).failed == 0

    def test_half_a_square_is_a_triangle(self) -> None:
        assert iou(polygon([SQUARE]), polygon([SQUARE[:3]])) == pytest.approx(0.5, abs=1e-12)

    def test_several_rings_are_one_area(self) -> None:
        two = polygon([SQUARE, [(x + 5, y) for x, y in SQUARE]])
        assert two.geometry.area == 150
        assert iou(two, polygon([[(0, 0), (15, 0), (15, 10), (0, 10)]])) == pytest.approx(1, abs=1e-12)

    def test_a_polygon_that_crosses_itself_has_all_that_it_encloses(self) -> None:
        bow_tie = polygon([[(0, 0), (10, 10), (10, 0), (0, 10)]])
        assert bow_tie.geometry.area == pytest.approx(50)
        twice_around = polygon([[*SQUARE, *[(x / 2, y / 2) for x, y in SQUARE]]])
        assert twice_around.geometry.area == pytest.approx(100)

    def test_a_box_turned_by_a_right_angle_stands_upright(self) -> None:
        assert turned_box((0, 0, 40, 20), 90).box == pytest.approx((10, -10, 20, 40))

    def test_a_box_is_turned_clockwise(self) -> None:
        corners = lines_of(turned_box((0, 0, 40, 20), 30).geometry)[0][0]
        upper_left = (20 - 20 * math.cos(math.pi / 6) + 10 / 2, 10 - 20 / 2 - 10 * math.cos(math.pi / 6))
        assert any(corner == pytest.approx(upper_left) for corner in corners)

    def test_a_mask_is_its_pixels(self) -> None:
        drawn = mask(np.array([[0, 1, 1], [0, 1, 0]], dtype=bool), left=10, top=20)
        assert (drawn.geometry.area, drawn.box) == (3, (11, 20, 2, 2))
        assert iou(drawn, polygon([[(11, 20), (13, 20), (13, 22), (11, 22)]])) == pytest.approx(3 / 4, abs=1e-12)

    def test_a_mask_keeps_its_holes_and_islands(self) -> None:
        bitmap = np.ones((5, 9), dtype=bool)
        bitmap[2, 2] = bitmap[:, 6] = False
        drawn = mask(bitmap)
        assert drawn.geometry.area == bitmap.sum()
        assert len(lines_of(drawn.geometry)) == 3

    def test_an_ellipse_has_the_area_of_one(self) -> None:
        drawn = ellipse((50, 50), (30, 10), degrees=90)
        assert drawn.geometry.area == pytest.approx(math.pi * 300, rel=5e-4)
        assert drawn.box == pytest.approx((40, 20, 20, 60))

    @pytest.mark.parametrize(
        ("draw", "why"),
        [
            (lambda: polygon([[(0, 0), (1, 1)]]), "a polygon of 2 points; expected 3 or more"),
            (lambda: polygon([[(0, 0), (1, 1), (2, 2)]]), "a polygon without an area"),
            (lambda: polygon([[(0, 0), (1, 1), (math.nan, 2)]]), "a point at nan, 2; expected a place in the image"),
            (lambda: polygon([[(0, 0), (1, 1), (2, 1e9)]]), r"a point at 2, 1e\+09; expected a place"),
            (lambda: turned_box((10, 0, 5, 5), 30), "not a box: left 10, top 0, right 5, bottom 5"),
            (lambda: turned_box((0, 0, 0, 5), 30), "a rotated box without an area"),
            (lambda: ellipse((0, 0), (0, 1)), "radii 0 and 1; expected numbers above 0"),
            (lambda: polyline([(0, 0)], SIZE), "a polyline of 1 points; expected 2 or more"),
            (lambda: polyline([(0, 0), (1, 1)], None), "the size of its image is not given"),
            (lambda: points([], SIZE), "no points; expected one or more"),
            (lambda: points([(math.inf, 0)], SIZE), "a point at inf, 0"),
            (lambda: mask(np.zeros((3, 3), dtype=bool)), "a mask without a pixel"),
            (lambda: mask(np.ones((3, 3), dtype=bool), left=10**20), r"a point at 1e\+20, 0; expected a place"),
            (lambda: turned_box((0, 0, 5, 5), math.inf), "a rotation by inf; expected degrees"),
        ],
    )
    def test_what_is_no_shape_says_why(self, draw: Any, why: str) -> None:
        with pytest.raises(ValueError, match=why):
            draw()


class TestPointsAndLines:
    """The radius is 2 % of the longer side: 12.8 pixels here."""

    def test_a_point_in_its_place_is_a_full_match(self) -> None:
        assert iou(points([(100, 100)], SIZE), points([(100, 100)], SIZE)) == pytest.approx(1, abs=1e-12)

    @pytest.mark.parametrize(("off", "expected"), [(3, 0.74), (6.4, 0.52), (12.8, 0.24), (25, 0.006), (26, 0)])
    def test_a_point_that_is_off_loses_by_its_distance(self, off: float, expected: float) -> None:
        assert iou(points([(100, 100)], SIZE), points([(100 + off, 100)], SIZE)) == pytest.approx(expected, abs=0.006)

    def test_the_example_of_the_page(self) -> None:
        """docs/grading.md: on an image of 1000 x 800 the radius is 20 pixels."""
        a = points([(100, 100)], (1000, 800))
        assert [round(iou(a, points([(100 + off, 100)], (1000, 800))), 2) for off in (0, 5, 10, 20, 40)] == [
            1.0,
            0.73,
            0.52,
            0.24,
            0.0,
        ]

    def test_several_points_are_one_annotation_in_any_order(self) -> None:
        places = [(100.0, 100.0), (300.0, 100.0), (200.0, 300.0)]
        assert iou(points(places, SIZE), points(places[::-1], SIZE)) == pytest.approx(1, abs=1e-12)
        assert iou(points(places, SIZE), points(places[:2], SIZE)) == pytest.approx(2 / 3, abs=1e-9)

    def test_a_line_is_compared_by_where_it_runs_not_by_its_corners(self) -> None:
        a = polyline([(0, 100), (200, 100)], SIZE)
        b = polyline([(200, 100), (120, 100), (0, 100)], SIZE)
        assert iou(a, b) == pytest.approx(1, abs=1e-9)
        beside = polyline([(0, 112.8), (200, 112.8)], SIZE)
        assert iou(a, beside) == pytest.approx(1 / 3, abs=0.04)

    def test_the_radius_is_a_rule(self) -> None:
        a, b = points([(100, 100)], SIZE), points([(120, 100)], SIZE)
        assert iou(a, b, GradingRules(point_radius=0.01)) == 0
        assert iou(a, b, GradingRules(point_radius=0.1)) > 0.6
        with pytest.raises(ValueError, match=r"point_radius 0.0: expected a number above 0 and at most 1"):
            GradingRules(point_radius=0.0)


class TestPairing:
    def test_two_upright_boxes_are_compared_as_before_whatever_is_beside_them(self) -> None:
        truth = [
            Annotation("g1", "car", (0.1, 0.2, 30.3, 40.7)),
            shape("g2", polygon([[(200, 0), (260, 0), (230, 50)]])),
        ]
        work = [
            Annotation("s1", "car", (3.3, 1.1, 29.9, 41.3)),
            shape("s2", polygon([[(200, 0), (260, 0), (230, 40)]])),
        ]
        alone = graded_iou(truth[0], work[0])
        (image,) = grade({"a": truth}, {"a": work}).images
        assert [(m.ground_truth, m.student) for m in image.matched] == [("g1", "s1"), ("g2", "s2")]
        assert image.matched[0].iou == alone
        assert image.matched[1].iou == pytest.approx(0.8)

    def test_boxes_that_overlap_are_no_pair_where_the_shapes_in_them_do_not(self) -> None:
        upper, lower = polygon([[(0, 0), (10, 0), (0, 10)]]), polygon([[(10, 10), (10, 1), (1, 10)]])
        assert iou(upper, lower) == 0

    def test_shapes_may_overlap_more_than_the_boxes_around_them(self) -> None:
        """A thin spike makes the boxes differ much, and the areas little: the floor is for the shapes."""
        plain = polygon([SQUARE])
        spiked = polygon([[(0, 0), (10, 0), (100, 5), (10, 0.1), (10, 10), (0, 10)]])
        assert iou(plain, spiked, GradingRules(min_iou=0.5)) > 0.9

    def test_a_key_pairs_shapes_wherever_they_are_and_the_best_first(self) -> None:
        def keyed(id: str, drawing: Drawing) -> Annotation:
            return Annotation(id, "car", drawing.box, {"no": "7"}, drawing=drawing)

        square = polygon([SQUARE])
        far, near = polygon([[(x + 5, y) for x, y in SQUARE]]), polygon([[(x + 1, y) for x, y in SQUARE]])
        rules = GradingRules(match_key="no")
        (image,) = grade({"a": [keyed("g", square)]}, {"a": [keyed("s1", far), keyed("s2", near)]}, rules).images
        assert [(m.student, m.by_key, round(m.iou, 4)) for m in image.matched] == [("s2", True, round(9 / 11, 4))]


coordinate = st.floats(0, 100, allow_nan=False).map(lambda value: round(value, 3))


@st.composite
def rings(draw: st.DrawFn) -> list[Point]:
    """A polygon that does not cross itself: points around a centre, in the order of their angles."""
    x, y = draw(coordinate), draw(coordinate)
    reach = draw(st.lists(st.floats(1, 50), min_size=3, max_size=9))
    turn = [2 * math.pi * n / len(reach) for n in range(len(reach))]
    return [(x + r * math.cos(t), y + r * math.sin(t)) for r, t in zip(reach, turn, strict=True)]


boxes = st.tuples(coordinate, coordinate, st.floats(0.5, 80), st.floats(0.5, 80))


class TestProperties:
    @given(rings(), rings())
    def test_the_iou_of_polygons_is_that_of_shapely(self, first: list[Point], second: list[Point]) -> None:
        a, b = shapely.Polygon(first), shapely.Polygon(second)
        assume(a.is_valid and b.is_valid)
        expected = a.intersection(b).area / a.union(b).area
        assert iou(polygon([first]), polygon([second])) == pytest.approx(expected, abs=1e-9)

    @given(rings(), rings())
    def test_it_is_the_same_from_either_side_and_from_0_to_1(self, first: list[Point], second: list[Point]) -> None:
        a, b = polygon([first]), polygon([second])
        assert iou(a, b) == pytest.approx(iou(b, a), abs=1e-9)
        assert 0 <= iou(a, b) <= 1

    @given(rings())
    def test_a_shape_is_1_with_itself(self, ring: list[Point]) -> None:
        for drawing in (polygon([ring]), polyline(ring, SIZE), points(ring, SIZE), ellipse(ring[0], (3, 5), 20)):
            assert iou(drawing, drawing) == pytest.approx(1, abs=1e-9)

    @given(boxes, boxes)
    def test_a_box_drawn_as_a_polygon_is_compared_as_the_box(self, first: Any, second: Any) -> None:
        def corners(x: float, y: float, w: float, h: float) -> list[Point]:
            return [(x, y), (x + w, y), (x + w, y + h), (x, y + h)]

        a, b = Annotation("g", "car", first), Annotation("s", "car", second)
        expected = graded_iou(a, b)
        drawn = shape("g", polygon([corners(*first)])), shape("s", polygon([corners(*second)]))
        for left, right in ((drawn[0], b), (a, drawn[1]), drawn):
            assert graded_iou(left, right) == pytest.approx(expected, abs=1e-9)

    @given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.floats(0.2, 0.95))
    def test_the_iou_of_masks_is_that_of_pycocotools(self, seed: int, width: int, height: int, share: float) -> None:
        rng = np.random.default_rng(seed)
        first, second = rng.random((height, width)) < share, rng.random((height, width)) < share
        assume(first.any() and second.any())
        encoded = [coco_mask.encode(np.asfortranarray(bitmap.astype(np.uint8))) for bitmap in (first, second)]
        expected = float(coco_mask.iou([encoded[0]], [encoded[1]], [0])[0, 0])
        assert iou(mask(first), mask(second)) == pytest.approx(expected, abs=1e-9)
