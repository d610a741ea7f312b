"""The contracts of face detectors, bib readers and recognisers: backends that look at a photo.

Each test states one rule. The pictures are drawn (`harness.testing.photos`); whether a backend is any good is what a
run tells.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import TOLERANCE
from harness.pipeline.cache import StageCache
from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image, Look
from harness.pipeline.stages import BibReader, FaceDetector
from harness.testing.choices import backend_from, keys_of
from harness.testing.photos import ODD_PICTURES, Picture, draw_runners
from harness.types import BibBox, FaceBox


class ChoiceContract:
    """What a YAML and the frozen dataclass that it names promise each other.

    A test names its `choice` and, for one of your own, the `conf` folder; the folder that contains it is importable.
    """

    group: ClassVar[str]
    choice: ClassVar[str]
    conf: ClassVar[Path | None] = None
    #: Set for all tests, as in `face.long_side=320`.
    overrides: ClassVar[Sequence[str]] = ()

    def make(self) -> Any:
        """What the contract is about."""
        return backend_from(self.group, self.choice, self.conf, self.overrides)

    def keys(self) -> frozenset[str]:
        """The keys of its YAML."""
        return keys_of(self.group, self.choice, self.conf)

    def test_is_a_frozen_dataclass_that_can_be_hashed(self) -> None:
        backend = self.make()
        assert is_dataclass(backend), f"{type(backend).__name__} is no dataclass: its fields are its config"
        frozen = getattr(type(backend), "__dataclass_params__").frozen  # noqa: B009 - typeshed does not know it
        assert frozen, f"{type(backend).__name__} can be changed: use @dataclass(frozen=True)"
        assert hash(backend) == hash(self.make()), "two of the same YAML have different hashes"
        assert backend == self.make(), "two of the same YAML are not equal"

    def test_its_fields_are_the_keys_of_its_yaml(self) -> None:
        named = {field.name for field in fields(self.make()) if field.init}
        assert named == self.keys(), f"only in the class or only in the YAML: {sorted(named ^ self.keys())}"


class LookingContract(ChoiceContract, ABC):
    """What every backend promises that looks at a photo."""

    #: CHEAP fields that decide what `look.see` is asked: another value of them may look again, under another key.
    asked: ClassVar[frozenset[str]] = frozenset()

    def photo(self) -> Image:
        """The picture that most tests look at. One in which the backend finds something makes them stronger."""
        return draw_runners().image

    def cheap_values(self) -> Mapping[str, Any]:
        """Other values of CHEAP fields, to be tried. Those of numbers and flags need not be given."""
        return {}

    @abstractmethod
    def answer(self, backend: Any, look: Look) -> Sequence[Any]:
        """What the backend finds in a photo."""

    def check(self, found: Sequence[Any]) -> None:
        """Whether an answer can be scored."""
        assert isinstance(found, tuple), f"expected a tuple, got {type(found).__name__}"
        for box in found:
            x, y, w, h = box.xywh
            assert all(map(math.isfinite, box.xywh)), f"not a number in {box}"
            assert w > 0, f"no width in {box}"
            assert h > 0, f"no height in {box}"
            inside = min(x, y) >= -TOLERANCE and max(x + w, y + h) <= 1 + TOLERANCE
            assert inside, f"coordinates are shares of the picture, from 0 to 1; got {box}"
            assert box.score is not None, f"no score in {box}; average precision needs one"
            assert 0 <= box.score <= 1, f"a score is from 0 to 1; got {box}"

    def seen(self, backend: Any, image: Image, cache: StageCache | None = None) -> Seen:
        """What the backend finds in a picture, and the look that it took."""
        look = Look(Picture(image), cache)
        return Seen(tuple(self.answer(backend, look)), look)

    def test_its_models_open_and_are_named_for_the_record(self) -> None:
        backend = self.make()
        backend.load()
        assert isinstance(backend.models, tuple)
        for model in backend.models:
            assert model.name, "a model without a name"
            assert model.licence, f"{model.name}: no licence"
            assert len(model.sha256) == 64, f"{model.name}: expected a SHA-256 in hex, got {model.sha256!r}"

    def test_cheap_fields_are_fields(self) -> None:
        backend = self.make()
        unknown = set(backend.CHEAP) - {field.name for field in fields(backend)}
        assert not unknown, f"CHEAP names what is no field: {sorted(unknown)}"

    def test_an_answer_can_be_scored(self) -> None:
        for image in (self.photo(), draw_runners(["58", None, "2085"], seed=1).image):
            self.check(self.answer(self.make(), Look(Picture(image))))

    @pytest.mark.parametrize("name", ODD_PICTURES)
    def test_an_odd_picture_is_answered_like_any_other(self, name: str) -> None:
        self.check(self.answer(self.make(), Look(Picture(ODD_PICTURES[name]()))))

    def test_the_same_picture_gives_the_same_answer(self) -> None:
        image, backend = self.photo(), self.make()
        assert self.seen(backend, image).answer == self.seen(backend, image).answer

    def test_the_picture_is_left_as_it_is(self) -> None:
        image = self.photo()
        before = image.copy()
        self.seen(self.make(), image)
        assert (image == before).all(), "the picture was painted on; other stages look at it, too: work on a copy"

    def test_the_cache_gives_the_answer_that_was_computed(self, tmp_path: Path) -> None:
        cache, image, backend = StageCache(tmp_path, 10**8), self.photo(), self.make()
        cold, warm = self.seen(backend, image, cache), self.seen(backend, image, cache)
        assert not warm.look.misses, f"seen before and looked at again: {warm.look.misses}"
        assert warm.answer == cold.answer, "what `see` gets has to survive JSON: plain lists, numbers and texts"

    def test_a_cheap_field_needs_no_second_look_and_has_no_part_in_the_first(self, tmp_path: Path) -> None:
        image, backend = self.photo(), self.make()
        for number, name in enumerate(sorted(backend.CHEAP)):
            cache = StageCache(tmp_path / f"{number}", 10**8)
            self.seen(backend, image, cache)
            for other in self._variants(name, backend):
                warm, cold = self.seen(other, image, cache), self.seen(other, image)
                if name not in self.asked:
                    assert not warm.look.misses, f"{name} is CHEAP, and another value of it looks again"
                assert warm.answer == cold.answer, f"{name} is CHEAP, and what was kept depends on it"

    def _variants(self, name: str, backend: Any) -> list[Any]:
        given = self.cheap_values()
        return [replace(backend, **{name: given[name]})] if name in given else _variants(backend, name)


@dataclass(frozen=True)
class Seen:
    """What a backend found in a picture, and the look that it took."""

    answer: tuple[Any, ...]
    look: Look


def _variants(value: Any, name: str) -> list[Any]:
    """The same dataclass with other values of one field, as far as its class accepts them."""
    own = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    found = []
    for other in _others(own[name]):
        try:
            found.append(TypeAdapter(type(value)).validate_python({**own, name: other}))
        except ValidationError:
            continue
    return found


def _others(value: Any) -> list[Any]:
    """Other values of the same kind; none where nobody can guess them, as for texts."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, float):
        return [value * 0.5, (value + 1) / 2]
    if is_dataclass(value) and not isinstance(value, type):
        return [other for field in fields(value) for other in _variants(value, field.name)]
    return []


