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
from harness.scoring.cards import Declaration, Rate, Scorecard

NONE = -1
Labels = Sequence[Hashable] | NDArray[Any]


@dataclass(frozen=True)
class ClusterScorecard(Scorecard):
    """Pairs of faces rightly together, wrongly together and torn apart; B-cubed and NMI over `faces`."""

    pair_tp: int
    pair_fp: int
    pair_fn: int
    faces: int
    identities: int
    clusters: int
    bcubed_precision: float = 0.0
    bcubed_recall: float = 0.0
    nmi: float = 0.0
    unidentified_faces: int = 0
    must_links: int = 0
    must_link_violations: int = 0
    cannot_links: int = 0
    cannot_link_violations: int = 0

    DECLARED: ClassVar = Declaration(
        name="cluster",
        rates={
            "pair_precision": Rate.share("cluster/pair_precision", "pair_tp", "pair_fp"),
            "pair_recall": Rate.share("cluster/pair_recall", "pair_tp", "pair_fn"),
            "pair_f1": Rate.f1("cluster/pair_f1", "pair_tp", "pair_fp", "pair_fn"),
        },
        counts={
            "faces": "cluster/faces",
            "identities": "cluster/identities",
            "clusters": "cluster/clusters",
            "unidentified_faces": "cluster/unidentified_faces",
            "must_link_violations": "cluster/must_link_violations",
            "cannot_link_violations": "cluster/cannot_link_violations",
        },
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
    def bcubed_f1(self) -> float:
        """Harmonic mean of B-cubed precision and recall."""
        total = self.bcubed_precision + self.bcubed_recall
        return 2 * self.bcubed_precision * self.bcubed_recall / total if total else 0.0

    def metrics(self) -> dict[str, float]:
        """What is logged: B-cubed where there is a face, NMI where there is something to tell apart."""
        names = ["bcubed_precision", "bcubed_recall", "bcubed_f1"] if self.faces else []
        if self.identities > 1 or self.clusters > 1:
            names.append("nmi")
        return super().metrics() | {f"cluster/{name}": float(getattr(self, name)) for name in names}


def score_clusters(
    identities: Labels, clusters: Labels, must_link: ArrayLike = (), cannot_link: ArrayLike = ()
) -> ClusterScorecard:
    """Compare a clustering of faces with whose they are; links are pairs of positions in the two lists."""
    identity, cluster = label_codes(identities, "identity"), label_codes(clusters, "cluster")
    if len(identity) != len(cluster):
        raise ValueError(f"{len(identity)} identities for {len(cluster)} clusters; expected one of each a face")
    alone = np.flatnonzero(cluster == NONE)
    cluster[alone] = cluster.max(initial=NONE) + 1 + np.arange(len(alone))
    must, cannot = _links(must_link, len(cluster), "must-link"), _links(cannot_link, len(cluster), "cannot-link")
    known = identity != NONE
    return ClusterScorecard(
        **_table_scores(identity[known], cluster[known]),
        unidentified_faces=int(np.count_nonzero(~known)),
        must_links=len(must),
        must_link_violations=int(np.count_nonzero(cluster[must[:, 0]] != cluster[must[:, 1]])),
        cannot_links=len(cannot),
        cannot_link_violations=int(np.count_nonzero(cluster[cannot[:, 0]] == cluster[cannot[:, 1]])),
    )


def _table_scores(identity: Ints, cluster: Ints) -> dict[str, Any]:
    """Everything that the contingency table says."""
    faces = len(identity)
    in_identity, in_cluster = np.bincount(identity), np.bincount(cluster)
    width = len(in_cluster)
    cells = np.sort(identity * width + cluster)
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    both = np.diff(first, append=faces)
    row, column = np.divmod(cells[first], max(width, 1))
    a, b = in_identity[row], in_cluster[column]
    together, same_identity, same_cluster = (int(np.sum(n * n)) for n in (both, in_identity, in_cluster))
    return {
        "pair_tp": (together - faces) // 2,
        "pair_fp": (same_cluster - together) // 2,
        "pair_fn": (same_identity - together) // 2,
        "faces": faces,
        "identities": int(np.count_nonzero(in_identity)),
        "clusters": int(np.count_nonzero(in_cluster)),
        "bcubed_precision": float(np.sum(both * (both / b)) / faces) if faces else 0.0,
        "bcubed_recall": float(np.sum(both * (both / a)) / faces) if faces else 0.0,
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


def _links(pairs: ArrayLike, faces: int, what: str) -> Ints:
    links = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    wrong = ((links < 0) | (links >= faces)).any(axis=1) | (links[:, 0] == links[:, 1])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"{what} {row}: {links[row].tolist()}; expected two different faces of {faces}")
    return links
