"""A grading report as a student opens it: one file, everything in view, by day, by night and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.grading.cohort import write_cohort
from harness.grading.gradebook import GradingJob, grade_cohort, grade_student
from harness.grading.submissions import students
from harness.grading.written import write_grade
from tests.grading.streets import COHORT, DATA, OVERRIDES, RULES, TRUTH, draw_streets

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (1024, "dark")])
def test_the_reports_of_a_cohort(page: Page, tmp_path: Path, width: int, scheme: str) -> None:
    submissions = students(COHORT)
    assert submissions is not None
    cohort = grade_cohort(GradingJob(TRUTH, COHORT, RULES, OVERRIDES), submissions, "spring")
    write_cohort(tmp_path / "out", cohort, draw_streets(tmp_path / "images"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")

    page.goto((tmp_path / "out" / "index.html").as_uri())
    page.get_by_role("link", name="carla").click()
    expect(page.locator(".grade")).to_have_text("76")
    expect(page.locator("section")).to_have_count(5)
    changed = page.locator("tr.changed")
    expect(changed).to_contain_text("30.0 20.0")
    expect(changed).to_contain_text("override by kim: numbers of the two people swapped")
    expect(page.get_by_text("MISSED", exact=True)).to_have_count(3)
    assert page.locator("image").first.bounding_box() is not None
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert all(url.startswith(("file:", "data:")) for url in asked)


def test_shapes_lie_on_the_picture_and_numbers_stay_within_it(page: Page, tmp_path: Path) -> None:
    graded = grade_student(GradingJob(DATA / "export" / "truth.xml", DATA / "export" / "student.xml"))
    write_grade(tmp_path / "out", graded, draw_streets(tmp_path / "images"))
    page.goto((tmp_path / "out" / "report.html").as_uri())
    sheet = page.locator("section svg").first
    picture, mask = sheet.locator("image").bounding_box(), page.locator("g:has(> title) path.area").first.bounding_box()
    assert picture is not None
    assert mask is not None
    scale = picture["width"] / 640
    place = ((mask["x"] - picture["x"]) / scale, (mask["y"] - picture["y"]) / scale, mask["width"] / scale)
    assert place == pytest.approx((60, 200, 161), abs=1.5)
    for tag in sheet.locator("rect.tag").all():
        box = tag.bounding_box()
        assert box is not None
        assert picture["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= picture["x"] + picture["width"] + 1
    expect(page.get_by_role("heading", name="Skipped", exact=True)).to_be_visible()
    expect(page.get_by_text("a <skeleton> cannot be graded or imported")).to_be_visible()
