"""Faces that are known to be one person, and faces that are known to be different people.

`face_identities.json` names a face `<sha256>:<box id>`. The faces of a group in `must_link` are one person; those of a
group in `cannot_link` are all different people. What contradicts itself is refused: a face that is told from itself,
two faces that are one person and two at once, be it by way of others, and one person with two faces in a photo, unless
the second one is a mirror image or a poster (scope `exclude`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.references.files import FaceIdentities, FaceLabels
from harness.types import FaceScope

#: A face: the hash of its photo, and the id of its box.
Face = tuple[str, str]
FaceGroups = tuple[tuple[Face, ...], ...]
#: What is labelled about the faces of a photo, or None where nothing is.
FacesOf = Callable[[str], FaceLabels | None]


@dataclass(frozen=True)
class Constraints:
    """Groups of faces of one person, and groups of faces of different people."""

    must_link: FaceGroups = ()
    cannot_link: FaceGroups = ()

    def within(self, photos: Collection[str]) -> Constraints:
        """What is said about the faces of some photos. Where A is B and B is C, A is C, with or without B's photo."""
        if all(photo in photos for groups in (self.must_link, self.cannot_link) for g in groups for photo, _ in g):
            return self
        person = people_of(self.must_link)
        inside: dict[Face, list[Face]] = defaultdict(list)
        for face in person:
            if face[0] in photos:
                inside[person[face]].append(face)
        cannot = []
        for group in self.cannot_link:
            there = [
                face if face[0] in photos else next(iter(inside.get(person.get(face, face), ())), None)
                for face in group
            ]
            cannot.append(tuple(face for face in there if face))
        must = tuple(tuple(faces) for faces in inside.values() if len(faces) > 1)
        return Constraints(must, tuple(group for group in cannot if len(group) > 1))

    def as_text(self) -> dict[str, list[list[str]]]:
        """The groups as the file has them."""
        return {name: [[":".join(face) for face in group] for group in groups] for name, groups in vars(self).items()}


NO_CONSTRAINTS = Constraints()


def read_constraints(folder: Path, identities: FaceIdentities, faces_of: FacesOf) -> Constraints:
    """The constraints of a set, checked. Raises ReferenceSetError for a face that is not there and a contradiction."""
    file = folder / FaceIdentities.FILE_NAME
    must, cannot = (
        tuple(tuple(_faces(file, f"{name}.{place}", group, faces_of)) for place, group in enumerate(groups))
        for name, groups in (("must_link", identities.must_link), ("cannot_link", identities.cannot_link))
    )
    person = people_of(must)
    _refuse_two_in_a_photo(file, person, faces_of)
    for place, group in enumerate(cannot):
        seen: dict[Face, Face] = {}
        for face in group:
            other = seen.setdefault(person.get(face, face), face)
            if other == face and group.count(face) > 1:
                told = f"the face {_named(face)} is told from itself; expected different faces"
                raise ReferenceSetError(f"{file}: cannot_link.{place}: {told}")
            if other != face:
                both = f"{_named(other)} and {_named(face)}"
                raise ReferenceSetError(f"{file}: cannot_link.{place}: the faces {both} are one person by must_link")
    return Constraints(must, cannot)


def without_faces(identities: FaceIdentities, gone: Collection[Face]) -> dict[str, list[list[str]]]:
    """The groups without faces that are gone. What was said about the others stays."""
    names = {":".join(face) for face in gone}
    left = {
        name: [[face for face in group if face not in names] for group in getattr(identities, name)]
        for name in ("must_link", "cannot_link")
    }
    return {name: [group for group in groups if len(group) > 1] for name, groups in left.items()}


def _faces(file: Path, where: str, group: Sequence[str], faces_of: FacesOf) -> Iterator[Face]:
    for name in group:
        photo, _, box = name.partition(":")
        labels = faces_of(photo)
        if labels is None or not any(face.id == box for face in labels.boxes):
            missing = "photo with labelled faces" if labels is None else f"face {box!r} in the photo {photo[:12]}"
            raise ReferenceSetError(f"{file}: {where}: {name!r}: no {missing}; expected <sha256>:<box id> of a face")
        yield photo, box


def people_of(must: Iterable[Sequence[Face]]) -> dict[Face, Face]:
    """The faces that `must_link` names, each with one face that stands for its person."""
    above: dict[Face, Face] = {}

    def standing(face: Face) -> Face:
        while above.setdefault(face, face) != face:
            above[face] = above[above[face]]
            face = above[face]
        return face

    for group in must:
        for face in group:
            above[standing(face)] = standing(group[0])
    return {face: standing(face) for face in above}


def _refuse_two_in_a_photo(file: Path, person: Mapping[Face, Face], faces_of: FacesOf) -> None:
    together: dict[tuple[Face, str], list[Face]] = defaultdict(list)
    for face, whose in person.items():
        together[whose, face[0]].append(face)
    for (_, photo), faces in together.items():
        if len(faces) > 1:
            scopes = {box.id: box.scope for box in (faces_of(photo) or FaceLabels()).boxes}
            for one, other in combinations([face for face in faces if scopes[face[1]] != FaceScope.EXCLUDE], 2):
                raise ReferenceSetError(
                    f"{file}: must_link: the faces {_named(one)} and {_named(other)} are in one photo, so they are two "
                    "people; a mirror image or a poster has the scope exclude"
                )


def _named(face: Face) -> str:
    return f"{face[0][:12]}…:{face[1]}"
