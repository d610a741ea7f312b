"""The cluster scorecard beside scikit-learn: 100,000 faces of 5,000 people, a fifth of them in a wrong cluster.

scikit-learn gives two of our three families of rates (pairs and NMI, not B-cubed), each from its own table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import pair_confusion_matrix

from bench.measure import best_of, row, show
from harness.scoring.boxes import Ints
from harness.scoring.clusters import score_clusters

FACES, PEOPLE = 100_000, 5_000


def make_clustering(seed: int = 0) -> tuple[Ints, Ints]:
    """Identities, and clusters that get four faces of five right."""
    rng = np.random.default_rng(seed)
    identities = rng.integers(0, PEOPLE, FACES)
    clusters = np.where(rng.random(FACES) < 0.8, rng.permutation(PEOPLE)[identities], rng.integers(0, PEOPLE, FACES))
    return identities, clusters


def measure() -> list[dict[str, Any]]:
    """Time both."""
    identities, clusters = make_clustering()
    ours = best_of(lambda: score_clusters(identities, clusters), 15)
    peer = best_of(
        lambda: (
            pair_confusion_matrix(identities, clusters),
            normalized_mutual_info_score(identities, clusters),
        ),
        9,
    )
    return [row("cluster scorecard", ours, "scikit-learn", peer, 3)]


if __name__ == "__main__":
    show(measure())
