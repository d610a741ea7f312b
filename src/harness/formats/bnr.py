"""The harness's own files from elsewhere: index, bib and face labels, links, identities, selfies, and the photos.

Older schema versions and their vocabulary load. The photos are found in `photos/` by their content, whatever they are
called.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from harness.base.errors import PhotoError, ReferenceSetError
from harness.formats import Format
from harness.references.contents import Contents, read_contents
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, Selfies
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.references.photo_files import FOLDER, SELFIES, find_photos, read_bytes, stored_photos
from harness.references.selfies import ImportedSelfie


def read_set(path: Path, photos: Path | None) -> ImportedSet:
    """The folder's files, checked as our own are."""
    if not (path / PhotoIndex.FILE_NAME).is_file():
        raise ReferenceSetError(f"{path}: expected a folder with {PhotoIndex.FILE_NAME}")
    contents = read_contents(path)
    _check_known(path, contents)
    found = _photos_by_hash(photos or path / FOLDER)
    imported = []
    for sha256, record in contents.index.photos.items():
        where = f"{path / PhotoIndex.FILE_NAME}: photos.{sha256}"
        if sha256 not in found:
            raise ReferenceSetError(f"{where}: no photo with this content in {photos or path / FOLDER}")
        imported.append(
            ImportedPhoto(
                path=found[sha256],
                where=where,
                bibs=contents.bibs.photos.get(sha256),
                faces=contents.faces.photos.get(sha256),
                links=contents.links.photos.get(sha256),
                names=tuple(record.names),
                split=record.split,
                added_at=record.added_at,
                sha256=sha256,
                group=record.group,
                links_open=bool(record.links_open),
            )
        )
    return ImportedSet(tuple(imported), contents.identities, tuple(_selfies(path, contents)))


def _selfies(path: Path, contents: Contents) -> Iterator[ImportedSelfie]:
    stored = stored_photos(path, SELFIES)
    for sha256, owner in contents.selfies.photos.items():
        where = f"{path / Selfies.FILE_NAME}: photos.{sha256}"
        if sha256 not in stored:
            raise ReferenceSetError(f"{where}: no picture of this name in {path / SELFIES}")
        yield ImportedSelfie(path=stored[sha256], identity=owner, where=where, sha256=sha256)


def _check_known(path: Path, contents: Contents) -> None:
    """Refuse labels of photos that the index does not have: they would be lost."""
    for kind, photos in (
        (BibGroundTruth, contents.bibs.photos),
        (FaceGroundTruth, contents.faces.photos),
        (BibFaceLinks, contents.links.photos),
    ):
        for photo in photos:
            if photo not in contents.index.photos:
                raise ReferenceSetError(f"{path / kind.FILE_NAME}: photos.{photo}: not in {PhotoIndex.FILE_NAME}")


def _photos_by_hash(folder: Path) -> dict[str, Path]:
    found = {}
    for path in find_photos(folder):
        try:
            named = re.fullmatch(r"[0-9a-f]{64}", path.stem)
            found[path.stem if named else hashlib.sha256(read_bytes(path)).hexdigest()] = path
        except PhotoError as error:
            raise ReferenceSetError(str(error)) from error
    return found


FORMAT = Format(name="bnr", title="the harness's own files", read_set=read_set)
