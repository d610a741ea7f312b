"""The contract of linkers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.pipeline.stages import Linker
from harness.testing.backends import ChoiceContract
from harness.testing.photos import draw_runners
from harness.types import BibBox, BibFaceLink, FaceBox

_CROWDS = 40


class LinkerContract(ChoiceContract):
    """What a linker promises. A subclass names its `choice`."""

    group = "link"

    def check(self, links: Sequence[BibFaceLink], bibs: Sequence[BibBox], faces: Sequence[FaceBox]) -> None:
        """Whether links can be scored."""
        assert isinstance(links, tuple), f"expected a tuple, got {type(links).__name__}"
        for link in links:
            assert 0 <= link.bib_index < len(bibs), f"{link}: there are {len(bibs)} bibs"
            assert 0 <= link.face_index < len(faces), f"{link}: there are {len(faces)} faces"
            assert link.score is None or 0 <= link.score <= 1, f"a score is from 0 to 1; got {link.score}"
        assert len({link.bib_index for link in links}) == len(links), f"a bib has one wearer; got {links}"
        assert len({link.face_index for link in links}) == len(links), f"a face wears one bib; got {links}"

    def test_without_bibs_or_faces_there_are_no_links(self) -> None:
        linker: Linker = self.make()
        labels = draw_runners(["417", "58"]).labels
        assert linker.link((), labels.faces or (), aspect=1.0) == ()
        assert linker.link(labels.bibs or (), (), aspect=1.0) == ()
        assert linker.link((), (), aspect=1.0) == ()

    def test_links_point_to_bibs_and_faces_each_at_most_once(self) -> None:
        linker: Linker = self.make()
        for seed in range(_CROWDS):
            bibs, faces = crowd(seed)
            for aspect in (0.5, 1.5):
                self.check(linker.link(bibs, faces, aspect=aspect), bibs, faces)

    def test_boxes_without_a_size_are_linked_or_left_alone(self) -> None:
        linker: Linker = self.make()
        bibs, faces = [BibBox(x=0.5, y=0.5, w=0, h=0)], [FaceBox(x=0.5, y=0.2, w=0, h=0)]
        self.check(linker.link(bibs, faces, aspect=1.0), bibs, faces)

    def test_the_same_boxes_give_the_same_links(self) -> None:
        linker: Linker = self.make()
        for seed in range(3):
            bibs, faces = crowd(seed)
            again = [(link, link.score) for link in linker.link(tuple(bibs), tuple(faces), aspect=1.5)]
            assert [(link, link.score) for link in linker.link(bibs, faces, aspect=1.5)] == again

    def test_the_lists_are_left_as_they_are(self) -> None:
        linker: Linker = self.make()
        bibs, faces = crowd(0)
        before = list(bibs), list(faces)
        linker.link(bibs, faces, aspect=1.5)
        assert (bibs, faces) == before


def crowd(seed: int) -> tuple[list[BibBox], list[FaceBox]]:
    """Bibs and faces anywhere, some of them on top of each other."""
    random = np.random.default_rng(seed)
    bibs, faces = (
        [(x, y, 0.02 + size / 10, 0.02 + size / 8) for x, y, size in (random.random((count, 3)) * 0.8).tolist()]
        for count in random.integers(0, 8, 2)
    )
    worn = [BibBox(x=x, y=y, w=w, h=h) for x, y, w, h in bibs]
    return [*worn, *worn[:1]], [FaceBox(x=x, y=y, w=w, h=h) for x, y, w, h in faces]
