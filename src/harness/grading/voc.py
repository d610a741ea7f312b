"""Pascal VOC: one XML file an image, with `object` elements.

An annotation is known by its place in the file, from 1. Its attributes are the plain elements of the object (`pose`,
`truncated`, ...) and the `attributes` that CVAT adds.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number_of, text_of
from harness.base.errors import GradingError
from harness.grading.submissions import AnnotatedImage, flag_text, image_name
from harness.scoring import Annotation

_FLAGS = ("truncated", "difficult", "occluded")


def read(file: Path, root: Element) -> AnnotatedImage:
    """The image that a VOC file is about."""
    name = image_name(text_of(root, "filename", str(file), GradingError))
    size = None
    if root.find("size") is not None:
        width, height = (int(number_of(root, f"size/{side}", str(file), GradingError)) for side in ("width", "height"))
        size = (width, height) if width > 0 and height > 0 else None
    objects = enumerate(root.findall("object"), start=1)
    return AnnotatedImage(name, str(file), size, tuple(_annotation(o, n, f"{file}: object {n}") for n, o in objects))


def _annotation(item: Element, place: int, where: str) -> Annotation:
    left, top, right, bottom = (
        number_of(item, f"bndbox/{edge}", where, GradingError) for edge in ("xmin", "ymin", "xmax", "ymax")
    )
    attributes = {
        element.tag: flag_text((element.text or "").strip()) if element.tag in _FLAGS else (element.text or "").strip()
        for element in item
        if not len(element) and element.tag != "name"
    }
    for attribute in item.findall("attributes/attribute"):
        attributes[attribute.findtext("name", "")] = (attribute.findtext("value") or "").strip()
    label = text_of(item, "name", where, GradingError)
    return Annotation(str(place), label, (left, top, right - left, bottom - top), attributes)