class FaceDetectorContract(LookingContract):
    """What a face detector promises. A subclass names its `choice`."""

    group = "face"

    def answer(self, backend: FaceDetector, look: Look) -> Sequence[FaceBox]:
        """The faces of a photo."""
        return backend.detect(look)

    def check(self, found: Sequence[Any]) -> None:
        """Faces, with five landmarks or none."""
        super().check(found)
        for box in found:
            assert isinstance(box, FaceBox), f"expected faces, got {type(box).__name__}"
            assert len(box.landmarks) in (0, 5), f"five landmarks or none; got {len(box.landmarks)}"
            assert all(math.isfinite(value) for point in box.landmarks for value in point), f"not a number in {box}"


class BibReaderContract(LookingContract):
    """What a bib reader promises. A subclass names its `choice`."""

    group = "bib"

    def answer(self, backend: BibReader, look: Look) -> Sequence[BibBox]:
        """The bibs of a photo, with the faces of the drawn runner to guide it."""
        return backend.read(look, draw_runners().labels.faces or ())

    def check(self, found: Sequence[Any]) -> None:
        """Bibs, with a number that is not empty or none."""
        super().check(found)
        for box in found:
            assert isinstance(box, BibBox), f"expected bibs, got {type(box).__name__}"
            assert box.number is None or box.number.strip(), f"a number that is not read is None, not empty: {box}"
            assert len(box.char_scores) in (0, len(box.number or "")), f"a score for each character or none: {box}"
            assert all(0 <= score <= 1 for score in box.char_scores), f"a score is from 0 to 1; got {box}"

    def test_a_photo_without_faces_is_read_too(self) -> None:
        backend: BibReader = self.make()
        self.check(backend.read(Look(Picture(draw_runners().image)), ()))


class RecogniserContract(LookingContract):
    """What a recogniser promises. A subclass names its `choice`."""

    group = "identity"
    #: A face that is enrolled with one least height and not with another is looked at when it is.
    asked = frozenset({"least_height"})

    def answer(self, backend: Recogniser, look: Look) -> Sequence[tuple[float, ...]]:
        """The vector of each face of the drawn runner."""
        seen = backend.embed(look, draw_runners().labels.faces or ())
        return tuple(tuple(row) for row in seen.vectors.tolist())

    def check(self, found: Sequence[Any]) -> None:
        """Vectors of length 1, or of zeros for a face that is not enrolled, all with as many numbers."""
        assert len({len(row) for row in found}) <= 1, "vectors of different lengths"
        for row in found:
            length = math.sqrt(sum(value * value for value in row))
            assert length == 0 or math.isclose(length, 1, abs_tol=1e-4), f"a vector of length {length}"

    def test_a_face_below_the_least_height_is_not_enrolled(self) -> None:
        scene = draw_runners()
        faces = scene.labels.faces or ()
        heights = [face.h * scene.image.shape[0] for face in faces]
        backend = replace(self.make(), least_height=max(heights) + 1)
        seen = backend.embed(Look(Picture(scene.image)), faces)
        assert seen.heights.tolist() == pytest.approx(heights)
        assert not seen.enrolled.any(), "a face that is too small was compared"
        assert not seen.vectors.any(), "a face that is not enrolled has a vector"

    def test_faces_without_landmarks_have_vectors_too(self) -> None:
        scene, backend = draw_runners(), self.make()
        faces = [replace(face, landmarks=()) for face in scene.labels.faces or ()]
        seen = backend.embed(Look(Picture(scene.image)), faces)
        assert seen.enrolled.any()
        self.check(tuple(tuple(row) for row in seen.vectors.tolist()))
