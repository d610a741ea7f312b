"""Selfies: pictures that people search with. They lie in `selfies/`, named by their content, apart from the photos.

`selfies.json` says whose picture each one is. Somebody may have several, and may be in no photo of the set: whoever
finds something for such a stranger is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import PhotoError, ReferenceSetError
from harness.references.drafts import Draft
from harness.references.files import Selfies
from harness.references.photo_files import SELFIES, copy_photo

#: A picture that is smaller shows no face that could be compared.
LEAST_SIDE = 32


@dataclass(frozen=True, kw_only=True)
class ImportedSelfie:
    """One selfie of a source, and whose it is. `where` names its record in errors; `sha256` is what the source says its
    content is."""

    path: Path
    identity: str
    where: str
    sha256: str | None = None


def copy_selfie(beside: Path, selfie: ImportedSelfie) -> str:
    """Put a copy of a selfie into `selfies/`, once it has proved to be a picture; returns its hash."""
    try:
        copied = copy_photo(beside, selfie.path, folder=SELFIES)
    except PhotoError as error:
        raise ReferenceSetError(f"{selfie.where}: {error}") from error
    if min(copied.width, copied.height) < LEAST_SIDE:
        raise ReferenceSetError(
            f"{selfie.where}: {selfie.path} is {copied.width} x {copied.height} pixels; a selfie needs at least "
            f"{LEAST_SIDE} on each side to show a face"
        )
    if selfie.sha256 not in (None, copied.sha256):
        raise ReferenceSetError(f"{selfie.where}: {selfie.path} has other content: SHA-256 {copied.sha256}")
    return copied.sha256


def enter_selfie(draft: Draft, selfie: ImportedSelfie, sha256: str) -> None:
    """Say whose a selfie is. The same again is fine; what is there is never overwritten."""
    owner = draft.record(Selfies, sha256)
    if owner not in (None, selfie.identity):
        raise ReferenceSetError(
            f"{selfie.where}: the picture {selfie.path.name} is a selfie of {owner} already, not of {selfie.identity}; "
            "nothing was imported"
        )
    draft.put(Selfies, sha256, selfie.identity)
