"""Very many objects in little memory: they come out as they went in."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from harness.base import packed as packing
from harness.base.packed import Packed, blocks, packed
from harness.references.files import BoxOrigin
from harness.types import BibBox, BibFaceLink, BibScope, FaceBox, PhotoPrediction


@dataclass(frozen=True, slots=True)
class One:
    value: object


@dataclass(frozen=True, slots=True)
class More(One):
    """With a field of its own beside that of its parent."""

    other: object = None


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of three, and only two objects that stay as they are."""
    monkeypatch.setattr(packing, "BLOCK", 3)
    monkeypatch.setattr(packing, "MOST_LOOSE", 2)


PREDICTION = PhotoPrediction(
    bibs=(BibBox(x=0.1, y=1 / 3, w=0.2, h=0.1, number="62?", scope=BibScope.NOT_BIB, score=0.5, tags=("a",)),),
    faces=(FaceBox(x=0.1, y=0.1, w=0.2, h=0.1, landmarks=((0.1, 0.2),)),),
    links=(BibFaceLink(0, 0, 0.25),),
)
OBJECTS = [
    PREDICTION,
    One(BibScope.BIB),
    More(1, Path("a/b.jpg")),
    More(float("inf"), BoxOrigin(how="imported")),
    One(None),
    "text",
    {"a": 1},
]


@pytest.mark.usefixtures("small")
def test_objects_come_out_as_they_went_in() -> None:
    found = packed(iter(OBJECTS))
    assert isinstance(found, Packed)
    assert len(found) == len(OBJECTS)
    assert list(found) == OBJECTS
    assert repr(list(found)) == repr(OBJECTS), "a member of an enumeration stays one, whatever it is equal to"
    assert [found[place] for place in range(-7, 7)] == OBJECTS * 2
    assert found[1:6:2] == tuple(OBJECTS[1:6:2])
    assert list(reversed(found)) == OBJECTS[::-1]
    assert found.index("text") == 5
    with pytest.raises(IndexError):
        found[7]
    assert found[0].links[0].score == 0.25, "also what is left out of comparing"


@pytest.mark.usefixtures("small")
def test_arrays_and_what_is_shared_in_a_block_are_kept() -> None:
    counts = {"tp": 1}
    found = packed([One(counts), One(counts), One(np.arange(3))])
    assert found[0].value is found[1].value
    assert np.asarray(found[2].value).tolist() == [0, 1, 2]


@pytest.mark.usefixtures("small")
def test_it_compares_with_what_has_the_same_objects() -> None:
    found = packed(OBJECTS)
    assert found == packed(OBJECTS)
    assert found == tuple(OBJECTS)
    assert found != packed([*OBJECTS[:-1], "another"])
    assert found != tuple(OBJECTS[:-1])


@pytest.mark.usefixtures("small")
def test_few_objects_stay_as_they_are_and_together() -> None:
    few = packed(OBJECTS[:2])
    assert few == tuple(OBJECTS[:2])
    assert few[0] is OBJECTS[0]
    assert [list(block) for block in blocks(few)] == [OBJECTS[:2]]
    assert [list(block) for block in blocks(packed(OBJECTS))] == [OBJECTS[:3], OBJECTS[3:6], OBJECTS[6:]]
    assert packed([]) == ()


def test_very_many_take_a_fraction_of_their_memory() -> None:
    def made() -> Iterator[PhotoPrediction]:
        for number in range(packing.MOST_LOOSE + 1):
            yield replace(
                PREDICTION, bibs=(replace(PREDICTION.bibs[0], x=number / packing.MOST_LOOSE / 2, number=str(number)),)
            )

    found = packed(made())
    assert isinstance(found, Packed)
    assert sum(map(sys.getsizeof, found._blocks)) < 200 * len(found)
