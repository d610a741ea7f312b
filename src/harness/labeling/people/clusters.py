"""Faces of a set, clustered by how alike they are and by what people said about pairs of them.

That is `must_link`, `cannot_link`, and two faces of a photo. Names play no part, so that clusters are made anew only
where a face or a constraint is new. The threshold needs no labels (`pipeline/identity/strangers.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from harness.labeling.people.embedding import Vector
from harness.labeling.people.faces import FaceIndex, Where
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import Constraints
from harness.pipeline.identity.hints import Hints
from harness.pipeline.identity.strangers import stranger_similarity
from harness.scoring.boxes import Ints
from harness.scoring.people import Vectors

Pairs = list[tuple[str, str]]


@dataclass(frozen=True)
class Clusters:
    """Which cluster each face is in, the faces that can be compared with their vectors, and the threshold. A face is
    known here by where it is: a suggestion that becomes a label is still the same face. `number_weight` is how much
    more similar two faces are for the same number; `made_of` is all that clusters depend on."""

    cluster: Mapping[Where, int]
    rows: Mapping[Where, int]
    vectors: Vectors
    threshold: float
    number_weight: float = 0.0
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
    threshold = stranger_similarity(table[seen], fpir)
    hints = Hints([face.number for face in faces], np.full(len(faces), np.nan))
    found = clustering.cluster(table, threshold, Constraints(photos, _pairs(must), _pairs(cannot)), hints)
    return Clusters(
        {face.where: int(each) for face, each in zip(faces, found, strict=True)},
        {face.where: place for place, face in enumerate(faces) if seen[place]},
        table,
        threshold,
        clustering.number_weight,
        made_of,
    )


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
