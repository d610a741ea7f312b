"""Linkers that break one rule of their contract each, and the rule that notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from harness.testing import LinkerContract
from harness.types import BibBox, BibFaceLink, FaceBox
from tests.testing.broken import broken_rules

Link = Callable[[Sequence[BibBox], Sequence[FaceBox]], tuple[BibFaceLink, ...]]


@dataclass(frozen=True)
class Links:
    pairs: Link

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        return self.pairs(bibs, faces)


def in_turn(bibs: Sequence[BibBox], faces: Sequence[FaceBox]) -> tuple[BibFaceLink, ...]:
    return tuple(BibFaceLink(i, i, 0.5) for i in range(min(len(bibs), len(faces))))


def emptying(bibs: Any, faces: Sequence[FaceBox]) -> tuple[BibFaceLink, ...]:
    found = in_turn(bibs, faces)
    if isinstance(bibs, list):
        bibs.clear()
    return found


class LinksUnderTest(LinkerContract):
    def __init__(self, pairs: Link) -> None:
        self.pairs = pairs

    def make(self) -> Any:
        return Links(self.pairs)

    def keys(self) -> frozenset[str]:
        return frozenset({"pairs"})


EMPTY = "test_without_bibs_or_faces_there_are_no_links"
ONCE = "test_links_point_to_bibs_and_faces_each_at_most_once"
NO_SIZE = "test_boxes_without_a_size_are_linked_or_left_alone"
AGAIN = "test_the_same_boxes_give_the_same_links"
LISTS = "test_the_lists_are_left_as_they_are"
_LINKS = count()


@pytest.mark.parametrize(
    ("pairs", "broken"),
    [
        (in_turn, set()),
        (lambda bibs, faces: tuple(BibFaceLink(i, 0) for i in range(len(bibs)) if faces), {ONCE}),
        (lambda bibs, faces: tuple(BibFaceLink(0, i) for i in range(len(faces)) if bibs), {ONCE}),
        (lambda bibs, faces: (BibFaceLink(len(bibs), 0),) if bibs and faces else (), {ONCE, NO_SIZE}),
        (lambda bibs, faces: (BibFaceLink(0, -1),) if bibs and faces else (), {ONCE, NO_SIZE}),
        (lambda bibs, faces: (BibFaceLink(0, 0, 7.0),) if bibs and faces else (), {ONCE, NO_SIZE}),
        (lambda *_: (BibFaceLink(0, 0),), {EMPTY, ONCE}),
        (lambda bibs, faces: list(in_turn(bibs, faces)), {EMPTY, ONCE, NO_SIZE}),
        (lambda bibs, faces: tuple(replace(x, score=1 / (1 + next(_LINKS))) for x in in_turn(bibs, faces)), {AGAIN}),
        (emptying, {LISTS, ONCE, NO_SIZE}),
    ],
    ids=[
        "good",
        "a face twice",
        "a bib twice",
        "no such bib",
        "no such face",
        "score",
        "always",
        "list",
        "fickle",
        "x",
    ],
)
def test_a_linker_breaks_the_rules_that_it_breaks(pairs: Link, broken: set[str], tmp_path: Path) -> None:
    assert set(broken_rules(LinksUnderTest(pairs), tmp_path)) == broken
