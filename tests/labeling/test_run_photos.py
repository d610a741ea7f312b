"""The photos of a run over HTTP: the grid, one photo, its pictures, and notes."""

from __future__ import annotations

import json
import re

import pytest
from fastapi.testclient import TestClient

from harness.labeling.photo_run_routes import visible_mark
from harness.labeling.source import StagingSource
from harness.references.store import LabelStore
from tests.exploring.scored import Scored
from tests.labeling.conftest import Connect

PAGE = {"accept": "text/html"}


@pytest.fixture
def client(connect: Connect, scored: Scored) -> TestClient:
    """The app on the set of the runs."""
    return connect(StagingSource(LabelStore(scored.root)), store=scored.store)


def test_the_grid_has_every_photo_with_what_is_wrong_and_what_has_changed(client: TestClient, scored: Scored) -> None:
    page = client.get(f"/runs/{scored.run}/photos").text
    assert "<strong>3</strong> of 3 photos" in page
    assert "newly broken: 1 face lost; 1 link lost" in page
    assert re.search(r'newly broken <span class="count">3</span>', page)
    assert re.search(r'missed links <span class="count">1</span>', page)
    filtered = client.get(f"/runs/{scored.run}/photos?mistake=missed_links&sort=name").text
    assert "<strong>1</strong> of 3 photos" in filtered
    assert re.findall(r'<span class="name">(.*?)</span>', filtered) == ["P001.jpg"]


def test_a_part_of_the_grid_as_json(client: TestClient, scored: Scored) -> None:
    answer = client.get(f"/api/runs/{scored.run}/photos?sort=name&start=1&count=1").json()
    assert (answer["total"], answer["start"], [photo["name"] for photo in answer["photos"]]) == (3, 1, ["P005.jpg"])
    photo = answer["photos"][0]
    assert (photo["words"], photo["change"]) == ("1 number missed, 1 number false, 1 bib misread", "newly broken")
    assert [state for state, _ in photo["marks"]] == ["misread", "misread"]


def test_what_is_wrong_can_be_seen_in_the_grid_however_small_it_is(client: TestClient, scored: Scored) -> None:
    page = client.get(f"/runs/{scored.run}/photos?mistake=missed_faces").text
    (_, _, wide, high) = map(int, re.findall(r'viewBox="(.*?)"', page)[0].split())
    (face,) = next(photo for photo in scored.photos.values() if photo.name == "P001.jpg").faces
    for name in ("under", "missed"):  # dark below the colour, so that it stands out from whatever is behind it
        box = re.search(rf'<rect class="{name}" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"/>', page)
        assert box is not None
        x, y, w, h = visible_mark(face.xywh, (wide, high))
        assert [float(part) for part in box.groups()] == pytest.approx(
            [x * wide, y * high, w * wide, h * high], abs=0.1
        )
    assert visible_mark([0.2, 0.2, 0.3, 0.4], (wide, high)) == pytest.approx([0.2, 0.2, 0.3, 0.4]), "it is large enough"
    for size, least in (((1200, 900), (74, 76)), ((600, 1800), (150, 152)), ((4, 3), (0.25, 0.26))):
        x, y, w, h = visible_mark([0.5, 0.5, 0.001, 0.001], size)
        assert least[0] <= w * size[0] <= least[1]
        assert w * size[0] == pytest.approx(h * size[1])
        assert (x + w / 2, y + h / 2) == pytest.approx((0.5005, 0.5005)), "its middle stays"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("mistake=nonsense", "mistake=nonsense: no photo of this run has it"),
        ("sort=shoe", "must be 'worst', 'change' or 'name'"),
        ("least=2", "must be less than or equal to 1"),
        ("shoe=1", "no such key"),
    ],
)
def test_an_address_that_does_not_fit_is_refused_in_a_sentence(
    client: TestClient, scored: Scored, query: str, told: str
) -> None:
    answer = client.get(f"/api/runs/{scored.run}/photos?{query}")
    assert answer.status_code == 422
    assert told in answer.json()["message"]


def test_a_run_or_photo_that_is_not_there_is_not_found(client: TestClient, scored: Scored) -> None:
    answer = client.get("/runs/nobody/photos", headers=PAGE)
    assert answer.status_code == 404
    assert "no run has this id or name" in answer.text
    assert client.get(f"/runs/{scored.run}/photos/{'0' * 64}").status_code == 404
    assert client.get(f"/runs/{scored.run}/pictures/{'0' * 64}/thumb").status_code == 404


def test_one_photo_has_its_layers_and_the_way_to_others_and_to_the_editor(client: TestClient, scored: Scored) -> None:
    first = client.get(f"/api/runs/{scored.run}/photos?sort=name").json()["photos"]
    page = client.get(f"/runs/{scored.run}/photos/{first[1]['sha256']}?sort=name").text
    config = json.loads(page.partition('id="config">')[2].partition("</script>")[0])
    assert set(config["layers"]) == {"run", "base"}
    assert config["editors"] == {"bibs": "/labels/", "faces": "/faces/labels/", "links": "/links/"}
    assert f'rel="prev" href="/runs/{scored.run}/photos/{first[0]["sha256"]}?sort=name"' in page
    assert f'rel="next" href="/runs/{scored.run}/photos/{first[2]["sha256"]}?sort=name"' in page
    assert "2 of 3" in page
    picture = client.get(config["photo"]["source"] + "thumb")
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/jpeg")


def test_labels_of_another_set_than_the_served_one_cannot_be_edited_here(connect: Connect, scored: Scored) -> None:
    client = connect(store=scored.store)
    photo = client.get(f"/api/runs/{scored.run}/photos").json()["photos"][0]["sha256"]
    page = client.get(f"/runs/{scored.run}/photos/{photo}").text
    assert 'id="edit"' not in page
    assert f"references.root={scored.root}" in page
    assert client.get(f"/runs/{scored.run}/pictures/{photo}/thumb").status_code == 200


def test_a_note_is_kept_and_shown_as_text(client: TestClient, scored: Scored) -> None:
    photo = client.get(f"/api/runs/{scored.run}/photos?sort=name").json()["photos"][2]["sha256"]
    address = f"/api/runs/{scored.run}/photos/{photo}/notes"
    answer = client.post(address, json={"text": "<b>a shop window</b>"})
    assert answer.json()["notes"][-1][1] == "<b>a shop window</b>"
    assert client.post(address, json={"text": "  "}).status_code == 422
    assert client.post(address, json={"text": "x" * 2001}).status_code == 422
    assert "<b>a shop window" not in client.get(f"/runs/{scored.run}/photos/{photo}").text
