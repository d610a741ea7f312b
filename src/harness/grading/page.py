"""The report of one student as a page that needs nothing beside it: the grade, where the points went, every image with
both shapes, and the reason for every point that was lost.

Pictures are drawn where a folder of images is given; a page holds at most `MOST_PICTURES` of them, those of the images
with the most to say, and the shapes of the others on an empty sheet.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import GradingError
from harness.grading.graded import GradedSubmission, Item
from harness.scoring import Annotation, ImageGrade
from harness.scoring.format import rests_on
from harness.scoring.shapes import Geometry, lines_of

MOST_PICTURES = 60
#: Pictures are scaled down to so many pixels and compressed, since the page is sent to a student as one file.
_LONG_SIDE = 960
_QUALITY = 78
#: Images that are shown one by one; a page with thousands of them helps nobody.
MOST_IMAGES = 300
#: Skipped annotations that are listed.
MOST_SKIPPED = 100
#: A shape is drawn with corners that matter by this share of its size.
_DETAIL = 1 / 400


@dataclass(frozen=True)
class Shape:
    """A box or another shape as it is drawn: `kind` is `truth`, `student`, `missed` or `extra`.

    x, y, w and h are the box around it, `line` the path that is drawn and `area` the path that is filled, if any.
    """

    kind: str
    tag: str
    title: str
    x: float
    y: float
    w: float
    h: float
    line: str
    area: str = ""


@dataclass(frozen=True)
class Sheet:
    """One image of the report."""

    name: str
    grade: ImageGrade
    items: tuple[Item, ...]
    skipped: int
    shapes: tuple[Shape, ...]
    view: tuple[float, float, float, float]
    picture: str | None

    @property
    def unit(self) -> float:
        """A length that looks the same whatever the size of the image: lines and letters are multiples of it."""
        return max(self.view[2:]) / 480

    @property
    def original(self) -> float | None:
        """Mean score of the matches as the rules give it."""
        scores = [match.original_score for match in self.grade.matched]
        return sum(scores) / len(scores) if scores else None

    @property
    def final(self) -> float | None:
        """Mean score of the matches with the trainer's word."""
        scores = self.grade.matched.final_scores
        return sum(scores) / len(scores) if scores else None


def report_page(graded: GradedSubmission, images: Path | None = None) -> str:
    """The page."""
    shown = worst_first(graded)[:MOST_IMAGES]
    pictured = {image.image for image in shown[:MOST_PICTURES]} if images else set()
    order = {image.image: place for place, image in enumerate(graded.report.images)}
    sheets = [
        _sheet(graded, image, images if image.image in pictured else None)
        for image in sorted(shown, key=lambda image: order[image.image])
    ]
    interval = graded.report.intervals().get("grade/overall")
    return render(
        "report.html",
        graded=graded,
        report=graded.report,
        sheets=sheets,
        left_out=len(order) - len(shown),
        without_picture=len(shown) - len(pictured) if images else 0,
        skipped=graded.skipped[:MOST_SKIPPED],
        skipped_words=skipped_words(graded),
        interval=interval,
        rests_on=rests_on(interval) if interval else "",
    )


def render(template: str, **values: Any) -> str:
    """A template of this package with its values, every one of them escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("harness.grading"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = lambda value: "n/a" if value is None else f"{value:.1f}"
    return environment.get_template(template).render(**values)


def skipped_words(graded: GradedSubmission) -> str:
    """How many annotations were skipped on either side, and what they would make of the grade."""
    student, truth = len(graded.student.skipped), len(graded.ground_truth.skipped)
    return (
        f"{student:,} of the student's annotations and {truth:,} of the ground truth's are not in the grade; "
        f"with them as extra and missed it would be {graded.overall_if_counted:.1f}"
    )


def worst_first(graded: GradedSubmission) -> list[ImageGrade]:
    """The images by the points that they lost, with what was missed or is extra counting in full."""

    def lost(image: ImageGrade) -> float:
        scores = image.matched.final_scores
        return 100.0 * (len(scores) + len(image.missed) + len(image.extra)) - sum(scores)

    return sorted(graded.report.images, key=lost, reverse=True)


def _sheet(graded: GradedSubmission, image: ImageGrade, images: Path | None) -> Sheet:
    items = tuple(graded.items(image))
    radius = graded.report.rules.point_radius
    shapes = tuple(shape for number, item in enumerate(items, start=1) for shape in _shapes(item, number, radius))
    skipped = sum(item.image == image.image for item in graded.skipped)
    size = _size(graded, image.image)
    picture = None
    if images is not None and (images / image.image).is_file():
        picture, size = _embedded(images / image.image, size)
    view = (0.0, 0.0, float(size[0]), float(size[1])) if size else _around(shapes)
    return Sheet(image.image, image, items, skipped, shapes, view, picture)


def _embedded(path: Path, said: tuple[int, int] | None) -> tuple[str, tuple[int, int]]:
    """A small JPEG as a data address, and the size of the upright image, which must be what its annotations say."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise GradingError(f"{path}: not a readable picture: {error}") from error
    size = picture.size
    if said not in (None, size):
        raise GradingError(f"{path}: is {size[0]} x {size[1]} upright, but its annotations say {said[0]} x {said[1]}")
    picture.thumbnail((_LONG_SIDE, _LONG_SIDE))
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=_QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode(), size


def _size(graded: GradedSubmission, name: str) -> tuple[int, int] | None:
    sides = (graded.ground_truth, graded.student)
    return next((side.images[name].size for side in sides if name in side.images and side.images[name].size), None)


def _shapes(item: Item, number: int, radius: float) -> list[Shape]:
    if item.match is None:
        note = item.truth or item.student
        assert note is not None
        return [_shape(item.status, str(number), note, f"{item.status}: {note.label}", radius)]
    assert item.truth is not None
    assert item.student is not None
    return [
        _shape("truth", str(number), item.truth, f"ground truth: {item.truth.label}", radius),
        _shape("student", str(number), item.student, f"student: {item.student.label}", radius),
    ]


def _shape(kind: str, tag: str, note: Annotation, title: str, radius: float) -> Shape:
    """A box as its edges, a polyline as itself, and everything else as the outline of what it is compared by."""
    x, y, w, h = note.box
    if note.drawing is None:
        return Shape(kind, tag, title, x, y, w, h, line=f"M{x:.6g} {y:.6g}h{w:.6g}v{h:.6g}h{-w:.6g}z")
    region = note.drawing.region(radius)
    left, top, right, bottom = region.bounds
    area = _path(region)
    line = _path(note.drawing.geometry) if note.drawing.kind == "polyline" else area
    return Shape(kind, tag, f"{title} ({note.drawing.kind})", left, top, right - left, bottom - top, line, area)


def _path(geometry: Geometry) -> str:
    left, top, right, bottom = geometry.bounds
    detail = _DETAIL * max(right - left, bottom - top)
    return "".join(
        "M" + "L".join(f"{x:.6g} {y:.6g}" for x, y in (points[:-1] if closed else points)) + "z" * closed
        for points, closed in lines_of(geometry, detail)
    )


def _around(shapes: Sequence[Shape]) -> tuple[float, float, float, float]:
    """A view that holds every box, for an image whose size nobody says."""
    if not shapes:
        return (0.0, 0.0, 4.0, 3.0)
    left, top = min(s.x for s in shapes), min(s.y for s in shapes)
    right, bottom = max(s.x + s.w for s in shapes), max(s.y + s.h for s in shapes)
    margin = 0.06 * max(right - left, bottom - top, 1.0)
    return (left - margin, top - margin, right - left + 2 * margin, bottom - top + 2 * margin)
