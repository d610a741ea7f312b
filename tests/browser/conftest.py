"""Debian's Chromium, headless, without a network of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

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
