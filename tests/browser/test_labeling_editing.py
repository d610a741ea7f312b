"""Edits in the browser: what a gesture changes, what undo brings back, and that links stay with their boxes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from harness.tracking.store import LocalStore
from tests.browser.labeling_server import (
    LabelServer,
    ServerThread,
    boxes,
    centre,
    click,
    drag,
    draw,
    in_window,
    on_photo,
    open_editor,
    press,
    saved,
)
from tests.labeling.runs import STRANGER, keep_run, seen

pytestmark = pytest.mark.browser


def labelled(server: LabelServer, **wanted: int) -> str:
    """The first photo that has as many boxes as wanted."""
    for sha256 in server.photos():
        if all(len(server.photo(sha256)[name]["boxes"]) == count for name, count in wanted.items()):
            return sha256
    raise AssertionError(f"no photo with {wanted}")


def view_of(page: Page) -> str:
    return str(page.locator("#stage .shapes").get_attribute("transform"))


def test_zoomed_edits_change_only_the_dragged_edge(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1)
    open_editor(page, tiny_server, f"/labels/{sha256}")
    before = tiny_server.photo(sha256)["bibs"]["boxes"][0]
    press(page, "Tab", "z")
    page.mouse.move(*centre(page, before))
    page.mouse.wheel(0, -240)
    expect(page.locator("#zoom")).not_to_have_text("100 %")
    page.wait_for_timeout(100)

    edges = [("right", (13, 5), {"w"}), ("left", (-9, 7), {"x", "w"}), ("bottom", (4, -11), {"h"})]
    for edge, by, changed in edges:
        was = tiny_server.photo(sha256)["bibs"]["boxes"][0]
        at = in_window(page, was)
        middle = centre(page, was)
        start = (at[edge], middle[1]) if edge in ("left", "right") else (middle[0], at[edge])
        drag(page, start, (start[0] + by[0], start[1] + by[1]))
        saved(page)
        now = tiny_server.photo(sha256)["bibs"]["boxes"][0]
        assert {side for side in "xywh" if now[side] != was[side]} == changed
        if edge == "left":
            assert now["x"] + now["w"] == was["x"] + was["w"], "the far edge keeps its exact value"

    was = tiny_server.photo(sha256)["bibs"]["boxes"][0]
    press(page, "Alt+ArrowUp", "Control+Shift+ArrowRight", "ArrowRight")
    saved(page)
    now, record = tiny_server.photo(sha256)["bibs"]["boxes"][0], tiny_server.photo(sha256)
    pixel = {"x": 1 / record["width"], "y": 1 / record["height"]}
    assert now["x"] == pytest.approx(was["x"] + pixel["x"], abs=1e-9)
    assert now["y"] == pytest.approx(was["y"] - pixel["y"], abs=1e-9)
    assert now["w"] == pytest.approx(was["w"] + 10 * pixel["x"], abs=1e-9)
    assert now["y"] + now["h"] == was["y"] + was["h"]


def test_undo_and_redo_over_everything_with_the_view_kept(ghost_server: LabelServer, page: Page) -> None:
    sha256 = ghost_server.photos()[2]
    open_editor(page, ghost_server, f"/labels/{sha256}")
    ghosts = page.locator("#boxes .ghost")
    suggested = ghosts.count()
    assert suggested >= 1
    steps: list[list[str]] = [["a"], ["2"], ["Enter", *"62?", "Enter"], ["Shift+ArrowLeft"], ["Delete"], ["s"]]
    for keys in steps:
        if keys[0] == "2":
            press(page, "Escape", "Tab")
        press(page, *keys)
    draw(page, {"x": 0.05, "y": 0.05, "w": 0.1, "h": 0.1})
    saved(page)
    final = ghost_server.photo(sha256)
    press(page, "+", "+")
    page.wait_for_timeout(50)
    view = view_of(page)

    for _ in range(7):
        press(page, "Control+z")
    saved(page)
    record = ghost_server.photo(sha256)
    assert record["bibs"] == {"labeled": False, "boxes": [], "tags": []}
    assert record["split"] != final["split"]
    expect(ghosts).to_have_count(suggested)
    press(page, "Control+z")
    expect(page.locator("#message")).to_have_text("Nothing to undo.")
    for _ in range(3):
        press(page, "Control+Shift+z")
    saved(page)
    assert boxes(ghost_server.photo(sha256)) == [("62?", "bib_clipped")]
    for _ in range(4):
        press(page, "Control+y")
    saved(page)
    record = ghost_server.photo(sha256)
    assert (record["bibs"], record["split"]) == (final["bibs"], final["split"])
    assert view_of(page) == view


def test_undo_and_redo_of_links(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1, faces=1)
    open_editor(page, tiny_server, f"/links/{sha256}")
    press(page, "1")
    saved(page)
    assert tiny_server.photo(sha256)["links"] == []
    press(page, "Control+z")
    saved(page)
    assert tiny_server.photo(sha256)["links"] == [[0, 0]]
    press(page, "Control+y")
    saved(page)
    assert tiny_server.photo(sha256)["links"] == []


def test_deleting_a_box_keeps_the_other_links_right(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1, faces=1)
    first = tiny_server.photo(sha256)["bibs"]["boxes"][0]
    open_editor(page, tiny_server, f"/labels/{sha256}")
    draw(page, {"x": 0.05, "y": 0.7, "w": 0.2, "h": 0.1})
    draw(page, {"x": 0.6, "y": 0.7, "w": 0.2, "h": 0.1})
    until(page, lambda: len(tiny_server.photo(sha256)["bibs"]["boxes"]) == 3)
    open_editor_when_saved(page, tiny_server, f"/faces/labels/{sha256}")
    draw(page, {"x": 0.6, "y": 0.1, "w": 0.1, "h": 0.1})
    until(page, lambda: len(tiny_server.photo(sha256)["faces"]["boxes"]) == 2)
    open_editor_when_saved(page, tiny_server, f"/links/{sha256}")
    record = tiny_server.photo(sha256)
    click(page, record["bibs"]["boxes"][2])
    click(page, record["faces"]["boxes"][1])
    saved(page)
    assert tiny_server.photo(sha256)["links"] == [[0, 0], [2, 1]]

    open_editor(page, tiny_server, f"/labels/{sha256}")
    click(page, record["bibs"]["boxes"][1])
    press(page, "Delete")
    saved(page)
    assert tiny_server.photo(sha256)["links"] == [[0, 0], [1, 1]]
    click(page, first)
    press(page, "Delete")
    saved(page)
    assert tiny_server.photo(sha256)["links"] == [[0, 1]]


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait until the server has what was drawn."""
    for _ in range(100):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError("not saved within ten seconds")


