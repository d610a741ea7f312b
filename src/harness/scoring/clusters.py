"""Cluster scorecard: are the faces of one person together, and nobody else's among them?

Faces with an identity take part; one whose identity is None or -1 does not, and is counted apart. A face that the
clustering left out (None or -1) is a cluster of its own. Everything is read off one contingency table (how many faces
of identity i are in cluster j):

- pairwise: of all pairs of faces in one cluster, how many are one person's (precision); of all pairs of one person's
  faces, how many are in one cluster (recall);
- B-cubed: the same asked of each face and averaged over faces, so that big clusters do not drown small ones;
- NMI: mutual information over the mean of both entropies. Where there is a single identity and a single cluster it is
  1 by convention, tells nothing, and is not logged.

Must-link and cannot-link pairs are facts about faces, with an identity or without; a clustering that breaks one is
counted, never excused.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.scoring.boxes import Floats, Ints
from harness.scoring.cards import CountRow, Declaration, Figure, Note, Rate, Scorecard, Section

NONE = -1
_CARD = "cluster"
BCUBED_F1, NMI = "cluster/bcubed_f1", "cluster/nmi"
Labels = Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True)
class ClusterScorecard(Scorecard):
    """Pairs of faces rightly together, wrongly together and torn apart; the sums of B-cubed precision and recall over
    `faces`; and people with `several` faces who are split, and people who are merged."""

    pair_tp: int
    pair_fp: float
    pair_fn: int
    faces: int
    identities: int
    clusters: int
    precisions: float = 0.0
    recalls: float = 0.0
    nmi: float = 0.0
    unidentified_faces: int = 0
    must_links: int = 0
    must_link_violations: int = 0
    cannot_links: int = 0
    cannot_link_violations: int = 0
    several: int = 0
    split: int = 0
    merged: int = 0
    not_enrolled: int = 0
    distractors: int = 0
    distractors_grouped: int = 0

    DECLARED: ClassVar = Declaration(
        name=_CARD,
        rates={
            "pair_precision": Rate.share(f"{_CARD}/pair_precision", "pair_tp", "pair_fp", label="pair precision"),
            "pair_recall": Rate.share(f"{_CARD}/pair_recall", "pair_tp", "pair_fn", label="pair recall"),
            "pair_f1": Rate.f1(f"{_CARD}/pair_f1", "pair_tp", "pair_fp", "pair_fn", label="pair F1"),
            "bcubed_precision": Rate.of(f"{_CARD}/bcubed_precision", "precisions", "faces", label="B-cubed precision"),
            "bcubed_recall": Rate.of(f"{_CARD}/bcubed_recall", "recalls", "faces", label="B-cubed recall"),
            "people_split": Rate.of(f"{_CARD}/people_split", "split", "several", label="people split", better="lower"),
            "people_merged": Rate.of(
                f"{_CARD}/people_merged", "merged", "identities", label="people merged", better="lower"
            ),
        },
        counts={
            name: f"{_CARD}/{name}"
            for name in (
                "faces",
                "identities",
                "clusters",
                "unidentified_faces",
                "must_link_violations",
                "cannot_link_violations",
                "not_enrolled",
                "distractors",
                "distractors_grouped",
            )
        },
        figures=(
            Figure(BCUBED_F1, label="B-cubed F1", basis=("faces",), words="faces"),
            Figure(NMI, label="NMI", basis=("faces",), words="faces"),
        ),
        sections=(
            Section(
                "Clusters of faces",
                (
                    *(f"{_CARD}/pair_{name}" for name in ("precision", "recall", "f1")),
                    *(f"{_CARD}/bcubed_{name}" for name in ("precision", "recall", "f1")),
                    NMI,
                    *(f"{_CARD}/people_{name}" for name in ("split", "merged")),
                ),
                (
                    Note("faces", "faces", always=True),
                    Note("identities", "people", always=True),
                    Note("clusters", "clusters", always=True),
                    Note("unidentified_faces", "of unknown people"),
                    Note("not_enrolled", "not enrolled"),
                    Note("distractors", "of nobody"),
                    Note("distractors_grouped", "of nobody in a cluster with others"),
                ),
                (
                    CountRow(
                        "constraints broken",
                        ("must_link_violations", "cannot_link_violations"),
                        "{must_link_violations} must-link of {must_links}, "
                        "{cannot_link_violations} cannot-link of {cannot_links}",
                    ),
                ),
            ),
        ),
    )

    @property
    def pair_precision(self) -> float:
        """Share of the pairs in one cluster that are one person's."""
        return self.rate("pair_precision")

    @property
    def pair_recall(self) -> float:
        """Share of the pairs of one person's faces that are in one cluster."""
        return self.rate("pair_recall")

    @property
    def pair_f1(self) -> float:
        """Harmonic mean of the two."""
        return self.rate("pair_f1")

    @property
    def bcubed_precision(self) -> float:
        """How much of a face's cluster is of its own person, on average over faces."""
        return self.rate("bcubed_precision")

    @property
    def bcubed_recall(self) -> float:
        """How many of its person's faces are in a face's cluster, on average over faces."""
        return self.rate("bcubed_recall")

    @property
    def bcubed_f1(self) -> float:
        """Harmonic mean of B-cubed precision and recall."""
        total = self.bcubed_precision + self.bcubed_recall
        return 2 * self.bcubed_precision * self.bcubed_recall / total if total else 0.0

    def metrics(self) -> dict[str, float]:
        """What is logged: B-cubed where there is a face, NMI where there is something to tell apart."""
        figures = {BCUBED_F1: self.bcubed_f1} if self.faces else {}
        if self.identities > 1 or self.clusters > 1:
            figures[NMI] = self.nmi
        return self.counted(figures).metrics()


