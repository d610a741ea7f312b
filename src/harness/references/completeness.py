"""How far a photo is labelled: derived from its labels whenever it is asked for, never stored.

Bibs are done when somebody said so; faces when somebody said so, drew a box or set a tag; links when the photo is in
the link file, or there is nothing to link. A photo is complete when all three are. A known negative, labelled and
without a single box, is complete too, and counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.references.contents import NO_BIBS, NO_FACES, Contents


class State(StrEnum):
    """How far a photo is labelled, all told."""

    COMPLETE = "complete"
    KNOWN_NEGATIVE = "known_negative"
    PARTIAL = "partial"
    UNTOUCHED = "untouched"


@dataclass(frozen=True, slots=True)
class Completeness:
    """Which dimensions of one photo are done."""

    bibs: bool
    faces: bool
    links: bool
    state: State

    @property
    def complete(self) -> bool:
        """Whether all three are done, known negatives included."""
        return self.state in (State.COMPLETE, State.KNOWN_NEGATIVE)


def completeness(contents: Contents, photo: str) -> Completeness:
    """How far one photo is labelled."""
    bib = contents.bibs.photos.get(photo, NO_BIBS)
    face = contents.faces.photos.get(photo, NO_FACES)
    looked_for_links = photo in contents.links.photos
    links = looked_for_links or not bib.boxes or not face.boxes
    if bib.labeled and face.done and links:
        state = State.COMPLETE if bib.boxes or face.boxes else State.KNOWN_NEGATIVE
    else:
        touched = bib.labeled or bib.boxes or bib.tags or face.done or looked_for_links
        state = State.PARTIAL if touched else State.UNTOUCHED
    return Completeness(bib.labeled, face.done, links, state)
