"""`suggestions.json`: what a pipeline would label, for people to confirm or correct.

Suggestions (ghosts) never mix with labels: they have a file of their own, and nothing that scores reads it. The entry
of a photo names the configuration that made it by its digest; the file spells every configuration out once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import Field

from harness.references.fields import Score, Sha256
from harness.references.files import BoxRecord, LinkPairs, PhotoFile, Record
from harness.types import PhotoPrediction

#: From here on, a label box and a suggestion are about the same thing, though a person has drawn it closer.
SAME_IOU = 0.3


class GhostBib(BoxRecord):
    """A bib that a pipeline sees."""

    number: str | None = None
    score: Score | None = None


class GhostFace(BoxRecord):
    """A face that a pipeline sees, and whose it may be."""

    identity: str | None = None
    score: Score | None = None


class StageProvenance(Record):
    """What made one kind of suggestion: the backend, its version, its models by SHA-256, its settings, and a digest of
    its code, which files of an older harness lack."""

    backend: str
    version: str
    models: dict[str, str]
    config: dict[str, Any]
    code: str = ""

    @property
    def model(self) -> str:
        """The models in a line."""
        return models_line(self.models)


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


def models_line(models: Mapping[str, str]) -> str:
    """Models by name and digest in a line, as in `yunet 8f2383e4dd3c`."""
    return ", ".join(f"{name} {sha256[:12]}" for name, sha256 in sorted(models.items()))


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


def same_place(one: BoxRecord, other: BoxRecord) -> bool:
    """Whether a label box and a suggestion are about the same thing."""
    across = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    down = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    if across <= 0 or down <= 0:
        return False
    shared = across * down
    overlap = shared / (one.w * one.h + other.w * other.h - shared)
    return overlap >= SAME_IOU or (_holds_centre(one, other) and _holds_centre(other, one))


def _holds_centre(box: BoxRecord, other: BoxRecord) -> bool:
    x, y = other.x + other.w / 2, other.y + other.h / 2
    return box.x <= x <= box.x + box.w and box.y <= y <= box.y + box.h
