"""The main round in Firefox: bibs, faces and links, person by person, who is who, and a frozen set in the end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.labeling.source import StagingSource
from harness.references.frozen import load_frozen
from harness.references.store import LabelStore
from harness.types import Split
from tests.browser.firefox import Firefox
from tests.browser.labeling_server import LabelServer, ServerThread, boxes
from tests.labeling.drawn_people import finder, make_set

pytestmark = pytest.mark.browser


@pytest.fixture
def race(tmp_path: Path) -> LabelStore:
    return make_set(
        tmp_path / "race", {"1_two.png": {"Ada": "401", "Bo": "402"}, "2_nobody.png": {}, "3_one.png": {"Cy": "403"}}
    )


@pytest.fixture
def server(race: LabelStore, tmp_path: Path) -> Iterator[LabelServer]:
    made = ServerThread(StagingSource(race), tmp_path / "mlruns", lambda: finder(race.root, tmp_path / "stages"))
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    opened = Firefox(tmp_path_factory.mktemp("firefox") / "profile")
    yield opened
    opened.close()


def on_photo(firefox: Firefox, name: str) -> None:
    firefox.wait("document.body?.dataset.ready === 'true'")
    firefox.wait("document.querySelector('#photo-name')?.textContent === arguments[0]", name)


def all_done(firefox: Firefox) -> None:
    firefox.has_text("#message", "Every photo in this queue is done.")


def saved(firefox: Firefox) -> None:
    firefox.wait("document.querySelector('#saving').dataset.state === 'saved'")


def focused(firefox: Firefox, selector: str) -> None:
    firefox.wait("document.activeElement?.matches(arguments[0])", selector)


def test_bibs_faces_and_links_are_labelled_and_frozen(firefox: Firefox, server: LabelServer, race: LabelStore) -> None:
    two, nobody, one = server.photos()
    firefox.goto(f"{server.address}/labels/{two}")
    on_photo(firefox, "1_two.png")
    firefox.press("a", "a")
    firefox.has_text("#message", "All suggestions are answered.")
    x, y, width, height = firefox.run(
        "(box => [box.x, box.y, box.width, box.height])(document.querySelector('#stage img').getBoundingClientRect())"
    )
    firefox.drag((x + 0.6 * width, y + 0.7 * height), (x + 0.8 * width, y + 0.9 * height))
    firefox.wait("document.querySelectorAll('#boxes [role=option]').length === 3")
    firefox.press("3", "Enter")
    focused(firefox, "#text")
    firefox.type("62?")
    firefox.press("Enter", "d")
    on_photo(firefox, "2_nobody.png")
    firefox.press("n")
    on_photo(firefox, "3_one.png")
    firefox.press("x", "Control+z", "Shift+A", "d")
    all_done(firefox)
    record = server.photo(two)["bibs"]["boxes"][-1]
    assert (record["number"], record["scope"]) == ("62?", "bib_obscured")
    assert [record[side] for side in "xywh"] == pytest.approx([0.6, 0.7, 0.2, 0.2], abs=0.02)
    assert boxes(server.photo(one)) == [("403", "bib")]

    firefox.goto(f"{server.address}/faces/labels/{two}")
    on_photo(firefox, "1_two.png")
    firefox.press("a", "a", "Enter")
    focused(firefox, "#text")
    firefox.type("Bo")
    firefox.press("Enter", "d")
    on_photo(firefox, "2_nobody.png")
    firefox.press("n")
    on_photo(firefox, "3_one.png")
    firefox.press("Shift+A", "d")
    all_done(firefox)
    assert [name for name, _ in boxes(server.photo(two), "faces")] == [None, "Bo"]

    firefox.goto(f"{server.address}/links/{two}")
    on_photo(firefox, "1_two.png")
    firefox.press("1", "d")
    on_photo(firefox, "3_one.png")
    firefox.press("Shift+A", "d")
    all_done(firefox)
    assert [server.photo(photo)["links"] for photo in (two, one)] == [[[0, 0]], [[0, 0]]]

    firefox.goto(f"{server.address}/staging/")
    firefox.click("#freeze-name")
    firefox.type("by_firefox")
    firefox.press("Enter")
    firefox.has_text("#freeze-result", "Frozen by_firefox: 3 photos")
    frozen = load_frozen(race.root, "by_firefox", Split.FULL)
    assert {photo.sha256 for photo in frozen.photos} == {two, nobody, one}


def test_a_photo_is_labelled_person_by_person(firefox: Firefox, server: LabelServer) -> None:
    two = server.photos()[0]
    firefox.goto(f"{server.address}/persons/{two}")
    on_photo(firefox, "1_two.png")
    firefox.press("a")
    firefox.click("#accept")
    firefox.has_text("#message", "Everybody is answered")
    firefox.press("d")
    on_photo(firefox, "2_nobody.png")
    record = server.photo(two)
    assert record["completeness"]["state"] == "complete"
    assert [name for name, _ in boxes(record, "faces")] == ["401", "402"]
    assert record["links"] == [[0, 0], [1, 1]]


def test_people_are_named_by_key_and_by_mouse(firefox: Firefox, server: LabelServer, race: LabelStore) -> None:
    idle = "document.body?.dataset.fresh === 'true' && document.querySelector('#saving').dataset.state === 'saved'"
    firefox.goto(f"{server.address}/people/")
    firefox.wait(idle)
    firefox.has_text("#left", "3 faces left in 3 groups")
    firefox.press("Enter")  # the number of the bib
    firefox.wait(idle)
    firefox.click(".one .crop")
    firefox.press("n")
    focused(firefox, "#text")
    firefox.type("Dee")
    firefox.press("Enter")
    firefox.wait(idle)
    firefox.click("#bystander")
    firefox.wait(idle)
    firefox.press("Control+z")
    firefox.wait(idle)
    found = [box.identity for labels in race.contents().faces.photos.values() for box in labels.boxes]
    assert "Dee" in found
    assert len([name for name in found if name in ("401", "402", "403")]) == 1
    assert len(found) == 2, "the bystander was taken back, and is a suggestion again"
