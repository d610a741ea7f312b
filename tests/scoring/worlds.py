"""Small worlds of people, photos and faces, by hand or by chance, and plain loops over them that tests compare with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.scoring.people import NOBODY, UNKNOWN, Appearances, Evidence, Faces, Person, Photos, Queries

Vector = Sequence[float] | NDArray[np.float64]


@dataclass
class World:
    """Evidence put together piece by piece. People, photos and faces are named by the order in which they come."""

    people: list[Person] = field(default_factory=list)
    photos: list[dict[str, Any]] = field(default_factory=list)
    faces: list[dict[str, Any]] = field(default_factory=list)
    seen: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    queries: list[dict[str, Any]] = field(default_factory=list)
    pictures: dict[int, tuple[int, int]] = field(default_factory=dict)

    def person(self, name: str = "", *, numbers: tuple[str, ...] = (), runner: bool = True, group: str = "") -> int:
        self.people.append(Person(name or f"person {len(self.people)}", runner, numbers, group))
        return len(self.people) - 1

    def photo(self, *, said: bool = False, bibs_said: bool = False, read: Iterable[str] = ()) -> int:
        self.photos.append({"said": said, "bibs_said": bibs_said, "read": frozenset(read)})
        return len(self.photos) - 1

    def face(
        self,
        photo: int,
        vector: Vector,
        person: int = UNKNOWN,
        *,
        enrolled: bool = True,
        number: str | None = None,
        linked: bool | None = None,
        height: float = 50.0,
    ) -> int:
        """A found face; a face of a person is labelled, so that the person wants the photo."""
        here = {"photo": photo, "vector": vector, "person": person, "enrolled": enrolled, "number": number}
        self.faces.append(here | {"linked": number is not None if linked is None else linked, "height": height})
        if person >= 0 and (person, photo) not in self.seen:
            self.appears(person, photo, face=len(self.faces) - 1, face_labeled=True, height=height)
        return len(self.faces) - 1

    def appears(self, person: int, photo: int, **more: Any) -> None:
        """A person is labelled in a photo; `more` are fields of the appearance."""
        empty = dict.fromkeys(("face_labeled", "bib_labeled", "bib_found", "bib_read", "photo_alone"), False)
        known = self.seen.get((person, photo), {**empty, "face": -1, "height": math.nan, "tags": ()})
        self.seen[person, photo] = known | more

    def query(self, person: int, vector: Vector, photo: int = -1) -> None:
        self.queries.append({"person": person, "vector": vector, "photo": photo})

    def evidence(self) -> Evidence:
        order = sorted(range(len(self.faces)), key=lambda row: self.faces[row]["photo"])
        place = {row: n for n, row in enumerate(order)} | {-1: -1}
        faces, seen = [self.faces[row] for row in order], list(self.seen.items())
        dimensions = max((len(each["vector"]) for each in (*faces, *self.queries)), default=2)
        vectors = _unit([each["vector"] for each in faces], dimensions)
        vectors[[not each["enrolled"] for each in faces]] = 0
        pictures = np.array([self.pictures.get(n, (0, 0)) for n in range(len(self.people))], dtype=np.int64)
        return Evidence(
            tuple(self.people),
            Photos(
                tuple(f"photo {n}" for n in range(len(self.photos))),
                np.array([photo["said"] for photo in self.photos], dtype=bool),
                np.array([photo["bibs_said"] for photo in self.photos], dtype=bool),
                tuple(photo["read"] for photo in self.photos),
            ),
            Faces(
                vectors,
                _ints(each["photo"] for each in faces),
                _ints(each["person"] for each in faces),
                np.array([each["enrolled"] for each in faces], dtype=bool),
                np.array([each["height"] for each in faces], dtype=np.float64),
                np.array([each["linked"] for each in faces], dtype=bool),
                tuple(each["number"] for each in faces),
            ),
            Appearances(
                _ints(person for (person, _), _ in seen),
                _ints(photo for (_, photo), _ in seen),
                face=_ints(place[more["face"]] for _, more in seen),
                height=np.array([more["height"] for _, more in seen], dtype=np.float64),
                tags=tuple(frozenset(more["tags"]) for _, more in seen),
                **{
                    name: np.array([more[name] for _, more in seen], dtype=bool)
                    for name in ("face_labeled", "bib_labeled", "bib_found", "bib_read", "photo_alone")
                },
            ),
            Queries(
                _unit([each["vector"] for each in self.queries], dimensions),
                _ints(each["person"] for each in self.queries),
                _ints(each["photo"] for each in self.queries),
                _ints(-1 for _ in self.queries),
                *pictures.reshape(-1, 2).T,
            ),
        )


def labelled_in(evidence: Evidence) -> NDArray[np.bool_]:
    """Which person is labelled in which photo: one row a person, one column a photo."""
    table = np.zeros((len(evidence.people), len(evidence.photos)), dtype=bool)
    table[evidence.appearances.person, evidence.appearances.photo] = True
    return table


def _ints(values: Iterable[int]) -> Any:
    return np.array(list(values), dtype=np.int64)


def _unit(vectors: Sequence[Vector], dimensions: int) -> Any:
    array = np.array(vectors, dtype=np.float64).reshape(-1, dimensions)
    return (array / np.linalg.norm(array, axis=1, keepdims=True)).astype(np.float32)


#: Few directions, so that there are ties and confusions.
DIRECTIONS = [(x, y, z) for x in (-1, 0, 1, 2) for y in (0, 1) for z in (0, 1, 3) if (x, y, z) != (0, 0, 0)]
NUMBERS = ("7", "12", "207", "3001")


def random_world(seed: int, most: int = 7) -> World:
    """A world in which everything that can be is there by chance."""
    rng, world = np.random.default_rng(seed), World()
    coarse = rng.random() < 0.5

    def vector() -> Vector:
        return DIRECTIONS[rng.integers(len(DIRECTIONS))] if coarse else rng.normal(size=3).tolist()

    def maybe(share: float = 0.5) -> bool:
        return bool(rng.random() < share)

    def some_numbers(most: int) -> tuple[str, ...]:
        return tuple(sorted(rng.choice(NUMBERS, rng.integers(0, most + 1), replace=False).tolist()))

    for n in range(rng.integers(1, most + 1)):
        world.person(f"p{n}", numbers=some_numbers(2), runner=maybe(0.8), group=f"g{rng.integers(4)}")
    people, own = len(world.people), [vector() for _ in world.people]
    for _ in range(rng.integers(1, most + 1)):
        photo = world.photo(said=maybe(), bibs_said=maybe(), read=some_numbers(3))
        for _ in range(rng.integers(0, 4)):
            person = int(rng.choice([UNKNOWN, NOBODY, *range(people)]))
            number = str(rng.choice(NUMBERS)) if maybe() else None
            look = own[person] if person >= 0 and maybe() else vector()
            linked = number is not None or maybe(0.2)
            height = float(rng.choice([10, 24, 30, 40, 79, 80, 200]))
            world.face(photo, look, person, enrolled=maybe(0.8), number=number, linked=linked, height=height)
    for person in range(people):
        for photo in range(len(world.photos)):
            if maybe(0.3) or (person, photo) in world.seen:
                _label(world, person, photo, maybe)
        for _ in range(rng.integers(0, 3)):
            world.query(person, vector() if maybe() else own[person])
        for face in [face for face in world.faces if face["person"] == person and maybe()]:
            world.query(person, face["vector"], face["photo"])
        if maybe(0.4):
            world.pictures[person] = int(rng.integers(3)), int(rng.integers(3))
    return world


def _label(world: World, person: int, photo: int, maybe: Any) -> None:
    bib, found = maybe(), maybe()
    more = {"bib_labeled": bib, "bib_found": bib and found, "bib_read": bib and found and maybe()}
    if (person, photo) not in world.seen and maybe():
        more |= {"face_labeled": True, "height": 33.0}
    boxed = more.get("face_labeled", False) or (person, photo) in world.seen
    world.appears(person, photo, **more, photo_alone=not boxed and not bib and maybe())


def similarity(a: Any, b: Any) -> float:
    return round(math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True)) * 1e9) / 1e9


def is_searched(evidence: Evidence, face: int, gallery: str) -> bool:
    faces = evidence.faces
    return bool(faces.enrolled[face]) and (gallery == "all" or bool(faces.linked[face]))


def photo_score(evidence: Evidence, vector: Any, person: int, own: int, photo: int, gallery: str = "all") -> float:
    """The best similarity of the faces of a photo that may make it come back."""
    best, faces = -math.inf, evidence.faces
    for face in np.flatnonzero(faces.photo == photo).tolist():
        who = int(faces.person[face])
        if labelled_in(evidence)[person, photo]:
            eligible = who in (person, UNKNOWN)
        else:
            eligible = who != UNKNOWN or bool(evidence.photos.people_said[photo])
        if photo != own and eligible and is_searched(evidence, face, gallery):
            best = max(best, similarity(vector, faces.vectors[face]))
    return best


def stranger_score(evidence: Evidence, query: int, gallery: str = "all") -> float:
    """The best similarity with a face that is of nobody in the query's fold."""
    faces, queries, best = evidence.faces, evidence.queries, -math.inf
    fold = evidence.folds[queries.person[query]]
    mates = [person for person in range(len(evidence.people)) if evidence.folds[person] == fold]
    for face in range(len(faces)):
        photo, who = int(faces.photo[face]), int(faces.person[face])
        nobody_there = bool(evidence.photos.people_said[photo]) and not any(
            labelled_in(evidence)[p, photo] for p in mates
        )
        if photo == queries.photo[query] or not is_searched(evidence, face, gallery):
            continue
        if who == NOBODY or (who >= 0 and who not in mates) or nobody_there:
            best = max(best, similarity(queries.vectors[query], faces.vectors[face]))
    return best


