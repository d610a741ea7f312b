"""Pascal VOC: one XML file a photo, with `object` elements named bib and face.

`bndbox` holds pixel edges, as labelling tools write them. Number, scope and identity are read where a file has them, as
elements of the object or as `attributes` in the way of CVAT. A file that declares entities is refused.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from harness.errors import ReferenceSetError
from harness.references.files import BibRecord, FaceRecord
from harness.references.importing.records import (
    ImportedPhoto,
    ImportedSet,
    box_record,
    check_size,
    kind_of,
    labels_of,
    locate,
    photo_size,
    unit_box,
)

_ATTRIBUTES = ("number", "scope", "identity")


def read(path: Path, photos: Path | None) -> ImportedSet:
    """Every XML file in the folder and below it; photos lie beside them, in `JPEGImages/` or in `images/`."""
    files = [path] if path.is_file() else sorted(path.rglob("*.xml"))
    if not files:
        raise ReferenceSetError(f"{path}: no XML files here")
    trees = {file: _parse(file) for file in files}
    kinds = {
        kind_of(_text(item, "name", str(file)), str(file)) for file, tree in trees.items() for item in _objects(tree)
    }
    return ImportedSet(tuple(_photo(file, tree, photos, kinds) for file, tree in trees.items()))


def _parse(file: Path) -> ElementTree.Element:
    try:
        text = file.read_bytes()
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise ReferenceSetError(f"{file}: declares a document type, which no annotation needs")
        return ElementTree.fromstring(text)
    except OSError as error:
        raise ReferenceSetError(f"{file}: cannot be read: {error.strerror}") from error
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ReferenceSetError(f"{file}: not XML: {error}") from error


def _objects(tree: ElementTree.Element) -> list[ElementTree.Element]:
    return tree.findall("object")


def _photo(file: Path, tree: ElementTree.Element, photos: Path | None, kinds: set[str]) -> ImportedPhoto:
    name = Path(_text(tree, "filename", str(file))).name
    parents = (file.parent, file.parent.parent)
    folders = [photos] if photos else [parent / sub for parent in parents for sub in ("", "JPEGImages", "images")]
    photo = locate(name, folders, f"{file}: filename")
    size = photo_size(photo, str(file))
    if tree.find("size") is not None:
        said = tuple(int(_number(tree, f"size/{side}", str(file))) for side in ("width", "height"))
        check_size((said[0], said[1]), size, f"{file}: size")
    records = [_record(item, size, f"{file}: object {place}") for place, item in enumerate(_objects(tree), start=1)]
    return ImportedPhoto(path=photo, where=str(file), **labels_of(records, kinds))


def _record(item: ElementTree.Element, size: tuple[int, int], where: str) -> BibRecord | FaceRecord:
    kind = kind_of(_text(item, "name", where), f"{where}: name")
    left, top, right, bottom = (_number(item, f"bndbox/{edge}", where) for edge in ("xmin", "ymin", "xmax", "ymax"))
    box = unit_box((left, top, right, bottom), size, f"{where}: bndbox")
    attributes = {name: item.findtext(name) for name in _ATTRIBUTES}
    for attribute in item.findall("attributes/attribute"):
        attributes[attribute.findtext("name", "")] = attribute.findtext("value")
    return box_record(kind, box, {name: attributes[name] for name in _ATTRIBUTES}, where)


def _text(element: ElementTree.Element, name: str, where: str) -> str:
    text = (element.findtext(name) or "").strip()
    if not text:
        raise ReferenceSetError(f"{where}: {name}: not there")
    return text


def _number(element: ElementTree.Element, name: str, where: str) -> float:
    text = _text(element, name, where)
    try:
        return float(text)
    except ValueError as error:
        raise ReferenceSetError(f"{where}: {name}: expected a number, got {text!r:.80}") from error
