"""Pascal VOC: one XML file a photo, with `object` elements named bib and face.

`bndbox` holds pixel edges, as labelling tools write them. Number, scope and identity are read where a file has them, as
elements of the object or as `attributes` in the way of CVAT. A file that declares entities is refused.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element

from harness.base.documents import number_of, read_xml, text_of
from harness.base.errors import ReferenceSetError
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
    trees = {file: read_xml(file, ReferenceSetError) for file in files}
    kinds = {
        kind_of(text_of(item, "name", str(file), ReferenceSetError), str(file))
        for file, tree in trees.items()
        for item in _objects(tree)
    }
    return ImportedSet(tuple(_photo(file, tree, photos, kinds) for file, tree in trees.items()))


def _objects(tree: Element) -> list[Element]:
    return tree.findall("object")


def _photo(file: Path, tree: Element, photos: Path | None, kinds: set[str]) -> ImportedPhoto:
    name = Path(text_of(tree, "filename", str(file), ReferenceSetError)).name
    parents = (file.parent, file.parent.parent)
    folders = [photos] if photos else [parent / sub for parent in parents for sub in ("", "JPEGImages", "images")]
    photo = locate(name, folders, f"{file}: filename")
    size = photo_size(photo, str(file))
    if tree.find("size") is not None:
        said = tuple(int(number_of(tree, f"size/{side}", str(file), ReferenceSetError)) for side in ("width", "height"))
        check_size((said[0], said[1]), size, f"{file}: size")
    records = [_record(item, size, f"{file}: object {place}") for place, item in enumerate(_objects(tree), start=1)]
    return ImportedPhoto(path=photo, where=str(file), **labels_of(records, kinds))


def _record(item: Element, size: tuple[int, int], where: str) -> BibRecord | FaceRecord:
    kind = kind_of(text_of(item, "name", where, ReferenceSetError), f"{where}: name")
    left, top, right, bottom = (
        number_of(item, f"bndbox/{edge}", where, ReferenceSetError) for edge in ("xmin", "ymin", "xmax", "ymax")
    )
    box = unit_box((left, top, right, bottom), size, f"{where}: bndbox")
    attributes = {name: item.findtext(name) for name in _ATTRIBUTES}
    for attribute in item.findall("attributes/attribute"):
        attributes[attribute.findtext("name", "")] = attribute.findtext("value")
    return box_record(kind, box, {name: attributes[name] for name in _ATTRIBUTES}, where)
