"""From a photo's pixels to bibs, faces and links."""

from __future__ import annotations

import time
from dataclasses import dataclass

from harness.pipeline.stages import BibReader, FaceDetector, Image, Linker
from harness.pipeline.weights import Weights
from harness.types import PhotoPrediction


@dataclass(frozen=True)
class Pipeline:
    """One backend for each stage."""

    bib: BibReader
    face: FaceDetector
    link: Linker

    @property
    def models(self) -> tuple[Weights, ...]:
        """All weights in use."""
        return (*self.bib.models, *self.face.models)

    def load(self) -> None:
        """Open all models, so that a missing one is found before any work is done."""
        self.bib.load()
        self.face.load()

    def predict(self, image: Image) -> tuple[PhotoPrediction, dict[str, float]]:
        """All that the pipeline says about one BGR image, and the seconds that each stage took."""
        start = time.perf_counter()
        bibs = self.bib.read(image)
        after_bibs = time.perf_counter()
        faces = self.face.detect(image)
        after_faces = time.perf_counter()
        links = self.link.link(bibs, faces, aspect=image.shape[1] / image.shape[0])
        end = time.perf_counter()
        seconds = {"bib": after_bibs - start, "face": after_faces - after_bibs, "link": end - after_faces}
        return PhotoPrediction(bibs, faces, links), seconds
