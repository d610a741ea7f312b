"""Person by person, by keyboard alone and by mouse; two labellers; a blind audit; small screens; keys in a hurry."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.soak.keys import soak_keys
from playwright.sync_api import Browser, CDPSession, Page, expect

from harness.references.audits import draw_audit
from harness.references.labels import view
from harness.references.store import LabelStore
from tests.browser.labeling_server import (
    LabelServer,
    ServerThread,
    all_done,
    draw,
    in_window,
    on_photo,
    open_editor,
    press,
    saved,
    tab_to,
)
from tests.browser.test_labeling_access import grave

pytestmark = pytest.mark.browser


def test_by_keyboard_alone(ghost_server: LabelServer, prepared: Path, page: Page) -> None:
    near, nobody, crowd = ghost_server.photos()
    page.goto(ghost_server.address + "/")
    tab_to(page, page.get_by_role("link", name="Person by person").first)
    press(page, "Enter")
    on_photo(page, "sample_03.jpg")
    press(page, "a")
    expect(page.locator("#boxes .box")).not_to_have_count(0)
    press(page, "Shift+A", "d")
    on_photo(page, "sample_10.jpg")
    press(page, "n")
    on_photo(page, "sample_13.jpg")
    press(page, "x", "Shift+A", "Tab")
    linked = page.locator("#boxes [role=option]", has_not_text="no bib").first
    linked.click()
    page.locator("#stage").focus()
    press(page, "Enter")
    expect(page.locator("#number")).to_be_focused()
    page.keyboard.type("4711")
    press(page, "Enter")
    expect(page.locator("#boxes")).to_contain_text("4711")
    saved(page)
    press(page, "d")
    all_done(page)
    for photo, state in ((near, "complete"), (nobody, "known_negative"), (crowd, "complete")):
        assert ghost_server.photo(photo)["completeness"]["state"] == state
    first = ghost_server.photo(near)
    linked_pairs = [
        (first["bibs"]["boxes"][b]["number"], first["faces"]["boxes"][f]["identity"]) for b, f in first["links"]
    ]
    assert linked_pairs
    assert all(number == name for number, name in linked_pairs), "the number is the proposed name"
    assert view(LabelStore(prepared), near).bibs.boxes[0].origin is not None
    record = ghost_server.photo(crowd)
    assert "4711" in [box["number"] for box in record["bibs"]["boxes"]]
    assert "exclude" in [box["scope"] for box in record["faces"]["boxes"]]


def test_by_mouse_with_drawn_boxes_links_and_undo(ghost_server: LabelServer, page: Page) -> None:
    nobody = ghost_server.photos()[1]
    open_editor(page, ghost_server, f"/persons/{nobody}")
    page.get_by_role("button", name="A face").click()
    draw(page, {"x": 0.4, "y": 0.2, "w": 0.1, "h": 0.15})
    page.get_by_role("button", name="A bib").click()
    draw(page, {"x": 0.4, "y": 0.5, "w": 0.12, "h": 0.1})
    expect(page.locator("#number")).to_be_focused()
    page.keyboard.type("512")
    press(page, "Enter")
    saved(page)
    made = ghost_server.photo(nobody)
    assert made["links"] == [[0, 0]]
    assert (made["bibs"]["boxes"][0]["number"], made["faces"]["boxes"][0]["identity"]) == ("512", "512")
    assert made["completeness"]["state"] == "partial"
    page.get_by_role("button", name="Link, unlink").click()
    saved(page)
    assert ghost_server.photo(nobody)["links"] in ([], None)
    press(page, "Control+z")
    saved(page)
    assert ghost_server.photo(nobody)["links"] == [[0, 0]]
    page.get_by_role("button", name="Next photo").click()
    on_photo(page, "sample_13.jpg")
    expect(page.locator("#message")).to_contain_text("sample_10.jpg is left open")
    page.get_by_role("button", name="Previous photo").click()
    on_photo(page, "sample_10.jpg")
    page.get_by_role("button", name="Done, next").click()
    expect(page.locator("#photo-name")).not_to_have_text("sample_10.jpg")
    saved(page)
    assert ghost_server.photo(nobody)["completeness"]["state"] == "complete"


def test_two_labellers_get_different_photos_and_boxes_say_whose(
    ghost_server: LabelServer, prepared: Path, browser: Browser
) -> None:
    first, *_ = ghost_server.photos()
    opened = []
    for name in ("Ada", "Ben"):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(ghost_server.address + "/")
        page.get_by_role("button", name="Who are you?").click()
        page.get_by_label("Your name is kept").fill(name)
        page.get_by_role("button", name="Keep").click()
        expect(page.get_by_role("button", name=f"as {name}")).to_be_visible()
        opened.append(page)
    ada, ben = opened
    open_editor(ada, ghost_server, f"/labels/{first}#continue")
    expect(ada.get_by_role("button", name="as Ada")).to_be_visible()
    ada.wait_for_load_state("networkidle")
    press(ada, "b")
    saved(ada)
    origin = view(LabelStore(prepared), first).bibs.boxes[0].origin
    assert origin is not None
    assert (origin.how, origin.by) == ("drawn", "Ada")
    open_editor(ben, ghost_server, f"/labels/{first}#continue")
    expect(ben.locator("#message")).to_contain_text("open elsewhere")  # all three are Ada's: one open, two at hand
    ada.goto(ghost_server.address + "/staging/")
    ben.wait_for_timeout(300)
    press(ben, "i")
    expect(ben.locator("#photo-name")).not_to_have_text("sample_03.jpg")
    for page in opened:
        page.context.close()


def test_a_blind_audit_shows_neither_labels_nor_suggestions(
    tiny_set: Path, tiny_server: ServerThread, page: Page
) -> None:
    drawn, asked = draw_audit(LabelStore(tiny_set), 2), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(tiny_server.address + "/audit/")
    assert grave(page) == []
    page.get_by_role("link", name="Continue the audit").click()
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    drawn.sort(key=lambda photo: photo not in page.url)
    assert grave(page) == []
    expect(page.locator("#boxes .box")).to_have_count(0)
    expect(page.locator("#accept, #filters")).to_have_count(2)
    for control in page.locator("#accept, #filters").all():
        expect(control).to_be_hidden()
    draw(page, {"x": 0.05, "y": 0.05, "w": 0.2, "h": 0.1})
    press(page, "d")
    page.wait_for_url(f"**/{drawn[1]}")
    press(page, "n")
    all_done(page)
    blind = LabelStore(tiny_set).audit().photos
    assert [blind[photo].bibs.labeled for photo in drawn] == [True, True]
    open_editor(page, tiny_server, f"/audit/faces/{drawn[0]}")
    draw(page, {"x": 0.05, "y": 0.05, "w": 0.2, "h": 0.1})
    saved(page)
    assert not [url for url in asked if "/api/people/near" in url], "who it may be is a suggestion, too"
    page.goto(tiny_server.address + "/audit/")
    expect(page.get_by_role("link", name="Continue the audit")).to_have_attribute("href", f"/audit/faces/{drawn[0]}")
    expect(page.locator("main")).to_contain_text("seen blind, and not labelled")


@pytest.mark.parametrize(("width", "height"), [(1024, 700), (720, 450), (512, 384)])
def test_nothing_is_out_of_reach_in_a_small_or_zoomed_window(
    ghost_server: LabelServer, browser: Browser, width: int, height: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": height})
    for path in ("/persons/", "/labels/", "/links/"):
        open_editor(page, ghost_server, path + ghost_server.photos()[2])
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{path} scrolls sideways at {width}"
        for control in ("#filter-show", "#filter-tag", "#accept", "#done", "#none", "#show-help", "#next"):
            page.locator(control).scroll_into_view_if_needed()
            expect(page.locator(control)).to_be_in_viewport()
    page.close()


def touch(session: CDPSession, kind: str, *points: tuple[float, float]) -> None:
    fingers = [{"x": x, "y": y, "id": n} for n, (x, y) in enumerate(points)]
    session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})


def test_a_tablet_draws_with_one_finger_moves_by_choice_and_pinches_with_two(
    ghost_server: LabelServer, browser: Browser
) -> None:
    context = browser.new_context(viewport={"width": 1024, "height": 768}, has_touch=True)
    page = context.new_page()
    session = context.new_cdp_session(page)
    nobody = ghost_server.photos()[1]
    open_editor(page, ghost_server, f"/labels/{nobody}")
    at = in_window(page, {"x": 0.2, "y": 0.2, "w": 0.3, "h": 0.3})
    start, end = (at["left"], at["top"]), (at["right"], at["bottom"])
    touch(session, "touchStart", start)
    touch(session, "touchMove", end)
    touch(session, "touchEnd")
    expect(page.locator("#boxes .box")).to_have_count(1)
    before = page.locator("#zoom").inner_text()
    x, y = start
    touch(session, "touchStart", (x, y), (x + 60, y))
    touch(session, "touchMove", (x - 40, y), (x + 160, y))
    touch(session, "touchEnd")
    expect(page.locator("#zoom")).not_to_have_text(before)
    expect(page.locator("#boxes .box")).to_have_count(1)
    page.get_by_role("button", name="One finger draws").click()
    view_before = page.locator("#stage .shapes").get_attribute("transform")
    touch(session, "touchStart", (500, 300))
    touch(session, "touchMove", (540, 340))
    touch(session, "touchEnd")
    expect(page.locator("#stage .shapes")).not_to_have_attribute("transform", view_before or "")
    expect(page.locator("#boxes .box")).to_have_count(1)
    context.close()


def test_a_phone_shows_labels_and_changes_none(tiny_server: LabelServer, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page = context.new_page()
    photo = tiny_server.photos()[0]
    open_editor(page, tiny_server, f"/labels/{photo}")
    expect(page.locator("#saving")).to_contain_text("Read only")
    expect(page.locator("#done")).to_be_hidden()
    before = tiny_server.photo(photo)
    press(page, "b", "d")
    page.wait_for_timeout(500)
    assert tiny_server.photo(photo) == before
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    context.close()


def test_no_key_is_lost_while_saves_are_under_way(tmp_path: Path, browser: Browser) -> None:
    assert soak_keys(tmp_path, 5, seed=7, browser=browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(ghost_server: LabelServer, browser: Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1280, "height": 800})  # type: ignore[arg-type]
    open_editor(page, ghost_server, f"/persons/{ghost_server.photos()[2]}")
    problems = grave(page)
    press(page, "Shift+A", "Tab")
    saved(page)
    problems += grave(page)
    for path in ("/", "/persons/", "/persons/?q=sample&sort=-date", "/audit/", "/labels/?show=everything"):
        page.goto(ghost_server.address + path)
        problems += grave(page)
    assert problems == []
    page.close()
