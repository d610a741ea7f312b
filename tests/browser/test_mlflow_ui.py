"""A sweep as a person sees it in MLflow's own pages."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.runs.tags import MOVED_TAG
from harness.tasks.photos.shots import CROP_SIDE
from harness.tracking.finding import list_runs
from harness.tracking.pages import OPENING, run_page, runs_page
from harness.tracking.store import LocalStore
from tests.conftest import QUICK, RunHarness

#: So sure of a face is no detector: every face is missed, and shown as such.
MISSING = ("face.threshold=0.999",)

pytestmark = pytest.mark.browser


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def swept(harness_process: RunHarness, work: Path, tiny_set: Path) -> Path:
    """A folder whose store holds a sweep over two presets, the second of which is pinned as the baseline."""
    done = harness_process(
        "-m", "references=staging", f"references.root={tiny_set}", "preset=fast,best", *MISSING, *QUICK
    )
    assert done.returncode == 0, done.stderr
    pinned = harness_process("baseline", "-f")
    assert pinned.returncode == 0, pinned.stderr
    return work


@pytest.fixture
def start(swept: Path) -> Iterator[str]:
    """The page that `harness mlflow` opens on that store; server and workers end with the test."""
    port = free_port()
    command = [sys.executable, "-m", "harness", "mlflow", "--no-browser", "--port", str(port)]
    with subprocess.Popen(command, cwd=swept, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        first = server.stdout.readline()
        try:
            found = re.search(r"MLflow is at (http://127\.0\.0\.1:\d+/.*)", first)
            assert found, first
            yield found[1]
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=60) == 0
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def visit(page: Page, address: str) -> None:
    """Load a page from scratch: between two addresses of one page MLflow keeps what it was doing."""
    page.goto("about:blank")
    page.goto(address, wait_until="domcontentloaded")


def see_a_first_visit_at_1024_pixels(browser: Browser, start: str) -> None:
    """MLflow opens its assistant over a third of the page at a first visit, unless that goes by the page of ours. So
    the verdict and what moved are there to read."""
    page = browser.new_page(viewport={"width": 1024, "height": 768})
    visit(page, start)
    expect(page).to_have_url(re.compile(r"^http://127\.0\.0\.1:\d+/#/experiments/"))
    expect(page.get_by_text("CANNOT TELL", exact=True).first).to_be_visible()
    for column in ("verdict", "verdict.moved"):  # what moved stands there in words, with its gain
        box = page.get_by_role("columnheader", name=column, exact=True).first.bounding_box() or {"x": 1e9, "width": 0}
        assert box["x"] + box["width"] <= 1024, column
    assistant = page.get_by_text("Ask questions about your experiments")  # its button has its name, too
    expect(assistant).to_have_count(0)

    page.locator("button[data-assistant-ui]").click()
    expect(assistant).to_be_visible()
    visit(page, start)  # what the person has chosen stays
    expect(assistant).to_be_visible()
    page.close()

    plain = browser.new_page()
    plain.goto(start.replace(OPENING, ""), wait_until="domcontentloaded")
    expect(plain.get_by_text("Ask questions about your experiments")).to_be_visible()
    expect(plain.get_by_text("BASELINE", exact=True)).to_be_visible()
    plain.close()


def test_a_sweep_is_seen_in_mlflows_pages(swept: Path, start: str, page: Page, browser: Browser) -> None:
    store = LocalStore(str(swept / "mlruns"), "harness").open()
    address = start.partition("#")[0]

    visit(page, start)
    for text in ("verdict", "delta/number_f1", "BASELINE", "CANNOT TELL"):
        cell = page.get_by_text(text, exact=True).first
        expect(cell).to_be_visible()
        assert (cell.bounding_box() or {"x": 1e9})["x"] < 1440, text
    first = page.get_by_role("link", name=re.compile("fast|best"))
    expect(first.first).to_have_text(re.compile("◆ baseline: best"))
    expect(page.get_by_text("2 matching runs")).to_be_visible()

    visit(page, start.replace("&viewState", "&compareRunsMode=CHART&viewState"))
    for section in ("Gain over baseline", "Headlines", "Mistakes"):
        expect(page.get_by_text(section).first).to_be_visible()
    gain = page.get_by_test_id("experiment-view-compare-runs-card").first.get_by_text(re.compile(r"^(?!delta)\w+/\w+$"))
    expect(gain).to_be_visible()
    assert gain.evaluate("title => title.scrollWidth <= title.clientWidth"), "the title of a gain is read as a whole"
    page.get_by_text("Over score threshold").first.scroll_into_view_if_needed()  # pictures load when they are seen
    picture = page.locator("img[src*='missed_faces']").first
    expect(picture).to_have_js_property("naturalWidth", CROP_SIDE)

    visit(page, address + runs_page(store.runs_experiment))
    for preset in ("fast", "best"):
        expect(page.get_by_role("link", name=re.compile(rf"^(◆ baseline: )?{preset}\b")).first).to_be_visible()

    visit(page, address + runs_page(store.runs_experiment, chart=True))
    expect(page.get_by_text("bib/f1", exact=True).first).to_be_visible()

    visit(page, start.replace("&viewState", "&compareRunsMode=CHART&viewState").replace("=harness", "=harness-compare"))
    expect(page.get_by_text("2 matching runs")).to_be_visible()
    expect(page.get_by_text("Gain over baseline").first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^delta/\w+ vs delta/\w+")).first).to_be_visible()  # all gains in one chart

    job = next(run for run in list_runs(store) if not run.pinned)
    visit(page, address + run_page(store.runs_experiment, job.run_id))
    described = page.get_by_text("? CANNOT TELL", exact=True)
    expect(described).to_be_visible()
    more = page.get_by_text("Show more")
    expect(more).to_be_visible()
    link = page.get_by_role("link", name=re.compile("^against best"))
    assert (link.bounding_box() or {"y": 1e9})["y"] < (more.bounding_box() or {"y": 0})["y"]
    with page.expect_popup() as opened:
        link.click()
    expect(opened.value.get_by_text("Comparing 2 Runs from 1 Experiment")).to_be_visible()
    opened.value.close()

    (overview,) = store.client.search_runs([store.sweeps_experiment])
    visit(page, f"{address}#/experiments/{store.sweeps_experiment}/runs/{overview.info.run_id}")
    expect(page.get_by_role("cell", name="FINISHED").first).to_be_visible()
    expect(page.get_by_role("link", name="Compare them in a chart")).to_be_visible()
    expect(page.get_by_text("Preset ladder").first).to_be_visible()

    store.client.set_tag(job.run_id, MOVED_TAG, "face/recall -7.0 points")
    see_a_first_visit_at_1024_pixels(browser, start)