def open_editor_when_saved(page: Page, server: LabelServer, path: str) -> None:
    saved(page)
    open_editor(page, server, path)


def test_small_boxes_are_on_top_tab_goes_round_and_shift_draws_over(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1)
    inner = tiny_server.photo(sha256)["bibs"]["boxes"][0]
    open_editor(page, tiny_server, f"/labels/{sha256}")
    outer = {"x": inner["x"] - 0.1, "y": inner["y"] - 0.1, "w": inner["w"] + 0.2, "h": inner["h"] + 0.2}
    draw(page, outer)
    selected = page.locator("#boxes [aria-selected=true] .number")
    expect(selected).to_have_text("2")
    press(page, "Escape")
    click(page, inner)
    expect(selected).to_have_text("1")
    click(page, inner)
    expect(selected).to_have_text("2")
    press(page, "Tab")
    expect(selected).to_have_text("1")
    press(page, "Shift+Tab")
    expect(selected).to_have_text("2")
    page.keyboard.down("Shift")
    draw(page, {"x": inner["x"] + 0.02, "y": inner["y"] + 0.02, "w": 0.05, "h": 0.03})
    page.keyboard.up("Shift")
    expect(page.locator("#boxes [role=option]")).to_have_count(3)
    saved(page)
    assert tiny_server.photo(sha256)["bibs"]["boxes"][0] == inner

    at = centre(page, inner)
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 30, at[1] + 30, steps=3)
    press(page, "Escape")
    page.mouse.up()
    saved(page)
    assert tiny_server.photo(sha256)["bibs"]["boxes"][0] == inner, "Escape takes a gesture back"


def test_space_and_the_middle_button_move_the_photo(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1)
    open_editor(page, tiny_server, f"/labels/{sha256}")
    fitted = view_of(page)
    page.keyboard.down("Space")
    drag(page, (300, 300), (380, 340))
    page.keyboard.up("Space")
    page.wait_for_timeout(50)
    moved = view_of(page)
    assert moved != fitted
    page.mouse.move(300, 300)
    page.mouse.down(button="middle")
    page.mouse.move(220, 260, steps=3)
    page.mouse.up(button="middle")
    page.wait_for_timeout(50)
    assert view_of(page) != moved
    press(page, "f")
    page.wait_for_timeout(50)
    assert view_of(page) == fitted
    assert len(tiny_server.photo(sha256)["bibs"]["boxes"]) == 1


def test_answers_outlive_a_reload_and_new_suggestions(ghost_server: LabelServer, prepared: Path, page: Page) -> None:
    sha256 = ghost_server.photos()[2]
    open_editor(page, ghost_server, f"/faces/labels/{sha256}")
    suggested = page.locator("#boxes .ghost").count()
    press(page, "x", "a")
    saved(page)
    labels = ghost_server.photo(sha256)["faces"]
    file = prepared / "suggestions.json"
    file.write_text(file.read_text().replace('"revision": 1', '"revision": 2', 1))
    page.reload()
    on_photo(page, "sample_13.jpg")
    expect(page.locator("#boxes .ghost")).to_have_count(suggested - 2)
    assert ghost_server.photo(sha256)["faces"] == labels
    assert [scope for _, scope in boxes({"faces": labels}, "faces")] == ["exclude", "keep"]


