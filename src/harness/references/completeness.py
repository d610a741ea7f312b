"""How far a photo is labelled: derived from its labels whenever it is asked for, never stored.

Bibs and faces are done when a person said so; links when the photo is in the link file and nobody has left them open,
or bibs and faces are done and one of them has no box to link; identities when faces are done and every kept one has a
name, or the set says that those without one were looked at; people when somebody said who is in the photo. A photo is
complete when bibs, faces and links are. A known negative, labelled and without a single box, is complete too, and
counted apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from harness.base.errors import InvalidEditError
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.types import FaceScope

Dimension = Literal["bibs", "faces", "links", "identities", "people"]
ALL_DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)
#: What a photo is complete in unless somebody asks for less or more.
DIMENSIONS: tuple[Dimension, ...] = ("bibs", "faces", "links")


class State(StrEnum):
    """How far a photo is labelled, all told."""

    COMPLETE = "complete"
    KNOWN_NEGATIVE = "known_negative"
    PARTIAL = "partial"
    UNTOUCHED = "untouched"


@dataclass(frozen=True, slots=True)
class Completeness:
    """Which dimensions of one photo are done, and what that comes to. `review`: an older rule took the photo for
    complete, for the boxes or tags of its faces, and nobody has said that these are done."""

    bibs: bool
    faces: bool
    links: bool
    identities: bool
    people: bool
    state: State
    review: bool = False

    @property
    def complete(self) -> bool:
        """Whether all that was asked for is done, known negatives included."""
        return self.state in (State.COMPLETE, State.KNOWN_NEGATIVE)


def check_dimensions(named: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions of these names, in their usual order. Links are of no use without the boxes that they count."""
    if not named or (unknown := [name for name in named if name not in ALL_DIMENSIONS]):
        told = f"{unknown[0]!r} is none of them" if named else "none is named"
        raise InvalidEditError(f"dimensions: {told}; expected some of {', '.join(ALL_DIMENSIONS)}")
    for name, needed in (("links", ("bibs", "faces")), ("identities", ("faces",))):
        if name in named and (missing := [each for each in needed if each not in named]):
            raise InvalidEditError(f"dimensions: {name} need {' and '.join(missing)} too")
    return tuple(dimension for dimension in ALL_DIMENSIONS if dimension in named)


def completeness(contents: Contents, photo: str, dimensions: Sequence[Dimension] = DIMENSIONS) -> Completeness:
    """How far one photo is labelled; `dimensions` are those that count."""
    bib = contents.bibs.photos.get(photo, NO_BIBS)
    face = contents.faces.photos.get(photo, NO_FACES)
    begun_links = photo in contents.links.photos
    looked_for_links = contents.links_done(photo)
    nothing_to_link = not bib.boxes or not face.boxes
    named = contents.identities.identities_labeled or all(
        box.identity for box in face.boxes if box.scope == FaceScope.KEEP
    )
    done: dict[Dimension, bool] = {
        "bibs": bib.labeled,
        "faces": face.labeled,
        "links": looked_for_links or (bib.labeled and face.labeled and nothing_to_link),
        "identities": face.labeled and named,
        "people": face.people is not None,
    }
    if all(done[dimension] for dimension in dimensions):
        shown = {"bibs": bib.boxes, "faces": face.boxes, "people": face.people}
        state = State.COMPLETE if any(shown.get(dimension) for dimension in dimensions) else State.KNOWN_NEGATIVE
    else:
        said = face.people is not None
        begun = {"bibs": bib.begun, "faces": face.begun or said, "links": begun_links, "identities": False}
        begun["people"] = said
        state = State.PARTIAL if any(begun[dimension] for dimension in dimensions) else State.UNTOUCHED
    review = bib.labeled and face.begun and not face.labeled and (looked_for_links or nothing_to_link)
    return Completeness(**done, state=state, review=review)
