"""Labelling people in a hurry: answers that are on their way, groups that change under the hand, names that the server
makes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from harness.labeling.people.routes import crop_address
from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from tests.browser.labeling_server import LabelServer, ServerThread, open_editor, press
from tests.browser.test_workbench import go_to, mistaken, named, open_workbench, starting
from tests.labeling.drawn_people import a_race, face_place, finder, make_set

pytestmark = pytest.mark.browser


@pytest.fixture
def race(tmp_path: Path) -> LabelStore:
    return make_set(tmp_path / "race", a_race())


@pytest.fixture
def server(race: LabelStore, tmp_path: Path) -> Iterator[LabelServer]:
    made = ServerThread(StagingSource(race), tmp_path / "mlruns", lambda: finder(race.root, tmp_path / "stages"))
    made.start()
    yield made
    made.stop()


def slow(page: Page, path: str, milliseconds: int = 600) -> None:
    """Pages that are opened from now on wait so long before they send a request to a path."""
    page.add_init_script(
        f"""const quick = window.fetch;
        window.fetch = async (address, options) => {{
          const wanted = options?.method === "POST" && String(address).includes({json.dumps(path)});
          if (wanted) await new Promise((resolve) => setTimeout(resolve, {milliseconds}));
          return quick(address, options);
        }};"""
    )


def never_fresh(page: Page) -> None:
    """Pages that are opened from now on think that groups are still being made, and ask again and again."""
    page.add_init_script(
        """const quick = window.fetch;
        window.fetch = async (address, options) => {
          const answer = await quick(address, options);
          if (!String(address).startsWith("/api/people/groups")) return answer;
          return new Response(JSON.stringify({ ...(await answer.json()), fresh: false }), { status: answer.status });
        };"""
    )


def say_elsewhere(server: LabelServer, race: LabelStore, name: str, *files: str) -> None:
    """Somebody else names the first face of some photos."""
    photos = {record.names[0]: photo for photo, record in race.contents().index.photos.items()}
    crops = [crop_address(photos[file], face_place(0)) for file in files]
    groups = server.get("/api/people/groups")["groups"]
    faces = [face for group in groups for face in group["faces"] if face["crop"] in crops]
    assert len(faces) == len(files)
    body = json.dumps({"do": "name", "faces": {face["face"]: None for face in faces}, "name": name}).encode()
    request = Request(f"{server.address}/api/people/changes", body, {"Content-Type": "application/json"})
    assert urlopen(request).status == 200


def test_nobody_leaves_with_answers_that_are_not_saved(server: LabelServer, race: LabelStore, page: Page) -> None:
    slow(page, "/api/people/changes")
    open_workbench(page, server)
    go_to(page, "Ada_0.png")
    press(page, "Enter")
    go_to(page, "Dee_0.png")
    press(page, "b")
    page.get_by_role("link", name="Known people").click()
    expect(page.locator("h1")).to_have_text("2 known people")
    assert sorted(named(race)) == ["401", "anonymous_1"]
    open_workbench(page, server)
    go_to(page, "Eve_0.png")
    press(page, "b", "o")
    expect(page.locator("#photo-name")).to_be_visible()
    assert sorted(named(race)) == ["401", "anonymous_1", "anonymous_2"]


def test_what_is_selected_is_not_regrouped_under_the_hand(server: LabelServer, race: LabelStore, page: Page) -> None:
    never_fresh(page)
    page.goto(f"{server.address}/people/")
    page.locator('.crop[title="Dee_0.png"]').wait_for()
    go_to(page, "Dee_0.png")
    press(page, "Space")  # one of four
    say_elsewhere(server, race, "Deirdre", "Dee_0.png")
    page.wait_for_timeout(1500)  # the page would have asked for groups twice
    press(page, "n")
    page.keyboard.type("Zoe")
    press(page, "Enter")
    expect(page.locator("#message")).to_contain_text("changed by somebody else")
    assert named(race) == {"Deirdre": ["Dee_0.png"]}, "the other three are nobody's"


def test_the_current_group_stays_where_its_faces_are(server: LabelServer, race: LabelStore, page: Page) -> None:
    never_fresh(page)
    page.goto(f"{server.address}/people/")
    page.locator('.crop[title="Dee_0.png"]').wait_for()
    first = page.locator("[data-group].current .crop").evaluate_all("found => found.map((one) => one.title)")
    go_to(page, "Dee_0.png")
    say_elsewhere(server, race, "Deirdre", "Dee_0.png")  # the group was called after this face
    say_elsewhere(server, race, "Somebody", *first)
    expect(page.locator("#left")).to_contain_text(f"{30 - 1 - len(first)} faces left")
    expect(page.locator('.current .crop[title="Dee_1.png"]')).to_have_count(1)


def test_keys_wait_for_a_name_that_the_server_makes(server: LabelServer, race: LabelStore, page: Page) -> None:
    photos = {record.names[0]: photo for photo, record in race.contents().index.photos.items()}
    slow(page, "/api/names/anonymous")
    open_editor(page, server, f"/faces/labels/{photos['Dee_0.png']}")
    press(page, "a", "Tab", "Enter")
    page.keyboard.type("anon")
    press(page, "ArrowDown", "Enter", "d")
    expect(page.locator("#photo-name")).not_to_have_text("Dee_0.png")
    assert named(race) == {"anonymous_1": ["Dee_0.png"]}
    assert race.contents().faces.photos[photos["Dee_0.png"]].labeled
    open_editor(page, server, f"/persons/{photos['Eve_0.png']}")
    press(page, "a", "Tab", "w")
    page.keyboard.type("anon")
    press(page, "ArrowDown", "ArrowDown", "Enter", "d")  # not the one that is known by now
    expect(page.locator("#photo-name")).not_to_have_text("Eve_0.png")
    assert named(race) == {"anonymous_1": ["Dee_0.png"], "anonymous_2": ["Eve_0.png"]}


def test_a_whole_name_of_the_start_list_counts_without_enter(server: LabelServer, race: LabelStore, page: Page) -> None:
    starting(race)
    photos = {record.names[0]: photo for photo, record in race.contents().index.photos.items()}
    open_editor(page, server, f"/faces/labels/{photos['Dee_0.png']}")
    press(page, "a", "Tab", "Enter")
    page.keyboard.type("Dee Dee Ramone")
    expect(page.locator("#offers [aria-selected=true]")).to_contain_text("Dee Dee Ramone")
    page.locator("#done").click()
    expect(page.locator("#photo-name")).not_to_have_text("Dee_0.png")
    assert named(race) == {"Dee Dee Ramone": ["Dee_0.png"]}


def test_suspects_are_answered_as_quickly_as_keys_are_pressed(
    server: LabelServer, race: LabelStore, page: Page
) -> None:
    mistaken(page, server)
    say_elsewhere(server, race, "Eve", "Eve_0.png")
    say_elsewhere(server, race, "eve", "Eve_1.png", "Eve_2.png", "Eve_3.png")
    slow(page, "/api/people/suspects")
    page.goto(f"{server.address}/people/suspects/")
    expect(page.locator("#title")).to_have_text("1 of 3 suspects")
    press(page, "b", "b", "b")
    expect(page.locator("#title")).to_have_text("No suspects")
    page.get_by_role("link", name="To name").click()
    expect(page.locator("#groups")).to_be_visible()
    assert len(race.reviews().answers) == 3