def test_a_number_that_is_none_is_refused_where_it_is_typed(tiny_server: LabelServer, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1)
    before = tiny_server.photo(sha256)["bibs"]
    open_editor(page, tiny_server, f"/labels/{sha256}")
    press(page, "Tab", "Enter")
    page.keyboard.type("4 1;")
    press(page, "Enter")
    expect(page.locator("#message")).to_contain_text("is no number")
    saved(page)
    assert tiny_server.photo(sha256)["bibs"] == before


def test_filters_narrow_the_queue_and_keys_walk_it(tiny_server: LabelServer, page: Page) -> None:
    first, second, third = tiny_server.photos()
    open_editor(page, tiny_server, f"/labels/{first}")
    names = [tiny_server.photo(sha256)["name"] for sha256 in (first, second, third)]
    press(page, "PageDown")
    on_photo(page, names[1])
    expect(page.locator("#position")).to_have_text("2 / 3")
    press(page, "PageUp")
    on_photo(page, names[0])
    page.go_back()
    on_photo(page, names[1])
    page.locator("#labeled").uncheck()
    saved(page)
    press(page, "/")
    page.locator("#filter-show").select_option("unlabelled")
    expect(page.locator("#position")).to_have_text("1 / 1")
    expect(page.locator("#done-count")).to_have_text("0 of 1 done")
    assert page.url.endswith(f"{second}?show=unlabelled")
    page.reload()
    on_photo(page, names[1])
    expect(page.locator("#filter-show")).to_have_value("unlabelled")


def test_keys_are_shown_with_a_question_mark(tiny_server: LabelServer, page: Page) -> None:
    open_editor(page, tiny_server, f"/labels/{tiny_server.photos()[0]}")
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    expect(page.locator("#help")).to_contain_text("accept, and go to the next")
    press(page, "Escape")
    expect(page.locator("#help")).to_be_hidden()


def test_a_label_that_was_never_drawn_gets_its_place(tiny_server: LabelServer, tiny_set: Path, page: Page) -> None:
    sha256 = labelled(tiny_server, bibs=1, faces=1)
    file = tiny_set / "bib_ground_truth.json"
    content = json.loads(file.read_text())
    content["photos"][sha256]["boxes"][0] |= {"x": 0.0, "y": 0.0, "w": 0.0, "h": 0.0}
    file.write_text(json.dumps(content))
    open_editor(page, tiny_server, f"/labels/{sha256}")
    expect(page.locator("#boxes")).to_contain_text("not drawn")
    press(page, "Tab")
    draw(page, {"x": 0.4, "y": 0.3, "w": 0.2, "h": 0.1})
    saved(page)
    (box,) = tiny_server.photo(sha256)["bibs"]["boxes"]
    assert box["number"] == content["photos"][sha256]["boxes"][0]["number"]
    assert {side: box[side] for side in "xywh"} == pytest.approx({"x": 0.4, "y": 0.3, "w": 0.2, "h": 0.1}, abs=0.01)
    assert tiny_server.photo(sha256)["links"] == [[0, 0]]


def test_a_suspect_is_outlined_until_a_label_answers_it(tiny_set: Path, tmp_path: Path, page: Page) -> None:
    source = StagingSource(LabelStore(tiny_set))
    photo = next(sha256 for sha256, labels in source.contents().bibs.photos.items() if labels.labeled)
    store = LocalStore(str(tmp_path / "mlruns"), "harness").open()
    for score in (0.9, 0.8):
        keep_run(store, photo, seen(STRANGER, score))
    server = ServerThread(source, tmp_path / "mlruns")
    server.history.wait()
    server.start()
    open_editor(page, server, f"/faces/labels/{photo}")
    expect(page.locator("#suspect")).to_be_hidden()
    open_editor(page, server, f"/labels/{photo}")
    outline = page.locator("#stage .shape.suspected")
    expect(page.locator("#suspect")).to_have_text("▲ Bib 88? no label there; seen by 2 of 2 runs")
    expect(outline).to_have_count(1)
    expect(page.locator("#stage .label.suspected")).to_have_text("Bib 88? 2 of 2 runs")
    draw(page, {"x": STRANGER.x, "y": STRANGER.y, "w": STRANGER.w, "h": STRANGER.h})
    saved(page)
    expect(page.locator("#suspect")).to_be_hidden()
    expect(outline).to_have_count(0)
    press(page, "Control+z")
    expect(outline).to_have_count(1)
    server.stop()
