"""The task of photos with predictions that another program has made and written into a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from harness.base.texts import counted
from harness.runs.archive import TaskData
from harness.runs.plan import MEASURED_TAG, TaskResult
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto
from harness.tasks.photos.prediction_files import Predictions, PredictionsFile, read_predictions
from harness.tasks.photos.scores import judged
from harness.tasks.photos.task import Predicted, ReferencePhotosTask
from harness.types import PhotoPrediction


@dataclass(frozen=True)
class FilePhotosTask(ReferencePhotosTask):
    """The predictions of a file for the photos of a reference set. A photo without a line fails, unless the user says
    that it stands for one on which nothing was found."""

    file: PredictionsFile

    @cached_property
    def predictions(self) -> Predictions:
        """What the file says, read once."""
        return read_predictions(self.file, self.references)

    def data(self) -> TaskData:
        """The reference set. The predictions are read too, so that a bad line is told before a store is opened."""
        _ = self.predictions
        return super().data()

    def inputs(self) -> list[str]:
        """The file, how it is to be read, and what the photos are worth."""
        categories = json.dumps(dict(self.file.categories), sort_keys=True)
        return [
            *super().inputs(),
            self.file.sha256,
            self.file.images_sha256,
            categories,
            str(self.file.missing_is_empty),
        ]

    def tags(self) -> Mapping[str, str]:
        """Which file it is."""
        return {"predictions.file": self.file.path.name, "predictions.sha256": self.file.sha256}

    def load(self) -> None:
        """There are no models to open."""

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - nothing takes long here
        """Score what the file says."""
        result = self.scored(
            folder, self._predicted(), self.predictions.absent, tuple(self.notes()), self.predictions.traced
        )
        empty = f"{self._empty} counted as none found" if self._empty else ""
        tags = {
            "predictions.missing": empty,
            "predictions.absent": ", ".join(sorted(self.predictions.absent)),
            MEASURED_TAG: "given by the file" if self.predictions.seconds else "",
        }
        return replace(result, tags={**result.tags, **{name: value for name, value in tags.items() if value}})

    def notes(self) -> Iterator[str]:
        """What whoever reads the scorecards has to know about the file."""
        if self.predictions.absent:
            yield f"Not predicted by {self.file.path.name}: {', '.join(sorted(self.predictions.absent))}."
        if self._empty:
            total = counted(len(self.references.photos), "photo")
            has, count = ("has", "counts") if self._empty == 1 else ("have", "count")
            yield f"{self._empty:,} of {total} {has} no line in {self.file.path.name} and {count} as none found."
        for split, lines in self.predictions.elsewhere.items():
            are, were = ("is", "was") if lines == 1 else ("are", "were")
            yield f"{counted(lines, 'line')} {are} of the {split} split and {were} not used."

    @property
    def _empty(self) -> int:
        """How many photos without a line count as photos without a find."""
        answered = self.predictions.found.keys() | self.predictions.unreadable.keys()
        missing = sum(photo.sha256 not in answered for photo in self.references.photos)
        return missing if self.file.missing_is_empty else 0

    def _predicted(self) -> Predicted:
        evaluated, failed = [], []
        known = self.predictions
        for photo in self.references.photos:
            found = known.found.get(photo.sha256)
            if photo.sha256 in known.unreadable:
                failed.append(FailedPhoto(photo, known.unreadable[photo.sha256]))
            elif found is None and not self.file.missing_is_empty:
                failed.append(FailedPhoto(photo, f"no line in {self.file.path.name}"))
            else:
                seen, seconds = judged(photo, known.absent), known.seconds.get(photo.sha256, {})
                evaluated.append(EvaluatedPhoto(seen, found or PhotoPrediction(), seconds, {}, {}, {}))
        return evaluated, failed
