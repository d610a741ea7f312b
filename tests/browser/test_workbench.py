"""The identity workbench as a person uses it: by keyboard alone, by mouse, read out; the suspects and the gallery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.people_actions import Hands, Labeller
from playwright.sync_api import Browser, Page, expect

from harness.labeling.people.routes import crop_address
from harness.labeling.source import StagingSource
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore
from tests.browser.labeling_server import LabelServer, ServerThread, open_editor, press, saved
from tests.browser.test_labeling_access import grave
from tests.labeling.drawn_people import a_race, face_place, finder, make_set

pytestmark = pytest.mark.browser

IDLE = 'body[data-fresh="true"]:has(#saving[data-state="saved"])'


@pytest.fixture
def race(tmp_path: Path) -> LabelStore:
    return make_set(tmp_path / "race", a_race())


@pytest.fixture
def server(race: LabelStore, tmp_path: Path) -> Iterator[LabelServer]:
    made = ServerThread(StagingSource(race), tmp_path / "mlruns", lambda: finder(race.root, tmp_path / "stages"))
    made.start()
    yield made
    made.stop()


def idle(page: Page) -> None:
    """Everything is saved, and what is left is regrouped."""
    page.wait_for_selector(IDLE, state="attached")


def open_workbench(page: Page, server: LabelServer) -> None:
    page.goto(f"{server.address}/people/")
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    idle(page)


def go_to(page: Page, file: str) -> None:
    """Make the group of a photo the current one, by keyboard."""
    for _ in range(40):
        titles = page.locator("[data-group].current .crop").evaluate_all("found => found.map((one) => one.title)")
        if file in titles:
            return
        page.keyboard.press("ArrowDown")
    raise AssertionError(f"no group has {file}")


def named(race: LabelStore) -> dict[str, list[str]]:
    contents = race.contents()
    found: dict[str, list[str]] = {}
    for photo, labels in contents.faces.photos.items():
        for box in labels.boxes:
            if box.identity:
                found.setdefault(box.identity, []).append(contents.index.photos[photo].names[0])
    return {name: sorted(files) for name, files in found.items()}


def test_a_race_is_named_by_keyboard_alone(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    expect(page.locator("#groups")).to_be_focused()
    expect(page.locator("#left")).to_have_text("30 faces left in 12 groups")
    go_to(page, "Ada_0.png")
    expect(page.locator("#accept")).to_contain_text("Accept as 401")
    press(page, "Enter")
    idle(page)
    go_to(page, "Dee_0.png")
    press(page, "Enter")  # nobody is proposed, so that the name is asked for
    page.keyboard.type("Dee")
    press(page, "Enter")
    idle(page)
    go_to(page, "Eve_0.png")
    press(page, "b")
    idle(page)
    assert {name: len(files) for name, files in named(race).items()} == {"401": 4, "Dee": 4, "anonymous_1": 4}
    press(page, "Control+z", "Control+z")
    idle(page)
    assert list(named(race)) == ["401"]
    press(page, "Control+Shift+z")
    idle(page)
    assert sorted(named(race)) == ["401", "Dee"]
    go_to(page, "Flo_3.png")
    press(page, "l")
    idle(page)
    press(page, "?")
    expect(page.locator("#help")).to_be_visible()
    press(page, "Escape")


def test_some_faces_of_a_group_are_named_split_and_refused(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    go_to(page, "Cy_0.png")
    press(page, "Space", "n")
    page.keyboard.type("Cyrus")
    press(page, "Enter")
    idle(page)
    go_to(page, "Cy_3.png")
    expect(page.locator("#group-title")).to_have_text("Looks like Cyrus")
    press(page, "1")
    idle(page)
    assert {name: len(files) for name, files in named(race).items()} == {"Cyrus": 4}
    go_to(page, "Bo_0.png")
    press(page, "Space", "s")
    idle(page)
    go_to(page, "Bo_0.png")
    expect(page.locator("#group-detail")).to_contain_text("1 face")
    assert len(race.contents().identities.cannot_link) == 3


def test_a_face_of_another_group_is_taken_along(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    go_to(page, "Dee_0.png")
    bo = page.locator('.crop[title="Bo_0.png"]')
    bo.click(modifiers=["Control"])
    expect(page.locator("#group-detail")).to_contain_text("5 selected")
    page.locator('.crop[title="Bo_1.png"]').click(modifiers=["Control"])
    bo.click(modifiers=["Control"])  # not he after all
    alike = page.locator("#alike button")  # also those that are out of sight
    expect(alike.nth(3)).to_be_visible()
    file = str(alike.nth(3).get_attribute("title"))
    alike.nth(3).click()
    expect(alike.nth(3)).to_have_attribute("aria-pressed", "true")
    press(page, "n")
    page.keyboard.type("Dee")
    press(page, "Enter")
    idle(page)
    assert named(race) == {"Dee": sorted(["Bo_1.png", file, *(f"Dee_{photo}.png" for photo in range(4))])}
    expect(page.locator("#left")).to_contain_text("24 faces left")


def test_faces_that_are_alone_stand_side_by_side(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    alone = page.locator(".line.alone .one")
    page.keyboard.press("ArrowUp")  # round to the last group
    expect(page.locator(".one.current")).to_have_count(1)
    count = alone.count()
    assert count > 2
    tops = alone.evaluate_all("found => found.map((one) => Math.round(one.getBoundingClientRect().top))")
    assert len(set(tops)) == 1
    page.keyboard.press("ArrowLeft")
    expect(alone.nth(count - 2)).to_have_class("one current")
    alone.nth(0).locator(".crop").click()
    expect(alone.nth(0)).to_have_class("one current")
    page.keyboard.press("b")
    idle(page)
    expect(alone).to_have_count(count - 1)
    assert list(named(race)) == ["anonymous_1"]


def test_by_mouse_a_face_is_dragged_to_another_group(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    ada = page.locator('.crop[title="Ada_0.png"]')
    bo = page.locator('.crop[title="Bo_0.png"]')
    bo.scroll_into_view_if_needed()
    ada.drag_to(bo)
    idle(page)
    assert len(race.contents().identities.must_link) == 1
    group = page.locator('.crop[title="Ada_0.png"]').locator("xpath=..")
    expect(group.locator('.crop[title="Bo_1.png"]')).to_have_count(1)
    page.locator('.crop[title="Dee_0.png"]').click()
    page.locator('.crop[title="Dee_1.png"]').click()
    page.locator("#bystander").click()
    idle(page)
    assert named(race) == {"anonymous_1": ["Dee_0.png", "Dee_1.png"]}
    page.locator("#undo").click()
    idle(page)
    assert named(race) == {}
    page.locator(".line.head").first.click()
    page.locator("#leave").click()
    idle(page)
    assert len(race.reviews().left_alone) == 5, "the group with two numbers is the most doubtful one"


def test_what_another_labeller_has_named_is_told(
    server: LabelServer, race: LabelStore, page: Page, browser: Browser
) -> None:
    open_workbench(page, server)
    go_to(page, "Ada_0.png")
    press(page, "=")  # from now on they are labels
    idle(page)
    go_to(page, "Ada_0.png")
    other = browser.new_page()
    open_workbench(other, server)
    go_to(other, "Ada_0.png")
    press(other, "b")
    idle(other)
    other.close()
    press(page, "n")
    page.keyboard.type("Ada")
    press(page, "Enter")
    expect(page.locator("#message")).to_contain_text("changed by somebody else")
    assert list(named(race)) == ["anonymous_1"]


def test_the_gallery_renames_everywhere_and_takes_it_back(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    go_to(page, "Ada_0.png")
    press(page, "Enter")
    idle(page)
    page.get_by_role("link", name="Known people").click()
    page.get_by_role("link", name="401").click()
    page.locator("#new-name").fill("Ada")
    expect(page.locator("#do-rename")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Ada")
    expect(page.locator("#rename-result")).to_contain_text("in 4 photos")
    assert list(named(race)) == ["Ada"]
    page.locator("#undo").click()
    expect(page.locator("h1")).to_have_text("401")
    assert list(named(race)) == ["401"]


def mistaken(page: Page, server: LabelServer) -> None:
    """Three faces of Ada, and one that is called Bo."""
    open_workbench(page, server)
    go_to(page, "Ada_0.png")
    press(page, "Space", "n")
    page.keyboard.type("Bo")
    press(page, "Enter")
    idle(page)
    go_to(page, "Ada_1.png")
    press(page, "n")
    page.keyboard.type("Ada")
    press(page, "Enter")
    idle(page)


def test_a_suspect_is_answered_with_one_key_and_remembered(server: LabelServer, race: LabelStore, page: Page) -> None:
    mistaken(page, server)
    page.get_by_role("link", name="Suspects").click()
    expect(page.locator("#words")).to_contain_text("near-identical faces")
    expect(page.locator(".side strong")).to_have_text(["Ada", "Bo"])
    press(page, "b")
    expect(page.locator("#title")).to_have_text("No suspects")
    page.reload()
    expect(page.locator("#title")).to_have_text("No suspects")
    assert sorted(named(race)) == ["Ada", "Bo"]


def test_a_suspect_is_answered_by_mouse_and_undone(server: LabelServer, race: LabelStore, page: Page) -> None:
    mistaken(page, server)
    page.goto(f"{server.address}/people/suspects/")
    page.locator('[data-answer="left"]').click()
    expect(page.locator("#title")).to_have_text("No suspects")
    assert list(named(race)) == ["Ada"]
    page.keyboard.press("Control+z")
    expect(page.locator(".side strong")).to_have_text(["Ada", "Bo"])
    page.locator("#open-right").click()
    expect(page.locator("#photo-name")).to_have_text("Ada_0.png")


def test_known_people_are_offered_in_the_editor(server: LabelServer, race: LabelStore, page: Page) -> None:
    open_workbench(page, server)
    go_to(page, "Ada_0.png")
    press(page, "ArrowRight", "Space", "ArrowRight", "Space", "n")
    page.keyboard.type("Ada")
    press(page, "Enter")
    idle(page)
    photos = {record.names[0]: photo for photo, record in race.contents().index.photos.items()}
    open_editor(page, server, f"/faces/labels/{photos['Ada_0.png']}")
    expect(page.locator("#known button").first).to_contain_text("Ada")
    expect(page.locator("#known button").last).to_contain_text("401")
    press(page, "q")
    saved(page)
    assert "Ada_0.png" in named(race)["Ada"]
    press(page, "r")
    saved(page)
    assert named(race)["401"] == ["Ada_0.png"], "the number of the linked bib"
    open_editor(page, server, f"/faces/labels/{photos['Bo_0.png']}")
    press(page, "a", "Enter")
    expect(page.locator("#offers [role=option]").first).to_contain_text("401")


def test_a_name_that_is_typed_in_full_comes_first_among_300(server: LabelServer, race: LabelStore, page: Page) -> None:
    from harness.references.files import FaceIdentities

    with race.edit() as draft:
        draft.put_head(FaceIdentities, names=[f"runner_{number}" for number in range(300, 0, -1)])
    open_workbench(page, server)
    press(page, "n")
    page.keyboard.type("runner_1")
    offers: Any = page.locator("#offers [role=option] span")
    expect(offers.first).to_have_text("runner_1")
    press(page, "ArrowDown", "Enter")
    idle(page)
    assert list(named(race)) == ["runner_1"]


def starting(race: LabelStore) -> None:
    """Seven people who are expected, three of them by the numbers that are on bibs."""
    names = ("Ada Lovelace", "Bo Diddley", "Cyrus the Great", "Dee Dee Ramone", "Eve Adams", "Alan Turing", "Flo Jo")
    with race.edit() as draft:
        listed = [Entrant(name=name, number=str(401 + place)) for place, name in enumerate(names)]
        draft.put_head(StartList, entrants=listed)


def test_who_is_on_the_start_list_is_named_with_a_few_keys(server: LabelServer, race: LabelStore, page: Page) -> None:
    starting(race)
    open_workbench(page, server)
    go_to(page, "Bo_0.png")
    expect(page.locator("#group-title")).to_have_text("Number 402: Bo Diddley")
    press(page, "Enter")
    idle(page)
    go_to(page, "Dee_0.png")
    press(page, "n", "d", "d", "Enter")  # the beginnings of two words
    idle(page)
    go_to(page, "Eve_0.png")
    press(page, "n", "4", "0", "5", "Enter")
    idle(page)
    assert sorted(named(race)) == ["Bo Diddley", "Dee Dee Ramone", "Eve Adams"]
    go_to(page, "Flo_0.png")
    press(page, "n", "A", "l")
    expect(page.locator("#offers [aria-selected=true]")).to_contain_text("Alan Turing")
    press(page, "ArrowUp", "Enter")  # not he: somebody who is called just so
    idle(page)
    assert "Al" in named(race)
    go_to(page, "Cy_0.png")
    press(page, "n", "a")
    expect(page.locator("#offers [role=option]").nth(1)).to_have_text(re.compile("^Alan Turing.*2$"))
    press(page, "2")  # the digit beside an offer, where no name goes on with one
    idle(page)
    assert "Alan Turing" in named(race)


def test_a_name_that_is_not_finished_says_nothing(server: LabelServer, race: LabelStore, page: Page) -> None:
    starting(race)
    open_workbench(page, server)
    go_to(page, "Dee_0.png")
    press(page, "n", "d", "e")
    page.locator(".line.head").first.click()
    idle(page)
    press(page, "n", "z")
    page.locator(".line.head").last.click()
    idle(page)
    assert named(race) == {}


def test_names_are_typed_one_after_the_other(server: LabelServer, race: LabelStore, page: Page) -> None:
    starting(race)
    open_workbench(page, server)
    go_to(page, "Dee_0.png")
    press(page, "t")
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#typing")).to_have_attribute("aria-pressed", "true")
    press(page, "d", "d", "Enter")
    idle(page)
    for _ in range(20):  # to a group that nobody is proposed for
        if page.locator("#accept").inner_text().startswith("Type"):
            break
        press(page, "Enter")
        idle(page)
    expect(page.locator("#text")).to_be_focused()
    press(page, "Escape", "t")
    expect(page.locator("#typing")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#groups")).to_be_focused()
    assert named(race)["Dee Dee Ramone"] == [f"Dee_{photo}.png" for photo in range(4)]


def test_the_number_in_the_editor_is_whose_it_is(server: LabelServer, race: LabelStore, page: Page) -> None:
    starting(race)
    photos = {record.names[0]: photo for photo, record in race.contents().index.photos.items()}
    open_editor(page, server, f"/persons/{photos['Ada_0.png']}")
    press(page, "Enter")
    expect(page.locator("#number")).to_be_focused()
    page.keyboard.type("406")  # misread: the name follows the number
    press(page, "Enter")
    saved(page)
    assert list(named(race)) == ["Alan Turing"]


def test_a_labeller_who_knows_everybody_takes_few_actions(
    server: LabelServer, race: LabelStore, browser: Browser
) -> None:
    """A small slice of `python -m bench.people_actions`: by B, Enter, digits and clicks alone."""
    index = race.contents().index.photos
    page = browser.new_page(viewport={"width": 1440, "height": 900}, base_url=server.address)
    open_workbench(page, server)
    truth = {photo: record.names[0].partition("_")[0] for photo, record in index.items()}
    main = {photo: crop_address(photo, face_place(0)) for photo in index}
    labeller = Labeller(Hands(page), truth, main, frozenset(truth.values()))
    labeller.work()
    page.close()
    assert sorted(len(files) for files in named(race).values()) == [4] * 6
    assert {len({file.partition("_")[0] for file in files}) for files in named(race).values()} == {1}
    assert labeller.hands.total <= 1.5 * len(index)
    assert labeller.hands.actions["characters"] == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(server: LabelServer, race: LabelStore, browser: Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1024, "height": 768})  # type: ignore[arg-type]
    mistaken(page, server)
    problems = {"groups": grave(page)}
    press(page, "n")
    problems["names"] = grave(page)
    starting(race)
    open_workbench(page, server)
    go_to(page, "Dee_0.png")
    press(page, "t", "d")
    expect(page.locator("#offers [aria-selected=true]")).to_contain_text("Dee Dee Ramone")
    expect(page.locator("#typing")).to_have_attribute("aria-pressed", "true")
    problems["names one after the other"] = grave(page)
    press(page, "Escape", "t", "?")
    problems["keys"] = grave(page)
    for path in ("/people/suspects/", "/people/known/", "/people/known/Ada"):
        page.goto(server.address + path)
        expect(page.locator("h1")).to_be_visible()
        problems[path] = grave(page)
    page.close()
    assert {where: found for where, found in problems.items() if found} == {}


def test_nothing_is_out_of_reach_at_1024_pixels(server: LabelServer, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1024, "height": 768})
    mistaken(page, server)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1024
    assert page.locator(".panel").evaluate("panel => panel.scrollWidth <= panel.clientWidth"), "nothing is cut off"
    for button in page.locator(".panel button").all():
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 1024
    page.close()
