"""Face detectors and bib readers that break one rule of their contract each, and the rule that notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import pytest

from harness.pipeline.images import UnitBox
from harness.pipeline.looks import Image, Look
from harness.testing import BibReaderContract, FaceDetectorContract
from harness.types import BibBox, FaceBox
from tests.testing.broken import broken_rules

SMALL: UnitBox = {"x": 0.1, "y": 0.1, "w": 0.2, "h": 0.2}


@dataclass(frozen=True)
class Faces:
    """A detector that keeps every rule: it finds the mean brightness of the picture where nobody looks for it."""

    CHEAP: ClassVar[frozenset[str]] = frozenset({"threshold"})

    threshold: float = 0.25
    scale: float = 1.0

    @property
    def models(self) -> tuple[Any, ...]:
        return ()

    def load(self) -> None: ...

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        seen = look.see("face", self, None, self._see)
        return tuple(self._face(found) for found in seen if found["score"] >= self.threshold)

    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL, score=found["score"])

    def _see(self, image: Image) -> list[dict[str, Any]]:
        return [{"score": float(image.mean()) / 255}, {"score": 0.2}]


@dataclass(frozen=True)
class Extra(Faces):
    more: int = 1


class WrongCheap(Faces):
    CHEAP: ClassVar[frozenset[str]] = frozenset({"treshold"})


class Nameless(Faces):
    @property
    def models(self) -> tuple[Any, ...]:
        @dataclass(frozen=True)
        class Weights:
            name: str = ""
            sha256: str = "0" * 64
            licence: str = "MIT"

        return (Weights(),)


class Outside(Faces):
    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(x=0.9, y=0.1, w=0.2, h=0.2, score=0.5)


class NotFinite(Faces):
    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(x=float("nan"), y=0.1, w=0.2, h=0.2, score=0.5)


class Percent(Faces):
    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL, score=found["score"] * 100)


class Scoreless(Faces):
    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL)


class TwoEyes(Faces):
    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL, score=0.5, landmarks=((0.1, 0.1), (0.2, 0.1)))


class Fickle(Faces):
    calls: ClassVar = count()

    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL, score=1 / (2 + next(self.calls)))


class Forgetful(Faces):
    """What it keeps is a tuple of tuples, which it is given as lists, the first time as well."""

    def _see(self, image: Image) -> list[dict[str, Any]]:
        return [{"score": 0.5, "points": ((0.1, 0.1),) * 5}]

    def _face(self, found: dict[str, Any]) -> FaceBox:
        return FaceBox(**SMALL, score=0.5, landmarks=found["points"])


class LooksAgain(Faces):
    """The threshold is CHEAP, and part of what is asked."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        return tuple(map(self._face, look.see("face", self, self.threshold, self._see)))


class Lying(Faces):
    """The threshold is CHEAP, and part of what is kept."""

    def _see(self, image: Image) -> list[dict[str, Any]]:
        return [found for found in super()._see(image) if found["score"] >= self.threshold]


class Painter(Faces):
    def _see(self, image: Image) -> list[dict[str, Any]]:
        found = super()._see(image)
        image[:2] = 0
        return found


class Fragile(Faces):
    def _see(self, image: Image) -> list[dict[str, Any]]:
        assert image.shape[0] > 1, "a picture of one pixel"
        return super()._see(image)


class FacesUnderTest(FaceDetectorContract):
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def make(self) -> Any:
        return self._make()

    def keys(self) -> frozenset[str]:
        return frozenset(asdict(Faces()))


FROZEN = "test_is_a_frozen_dataclass_that_can_be_hashed"
FIELDS = "test_its_fields_are_the_keys_of_its_yaml"
MODELS = "test_its_models_open_and_are_named_for_the_record"
CHEAP = "test_cheap_fields_are_fields"
BOXES = "test_an_answer_can_be_scored"
ODD = "test_an_odd_picture_is_answered_like_any_other"
SAME = "test_the_same_picture_gives_the_same_answer"
ALONE = "test_the_picture_is_left_as_it_is"
CACHE = "test_the_cache_gives_the_answer_that_was_computed"
NO_LOOK = "test_a_cheap_field_needs_no_second_look_and_has_no_part_in_the_first"


@pytest.mark.parametrize(
    ("make", "broken"),
    [
        (Faces, set()),
        (Extra, {FIELDS}),
        (Nameless, {MODELS}),
        (Outside, {BOXES, ODD}),
        (NotFinite, {BOXES, ODD, SAME, CACHE, NO_LOOK}),
        (Percent, {BOXES, ODD}),
        (Scoreless, {BOXES, ODD}),
        (TwoEyes, {BOXES, ODD}),
        (Fickle, {SAME, CACHE, NO_LOOK}),
        (Forgetful, set()),
        (LooksAgain, {NO_LOOK}),
        (Lying, {NO_LOOK}),
        (Painter, {ALONE}),
        (Fragile, {ODD}),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_face_detector_breaks_the_rules_that_it_breaks(
    make: Callable[[], Any], broken: set[str], tmp_path: Path
) -> None:
    found = set(broken_rules(FacesUnderTest(make), tmp_path))
    assert broken <= found
    # What it sees after it painted, or looks up in its fields, may be wrong in further ways.
    assert found - broken <= ({SAME, CACHE, NO_LOOK} if make is Painter else set())


def test_a_dataclass_that_can_be_changed_is_noticed() -> None:
    @dataclass(eq=True)
    class Loose:
        threshold: float = 0.5

    with pytest.raises(AssertionError, match="use @dataclass"):
        FacesUnderTest(Loose).test_is_a_frozen_dataclass_that_can_be_hashed()
    with pytest.raises(AssertionError, match="is no dataclass"):
        FacesUnderTest(object).test_is_a_frozen_dataclass_that_can_be_hashed()


def test_a_cheap_field_that_is_none_is_named() -> None:
    with pytest.raises(AssertionError, match="treshold"):
        FacesUnderTest(WrongCheap).test_cheap_fields_are_fields()


GOOD = BibBox(**SMALL, number="417", score=0.9, char_scores=(0.9, 0.9, 0.8))


@dataclass(frozen=True)
class Bibs(Faces):
    bib: BibBox = GOOD

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        look.see("text", self, None, self._see)
        return (self.bib,)


@dataclass(frozen=True)
class NeedsFaces(Bibs):
    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        assert faces, "nobody there"
        return super().read(look, faces)


class BibsUnderTest(BibReaderContract):
    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def make(self) -> Any:
        return self._make()

    def keys(self) -> frozenset[str]:
        return frozenset(asdict(Bibs()))


UNGUIDED = "test_a_photo_without_faces_is_read_too"


@pytest.mark.parametrize(
    ("make", "broken"),
    [
        (Bibs, set()),
        (lambda: Bibs(bib=BibBox(**SMALL, number="", score=0.9)), {BOXES, ODD, UNGUIDED}),
        (lambda: Bibs(bib=BibBox(**SMALL, number="417", score=0.9, char_scores=(0.5,))), {BOXES, ODD, UNGUIDED}),
        (lambda: Bibs(bib=BibBox(**SMALL, number="4", score=0.9, char_scores=(1.5,))), {BOXES, ODD, UNGUIDED}),
        (NeedsFaces, {UNGUIDED}),
    ],
    ids=["good", "empty number", "one score for three digits", "score above 1", "needs faces"],
)
def test_a_bib_reader_breaks_the_rules_that_it_breaks(
    make: Callable[[], Any], broken: set[str], tmp_path: Path
) -> None:
    assert set(broken_rules(BibsUnderTest(make), tmp_path)) == broken
