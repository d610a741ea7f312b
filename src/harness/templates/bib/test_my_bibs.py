"""The contract that every bib reader keeps, on what the YAML makes; tests of your own go below it."""

from __future__ import annotations

from pathlib import Path

from harness.pipeline.looks import Look
from harness.scoring import score_bibs
from harness.testing import BibReaderContract, Picture, draw_runners


class TestMyBibs(BibReaderContract):
    choice = "my_bibs"
    conf = Path(__file__).parent / "conf"

    def test_finds_the_bib_of_a_drawn_runner(self) -> None:
        scene = draw_runners()
        found = self.make().read(Look(Picture(scene.image)), scene.labels.faces or ())
        assert score_bibs(found, scene.labels.bibs or ()).detection_recall == 1
