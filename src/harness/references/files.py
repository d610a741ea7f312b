"""The label files of a reference set: their shape, read and checked once at this edge, and written atomically.

Everything is JSON, keyed by the SHA-256 of a photo's bytes, one photo a line. A file that does not fit is refused with
the file, the record and the field that is wrong; no value is bent to fit: a coordinate in quotes is an error.

A file of an older schema version loads, with its old vocabulary, and is written back as the current one; a newer one is
refused. `revision` counts the writes of a file, `changed` says at which of them each photo changed last.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.base.checks import first_error
from harness.base.disk import write_atomically
from harness.base.errors import ReferenceSetError
from harness.base.garbage import no_collection
from harness.references.fields import (
    BoxId,
    CameraTime,
    Coordinate,
    Flag,
    Identity,
    Index,
    People,
    Score,
    Sha256,
    Size,
    current_scope,
    is_none,
    without_names,
)
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, FaceScope

SCHEMA_VERSION = 3

BibPhotoTag = Literal["obscured_bib", "dark_bib", "no_bib", "blurry_bib", "partial_bib", "light_bib", "other_banners"]
FacePhotoTag = Literal["no_faces", "light_faces"]
FaceBoxTag = Literal["tiny", "blurry", "occluded", "profile", "looking_down"]

#: The key of what a person said; a file without it anywhere is older than the question.
_LABELED_KEY = re.compile(rb'"labeled"\s*:')


class Record(BaseModel):
    """Something in a label file; a key that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    _lean = model_validator(mode="after")(without_names)


class PhotoRecord(Record):
    """One photo of the index, upright. `names` are the file names that it was added under.

    `group` is what a source says belongs together. `taken_at` and `camera` are from the photo's header, "" where it
    does not say; photos that an older harness entered have neither. `links_open` says that links were begun, and that
    nobody has called them done.
    """

    names: list[str] = Field(min_length=1)
    width: Size
    height: Size
    bytes: Size
    added_at: str
    split: Literal["iteration", "holdout"]
    group: str | None = Field(default=None, min_length=1, exclude_if=is_none)
    taken_at: CameraTime | None = Field(default=None, exclude_if=is_none)
    camera: str | None = Field(default=None, exclude_if=is_none)
    links_open: Flag | None = Field(default=None, exclude_if=is_none)


class SuggestedBy(Record):
    """What suggested a box: the backend, its models by name and digest, and how sure it was."""

    backend: str
    model: str = ""
    score: Score | None = None


class BoxOrigin(Record):
    """Where a box came from. `edited` is a suggestion or an imported box that somebody moved or gave another number,
    name or scope."""

    how: Literal["drawn", "accepted", "edited", "imported"]
    by: str | None = Field(default=None, exclude_if=is_none)
    at: str | None = Field(default=None, exclude_if=is_none)
    suggestion: SuggestedBy | None = Field(default=None, exclude_if=is_none)


class BoxRecord(Record):
    """Where something is, in shares of the upright photo; no width and no height where nobody drew it."""

    x: Coordinate
    y: Coordinate
    w: Coordinate
    h: Coordinate


class LabelBox(BoxRecord):
    """One label. Its `id` names it among the boxes of its photo, and stays when it is edited: the store gives it to
    boxes that it writes. Without an `origin` nobody knows where the box came from."""

    id: BoxId | None = Field(default=None, exclude_if=is_none)
    origin: BoxOrigin | None = Field(default=None, exclude_if=is_none)


class BibRecord(LabelBox):
    """One labelled bib."""

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


class FaceRecord(LabelBox):
    """One labelled face."""

    scope: Annotated[FaceScope, BeforeValidator(current_scope)] = FaceScope.KEEP
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


class _Labels(Record):
    """What a person said about one dimension of one photo. `labeled`: they said that it is done."""

    labeled: Flag = False
    boxes: list[Any] = []
    tags: list[Any] = []

    @field_validator("boxes")
    @classmethod
    def _ids_differ(cls, boxes: list[LabelBox]) -> list[LabelBox]:
        ids = [box.id for box in boxes if box.id is not None]
        if len(set(ids)) < len(ids):
            raise ValueError("two boxes have the same id")
        return boxes

    @property
    def begun(self) -> bool:
        """Whether there is any label at all, which is less than done."""
        return self.labeled or bool(self.boxes or self.tags)

    def bare(self) -> Self:
        """The labels without where they came from and without ids, which the store keeps."""
        kept = {"origin": None, "id": None}
        boxes = [box.model_copy(update=kept) if box.origin or box.id else box for box in self.boxes]
        return self.model_copy(update={"boxes": boxes})


class BibLabels(_Labels):
    """What a person said about the bibs of one photo."""

    boxes: list[BibRecord] = []
    tags: list[BibPhotoTag] = []


class FaceLabels(_Labels):
    """What a person said about the faces of one photo. `people` says who is in it, without saying where: all of them
    who have a name. It is None where nobody said it, and empty where nobody with a name is there."""

    boxes: list[FaceRecord] = []
    tags: list[FacePhotoTag] = []
    people: People | None = Field(default=None, exclude_if=is_none)


#: The links of one photo: pairs of positions in its two label lists.
LinkPairs = list[tuple[Index, Index]]


class LabelFile(Record):
    """One file of a reference set. What is not said by photo, if anything, stands before `photos`."""

    FILE_NAME: ClassVar[str]

    schema_version: Literal[3] = 3
    revision: Index = 0
    changed: dict[Sha256, Index] = {}


