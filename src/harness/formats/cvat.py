"""CVAT's own XML for images: `image` elements with `box` elements, each with its `attribute` elements.

A box is known by its place in the image, from 1. What it says of itself beside its place (`occluded`, `source`, ...)
counts as an attribute too. Shapes other than upright boxes are refused: they have no IoU here. For an import, labels
are bib and face, and the attributes that count are number, scope, identity and tags.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number, read_xml
from harness.base.errors import HarnessError, ReferenceSetError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Shape, file_name, flag_text, stated_size
from harness.formats.labels import find_photo, kinds_in, labels_of, only_file, photo_folders, placed_record
from harness.references.importing import ImportedPhoto, ImportedSet

_EDGES = ("xtl", "ytl", "xbr", "ybr")
_SHAPES = ("polygon", "polyline", "points", "ellipse", "cuboid", "mask", "skeleton")


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
    folders = photo_folders(file, photos)
    used = (shape.label for image in document.images for shape in image.shapes)
    kinds = kinds_in(document.labels or used)
    return ImportedSet(tuple(_photo(image, folders, kinds) for image in document.images))


def _photo(image: Image, folders: list[Path], kinds: frozenset[str]) -> ImportedPhoto:
    photo, size = find_photo(image, image.name, folders)
    records = [placed_record(shape, size) for shape in image.shapes]
    return ImportedPhoto(path=photo, where=image.where, names=(file_name(image.name),), **labels_of(records, kinds))


def _image(image: Element, where: str, error: type[HarnessError]) -> Image:
    for shape in image:
        if shape.tag in _SHAPES:
            raise error(f"{where}: <{shape.tag}>: only boxes can be graded or imported")
    size = stated_size(*(number(image.get(side, "0"), f"{where}: {side}", error) for side in ("width", "height")))
    boxes = enumerate(image.findall("box"), start=1)
    shapes = tuple(_shape(box, place, f"{where}, box {place}", error) for place, box in boxes)
    return Image(_given(image, "name", where, error), where, size, shapes)


def _shape(box: Element, place: int, where: str, error: type[HarnessError]) -> Shape:
    if number(box.get("rotation", "0"), f"{where}: rotation", error):
        raise error(f"{where}: rotation: only upright boxes can be graded or imported")
    edges = [number(_given(box, edge, where, error), f"{where}: {edge}", error) for edge in _EDGES]
    own = {key: value for key, value in box.attrib.items() if key not in ("label", "rotation", *_EDGES)}
    if "occluded" in own:
        own["occluded"] = flag_text(own["occluded"])
    named = {item.get("name", ""): (item.text or "").strip() for item in box.findall("attribute")}
    label = _given(box, "label", where, error)
    return Shape(str(place), label, Box.of_edges(edges, where, error), where, own | named, label_field=": label")


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
