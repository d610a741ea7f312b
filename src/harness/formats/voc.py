"""Pascal VOC: one XML file an image, with `object` elements whose `bndbox` holds pixel edges.

An object is known by its place in the file, from 1. Its attributes are its plain elements (`pose`, `truncated`, ...)
and the `attributes` that CVAT adds. For an import, objects are named bib and face, and the attributes that count are
number, scope, identity and tags.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number_of, read_xml, text_of
from harness.base.errors import HarnessError, ReferenceSetError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Record, Shape, file_name, flag_text, read_each, stated_size
from harness.formats.labels import find_photo, kind_of, labels_of, photo_folders, placed_record, refuse_skipped
from harness.references.importing import ImportedPhoto, ImportedSet

_EDGES = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("truncated", "difficult", "occluded")


def read(root: Element, file: Path, error: type[HarnessError]) -> Document:
    """The image that a VOC file is about."""
    name = text_of(root, "filename", str(file), error)
    size = None
    if root.find("size") is not None:
        size = stated_size(*(number_of(root, f"size/{side}", str(file), error) for side in ("width", "height")))
    records = [
        Record(str(place), "object", f"{file}: object {place}", item)
        for place, item in enumerate(root.findall("object"), start=1)
    ]
    return Document((Image(name, str(file), size, *read_each(records, lambda record: _shape(record, error), error)),))


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """Every XML file in the folder and below it; photos lie beside them, in `JPEGImages/` or in `images/`."""
    files = [path] if path.is_file() else sorted(path.rglob("*.xml"))
    if not files:
        raise ReferenceSetError(f"{path}: no XML files here")
    images = [(file, image) for file in files for image in _FILES.read_file(file, ReferenceSetError).images]
    refuse_skipped(image for _, image in images)
    kinds = {kind_of(shape.label, str(file)) for file, image in images for shape in image.shapes}
    return ImportedSet(tuple(_photo(file, image, photos, kinds) for file, image in images))


def _photo(file: Path, image: Image, photos: Path | None, kinds: set[str]) -> ImportedPhoto:
    folders = photo_folders(file, photos, ("JPEGImages", "images"))
    photo, size = find_photo(image, file_name(image.name), folders)
    records = [placed_record(shape, size) for shape in image.shapes]
    return ImportedPhoto(path=photo, where=image.where, **labels_of(records, kinds))


def _shape(record: Record, error: type[HarnessError]) -> Shape:
    item, where = record.content, record.where
    label = text_of(item, "name", where, error)
    edges = [number_of(item, f"bndbox/{edge}", where, error) for edge in _EDGES]
    attributes = {
        element.tag: flag_text((element.text or "").strip()) if element.tag in _FLAGS else (element.text or "").strip()
        for element in item
        if not len(element) and element.tag != "name"
    }
    for attribute in item.findall("attributes/attribute"):
        attributes[attribute.findtext("name", "")] = (attribute.findtext("value") or "").strip()
    box = Box.of_edges(edges, f"{where}: bndbox", error)
    return Shape(record.id, label, box, where, attributes, label_field=": name", box_field=": bndbox")


_FILES = AnnotationFile(
    suffix=".xml",
    sign="<annotation>",
    load=read_xml,
    recognises=lambda root: root.tag == "annotation",
    read=read,
    per_image=True,
)
FORMAT = Format(name="voc", title="Pascal VOC", read_set=read_set, annotations=_FILES)
