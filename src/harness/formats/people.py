"""One folder a person, with photos of them in it or below: it says who is in a photo, and not where.

The name of the folder is the person's. A photo that lies in the folders of two people, byte by byte the same, has both.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from harness.base.errors import PhotoError, ReferenceSetError
from harness.formats import Format
from harness.formats.labels import photos_by_person
from harness.references.files import FaceLabels
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.references.photo_files import read_bytes


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """The photos of all folders of `path`, each with the people whose folders it lies in."""
    if photos is not None:
        raise ReferenceSetError(f"{photos}: photos lie in the folders of {path}; --photos is not for this format")
    found: dict[str, list[tuple[Path, str]]] = {}
    for photo, person in photos_by_person(path):
        if photo.parent == path:
            raise ReferenceSetError(f"{photo}: lies in no person's folder; expected {path.name}/PERSON/{photo.name}")
        try:
            found.setdefault(hashlib.sha256(read_bytes(photo)).hexdigest(), []).append((photo, person))
        except PhotoError as error:
            raise ReferenceSetError(str(error)) from error
    return ImportedSet(tuple(_imported(sha256, places) for sha256, places in found.items()))


def _imported(sha256: str, places: list[tuple[Path, str]]) -> ImportedPhoto:
    path = places[0][0]
    return ImportedPhoto(
        path=path,
        where=str(path),
        faces=FaceLabels(people=list(dict.fromkeys(person for _, person in places))),
        names=tuple(dict.fromkeys(photo.name for photo, _ in places)),
        sha256=sha256,
    )


FORMAT = Format(name="people", title="one folder of photos a person", read_set=read_set)
