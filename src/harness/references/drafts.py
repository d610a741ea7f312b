"""Edits of label files before they are written: a draft collects them, a patch is what becomes of one file.

A patch holds the changed records alone and the revision that they lead to, so it can be written down, small, before any
file is touched, and applied again by whoever finds it after a crash: a file that has the revision has the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from harness.base.checks import first_error
from harness.base.errors import ReferenceSetError
from harness.references.audit_file import Audit
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    FaceGroundTruth,
    FaceIdentities,
    LabelFile,
    PhotoFile,
    PhotoIndex,
    Selfies,
)
from harness.references.reviews import PeopleReviews
from harness.references.start_list import StartList
from harness.references.suggestions import Suggestions

KINDS: tuple[type[LabelFile], ...] = (
    PhotoIndex,
    BibGroundTruth,
    FaceGroundTruth,
    BibFaceLinks,
    FaceIdentities,
    Selfies,
    Suggestions,
    PeopleReviews,
    StartList,
    Audit,
)

F = TypeVar("F", bound=LabelFile)


@dataclass(frozen=True)
class Patch:
    """The change of one file. A record that is None goes; `head` has what is not said by photo."""

    kind: type[LabelFile]
    revision: int
    photos: dict[str, Any]
    head: dict[str, Any]

    def applied_to(self, content: F) -> F:
        """The file after the change."""
        update: dict[str, Any] = {**self.head, "revision": self.revision}
        if isinstance(content, PhotoFile):
            photos = content.photos | self.photos
            update["photos"] = {photo: record for photo, record in photos.items() if record is not None}
            update["changed"] = content.changed | dict.fromkeys(self.photos, self.revision)
        return content.model_copy(update=update)


@dataclass
class _Change:
    photos: dict[str, Any] = field(default_factory=dict)
    head: dict[str, Any] = field(default_factory=dict)


class Draft:
    """The files as they are, and the edits so far. Nothing is on disk before the store commits it."""

    def __init__(self, load: Callable[[type[LabelFile]], LabelFile]) -> None:
        self._load = load
        self._changes: dict[type[LabelFile], _Change] = {}

    def file(self, kind: type[F]) -> F:
        """A file as it was when the draft began."""
        content = self._load(kind)
        assert isinstance(content, kind)
        return content

    def record(self, kind: type[PhotoFile], photo: str) -> Any:
        """What a file says about a photo by now, or None."""
        changed = self._changes.get(kind, _Change()).photos
        return changed[photo] if photo in changed else self.file(kind).photos.get(photo)

    def by_now(self, kind: type[F]) -> F:
        """A file with the edits so far."""
        content, patch = self.file(kind), self._patch(kind) if kind in self._changes else None
        return patch.applied_to(content) if patch else content

    def put(self, kind: type[PhotoFile], photo: str, record: Any) -> None:
        """Set what a file says about a photo; None takes it away."""
        self._changes.setdefault(kind, _Change()).photos[photo] = record

    def head(self, kind: type[LabelFile], name: str) -> Any:
        """A field that is not said by photo, by now."""
        return self._changes.get(kind, _Change()).head.get(name, getattr(self.file(kind), name))

    def put_head(self, kind: type[LabelFile], **fields: Any) -> None:
        """Set fields that are not said by photo."""
        self._changes.setdefault(kind, _Change()).head.update(fields)

    def patches(self) -> list[Patch]:
        """What really changes, file by file."""
        return [patch for kind in KINDS if kind in self._changes if (patch := self._patch(kind)) is not None]

    def _patch(self, kind: type[LabelFile]) -> Patch | None:
        content, change = self.file(kind), self._changes[kind]
        before = content.photos if isinstance(content, PhotoFile) else {}
        photos = {photo: record for photo, record in change.photos.items() if record != before.get(photo)}
        head = {name: value for name, value in change.head.items() if value != getattr(content, name)}
        return Patch(kind, content.revision + 1, photos, head) if photos or head else None


def encode_journal(patches: list[Patch]) -> bytes:
    """Patches as the bytes of a journal."""
    return orjson.dumps({patch.kind.FILE_NAME: _encode_patch(patch) for patch in patches})


def _encode_patch(patch: Patch) -> dict[str, Any]:
    kept = {photo: record for photo, record in patch.photos.items() if record is not None}
    fields = patch.head | ({"photos": kept} if issubclass(patch.kind, PhotoFile) else {})
    content = patch.kind.model_construct(**fields).model_dump(mode="json", include=set(fields))
    return {"revision": patch.revision, "content": content, "gone": sorted(patch.photos.keys() - kept.keys())}


def decode_journal(path: Path, text: bytes) -> list[Patch]:
    """The patches of a journal; `path` is for the error."""
    kinds = {kind.FILE_NAME: kind for kind in KINDS}
    try:
        return [_decode_patch(kinds[name], entry) for name, entry in orjson.loads(text).items()]
    except ValidationError as error:
        raise ReferenceSetError(f"{path}: {first_error(error)}") from error
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ReferenceSetError(f"{path}: not a journal of the harness: {error!r}") from error


def _decode_patch(kind: type[LabelFile], entry: dict[str, Any]) -> Patch:
    content = kind.model_validate(entry["content"] | {"revision": entry["revision"]})
    photos: dict[str, Any] = dict.fromkeys(entry["gone"])
    if isinstance(content, PhotoFile):
        photos |= content.photos
    head = {name: getattr(content, name) for name in entry["content"] if name != "photos"}
    return Patch(kind, content.revision, photos, head)
