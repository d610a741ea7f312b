"""From a photo's pixels to bibs, faces and links."""

from __future__ import annotations

from dataclasses import dataclass

from harness.pipeline.looks import Look
from harness.pipeline.stages import BibReader, FaceDetector, Linker
from harness.pipeline.weights import Model
from harness.types import PhotoPrediction


@dataclass(frozen=True)
class Pipeline:
    """One backend for each stage."""

    bib: BibReader
    face: FaceDetector
    link: Linker

    @property
    def models(self) -> tuple[Model, ...]:
        """All weights in use."""
        return (*self.bib.models, *self.face.models)

    def load(self) -> None:
        """Open all models, so that a missing one is found before any work is done."""
        self.bib.load()
        self.face.load()

    def predict(self, look: Look) -> PhotoPrediction:
        """All that the pipeline says about one photo; `look` keeps what it cost."""
        faces = self.face.detect(look)
        bibs = self.bib.read(look, faces)
        width, height = look.size
        return PhotoPrediction(bibs, faces, self.link.link(bibs, faces, aspect=width / height))
