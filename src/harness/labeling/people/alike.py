"""Near-identical faces with two names: one of the two is likely to be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from harness.labeling.people.clusters import Clusters
from harness.labeling.people.faces import Face, FaceIndex
from harness.labeling.people.known import KnownPeople


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
    best, scores = np.empty(len(named), dtype=np.int64), np.empty(len(named))
    for first, similar in known.similar([[face] for face in named]):
        block = np.arange(len(similar))
        similar[block, own[first : first + len(block)]] = -1.0
        best[first : first + len(block)] = similar.argmax(axis=1)
        scores[first : first + len(block)] = similar.max(axis=1)
    sums = np.zeros((len(place), vectors.shape[1]), dtype=np.float64)
    np.add.at(sums, own, table)
    others = sums[own] - table  # the rest of each face's own people
    lengths = np.linalg.norm(others, axis=1)
    at_home = np.where(lengths > 1e-6, np.einsum("ij,ij->i", others, table) / np.maximum(lengths, 1e-6), -1.0)
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
