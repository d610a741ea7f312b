"""The fields of label files: each kind of value is checked in one way, wherever it stands."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field

_OLD_FACE_SCOPES = {"ignore": "exclude", "unknown": "uncertain"}

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Index = Annotated[int, Field(ge=0, le=2**53, strict=True)]
Size = Annotated[int, Field(gt=0, le=2**53, strict=True)]
Coordinate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Score = Annotated[float, Field(allow_inf_nan=False, strict=True)]
#: What tells a box from the others of its photo.
BoxId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Identity = Annotated[str, Field(min_length=1)]


def _iso_time(text: str) -> str:
    if text and datetime.fromisoformat(text).tzinfo is not None:
        raise ValueError("expected the camera's own time, without a zone")
    return text


def _different(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("somebody is named twice")
    return names


#: A time without a zone, as a camera has it, or "" for a photo that does not say.
CameraTime = Annotated[str, AfterValidator(_iso_time)]
#: People, each of them once.
People = Annotated[list[Identity], AfterValidator(_different)]


def is_none(value: object) -> bool:
    """Whether a field is not said, and is left out of the file."""
    return value is None


def current_scope(scope: Any) -> Any:
    """What an older file calls the scope of a face, in today's words."""
    return _OLD_FACE_SCOPES.get(scope, scope) if isinstance(scope, str) else scope


M = TypeVar("M", bound=BaseModel)
_NO_NAMES: set[str] = set()


def without_names(record: M) -> M:
    """The record without the names of the keys that it was read with. Nobody asks for them, and pydantic has a set of
    them for each record: nearly half of the memory of a large set."""
    object.__setattr__(record, "__pydantic_fields_set__", _NO_NAMES)
    return record
