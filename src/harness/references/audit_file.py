"""`audit.json`: a sample of done photos that somebody labels again, blind: without suggestions, and without the labels.

Nothing that scores reads it.
"""

from __future__ import annotations

from pydantic import Field

from harness.references.fields import Sha256
from harness.references.files import BibLabels, FaceLabels, PhotoFile, Record


class BlindLabels(Record):
    """What somebody said of a photo who saw nothing but the photo. `drawn_at` is when it came into the sample."""

    drawn_at: str
    bibs: BibLabels = BibLabels()
    faces: FaceLabels = FaceLabels()


class Audit(PhotoFile):
    """The sample, and its blind labels."""

    FILE_NAME = "audit.json"
    photos: dict[Sha256, BlindLabels] = Field(default_factory=dict)