def score_clusters(
    identities: Labels, clusters: Labels, must_link: ArrayLike = (), cannot_link: ArrayLike = ()
) -> ClusterScorecard:
    """Compare a clustering of faces with whose they are; links are pairs of positions in the two lists."""
    identity, cluster = label_codes(identities, "identity"), label_codes(clusters, "cluster")
    if len(identity) != len(cluster):
        raise ValueError(f"{len(identity)} identities for {len(cluster)} clusters; expected one of each a face")
    cluster = own_clusters(cluster)
    must, cannot = (
        face_pairs(must_link, len(cluster), "must-link"),
        face_pairs(cannot_link, len(cluster), "cannot-link"),
    )
    known = identity != NONE
    return ClusterScorecard(
        **table_scores(identity[known], cluster[known]),
        unidentified_faces=int(np.count_nonzero(~known)),
        **broken_constraints(cluster, must, cannot),
    )


def broken_constraints(cluster: Ints, must: Ints, cannot: Ints) -> dict[str, int]:
    """How many constraints there are, and how many of them a clustering breaks."""
    return {
        "must_links": len(must),
        "must_link_violations": int(np.count_nonzero(cluster[must[:, 0]] != cluster[must[:, 1]])),
        "cannot_links": len(cannot),
        "cannot_link_violations": int(np.count_nonzero(cluster[cannot[:, 0]] == cluster[cannot[:, 1]])),
    }


def own_clusters(cluster: Ints) -> Ints:
    """The same with a cluster of its own for each face that has none."""
    alone = np.flatnonzero(cluster == NONE)
    cluster = cluster.copy()
    cluster[alone] = cluster.max(initial=NONE) + 1 + np.arange(len(alone))
    return cluster


def table_cells(identity: Ints, cluster: Ints) -> tuple[Ints, Ints, Ints]:
    """The cells of the contingency table that are not empty: identity, cluster, and how many faces they share."""
    width = int(cluster.max(initial=0)) + 1
    cells = np.sort(identity * width + cluster)
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    both: Ints = np.diff(first, append=len(cells))
    row, column = np.divmod(cells[first], width)
    return row, column, both


def table_scores(identity: Ints, cluster: Ints) -> dict[str, Any]:
    """Everything that the contingency table says."""
    faces = len(identity)
    in_identity, in_cluster = np.bincount(identity), np.bincount(cluster)
    row, column, both = table_cells(identity, cluster)
    a, b = in_identity[row], in_cluster[column]
    together, same_identity, same_cluster = (int(np.sum(n * n)) for n in (both, in_identity, in_cluster))
    return {
        "pair_tp": (together - faces) // 2,
        "pair_fp": (same_cluster - together) // 2,
        "pair_fn": (same_identity - together) // 2,
        "faces": faces,
        "identities": int(np.count_nonzero(in_identity)),
        "clusters": int(np.count_nonzero(in_cluster)),
        "precisions": float(np.sum(both * (both / b))),
        "recalls": float(np.sum(both * (both / a))),
        "several": int(np.count_nonzero(in_identity > 1)),
        "split": int(np.count_nonzero(np.bincount(row) > 1)),
        "merged": len(np.unique(row[both < b])),
        "nmi": _nmi(both / faces, a / faces, b / faces, in_identity / faces, in_cluster / faces) if faces else 0.0,
    }


def _nmi(both: Floats, a: Floats, b: Floats, identities: Floats, clusters: Floats) -> float:
    mean_entropy = (_entropy(identities) + _entropy(clusters)) / 2
    if mean_entropy == 0:
        return 1.0
    shared = float(np.sum(both * (np.log(both) - np.log(a) - np.log(b))))
    return min(1.0, max(0.0, shared / mean_entropy))


def _entropy(shares: Floats) -> float:
    shares = shares[shares > 0]
    return -float(np.sum(shares * np.log(shares)))


def label_codes(labels: Labels, what: str) -> Ints:
    """Small whole numbers for labels; -1 for none."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iu":
        codes = labels.astype(np.int64)
        wrong = codes < NONE
        if wrong.any():
            face = int(np.argmax(wrong))
            raise ValueError(f"face {face}: {what} {codes[face]}; expected a number from 0, or -1 for none")
        if codes.max(initial=0) <= 4 * len(codes):
            return codes
        known = codes != NONE
        codes[known] = np.unique(codes[known], return_inverse=True)[1]
        return codes
    seen: dict[Hashable, int] = {}
    for face, label in enumerate(labels):
        if isinstance(label, float):
            raise ValueError(f"face {face}: {what} {label}; expected a name, a whole number or None")
    return np.array(
        [NONE if label is None or label == NONE else seen.setdefault(label, len(seen)) for label in labels],
        dtype=np.int64,
    )


def face_pairs(pairs: ArrayLike, faces: int, what: str) -> Ints:
    """Pairs of faces, checked; one row a pair."""
    links = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    wrong = ((links < 0) | (links >= faces)).any(axis=1) | (links[:, 0] == links[:, 1])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{what} {row}: {links[row].tolist()}; expected two different faces of {faces}")
    return links
