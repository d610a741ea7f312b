"""The contract that every recogniser keeps, on what the YAML makes; tests of your own go below it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.pipeline.looks import Look
from harness.testing import Picture, RecogniserContract, draw_runners


class TestMyPeople(RecogniserContract):
    choice = "my_people"
    conf = Path(__file__).parent / "conf"

    def test_a_face_is_most_like_itself(self) -> None:
        scene = draw_runners(["58", None, "2085"], seed=1)
        seen = self.make().embed(Look(Picture(scene.image)), scene.labels.faces or ())
        alike = seen.vectors @ seen.vectors.T
        assert (np.argmax(alike, axis=1) == np.arange(len(seen))).all()
