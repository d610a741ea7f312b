"""One runner of a run: the photos that they want, each with how it came back or why not, and those of others that did.

Where they are in a photo is drawn by the labels as they are now; a face of somebody else is the one that was found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from harness.exploring.opened import OpenedRun
from harness.references.sets import ReferencePhoto
from harness.runs.items import PhotoDetail
from harness.runs.returns import Return
from harness.types import BibBox, Box, FaceBox

#: What became of a photo, in the order in which they are shown.
Kind = Literal["missed", "partly", "back", "not_asked", "stranger"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Show = Literal["all", "missed", "back", "not_asked", "stranger", "newly_lost", "newly_found"]


@dataclass(frozen=True, slots=True)
class PersonPhoto:
    """A photo of a runner's page. `was` is the share that came back in the other run, None where that is not known."""

    found: Return
    name: str
    was: float | None = None

    @property
    def kind(self) -> Kind:
        """What became of it."""
        if not self.found.wanted:
            return "stranger"
        if self.found.both is None:
            return "not_asked"
        return "back" if self.found.both == 1 else "partly" if self.found.both > 0 else "missed"

    @property
    def change(self) -> Literal["newly_lost", "newly_found"] | None:
        """Whether a wanted photo comes back less than in the other run, or more."""
        now = self.found.both
        if not self.found.wanted or self.was is None or now is None or now == self.was:
            return None
        return "newly_lost" if now < self.was else "newly_found"

    def ways(self) -> str:
        """By what it came back: `by selfie and by number`; "" where it did not."""
        told = [f"by {way}" for way in ("selfie", "number") if getattr(self.found, way)]
        if not told and self.found.both:
            return "by selfie and number together"
        return " and ".join(told)

    def fits(self, show: Show) -> bool:
        """Whether it is among those that somebody wants to see."""
        kinds = {"missed": ("missed", "partly")}.get(show, (show,))
        return show == "all" or self.kind in kinds or self.change == show


@dataclass(frozen=True)
class Person:
    """A runner's photos: those that are missed first, of these the nearest misses, then those that came back, then
    those of others, the most similar first."""

    name: str
    numbers: tuple[str, ...]
    photos: tuple[PersonPhoto, ...]

    @cached_property
    def counts(self) -> Counter[str]:
        """How many photos each choice of `Show` has."""
        choices: tuple[Show, ...] = get_args(Show)
        return Counter({show: sum(photo.fits(show) for photo in self.photos) for show in choices})

    @property
    def threshold(self) -> float | None:
        """What a similarity has to reach, where there is such a thing."""
        return next((photo.found.threshold for photo in self.photos), None)


def person_of(opened: OpenedRun, name: str) -> Person:
    """A runner of an opened run that says what came back."""
    people = opened.people
    assert people is not None
    assert people.returns is not None
    was = {row.photo: row.both for row in people.base.of(name) if row.wanted} if people.base else {}
    photos = [
        PersonPhoto(
            row, opened.by_hash[row.photo].name if row.photo in opened.by_hash else row.photo[:12], was.get(row.photo)
        )
        for row in people.returns.of(name)
    ]
    return Person(name, people.by_name[name].numbers, tuple(sorted(photos, key=_order)))


def _order(photo: PersonPhoto) -> tuple[int, float, str, str]:
    score = photo.found.score
    return KINDS.index(photo.kind), -score if score is not None else 2.0, photo.name, photo.found.photo


Places = list[tuple[str, tuple[float, float, float, float]]]


def places(opened: OpenedRun, photos: Sequence[PersonPhoto], person: Person) -> dict[str, Places]:
    """By photo where to look: `face` and `bib` boxes of the runner or, in a photo without them, what made it come
    back."""
    assert opened.run is not None
    wanted = {photo.found.photo for photo in photos}
    details = {item.id: item.photo for item in opened.run.photos if item.id in wanted}
    found: dict[str, Places] = {}
    for each in photos:
        photo, detail = opened.photos.photos.get(each.found.photo), details.get(each.found.photo)
        if each.found.wanted and photo is not None:
            boxes = _labelled(photo, person.name, person.numbers)
        else:
            boxes = _stranger(detail, each.found, person.numbers)
        found[each.found.photo] = [
            ("bib" if isinstance(box, BibBox) else "face", box.xywh) for box in boxes if box.has_coords
        ]
    return found


def _labelled(photo: ReferencePhoto, name: str, numbers: Sequence[str]) -> Iterator[Box]:
    """The faces with the runner's name or linked to their number, and the bibs with it."""
    worn = {place for place, bib in enumerate(photo.bibs) if _number(bib) in numbers}
    linked = {link.face_index for link in photo.links or () if link.bib_index in worn}
    for place, face in enumerate(photo.faces):
        if face.identity == name or (place in linked and face.identity is None):
            yield face
    yield from (photo.bibs[place] for place in sorted(worn))


def _stranger(detail: PhotoDetail | None, found: Return, numbers: Sequence[str]) -> Iterator[FaceBox | BibBox]:
    """The face that was taken for the runner's, or the bibs that were read as theirs."""
    if detail is None or found.wanted:
        return
    faces, bibs = detail.prediction.faces, detail.prediction.bibs
    if found.face is None:
        yield from (bib for bib in bibs if _number(bib) in numbers)
    elif found.face < len(faces):
        yield faces[found.face]


def _number(bib: BibBox) -> str:
    return (bib.number or "").strip()
