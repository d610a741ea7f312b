"""Shapes that are no upright boxes: polygons, masks, polylines and points, and how much two of them overlap.

Every shape becomes a region with an area, and two regions are compared by the IoU of their areas.

- A polygon is the area that it encloses. Where its line crosses itself, every part that it encloses counts. Several
  rings are one area together.
- A mask is the area of its pixels: the pixel in column 3 of row 5 is the square from (3, 5) to (4, 6).
- An ellipse is a polygon of 128 corners, which has 99.96 % of its area.
- Points are discs and a polyline is a band around it. The radius of both is a share of the longer side of the image.

What cannot be made a region is a ValueError that says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from harness.scoring.boxes import Bools, Boxes, Floats, Ints, Regions, iou

Point = tuple[float, float]
Geometry: TypeAlias = BaseGeometry

#: Corners of a quarter of a circle: of an ellipse that somebody drew, and of the disc around a point.
_ELLIPSE_CORNERS, _DISC_CORNERS = 32, 16
#: No picture is as wide as this; whoever writes such a number does not mean a place in it.
_FAR = 1e9


@dataclass(frozen=True, slots=True)
class Drawing:
    """What somebody drew that is no upright box, in the unit of the boxes beside it.

    `kind` is the word for it: polygon, mask, ... `image_side` is the longer side of the image where the shape has no
    area of its own, as points and lines have none, and None where it has one.
    """

    kind: str
    geometry: Geometry
    image_side: float | None = None

    @classmethod
    def of_box(cls, xywh: tuple[float, float, float, float]) -> Drawing:
        """An upright box beside other shapes."""
        x, y, w, h = xywh
        return cls("box", shapely.box(x, y, x + w, y + h))

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The smallest box around it: left, top, width, height."""
        left, top, right, bottom = self.geometry.bounds
        return (left, top, right - left, bottom - top)

    @property
    def parts(self) -> int:
        """How many points, lines or areas it has."""
        return int(shapely.get_num_geometries(self.geometry))

    def region(self, radius: float) -> Geometry:
        """The area that it is compared by; `radius` is that of points and lines, as a share of the image's side."""
        if self.image_side is None:
            return self.geometry
        return self.geometry.buffer(radius * self.image_side, quad_segs=_DISC_CORNERS)


def polygon(rings: Iterable[Sequence[Point]], kind: str = "polygon") -> Drawing:
    """The area inside any of the rings.

    >>> polygon([[(0, 0), (10, 0), (0, 10)]]).geometry.area
    50.0
    """
    parts = [_ring(ring) for ring in rings]
    area = parts[0] if len(parts) == 1 else shapely.union_all(parts)
    if not area.area > 0:
        raise ValueError(f"a {kind} without an area")
    return Drawing(kind, area)


def turned_box(edges: Sequence[float], degrees: float) -> Drawing:
    """The box between left, top, right and bottom, turned clockwise around its centre."""
    left, top, right, bottom = edges
    x, y, w, h = (left + right) / 2, (top + bottom) / 2, (right - left) / 2, (bottom - top) / 2
    if not (w >= 0 and h >= 0):
        raise ValueError(f"not a box: left {left}, top {top}, right {right}, bottom {bottom}")
    return polygon([_turned([(-w, -h), (w, -h), (w, h), (-w, h)], (x, y), degrees)], "rotated box")


def ellipse(centre: Point, radii: Point, degrees: float = 0.0, kind: str = "ellipse") -> Drawing:
    """The ellipse with these radii, turned clockwise around its centre.

    >>> round(ellipse((0, 0), (10, 10)).geometry.area / (3.14159265 * 100), 4)
    0.9996
    """
    if not (radii[0] > 0 and radii[1] > 0):
        raise ValueError(f"radii {radii[0]:g} and {radii[1]:g}; expected numbers above 0")
    turns = [2 * math.pi * n / (4 * _ELLIPSE_CORNERS) for n in range(4 * _ELLIPSE_CORNERS)]
    corners = [(radii[0] * math.cos(turn), radii[1] * math.sin(turn)) for turn in turns]
    return polygon([_turned(corners, centre, degrees)], kind)


def polyline(points: Sequence[Point], image_size: tuple[int, int] | None) -> Drawing:
    """A line through two points or more."""
    if len(points) < 2:
        raise ValueError(f"a polyline of {len(points)} points; expected 2 or more")
    return Drawing("polyline", shapely.linestrings(_checked(points)), _longer_side(image_size))


def points(places: Sequence[Point], image_size: tuple[int, int] | None) -> Drawing:
    """One point or several that are one annotation."""
    if not places:
        raise ValueError("no points; expected one or more")
    return Drawing("points", shapely.multipoints(_checked(places)), _longer_side(image_size))


