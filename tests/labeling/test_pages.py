"""The pages as the server renders them: there, whole, escaped, and without anything that the policy would block."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from harness.labeling.rendering import data_block
from harness.references.adding import add_photos
from harness.references.files import FaceGroundTruth, FaceLabels
from harness.references.store import LabelStore
from tests.labeling.conftest import BIB, FACE, Connect, bibs, faces, hash_of, put, read

PAGES = ("/", "/labels/", "/faces/labels/", "/links/", "/find/", "/staging/", "/runs/", "/docs/")
EVIL = "<img src=x onerror=alert(1)>.jpg"


class Blocked(HTMLParser):
    """Collects what a strict policy would not run or style."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        inline = tag == "style" or (tag == "script" and "src" not in given and given.get("type") != "application/json")
        if inline or "style" in given or any(name.startswith("on") for name in given):
            self.found.append(self.get_starttag_text() or tag)
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source and not source.startswith("/"):
            self.found.append(source)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_nothing_inline_and_loads_nothing_from_elsewhere(client: TestClient, page: str, photo: str) -> None:
    put(client, photo, "bibs", bibs(BIB))
    put(client, photo, "faces", faces(FACE))
    addresses = [page, *([f"{page}{photo}"] if page.endswith(("labels/", "links/")) else [])]
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 200
        parser = Blocked()
        parser.feed(answer.text)
        assert parser.found == []


@pytest.fixture
def evil(root: Path, tmp_path: Path) -> str:
    """A photo whose file name is markup."""
    path = tmp_path / EVIL
    Image.new("RGB", (60, 40), "red").save(path)
    store = LabelStore(root)
    add_photos(store, [path])
    return hash_of(store, EVIL)


def test_markup_in_a_file_name_is_text_everywhere(client: TestClient, evil: str) -> None:
    put(client, evil, "bibs", bibs(BIB))
    put(client, evil, "faces", faces(FACE))
    for page in ("/labels/", "/staging/", "/links/", f"/labels/{evil}", f"/links/{evil}"):
        text = client.get(page).text
        assert "<img src=x" not in text
        assert "img src=x onerror" in text


def test_a_data_block_cannot_be_left() -> None:
    value = {"name": "</script><script>alert(1)</script>&<!--"}
    assert not set("<>&") & set(data_block(value))
    assert json.loads(data_block(value)) == value


def test_an_editor_page_carries_all_that_the_editor_needs(client: TestClient, photo: str) -> None:
    page = client.get(f"/faces/labels/{photo}?show=ghosts").text
    found = re.search(r'<script type="application/json" id="config">(.*?)</script>', page, re.DOTALL)
    assert found
    config = json.loads(found[1])
    assert config["photo"] == read(client, photo)
    assert config["queue"]["position"] == 1
    assert (config["dimension"], config["read_only"], config["query"]) == ("faces", False, "?show=ghosts")
    assert config["scopes"] == ["keep", "uncertain", "exclude"]
    assert config["photo_tags"] == ["no_faces", "light_faces"]
    assert config["box_tags"] == ["tiny", "blurry", "occluded", "profile", "looking_down"]
    pages = {"persons": "/persons/", "bibs": "/labels/", "faces": "/faces/labels/", "links": "/links/"}
    assert config["pages"] == pages


def test_home_says_where_to_go_on(client: TestClient, photo: str) -> None:
    assert f'href="/labels/{photo}#continue"' in client.get("/").text
    put(client, photo, "bibs", bibs())
    assert f'href="/labels/{photo}#continue"' not in client.get("/").text


def test_staging_shows_touched_photos_and_known_negatives_apart(client: TestClient, photo: str) -> None:
    assert "a.jpg" not in client.get("/staging/").text
    put(client, photo, "bibs", bibs())
    put(client, photo, "faces", faces())
    page = client.get("/staging/").text
    assert "a.jpg" in page
    assert "known negative" in page
    assert "b.jpg" not in page
    assert "b.jpg" in client.get("/staging/?state=untouched").text


def test_staging_lists_what_an_older_rule_took_for_complete(client: TestClient, photo: str) -> None:
    assert "To review" not in client.get("/staging/").text
    put(client, photo, "bibs", bibs())
    put(client, photo, "faces", faces(FACE, labeled=False))
    assert "To review" in client.get("/staging/").text
    page = client.get("/staging/?review=true").text
    assert "Nobody has said that the faces are done" in page
    assert "a.jpg" in page
    assert "b.jpg" not in page
    put(client, photo, "faces", faces(FACE, origins=[0]))
    assert "No photo is left to review." in client.get("/staging/?review=true").text


