"""Keys that are pressed while a save is under way: none may be lost, however slow the server is.

A real browser labels photo after photo as somebody in a hurry does. Every request of its page takes so many
milliseconds longer. On each photo a box is made (`B`) and, at a random moment while it is being saved, the photo is
called done (`D`); the `B` of the next photo is pressed at once, before that photo is there. Now and then somebody goes
on a photo and back at once (`PageDown`, `PageUp`). In the end each photo has to be done, with the one box that was made
for it.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, TimeoutError, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread, open_editor, saved

from harness.labeling.source import StagingSource
from harness.references.adding import add_photos
from harness.references.store import LabelStore

LATENCIES = (0, 50, 150, 300)
#: What a page waits before it sends an edit, in milliseconds.
_AUTOSAVE = 350
_SLOW = """
const quick = window.fetch;
window.fetch = async (address, options) => {
  await new Promise((resolve) => setTimeout(resolve, LATENCY));
  return quick(address, options);
};
"""


def soak_keys(folder: Path, presses: int, seed: int, browser: Browser | None = None) -> list[str]:
    """Press `D` so often at each latency, in a browser of its own unless one is given; what was lost."""
    if browser is not None:
        return list(_soak(folder, presses, seed, browser))
    path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        wrong = list(_soak(folder, presses, seed, launched))
        launched.close()
    return wrong


def _soak(folder: Path, presses: int, seed: int, browser: Browser) -> Iterator[str]:
    for latency in LATENCIES:
        lost, pressed = _press(browser.new_page(), folder / str(latency), latency, presses, seed)
        print(f"keys: {latency} ms: {len(lost)} of {presses} D lost, {pressed} keys pressed", flush=True)
        yield from (f"at {latency} ms: {text}" for text in lost)


def _press(page: Page, folder: Path, latency: int, presses: int, seed: int) -> tuple[list[str], int]:
    rng = random.Random(f"{seed}/{latency}")
    store = _photos(folder, presses + 2)
    server = ServerThread(StagingSource(store), folder / "mlruns")
    server.start()
    page.add_init_script(_SLOW.replace("LATENCY", str(latency)))
    order = [photo for _, photo in sorted((r.names[0], photo) for photo, r in store.contents().index.photos.items())]
    open_editor(page, server, f"/labels/{order[0]}")
    pressed, refused = 1, list[str]()
    page.keyboard.press("b")
    for at in range(presses):
        if rng.random() < 0.2:
            page.keyboard.press("PageDown")
            page.keyboard.press("PageUp")
            pressed += 2
        page.wait_for_timeout(rng.uniform(0, _AUTOSAVE + 2 * latency))
        page.keyboard.press("d")
        page.keyboard.press("b")
        pressed += 2
        try:
            page.locator("#photo-name", has_text=f"{at + 1:04}.png").wait_for(timeout=20_000)
        except TimeoutError:
            refused.append(f"{order[at][:8]}: D did not lead on to the next photo")
            open_editor(page, server, f"/labels/{order[at + 1]}")
    saved(page)
    labels = store.contents().bibs.photos
    server.stop()
    page.close()
    told = [(order[at], labels.get(order[at])) for at in range(presses)]
    lost = [
        f"{photo[:8]} is {'done' if found and found.labeled else 'not done'}, boxes: {len(found.boxes) if found else 0}"
        for photo, found in told
        if not found or not found.labeled or len(found.boxes) != 1
    ]
    return refused + lost, pressed


def _photos(folder: Path, count: int) -> LabelStore:
    """Small pictures that all differ."""
    (folder / "in").mkdir(parents=True)
    for number in range(count):
        picture = Image.new("RGB", (60, 40), (number % 256, number // 256, 90))
        picture.save(folder / "in" / f"{number:04}.png")
    store = LabelStore(folder / "set")
    add_photos(store, sorted((folder / "in").iterdir()))
    return store
