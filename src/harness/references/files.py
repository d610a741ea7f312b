"""The label files of a reference set: their shape, read and checked once at this edge, and written atomically.

Everything is JSON, keyed by the SHA-256 of a photo's bytes. A file that does not fit is refused with the file, the
record and the field that is wrong; nothing past this module sees an unchecked value.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from harness.checks import Share, first_error
from harness.errors import ReferenceSetError
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, FaceScope

SCHEMA_VERSION = 3

BibPhotoTag = Literal["obscured_bib", "dark_bib", "no_bib", "blurry_bib", "partial_bib", "light_bib", "other_banners"]
FacePhotoTag = Literal["no_faces", "light_faces"]
FaceBoxTag = Literal["tiny", "blurry", "occluded", "profile", "looking_down"]

_OLD_FACE_SCOPES = {"ignore": "exclude", "unknown": "uncertain"}

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Index = Annotated[int, Field(ge=0)]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PhotoRecord(_Record):
    """One photo of the index. `names` are the file names that it was added under."""

    names: list[str] = Field(min_length=1)
    width: int = Field(gt=0)
    height: int = Field(gt=0)
    bytes: int = Field(gt=0)
    added_at: str
    split: Literal["iteration", "holdout"]


class BibRecord(_Record):
    """One labelled bib."""

    x: Share
    y: Share
    w: Share
    h: Share
    number: str | None = None
    scope: BibScope = BibScope.BIB
    tags: list[str] = []

    def box(self) -> BibBox:
        """The label as the rest of the harness knows it."""
        return BibBox(
            x=self.x,
            y=self.y,
            w=self.w,
            h=self.h,
            number=self.number,
            scope=self.scope,
            tags=tuple(self.tags),
        )


class FaceRecord(_Record):
    """One labelled face."""

    x: Share
    y: Share
    w: Share
    h: Share
    scope: Annotated[FaceScope, BeforeValidator(lambda s: _OLD_FACE_SCOPES.get(s, s))] = FaceScope.KEEP
    identity: str | None = None
    tags: list[FaceBoxTag] = []

    def box(self) -> FaceBox:
        """The label as the rest of the harness knows it."""
        return FaceBox(
            x=self.x,
            y=self.y,
            w=self.w,
            h=self.h,
            scope=self.scope,
            identity=self.identity,
            tags=tuple(self.tags),
        )


class BibLabels(_Record):
    """What a person said about the bibs of one photo."""

    labeled: bool = False
    boxes: list[BibRecord] = []
    tags: list[BibPhotoTag] = []


class FaceLabels(_Record):
    """What a person said about the faces of one photo."""

    labeled: bool = False
    boxes: list[FaceRecord] = []
    tags: list[FacePhotoTag] = []


class _File(_Record):
    schema_version: Literal[3] = 3
    revision: Index = 0


class PhotoIndex(_File):
    """`photo_index.json`."""

    photos: dict[Sha256, PhotoRecord] = {}


class BibGroundTruth(_File):
    """`bib_ground_truth.json`."""

    photos: dict[Sha256, BibLabels] = {}


class FaceGroundTruth(_File):
    """`face_ground_truth.json`."""

    photos: dict[Sha256, FaceLabels] = {}


class BibFaceLinks(_File):
    """`bib_face_links.json`: pairs of positions in the label lists; `[]` says that somebody looked and found none."""

    photos: dict[Sha256, list[tuple[Index, Index]]] = {}

    def links(self, photo: str) -> tuple[BibFaceLink, ...] | None:
        """The links of one photo, or None where they were never labelled."""
        pairs = self.photos.get(photo)
        return None if pairs is None else tuple(BibFaceLink(bib, face) for bib, face in pairs)


class FaceIdentities(_File):
    """`face_identities.json`: the names in use, and pairs of faces known to be (or not to be) one person."""

    names: list[str] = []
    must_link: list[list[str]] = []
    cannot_link: list[list[str]] = []


FILE_NAMES: dict[type[_File], str] = {
    PhotoIndex: "photo_index.json",
    BibGroundTruth: "bib_ground_truth.json",
    FaceGroundTruth: "face_ground_truth.json",
    BibFaceLinks: "bib_face_links.json",
    FaceIdentities: "face_identities.json",
}

F = TypeVar("F", bound=_File)


def read_file(root: Path, kind: type[F]) -> F:
    """Read and check one label file; a file that is not there is an empty one."""
    path = root / FILE_NAMES[kind]
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ReferenceSetError(f"{path}: not JSON: {error}") from error
    version = data.get("schema_version") if isinstance(data, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ReferenceSetError(
            f"{path}: schema_version {version} is newer than {SCHEMA_VERSION}, the newest this harness reads; "
            "upgrade the harness"
        )
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ReferenceSetError(f"{path}: {first_error(error)}") from error


def write_file(root: Path, content: _File) -> None:
    """Write one label file atomically: at any moment the disk holds the old one or the new one."""
    path = root / FILE_NAMES[type(content)]
    text = json.dumps(content.model_dump(mode="json"), ensure_ascii=False, indent=1)
    write_atomically(path, text.encode())


def write_atomically(path: Path, content: bytes) -> None:
    """Write beside, flush to disk, then rename over `path`."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
