"""Nothing is lost: a second tab, a server that dies, a tab that is closed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from harness.labeling.source import FrozenSource
from harness.references.freeze import freeze
from harness.references.store import LabelStore
from tests.browser.labeling_server import (
    LabelServer,
    ServerProcess,
    ServerThread,
    boxes,
    draw,
    on_photo,
    open_editor,
    press,
    saved,
)

pytestmark = pytest.mark.browser

MINE = {"x": 0.05, "y": 0.05, "w": 0.2, "h": 0.1}
THEIRS = {"x": 0.7, "y": 0.8, "w": 0.2, "h": 0.1}


@pytest.fixture
def other_tab(browser: Browser) -> Iterator[Page]:
    """A window of somebody else: nothing of its storage is shared."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    yield context.new_page()
    context.close()


def with_bib(server: LabelServer) -> str:
    return next(sha256 for sha256 in server.photos() if server.photo(sha256)["links"])


def neighbour(page: Page) -> str:
    """Go to the photo before or after this one; its name."""
    here = page.locator("#photo-name").inner_text()
    press(page, "PageDown" if page.locator("#next").is_enabled() else "PageUp")
    expect(page.locator("#photo-name")).not_to_have_text(here)
    return page.locator("#photo-name").inner_text()


def number(page: Page, text: str) -> None:
    press(page, "Enter")
    page.keyboard.type(text)
    press(page, "Enter")


def conflict(server: LabelServer, page: Page, other_tab: Page, sha256: str) -> None:
    """Both draw a box on the same photo; the other one is first."""
    for tab in (page, other_tab):
        open_editor(tab, server, f"/labels/{sha256}")
    draw(other_tab, THEIRS)
    number(other_tab, "222")
    saved(other_tab)
    draw(page, MINE)
    number(page, "111")
    expect(page.locator("#banner")).to_be_visible()
    expect(page.locator("#saving")).to_contain_text("Not saved")
    expect(page.locator("#banner")).to_contain_text("222")


def test_a_conflict_resolved_with_theirs(tiny_server: LabelServer, page: Page, other_tab: Page) -> None:
    sha256 = with_bib(tiny_server)
    first = tiny_server.photo(sha256)["bibs"]["boxes"][0]["number"]
    conflict(tiny_server, page, other_tab, sha256)
    page.get_by_role("button", name="Take theirs").click()
    expect(page.locator("#banner")).to_be_hidden()
    saved(page)
    expect(page.locator("#boxes")).to_contain_text("222")
    assert boxes(tiny_server.photo(sha256)) == [(first, "bib"), ("222", "bib")]
    press(page, "Control+z")
    saved(page)
    assert boxes(tiny_server.photo(sha256)) == [(first, "bib"), ("111", "bib")], "mine is one step away"
    press(page, "Control+y")
    saved(page)
    assert boxes(tiny_server.photo(sha256)) == [(first, "bib"), ("222", "bib")]
    assert tiny_server.photo(sha256)["links"] == [[0, 0]]


def test_a_conflict_resolved_with_mine(tiny_server: LabelServer, page: Page, other_tab: Page) -> None:
    sha256 = with_bib(tiny_server)
    first = tiny_server.photo(sha256)["bibs"]["boxes"][0]["number"]
    conflict(tiny_server, page, other_tab, sha256)
    press(page, "3")
    page.get_by_role("button", name="Keep mine").click()
    saved(page)
    assert boxes(tiny_server.photo(sha256)) == [(first, "bib"), ("111", "bib_obscured")]
    assert tiny_server.photo(sha256)["links"] == [[0, 0]]
    press(page, "Control+z")
    saved(page)
    assert boxes(tiny_server.photo(sha256)) == [(first, "bib"), ("222", "bib")], "theirs is one step away"


def test_links_conflict_when_their_boxes_have_changed(tiny_server: LabelServer, page: Page, other_tab: Page) -> None:
    sha256 = with_bib(tiny_server)
    open_editor(page, tiny_server, f"/links/{sha256}")
    open_editor(other_tab, tiny_server, f"/labels/{sha256}")
    draw(other_tab, THEIRS)
    saved(other_tab)
    press(page, "1")
    expect(page.locator("#banner")).to_be_visible()
    page.get_by_role("button", name="Keep mine").click()
    saved(page)
    assert tiny_server.photo(sha256)["links"] == []
    expect(page.locator("#boxes [role=option]")).to_have_count(2)


