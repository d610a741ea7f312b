"""The contract that every linker keeps, on what the YAML makes; tests of your own go below it."""

from __future__ import annotations

from pathlib import Path

from harness.testing import LinkerContract, draw_runners


class TestMyLinks(LinkerContract):
    choice = "my_links"
    conf = Path(__file__).parent / "conf"

    def test_links_each_drawn_runner_with_their_own_bib(self) -> None:
        labels = draw_runners(["417", None, "58"], size=(640, 480)).labels
        links = self.make().link(labels.bibs or (), labels.faces or (), aspect=640 / 480)
        assert set(links) == set(labels.links or ())
