"""A whole round of labelling, from prepared photos to a frozen set: by keyboard alone, and by mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.references.frozen import load_frozen
from harness.types import Split
from tests.browser.labeling_server import (
    LabelServer,
    all_done,
    boxes,
    centre,
    click,
    draw,
    on_photo,
    open_editor,
    press,
    saved,
    tab_to,
)

pytestmark = pytest.mark.browser


def type_text(page: Page, text: str) -> None:
    press(page, "Enter")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type(text)
    press(page, "Enter")
    expect(page.locator("#stage")).to_be_focused()


def test_by_keyboard_alone(prepared_server: LabelServer, prepared: Path, page: Page) -> None:
    near, nobody, crowd = prepared_server.photos()
    page.goto(prepared_server.address + "/")
    tab_to(page, page.get_by_role("link", name="Continue labelling bibs"))
    press(page, "Enter")

    on_photo(page, "sample_03.jpg")
    suggested = len(prepared_server.photo(near)["ghosts"]["bibs"])
    for _ in range(suggested):
        press(page, "a")
    press(page, "b", "Shift+ArrowRight", "Control+ArrowDown", "3")
    type_text(page, "62?")
    press(page, "t", "ArrowRight", "Space", "Escape", "s", "d")

    on_photo(page, "sample_10.jpg")
    press(page, "n")
    on_photo(page, "sample_13.jpg")
    press(page, "x", "Shift+A", "d")
    all_done(page)
    record = prepared_server.photo(near)
    assert boxes(record)[-1] == ("62?", "bib_obscured")
    assert record["bibs"]["tags"] == ["dark_bib"]
    assert prepared_server.photo(nobody)["bibs"] == {"labeled": True, "boxes": [], "tags": ["no_bib"]}
    assert [scope for _, scope in boxes(prepared_server.photo(crowd))].count("not_bib") == 1

    tab_to(page, page.get_by_role("link", name="faces", exact=True))
    press(page, "Enter")
    on_photo(page, "sample_13.jpg")
    press(page, "PageUp")
    on_photo(page, "sample_10.jpg")
    press(page, "n")
    on_photo(page, "sample_13.jpg")
    press(page, "Shift+A", "Tab")
    type_text(page, "Ada")
    press(page, "t", "Space", "Escape", "Tab", "Enter")
    page.keyboard.type("anon")
    press(page, "ArrowDown", "Enter")
    expect(page.locator("#text")).to_have_value("anonymous_1")
    press(page, "d")
    on_photo(page, "sample_03.jpg")
    press(page, "Shift+A", "d")
    all_done(page)
    faces = prepared_server.photo(crowd)["faces"]["boxes"]
    assert [face["identity"] for face in faces[:2]] == ["Ada", "anonymous_1"]
    assert faces[0]["tags"] == ["tiny"]

    tab_to(page, page.get_by_role("link", name="Links", exact=True))
    press(page, "Enter")
    tab_to(page, page.get_by_role("link", name="Continue labelling"))
    press(page, "Enter")
    on_photo(page, "sample_03.jpg")
    press(page, "Tab", "1")
    expect(page.locator("#message")).to_contain_text("linked")
    press(page, "d")
    on_photo(page, "sample_13.jpg")
    press(page, "n")
    all_done(page)
    assert prepared_server.photo(crowd)["links"] == []
    freeze_by_keyboard(page, "by_keyboard")

    frozen = load_frozen(prepared, "by_keyboard", Split.FULL)
    assert {photo.sha256 for photo in frozen.photos} == {near, nobody, crowd}


def freeze_by_keyboard(page: Page, name: str) -> None:
    tab_to(page, page.get_by_role("link", name="Staging"))
    press(page, "Enter")
    expect(page.get_by_text("known negative", exact=False).first).to_be_visible()
    tab_to(page, page.locator("#freeze-name"))
    page.keyboard.type(name)
    press(page, "Enter")
    expect(page.locator("#freeze-result")).to_contain_text(f"Frozen {name}: 3 photos")


def test_by_mouse(ghost_server: LabelServer, prepared: Path, page: Page) -> None:
    near, nobody, crowd = ghost_server.photos()
    page.goto(ghost_server.address + "/")
    page.get_by_role("link", name="Continue labelling bibs").click()
    on_photo(page, "sample_03.jpg")
    ghosts = ghost_server.photo(near)["ghosts"]["bibs"]
    page.mouse.dblclick(*centre(page, ghosts[0]))
    expect(page.locator("#count")).to_contain_text("1")
    drawn = {"x": 0.05, "y": 0.05, "w": 0.2, "h": 0.1}
    draw(page, drawn)
    page.get_by_role("radio", name="clipped").click()
    page.locator("#text").fill("2085")
    page.get_by_role("button", name="partial bib").click()
    page.get_by_role("button", name="Done, next").click()

    on_photo(page, "sample_10.jpg")
    page.locator("#none").click()
    on_photo(page, "sample_13.jpg")
    page.locator("#accept-all").click()
    page.get_by_role("radio", name="holdout").check()
    page.get_by_role("button", name="Done, next").click()
    all_done(page)
    record = ghost_server.photo(near)
    assert boxes(record)[-1] == ("2085", "bib_clipped")
    assert {side: record["bibs"]["boxes"][-1][side] for side in "xywh"} == pytest.approx(drawn, abs=0.01)
    assert record["bibs"]["tags"] == ["partial_bib"]
    assert ghost_server.photo(crowd)["split"] == "holdout"

    page.get_by_role("link", name="Faces", exact=True).click()
    page.get_by_role("link", name="sample_10.jpg").click()
    on_photo(page, "sample_10.jpg")
    page.locator("#none").click()
    on_photo(page, "sample_13.jpg")
    for name in ("sample_13.jpg", "sample_03.jpg"):
        on_photo(page, name)
        page.locator("#accept-all").click()
        page.get_by_role("button", name="Done, next").click()
    all_done(page)

    open_editor(page, ghost_server, f"/links/{near}")
    record = ghost_server.photo(near)
    click(page, record["bibs"]["boxes"][0])
    click(page, record["faces"]["boxes"][0])
    saved(page)
    assert ghost_server.photo(near)["links"] == [[0, 0]]
    assert ghost_server.photo(near)["completeness"]["links"] is False, "saved, and nobody has called it done"
    expect(page.locator("#count")).to_have_text("1 linked, not done yet")
    page.get_by_role("button", name="Done, next").click()
    on_photo(page, "sample_13.jpg")
    page.get_by_role("button", name="Done, next").click()
    all_done(page)

    page.get_by_role("link", name="Staging").click()
    page.locator("#freeze-name").fill("by_mouse")
    page.get_by_role("button", name="Freeze").click()
    expect(page.locator("#freeze-result")).to_contain_text("Frozen by_mouse: 3 photos")
    assert len(load_frozen(prepared, "by_mouse", Split.FULL).photos) == 3
    assert nobody in {photo.sha256 for photo in load_frozen(prepared, "by_mouse", Split.FULL).photos}


def test_a_face_that_is_answered_and_saved_is_not_done_until_somebody_says_so(
    ghost_server: LabelServer, page: Page
) -> None:
    crowd = max(ghost_server.photos(), key=lambda photo: len(ghost_server.photo(photo)["ghosts"]["faces"]))
    suggested = len(ghost_server.photo(crowd)["ghosts"]["faces"])
    open_editor(page, ghost_server, f"/faces/labels/{crowd}")
    press(page, "a")
    saved(page)
    record = ghost_server.photo(crowd)
    assert suggested > 1 == len(record["faces"]["boxes"])
    assert (record["faces"]["labeled"], record["completeness"]["faces"]) == (False, False)
    expect(page.locator("#labeled")).not_to_be_checked()
    press(page, "d")
    page.wait_for_url(lambda address: crowd not in address)
    assert ghost_server.photo(crowd)["completeness"]["faces"]
