"""All label files of a reference set as of one moment, and what they must agree on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from harness.base.errors import ReferenceSetError
from harness.references.constraints import NO_CONSTRAINTS, Constraints, read_constraints
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    Decode,
    F,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    LinkPairs,
    PhotoIndex,
    Selfies,
    decode,
)

NO_BIBS, NO_FACES = BibLabels(), FaceLabels()


@dataclass(frozen=True)
class Contents:
    """The index, the labels, the links, the identities and the selfies. Suggestions are no labels, and are not here."""

    index: PhotoIndex
    bibs: BibGroundTruth
    faces: FaceGroundTruth
    links: BibFaceLinks
    identities: FaceIdentities
    selfies: Selfies = field(default_factory=Selfies)

    def links_done(self, photo: str) -> bool:
        """Whether somebody looked for the links of a photo to the end."""
        record = self.index.photos.get(photo)
        return photo in self.links.photos and not (record and record.links_open)

    def constraints(self, folder: Path) -> Constraints:
        """Which faces are one person, and which are not; `folder` is for the error."""
        return read_constraints(folder, self.identities, self.faces.photos.get)


class LoadFile(Protocol):
    """Something that loads one label file."""

    def __call__(self, kind: type[F], /) -> F:
        """The file of this kind."""


def read_file(root: Path, kind: type[F], decoded: Decode = decode) -> F:
    """Read and check one label file; a file that is not there is an empty one."""
    path = root / kind.FILE_NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error.strerror}") from error
    return decoded(path, text, kind)


def read_contents(folder: Path, *, constrained: bool = True, decoded: Decode = decode) -> Contents:
    """Read and check the files of a folder that nobody is writing to; without constraints where they mean nothing."""
    contents = load_contents(partial(read_file, folder, decoded=decoded))
    check_links(folder, contents)
    if not constrained:
        return replace(contents, identities=contents.identities.model_copy(update=NO_CONSTRAINTS.as_text()))
    contents.constraints(folder)
    return contents


def load_contents(load: LoadFile) -> Contents:
    """Contents from whatever loads one file."""
    return Contents(
        index=load(PhotoIndex),
        bibs=load(BibGroundTruth),
        faces=load(FaceGroundTruth),
        links=load(BibFaceLinks),
        identities=load(FaceIdentities),
        selfies=load(Selfies),
    )


def check_links(folder: Path, contents: Contents) -> None:
    """Refuse a link to a box that is not there."""
    bibs, faces = contents.bibs.photos, contents.faces.photos
    for photo, pairs in contents.links.photos.items():
        check_photo_links(folder, photo, bibs.get(photo, NO_BIBS), faces.get(photo, NO_FACES), pairs)


def check_photo_links(folder: Path, photo: str, bibs: BibLabels, faces: FaceLabels, pairs: LinkPairs) -> None:
    """Refuse a link of one photo to a box that is not there."""
    for bib, face in pairs:
        if bib >= len(bibs.boxes) or face >= len(faces.boxes):
            raise ReferenceSetError(
                f"{folder / BibFaceLinks.FILE_NAME}: photos.{photo}: link [{bib}, {face}] "
                f"points past the {len(bibs.boxes)} bibs and {len(faces.boxes)} faces of the photo"
            )
