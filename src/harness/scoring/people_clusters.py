"""The cluster scorecard person by person, so that its rates have intervals and can be paired (`clusters.py`).

Enrolled faces of which it is known whose they are take part. A face of nobody is an identity of one face. It spoils the
cluster that it is in and is not asked itself: its recall would always be 1. A wrong pair of two people counts half for
each of them. A person is split where their faces are in several clusters, and merged where one of these has somebody
else's face. NMI is over all of these faces, those of nobody among them.

Where people set the threshold by which faces are grouped, they are judged in the clusters at another one, which others
have set (`grouping_point.py`): each counts as in the clusters of their fold. How many clusters there are is told of the
common ones; a constraint must be kept in all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import Column
from harness.scoring.clusters import (
    BCUBED_F1,
    NMI,
    ClusterScorecard,
    Labels,
    broken_constraints,
    face_pairs,
    label_codes,
    own_clusters,
    table_cells,
)
from harness.scoring.people import FOLDS, NOBODY, UNKNOWN, Evidence, Faces, Tallied, counts_by_person, sum_by
from harness.scoring.uncertainty import Jackknifed, jackknifed, parts_of


def tally_clusters(
    evidence: Evidence,
    clusters: Labels,
    must_link: ArrayLike = (),
    cannot_link: ArrayLike = (),
    by_fold: Sequence[Labels] = (),
) -> Tallied:
    """Compare the clusters of all found faces, in their order, with whose they are; links are pairs of their rows.
    `by_fold` has the clusters by which the people of each fold are judged, where these are not the same for all."""
    faces, people = evidence.faces, len(evidence.people)
    every = [_clusters_of(faces, each) for each in (clusters, *by_fold)]
    if by_fold and len(by_fold) != FOLDS:
        raise ValueError(f"clusters of {len(by_fold)} folds; expected {FOLDS}")
    known = faces.enrolled & (faces.person != UNKNOWN)
    person, groups = faces.person[known], Groups.of([each[known] for each in every], evidence.folds)
    nobody, group = person == NOBODY, groups.clusters[0]
    sizes = np.bincount(group)
    must, cannot = face_pairs(must_link, len(faces), "must-link"), face_pairs(cannot_link, len(faces), "cannot-link")
    broken = [broken_constraints(each, must, cannot) for each in every]
    shared = {
        "clusters": int(np.count_nonzero(sizes)),
        "unidentified_faces": int(np.count_nonzero(faces.enrolled & (faces.person == UNKNOWN))),
        "not_enrolled": int(np.count_nonzero(~faces.enrolled)),
        "distractors": int(np.count_nonzero(nobody)),
        "distractors_grouped": int(np.count_nonzero(sizes[group[nobody]] > 1)),
        **{name: max(each[name] for each in broken) for name in broken[0]},
    }
    columns = _columns(person, groups, people)
    figures, sureness = _figures(evidence, person, groups, columns["faces"])
    return Tallied(counts_by_person(ClusterScorecard, columns, people, {*shared, "nmi"}), figures, sureness, (), shared)


def bcubed_sums(evidence: Evidence, clusters: Labels) -> tuple[Floats, Floats, Floats]:
    """Of each person the sums of B-cubed precision and recall over their faces, and how many faces these are."""
    faces = evidence.faces
    known = faces.enrolled & (faces.person != UNKNOWN)
    cluster = _clusters_of(faces, clusters)[known]
    columns = _columns_of(faces.person[known], cluster, len(evidence.people))
    precisions, recalls, each = (columns[name].astype(np.float64) for name in ("precisions", "recalls", "faces"))
    return precisions, recalls, each


def _clusters_of(faces: Faces, clusters: Labels) -> Ints:
    """The cluster of each face, one of its own where it has none."""
    found = label_codes(clusters, "cluster")
    if len(found) != len(faces):
        raise ValueError(f"{len(found)} clusters for {len(faces)} faces; expected one a face")
    return own_clusters(found)


@dataclass(frozen=True)
class Groups:
    """Different clusters of the same faces, the common ones first, and by which of them each person is judged."""

    clusters: tuple[Ints, ...]
    of_person: Ints

    @classmethod
    def of(cls, clusters: Sequence[Ints], folds: Ints) -> Groups:
        """The common clusters, and those of each fold where there are any; equal ones once."""
        different: list[Ints] = []
        places = []
        for each in clusters:
            place = next((at for at, known in enumerate(different) if np.array_equal(known, each)), len(different))
            different += [each] if place == len(different) else []
            places.append(place)
        of_person = np.array(places[1:])[folds] if len(places) > 1 else np.zeros(len(folds), dtype=np.int64)
        return cls(tuple(different), of_person)

    def only(self, kept: Bools) -> Groups:
        """Of some of the faces."""
        return Groups(tuple(each[kept] for each in self.clusters), self.of_person)


def _columns(person: Ints, groups: Groups, people: int) -> dict[str, Column]:
    """The counts of each person, in the clusters that they are judged by."""
    every = [_columns_of(person, cluster, people) for cluster in groups.clusters]
    return {name: np.stack([each[name] for each in every])[groups.of_person, np.arange(people)] for name in every[0]}


def _columns_of(person: Ints, cluster: Ints, people: int) -> dict[str, Column]:
    """The counts of each person."""
    named = person >= 0
    faces = np.bincount(person[named], minlength=people)
    size, of_people = (
        np.bincount(each, minlength=int(cluster.max(initial=0)) + 1) for each in (cluster, cluster[named])
    )
    row, column, both = table_cells(person[named], cluster[named])
    others, nobody = of_people[column] - both, size[column] - of_people[column]
    together = sum_by(row, both * (both - 1) // 2, people)
    clusters = np.bincount(row, minlength=people)
    return {
        "pair_tp": together,
        "pair_fp": sum_by(row, both * (others / 2 + nobody), people),
        "pair_fn": faces * (faces - 1) // 2 - together,
        "faces": faces,
        "identities": faces > 0,
        "precisions": sum_by(row, both * (both / size[column]), people),
        "recalls": sum_by(row, both * (both / faces[row]), people),
        "several": faces > 1,
        "split": clusters > 1,
        "merged": sum_by(row, both < size[column], people) > 0,
    }


def _figures(
    evidence: Evidence, person: Ints, groups: Groups, faces: Column
) -> tuple[dict[str, float], dict[str, Jackknifed]]:
    """B-cubed F1 and NMI, and how sure they are: each part of the people is left out in turn with all its faces."""
    people = len(evidence.people)
    names, parts = parts_of([each.name for each in evidence.people], evidence.groups)
    part_of = np.append(parts, [-1, -1])[person]  # nobody is of no part
    values, figures, sureness = _values(person, groups, people), {}, {}
    without = []
    for part in range(len(names)):
        kept = part_of != part
        without.append(_values(person[kept], groups.only(kept), people))
    for metric, value in values.items():
        if np.isnan(value):
            continue
        figures[metric] = value
        left_out = np.array([each[metric] for each in without])
        sureness[metric] = jackknifed(value, left_out, names, np.asarray(faces, dtype=np.float64), evidence.groups)
    return figures, sureness


def _values(person: Ints, groups: Groups, people: int) -> dict[str, float]:
    """NaN where there is no face of a person, and NMI where there is nothing to tell apart."""
    columns = _columns(person, groups, people)
    precisions, recalls, faces = (float(np.sum(columns[name])) for name in ("precisions", "recalls", "faces"))
    if not faces:
        return {BCUBED_F1: np.nan, NMI: np.nan}
    return {BCUBED_F1: 2 * precisions * recalls / (precisions + recalls) / faces, NMI: _nmi(person, groups, people)}


def _nmi(person: Ints, groups: Groups, people: int) -> float:
    """What a face's cluster tells about its person, over the mean of what either tells: each is a mean over faces, so
    that each face counts as it is in the clusters that its person is judged by; those of nobody in the common ones."""
    nobody = np.flatnonzero(person == NOBODY)
    identity = person.copy()
    identity[nobody] = people + np.arange(len(nobody))
    which = np.append(groups.of_person, [0, 0])[person]
    faces, own = len(person), np.bincount(identity)[identity]
    shared = spread = 0.0
    for place, cluster in enumerate(groups.clusters):
        here = which == place
        size, both = np.bincount(cluster)[cluster[here]], _together(identity, cluster)[here]
        shared += float(np.sum(np.log(both / own[here] / size * faces)))
        spread -= float(np.sum(np.log(own[here] / faces) + np.log(size / faces))) / 2
    alone = len(np.unique(identity)) == 1 and all(len(np.unique(each)) == 1 for each in groups.clusters)
    if alone or spread <= 0:
        return np.nan if alone else 1.0
    return min(1.0, max(0.0, shared / spread))


def _together(identity: Ints, cluster: Ints) -> Ints:
    """For each face how many of its own identity are in its cluster."""
    cells = identity * (int(cluster.max(initial=0)) + 1) + cluster
    _, place, count = np.unique(cells, return_inverse=True, return_counts=True)
    found: Ints = count[place]
    return found
