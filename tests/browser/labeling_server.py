"""The labelling server for browser tests, and what a person does on its pages."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Locator, Page, expect

from harness.exploring.opened import OpenedRuns
from harness.labeling.access import Access
from harness.labeling.app import make_app
from harness.labeling.context import Context
from harness.labeling.history import RunHistory
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import LabelSource
from harness.pipeline.links.geometric import GeometricLinker
from harness.runs.gate import Gate
from harness.scoring.detection import Thresholds
from harness.tasks.identity.finder import Finder
from harness.tracking.store import LocalStore
from tests.labeling.conftest import no_models


class LabelServer:
    """Where the labelling pages are, and what their API says."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.address + path, timeout=30) as answer:
            return json.load(answer)

    def photo(self, sha256: str) -> Any:
        return self.get(f"/api/photos/{sha256}")

    def photos(self, dimension: str = "bibs") -> list[str]:
        return [photo["sha256"] for photo in self.get(f"/api/photos?dimension={dimension}")["photos"]]


class ServerProcess(LabelServer):
    """`harness ui` as a user starts it; can be stopped, killed and started again at the same address."""

    def __init__(self, folder: Path, *overrides: str) -> None:
        super().__init__()
        self.folder, self.overrides = folder, overrides
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "harness", "ui", "--no-browser", "--port", str(self.port), *self.overrides]
        with (self.folder / "ui.log").open("a") as log:
            self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert re.search(r"at http://127\.0\.0\.1:\d+/", first), first + (self.folder / "ui.log").read_text()

    def kill(self) -> None:
        """Without a chance to say goodbye."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=30)

    def stop(self) -> None:
        """As Ctrl-C does."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            assert self.process.wait(timeout=30) == 0
        if self.process.stdout:
            self.process.stdout.close()


class ServerThread(LabelServer):
    """The same app on a thread of the tests: there at once, for tests that are not about the process."""

    def __init__(self, source: LabelSource, runs: Path, make: Callable[[], Finder] | None = None) -> None:
        super().__init__()
        store = LocalStore(str(runs), "harness")
        self.history = RunHistory(store, source, Thresholds(0.5, 0.5))
        linker = GeometricLinker(min_drop=0.8, max_drop=5.0, half_width=1.5, behind=0.5, nearer=1.25, threshold=0.0)
        search, opened = PhotoSearch(source, make or no_models), OpenedRuns(store, Gate(strict=False))
        self.context = Context(source, linker, self.history, search, opened)
        self.app = make_app(self.context, Access())
        config = uvicorn.Config(self.app, port=self.port, log_level="warning", lifespan="off", ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def start(self) -> None:
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=30)


def open_editor(page: Page, server: LabelServer, path: str) -> None:
    page.goto(server.address + path)
    expect(page.locator("body")).to_have_attribute("data-ready", "true")


def on_photo(page: Page, name: str) -> None:
    """Wait until the editor shows a photo and takes keys."""
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    expect(page.locator("#photo-name")).to_have_text(name)


def all_done(page: Page) -> None:
    expect(page.locator("#message")).to_have_text("Every photo in this queue is done.")


def saved(page: Page) -> None:
    """Wait until the page says that everything is on the server."""
    expect(page.locator("#saving")).to_have_attribute("data-state", "saved")


def tab_to(page: Page, target: Locator, most: int = 60) -> None:
    """Reach a control as somebody without a mouse does."""
    for _ in range(most):
        if target.evaluate("element => element === document.activeElement"):
            return
        on_the_photo = page.evaluate("document.activeElement.id === 'stage'")
        page.keyboard.press("Escape" if on_the_photo else "Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def in_window(page: Page, box: dict[str, float]) -> dict[str, float]:
    """Where a box of the photo is in the window."""
    image = page.locator("#stage img").bounding_box()
    assert image is not None
    return {
        "left": image["x"] + box["x"] * image["width"],
        "top": image["y"] + box["y"] * image["height"],
        "right": image["x"] + (box["x"] + box["w"]) * image["width"],
        "bottom": image["y"] + (box["y"] + box["h"]) * image["height"],
    }


def centre(page: Page, box: dict[str, float]) -> tuple[float, float]:
    at = in_window(page, box)
    return (at["left"] + at["right"]) / 2, (at["top"] + at["bottom"]) / 2


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def draw(page: Page, box: dict[str, float]) -> None:
    at = in_window(page, box)
    drag(page, (at["left"], at["top"]), (at["right"], at["bottom"]))


def click(page: Page, box: dict[str, float]) -> None:
    page.mouse.click(*centre(page, box))


def boxes(photo: Any, dimension: str = "bibs") -> list[tuple[str | None, str]]:
    """What is said about the boxes, in order: number or identity, and scope."""
    return [(box.get("number") or box.get("identity"), box["scope"]) for box in photo[dimension]["boxes"]]
