"""Who is labelled where: from the labels of photos to people and the photos that they want.

A face's person is its identity, else the complete number of its linked bib. A number that links tie to one identity
belongs to that identity everywhere, also on a bib whose wearer's face nobody labelled. Where a photo alone says who is
in it (`people`), there are no boxes.

For example, a set in which a face called Ada wears 17 in one photo, and a bib with 17 hangs on a back in another: both
are photos of Ada, whose number is 17.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.references.sets import ReferencePhoto
from harness.scoring.bibs import SCORED, is_complete
from harness.scoring.people import NOBODY, UNKNOWN, Person
from harness.types import FaceScope

_ANONYMOUS = re.compile(r"anonymous_[0-9]+")


@dataclass(frozen=True, slots=True)
class Sighting:
    """A person who is labelled in a photo: with these of its labelled faces and bibs, or because it is `said` of the
    photo itself. Faces are those that a detector has to find, bibs those with their complete number."""

    person: int
    photo: int
    faces: tuple[int, ...] = ()
    bibs: tuple[int, ...] = ()
    said: bool = False


@dataclass(frozen=True)
class Roster:
    """The people of a set, in the order of their names; the person of each labelled face, photo by photo; and who is
    seen where, in the order of the photos."""

    people: tuple[Person, ...]
    faces: tuple[tuple[int, ...], ...]
    sightings: tuple[Sighting, ...]


def roster_of(
    photos: Sequence[ReferencePhoto], selfies: Iterable[str] = (), *, identities_labeled: bool, grouped: bool
) -> Roster:
    """Everybody who is labelled in these photos or has a selfie.

    With `identities_labeled`, a face without a name is somebody who was seen once. Each person is in the group that
    holds most of their photos where photos are `grouped`, else in one of their own.
    """
    wearers = _wearers(photos)
    named = [_names(photo, wearers) for photo in photos]
    everybody = {name for seen in named for name in seen.everybody} | set(selfies)
    order = {name: place for place, name in enumerate(sorted(everybody))}
    sightings = tuple(
        sighting for place, seen in enumerate(named) for sighting in _sightings(place, seen, order, photos[place])
    )
    nameless = NOBODY if identities_labeled else UNKNOWN
    faces = tuple(
        tuple(
            order[name] if name else (UNKNOWN if box.scope == FaceScope.EXCLUDE else nameless)
            for name, box in zip(seen.faces, photo.faces, strict=True)
        )
        for seen, photo in zip(named, photos, strict=True)
    )
    people = _people(tuple(order), sightings, photos)
    return Roster(_grouped(people, sightings, photos) if grouped else people, faces, sightings)


@dataclass(frozen=True)
class _Names:
    """The person of each labelled face and bib of a photo, by name; and who else is said to be there."""

    faces: tuple[str | None, ...]
    bibs: tuple[str | None, ...]
    said: tuple[str, ...]

    @property
    def everybody(self) -> set[str]:
        return {name for name in (*self.faces, *self.bibs, *self.said) if name}


def _names(photo: ReferencePhoto, wearers: dict[str, str]) -> _Names:
    faces: list[str | None] = [
        box.identity if box.identity and box.scope != FaceScope.EXCLUDE else None for box in photo.faces
    ]
    numbers = [_number(photo, place) for place in range(len(photo.bibs))]
    bibs: list[str | None] = [wearers.get(number, f"#{number}") if number else None for number in numbers]
    for link in photo.links or ():
        bib, face = link.bib_index, link.face_index
        if numbers[bib] is None or photo.faces[face].scope == FaceScope.EXCLUDE:
            continue
        if faces[face] is None:
            faces[face] = bibs[bib]
        bibs[bib] = faces[face]
    return _Names(tuple(faces), tuple(bibs), tuple(photo.people or ()))


def _number(photo: ReferencePhoto, bib: int) -> str | None:
    """The complete number of a scored bib."""
    box = photo.bibs[bib]
    return str(box.number).strip() if box.scope in SCORED and is_complete(box.number) else None


def _wearers(photos: Sequence[ReferencePhoto]) -> dict[str, str]:
    """The identity that links tie a complete number to. A number with two of them is neither's: one may be wrong."""
    found: dict[str, set[str]] = defaultdict(set)
    for photo in photos:
        for link in photo.links or ():
            number, face = photo.bibs[link.bib_index].number, photo.faces[link.face_index]
            if face.identity and face.scope != FaceScope.EXCLUDE and is_complete(number):
                found[str(number).strip()].add(face.identity)
    return {number: min(names) for number, names in found.items() if len(names) == 1}


def _sightings(place: int, seen: _Names, order: dict[str, int], photo: ReferencePhoto) -> Iterator[Sighting]:
    for name in sorted(seen.everybody):
        faces = (j for j, own in enumerate(seen.faces) if own == name and photo.faces[j].scope == FaceScope.KEEP)
        bibs = (i for i, own in enumerate(seen.bibs) if own == name)
        yield Sighting(order[name], place, tuple(faces), tuple(bibs), name in seen.said)


def _people(
    names: Sequence[str], sightings: Sequence[Sighting], photos: Sequence[ReferencePhoto]
) -> tuple[Person, ...]:
    numbers: dict[int, set[str]] = defaultdict(set)
    for sighting in sightings:
        worn = (_number(photos[sighting.photo], bib) for bib in sighting.bibs)
        numbers[sighting.person].update(number for number in worn if number)
    return tuple(
        Person(
            name, runner=bool(numbers[place]) or not _ANONYMOUS.fullmatch(name), numbers=tuple(sorted(numbers[place]))
        )
        for place, name in enumerate(names)
    )


def _grouped(
    people: Sequence[Person], sightings: Sequence[Sighting], photos: Sequence[ReferencePhoto]
) -> tuple[Person, ...]:
    """Each person in the group that holds most of their photos; of two equal ones the first by name."""
    seen: dict[int, Counter[str]] = defaultdict(Counter)
    for sighting in sightings:
        seen[sighting.person][photos[sighting.photo].group] += 1
    best = {person: min(groups, key=lambda group: (-groups[group], group)) for person, groups in seen.items()}
    return tuple(replace(person, group=best.get(place, "")) for place, person in enumerate(people))
