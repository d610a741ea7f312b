"""Does the workbench stay smooth while somebody scrolls through 2,000 faces?

A real browser (Debian's Chromium, headless, drawing without a graphics card) opens `/people/` on 500 drawn photos of
four people each and scrolls through all groups with the wheel. What counts is the time from one frame to the next: its
95th percentile, the best of three goes, against a limit of 50 ms. Crops are made while they come into view in the first
go, and are in memory in the others.

    scripts/bench labeling
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread
from tests.labeling.drawn_people import finder, make_set

from bench.labeling_browser import _READ, _RECORD, GOES, SHARE
from bench.measure import row, show
from harness.labeling.source import StagingSource

PHOTOS, EACH, PEOPLE = 500, 4, 300
LIMIT, STEP = 0.05, 400
_IDLE = 'body[data-fresh="true"]'


def scroll(page: Page) -> float:
    """The 95th percentile of the time between frames while the list is scrolled from its start to its end."""
    page.evaluate("document.querySelector('#groups').scrollTop = 0")
    page.wait_for_timeout(500)
    page.mouse.move(400, 400)
    page.evaluate(_RECORD)
    height = page.evaluate("document.querySelector('#lines').clientHeight")
    for _ in range(0, int(height), STEP):
        page.mouse.wheel(0, STEP)
        page.wait_for_timeout(16)
    return float(np.quantile(page.evaluate(_READ), SHARE))


def measure() -> list[dict[str, Any]]:
    """The frame time of scrolling."""
    shots = {
        f"{photo:04}.png": {f"P{(photo * EACH + place) % PEOPLE}": None for place in range(EACH)}
        for photo in range(PHOTOS)
    }
    path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = make_set(Path(folder), shots)
        server = ServerThread(
            StagingSource(store), Path(folder) / "mlruns", lambda: finder(store.root, Path(folder) / "stages")
        )
        server.start()
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{server.address}/people/")
        page.wait_for_selector(_IDLE, state="attached", timeout=600_000)
        seconds = min(scroll(page) for _ in range(GOES))
        chromium.close()
        server.stop()
    faces = f"{PHOTOS * EACH:,} faces"
    return [row(f"scroll through {faces}, frame p95", seconds, f"limit of {LIMIT * 1000:g} ms", LIMIT, 1.0)]


if __name__ == "__main__":
    show(measure())
