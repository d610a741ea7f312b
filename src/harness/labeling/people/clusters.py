"""Faces of a set, clustered by how alike they are and by what people said about pairs of them.

That is `must_link`, `cannot_link`, and two faces of a photo. Names play no part, so that clusters are made anew only
where a face, a number or a constraint is new: faces that no pair of similar ones connects are clustered apart from each
other, and what is as it was before stays. The threshold needs no labels (`pipeline/identity/strangers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import numpy as np

from harness.labeling.people.embedding import Vector
from harness.labeling.people.faces import FaceIndex, Where
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import Constraints, lowest_tied
from harness.pipeline.identity.hints import Hints
from harness.pipeline.identity.strangers import stranger_similarity
from harness.scoring.boxes import Ints
from harness.scoring.people import Vectors

Pairs = list[tuple[str, str]]
Pair = tuple[int, int]


def _none() -> Ints:
    return np.zeros(0, dtype=np.int64)


@dataclass(frozen=True)
class Clusters:
    """Which cluster each face is in, the faces that can be compared with their vectors, and the threshold. A face is
    known here by where it is: a suggestion that becomes a label is still the same face. `number_weight` is how much
    more similar two faces are for the same number.

    The rest is what need not be made again where little has changed: `made_of` is all that clusters depend on, `alike`
    has for each of the faces `compared` the first one that similar pairs connect it with, and `parts` the clusters of
    connected faces by all that these depend on."""

    cluster: Mapping[Where, int]
    rows: Mapping[Where, int]
    vectors: Vectors
    threshold: float
    number_weight: float = 0.0
    made_of: object = None
    compared: object = None
    alike: Ints = field(default_factory=_none)
    parts: Mapping[Hashable, Ints] = field(default_factory=dict)


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
    must, cannot = _said(index, {face.name: place for place, face in enumerate(faces)})
    places, numbers = [face.where for face in faces], [face.number for face in faces]
    known = [vectors.get(where) for where in places]
    seen = [each is not None for each in known]
    compared, made_of = (places, seen), (places, seen, numbers, must, cannot)
    if made_of == before.made_of:
        return before
    if compared == before.compared:
        table, threshold, alike, old = before.vectors, before.threshold, before.alike, before.parts
    else:
        table = _table(known)
        threshold = stranger_similarity(table[seen], fpir)
        alike, old = lowest_tied(clustering.pairs(table, threshold), len(faces)), {}
    ties = np.concatenate([clustering.numbered_pairs(table, threshold, numbers), _pairs(must)])
    photos = np.unique([face.photo for face in faces], return_inverse=True)[1] if faces else _none()
    cluster, parts = np.zeros(len(faces), dtype=np.int64), dict[Hashable, Ints]()
    for part in _parts(lowest_tied(alike[ties], len(faces))[alike], must, cannot):
        key = (tuple((places[at], numbers[at]) for at in part.faces), part.must, part.cannot)
        if (found := old.get(key)) is None:
            links = Constraints(photos[part.faces], _pairs(part.must), _pairs(part.cannot))
            hints = Hints([numbers[at] for at in part.faces], np.full(len(part.faces), np.nan))
            found = clustering.cluster(table[part.faces], threshold, links, hints)
        parts[key] = found
        cluster[part.faces] = part.faces[np.unique(found, return_index=True)[1]][found]
    return Clusters(
        cluster=dict(zip(places, cluster.tolist(), strict=True)),
        rows={where: row for row, where in enumerate(places) if seen[row]},
        vectors=table,
        threshold=threshold,
        number_weight=clustering.number_weight,
        made_of=made_of,
        compared=compared,
        alike=alike,
        parts=parts,
    )


def _table(known: Sequence[Vector | None]) -> Vectors:
    """The vectors as rows; zeros where there is none."""
    length = next((len(each) for each in known if each is not None), 0)
    table = np.zeros((len(known), length), dtype=np.float32)
    for place, each in enumerate(known):
        if each is not None:
            table[place] = each
    return table


@dataclass(frozen=True)
class _Part:
    """Connected faces, and what is said of pairs of them, by their places in the part."""

    faces: Ints
    must: tuple[Pair, ...]
    cannot: tuple[Pair, ...]


def _parts(connected: Ints, must: Sequence[Pair], cannot: Sequence[Pair]) -> list[_Part]:
    """The faces that have the same value in `connected`. Nothing need be said of faces of two parts: they are apart."""
    order = np.argsort(connected, kind="stable")
    each = np.split(order, np.flatnonzero(np.diff(connected[order])) + 1) if len(order) else []
    place = np.zeros(len(connected), dtype=np.int64)
    for faces in each:
        place[faces] = np.arange(len(faces))
    said: dict[int, tuple[list[Pair], list[Pair]]] = {}
    for kind, pairs in enumerate((must, cannot)):
        for one, other in pairs:
            if connected[one] == connected[other]:
                own = said.setdefault(int(connected[one]), ([], []))
                own[kind].append((int(place[one]), int(place[other])))
    parts = []
    for faces in each:
        ties, apart = said.get(int(connected[faces[0]]), ((), ()))
        parts.append(_Part(faces, tuple(ties), tuple(apart)))
    return parts


def _said(index: FaceIndex, rows: Mapping[str, int]) -> tuple[list[Pair], list[Pair]]:
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


def _pairs(found: Sequence[Pair]) -> Ints:
    return np.array(found, dtype=np.int64).reshape(-1, 2)
