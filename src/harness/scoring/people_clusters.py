"""The cluster scorecard person by person, so that its rates have intervals and can be paired (`clusters.py`).

Enrolled faces of which it is known whose they are take part. A face of nobody is an identity of one face. It spoils the
cluster that it is in and is not asked itself: its recall would always be 1. A wrong pair of two people counts half for
each of them. A person is split where their faces are in several clusters, and merged where one of these has somebody
else's face. NMI is over all of these faces, those of nobody among them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from harness.scoring.boxes import Bools, Ints
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
    table_scores,
)
from harness.scoring.people import NOBODY, UNKNOWN, Evidence, Tallied, counts_by_person, sum_by
from harness.scoring.uncertainty import Jackknifed, jackknifed, parts_of


def tally_clusters(
    evidence: Evidence, clusters: Labels, must_link: ArrayLike = (), cannot_link: ArrayLike = ()
) -> Tallied:
    """Compare the clusters of all found faces, in their order, with whose they are; links are pairs of their rows."""
    faces, people = evidence.faces, len(evidence.people)
    cluster = label_codes(clusters, "cluster")
    if len(cluster) != len(faces):
        raise ValueError(f"{len(cluster)} clusters for {len(faces)} faces; expected one a face")
    cluster = own_clusters(cluster)
    known = faces.enrolled & (faces.person != UNKNOWN)
    person, group = faces.person[known], cluster[known]
    nobody = person == NOBODY
    sizes = np.bincount(group)
    must, cannot = face_pairs(must_link, len(faces), "must-link"), face_pairs(cannot_link, len(faces), "cannot-link")
    shared = {
        "clusters": int(np.count_nonzero(sizes)),
        "unidentified_faces": int(np.count_nonzero(faces.enrolled & (faces.person == UNKNOWN))),
        "not_enrolled": int(np.count_nonzero(~faces.enrolled)),
        "distractors": int(np.count_nonzero(nobody)),
        "distractors_grouped": int(np.count_nonzero(sizes[group[nobody]] > 1)),
        **broken_constraints(cluster, must, cannot),
    }
    columns = _columns(person, group, people)
    figures, sureness = _figures(evidence, person, group, columns["faces"])
    return Tallied(counts_by_person(ClusterScorecard, columns, people, {*shared, "nmi"}), figures, sureness, (), shared)


def _columns(person: Ints, cluster: Ints, people: int) -> dict[str, Column]:
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
    evidence: Evidence, person: Ints, cluster: Ints, faces: Ints
) -> tuple[dict[str, float], dict[str, Jackknifed]]:
    """B-cubed F1 and NMI, and how sure they are: each part of the people is left out in turn with all its faces."""
    people = len(evidence.people)
    names, parts = parts_of([each.name for each in evidence.people], evidence.groups)
    part_of = np.append(parts, [-1, -1])[person]  # nobody is of no part
    values, figures, sureness = _values(person, cluster, people), {}, {}
    without = [_values(*_kept(person, cluster, part_of != part), people) for part in range(len(names))]
    for metric, value in values.items():
        if np.isnan(value):
            continue
        figures[metric] = value
        left_out = np.array([each[metric] for each in without])
        sureness[metric] = jackknifed(value, left_out, names, faces.astype(np.float64), evidence.groups)
    return figures, sureness


def _kept(person: Ints, cluster: Ints, kept: Bools) -> tuple[Ints, Ints]:
    return person[kept], cluster[kept]


def _values(person: Ints, cluster: Ints, people: int) -> dict[str, float]:
    """NaN where there is no face of a person, and NMI where there is nothing to tell apart."""
    columns = _columns(person, cluster, people)
    precisions, recalls, faces = (float(columns[name].sum()) for name in ("precisions", "recalls", "faces"))
    if not faces:
        return {BCUBED_F1: np.nan, NMI: np.nan}
    nobody = np.flatnonzero(person == NOBODY)
    identity = person.copy()
    identity[nobody] = people + np.arange(len(nobody))
    whole = table_scores(identity, cluster)
    told = whole["identities"] > 1 or whole["clusters"] > 1
    return {BCUBED_F1: 2 * precisions * recalls / (precisions + recalls) / faces, NMI: whole["nmi"] if told else np.nan}
