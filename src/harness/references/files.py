"""The label files of a reference set: their shape, read and checked once at this edge, and written atomically.

Everything is JSON, keyed by the SHA-256 of a photo's bytes, one photo a line. A file that does not fit is refused with
the file, the record and the field that is wrong; nothing past this module sees an unchecked value, and no value is
bent to fit: a coordinate in quotes is an error.

A file of an older schema version loads, with its old vocabulary, and is written back as the current one; a newer one is
refused. `revision` counts the writes of a file, `changed` says at which of them each photo changed last.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from harness.base.checks import first_error
from harness.base.errors import ReferenceSetError
from harness.base.garbage import no_collection
from harness.references.disk import write_atomically
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, FaceScope

SCHEMA_VERSION = 3

BibPhotoTag = Literal["obscured_bib", "dark_bib", "no_bib", "blurry_bib", "partial_bib", "light_bib", "other_banners"]
FacePhotoTag = Literal["no_faces", "light_faces"]
FaceBoxTag = Literal["tiny", "blurry", "occluded", "profile", "looking_down"]

_OLD_FACE_SCOPES = {"ignore": "exclude", "unknown": "uncertain"}

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Index = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Size = Annotated[int, Field(gt=0, le=2**53, strict=True)]
Coordinate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Flag = Annotated[bool, Field(strict=True)]


def _current_scope(scope: Any) -> Any:
    return _OLD_FACE_SCOPES.get(scope, scope) if isinstance(scope, str) else scope


class Record(BaseModel):
    """Something in a label file; a key that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PhotoRecord(Record):
    """One photo of the index, upright. `names` are the file names that it was added under."""

    names: list[str] = Field(min_length=1)
    width: Size
    height: Size
    bytes: Size
    added_at: str
    split: Literal["iteration", "holdout"]


class BoxRecord(Record):
    """Where something is, in shares of the upright photo; no width and no height where nobody drew it."""

    x: Coordinate
    y: Coordinate
    w: Coordinate
    h: Coordinate


class BibRecord(BoxRecord):
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


class FaceRecord(BoxRecord):
    """One labelled face."""

    scope: Annotated[FaceScope, BeforeValidator(_current_scope)] = FaceScope.KEEP
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


class BibLabels(Record):
    """What a person said about the bibs of one photo."""

    labeled: Flag = False
    boxes: list[BibRecord] = []
    tags: list[BibPhotoTag] = []


class FaceLabels(Record):
    """What a person said about the faces of one photo."""

    labeled: Flag = False
    boxes: list[FaceRecord] = []
    tags: list[FacePhotoTag] = []

    @property
    def done(self) -> bool:
        """Whether somebody has looked: said so, drew a box or set a tag."""
        return self.labeled or bool(self.boxes or self.tags)


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


class BibFaceLinks(PhotoFile):
    """Which face wears which bib; `[]` says that somebody looked and found no link."""

    FILE_NAME = "bib_face_links.json"
    photos: dict[Sha256, LinkPairs] = {}

    def links(self, photo: str) -> tuple[BibFaceLink, ...] | None:
        """The links of one photo, or None where they were never labelled."""
        pairs = self.photos.get(photo)
        return None if pairs is None else tuple(BibFaceLink(bib, face) for bib, face in pairs)


class FaceIdentities(LabelFile):
    """The names in use, and groups of faces known to be (or not to be) one person."""

    FILE_NAME = "face_identities.json"
    names: list[str] = []
    must_link: list[list[str]] = []
    cannot_link: list[list[str]] = []


F = TypeVar("F", bound=LabelFile)


def read_file(root: Path, kind: type[F]) -> F:
    """Read and check one label file; a file that is not there is an empty one."""
    path = root / kind.FILE_NAME
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return kind()
    except OSError as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error.strerror}") from error
    return decode(path, text, kind)


def decode(path: Path, text: bytes, kind: type[F]) -> F:
    """Check the content of a label file; `path` is for the error."""
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
