"""The pages of runs in a browser: by keyboard alone, with and without scripts, and nothing serious to axe-core."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from harness.runs.tags import SWEEP_TAG
from harness.tracking.finding import find_run, list_runs
from harness.tracking.store import LocalStore
from tests.browser.labeling_server import ServerThread, tab_to
from tests.browser.test_labeling_access import grave
from tests.labeling.scored import copied, scored_runs

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def scored(_tiny_set: Path, empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The baseline, a run that lost somebody, which is the only job of a sweep, and an old one on other data, which
    failed."""
    with scored_runs(tmp_path_factory.mktemp("scored"), _tiny_set, empty_store) as folder:
        store = LocalStore(str(folder / "mlruns"), "harness").open()
        store.client.set_tag(list_runs(store)[0].run_id, SWEEP_TAG, "a-sweep")
        tags = {"data.name": "races", "data.split": "iteration", "data.digest": "d" * 64, "preset": "best"}
        old = store.client.create_run(store.runs_experiment, start_time=1, run_name="old", tags=tags)
        store.client.set_terminated(old.info.run_id, "FAILED")
        yield folder


@pytest.fixture
def server(scored: Path, _tiny_set: Path, tmp_path: Path) -> Iterator[ServerThread]:
    store = copied(scored, tmp_path)
    running = ServerThread(StagingSource(LabelStore(_tiny_set)), Path(store.root))
    running.history.wait()
    running.start()
    yield running
    running.stop()


def runs(server: ServerThread) -> tuple[str, str]:
    """The run that lost somebody, and the baseline."""
    fewer, base, _ = list_runs(server.history.store.open())
    return fewer.run_id, base.run_id


def test_by_keyboard_alone_a_sweep_is_opened_and_two_runs_are_compared(server: ServerThread, page: Page) -> None:
    fewer, base = runs(server)
    page.goto(f"{server.address}/runs/")
    inside = page.locator("tr.inside")
    expect(inside).to_be_hidden()
    expect(page.get_by_role("button", name="Compare the two chosen runs")).to_be_disabled()
    tab_to(page, page.locator(f"input[value='{base}']"))
    page.keyboard.press("Space")
    tab_to(page, page.locator(".opener summary"))
    page.keyboard.press("Enter")
    expect(inside).to_be_visible()
    tab_to(page, page.locator(f"input[value='{fewer}']"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Compare the two chosen runs"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{fewer}?against={base}")
    expect(page.get_by_role("link", name="Newly broken photos 1")).to_have_attribute(
        "href", f"/runs/{fewer}/photos?against={base}&change=broken&sort=change"
    )
    expect(page.locator("svg.forest").first).to_be_visible()


def test_every_filter_of_the_list_narrows_it(server: ServerThread, page: Page) -> None:
    fewer, base, old = (run.run_id for run in list_runs(server.history.store.open()))
    rows, show = page.locator("tbody th > a"), page.get_by_role("button", name="Show", exact=True)
    page.goto(f"{server.address}/runs/")
    said = page.locator("section.group h2")
    expect(said.filter(has_text="races")).to_contain_text("no baseline on these data yet: INCOMPARABLE with the one")
    expect(said.filter(has_text="staging")).not_to_contain_text("no baseline")
    for field, value, expected in (
        ("data", "races", {old}),
        ("data", "staging", {base, fewer}),
        ("preset", "best", {old}),
        ("verdict", "BASELINE", {base}),
        ("text", fewer[:8], {base, fewer}),  # the baseline stands above its data whatever is filtered
        ("sort", "oldest", {base, fewer, old}),
    ):
        control = page.locator(f".filters [name={field}]")
        if field == "text":
            control.fill(value)
        else:
            control.select_option(value)
        show.click()
        page.wait_for_url(re.compile(rf"[?&]{field}=[^&]"))
        expect(rows).to_have_count(len(expected))
        assert {each.get_attribute("href") for each in rows.all()} == {f"/runs/{run}" for run in expected}, value
        page.get_by_role("link", name="Show all").click()
        expect(rows).to_have_count(3)


def test_the_baseline_is_set_after_a_question(server: ServerThread, page: Page) -> None:
    fewer, base = runs(server)
    page.goto(f"{server.address}/runs/?sweep=a-sweep")
    ask = page.locator("a.ask")
    ask.click()
    dialog = page.get_by_role("dialog", name="Set the baseline?")
    expect(dialog).to_contain_text("in the place of")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert find_run(server.history.store.open(), base).pinned
    ask.click()
    dialog.get_by_role("button", name="Set the baseline").click()
    expect(page.get_by_role("status").filter(has_text="is the baseline of")).to_contain_text("1 run judged anew")
    expect(page.locator("tbody.pinned")).to_contain_text(fewer[:8])
    assert not find_run(server.history.store.open(), base).pinned


def test_without_scripts_a_page_asks(server: ServerThread, browser: Browser) -> None:
    fewer, _ = runs(server)
    page = browser.new_page(java_script_enabled=False)
    page.goto(f"{server.address}/runs/?sweep=a-sweep")
    page.locator("a.ask").click()
    expect(page.get_by_role("heading", name="Set the baseline?")).to_be_visible()
    page.get_by_role("button", name="Set the baseline").click()
    expect(page.locator("tbody.pinned")).to_contain_text(fewer[:8])
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_pages_of_runs(server: ServerThread, browser: Browser, scheme: str) -> None:
    fewer, base = runs(server)
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1024, "height": 768})  # type: ignore[arg-type]
    problems = {}
    page.goto(f"{server.address}/runs/")
    page.locator(".opener summary").click()
    problems["list"] = grave(page)
    page.locator("a.ask").click()
    problems["question"] = grave(page)
    for address in (
        f"/runs/{fewer}",
        f"/runs/{base}",
        f"/runs/{fewer}/baseline",
        "/runs/?preset=nothing",
        f"/runs/compare?run={fewer}&run={base}",
        "/runs/compare",
        f"/runs/{base}/report",
    ):
        page.goto(server.address + address)
        expect(page).not_to_have_title(re.compile("^Being read"))
        for details in page.locator("main details").all():
            details.evaluate("element => { element.open = true }")
        problems[address] = grave(page)
    page.close()
    assert {where: found for where, found in problems.items() if found} == {}
