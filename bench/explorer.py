"""How quick are the pages of a run on 20,000 photos, three bibs and three faces each, beside a baseline?

Processor time of the server's side against a limit, the slowest of several goes, each with another photo and another
selection; opening a run, which is done once and aside, stands beside them. Then a real browser scrolls through the grid
from its top to its end: the time from one frame to the next (95th percentile, the worst of three goes) against 50 ms,
and the memory after all of it beside that before: of the page's script, and of all processes of the browser, which hold
its elements and pictures.

    scripts/bench explorer
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, Page, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread

import harness
from bench.labeling_browser import _READ, _RECORD
from bench.large import PHOTOS, make_set
from bench.measure import row, show
from harness.exploring.opened import OpenedRuns
from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from harness.runs.gate import Gate
from harness.tracking.finding import find_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin

PAGE_LIMIT, OPEN_LIMIT, FRAME_LIMIT, GROWTH = 0.3, 30.0, 0.05, 2.0
GOES = 5
PAGES = (
    "/runs/{run}",
    "/runs/{run}/photos",
    "/runs/{run}/photos?change=broken&sort=change",
    "/runs/{run}/photos?mistake=missed_links&sort=name&page=3",
    "/runs/{run}/photos?number=417&least=0.6&most=0.7",
    "/runs/{run}/photos/{photo}?mistake=any",
    "/api/runs/{run}/photos?start=9000&count=120",
)


def predictions(root: Path, seed: int) -> list[dict[str, Any]]:
    """The labels with some of everything left out, misread or invented."""
    rng = random.Random(seed)
    index = json.loads((root / "photo_index.json").read_text())["photos"]
    bibs = json.loads((root / "bib_ground_truth.json").read_text())["photos"]
    faces = json.loads((root / "face_ground_truth.json").read_text())["photos"]
    lines = []
    for sha256 in index:
        found = {
            "bibs": [
                _said(box, rng, number=box["number"] if rng.random() > 0.03 else "1") for box in bibs[sha256]["boxes"]
            ],
            "faces": [_said(box, rng) for box in faces[sha256]["boxes"]],
        }
        kept = {kind: [box for box in boxes if rng.random() > 0.02] for kind, boxes in found.items()}
        links = [[place, place, 0.9] for place in range(min(map(len, kept.values())))]
        lines.append({"sha256": sha256, **kept, "links": links})
    return lines


def _said(box: dict[str, Any], rng: random.Random, **more: Any) -> dict[str, Any]:
    return {side: box[side] for side in "xywh"} | {"score": round(rng.uniform(0.3, 1), 3), **more}


def make_runs(root: Path, mlruns: Path) -> tuple[LocalStore, str]:
    """A baseline and a run beside it; returns the store and the run's id."""
    make_set(root, PHOTOS)
    where = ("references=staging", f"references.root={root}", f"tracking.root={mlruns}", "references.groups=photo")
    base = harness.score(predictions(root, 1), *where, "report.make=off")
    store = LocalStore(str(mlruns), "harness")
    pin(store.open(), find_run(store.open(), base.id))
    return store, harness.score(predictions(root, 2), *where, "report.make=off").id


def measure() -> list[dict[str, Any]]:
    """One entry a case."""
    with tempfile.TemporaryDirectory() as folder:
        root, mlruns = Path(folder) / "set", Path(folder) / "mlruns"
        store, run = make_runs(root, mlruns)
        server = ServerThread(StagingSource(LabelStore(root)), mlruns)
        start = time.process_time()
        OpenedRuns(store, Gate(strict=False)).get(run, wait=600)
        opening = time.process_time() - start
        server.context.opened.get(run, wait=600)
        server.history.wait()
        server.start()
        pages = _pages(server, run)
        scrolled = _scrolled(server, run)
        server.stop()
    return [
        *pages,
        row(f"open a run of {PHOTOS:,} photos, once", opening, f"limit of {OPEN_LIMIT:g} s", OPEN_LIMIT, 1.0),
        *scrolled,
    ]


def _pages(server: ServerThread, run: str) -> list[dict[str, Any]]:
    client = TestClient(server.app, base_url="http://127.0.0.1:8600")
    photos = client.get(f"/api/runs/{run}/photos?count=240").json()["photos"]
    slowest = ("", 0.0)
    for page in PAGES:
        for go in range(GOES):
            address = page.replace("{run}", run).replace("{photo}", photos[37 * go]["sha256"])
            start = time.process_time()
            answer = client.get(address)
            seconds = time.process_time() - start
            assert answer.status_code == 200, (address, answer.text)
            slowest = max(slowest, (page, seconds), key=lambda each: each[1])
    name = slowest[0].replace("{run}", "ID").replace("{photo}", "PHOTO")
    limit = f"limit of {PAGE_LIMIT:g} s"
    return [row(f"slowest of {len(PAGES)} pages, {PHOTOS:,} photos: {name}", slowest[1], limit, PAGE_LIMIT, 1.0)]


def _scrolled(server: ServerThread, run: str) -> list[dict[str, Any]]:
    browser_path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path, args=[*FLAGS, "--js-flags=--expose-gc"])
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{server.address}/runs/{run}/photos")
        page.locator("body[data-ready]").wait_for(state="attached")
        page.wait_for_timeout(1000)
        script, whole = _memory(page), _whole_memory(chromium)
        page.mouse.move(700, 500)
        frames = max(_scroll(page) for _ in range(3))
        for share in range(1, 101):
            page.evaluate(f"scrollTo(0, document.documentElement.scrollHeight * {share} / 100)")
            page.wait_for_timeout(30)
        page.wait_for_timeout(1000)
        script_after, whole_after, cells = _memory(page), _whole_memory(chromium), page.locator("#grid li").count()
        chromium.close()
    assert cells < 200, cells
    return [
        row(
            "scroll the grid with the wheel, frame p95", frames, f"limit of {FRAME_LIMIT * 1000:g} ms", FRAME_LIMIT, 1.0
        ),
        *(
            row(f"memory of {what} after all of it", after, f"{GROWTH:g}x of that before", GROWTH * before, 1.0)
            | {"unit": "MB"}
            for what, before, after in (
                ("the page's script", script, script_after),
                ("the whole browser", whole, whole_after),
            )
        ),
    ]


def _scroll(page: Page) -> float:
    page.evaluate(_RECORD)
    for _ in range(80):
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(16)
    return float(np.quantile(page.evaluate(_READ), 0.95))


def _memory(page: Page) -> float:
    return float(page.evaluate("(gc(), performance.memory.usedJSHeapSize / 1e6)"))


def _whole_memory(chromium: Browser) -> float:
    """What all processes of the browser hold, with what they share counted once."""
    processes = chromium.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    rollups = [Path(f"/proc/{process['id']}/smaps_rollup").read_text() for process in processes]
    return sum(float(re.findall(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)[0]) for rollup in rollups) / 1000


if __name__ == "__main__":
    show(measure())
