"""Is the score of clusters flattered by a threshold that was calibrated on the same labels?

People are drawn, some of them with several faces; the harness calibrates the threshold and scores its clusters. What
the score should say is how well that threshold groups *other* people of the same kind, which is measured on fresh sets.
Beside the cross-fitted score stands that of the same clusters for everybody, by whom they were chosen.

    .venv/bin/python -m bench.cluster_threshold
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.identity import CLUSTERING
from harness.base.texts import markdown_table
from harness.pipeline.identity.constraints import Constraints
from harness.pipeline.identity.hints import Hints
from harness.scoring.clusters import BCUBED_F1
from harness.scoring.grouping_point import GroupingPoint
from harness.scoring.people import Appearances, Evidence, Faces, Person, Photos, Queries
from harness.scoring.people_clusters import tally_clusters
from harness.tasks.identity.grouping import Grouping
from harness.tasks.identity.scores import Grouped

#: People with several faces, as many as have one, and how many sets are drawn of them.
CELLS = {5: 200, 7: 200, 10: 200, 20: 100, 50: 25}
MOST_FACES, DIMENSIONS, NOISE, UNLIKE, FRESH = 6, 64, 1.6, 0.25, 3


def draw(rng: np.random.Generator, several: int) -> Evidence:
    """Faces in photos of their own, of people who differ in how alike their pictures are."""
    counts = np.concatenate([rng.integers(2, MOST_FACES + 1, several), np.ones(several, dtype=np.int64)])
    people = 2 * several
    person = rng.permutation(np.repeat(np.arange(people), counts))
    own = NOISE * np.exp(rng.normal(0, UNLIKE, people))
    vectors = rng.normal(size=(people, DIMENSIONS))[person]
    vectors += own[person, None] * rng.normal(size=vectors.shape)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    count = len(person)
    yes, none, height = np.ones(count, dtype=bool), np.zeros(people, dtype=np.int64), np.full(count, 40.0)
    names = [f"{rng.integers(1 << 40)} {place}" for place in range(people)]  # folds go by names
    nowhere = np.empty(0, dtype=np.int64)
    return Evidence(
        people=tuple(Person(name, group=name) for name in names),
        photos=Photos(tuple(map(str, range(count))), yes, yes, (frozenset(),) * count),
        faces=Faces(vectors.astype(np.float32), np.arange(count), person, yes, height, ~yes, (None,) * count),
        appearances=Appearances(person, np.arange(count), yes, np.arange(count), ~yes, ~yes, ~yes, ~yes, height),
        queries=Queries(np.empty((0, DIMENSIONS), dtype=np.float32), nowhere, nowhere, nowhere, none, none),
    )


def grouping_of(evidence: Evidence) -> Grouping:
    """As a run groups them."""
    nothing = Constraints(evidence.faces.photo), Hints.none(len(evidence.faces))
    return Grouping(evidence, CLUSTERING, *nothing, Path("drawn"))


def f1(evidence: Evidence, found: Grouped) -> float:
    """B-cubed F1 as a run tells it."""
    return tally_clusters(evidence, found.clusters, by_fold=found.by_fold).figures[BCUBED_F1]


def main() -> None:
    """Print a row for each number of people."""
    rows = []
    for several, sets in CELLS.items():
        rng, told, sources = np.random.default_rng(several), [], Counter[str]()
        for _ in range(sets):
            evidence = draw(rng, several)
            grouping = grouping_of(evidence)
            point = grouping.point(search=0.5)
            found, same = grouping.at(point), GroupingPoint.fixed(point.whole, "")
            fresh = [f1(other, grouping_of(other).at(same)) for other in (draw(rng, several) for _ in range(FRESH))]
            everybody = replace(found, by_fold=(found.clusters,) * len(found.by_fold))
            told.append((f1(evidence, found), f1(evidence, everybody), float(np.mean(fresh))))
            sources[point.source] += 1
        score, flattered, truth = np.array(told).T
        shown = [f"{score.mean():.3f}", f"{flattered.mean():.3f}", f"{truth.mean():.3f}"]
        off = f"{(score - truth).mean():+.3f} ± {(score - truth).std(ddof=1) / sets**0.5:.3f}"
        rows.append([f"{several} + {several}", f"{sources['cross-fitted']} of {sets}", *shown, off])
    heads = [
        "people with several faces + one",
        "calibrated",
        "score",
        "chosen by all",
        "other people",
        "score is off by",
    ]
    print(markdown_table(heads, rows))


if __name__ == "__main__":
    main()
