"""People, tables and boxes of a run, as somebody looks at them: by keyboard alone, in light and in dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import harness
from harness.labeling.source import StagingSource
from harness.references.adding import add_photos
from harness.references.store import LabelStore
from harness.tracking.store import LocalStore
from tests.browser.labeling_server import ServerThread, tab_to
from tests.browser.test_labeling_access import grave, themed
from tests.labeling.conftest import hash_of
from tests.labeling.people_runs import NEAR, ODD, keep_people

pytestmark = pytest.mark.browser
__all__ = ["themed"]  # a fixture of the pages of labels


class Served(NamedTuple):
    """Where the pages are, the run with people and the one with items, each beside another."""

    address: str
    people: str
    items: str
    photos: list[str]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("explored")
    (folder / "race").mkdir()
    for number, name in enumerate("abcd"):
        Image.new("RGB", (120, 80), (40 * number, 90, 120)).save(folder / "race" / f"{name}.jpg")
    labels = LabelStore(folder / "set")
    add_photos(labels, sorted((folder / "race").iterdir()))
    photos = [hash_of(labels, f"{name}.jpg") for name in "abcd"]
    shutil.copytree(empty_store, folder / "mlruns")
    store = LocalStore(str(folder / "mlruns"), "harness").open()
    base, people = (keep_people(store, folder / "set", photos, threshold) for threshold in (0.5, 0.9))
    where = (f"tracking.root={folder / 'mlruns'}", "tables.camelot.enabled=false", "report.make=off")
    items = harness.run("references=off", "tables=sample", "confidence=sample", *where)
    server = ServerThread(StagingSource(labels), folder / "mlruns")
    server.start()
    yield Served(server.address, f"/runs/{people}/people?against={base}", f"/runs/{items.id}/items", photos)
    server.stop()


def look(page: Page, served: Served, path: str) -> None:
    """Open a page of a run; one that is being read comes by itself."""
    page.goto(served.address + path)
    expect(page.locator(".run-nav")).to_be_visible()


def test_from_the_list_to_the_near_miss_by_keyboard_alone(served: Served, page: Page) -> None:
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text) if "Content Security" in message.text else None)
    look(page, served, served.people)
    expect(page.locator("tr.all")).to_contain_text("▼ 1 fewer")
    tab_to(page, page.get_by_role("link", name="▼ find less"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("1 of 2 people")
    tab_to(page, page.get_by_role("link", name="Ada", exact=True))
    page.keyboard.press("Enter")
    expect(page.locator(".wanted li.missed")).to_contain_text("similarity 0.74, needs 0.90")
    bar = page.locator(".wanted li.missed .bar")
    needed, below = (bar.locator(part).bounding_box() for part in (".needed", ".below"))
    assert needed is not None
    assert below is not None
    assert below["x"] + below["width"] < needed["x"], "the bar ends before the mark"
    tab_to(page, page.get_by_role("link", name="▼ Newly lost"))
    page.keyboard.press("Enter")
    expect(page.locator(".wanted li")).to_have_count(1)
    tab_to(page, page.locator(".wanted li a"))
    expect(page.locator(".wanted li a")).to_have_attribute("href", address_of_near_miss(served))
    assert blocked == []


def address_of_near_miss(served: Served) -> str:
    run = served.people.split("/")[2]
    return f"/runs/{run}/photos/{served.photos[NEAR]}?against={served.people.partition('against=')[2]}"


def test_filters_of_people(served: Served, page: Page) -> None:
    look(page, served, served.people)
    runners = page.locator("tbody tr:not(.all) th")
    page.get_by_label("Name or number").fill("417")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("status")).to_have_text("1 of 2 people")
    expect(runners).to_have_text("Ada 417")
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_role("status")).to_have_text("2 of 2 people")
    page.get_by_role("link", name="nobody readable").click()
    expect(page.get_by_role("status")).to_have_text("1 of 2 people")
    page.get_by_role("link", name="nobody readable").click()
    for choice, who in (("▼ find less", "Ada"), ("shown strangers", "Ada")):
        page.get_by_role("link", name=choice).click()
        expect(page.get_by_role("status")).to_have_text("1 of 2 people")
        expect(runners).to_contain_text([who])
        page.get_by_role("link", name=choice).click()  # the same again takes it away
        expect(page.get_by_role("status")).to_have_text("2 of 2 people")


def test_people_are_sorted_by_who_lost_most_who_misses_most_and_by_name(served: Served, page: Page) -> None:
    # Beside the run with the higher threshold the other one has gained: who lost most and who misses most differ.
    run, against = served.people.split("/")[2], served.people.partition("against=")[2]
    look(page, served, f"/runs/{against}/people?against={run}")
    runners, show = page.locator("tbody tr:not(.all) th a"), page.get_by_role("button", name="Show")
    orders = {}
    for sort in ("name", "change", "worst"):
        page.get_by_label("Sort").select_option(sort)
        show.click()
        expect(page.get_by_label("Sort")).to_have_value(sort)
        orders[sort] = runners.all_inner_texts()
    page.get_by_role("link", name="▲ find more").click()
    expect(page.get_by_role("status")).to_have_text("1 of 2 people")
    assert orders == {"name": ["Ada", ODD], "change": [ODD, "Ada"], "worst": [ODD, "Ada"]}


def test_boxes_are_chosen_by_what_they_are(served: Served, page: Page) -> None:

    look(page, served, f"{served.items}/boxes")
    page.get_by_role("link", name="Wrong").click()
    expect(page.locator("tbody tr .state-right")).to_have_count(0)
    page.locator("tbody a").first.click()
    expect(page.locator(".ways")).to_contain_text("of 24, worst first")
    here = page.url
    page.get_by_role("link", name="Next").click()
    expect(page).not_to_have_url(here)
    expect(page.locator(".ways")).to_contain_text("of 24, worst first")


def test_items_are_found_by_name_and_sorted(served: Served, page: Page) -> None:
    look(page, served, f"{served.items}?task=tables")
    names, show = page.locator("tbody th a"), page.get_by_role("button", name="Show")
    worst = names.all_inner_texts()
    page.get_by_label("Sort").select_option("name")
    show.click()
    expect(page.get_by_label("Sort")).to_have_value("name")
    by_name = names.all_inner_texts()
    page.get_by_label("Sort").select_option("change")
    show.click()
    expect(page.get_by_label("Sort")).to_have_value("change")
    page.get_by_label("Name", exact=True).fill("volunt")
    show.click()
    expect(names).to_have_text(["volunteers"])
    page.get_by_role("link", name="Show all").click()
    expect(names).to_have_count(len(worst))
    assert by_name == sorted(worst)
    assert names.all_inner_texts() == worst != by_name


def test_axe_finds_nothing_serious(served: Served, themed: Page) -> None:
    problems: dict[str, list[str]] = {}
    person = served.people.replace("/people?", "/people/Ada?")
    for path in (
        served.people,
        person,
        served.items,
        f"{served.items}?task=confidence",
        f"{served.items}/boxes",
        f"{served.items}/confidence/8",
        f"{served.items}/tables/volunteers",
    ):
        look(themed, served, path)
        problems[path] = grave(themed)
    assert {path: found for path, found in problems.items() if found} == {}