def test_edits_of_other_photos_and_dimensions_never_conflict(
    tiny_server: LabelServer, page: Page, other_tab: Page
) -> None:
    first, second, _ = tiny_server.photos()
    open_editor(page, tiny_server, f"/labels/{first}")
    for path in (f"/labels/{second}", f"/faces/labels/{first}"):
        open_editor(other_tab, tiny_server, path)
        draw(other_tab, THEIRS)
        saved(other_tab)
    draw(page, MINE)
    saved(page)
    expect(page.locator("#banner")).to_be_hidden()


def test_a_server_that_is_killed_and_comes_back(tiny_set: Path, tmp_path: Path, page: Page) -> None:
    server = ServerProcess(tmp_path, f"references.root={tiny_set}")
    server.start()
    sha256 = with_bib(server)
    boxes_before = sum(len(server.photo(each)["bibs"]["boxes"]) for each in server.photos())
    with page.expect_response(lambda answer: "/api/photos/" in answer.url and sha256 not in answer.url):
        open_editor(page, server, f"/labels/{sha256}")
    page.wait_for_load_state("networkidle")
    draw(page, MINE)
    saved(page)
    server.kill()
    number(page, "62?")
    expect(page.locator("#saving")).to_contain_text("Not saved")
    expect(page.locator("#away")).to_be_visible()
    draw(page, THEIRS)
    press(page, "2")
    here, there = page.locator("#photo-name").inner_text(), neighbour(page)
    draw(page, MINE)
    expect(page.locator("#boxes [role=option]")).not_to_have_count(0)
    press(page, "PageUp" if there > here else "PageDown")
    on_photo(page, here)

    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    with page.expect_event("dialog"):
        page.get_by_role("link", name="Runs").click()
    page.wait_for_timeout(100)
    assert asked == ["beforeunload"], "leaving with unsaved work warns"
    assert page.url.endswith(sha256)

    server.start()
    saved(page)
    expect(page.locator("#away")).to_be_hidden()
    assert boxes(server.photo(sha256))[1:] == [("62?", "bib"), (None, "bib_clipped")]
    now = sum(len(server.photo(each)["bibs"]["boxes"]) for each in server.photos())
    assert now == boxes_before + 3, "what was drawn on another photo meanwhile is there, too"
    assert server.photo(sha256)["links"] == [[0, 0]]
    server.stop()


def test_a_tab_that_is_gone_while_the_server_was_away(tiny_server: LabelServer, other_tab: Page) -> None:
    sha256 = with_bib(tiny_server)
    page, context = other_tab, other_tab.context
    open_editor(page, tiny_server, f"/labels/{sha256}")
    context.set_offline(True)
    draw(page, MINE)
    expect(page.locator("#saving")).to_contain_text("Not saved")
    another = context.new_page()
    page.close()
    context.set_offline(False)
    assert len(tiny_server.photo(sha256)["bibs"]["boxes"]) == 1

    open_editor(another, tiny_server, f"/labels/{sha256}")
    expect(another.locator("#message")).to_contain_text("is back")
    saved(another)
    assert len(tiny_server.photo(sha256)["bibs"]["boxes"]) == 2
    assert tiny_server.photo(sha256)["links"] == [[0, 0]]


def test_a_frozen_set_is_shown_and_never_changed(tiny_set: Path, tmp_path: Path, page: Page) -> None:
    freeze(LabelStore(tiny_set), "kept")
    server = ServerThread(FrozenSource(tiny_set, "kept"), tmp_path / "mlruns")
    server.start()
    sha256 = with_bib(server)
    before = server.photo(sha256)
    open_editor(page, server, f"/labels/{sha256}")
    expect(page.locator("#saving")).to_contain_text("Read only")
    draw(page, MINE)
    press(page, "Tab", "2", "Delete", "b", "n")
    page.wait_for_timeout(500)
    expect(page.locator("#boxes [role=option]")).to_have_count(1)
    assert server.photo(sha256) == before
    server.stop()


#: Every save takes a second to reach the server, as over a bad network.
SLOW_SAVES = """
const quick = window.fetch;
window.fetch = async (address, options) => {
  if ((options?.method ?? "GET") !== "GET") await new Promise((resolve) => setTimeout(resolve, 1000));
  return quick(address, options);
};
"""


def test_done_waits_for_a_save_that_is_under_way(ghost_server: LabelServer, page: Page) -> None:
    page.add_init_script(SLOW_SAVES)
    near = ghost_server.photos()[0]
    open_editor(page, ghost_server, f"/labels/{near}")
    page.locator("#accept-all").click()
    expect(page.locator("#saving")).to_have_attribute("data-state", "saving")
    page.keyboard.press("d")
    expect(page.locator("#photo-name")).not_to_have_text("sample_03.jpg")
    assert ghost_server.photo(near)["bibs"]["labeled"]