def plain_threshold(scores: Sequence[float], share: float) -> float:
    """The lowest threshold just above a score that returns no more than the share allows."""
    for score in sorted(set(scores)):
        cut = math.nextafter(score, math.inf)
        if sum(each >= cut for each in scores) <= share * len(scores) + 1e-9:
            return cut
    return math.inf


def shuffled(evidence: Evidence, seed: int) -> tuple[Evidence, list[int], list[int]]:
    """The same evidence in another order of everything, and where each person and each photo has gone."""
    rng = np.random.default_rng(seed)
    people, photos = rng.permutation(len(evidence.people)), rng.permutation(len(evidence.photos))
    to_person = np.append(np.argsort(people), [NOBODY, UNKNOWN])
    to_photo = np.append(np.argsort(photos), [-1])
    faces, seen, queries = evidence.faces, evidence.appearances, evidence.queries
    order = np.lexsort((rng.random(len(faces)), to_photo[faces.photo]))
    to_face = np.append(np.argsort(order), [-1])
    rows, asked = rng.permutation(len(seen)), rng.permutation(len(queries))
    again = Evidence(
        tuple(evidence.people[n] for n in people),
        Photos(
            tuple(evidence.photos.names[n] for n in photos),
            evidence.photos.people_said[photos],
            evidence.photos.bibs_said[photos],
            tuple(evidence.photos.read[n] for n in photos),
        ),
        Faces(
            faces.vectors[order],
            to_photo[faces.photo[order]],
            to_person[faces.person[order]],
            faces.enrolled[order],
            faces.heights[order],
            faces.linked[order],
            tuple(faces.numbers[n] for n in order),
        ),
        replace(
            Appearances(**{name: getattr(seen, name)[rows] for name in Appearances.__slots__ if name != "tags"}),
            tags=tuple(seen.tags[n] for n in rows) if seen.tags else (),
            person=to_person[seen.person[rows]],
            photo=to_photo[seen.photo[rows]],
            face=to_face[seen.face[rows]],
        ),
        Queries(
            queries.vectors[asked],
            to_person[queries.person[asked]],
            to_photo[queries.photo[asked]],
            to_face[queries.face[asked]],
            queries.not_found[people],
            queries.not_enrolled[people],
        ),
    )
    return again, np.argsort(people).tolist(), np.argsort(photos).tolist()
