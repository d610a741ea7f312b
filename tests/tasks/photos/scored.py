"""The scorecards of a small pipeline on a set of photos, through a stage cache.

Faces are YuNet's; the reader is a stub that takes its number from the pixels. As a program, `python -m
tests.tasks.photos.scored SET FOLDER` prints what was scored, so that it can be run where the folder's disk fails.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness.building import build_pipeline
from harness.config import compose
from harness.pipeline import Pipeline
from harness.pipeline.cache import CacheConfig
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.references.sets import StagingSet
from harness.runs.plan import TaskResult
from harness.tasks.photos.scores import PhotoScoring
from harness.tasks.photos.task import PhotosTask
from harness.types import BibBox, FaceBox, Split


@dataclass(frozen=True)
class StubReader:
    """Reads the brightness of a photo as a number, on a bib in its middle."""

    CHEAP: ClassVar[frozenset[str]] = frozenset()
    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """It has no models."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """One bib."""
        number, score = look.see("text", self, None, self._see)
        return (BibBox(x=0.4, y=0.3, w=0.2, h=0.1, number=number, score=score),)

    def _see(self, image: Image) -> list[Any]:
        return [str(round(float(image.mean()))), 0.5]


def task(root: Path, folder: Path | None, audit: float = 1.0) -> PhotosTask:
    """The task, with its cache in a folder, or without one."""
    found = build_pipeline(compose(["face.long_side=640"]))
    return PhotosTask(
        StagingSet(str(root), Split.ITERATION),
        PhotoScoring(0.5, 0.5),
        Pipeline(StubReader(), found.face, found.link),
        CacheConfig(folder is not None, str(folder), 100, audit),
    )


def evaluated(root: Path, folder: Path | None, audit: float = 1.0) -> TaskResult:
    """One run of it."""
    made = task(root, folder, audit)
    made.load()
    return made.evaluate(root, seed=0, quiet=True)


def scored(result: TaskResult) -> Any:
    """All that is scored, as JSON: the scorecards but for speed, and every item's counts and prediction."""
    cards = {name: dict(card.counts) for name, card in result.kept.cards.items() if name != "speed"}
    items = [[item.id, item.counts, asdict(item.photo.prediction)] for item in result.kept.items if item.photo]
    return json.loads(json.dumps([cards, items, [item.reason for item in result.kept.failed]]))


if __name__ == "__main__":
    print(json.dumps(scored(evaluated(Path(sys.argv[1]), Path(sys.argv[2])))))
