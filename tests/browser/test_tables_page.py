"""The page of table diffs as a person sees it: readable by day and by night, and on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from harness.tasks.tables.evaluation import evaluate_tables
from harness.tasks.tables.html import page as tables_page
from harness.tasks.tables.rates import mean_rates, score_cards
from tests.tasks.tables.builders import extracted, table

pytestmark = pytest.mark.browser

LINES = [["name", "time"], ["efficient", "41:07"], ["Bo", "43.3"]]
CAME = [["name", "time"], ["effcient", "41:07"], ["new", "44.4"]]


@pytest.fixture
def address(tmp_path: Path) -> str:
    items = [extracted("a", "one", CAME), extracted("b", "one", LINES), extracted("a", "two", LINES)]
    evaluation = evaluate_tables([table("one", LINES), table("two", LINES, caption="same")], items, ["a", "b"])
    (tmp_path / "tables.html").write_text(tables_page(evaluation, mean_rates(score_cards(evaluation))))
    return (tmp_path / "tables.html").as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_is_readable(page: Page, address: str, scheme: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(address)
    for state in ("matched", "partial", "missing", "extra"):
        cell = page.locator(f"td.{state}").first
        ink, paper = cell.evaluate("e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]")
        assert contrast(ink, paper) >= 7, (scheme, state)
    note = page.locator(".note").first
    ink = note.evaluate("e => getComputedStyle(e).color")
    paper = page.locator(".tables-report").evaluate("e => getComputedStyle(e).backgroundColor")
    assert contrast(ink, paper) >= 4.5


def test_a_table_opens_and_nothing_overflows_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto(address)
    second = page.locator("details", has_text="two")
    second.locator("summary").click()
    expect(second.get_by_text("No table was extracted here")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def contrast(ink: str, paper: str) -> float:
    """The contrast ratio of two CSS colours, as WCAG defines it."""
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