def test_staging_lists_what_cross_checks_find(client: TestClient, photo: str, evil: str) -> None:
    put(client, photo, "faces", faces(FACE))
    assert "Cross-checks" not in client.get("/staging/").text
    assert "Cross-checks find nothing." in client.get("/staging/?cross_checks=true").text
    put(client, evil, "faces", faces(FACE | {"identity": "ada & co"}, FACE | {"x": 0.1, "identity": "ADA & CO"}))
    put(client, photo, "faces", faces(FACE, FACE | {"x": 0.1}, origins=[0, None]))
    assert 'Cross-checks <span class="count">2</span>' in client.get("/staging/").text
    page = client.get("/staging/?cross_checks=true").text
    assert "Nothing was changed" in page
    assert "&#34;Ada&#34; is on 2 faces of one photo" in page
    assert "&#34;ADA &amp; CO&#34; (1 photo), &#34;ada &amp; co&#34; (1 photo)" in page
    assert "<img src=x" not in page
    assert page.index("a.jpg") < page.index("img src=x onerror")
    assert "b.jpg" not in page
    assert "Nobody has said that the faces are done" not in page
    put(client, photo, "faces", faces(FACE, origins=[0]))
    assert "is on 2 faces" not in client.get("/staging/?cross_checks=true").text


def test_names_that_the_api_would_refuse_are_text_on_the_page(connect: Connect, root: Path, photo: str) -> None:
    box = dict.fromkeys("xywh", 0.1)
    names = ("<b>Ada</b>", "<B>ada</B>")
    labels = FaceLabels.model_validate({"boxes": [box | {"identity": name} for name in names]})
    with LabelStore(root).edit() as draft:
        draft.put(FaceGroundTruth, photo, labels)
    page = connect().get("/staging/?cross_checks=true").text
    assert "&lt;b&gt;Ada&lt;/b&gt;" in page
    assert "<b>Ada" not in page


def test_scripts_are_asked_for_again_and_sent_once(client: TestClient) -> None:
    first = client.get("/static/editor.js")
    assert first.headers["cache-control"] == "no-cache"
    assert "javascript" in first.headers["content-type"]
    again = client.get("/static/editor.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_empty_choices_of_a_form_mean_no_filter(client: TestClient) -> None:
    assert client.get("/labels/?show=all&split=&tag=").status_code == 200


def test_a_page_that_is_not_there_is_told_as_a_page(client: TestClient) -> None:
    for address in ("/nowhere", f"/labels/{'0' * 64}", "/labels/x"):
        answer = client.get(address, headers={"Accept": "text/html"})
        assert answer.status_code == 404
        assert "<h1>Not found</h1>" in answer.text


@pytest.mark.parametrize(("size", "width"), [("thumb", 120), ("screen", 120), ("full", 120)])
def test_pictures_are_cached_for_good(client: TestClient, photo: str, size: str, width: int, tmp_path: Path) -> None:
    answer = client.get(f"/photos/{photo}/{size}")
    assert answer.headers["content-type"] == "image/jpeg"
    assert "immutable" in answer.headers["cache-control"]
    (tmp_path / "got.jpg").write_bytes(answer.content)
    assert Image.open(tmp_path / "got.jpg").width == width
    again = client.get(f"/photos/{photo}/{size}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_pictures_are_upright_and_small_where_asked(connect: Connect, root: Path, tmp_path: Path) -> None:
    path = tmp_path / "turned.tif"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (900, 600), "blue").save(path, exif=exif)
    store = LabelStore(root)
    add_photos(store, [path])
    client, sha256 = connect(), hash_of(store, "turned.tif")
    for size, expected in [("thumb", (213, 320)), ("screen", (600, 900)), ("full", (600, 900))]:
        answer = client.get(f"/photos/{sha256}/{size}")
        (tmp_path / "got.jpg").write_bytes(answer.content)
        assert Image.open(tmp_path / "got.jpg").size == expected


def test_a_missing_file_is_not_found(connect: Connect, root: Path, photo: str) -> None:
    (root / "photos" / f"{photo}.jpg").unlink()
    assert connect().get(f"/photos/{photo}/full").status_code == 404
