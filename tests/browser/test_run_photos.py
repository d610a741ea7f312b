"""The photos of a run in a browser: from a regression to the label that it is about, by keys; the grid; the layers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import harness
from harness.__main__ import run as run_in_process
from harness.labeling.source import StagingSource
from harness.references.sets import load_set
from harness.references.store import LabelStore
from harness.tracking.finding import find_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin
from tests.browser.labeling_server import LabelServer, ServerThread
from tests.browser.test_labeling_access import grave
from tests.candidates.desk import draw_set
from tests.exploring.scored import Scored, right

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(scored: Scored) -> Iterator[LabelServer]:
    made = ServerThread(StagingSource(LabelStore(scored.root)), Path(scored.store.root))
    made.start()
    yield made
    made.stop()


def ready(page: Page) -> None:
    expect(page.locator("body[data-ready]")).to_be_attached()


def test_from_the_list_of_runs_to_the_label_in_four_clicks_or_keys(
    server: LabelServer, scored: Scored, page: Page
) -> None:
    broken = scored.photos["P001.jpg"].sha256
    page.goto(f"{server.address}/runs/")
    page.locator(f'a[href="/runs/{scored.run}"]').first.click()
    page.get_by_role("link", name="Newly broken photos 3").click()
    ready(page)
    page.locator("#grid a", has_text="P001.jpg").click()
    expect(page).to_have_url(f"{server.address}/runs/{scored.run}/photos/{broken}?change=broken&sort=change")
    ready(page)
    page.keyboard.press("e")
    expect(page).to_have_url(f"{server.address}/faces/labels/{broken}#box=0")
    ready(page)
    expect(page.locator("#boxes [aria-selected=true]")).to_contain_text("P001")


def test_from_regressed_to_the_first_broken_label_in_four_clicks_or_keys(
    tmp_path: Path, page: Page, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run says REGRESSED and names `harness ui`. From the page that this opens it is four clicks or keys. On the way,
    the photos that are newly broken are as many as compare and the report say."""
    root, mlruns = tmp_path / "set", tmp_path / "mlruns"
    (root / "photos").mkdir(parents=True)
    draw_set(root)
    photos = load_set(root, "staging", "iteration").photos
    where = ("references=staging", f"references.root={root}", f"tracking.root={mlruns}", "report.make=off")
    lines = [right(photo) | {"faces": [], "links": []} for photo in photos]
    base = harness.score(lines, *where)
    store = LocalStore(str(mlruns), "harness")
    pin(store.open(), find_run(store.open(), base.id))
    file = tmp_path / "unread.jsonl"
    unread = [{**line, "bibs": [{**bib, "number": None} for bib in line["bibs"]]} for line in lines[:12]]
    file.write_text("\n".join(map(json.dumps, [*unread, *lines[12:]])))
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert run_in_process(["score", str(file), *where[:-1]]) == 0
    told = capsys.readouterr().out
    assert "REGRESSED" in told
    assert "harness ui" in told
    assert run_in_process(["compare", "latest", where[2]]) == 0
    assert "Newly broken (12 photos)" in capsys.readouterr().out
    assert run_in_process(["report", "latest", where[2]]) == 0
    assert "Newly broken: 12 photos" in Path(capsys.readouterr().out.strip()).read_text()

    server = ServerThread(StagingSource(LabelStore(root)), mlruns)
    server.start()
    page.goto(server.address)
    page.get_by_role("link", name="Runs", exact=True).first.click()
    page.get_by_role("link", name="newly broken photos").click()
    ready(page)
    expect(page.get_by_role("status")).to_contain_text("12 of 40 photos")
    page.locator("#grid a").first.click()
    ready(page)
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile(r"/labels/[0-9a-f]{64}#box=0$"))
    ready(page)
    expect(page.locator("#boxes [aria-selected=true]")).to_be_visible()
    server.stop()


def test_from_newly_broken_to_the_label_by_keys_alone(server: LabelServer, scored: Scored, page: Page) -> None:
    page.goto(f"{server.address}/runs/{scored.run}/photos?change=broken&sort=name")
    ready(page)
    page.locator("#grid a").first.focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(
        f"{server.address}/runs/{scored.run}/photos/{scored.photos['P001.jpg'].sha256}?change=broken&sort=name"
    )
    ready(page)
    page.keyboard.press("n")
    expect(page.locator("#wrong button[aria-pressed=true]")).to_contain_text("MISSED face P001")
    page.keyboard.press("e")
    expect(page).to_have_url(f"{server.address}/faces/labels/{scored.photos['P001.jpg'].sha256}#box=0")
    ready(page)
    expect(page.locator("#boxes [aria-selected=true]")).to_contain_text("P001")


