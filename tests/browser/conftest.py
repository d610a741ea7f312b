"""Debian's Chromium, headless, without a network of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from harness.labeling.source import LabelSource, StagingSource
from harness.references.store import LabelStore
from tests.browser.labeling_server import ServerProcess, ServerThread

expect.set_options(timeout=60_000)  # a busy machine takes its time; what is not there by then is not there
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    assert path, "no Chromium; scripts/test installs it"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(60_000)
    yield opened
    opened.close()


#: A crowd, a photo of nobody, and one runner close by with another one far off.
SAMPLE_PHOTOS = ("sample_03.jpg", "sample_10.jpg", "sample_13.jpg")


@pytest.fixture(scope="session")
def _prepared(tmp_path_factory: pytest.TempPathFactory, sample_root: Path) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "race").mkdir()
    for sha256, record in json.loads((sample_root / "photo_index.json").read_text())["photos"].items():
        if record["names"][0] in SAMPLE_PHOTOS:
            shutil.copy(sample_root / "photos" / f"{sha256}.jpg", folder / "race" / record["names"][0])
    command = [sys.executable, "-m", "harness", "prepare", "race", "references.root=set", "preset=fast"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    return folder / "set"


@pytest.fixture
def prepared(_prepared: Path, tmp_path: Path) -> Path:
    """Sample photos as `harness prepare` leaves them: suggestions, and no labels."""
    return Path(shutil.copytree(_prepared, tmp_path / "prepared"))


@pytest.fixture
def prepared_server(prepared: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """`harness ui` on prepared photos."""
    server = ServerProcess(tmp_path, f"references.root={prepared}")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def ghost_server(prepared: Path, tmp_path: Path) -> Iterator[ServerThread]:
    """The labelling pages on prepared photos."""
    yield from _threaded(StagingSource(LabelStore(prepared)), tmp_path)


@pytest.fixture
def tiny_server(tiny_set: Path, tmp_path: Path) -> Iterator[ServerThread]:
    """The labelling pages on three small photos that are labelled."""
    yield from _threaded(StagingSource(LabelStore(tiny_set)), tmp_path)


def _threaded(source: LabelSource, folder: Path) -> Iterator[ServerThread]:
    server = ServerThread(source, folder / "mlruns")
    server.start()
    yield server
    server.stop()
