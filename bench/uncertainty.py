"""Intervals and the verdict on 20,000 photos, beside the percentile bootstrap that they have replaced."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from bench.measure import best_of, row, show
from harness.references.sets import ReferencePhoto
from harness.scoring.boxes import Floats
from harness.scoring.cards import Sides, Tally
from harness.scoring.detection import Thresholds
from harness.scoring.faces import FaceScorecard
from harness.scoring.pairing import judge_together, paired_rates
from harness.scoring.uncertainty import intervals
from harness.tasks.photos import scores as scores_module
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.tasks.photos.scores import score
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction

PHOTOS, RESAMPLES = 20_000, 2_000
#: The most that the new rules may cost, as a share of the old ones.
MOST = 1.2
#: Photos that the bootstrap draws together: few enough to stay in a processor's cache.
_BLOCK = 1 << 16


def make_tally(seed: int, changed: float = 0.0) -> Tally[FaceScorecard]:
    """A run over photos with a handful of faces each; a share of the photos came out otherwise."""
    rng = np.random.default_rng(0)
    names = ("detection_tp", "detection_fp", "detection_fn", "ignored")
    columns = {name: rng.integers(0, 6, PHOTOS) for name in names}
    again = np.random.default_rng(seed)
    other = again.random(PHOTOS) < changed
    columns = {name: np.where(other, again.integers(0, 6, PHOTOS), column) for name, column in columns.items()}
    return Tally.of(FaceScorecard, columns | {"photos": np.ones(PHOTOS, dtype=np.int64)}, PHOTOS)


def make_photos() -> list[EvaluatedPhoto]:
    """Photos with one to three runners, of whom nine in ten are found, a little beside where they are."""
    rng, photos = np.random.default_rng(0), []
    for place in range(PHOTOS):
        bibs, faces, seen_bibs, seen_faces = [], [], [], []
        for runner in range(int(rng.integers(1, 4))):
            x, number, (shift, score) = 0.3 * runner, str(rng.integers(1, 9999)), rng.random(2)
            face, bib = FaceBox(x=x, y=0.1, w=0.1, h=0.1), BibBox(x=x, y=0.4, w=0.2, h=0.1, number=number)
            faces.append(face)
            bibs.append(bib)
            if rng.random() < 0.9:
                seen_faces.append(replace(face, x=x + 0.02 * shift, score=score))
                seen_bibs.append(replace(bib, x=x + 0.02 * shift, score=score))
        links = tuple(BibFaceLink(row, row) for row in range(len(bibs)))
        found = PhotoPrediction(tuple(seen_bibs), tuple(seen_faces), links[: len(seen_bibs)])
        photo = ReferencePhoto(
            sha256=f"{place:064x}",
            name=f"{place}.jpg",
            path=Path(),
            split="iteration",
            bib_labeled=True,
            bibs=tuple(bibs),
            bib_tags=(),
            face_labeled=True,
            faces=tuple(faces),
            face_tags=(),
            links=links,
            group=f"burst {place // 3}",
        )
        photos.append(EvaluatedPhoto(photo, found, {}, {}, {}, {}))
    return photos


def bootstrap(rates: list[Sides]) -> Floats:
    """What was done before: each rate in every resample of the photos, all on the same draws."""
    columns = np.stack([side for sides in rates for side in sides], axis=1)
    rng, sums = np.random.default_rng(0), np.zeros((RESAMPLES, columns.shape[1]))
    together = max(1, _BLOCK // PHOTOS)
    for start in range(0, RESAMPLES, together):
        block = sums[start : start + together]
        draws = rng.integers(PHOTOS, size=(len(block), PHOTOS)) + np.arange(len(block))[:, None] * PHOTOS
        times = np.bincount(draws.ravel(), minlength=block.shape[0] * PHOTOS).reshape(-1, PHOTOS)
        block[:] = np.einsum("ij,jk->ik", times.astype(np.float64), columns)
    quantiles: Floats = np.quantile(sums[:, ::2] / sums[:, 1::2], [0.025, 0.975], axis=0)
    return quantiles


def measure() -> list[dict[str, Any]]:
    """Time both, on runs that differ in a few photos and in all of them."""
    base = make_tally(0)
    sides = base.items().sides()
    groups = [f"burst {place // 3}" for place in range(PHOTOS)]
    single = best_of(lambda: bootstrap(list(sides.values())), 2)
    found = [
        row("intervals, 20,000 photos", best_of(lambda: intervals(base)), "bootstrap", single, 1 / MOST),
        row("the same in groups of three", best_of(lambda: intervals(base, groups)), "bootstrap", single, 1 / MOST),
    ]
    for title, changed in (("a twentieth changed", 0.05), ("all changed", 1.0)):
        now = make_tally(1, changed).items().sides()
        both = best_of(lambda now=now: bootstrap([*sides.values(), *now.values()]), 2)  # type: ignore[misc]

        def judge(now: dict[str, Sides] = now) -> None:
            rates = paired_rates(sides, now)
            judge_together(rates, dict.fromkeys(rates, 1))

        found.append(row(f"verdict on 20,000 photos, {title}", best_of(judge), "bootstrap", both, 1 / MOST))
    return [*found, _whole()]


def _whole() -> dict[str, Any]:
    """All scorecards of 20,000 photos with all intervals, that of average precision too, which had none before."""
    photos, thresholds = make_photos(), Thresholds(0.5, 0.5)
    scores = score(photos, thresholds)
    rates = [sides for card in scores.cards.values() for sides in card.sides().values()]

    def before() -> None:
        with patch.object(scores_module, "jackknife_precision", lambda *_: {"ap": None}):
            score(photos, thresholds)
        bootstrap([(above, below) for above, below in rates if below.sum()])

    ours = best_of(lambda: score(photos, thresholds).intervals(), 3)
    return row("scoring 20,000 photos, with intervals", ours, "with the bootstrap", best_of(before, 2), 1 / MOST)


if __name__ == "__main__":
    show(measure())
