"""The report of a run in a real browser that has no network."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from harness.report.pdf import print_pdf
from tests.report.reports import RIGHT, evaluation_of, report_of

pytestmark = pytest.mark.browser


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """The report of a run that lost a face on each of 12 photos."""
    lost = replace(RIGHT, faces=(), links=())
    told = report_of(evaluation_of([lost] * 12), evaluation_of([RIGHT] * 12))
    told.page(tmp_path)
    return tmp_path / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (800, "dark")])
def test_verdict_pictures_and_deltas_are_there_with_the_network_off(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_offline(True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(report.as_uri())

    expect(page.locator("#verdict strong")).to_have_text("▼ REGRESSED")
    row = page.locator("#deltas tbody tr", has_text="face/recall")
    expect(row).to_contain_text("-100.0 points")
    expect(row).to_contain_text("REGRESSED")
    pictures = page.locator(".pair img")
    expect(pictures).to_have_count(12)
    assert pictures.evaluate_all("images => images.every(image => image.complete && image.naturalWidth > 300)")
    expect(page.get_by_role("img", name="Precision and recall over the score threshold")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    context.close()


def test_a_report_is_printed_as_pdf_with_what_is_folded(report: Path, tmp_path: Path) -> None:
    print_pdf(report, tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") + content.count(b"/Type/Page") > 1