def mask(bitmap: Bools, left: int = 0, top: int = 0) -> Drawing:
    """The pixels that are set in a bitmap, whose first pixel is at `left` and `top`.

    >>> mask(np.array([[1, 1], [1, 0]], dtype=bool), left=5).box
    (5.0, 0.0, 2.0, 2.0)
    """
    with_pixels, columns = np.flatnonzero(bitmap.any(axis=1)), np.flatnonzero(bitmap.any(axis=0))
    if not len(with_pixels):
        raise ValueError("a mask without a pixel")
    _checked([(left, top)])
    # COCO's masks are as large as their image, however small the object is.
    drawn = bitmap[with_pixels[0] : with_pixels[-1] + 1, columns[0] : columns[-1] + 1]
    left, top = left + int(columns[0]), top + int(with_pixels[0])
    steps = np.diff(np.pad(drawn.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    (rows, starts), (_, stops) = np.nonzero(steps == 1), np.nonzero(steps == -1)
    runs = shapely.box(starts + left, rows + top, stops + left, rows + top + 1)
    return Drawing("mask", shapely.union_all(runs))


def left_and_added(expected: Drawing, drawn: Drawing, radius: float) -> tuple[float, float]:
    """The share of the expected area that is not covered, and the share of the drawn area that is not expected."""
    a, b = expected.region(radius), drawn.region(radius)
    common = a.intersection(b).area
    return (1 - common / a.area if a.area else 0.0, 1 - common / b.area if b.area else 0.0)


def furthest(a: Drawing, b: Drawing) -> float:
    """How far from the other the point of either is that is furthest from it."""
    return float(shapely.hausdorff_distance(a.geometry, b.geometry))


def lines_of(geometry: Geometry, by: float = 0.0) -> list[tuple[list[Point], bool]]:
    """The lines to draw it with, the points of each and whether it is closed; corners that matter less than `by` go."""
    found: list[tuple[list[Point], bool]] = []
    for part in shapely.get_parts(geometry.simplify(by) if by else geometry).tolist():
        if part.geom_type == "Polygon":
            found += [(list(ring.coords), True) for ring in (part.exterior, *part.interiors)]
        else:
            found.append((list(part.coords), False))
    return found


def boxes_around(regions: Regions) -> Floats:
    """Left, top, width and height of the smallest box around each region."""
    bounds = shapely.bounds(regions)
    return np.concatenate([bounds[:, :2], bounds[:, 2:] - bounds[:, :2]], axis=1)


def shape_iou(a: Boxes, left: Ints, b: Boxes, right: Ints) -> Floats:
    """IoU of the boxes or regions in rows `left` of one batch with those in rows `right` of another, pair by pair."""
    result = iou(a.xywh[left], b.xywh[right])
    shaped = np.flatnonzero(_has_region(a, left) | _has_region(b, right))
    if len(shaped):
        result[shaped] = region_iou(_regions(a, left[shaped]), _regions(b, right[shaped]))
    return result


def region_iou(a: Regions, b: Regions) -> Floats:
    """IoU of regions, row by row; 0 where the union has no area."""
    common = shapely.area(shapely.intersection(a, b))
    union = shapely.area(a) + shapely.area(b) - common
    shares: Floats = np.divide(common, union, out=np.zeros(len(common)), where=union > 0)
    return np.minimum(shares, 1.0)


def _has_region(boxes: Boxes, rows: Ints) -> Bools:
    if boxes.regions is None:
        return np.zeros(len(rows), dtype=bool)
    has_region: Bools = shapely.is_geometry(boxes.regions[rows])
    return has_region


def _regions(boxes: Boxes, rows: Ints) -> Regions:
    """The regions of some rows, with that of its box for an upright one."""
    x, y, w, h = boxes.xywh[rows].T
    upright: Regions = shapely.box(x, y, x + w, y + h)
    return upright if boxes.regions is None else np.where(_has_region(boxes, rows), boxes.regions[rows], upright)


def _ring(ring: Sequence[Point]) -> Geometry:
    if len(ring) < 3:
        raise ValueError(f"a polygon of {len(ring)} points; expected 3 or more")
    area = shapely.polygons(_checked(ring))
    return area if area.is_valid else shapely.make_valid(area, method="structure", keep_collapsed=False)


def _checked(places: Sequence[Point]) -> Floats:
    found = np.array(places, dtype=np.float64)
    wrong = ~(np.abs(found) < _FAR).all(axis=1)
    if wrong.any():
        x, y = found[int(np.argmax(wrong))].tolist()
        raise ValueError(f"a point at {x:g}, {y:g}; expected a place in the image")
    return found


def _turned(corners: Sequence[Point], centre: Point, degrees: float) -> list[Point]:
    """Corners around the origin, turned clockwise (down is positive) and moved to the centre."""
    if not math.isfinite(degrees):
        raise ValueError(f"a rotation by {degrees:g}; expected degrees")
    (x, y), turn = centre, math.radians(degrees)
    cos, sin = math.cos(turn), math.sin(turn)
    return [(x + dx * cos - dy * sin, y + dx * sin + dy * cos) for dx, dy in corners]


def _longer_side(image_size: tuple[int, int] | None) -> float:
    if image_size is None:
        raise ValueError("the size of its image is not given, which the radius of points and lines is a share of")
    return float(max(image_size))
