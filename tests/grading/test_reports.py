"""Reasons, reports and the cohort: every point has a reason, and nothing of a student's reaches the page unescaped."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from PIL import Image

from harness.base.errors import GradingError
from harness.grading.cohort import Cohort, write_cohort
from harness.grading.gradebook import GradingJob, grade_cohort, grade_student
from harness.grading.graded import GradedSubmission, grade_submission
from harness.grading.page import report_page
from harness.grading.submissions import AnnotatedImage, Submission, students
from harness.grading.written import as_csv, write_grade
from harness.scoring import Annotation, GradeReport, GradingRules, Override
from harness.scoring.grade_reasons import Aspect
from tests.grading.streets import COHORT, OVERRIDES, RULES, TRUTH, draw_streets


@pytest.fixture(scope="module")
def cohort() -> Cohort:
    submissions = students(COHORT)
    assert submissions is not None
    return grade_cohort(GradingJob(TRUTH, COHORT, RULES, OVERRIDES), submissions, "spring")


def submission(name: str, **images: list[Annotation]) -> Submission:
    sheets = {image: AnnotatedImage(image, image, (100, 100), tuple(notes)) for image, notes in images.items()}
    return Submission(name, Path(name), sheets, "0" * 64)


class TestReasons:
    def test_the_losses_of_a_match_add_up_to_what_it_lacks(self, cohort: Cohort) -> None:
        for graded in cohort.graded:
            for image in graded.report.images:
                for item in graded.items(image):
                    if item.match:
                        assert sum(loss.points for loss in item.losses) == pytest.approx(100 - item.match.final_score)

    def test_the_points_of_the_grade_are_all_accounted_for(self, cohort: Cohort) -> None:
        for graded in cohort.graded:
            assert graded.report.overall + sum(graded.points_lost.values()) == pytest.approx(100)

    def test_what_cost_nothing_is_not_named(self) -> None:
        truth = submission("gt", a=[Annotation("1", "car", (0, 0, 10, 10), {"color": "red", "side": "left"})])
        work = submission("s", a=[Annotation("1", "car", (0, 0, 10, 8), {"color": "red", "side": "lift"})])
        graded = grade_submission(truth, work, GradingRules(attributes={"car": ["color", "side"]}))
        (item,) = graded.items(graded.report.images[0])
        assert [(loss.aspect, loss.reason) for loss in item.losses] == [
            (Aspect.LOCALISATION, "IoU 0.80: the bottom edge is too far up by 2"),
            (Aspect.ATTRIBUTES, "side 'lift', expected 'left'"),
        ]
        assert [loss.points for loss in item.losses] == pytest.approx([70 * 0.2, 15 / 2 * 0.25])

    @pytest.mark.parametrize(
        ("box", "reason"),
        [
            ((-3, 0, 13, 10), "the left edge is too far left by 3"),
            ((2, 0, 8, 10), "the left edge is too far right by 2"),
            ((0, -1.5, 10, 11.5), "the top edge is too far up by 1.5"),
            ((1, 4, 9, 6), "the top edge is too far down by 4"),
            ((0, 0, 12, 10), "the right edge is too far right by 2"),
            ((0, 1, 6, 9), "the right edge is too far left by 4"),
            ((0, 0, 10, 13), "the bottom edge is too far down by 3"),
        ],
    )
    def test_the_edge_that_is_furthest_off_is_named(self, box: tuple[float, float, float, float], reason: str) -> None:
        truth, work = submission("gt", a=[Annotation("1", "car", (0, 0, 10, 10))]), Annotation("1", "car", box)
        (found,) = reasons(grade_submission(truth, submission("s", a=[work]), GradingRules()))
        assert found.endswith(reason)

    def test_without_a_match_too(self) -> None:
        truth, student = submission("gt", a=[Annotation("1", "car", (0, 0, 9, 9))]), submission("s", a=[])
        graded = grade_submission(truth, student, GradingRules())
        assert graded.points_lost == {Aspect.NO_MATCH: 50, Aspect.MISSED: 50, Aspect.EXTRA: 0}
        assert (graded.skills.localisation, graded.skills.completeness) == (None, 0)

    def test_reasons_name_what_is_wrong(self, cohort: Cohort) -> None:
        anna, ben, carla = cohort.graded
        assert "color 'dark bleu', expected 'dark blue'" in reasons(anna)
        assert "occluded 'false', expected 'true'" in reasons(anna)
        assert "label 'pedestrain', expected 'pedestrian'" in reasons(ben)
        assert "IoU 0: the boxes do not overlap" in reasons(carla)
        assert "kim: numbers of the two people swapped" in reasons(carla)

    def test_labels_without_attributes_say_nothing_about_attributes(self) -> None:
        notes = [Annotation("1", "person", (0, 0, 9, 9)), Annotation("2", "car", (20, 20, 9, 9), {"color": "red"})]
        wrong = [notes[0], Annotation("2", "car", (20, 20, 9, 9), {"color": "sky"})]
        rules = GradingRules(attributes={"car": ["color"]})
        assert grade_submission(submission("gt", a=notes), submission("s", a=wrong), rules).skills.attributes == 0
        assert (
            grade_submission(submission("gt", a=notes), submission("s", a=wrong), GradingRules()).skills.attributes
            is None
        )


def reasons(graded: GradedSubmission) -> set[str]:
    return {loss.reason for image in graded.report.images for item in graded.items(image) for loss in item.losses}


class TestCohort:
    def test_who_is_best_at_what(self, cohort: Cohort) -> None:
        assert [graded.student.name for graded in cohort.graded] == ["anna", "ben", "carla"]
        assert cohort.best() == {
            "localisation": ["anna"],
            "labels": ["anna", "carla"],
            "attributes": ["ben", "carla"],
            "completeness": ["ben"],
        }
        counts = {row["student"]: (row["matched"], row["missed"], row["extra"]) for row in cohort.table()}
        assert counts == {"anna": (11, 1, 0), "ben": (12, 0, 0), "carla": (9, 3, 3)}

    def test_an_override_replaces_and_stays_visible(self, cohort: Cohort) -> None:
        (match,) = [m for image in cohort.graded[2].report.images for m in image.matched if m.override]
        assert (round(match.original_score, 9), match.final_score) == (30, 20)

    def test_a_student_who_cannot_be_read_does_not_stop_the_others(self, tmp_path: Path) -> None:
        broken = tmp_path / "dan.json"
        broken.write_text("{")
        found = grade_cohort(GradingJob(TRUTH, COHORT), {"anna": COHORT / "anna.json", "dan": broken}, "spring")
        assert [graded.student.name for graded in found.graded] == ["anna"]
        assert "not JSON" in found.failed["dan"]
        assert [row["student"] for row in found.table()] == ["anna", "dan"]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("ben,street-1.jpg,11,101,why,kim", "score 101.0; expected a number from 0 to 100"),
            ("ben,street-1.jpg,99,50,why,kim", "annotation '99': there is no such ground-truth annotation"),
            ("anna,street-1.jpg,11,50,why,kim", "line 2: student 'anna': the student here is 'ben'"),
        ],
    )
    def test_an_override_that_finds_no_place_is_refused(self, tmp_path: Path, line: str, message: str) -> None:
        words = tmp_path / "o.csv"
        words.write_text(f"student,image,annotation,score,reason,who\n{line}\n")
        with pytest.raises(GradingError, match=message):
            grade_student(GradingJob(TRUTH, COHORT / "ben", overrides=words))

    def test_an_override_for_nobody_is_refused(self, tmp_path: Path) -> None:
        words = tmp_path / "o.csv"
        words.write_text("student,image,annotation,score,reason,who\neve,street-1.jpg,11,50,why,kim\n")
        with pytest.raises(GradingError, match="student 'eve': no such student; there are ben"):
            grade_cohort(GradingJob(TRUTH, COHORT, overrides=words), {"ben": COHORT / "ben"}, "spring")


class TestFiles:
    def test_a_cohort_is_written_as_json_csv_and_pages(self, cohort: Cohort, tmp_path: Path) -> None:
        write_cohort(tmp_path / "out", cohort, draw_streets(tmp_path / "images"))
        names = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
        each = {f"{s}/{f}" for s in ("anna", "ben", "carla") for f in ("grade.json", "grade.csv", "report.html")}
        assert names == each | {"cohort.json", "cohort.csv", "index.html"}
        read = GradeReport.from_dict(json.loads((tmp_path / "out/ben/grade.json").read_text()))
        assert read == cohort.graded[1].report
        rows = list(csv.DictReader((tmp_path / "out/carla/grade.csv").open()))
        assert [row["status"] for row in rows].count("missed") == 3
        assert len(rows) == 15
        page = (tmp_path / "out/carla/report.html").read_text()
        assert page.count("data:image/jpeg;base64,") == 5
        assert "http:" not in page
        assert "https:" not in page

    def test_what_a_student_writes_is_escaped(self, tmp_path: Path) -> None:
        evil = "<script>alert(1)</script>"
        truth = submission("gt", **{"a.jpg": [Annotation("1", "car", (0, 0, 9, 9))]})
        student = submission(evil, **{"a.jpg": [Annotation('"><b>', evil, (0, 0, 9, 9))], evil: []})
        word = Override("a.jpg", "1", 50, evil, evil)
        page = report_page(grade_submission(truth, student, GradingRules(), [word]))
        assert "<script" not in page
        assert "&lt;script&gt;" in page

    def test_a_spreadsheet_runs_no_formula(self) -> None:
        assert as_csv([{"a": "=1+1", "b": -1.0}]) == "a,b\n'=1+1,-1.0\n"

    def test_a_picture_of_another_size_is_refused(self, cohort: Cohort, tmp_path: Path) -> None:
        Image.new("RGB", (480, 640)).save(tmp_path / "street-1.jpg")
        with pytest.raises(
            GradingError, match=r"street-1\.jpg: is 480 x 640 upright, but its annotations say 640 x 480"
        ):
            write_grade(tmp_path / "out", cohort.graded[0], tmp_path)
