"""The contract that every face detector keeps, on what the YAML makes; tests of your own go below it."""

from __future__ import annotations

from pathlib import Path

from harness.pipeline.looks import Look
from harness.scoring import score_faces
from harness.testing import FaceDetectorContract, Picture, draw_runners


class TestMyFaces(FaceDetectorContract):
    choice = "my_faces"
    conf = Path(__file__).parent / "conf"

    def test_finds_the_face_of_a_drawn_runner(self) -> None:
        scene = draw_runners()
        found = self.make().detect(Look(Picture(scene.image)))
        assert score_faces(found, scene.labels.faces or ()).detection_recall == 1
