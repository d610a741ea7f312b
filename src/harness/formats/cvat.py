"""CVAT's own XML for images: `image` elements with `box`, `polygon`, `mask`, ..., each with its `attribute` elements.

A shape is known by its place in the image, from 1. What it says of itself beside its place (`occluded`, `source`, ...)
counts as an attribute too. Cuboids, skeletons and the tags of a whole image cannot be read: there is no area that they
could be compared by. For an import only upright boxes will do; labels are bib and face, and the attributes that count
are number, scope, identity and tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number, read_xml
from harness.base.errors import HarnessError, ReferenceSetError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Record, Shape, file_name, flag_text, read_each, stated_size
from harness.formats.drawings import bitmap_of_runs, pairs, whole
from harness.formats.labels import (
    find_photo,
    kinds_in,
    labels_of,
    only_file,
    photo_folders,
    placed_record,
    refuse_skipped,
)
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.scoring.shapes import Drawing, ellipse, mask, points, polygon, polyline, turned_box

_EDGES = ("xtl", "ytl", "xbr", "ybr")
_MASK = ("left", "top", "width", "height")
_ELLIPSE = ("cx", "cy", "rx", "ry")
Size = tuple[int, int] | None


def read(root: Element, file: Path, error: type[HarnessError]) -> Document:
    """The images of a CVAT file."""
    if root.find("track") is not None:
        raise error(f"{file}: <track>: this is CVAT for video; export it as CVAT for images")
    images = enumerate(root.findall("image"), start=1)
    declared = (name.text or "" for name in root.findall("meta//labels/label/name"))
    return Document(
        tuple(_image(image, f"{file}: image {place}", error) for place, image in images),
        frozenset(name.strip() for name in declared),
    )


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """A CVAT file, or a folder with exactly one; photos are found beside it or in `images/`.

    Every image counts as labelled for the labels that the task declares or, where it declares none, uses.
    """
    file = only_file(path, ".xml", "CVAT")
    document = _FILES.read_file(file, ReferenceSetError)
    refuse_skipped(document.images, but="tag")
    folders = photo_folders(file, photos)
    used = (shape.label for image in document.images for shape in image.shapes)
    kinds = kinds_in(document.labels or used)
    return ImportedSet(tuple(_photo(image, folders, kinds) for image in document.images))


def _photo(image: Image, folders: list[Path], kinds: frozenset[str]) -> ImportedPhoto:
    for shape in image.shapes:
        if shape.drawing:
            raise ReferenceSetError(f"{shape.where}: only upright boxes can be imported")
    photo, size = find_photo(image, image.name, folders)
    records = [placed_record(shape, size) for shape in image.shapes]
    return ImportedPhoto(path=photo, where=image.where, names=(file_name(image.name),), **labels_of(records, kinds))


def _image(image: Element, where: str, error: type[HarnessError]) -> Image:
    size = stated_size(*(number(image.get(side, "0"), f"{where}: {side}", error) for side in ("width", "height")))
    shapes, skipped = read_each(_records(image, where), lambda record: _shape(record, size, error), error)
    return Image(_given(image, "name", where, error), where, size, shapes, skipped)


def _records(image: Element, where: str) -> Iterator[Record]:
    """What is annotated on an image. Tags are counted by themselves, so that they leave the ids of shapes alone."""
    tags = (element for element in image if element.tag == "tag")
    for place, element in enumerate((element for element in image if element.tag != "tag"), start=1):
        yield Record(str(place), element.tag, f"{where}, {element.tag} {place}", element)
    for place, element in enumerate(tags, start=1):
        yield Record(f"tag {place}", "tag", f"{where}, tag {place}", element)


def _shape(record: Record, size: Size, error: type[HarnessError]) -> Shape:
    element, where = record.content, record.where
    if record.kind not in _DRAWN:
        raise error(f"{where}: a <{record.kind}> cannot be graded or imported")
    draw, places = _DRAWN[record.kind]
    drawing = draw(element, size, where, error)
    if drawing:
        box = Box.of_size(drawing.box, where, error)
    else:
        box = Box.of_edges(_numbers(element, _EDGES, where, error), where, error)
    own = {key: value for key, value in element.attrib.items() if key not in ("label", *places)}
    if "occluded" in own:
        own["occluded"] = flag_text(own["occluded"])
    named = {item.get("name", ""): (item.text or "").strip() for item in element.findall("attribute")}
    label = _given(element, "label", where, error)
    return Shape(record.id, label, box, where, own | named, label_field=": label", drawing=drawing)


def _box(element: Element, _: Size, where: str, error: type[HarnessError]) -> Drawing | None:
    """A box that is turned; one that is upright is no drawing."""
    degrees = number(element.get("rotation", "0"), f"{where}: rotation", error)
    return turned_box(_numbers(element, _EDGES, where, error), degrees) if degrees else None


def _polygon(element: Element, _: Size, where: str, error: type[HarnessError]) -> Drawing:
    return polygon([pairs(_points(element, where, error))])


def _polyline(element: Element, size: Size, where: str, error: type[HarnessError]) -> Drawing:
    return polyline(pairs(_points(element, where, error)), size)


def _point_set(element: Element, size: Size, where: str, error: type[HarnessError]) -> Drawing:
    return points(pairs(_points(element, where, error)), size)


def _ellipse(element: Element, _: Size, where: str, error: type[HarnessError]) -> Drawing:
    x, y, rx, ry = _numbers(element, _ELLIPSE, where, error)
    return ellipse((x, y), (rx, ry), number(element.get("rotation", "0"), f"{where}: rotation", error))


def _mask(element: Element, _: Size, where: str, error: type[HarnessError]) -> Drawing:
    left, top, width, height = map(whole, _numbers(element, _MASK, where, error))
    runs = [whole(number(run, f"{where}: rle", error)) for run in _given(element, "rle", where, error).split(",")]
    return mask(bitmap_of_runs(runs, (width, height), by_column=False), left, top)


#: Element -> how it is drawn, and the attributes that say where it is.
_DRAWN: dict[str, tuple[Callable[[Element, Size, str, type[HarnessError]], Drawing | None], tuple[str, ...]]] = {
    "box": (_box, ("rotation", *_EDGES)),
    "polygon": (_polygon, ("points",)),
    "polyline": (_polyline, ("points",)),
    "points": (_point_set, ("points",)),
    "ellipse": (_ellipse, ("rotation", *_ELLIPSE)),
    "mask": (_mask, ("rle", *_MASK)),
}


def _numbers(element: Element, names: tuple[str, ...], where: str, error: type[HarnessError]) -> list[float]:
    return [number(_given(element, name, where, error), f"{where}: {name}", error) for name in names]


def _points(element: Element, where: str, error: type[HarnessError]) -> list[float]:
    """`x,y;x,y;...` as numbers."""
    text = _given(element, "points", where, error).replace(";", ",")
    return [number(value, f"{where}: points", error) for value in text.split(",")]


def _given(element: Element, name: str, where: str, error: type[HarnessError]) -> str:
    text = element.get(name, "").strip()
    if not text:
        raise error(f"{where}: {name}: not there")
    return text


_FILES = AnnotationFile(
    suffix=".xml",
    sign="<annotations>",
    load=read_xml,
    recognises=lambda root: root.tag == "annotations",
    read=read,
)
FORMAT = Format(name="cvat", title="CVAT", read_set=read_set, annotations=_FILES)
