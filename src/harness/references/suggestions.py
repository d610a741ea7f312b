"""`suggestions.json`: what a pipeline would label, for people to confirm or correct.

Suggestions (ghosts) never mix with labels: they have a file of their own, and nothing that scores reads it. The entry
of a photo names the configuration that made it by its digest; the file spells every configuration out once.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

import orjson
from pydantic import Field

from harness.references.files import BoxRecord, LinkPairs, PhotoFile, Record, Sha256
from harness.types import PhotoPrediction

Score = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class GhostBib(BoxRecord):
    """A bib that a pipeline sees."""

    number: str | None = None
    score: Score | None = None


class GhostFace(BoxRecord):
    """A face that a pipeline sees, and whose it may be."""

    identity: str | None = None
    score: Score | None = None


class StageProvenance(Record):
    """What made one kind of suggestion: the backend, its version, its models by SHA-256, its settings."""

    backend: str
    version: str
    models: dict[str, str]
    config: dict[str, Any]


class Provenance(Record):
    """What made a photo's suggestions."""

    bib: StageProvenance
    face: StageProvenance
    link: StageProvenance

    @property
    def key(self) -> str:
        """A digest of all of it."""
        canonical = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(canonical).hexdigest()[:16]


class PhotoSuggestions(Record):
    """The suggestions for one photo; `provenance` is a key of the file's `provenances`."""

    provenance: str = Field(min_length=1)
    bibs: list[GhostBib]
    faces: list[GhostFace]
    links: LinkPairs


class Suggestions(PhotoFile):
    """All suggestions of a reference set."""

    FILE_NAME = "suggestions.json"
    provenances: dict[str, Provenance] = Field(default_factory=dict)
    photos: dict[Sha256, PhotoSuggestions] = Field(default_factory=dict)


def suggestions_from(prediction: PhotoPrediction, provenance: str) -> PhotoSuggestions:
    """A pipeline's prediction as suggestions."""
    return PhotoSuggestions(
        provenance=provenance,
        bibs=[
            GhostBib(x=box.x, y=box.y, w=box.w, h=box.h, number=box.number, score=box.score) for box in prediction.bibs
        ],
        faces=[
            GhostFace(x=box.x, y=box.y, w=box.w, h=box.h, identity=box.identity, score=box.score)
            for box in prediction.faces
        ],
        links=[(link.bib_index, link.face_index) for link in prediction.links],
    )
