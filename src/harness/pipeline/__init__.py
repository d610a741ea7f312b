"""From a photo's pixels to bibs, faces and links, and to vectors that say who the faces are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from harness.base.extras import load_all
from harness.pipeline.answers import checked_bibs, checked_faces, checked_links
from harness.pipeline.cache import key_of
from harness.pipeline.identity.recognising import FaceVectors, Recogniser
from harness.pipeline.looks import Look, PhotoSource, decoder_key, whole_identity
from harness.pipeline.stages import BibReader, FaceDetector, FindsLandmarks, Linker, ModelStage
from harness.pipeline.weights import Model, check_models, models_of, open_models
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction


@dataclass(frozen=True)
class Pipeline:
    """One backend for each stage; without an `identity`, nobody is recognised."""

    bib: BibReader
    face: FaceDetector
    link: Linker
    identity: Recogniser | None = None

    @property
    def models(self) -> tuple[Model, ...]:
        """All weights in use, and other files that a backend names. A linker need not name any."""
        linking = models_of(self.link) if hasattr(self.link, "models") else ()
        knowing = models_of(self.identity) if self.identity else ()
        return (*models_of(self.bib), *models_of(self.face), *linking, *knowing)

    def stage_keys(self, source: type[PhotoSource]) -> dict[str, str]:
        """A digest of all that faces, bibs, links and vectors come from, beside the photo itself. Faces may guide the
        reading of bibs, so that another face detector makes other bibs."""
        faces = key_of(decoder_key(source), whole_identity(self.face))
        bibs = key_of(faces, whole_identity(self.bib))
        links = key_of(bibs, whole_identity(self.link))
        known = {"identity": key_of(links, whole_identity(self.identity))} if self.identity else {}
        return {"faces": faces, "bibs": bibs, "links": links, **known}

    def load(self) -> None:
        """Check all models, so that a missing one is found before any work is done."""
        load_all(*(partial(check_models, stage) for stage in self._with_models))

    def open(self) -> None:
        """Open all models, which otherwise happens when the first photo needs them."""
        load_all(*(partial(open_models, stage) for stage in self._with_models))

    @property
    def _with_models(self) -> tuple[ModelStage, ...]:
        return (self.bib, self.face, *((self.identity,) if self.identity else ()))

    def predict(self, look: Look) -> PhotoPrediction:
        """All that the pipeline says about one photo; `look` keeps what it cost. Raises PhotoError where a backend says
        something that cannot be scored."""
        bibs, faces = self.find(look)
        return PhotoPrediction(bibs, faces, self.linked(bibs, faces, look.size), tuple(look.dropped))

    def find(self, look: Look) -> tuple[tuple[BibBox, ...], tuple[FaceBox, ...]]:
        """The bibs and faces of one photo, which do not depend on how they are linked."""
        faces = checked_faces(self.face, self.face.detect(look))
        return checked_bibs(self.bib, self.bib.read(look, faces)), faces

    def linked(
        self, bibs: tuple[BibBox, ...], faces: tuple[FaceBox, ...], size: tuple[int, int]
    ) -> tuple[BibFaceLink, ...]:
        """The links between the bibs and faces of a photo of this width and height."""
        width, height = size
        links = self.link.link(bibs, faces, aspect=width / height)
        return checked_links(self.link, links, len(bibs), len(faces))

    def embed(self, look: Look, faces: Sequence[FaceBox]) -> FaceVectors | None:
        """The vectors of faces that were found in a photo; None where nobody is recognised. A detector that can find
        better landmarks in a closer look is asked for those of faces that are enrolled."""
        if self.identity is None:
            return None
        if isinstance(self.face, FindsLandmarks):
            rows = np.flatnonzero(self.identity.heights(look, faces) >= self.identity.least_height).tolist()
            better = checked_faces(self.face, self.face.landmarks(look, [faces[row] for row in rows]))
            by_row = dict(zip(rows, better, strict=True))
            faces = [by_row.get(row, face) for row, face in enumerate(faces)]
        return self.identity.embed(look, faces)
