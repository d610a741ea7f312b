"""The page that finds photos, as a person uses it: drop a picture or type a number, on real models and pictures."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from harness.building import build_finder
from harness.config import compose
from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from tests.browser.labeling_server import LabelServer, ServerThread, tab_to
from tests.browser.test_labeling_access import grave
from tests.conftest import QUICK
from tests.selfies import jpeg, selfie, two_faces

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(_tiny_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelServer]:
    folder = tmp_path_factory.mktemp("find")
    where = (f"references.root={_tiny_set}", f"cache.folder={folder / 'stages'}", "preset=fast")
    config = compose(["references=staging", *where, *QUICK])
    made = ServerThread(StagingSource(LabelStore(_tiny_set)), folder / "mlruns", lambda: build_finder(config))
    made.start()
    yield made
    made.stop()


def drop(page: Page, content: bytes, name: str = "me.jpg", kind: str = "image/jpeg") -> None:
    """Drop a file on the page, as from the desktop."""
    page.evaluate(
        """([data, name, type]) => {
            const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0)), carried = new DataTransfer();
            carried.items.add(new File([bytes], name, { type }));
            for (const kind of ["dragover", "drop"]) {
                document.querySelector("#drop").dispatchEvent(
                    new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
            }
        }""",
        [base64.b64encode(content).decode(), name, kind],
    )


def names(page: Page) -> list[str]:
    return page.locator("#results .name").all_inner_texts()


def test_a_picture_is_dropped_and_its_photos_come_back(server: LabelServer, page: Page) -> None:
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text) if "Content Security" in message.text else None)
    page.goto(f"{server.address}/find/")
    drop(page, jpeg(selfie("P006")))
    expect(page.locator("#results h2")).to_have_text("Found in 1 of 3 photos of staging")
    assert names(page) == ["P006.jpg"]
    expect(page.locator("#results .reasons")).to_contain_text("face .")
    expect(page.locator("#results h2")).to_be_focused()
    expect(page.locator("#results")).to_contain_text("Threshold .")
    box, image = page.locator("#results rect").last.bounding_box(), page.locator("#results img").bounding_box()
    assert box is not None
    assert image is not None
    assert image["y"] <= box["y"] <= box["y"] + box["height"] <= image["y"] + image["height"] / 2, "the face is drawn"

    drop(page, jpeg(selfie("P003")))
    expect(page.locator("#results h2")).to_have_text("Nobody found in 3 photos of staging")
    drop(page, jpeg(two_faces("P005", "P001")))
    expect(page.locator("#results")).to_contain_text("2 faces in your picture; the largest is searched with")
    assert names(page)[0] == "P005.jpg"
    assert blocked == []


def test_what_cannot_be_searched_with_is_told_and_takes_the_last_answer_away(server: LabelServer, page: Page) -> None:
    page.goto(f"{server.address}/find/")
    drop(page, jpeg(selfie("P006")))
    expect(page.locator("#results h2")).to_be_visible()
    for content, name, kind, words in (
        (
            jpeg(selfie("P006").crop((0, 0, 40, 20))),
            "sky.jpg",
            "image/jpeg",
            "no face was found in it (40 x 20 pixels)",
        ),
        (b"hello", "broken.jpg", "image/jpeg", "not a readable picture"),
    ):
        drop(page, content, name, kind)
        expect(page.locator("#problem")).to_contain_text(words)
        expect(page.locator("#results h2")).to_have_count(0)
    drop(page, b"hello", "notes.txt", "text/plain")
    expect(page.locator("#problem")).to_have_text("notes.txt is not a picture.")
    page.get_by_role("button", name="Remove the picture").click()
    expect(page.locator("#problem")).to_be_hidden()
    page.get_by_role("button", name="Find photos").click()
    expect(page.locator("#problem")).to_have_text("Choose a picture, type a number, or both.")


def test_without_a_mouse(server: LabelServer, page: Page, tmp_path: Path) -> None:
    (tmp_path / "me.jpg").write_bytes(jpeg(selfie("P006")))
    # The browser hands over its dialog where somebody listens. Telling it so takes a moment, in which Enter may come.
    page.on("filechooser", lambda _: None)
    page.goto(f"{server.address}/find/")
    tab_to(page, page.locator("#picture"))
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(tmp_path / "me.jpg")
    expect(page.locator("#results h2")).to_have_text("Found in 1 of 3 photos of staging")
    page.keyboard.press("Tab")
    expect(page.locator("#results a").first).to_be_focused()
    page.goto(f"{server.address}/find/")
    tab_to(page, page.locator("#number"))
    page.keyboard.type("2085")
    page.keyboard.press("Enter")
    expect(page.locator("#results h2")).to_contain_text("Found in")
    assert names(page)[0] == "P005.jpg"
    expect(page.locator("#number")).to_have_value("2085")
    assert page.url.endswith("/find/?number=2085")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(server: LabelServer, browser: Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce", viewport={"width": 1024, "height": 800})  # type: ignore[arg-type]
    page.goto(f"{server.address}/find/?number=417")
    expect(page.locator("#results h2")).to_contain_text("Found in")
    problems = grave(page)
    page.goto(f"{server.address}/find/?number=4%3F")
    expect(page.locator("#problem")).to_be_visible()
    problems += grave(page)
    page.close()
    assert problems == []
