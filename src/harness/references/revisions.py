"""Saves against revisions: nobody's change is undone by somebody who has not seen it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import StaleRevisionError
from harness.references.drafts import Draft
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceLabels,
    PhotoFile,
    PhotoIndex,
)


@dataclass(frozen=True)
class Revisions:
    """The revisions of the files that speak about photos, at one moment."""

    index: int
    bibs: int
    faces: int
    links: int


_REVISION_OF: dict[type[PhotoFile], Callable[[Revisions], int]] = {
    PhotoIndex: lambda revisions: revisions.index,
    BibGroundTruth: lambda revisions: revisions.bibs,
    FaceGroundTruth: lambda revisions: revisions.faces,
    BibFaceLinks: lambda revisions: revisions.links,
}


def is_new(
    root: Path,
    draft: Draft,
    photo: str,
    based_on: Revisions,
    kind: type[PhotoFile],
    record: Any,
    positions_in: Sequence[type[PhotoFile]] = (),
) -> bool:
    """Whether a save changes something; one that would undo somebody's change is refused.

    A save that is sent again, since its answer got lost, finds the photo changed, and as it wants it: nothing is to do.
    Where its boxes came from the store has found out by then, so that does not count.
    """
    theirs = draft.record(kind, photo)
    stale = [each for each in (kind, *positions_in) if _changed_since(draft, each, photo, based_on)]
    if stale == [kind] and _said(theirs) == _said(record) and _REVISION_OF[kind](based_on) <= draft.file(kind).revision:
        return False
    if stale:
        now, seen = draft.file(stale[0]).changed.get(photo, 0), _REVISION_OF[stale[0]](based_on)
        raise StaleRevisionError(
            f"{root / stale[0].FILE_NAME}: photos.{photo}: changed at revision {now}, "
            f"but the save is based on revision {seen}; look again, and save what should stay",
            photo=photo,
            yours=record,
            theirs=theirs,
        )
    return True


def _said(record: Any) -> Any:
    return record.bare() if isinstance(record, BibLabels | FaceLabels) else record


def _changed_since(draft: Draft, kind: type[PhotoFile], photo: str, based_on: Revisions) -> bool:
    content, seen = draft.file(kind), _REVISION_OF[kind](based_on)
    return content.changed.get(photo, 0) > seen or seen > content.revision
