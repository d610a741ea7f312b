"""The contract that every scorecard of photos keeps; tests of your own go below it."""

from __future__ import annotations

from pathlib import Path

from harness.testing import ScorecardContract, labelled_photos
from harness.types import PhotoPrediction


class TestMyCard(ScorecardContract):
    choice = "my_card"
    conf = Path(__file__).parent / "conf"

    def test_every_labelled_face_is_found_or_missed_once(self) -> None:
        labels = labelled_photos()
        counts = self.count(labels, [PhotoPrediction() for _ in labels]).total().counts
        faces = sum(face.scope == "keep" for photo in labels for face in photo.faces or ())
        assert sum(counts.values()) == counts["missed_few"] + counts["missed_crowd"] == faces
