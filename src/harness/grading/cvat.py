"""CVAT's own XML for images: `image` elements with `box` elements, each with its `attribute` elements.

An annotation is known by its place in the image, from 1. What the box itself says beside its place (`occluded`,
`source`, ...) counts as an attribute too. Shapes other than upright boxes are refused: they have no IoU here.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number
from harness.base.errors import GradingError
from harness.grading.submissions import AnnotatedImage, flag_text, image_name
from harness.scoring import Annotation

_EDGES = ("xtl", "ytl", "xbr", "ybr")
_SHAPES = ("polygon", "polyline", "points", "ellipse", "cuboid", "mask", "skeleton")


def read(file: Path, root: Element) -> list[AnnotatedImage]:
    """The images of a CVAT file."""
    if root.find("track") is not None:
        raise GradingError(f"{file}: <track>: this is CVAT for video; export it as CVAT for images")
    return [_image(image, f"{file}: image {place}") for place, image in enumerate(root.findall("image"), start=1)]


def _image(image: Element, where: str) -> AnnotatedImage:
    for shape in image:
        if shape.tag in _SHAPES:
            raise GradingError(f"{where}: <{shape.tag}>: only boxes can be graded")
    width, height = (
        int(number(image.get(side, "0"), f"{where}: {side}", GradingError)) for side in ("width", "height")
    )
    boxes = enumerate(image.findall("box"), start=1)
    return AnnotatedImage(
        image_name(_given(image, "name", where)),
        where,
        (width, height) if width > 0 and height > 0 else None,
        tuple(_annotation(box, place, f"{where}, box {place}") for place, box in boxes),
    )


def _annotation(box: Element, place: int, where: str) -> Annotation:
    if number(box.get("rotation", "0"), f"{where}: rotation", GradingError):
        raise GradingError(f"{where}: rotation: only upright boxes can be graded")
    left, top, right, bottom = (number(_given(box, edge, where), f"{where}: {edge}", GradingError) for edge in _EDGES)
    own = {key: value for key, value in box.attrib.items() if key not in ("label", "rotation", *_EDGES)}
    if "occluded" in own:
        own["occluded"] = flag_text(own["occluded"])
    named = {item.get("name", ""): (item.text or "").strip() for item in box.findall("attribute")}
    return Annotation(str(place), _given(box, "label", where), (left, top, right - left, bottom - top), own | named)


def _given(element: Element, name: str, where: str) -> str:
    text = element.get(name, "").strip()
    if not text:
        raise GradingError(f"{where}: {name}: not there")
    return text
