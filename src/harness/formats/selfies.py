"""Selfies: one folder a person, or one picture a person that is called like them.

They are what people search with, and are no photos of the set. Somebody who is in no photo is a stranger.
"""

from __future__ import annotations

from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.formats import Format
from harness.formats.labels import photos_by_person
from harness.references.importing import ImportedSet
from harness.references.selfies import ImportedSelfie


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """The pictures of `path`: `Ada/first.jpg` and `Ada.jpg` are both Ada's."""
    if photos is not None:
        raise ReferenceSetError(f"{photos}: selfies lie in {path}; --photos is not for this format")
    selfies = [ImportedSelfie(path=file, identity=person, where=str(file)) for file, person in photos_by_person(path)]
    return ImportedSet((), selfies=tuple(selfies))


FORMAT = Format(
    name="selfies", title="pictures that people search with, one folder or file a person", read_set=read_set
)
