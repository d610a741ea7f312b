"""From a photo's pixels to bibs, faces and links."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from harness.base.extras import load_all
from harness.pipeline.answers import checked_bibs, checked_faces, checked_links
from harness.pipeline.cache import key_of
from harness.pipeline.looks import Look, PhotoSource, decoder_key, whole_identity
from harness.pipeline.stages import BibReader, FaceDetector, Linker
from harness.pipeline.weights import Model, models_of, open_models
from harness.types import PhotoPrediction


@dataclass(frozen=True)
class Pipeline:
    """One backend for each stage."""

    bib: BibReader
    face: FaceDetector
    link: Linker

    @property
    def models(self) -> tuple[Model, ...]:
        """All weights in use, and other files that a backend names. A linker need not name any."""
        linking = models_of(self.link) if hasattr(self.link, "models") else ()
        return (*models_of(self.bib), *models_of(self.face), *linking)

    def stage_keys(self, source: type[PhotoSource]) -> dict[str, str]:
        """A digest of all that faces, bibs and links come from, beside the photo itself. Faces may guide the reading of
        bibs, so that another face detector makes other bibs."""
        faces = key_of(decoder_key(source), whole_identity(self.face))
        bibs = key_of(faces, whole_identity(self.bib))
        return {"faces": faces, "bibs": bibs, "links": key_of(bibs, whole_identity(self.link))}

    def load(self) -> None:
        """Open all models, so that a missing one is found before any work is done."""
        load_all(partial(open_models, self.bib), partial(open_models, self.face))

    def predict(self, look: Look) -> PhotoPrediction:
        """All that the pipeline says about one photo; `look` keeps what it cost. Raises PhotoError where a backend says
        something that cannot be scored."""
        faces = checked_faces(self.face, self.face.detect(look))
        bibs = checked_bibs(self.bib, self.bib.read(look, faces))
        width, height = look.size
        links = self.link.link(bibs, faces, aspect=width / height)
        return PhotoPrediction(bibs, faces, checked_links(self.link, links, len(bibs), len(faces)), tuple(look.dropped))
