"""What grading reads: formats with their attributes, rules, overrides, and what is wrong with them, by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ConfigError, GradingError
from harness.grading.rules import read_overrides, read_rules
from harness.grading.submissions import Submission, read_submission, students
from tests.grading.streets import COHORT, OVERRIDES, RULES, TRUTH

COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "train/a.jpg", "width": 100, "height": 80}],
    "categories": [{"id": 7, "name": "car"}],
    "annotations": [{"id": 5, "image_id": 1, "category_id": 7, "bbox": [1, 2, 30, 40]}],
}
VOC = "<annotation><filename>a.jpg</filename>{}</annotation>"
OBJECT = (
    "<object><name>car</name>{}<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>31</xmax><ymax>42</ymax></bndbox></object>"
)
CVAT = '<annotations><image name="a.jpg" width="100" height="80">{}</image></annotations>'
BOX = '<box label="car" occluded="1" xtl="1" ytl="2" xbr="31" ybr="42"{}>{}</box>'


def written(path: Path, content: str | dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def only(submission: Submission) -> Any:
    ((annotation,),) = submission.annotations.values()
    return annotation


class TestFormats:
    def test_the_three_formats_say_the_same(self, tmp_path: Path) -> None:
        attributes = {"color": "red", "doors": 4, "occluded": True, "note": None}
        note = COCO["annotations"][0] | {"attributes": attributes}
        coco = written(tmp_path / "a.json", COCO | {"annotations": [note]})
        more = "<attributes><attribute><name>color</name><value>red</value></attribute></attributes>"
        voc = written(tmp_path / "a.xml", VOC.format(OBJECT.format(f"<occluded>1</occluded><doors>4</doors>{more}")))
        inner = '<attribute name="color">red</attribute><attribute name="doors">4</attribute>'
        cvat = written(tmp_path / "b.xml", CVAT.format(BOX.format("", inner)))
        for path in (coco, voc, cvat):
            submission = read_submission(path)
            assert list(submission.images) == ["a.jpg"]
            annotation = only(submission)
            assert (annotation.label, annotation.box) == ("car", (1, 2, 30, 40))
            assert annotation.attributes == {"color": "red", "doors": "4", "occluded": "true"}

    def test_ids_are_the_files_own_or_places(self, tmp_path: Path) -> None:
        assert only(read_submission(written(tmp_path / "a.json", COCO))).id == "5"
        assert only(read_submission(written(tmp_path / "a.xml", VOC.format(OBJECT.format(""))))).id == "1"
        bare = {key: value for key, value in COCO["annotations"][0].items() if key != "id"}
        assert only(read_submission(written(tmp_path / "b.json", COCO | {"annotations": [bare]}))).id == "1"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"annotations": [COCO["annotations"][0] | {"image_id": 9}]}, r"annotations\.0\.image_id: no image 9"),
            (
                {"annotations": [COCO["annotations"][0] | {"category_id": 9}]},
                r"annotations\.0\.category_id: no category",
            ),
            ({"annotations": [COCO["annotations"][0] | {"bbox": [1, 2, 3]}]}, r"annotations\.0\.bbox"),
            (
                {"annotations": [COCO["annotations"][0] | {"attributes": {"a": [1]}}]},
                r"annotations\.0\.attributes\.a: exp",
            ),
            (
                {"images": [COCO["images"][0], COCO["images"][0] | {"id": 2, "file_name": "b/a.jpg"}]},
                "is called a.jpg too",
            ),
            ({"images": "x"}, "images: must be a list"),
        ],
    )
    def test_a_broken_coco_file_is_refused_by_place(self, tmp_path: Path, change: dict[str, Any], message: str) -> None:
        with pytest.raises(GradingError, match=rf"a\.json: .*{message}"):
            read_submission(written(tmp_path / "a.json", COCO | change))

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ("<annotations", "not XML"),
            ("<!DOCTYPE x><annotation/>", "declares a document type"),
            ("<dataset/>", "neither Pascal VOC"),
            ("<annotation/>", "filename: not there"),
            ("<annotations><image/></annotations>", "image 1: name: not there"),
            ("<annotations><track/></annotations>", "CVAT for video"),
        ],
    )
    def test_a_broken_xml_file_is_refused_by_place(self, tmp_path: Path, content: str, message: str) -> None:
        with pytest.raises(GradingError, match=rf"a\.xml: .*{message}"):
            read_submission(written(tmp_path / "a.xml", content))

    def test_nothing_to_read_is_said(self, tmp_path: Path) -> None:
        with pytest.raises(GradingError, match="no annotations here"):
            read_submission(tmp_path)
        with pytest.raises(ConfigError, match="no such file or folder"):
            read_submission(tmp_path / "x.json")


class TestStudents:
    def test_a_folder_has_a_student_for_each_file_or_folder(self) -> None:
        assert list(students(COHORT) or ()) == ["anna", "ben", "carla"]

    def test_a_file_and_a_folder_of_voc_files_are_one_submission(self) -> None:
        assert students(TRUTH) is None
        assert students(COHORT / "ben") is None

    def test_two_submissions_of_one_name_are_refused(self, tmp_path: Path) -> None:
        shutil.copytree(COHORT, tmp_path / "cohort")
        written(tmp_path / "cohort" / "anna.xml", CVAT.format(""))
        with pytest.raises(GradingError, match=r"two submissions are called anna: anna\.json and anna\.xml"):
            students(tmp_path / "cohort")


class TestRules:
    def test_rules_are_read_and_the_rest_is_default(self) -> None:
        rules = read_rules(RULES)
        assert rules.match_key == "no"
        assert rules.attributes == {"car": ["color", "occluded"], "truck": ["color", "occluded"]}
        assert (rules.iou_weight, rules.beta, rules.blend, rules.min_iou, rules.ignore_case) == (70, 0.5, 0.5, 0, False)

    def test_everything_can_be_set(self, tmp_path: Path) -> None:
        text = "weights: {iou: 50, label: 30, attributes: 20}\nbeta: 1\nblend: 0.8\nmin_iou: 0.3\nignore_case: true\n"
        rules = read_rules(written(tmp_path / "r.yaml", text))
        assert (rules.iou_weight, rules.label_weight, rules.attribute_weight) == (50, 30, 20)
        assert (rules.beta, rules.blend, rules.min_iou, rules.ignore_case) == (1, 0.8, 0.3, True)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("weight: 3", "weight: no such key"),
            ("weights: {iou: 80}", "add up to 100"),
            ("match_key: no", "match_key: must be a string, got False"),
            ("beta: 0", "beta 0.0: expected"),
            ("a: [", "not YAML"),
        ],
    )
    def test_rules_that_do_not_hold_are_refused(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(ConfigError, match=rf"r\.yaml: {message}|r\.yaml: .*{message}"):
            read_rules(written(tmp_path / "r.yaml", text))


class TestOverrides:
    def test_overrides_are_read(self) -> None:
        first, second = read_overrides(OVERRIDES)
        assert (first.student, first.override.image, first.override.annotation) == ("ben", "street-2.jpg", "21")
        assert (second.override.score, second.override.who) == (20, "kim")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("image,annotation,score,who\n", "no column reason"),
            ("image,annotation,score,reason,who\na.jpg,1,x,why,kim\n", "line 2: score: expected a number, got 'x'"),
            ("image,annotation,score,reason,who\na.jpg,1,5,,kim\n", "line 2: reason: empty"),
        ],
    )
    def test_a_broken_override_is_refused_by_line(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(GradingError, match=rf"o\.csv: {message}"):
            read_overrides(written(tmp_path / "o.csv", text))
