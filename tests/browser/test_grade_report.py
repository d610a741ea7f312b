"""A grading report as a student opens it: one file, everything in view, by day, by night and on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.grading.cohort import write_cohort
from harness.grading.gradebook import GradingJob, grade_cohort
from harness.grading.submissions import students
from tests.grading.streets import COHORT, OVERRIDES, RULES, TRUTH, draw_streets

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