def test_layers_side_by_side_and_the_next_photo_by_keys(server: LabelServer, scored: Scored, page: Page) -> None:
    first, second = (scored.photos[name].sha256 for name in ("P001.jpg", "P005.jpg"))
    page.goto(f"{server.address}/runs/{scored.run}/photos/{first}?sort=name")
    ready(page)
    drawn = page.locator("#stage-run .shape")
    expect(page.locator("#stage-run .shape.missed")).to_have_count(1)
    for lost in ("MISSED face P001", "MISSED link 417 to P001"):
        expect(page.locator("#wrong button", has_text=lost)).to_contain_text("new")
    shown = drawn.count()
    page.keyboard.press("1")
    expect(page.locator("#stage-run .shape.missed")).to_have_count(0)
    page.keyboard.press("1")
    page.keyboard.press("3")
    expect(page.locator("#stage-run .shape.base")).to_have_count(2)
    page.keyboard.press("3")
    expect(drawn).to_have_count(shown)
    page.keyboard.press("s")
    expect(page.locator("#stage-base")).to_be_visible()
    expect(page.locator("#stage-base .shape.found")).to_have_count(2)
    page.keyboard.press("j")
    expect(page).to_have_url(f"{server.address}/runs/{scored.run}/photos/{second}?sort=name")
    ready(page)
    expect(page.locator("#stage-base")).to_be_visible()  # what was chosen stays
    page.locator("#wrong button", has_text="MISREAD bib 2085").first.click()
    expect(page.locator("#edit")).to_have_attribute("href", f"/labels/{second}#box=0")
    expect(page.locator("#wrong .side.new")).to_have_count(1)  # what was misread is one thing, and not two
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    ready(page)
    expect(page.locator("#wrong button", has_text="FALSE bib 77")).to_contain_text("new")
    expect(page.locator("#stage-run").get_by_text("INVENTED 77")).to_be_attached()
    page.keyboard.press("k")
    ready(page)
    page.keyboard.press("k")
    expect(page).to_have_url(f"{server.address}/runs/{scored.run}/photos/{first}?sort=name")


def test_the_grid_by_arrows_filters_and_without_a_script(
    server: LabelServer, scored: Scored, page: Page, browser: Browser
) -> None:
    page.goto(f"{server.address}/runs/{scored.run}/photos?sort=name")
    ready(page)
    names = page.locator("#grid .name")
    expect(names).to_have_text(["P001.jpg", "P005.jpg", "P006.jpg"])
    page.locator("#grid a").first.focus()
    page.keyboard.press("End")
    expect(page.locator("#grid a:focus")).to_contain_text("P006.jpg")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#grid a:focus")).to_contain_text("P005.jpg")
    page.get_by_role("link", name="missed links").click()
    expect(page).to_have_url(f"{server.address}/runs/{scored.run}/photos?mistake=missed_links&sort=name")
    expect(names).to_have_text(["P001.jpg"])
    bare = browser.new_context(java_script_enabled=False).new_page()
    bare.goto(f"{server.address}/runs/{scored.run}/photos?sort=name")
    assert bare.locator("#grid .name").all_inner_texts() == ["P001.jpg", "P005.jpg", "P006.jpg"]
    bare.context.close()


def test_every_choice_of_the_form_narrows_the_grid(server: LabelServer, scored: Scored, page: Page) -> None:
    address = f"{server.address}/runs/{scored.run}/photos"
    names, show = page.locator("#grid .name"), page.get_by_role("button", name="Show")
    for field, value, expected in (
        ("cause", "number: misread", ["P005.jpg"]),
        ("tag", "blurry_bib", ["P005.jpg"]),
        ("person", "P006", ["P006.jpg"]),
        ("number", "417", ["P001.jpg"]),
        ("name", "p00", ["P001.jpg", "P005.jpg", "P006.jpg"]),
        ("least", "0.85", ["P001.jpg"]),
        ("most", "0.35", ["P006.jpg"]),
    ):
        page.goto(f"{address}?sort=name")
        control = page.locator(f"[name={field}]")
        if field in ("cause", "tag", "person"):
            control.select_option(value)
        else:
            control.fill(value)
        show.click()
        page.wait_for_url(re.compile(rf"[?&]{field}=[^&]"))
        expect(names).to_have_text(expected)
    for run, against, least in (
        (scored.run, scored.base, 7),
        (scored.base, scored.run, 2),
    ):  # the other way round: fixed
        page.goto(f"{server.address}/runs/{run}/photos?against={against}")
        chips = [(chip.get_attribute("href"), chip.locator(".count")) for chip in page.locator(".chips a").all()]
        counted = [(href, int(count.inner_text())) for href, count in chips]
        assert len(counted) >= least
        for href, count in counted:
            page.goto(f"{server.address}{href}")
            expect(names).to_have_count(count)
    page.goto(address)
    page.get_by_role("link", name="predicted otherwise").click()
    expect(names).to_have_count(3)
    page.get_by_role("link", name="newly broken").click()
    expect(page).to_have_url(f"{address}?change=broken&differs=True&sort=change")
    page.get_by_role("link", name="Show all").click()
    expect(page).to_have_url(address)


def test_a_note_is_left(server: LabelServer, scored: Scored, page: Page) -> None:
    page.goto(f"{server.address}/runs/{scored.run}/photos/{scored.photos['P006.jpg'].sha256}")
    ready(page)
    page.locator("#note").fill("a <b>shop</b> window")
    page.get_by_role("button", name="Leave the note").click()
    expect(page.locator("#notes li").last).to_contain_text("a <b>shop</b> window")
    expect(page.locator("#note-state")).to_have_text("Kept with the run.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(server: LabelServer, scored: Scored, browser: Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1024, "height": 768})  # type: ignore[arg-type]
    for path in ("photos", f"photos/{scored.photos['P005.jpg'].sha256}"):
        page.goto(f"{server.address}/runs/{scored.run}/{path}")
        ready(page)
        assert grave(page) == []
    page.keyboard.press("s")
    expect(page.locator("#stage-base")).to_be_visible()
    assert grave(page) == []
    page.close()
