"""Faces grouped by who they may be.

*Clusters* come from vectors and from what people said about pairs of faces (`must_link`, `cannot_link`, two faces of a
photo); names play no part in them. *Groups* are what is left to name in each cluster; clusters that look like the same
known person are one group. So a name that is given regroups the rest at once, and clusters are made anew only
where a face or a constraint is new.

The threshold needs no labels. Nearly all pairs of faces from two photos show two people, so their similarities, taken
by median and lower spread, say how alike strangers are. The threshold is what one stranger in `1 / fpir` reaches with
any of the faces of the set, were similarities normal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist

import numpy as np

from harness.labeling.people.embedding import Vector
from harness.labeling.people.faces import Face, FaceIndex, Where
from harness.pipeline.identity.clustering import Clustering, Hints
from harness.pipeline.identity.constraints import Constraints
from harness.scoring.boxes import Floats, Ints
from harness.scoring.people import Vectors

#: So many faces are compared to see how alike strangers are.
_SAMPLE = 2000
#: Below so many pairs of faces nothing can be told, and only equal faces are grouped.
_LEAST_PAIRS = 10
#: A similarity that says "the same picture", for sets that are too small to measure one.
_SURE = 0.9
#: So many known people are offered for a group: as many as there are keys.
MOST_NEAR = 9
#: So many of the most similar people may be impossible for a group, and there are still enough left to offer.
_PASSED_OVER = 8

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Clusters:
    """Which cluster each face is in, the faces that can be compared with their vectors, and the threshold. A face is
    known here by where it is: a suggestion that becomes a label is still the same face. `made_of` is all that clusters
    depend on."""

    cluster: Mapping[Where, int]
    rows: Mapping[Where, int]
    vectors: Vectors
    threshold: float
    made_of: object = None


NO_CLUSTERS = Clusters({}, {}, np.zeros((0, 0), dtype=np.float32), 1.0)


def cluster_faces(
    index: FaceIndex,
    vectors: Mapping[Where, Vector | None],
    clustering: Clustering,
    fpir: float,
    before: Clusters = NO_CLUSTERS,
) -> Clusters:
    """Cluster all faces of a set; what was clustered `before` is taken where nothing has changed. A face without a
    vector is alone unless a must-link says otherwise."""
    faces = list(index.by_name.values())
    rows = {face.name: place for place, face in enumerate(faces)}
    must, cannot = _said(index, rows)
    known = [vectors.get(face.where) for face in faces]
    seen = [each is not None for each in known]
    made_of = ([(face.where, face.number) for face in faces], seen, must, cannot)
    if made_of == before.made_of:
        return before
    length = next((len(each) for each in known if each is not None), 0)
    table = np.zeros((len(faces), length), dtype=np.float32)
    for place, each in enumerate(known):
        if each is not None:
            table[place] = each
    photos = np.unique([face.photo for face in faces], return_inverse=True)[1] if faces else np.zeros(0, dtype=np.int64)
    threshold = stranger_threshold(table[seen], fpir)
    hints = Hints([face.number for face in faces], np.full(len(faces), np.nan))
    found = clustering.cluster(table, threshold, Constraints(photos, _pairs(must), _pairs(cannot)), hints)
    return Clusters(
        {face.where: int(each) for face, each in zip(faces, found, strict=True)},
        {face.where: place for place, face in enumerate(faces) if seen[place]},
        table,
        threshold,
        made_of,
    )


def stranger_threshold(vectors: Vectors, fpir: float) -> float:
    """The similarity that a stranger has with one of these faces in a share of `fpir` of all cases."""
    if len(vectors) * (len(vectors) - 1) // 2 < _LEAST_PAIRS:
        return _SURE
    some = vectors[np.random.default_rng(0).permutation(len(vectors))[:_SAMPLE]]
    similar = (some @ some.T)[np.triu_indices(len(some), 1)]
    low, middle = np.quantile(similar, [NormalDist().cdf(-1), 0.5])
    return float(min(middle - NormalDist().inv_cdf(fpir / len(vectors)) * (middle - low), _SURE))


def _said(index: FaceIndex, rows: Mapping[str, int]) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Pairs of faces that are one person, and of two, as far as no name says otherwise: it was given last."""
    identity = {name: face.identity for name, face in index.by_name.items()}

    def pairs(groups: Sequence[Sequence[str]], of: Callable[[list[str]], Iterable[tuple[str, str]]]) -> Pairs:
        there = ([face for face in group if face in rows] for group in groups)
        return [pair for group in there for pair in of(group)]

    must = pairs(index.must_link, pairwise)
    cannot = pairs(index.cannot_link, lambda group: combinations(group, 2))
    return (
        [(rows[a], rows[b]) for a, b in must if not (identity[a] and identity[b]) or identity[a] == identity[b]],
        [(rows[a], rows[b]) for a, b in cannot if not identity[a] or identity[a] != identity[b]],
    )


