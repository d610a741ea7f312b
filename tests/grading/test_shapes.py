"""Shapes in files: golden pairs for each format and shape, a whole CVAT export, and what becomes of what is skipped."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest

from harness.base.errors import GradingError
from harness.grading.cohort import Cohort, write_cohort
from harness.grading.gradebook import GradingJob, grade_cohort, grade_student
from harness.grading.graded import GradedSubmission
from harness.grading.page import report_page
from harness.grading.shown import cohort_text, grade_markdown, grade_text
from harness.grading.submissions import read_submission, students
from harness.grading.written import as_dict, write_grade
from tests.conftest import RunHarness
from tests.grading.streets import COHORT, DATA, TRUTH, draw_streets

#: Hand-made pairs whose IoU can be told by hand: format -> ground truth and student.
GOLDEN = {
    "cvat": ("truth.xml", "student.xml"),
    "coco": ("truth.json", "student.json"),
    "labelme": ("truth", "student"),
}
EXPORT = DATA / "export"
CVAT = '<annotations><image name="a.jpg" width="100" height="80">{}</image></annotations>'
BOX = '<box label="car" xtl="{}" ytl="0" xbr="{}" ybr="10"/>'
CUBOID = '<cuboid label="car"/>'


def golden(name: str) -> GradedSubmission:
    truth, student = (DATA / "shapes" / name / file for file in GOLDEN[name])
    return grade_student(GradingJob(truth, student))


def written(path: Path, *elements: str) -> Path:
    path.write_text(CVAT.format("".join(elements)))
    return path


class TestGolden:
    @pytest.mark.parametrize("name", GOLDEN)
    def test_every_shape_has_the_iou_that_is_told_by_hand(self, name: str) -> None:
        graded = golden(name)
        expected = json.loads((DATA / "shapes" / name / "expected.json").read_text())
        (image,) = graded.report.images
        pairs = [(item.truth, item.student, item.match) for item in graded.items(image)]
        assert all(truth and student and truth.label == student.label for truth, student, _ in pairs)
        found = {truth.label: match.iou for truth, _, match in pairs if truth and match}
        assert set(found) == {*expected["iou"], *expected["about"]}
        assert {label: found[label] for label in expected["iou"]} == pytest.approx(expected["iou"], abs=1e-9)
        assert {label: found[label] for label in expected["about"]} == pytest.approx(expected["about"], abs=0.005)

    @pytest.mark.parametrize("name", GOLDEN)
    def test_what_cannot_be_graded_is_named_with_its_place_and_why(self, name: str) -> None:
        expected = json.loads((DATA / "shapes" / name / "expected.json").read_text())["skipped"]
        found = golden(name).skipped
        assert [[item.side, item.annotation, item.kind, item.where] for item in found] == [one[:4] for one in expected]
        assert all(item.why.startswith(one[4]) for item, one in zip(found, expected, strict=True))
        assert {item.image for item in found} == {"a.png"}

    @pytest.mark.parametrize("name", GOLDEN)
    def test_each_side_has_full_marks_beside_itself(self, name: str) -> None:
        for file in GOLDEN[name]:
            path = DATA / "shapes" / name / file
            assert grade_student(GradingJob(path, path)).report.overall == pytest.approx(100)

    @pytest.mark.parametrize("name", GOLDEN)
    def test_strict_refuses_by_the_first_of_the_ground_truth(self, name: str) -> None:
        truth, student = (DATA / "shapes" / name / file for file in GOLDEN[name])
        first = golden(name).ground_truth.skipped[0][1]
        with pytest.raises(GradingError, match=re.escape(f"{first.where}") + ".*" + re.escape(first.why)):
            grade_student(GradingJob(truth, student, strict=True))


def pixels_of_masks(file: Path) -> list[set[tuple[int, int]]]:
    """The pixels of each mask of a CVAT file, counted from its runs one by one."""
    found = []
    for rle, *place in re.findall(
        r'rle="([^"]*)" left="(\d+)" top="(\d+)" width="(\d+)" height="(\d+)"', file.read_text()
    ):
        left, top, width, height = map(int, place)
        pixels: list[bool] = []
        for number, run in enumerate(map(int, rle.split(","))):
            pixels += [number % 2 == 1] * run
        assert len(pixels) <= width * height
        found.append({(n % width + left, n // width + top) for n, is_on in enumerate(pixels) if is_on})
    return found


@pytest.fixture(scope="module")
def graded() -> GradedSubmission:
    return grade_student(GradingJob(EXPORT / "truth.xml", EXPORT / "student.xml"))


class TestExport:
    """A CVAT export with masks, points, polygons, a lane, turned boxes, an ellipse, and what cannot be graded."""

    def test_it_is_graded(self, graded: GradedSubmission) -> None:
        report = graded.report
        assert (report.matched, report.missed, report.extra) == (11, 1, 1)
        found = {(i.image, m.ground_truth): m.iou for i in report.images for m in i.matched}
        assert found["street-1.jpg", "1"] == pytest.approx(0.887, abs=0.001)  # two masks
        assert found["street-1.jpg", "2"] == pytest.approx(0.807, abs=0.001)  # a mask, and a box around it
        assert found["street-1.jpg", "4"] == pytest.approx(0.72, abs=0.01)  # two points each
        assert found["street-2.jpg", "5"] == pytest.approx(0.38, abs=0.01)  # one point of two

    def test_masks_are_compared_pixel_by_pixel(self, graded: GradedSubmission) -> None:
        """The same by counting pixels, from the runs as they stand in the files."""
        truth, student = (pixels_of_masks(EXPORT / f"{side}.xml")[0] for side in ("truth", "student"))
        expected = len(truth & student) / len(truth | student)
        assert graded.report.images[0].matched[0].iou == pytest.approx(expected, abs=1e-12)

    def test_what_was_skipped_is_in_the_json_the_table_the_terminal_and_the_page(
        self, graded: GradedSubmission, tmp_path: Path
    ) -> None:
        write_grade(tmp_path, graded, draw_streets(tmp_path / "images"))
        kept = json.loads((tmp_path / "grade.json").read_text())["skipped"]
        assert (kept["student"], kept["ground_truth"]) == (2, 3)
        assert kept["annotations"][0] == {
            "side": "student",
            "image": "street-2.jpg",
            "annotation": "5",
            "kind": "cuboid",
            "where": "student.xml: image 2, cuboid 5",
            "why": "a <cuboid> cannot be graded or imported",
        }
        rows = list(csv.DictReader((tmp_path / "grade.csv").open()))
        assert [row["student_annotation"] for row in rows if row["status"] == "skipped"] == ["5", "3", "", "", ""]
        page = (tmp_path / "report.html").read_text()
        for text in (grade_text(graded), grade_markdown(graded), page):
            plain = text.replace("&#39;", "'")
            assert "2 of the student's annotations and 3 of the ground truth's are not in the grade" in plain
            assert "truth.xml: image 3, skeleton 3" in plain
        assert graded.metrics()["grade/skipped"] == 2
        assert graded.metrics()["grade/skipped_truth"] == 3

    def test_the_page_draws_the_shapes(self, graded: GradedSubmission) -> None:
        page = report_page(graded)
        assert (
            page.count('<path class="area"') == 22
        )  # every shape of the 11 pairs and the two that are alone, but two boxes
        assert "<title>ground truth: car (mask)</title>" in page
        assert "<title>student: lane (polyline)</title>" in page
        assert "<title>missed: sign (ellipse)</title>" in page
        assert '<title>ground truth: pedestrian</title><path d="M330 200h44v120h-44z"/>' in page

    def test_reasons_go_by_the_shape(self, graded: GradedSubmission) -> None:
        said = [loss.reason for i in graded.report.images for item in graded.items(i) for loss in item.losses]
        assert "IoU 0.81: 0 % of the expected area is left out, 19 % of the drawn area is beside it" in said
        assert "IoU 0.72: off by up to 4.243" in said
        assert "IoU 0.38: points drawn 1, expected 2" in said


class TestRealFile:
    """Masks of a real file, each without its last run (`tests/data/grading/real/README.md`)."""

    TRUTH: ClassVar[Path] = DATA / "real" / "corals.xml"

    def test_every_mask_has_the_pixels_that_its_runs_count(self) -> None:
        (image,) = read_submission(self.TRUTH, strict=True).images.values()
        areas = [note.drawing.geometry.area for note in image.annotations if note.drawing]
        assert areas == [len(pixels) for pixels in pixels_of_masks(self.TRUTH)]
        assert [note.label for note in image.annotations].count("recruit_cluster_live_white") == 3

    def test_beside_a_copy_that_moved_and_lost_one(self, tmp_path: Path) -> None:
        student = tmp_path / "student.xml"
        moved = self.TRUTH.read_text().replace('left="6302"', 'left="6322"').replace('top="1536"', 'top="1566"')
        student.write_text(re.sub(r'<mask [^>]*left="4324"[^>]*/>', '<cuboid label="recruit_live_white"/>', moved))
        report = grade_student(GradingJob(self.TRUTH, student)).report
        assert (report.matched, report.missed, report.extra) == (3, 1, 0)
        first, _, third, fourth = pixels_of_masks(self.TRUTH)
        drawn = pixels_of_masks(student)
        expected = {
            str(place): len(truth & pixels) / len(truth | pixels)
            for place, truth, pixels in zip((1, 3, 4), (first, third, fourth), drawn, strict=True)
        }
        found = {match.ground_truth: match.iou for image in report.images for match in image.matched}
        assert found == pytest.approx(expected, abs=1e-12)
        assert 0 < expected["1"] < 1


class TestSkippedIsNotFlattering:
    def test_what_the_student_drew_unreadably_is_not_extra_and_its_target_is_missed(self, tmp_path: Path) -> None:
        truth = written(tmp_path / "t.xml", BOX.format(0, 10), BOX.format(20, 30))
        student = written(tmp_path / "s.xml", BOX.format(0, 10), CUBOID)
        report = grade_student(GradingJob(truth, student)).report
        assert (report.matched, report.missed, report.extra) == (1, 1, 0)

    def test_what_the_truth_has_unreadably_is_no_target(self, tmp_path: Path) -> None:
        truth = written(tmp_path / "t.xml", BOX.format(0, 10), CUBOID)
        student = written(tmp_path / "s.xml", BOX.format(0, 10), BOX.format(20, 30))
        report = grade_student(GradingJob(truth, student)).report
        assert (report.matched, report.missed, report.extra) == (1, 0, 1)

    def test_a_skip_never_raises_the_grade_in_silence(self, tmp_path: Path) -> None:
        """A student who spoils a bad box gains a little; the grade with skipped ones counted is there beside it."""
        truth = written(tmp_path / "t.xml", BOX.format(0, 10), BOX.format(20, 30))
        honest = grade_student(GradingJob(truth, written(tmp_path / "h.xml", BOX.format(0, 10), BOX.format(29, 39))))
        spoilt = grade_student(GradingJob(truth, written(tmp_path / "s.xml", BOX.format(0, 10), CUBOID)))
        assert spoilt.report.overall > honest.report.overall > spoilt.overall_if_counted
        assert f"it would be {spoilt.overall_if_counted:.1f}" in grade_text(spoilt)
        assert as_dict(spoilt)["skipped"]["overall_if_counted"] == spoilt.overall_if_counted

    def test_counted_means_as_extra_and_as_missed(self, tmp_path: Path) -> None:
        truth = written(tmp_path / "t.xml", BOX.format(0, 10), CUBOID, CUBOID)
        student = written(tmp_path / "s.xml", BOX.format(0, 10), CUBOID)
        graded = grade_student(GradingJob(truth, student))
        assert graded.report.overall == 100
        assert graded.overall_if_counted == pytest.approx(50 + 50 * 1.25 / (1.25 + 0.25 * 2 + 1))

    def test_without_skips_nothing_is_said(self) -> None:
        graded = grade_student(GradingJob(TRUTH, COHORT / "anna.json"))
        assert graded.overall_if_counted == graded.report.overall
        assert "skipped" not in grade_text(graded)
        assert "skipped" not in report_page(graded)

    @pytest.mark.parametrize("side", ["t", "s"])
    def test_a_side_of_which_everything_would_be_skipped_is_refused(self, tmp_path: Path, side: str) -> None:
        paths = {name: written(tmp_path / f"{name}.xml", BOX.format(0, 10)) for name in ("t", "s")}
        written(paths[side], CUBOID, CUBOID)
        with pytest.raises(
            GradingError, match=rf"{side}\.xml: none of its annotations \(2\) .* image 1, cuboid 1: a <cub"
        ):
            grade_student(GradingJob(paths["t"], paths["s"]))

    def test_many_are_counted_and_the_first_few_named(self, tmp_path: Path) -> None:
        truth = written(tmp_path / "t.xml", BOX.format(0, 10))
        student = written(tmp_path / "s.xml", BOX.format(0, 10), *[CUBOID] * 130)
        graded = grade_student(GradingJob(truth, student))
        assert "... and 125 more; grade.json has all" in grade_text(graded)
        assert "30 more are in grade.json" in report_page(graded)
        assert len(as_dict(graded)["skipped"]["annotations"]) == 130


class TestCohort:
    def cohort(self, tmp_path: Path, strict: bool) -> Cohort:
        folder = tmp_path / "cohort"
        folder.mkdir()
        truth = written(tmp_path / "t.xml", BOX.format(0, 10))
        written(folder / "anna.xml", BOX.format(0, 10))
        written(folder / "ben.xml", BOX.format(0, 9), CUBOID)
        found = students(folder)
        assert found is not None
        return grade_cohort(GradingJob(truth, folder, strict=strict), found, "spring")

    def test_skips_are_a_column(self, tmp_path: Path) -> None:
        cohort = self.cohort(tmp_path, strict=False)
        assert {row["student"]: row["skipped"] for row in cohort.table()} == {"anna": 0, "ben": 1}
        write_cohort(tmp_path / "out", cohort)
        assert "skipped" in (tmp_path / "out" / "index.html").read_text()

    def test_strict_fails_the_student_and_grades_the_others(self, tmp_path: Path) -> None:
        cohort = self.cohort(tmp_path, strict=True)
        assert [graded.student.name for graded in cohort.graded] == ["anna"]
        assert "ben.xml: image 1, cuboid 2" in cohort.failed["ben"]
        assert "not graded: ben" in cohort_text(cohort)

    def test_a_folder_of_labelme_files_is_one_student_and_one_that_is_no_json_is_named(self, tmp_path: Path) -> None:
        folder = Path(shutil.copytree(DATA / "shapes" / "labelme" / "student", tmp_path / "anna"))
        assert students(folder) is None
        (folder / "b.json").write_text("{")
        assert students(folder) is None
        with pytest.raises(GradingError, match=r"b\.json: not JSON"):
            read_submission(folder)

    def test_a_broken_file_of_one_student_leaves_the_cohort_a_cohort(self, tmp_path: Path) -> None:
        folder = Path(shutil.copytree(COHORT, tmp_path / "cohort"))
        (folder / "dan.json").write_text("{")
        (folder / "eve.xml").write_text("<annotations")
        assert list(students(folder) or ()) == ["anna", "ben", "carla", "dan", "eve"]


class TestLabelMe:
    FILE: ClassVar[dict[str, Any]] = {
        "imagePath": "a.jpg",
        "imageWidth": 100,
        "imageHeight": 80,
        "shapes": [
            {
                "label": "car",
                "shape_type": "rectangle",
                "points": [[31, 42], [1, 2]],
                "flags": {"parked": True},
                "group_id": 7,
                "description": "red",
            }
        ],
    }

    def read(self, tmp_path: Path, **change: Any) -> Any:
        (tmp_path / "a.json").write_text(json.dumps(self.FILE | change))
        return read_submission(tmp_path / "a.json")

    def test_flags_group_and_description_are_attributes(self, tmp_path: Path) -> None:
        (note,) = self.read(tmp_path).annotations["a.jpg"]
        assert (note.id, note.label, note.box, note.drawing) == ("1", "car", (1, 2, 30, 40), None)
        assert note.attributes == {"parked": "true", "group_id": "7", "description": "red"}

    @pytest.mark.parametrize(
        ("shape", "why"),
        [
            ({"shape_type": "circle", "points": [[1, 1]]}, "a circle of 1 points; expected its centre and a point"),
            ({"shape_type": "mask"}, "expected a mask, and two points"),
            ({"shape_type": "rectangle", "points": [[1, 1]]}, "a polygon of 1 points; expected 3 or more"),
            ({"shape_type": "bezier"}, "shape_type 'bezier' cannot be graded; expected one of rectangle, polygon"),
        ],
    )
    def test_a_shape_that_does_not_hold_is_skipped(self, tmp_path: Path, shape: dict[str, Any], why: str) -> None:
        first = self.FILE["shapes"][0]
        ((_, skipped),) = self.read(tmp_path, shapes=[first, first | shape]).skipped
        assert skipped.why.startswith(why)

    def test_points_need_the_size_of_the_image(self, tmp_path: Path) -> None:
        first = self.FILE["shapes"][0]
        point = first | {"shape_type": "point", "points": [[5, 5]]}
        assert not self.read(tmp_path, shapes=[first, point]).skipped
        ((_, skipped),) = self.read(tmp_path, shapes=[first, point], imageWidth=None).skipped
        assert skipped.why.startswith("the size of its image is not given")

    @pytest.mark.parametrize(
        ("change", "message"),
        [({"imagePath": ""}, "imagePath"), ({"shapes": {}}, "shapes"), ({"shapes": [{}]}, r"shapes\.0\.label")],
    )
    def test_a_file_whose_structure_does_not_hold_is_refused(
        self, tmp_path: Path, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(GradingError, match=rf"a\.json: {message}"):
            self.read(tmp_path, **change)


def test_the_command_skips_and_with_strict_refuses(run_harness: RunHarness) -> None:
    paths = (str(EXPORT / "truth.xml"), str(EXPORT / "student.xml"))
    done = run_harness("grade", *paths)
    assert (done.returncode, "2 of the student's annotations" in done.stdout) == (0, True)
    strict = run_harness("grade", *paths, "--strict")
    assert (strict.returncode, strict.stdout) == (1, "")
    assert "truth.xml: image 1, tag 1: a <tag> cannot be graded or imported" in strict.stderr
