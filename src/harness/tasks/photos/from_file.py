"""The task of photos with predictions that another program has made and written into a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.base.texts import counted
from harness.pipeline.identity.recognising import FaceVectors, Recogniser
from harness.runs.archive import TaskData
from harness.runs.plan import TaskResult
from harness.runs.tags import MEASURED_TAG
from harness.tasks.photos.gathering import Predictions
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto
from harness.tasks.photos.prediction_files import PredictionsFile, read_predictions
from harness.tasks.photos.scores import judged
from harness.tasks.photos.task import Predicted, ReferencePhotosTask
from harness.types import PhotoPrediction

#: How far single precision may leave the length of a vector from 1.
_AS_LONG_AS_1 = 1e-6


@dataclass(frozen=True)
class FilePhotosTask(ReferencePhotosTask):
    """The predictions of a file for the photos of a reference set. A photo without a line fails, unless the user says
    that it stands for one on which nothing was found."""

    file: PredictionsFile
    #: How faces are searched and grouped, where the file has embeddings; its models are not used.
    recogniser: Recogniser | None = None

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
            folder, self.predicted(), self.predictions.absent, tuple(self.notes()), self.predictions.traced
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
        selfies = self.references.selfies
        without = sum(selfie.sha256 not in self.predictions.selfies for selfie in selfies)
        if self.predictions.length and without:
            told = f"{without:,} of {counted(len(selfies), 'selfie')} have no line in {self.file.path.name}"
            yield f"{told}, and nobody searches by them."
        for split, lines in self.predictions.elsewhere.items():
            are, were = ("is", "was") if lines == 1 else ("are", "were")
            yield f"{counted(lines, 'line')} {are} of the {split} split and {were} not used."

    @property
    def _empty(self) -> int:
        """How many photos without a line count as photos without a find."""
        answered = self.predictions.found.keys() | self.predictions.unreadable.keys()
        missing = sum(photo.sha256 not in answered for photo in self.references.photos)
        return missing if self.file.missing_is_empty else 0

    def predicted(self, quiet: bool = True) -> Predicted:  # noqa: ARG002 - as the pipeline's own task has it
        """What the file says about the photos; with the vectors of their faces where it has any."""
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
                done = EvaluatedPhoto(seen, found or PhotoPrediction(), seconds, {}, {}, {})
                evaluated.append(self._with_vectors(done) if known.length else done)
        return evaluated, failed

    def _with_vectors(self, photo: EvaluatedPhoto) -> EvaluatedPhoto:
        """A photo with the vectors of its faces, each of length 1. A face without one cannot be compared."""
        size, faces = photo.photo.size, photo.prediction.faces
        given = self.predictions.embeddings.get(photo.sha256, (None,) * len(faces))
        vectors = np.zeros((len(faces), self.predictions.length), dtype=np.float32)
        for place, vector in enumerate(given):
            if vector is not None:
                vectors[place] = unit(vector)
        enrolled = np.array([vector is not None for vector in given], dtype=bool)
        heights = np.array([face.h * size[1] for face in faces], dtype=np.float64)
        return replace(photo, size=size, vectors=FaceVectors(vectors, enrolled, heights))


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector of length 1 that points the same way. One that has this length, as far as single precision can say,
    stays as it is: what a run has exported is scored as in that run."""
    exact = vector.astype(np.float64)
    length = float(np.linalg.norm(exact))
    return vector if abs(length - 1) < _AS_LONG_AS_1 else (exact / length).astype(np.float32)