def _pairs(found: list[tuple[int, int]]) -> Ints:
    return np.array(found, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class Near:
    """A known person who looks like somebody: how similar, and one of their faces."""

    name: str
    similarity: float
    face: Face


@dataclass(frozen=True)
class Group:
    """Faces without a name that may be one person's. `person` is the known person who is proposed, `number` the number
    that most of the linked bibs show. `doubt` is 0.5 where the face that fits least is as similar to the others as the
    threshold asks for, less where it is more similar, and 1 for a face alone and for two numbers."""

    faces: tuple[Face, ...]
    person: str | None
    nearest: tuple[Near, ...]
    number: str | None
    doubt: float

    @property
    def name(self) -> str:
        """What the group is called: as its first face."""
        return self.faces[0].name

    @property
    def proposal(self) -> str | None:
        """The name that it is accepted under, if nobody types another one."""
        return self.person or self.number


class KnownPeople:
    """Known people as they are compared: the mean of the vectors of each."""

    def __init__(self, index: FaceIndex, clusters: Clusters) -> None:
        self.people, self._clusters = index.people, clusters
        seen = {
            name: [clusters.rows[face.where] for face in faces if face.where in clusters.rows]
            for name, faces in self.people.items()
        }
        self.names = [name for name, rows in seen.items() if rows]
        self._means = self._mean([seen[name] for name in self.names])
        self.numbers = {name: {face.number for face in faces if face.number} for name, faces in self.people.items()}
        self._photos = {name: {face.photo for face in faces} for name, faces in self.people.items()}
        #: People whom each face was said not to be.
        self._not: dict[str, set[str]] = {}
        for group in index.cannot_link:
            there = [index.by_name[face] for face in group if face in index.by_name]
            for face in there:
                self._not.setdefault(face.name, set()).update(
                    other.identity for other in there if other.identity and other.name != face.name
                )

    def similar(self, groups: Sequence[Sequence[Face]]) -> Floats:
        """How similar each of some groups is to each known person, one row a group; -1 where that cannot be told."""
        rows = [
            [self._clusters.rows[face.where] for face in group if face.where in self._clusters.rows] for group in groups
        ]
        found = self._mean(rows) @ self._means.T
        found[[not own for own in rows]] = -1.0
        return np.asarray(found, dtype=np.float64)

    def _mean(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """The direction of the mean of some rows, several times."""
        vectors = self._clusters.vectors
        means = np.zeros((len(rows), vectors.shape[1]), dtype=np.float32)
        for place, own in enumerate(rows):
            if own:
                means[place] = vectors[own].sum(axis=0)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        return np.asarray(means / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)

    def may_be(self, faces: Sequence[Face], name: str) -> bool:
        """Whether nothing is said against these faces being a person's: another face of theirs in one of the photos, or
        a cannot-link."""
        photos = self._photos[name]
        return not any(face.photo in photos or name in self._not.get(face.name, ()) for face in faces)

    def nearest(self, groups: Sequence[Sequence[Face]], most: int = MOST_NEAR) -> list[tuple[Near, ...]]:
        """The most similar people whom each of some groups may show, best first."""
        if not self.names:
            return [()] * len(groups)
        similar = self.similar(groups)
        best = np.argsort(-similar, axis=1, kind="stable")
        found: list[tuple[Near, ...]] = []
        for group, row, order in zip(groups, similar, best[:, : most + _PASSED_OVER].tolist(), strict=True):
            named = ((self.names[place], float(row[place])) for place in order if row[place] > -1)
            found.append(
                tuple(Near(name, score, self.people[name][0]) for name, score in named if self.may_be(group, name))[
                    :most
                ]
            )
        return found


def make_groups(index: FaceIndex, clusters: Clusters, known: KnownPeople, left_alone: Collection[str]) -> list[Group]:
    """What is left to name: groups of several faces first, and of these the most doubtful ones; then faces alone, those
    that look most like somebody first."""
    parts: dict[object, list[Face]] = {}
    names_in: dict[object, set[str]] = {}
    for face in index.by_name.values():
        cluster = clusters.cluster.get(face.where, face.where)
        if face.identity:
            names_in.setdefault(cluster, set()).add(face.identity)
        elif face.name not in left_alone:
            parts.setdefault(cluster, []).append(face)
    near, wearers = known.nearest(list(parts.values())), _wearers(known)
    chosen = [
        _person(part, nearest, names_in.get(cluster, set()), wearers, clusters.threshold, known)
        for (cluster, part), nearest in zip(parts.items(), near, strict=True)
    ]
    groups = _together(list(parts.values()), chosen, near)
    return sorted((_group(part, person, near, clusters) for part, person, near in groups), key=_order)


def _wearers(known: KnownPeople) -> dict[str, str]:
    """The known person of each number that only one of them wears."""
    found: dict[str, set[str]] = {}
    for name, numbers in known.numbers.items():
        for number in numbers:
            found.setdefault(number, set()).add(name)
    return {number: min(names) for number, names in found.items() if len(names) == 1}


def _person(
    part: Sequence[Face],
    near: Sequence[Near],
    in_cluster: set[str],
    wearers: Mapping[str, str],
    threshold: float,
    known: KnownPeople,
) -> str | None:
    """The known person to propose: the only one of the cluster, else the wearer of the number, else the nearest one
    above the threshold."""
    if len(in_cluster) == 1 and known.may_be(part, name := next(iter(in_cluster))):
        return name
    number = _number(part)
    if number and (wearer := wearers.get(number)) and known.may_be(part, wearer):
        return wearer
    return near[0].name if near and near[0].similarity >= threshold else None


def _together(
    parts: Sequence[list[Face]], chosen: Sequence[str | None], near: Sequence[tuple[Near, ...]]
) -> list[tuple[list[Face], str | None, tuple[Near, ...]]]:
    """Parts that look like the same known person as one, the most similar first; two that share a photo stay two."""
    groups: list[tuple[list[Face], str | None, tuple[Near, ...]]] = []
    of_person: dict[str, int] = {}

    def similarity(place: int) -> float:
        return next((each.similarity for each in near[place] if each.name == chosen[place]), -1.0)

    for place in sorted(range(len(parts)), key=lambda place: (-similarity(place), place)):
        person, part = chosen[place], parts[place]
        if person is not None and (at := of_person.get(person)) is not None:
            if {face.photo for face in groups[at][0]}.isdisjoint(face.photo for face in part):
                groups[at][0].extend(part)
                continue
        elif person is not None:
            of_person[person] = len(groups)
        groups.append((list(part), person, near[place]))
    return groups


def _group(faces: list[Face], person: str | None, near: tuple[Near, ...], clusters: Clusters) -> Group:
    numbers = {face.number for face in faces if face.number}
    doubt = 1.0 if len(numbers) > 1 else _spread(faces, clusters)
    return Group(tuple(faces), person, near, _number(faces), round(doubt, 3))


def _number(faces: Sequence[Face]) -> str | None:
    """The number that most of the linked bibs show; of two as frequent ones the first in order."""
    counts = Counter(face.number for face in faces if face.number)
    return min(counts, key=lambda number: (-counts[number], number)) if counts else None


def _spread(faces: Sequence[Face], clusters: Clusters) -> float:
    """How badly the face that fits least fits, from 0 to 1: 0.5 where it is just as similar to the others as the
    threshold asks for."""
    rows = [clusters.rows[face.where] for face in faces if face.where in clusters.rows]
    if len(rows) < 2:
        return 1.0
    vectors = clusters.vectors[rows].astype(np.float64)
    total = vectors.sum(axis=0)
    worst = float(((vectors @ total - 1.0) / (len(rows) - 1)).min())
    return float(np.clip(0.5 + clusters.threshold - worst, 0.0, 1.0))


def _order(group: Group) -> tuple[bool, float, int, str]:
    if len(group.faces) > 1:
        return (False, -group.doubt, -len(group.faces), group.name)
    best = group.nearest[0].similarity if group.nearest else -1.0
    return (True, -best, 0, group.name)


@dataclass(frozen=True, slots=True)
class Alike:
    """A face that looks less like others of its own name than like those of another one, and the likest of these."""

    face: Face
    other: Face
    similarity: float


def faces_alike(index: FaceIndex, clusters: Clusters, known: KnownPeople) -> list[Alike]:
    """Near-identical faces with different names, the likest first: one for each face that is in doubt."""
    rows, vectors = clusters.rows, clusters.vectors
    named = [face for face in index.by_name.values() if face.identity and face.where in rows]
    if len(known.names) < 2:
        return []
    place = {name: at for at, name in enumerate(known.names)}
    own = np.array([place[str(face.identity)] for face in named])
    table = vectors[[rows[face.where] for face in named]]
    similar = known.similar([[face] for face in named])
    sums = np.zeros((len(place), vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, own, table)
    others = sums[own] - table  # the rest of each face's own people
    lengths = np.linalg.norm(others, axis=1)
    at_home = np.where(lengths > 1e-6, np.einsum("ij,ij->i", others, table) / np.maximum(lengths, 1e-6), -1.0)
    similar[np.arange(len(named)), own] = -1.0
    best = similar.argmax(axis=1)
    scores = similar[np.arange(len(named)), best]
    found = []
    for at in np.flatnonzero((scores >= clusters.threshold) & (scores > at_home)):
        face, name = named[int(at)], known.names[int(best[at])]
        if known.may_be([face], name):
            theirs = [other for other in index.people[name] if other.where in rows]
            alike = vectors[[rows[other.where] for other in theirs]] @ vectors[rows[face.where]]
            found.append(Alike(face, theirs[int(alike.argmax())], float(alike.max())))
    return sorted(_each_once(found), key=lambda alike: (-alike.similarity, alike.face.name))


def _each_once(found: Sequence[Alike]) -> list[Alike]:
    """Without the second of two that are about the same pair of faces."""
    pairs: dict[frozenset[str], Alike] = {}
    for alike in found:
        pairs.setdefault(frozenset((alike.face.name, alike.other.name)), alike)
    return list(pairs.values())
