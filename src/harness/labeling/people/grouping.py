"""Faces grouped by who they may be: what is left to name in each cluster.

Clusters that look like the same known person are one group. So a name that is given regroups the rest at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from harness.labeling.people.clusters import Clusters
from harness.labeling.people.faces import Face, FaceIndex
from harness.labeling.people.known import KnownPeople, Near


@dataclass(frozen=True)
class Group:
    """Faces without a name that may be one person's. `person` is the known person who is proposed, `number` the number
    that most of the linked bibs show. `doubt` is 0.5 where the face that fits least is as similar to the others as the
    threshold asks for, less where it is more similar, and 1 for a face alone and for two numbers. Faces
    with the same number are more similar by the weight that clusters are made with."""

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
    counts = Counter(face.number for face in faces if face.number)
    doubt = 1.0 if len(counts) > 1 else _spread(faces, clusters)
    return Group(tuple(faces), person, near, _number(faces), round(doubt, 3))


def _number(faces: Sequence[Face]) -> str | None:
    """The number that most of the linked bibs show; of two as frequent ones the first in order."""
    counts = Counter(face.number for face in faces if face.number)
    return min(counts, key=lambda number: (-counts[number], number)) if counts else None


def _spread(faces: Sequence[Face], clusters: Clusters) -> float:
    """How badly the face that fits least fits, from 0 to 1: 0.5 where it is just as similar to the others as the
    threshold asks for. Whoever of them has a number has the same one."""
    compared = [face for face in faces if face.where in clusters.rows]
    if len(compared) < 2:
        return 1.0
    vectors = clusters.vectors[[clusters.rows[face.where] for face in compared]].astype(np.float64)
    numbered = np.array([face.number is not None for face in compared])
    common = clusters.number_weight * np.where(numbered, numbered.sum() - 1, 0)
    worst = float(((vectors @ vectors.sum(axis=0) - 1.0 + common) / (len(compared) - 1)).min())
    return float(np.clip(0.5 + clusters.threshold - worst, 0.0, 1.0))


def _order(group: Group) -> tuple[bool, float, int, str]:
    if len(group.faces) > 1:
        return (False, -group.doubt, -len(group.faces), group.name)
    best = group.nearest[0].similarity if group.nearest else -1.0
    return (True, -best, 0, group.name)
