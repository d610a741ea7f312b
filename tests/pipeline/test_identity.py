"""The identity stage: alignment, enrolment, vectors that are the same from the cache, and bad files told by name."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import WeightsError
from harness.building import build_pipeline
from harness.config import compose
from harness.pipeline.cache import Entry, StageCache
from harness.pipeline.identity.aligning import TEMPLATE, align, landmarks_of, similarity
from harness.pipeline.identity.onnx import SFace
from harness.pipeline.identity.recognising import FaceVectors, Recogniser
from harness.pipeline.looks import Image, Look
from harness.references.sample.people import picture
from harness.testing import Picture, RecogniserContract
from harness.types import FaceBox


def placed(points: np.ndarray, turn: float, scale: float, shift: tuple[float, float]) -> np.ndarray:
    matrix = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    return points @ matrix.T + shift


@given(st.floats(-3, 3), st.floats(0.1, 20), st.tuples(st.floats(-500, 500), st.floats(-500, 500)))
def test_a_turned_scaled_and_shifted_face_is_brought_back_exactly(
    turn: float, scale: float, shift: tuple[float, float]
) -> None:
    transform = similarity(placed(TEMPLATE, turn, scale, shift), TEMPLATE)
    back = placed(TEMPLATE, turn, scale, shift) @ transform[:, :2].T + transform[:, 2]
    assert np.allclose(back, TEMPLATE, atol=1e-6)


def test_points_in_one_place_are_only_shifted() -> None:
    transform = similarity(np.full((5, 2), 7.0), TEMPLATE)
    assert np.allclose(transform[:, :2], np.eye(2))


@pytest.mark.parametrize("scale", [0.4, 1.0, 2.5, 6.0])
def test_the_landmarks_come_to_lie_on_the_template_at_every_size(scale: float) -> None:
    """Dots are painted where the landmarks are, and looked for in the aligned face."""
    points = placed(TEMPLATE, 0.2, scale, (60.0, 40.0))
    side = int(points.max() + 80)
    image = np.zeros((side, side, 3), dtype=np.uint8)
    rows, columns = np.mgrid[:side, :side]
    for x, y in points:
        image[np.hypot(columns - x, rows - y) <= max(2.0, 2.5 * scale)] = 255
    face = FaceBox(x=0.1, y=0.1, w=0.5, h=0.5, landmarks=tuple((x / side, y / side) for x, y in points))
    aligned = align(image, face, 112).astype(float)[:, :, 0]
    rows, columns = np.mgrid[:112, :112]
    for x, y in TEMPLATE:
        near = np.where(np.hypot(columns - x, rows - y) < 7, aligned, 0.0)
        assert np.sum(near * columns) / near.sum() == pytest.approx(x, abs=0.7)
        assert np.sum(near * rows) / near.sum() == pytest.approx(y, abs=0.7)


def test_a_face_without_landmarks_is_taken_as_upright() -> None:
    points = landmarks_of(FaceBox(x=0.2, y=0.2, w=0.2, h=0.4))
    assert points[0, 0] < points[1, 0]
    assert points[0, 1] < points[2, 1] < points[3, 1]
    assert (points > 0.2).all()
    assert (points < (0.4, 0.6)).all()


def test_arrays_are_kept_as_bytes_and_come_back_bit_for_bit(tmp_path: Path) -> None:
    vector = np.random.default_rng(0).normal(size=128).astype(np.float32)
    cache = StageCache(tmp_path, 10**7)
    cache.put("k", "identity", Entry(vector, 0.5))
    found = StageCache(tmp_path, 10**7).get("k")
    assert found is not None
    assert found.value.dtype == np.float32
    assert found.value.tobytes() == vector.tobytes()
    assert cache.stats()["identity"].bytes < 4 * 128 + 200


@dataclass(frozen=True)
class Closer:
    """A detector whose landmarks are all in one place, which tells the faces that it is asked for."""

    asked: list[FaceBox]

    def landmarks(self, look: Look, faces: Sequence[FaceBox]) -> tuple[FaceBox, ...]:
        self.asked.extend(faces)
        return tuple(replace(face, landmarks=((face.x, face.y),) * 5) for face in faces)


@dataclass(frozen=True, kw_only=True)
class Noted(SFace):
    """A recogniser that keeps the faces that it is given."""

    given: list[FaceBox] = field(default_factory=list, compare=False)

    def embed(self, look: Look, faces: Sequence[FaceBox]) -> FaceVectors:
        self.given.extend(faces)
        return FaceVectors(np.zeros((len(faces), 0), np.float32), np.zeros(len(faces), np.bool_), np.zeros(len(faces)))


def test_no_closer_look_is_wasted_on_a_face_that_is_not_enrolled() -> None:
    made = build_pipeline(compose(["identity=sface"]))
    assert isinstance(made.identity, SFace)
    faces = [FaceBox(x=0.1 * at, y=0.1, w=0.05, h=height) for at, height in enumerate((0.19, 0.2, 0.05, 0.5))]
    closer, noted = (
        Closer([]),
        Noted(**{item.name: getattr(made.identity, item.name) for item in fields(made.identity)}),
    )
    pipeline = replace(made, face=cast(Any, closer), identity=noted)
    pipeline.embed(Look(Picture(np.zeros((100, 200, 3), dtype=np.uint8))), faces)
    assert closer.asked == [faces[1], faces[3]], "the others are lower than 20 pixels"
    assert [face.xywh for face in noted.given] == [face.xywh for face in faces]
    assert [bool(face.landmarks) for face in noted.given] == [False, True, False, True]


@dataclass(frozen=True, kw_only=True)
class Halves(Recogniser):
    """Faces by how bright their halves are, which a mirror swaps."""

    models = ()
    side = 112

    def load(self) -> None:
        """Nothing to open."""

    def describe(self, face: Image) -> np.ndarray:
        return np.array([face[:, :56].mean(), face[:, 56:].mean()], dtype=np.float32)


@pytest.mark.parametrize(("mirrored", "alike"), [(False, False), (True, True)])
def test_mirrored_a_face_and_its_mirror_image_are_one(mirrored: bool, alike: bool) -> None:
    image = np.zeros((100, 200, 3), dtype=np.uint8)
    image[:, 80:] = 200
    face = FaceBox(x=0.3, y=0.2, w=0.2, h=0.5)
    ours = build_pipeline(compose(["identity=sface"])).identity
    assert ours is not None
    people = Halves(least_height=20, gallery="all", fpir=0.01, clustering=ours.clustering, mirrored=mirrored)
    there = people.embed(Look(Picture(image)), [face]).vectors[0]
    turned = replace(face, x=1 - face.x - face.w)
    back = people.embed(Look(Picture(np.ascontiguousarray(image[:, ::-1]))), [turned]).vectors[0]
    assert (there @ back > 0.999) == alike


class Recognising(RecogniserContract):
    """What our own recognisers promise beyond the contract: on real faces, people are told apart."""

    def photo(self) -> Image:
        return picture("P001", "studio_posture").read()

    def test_two_pictures_of_a_person_are_more_alike_than_two_people(self) -> None:
        pipeline = build_pipeline(compose([f"identity={self.choice}", "face.long_side=1280"]))
        assert pipeline.identity is not None
        vectors = {}
        for name in ("P001", "P005"):
            for kind in ("studio_posture", "amateur_posture"):
                look = Look(Picture(picture(name, kind).read()))
                faces = pipeline.face.detect(look)
                seen = pipeline.identity.embed(look, faces)
                vectors[name, kind] = seen.vectors[int(np.argmax(seen.heights))]
        for name, other in (("P001", "P005"), ("P005", "P001")):
            own = vectors[name, "studio_posture"] @ vectors[name, "amateur_posture"]
            strange = vectors[name, "studio_posture"] @ vectors[other, "amateur_posture"]
            assert own > strange + 0.2


@pytest.mark.slow
class TestSFace(Recognising):
    choice = "sface"


@pytest.mark.slow
class TestArcFace(Recognising):
    choice = "arcface"


def test_a_file_of_the_user_is_used_by_its_digest(tmp_path: Path) -> None:
    given = build_pipeline(compose(["identity=arcface"])).identity
    assert given is not None
    path = given.models[0].locate()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    overrides = ["identity=onnx", f"identity.path={path}", "identity.licence=mine"]
    own = build_pipeline(compose([*overrides, f"identity.sha256={digest}"])).identity
    assert own is not None
    own.load()
    assert [model.licence for model in own.models] == ["mine"]
    face = np.random.default_rng(0).integers(0, 255, (112, 112, 3), dtype=np.uint8)
    assert np.array_equal(own.describe(face), given.describe(face))


@pytest.mark.parametrize(
    ("overrides", "told"),
    [
        (["identity=onnx"], "identity=onnx: name the file"),
        (["identity=onnx", "identity.path=gone.onnx", f"identity.sha256={'0' * 64}"], "gone.onnx: no such file"),
        (["identity=arcface", "identity.pack=buffalo_x", "identity.root=."], "identity.pack=buffalo_x: no *.onnx file"),
        (["identity=sface", f"identity.weights.sha256={'0' * 64}"], "the config expects 000"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_in_a_sentence(overrides: list[str], told: str) -> None:
    with pytest.raises(WeightsError) as error:
        build_pipeline(compose(overrides)).load()
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_of_another_shape_is_told_when_it_opens() -> None:
    recogniser = build_pipeline(compose(["identity=arcface", "identity.input_size=96"])).identity
    assert recogniser is not None
    with pytest.raises(WeightsError, match="expected a picture of 1 x 3 x 96 x 96 in"):
        recogniser.load()


def test_a_file_that_is_another_or_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.onnx"
    path.write_bytes(b"no model")
    digest = hashlib.sha256(b"no model").hexdigest()
    overrides = ["identity=onnx", f"identity.path={path}"]
    with pytest.raises(WeightsError, match=r"identity\.sha256 expects 000"):
        build_pipeline(compose([*overrides, f"identity.sha256={'0' * 64}"])).load()
    with pytest.raises(WeightsError, match="not a model that ONNX Runtime can open"):
        build_pipeline(compose([*overrides, f"identity.sha256={digest}"])).load()