class PhotoFile(LabelFile):
    """A file with one record a photo; what a record is, each kind says."""

    photos: dict[Sha256, Any] = {}


class PhotoIndex(PhotoFile):
    """The photos of the set."""

    FILE_NAME = "photo_index.json"
    photos: dict[Sha256, PhotoRecord] = {}


class BibGroundTruth(PhotoFile):
    """What people said about bibs."""

    FILE_NAME = "bib_ground_truth.json"
    photos: dict[Sha256, BibLabels] = {}


class FaceGroundTruth(PhotoFile):
    """What people said about faces."""

    FILE_NAME = "face_ground_truth.json"
    photos: dict[Sha256, FaceLabels] = {}

    def done_where_begun(self) -> Self:
        """The same file as the older rule reads it: boxes or tags alone say that a photo's faces are done."""
        photos = {
            photo: labels.model_copy(update={"labeled": True}) if labels.begun else labels
            for photo, labels in self.photos.items()
        }
        return self.model_copy(update={"photos": photos})


class BibFaceLinks(PhotoFile):
    """Which face wears which bib; `[]` says that somebody looked and found no link."""

    FILE_NAME = "bib_face_links.json"
    photos: dict[Sha256, LinkPairs] = {}

    def links(self, photo: str) -> tuple[BibFaceLink, ...] | None:
        """The links of one photo, or None where they were never labelled."""
        pairs = self.photos.get(photo)
        return None if pairs is None else tuple(BibFaceLink(bib, face) for bib, face in pairs)


class FaceIdentities(LabelFile):
    """The names in use, and groups of faces, each `<sha256>:<box id>`: those of a group in `must_link` are one person,
    those of a group in `cannot_link` are all different people. `identities_labeled` says that a face without a name was
    looked at, and seen once."""

    FILE_NAME = "face_identities.json"
    names: list[str] = []
    must_link: list[list[str]] = []
    cannot_link: list[list[str]] = []
    identities_labeled: Flag | None = Field(default=None, exclude_if=is_none)


class Selfies(PhotoFile):
    """Whose picture each of `selfies/` is. They are what people search with, and no photos of the set."""

    FILE_NAME = "selfies.json"
    photos: dict[Sha256, Identity] = {}


F = TypeVar("F", bound=LabelFile)


class Decode(Protocol):
    """What makes content of the bytes of a label file."""

    def __call__(self, path: Path, text: bytes, kind: type[F], /) -> F:
        """Check it; `path` is for the error."""


def decode(path: Path, text: bytes, kind: type[F]) -> F:
    """Check the content of a label file; `path` is for the error. A file of faces in which `labeled` stands nowhere is
    older than the question, and has it where its own rule calls a photo done."""
    content = _decoded(path, text, kind)
    if isinstance(content, FaceGroundTruth) and not says_labeled(text):
        return content.done_where_begun()
    return content


def says_labeled(text: bytes) -> bool:
    """Whether a file of faces is of a version that says which photos are done."""
    return bool(_LABELED_KEY.search(text))


def _decoded(path: Path, text: bytes, kind: type[F]) -> F:
    with no_collection():
        try:
            return kind.model_validate_json(text)
        except ValidationError:
            pass  # of an older version, or broken: what follows takes longer and says which
        try:
            return kind.model_validate(_upgraded(path, orjson.loads(text)))
        except orjson.JSONDecodeError as error:
            raise ReferenceSetError(f"{path}: not JSON: {error}") from error
        except ValidationError as error:
            raise ReferenceSetError(f"{path}: {first_error(error)}") from error


def encode(content: LabelFile) -> bytes:
    """The bytes of a label file: what it says of itself, one photo a line, then which photo changed when."""
    lines = encode_photos(type(content), content.photos) if isinstance(content, PhotoFile) else {}
    return encode_with(content, lines)


def encode_photos(kind: type[PhotoFile], photos: dict[str, Any]) -> dict[str, bytes]:
    """The lines of some photos of a file."""
    dumped = kind.model_construct(photos=photos).model_dump(mode="json", include={"photos"})["photos"]
    return {photo: b'"%s":%s' % (photo.encode(), orjson.dumps(record)) for photo, record in dumped.items()}


def encode_with(content: LabelFile, lines: dict[str, bytes]) -> bytes:
    """The bytes of a label file whose photos have been encoded already."""
    text = orjson.dumps(content.model_dump(mode="json", exclude={"photos", "changed"}))[:-1]
    if isinstance(content, PhotoFile):
        text += b',"photos":{\n' + b",\n".join(lines.values()) + b"\n}"
    if content.changed:
        text += b',"changed":' + orjson.dumps(content.changed)
    return text + b"}\n"


def write_file(root: Path, content: LabelFile) -> None:
    """Write one label file atomically: at any moment the disk holds the old one or the new one."""
    write_atomically(root / content.FILE_NAME, encode(content))


def _upgraded(path: Path, data: Any) -> Any:
    """The content as the current schema version has it. Versions 1 and 2 differ in their vocabulary alone."""
    if not isinstance(data, dict):
        return data
    version = data.get("schema_version", 1)
    if type(version) is int and version > SCHEMA_VERSION:
        raise ReferenceSetError(
            f"{path}: schema_version {version} is newer than {SCHEMA_VERSION}, the newest this harness reads; "
            "upgrade the harness"
        )
    return {**data, "schema_version": SCHEMA_VERSION} if version in (1, 2) and type(version) is int else data
