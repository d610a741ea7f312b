"""The pages for everybody: axe-core finds nothing serious, in light and in dark; names are shown as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from tests.browser.labeling_server import LabelServer, open_editor, press, saved

pytestmark = pytest.mark.browser

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
GRAVE = ("serious", "critical")


@pytest.fixture(params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """A page in a light and in a dark setting, without movement."""
    page = browser.new_page(
        color_scheme=request.param, reduced_motion="reduce", viewport={"width": 1280, "height": 800}
    )
    yield page
    page.close()


def grave(page: Page) -> list[str]:
    """What axe-core calls serious or critical on the page as it is now. In the dark only colours can differ."""
    page.evaluate(AXE)
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    options = {"resultTypes": ["violations"]} | ({"runOnly": ["color-contrast"]} if dark else {})
    found = page.evaluate("options => axe.run(options)", options)["violations"]
    return [
        f"{violation['id']}: {node['html'][:120]}"
        for violation in found
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]


def test_axe_finds_nothing_serious_on_any_page(ghost_server: LabelServer, themed: Page) -> None:
    problems: dict[str, list[str]] = {}
    crowd = ghost_server.photos()[2]
    for path in ("/labels/", "/faces/labels/"):
        open_editor(themed, ghost_server, path + crowd)
        problems[f"{path}: suggestions"] = grave(themed)
        press(themed, *(["x"] if path == "/faces/labels/" else []), "Shift+A", "Tab")
        saved(themed)
        problems[f"{path}: boxes"] = grave(themed)
    press(themed, "Enter")
    expect(themed.locator("#offers")).to_be_visible()
    problems["names"] = grave(themed)
    press(themed, "Escape", "?")
    problems["keys"] = grave(themed)
    open_editor(themed, ghost_server, f"/links/{crowd}")
    problems["links"] = grave(themed)
    themed.route("**/api/photos/**", lambda route: route.abort())
    press(themed, "1")
    expect(themed.locator("#away")).to_be_visible()
    problems["away"] = grave(themed)
    themed.unroute("**/api/photos/**")
    saved(themed)
    for path in ("/", "/labels/", "/links/", "/staging/", "/runs/", "/docs/", "/nowhere"):
        themed.goto(ghost_server.address + path)
        problems[path] = grave(themed)
    assert {where: found for where, found in problems.items() if found} == {}


def test_a_name_is_text_whatever_it_looks_like(tiny_server: LabelServer, tiny_set: Path, page: Page) -> None:
    name = "<img src=x onerror=alert(1)>"
    asked: list[str] = []

    def note(dialog: Dialog) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    file = tiny_set / "face_ground_truth.json"
    file.write_text(file.read_text().replace('"P001"', f'"{name}"'))
    open_editor(page, tiny_server, f"/faces/labels/{tiny_server.photos()[0]}")
    expect(page.locator("#boxes")).to_contain_text(name)
    expect(page.locator("#stage .labels")).to_contain_text(name)
    expect(page.locator("#boxes img")).to_have_count(0)
    assert asked == []

    press(page, "Tab", "Enter")
    page.keyboard.type("<b>Ada</b>")
    press(page, "Enter")
    expect(page.locator("#message")).to_contain_text("is no name")
    saved(page)


def test_the_list_follows_the_keyboard_and_names_what_is_selected(tiny_server: LabelServer, page: Page) -> None:
    open_editor(page, tiny_server, f"/faces/labels/{tiny_server.photos()[0]}")
    press(page, "b", "b")
    rows = page.locator("#boxes")
    expect(rows.get_by_role("option", selected=True)).to_have_text(re.compile("^3"))
    rows.focus()
    press(page, "ArrowUp")
    expect(rows.get_by_role("option", selected=True)).to_have_text(re.compile("^2"))
    active = rows.get_attribute("aria-activedescendant")
    assert active == rows.get_by_role("option", selected=True).get_attribute("id")
    expect(page.locator("#stage-label")).to_contain_text("Selected: box 2")
    press(page, "Home")
    expect(rows.get_by_role("option", selected=True)).to_have_text(re.compile("^1"))
