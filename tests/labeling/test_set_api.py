"""The whole set through the API: queues, progress, freezing."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from harness.references.frozen import load_frozen
from harness.references.store import LabelStore
from harness.types import Split
from tests.labeling.conftest import BIB, FACE, Connect, bibs, faces, hash_of, put


@pytest.fixture
def photos(root: Path) -> list[str]:
    store = LabelStore(root)
    return [hash_of(store, f"{name}.jpg") for name in "abcd"]


def test_a_queue_leads_forth_and_back_in_the_order_of_names(client: TestClient, photos: list[str]) -> None:
    a, b, c, d = photos
    start = client.get("/api/queue").json()
    assert (start["first"], start["next"], start["previous"], start["position"], start["total"]) == (
        a,
        a,
        None,
        None,
        4,
    )
    middle = client.get("/api/queue", params={"at": b}).json()
    assert (middle["previous"], middle["next"], middle["position"]) == (a, c, 2)
    end = client.get("/api/queue", params={"at": d}).json()
    assert (end["previous"], end["next"], end["next_incomplete"]) == (c, None, a)


def test_a_photo_that_left_the_queue_still_has_neighbours(client: TestClient, photos: list[str]) -> None:
    a, b, c, _ = photos
    put(client, b, "bibs", bibs())
    queue = client.get("/api/queue", params={"show": "unlabelled", "at": b}).json()
    assert (queue["position"], queue["previous"], queue["next"], queue["total"]) == (None, a, c, 3)


def test_filters_select(client: TestClient, photos: list[str]) -> None:
    a, b, c, d = photos
    put(client, b, "bibs", bibs())
    put(client, b, "faces", faces())
    put(client, c, "bibs", bibs(BIB))
    put(client, c, "faces", faces(FACE | {"tags": ["blurry"]}))
    for photo, split in zip(photos, ("iteration", "holdout", "iteration", "holdout"), strict=True):
        put(client, photo, "split", {"split": split})

    def listed(**query: str) -> list[str]:
        return [photo["sha256"] for photo in client.get("/api/photos", params=query).json()["photos"]]

    assert listed() == photos
    assert listed(show="unlabelled") == [a, d]
    assert listed(show="incomplete") == [a, c, d]
    assert listed(show="ghosts") == [a]
    assert listed(show="suspects") == []
    assert listed(split="holdout") == [b, d]
    assert listed(tag="blurry") == [c]
    assert listed(dimension="links") == [c]
    assert listed(show="incomplete", split="holdout") == [d]
    assert listed(page="2") == []


def test_ghosts_are_left_until_they_are_answered_or_the_dimension_is_done(client: TestClient, photo: str) -> None:
    def left() -> object:
        return client.get("/api/photos").json()["photos"][0]["ghosts_left"]

    assert left() == {"bibs": 2, "faces": 1}
    put(client, photo, "bibs", bibs(BIB, labeled=False))
    assert left() == {"bibs": 1, "faces": 1}
    put(client, photo, "bibs", bibs(BIB, labeled=True, origins=[0]))
    assert left() == {"bibs": 0, "faces": 1}


def test_progress_counts_photos(client: TestClient, photos: list[str]) -> None:
    a, b, *_ = photos
    put(client, a, "bibs", bibs())
    put(client, b, "bibs", bibs())
    put(client, b, "faces", faces())
    progress = client.get("/api/progress").json()
    assert progress["photos"] == 4
    assert progress["done"] == {"bibs": 2, "faces": 1, "links": 1}
    assert progress["states"] == {"complete": 0, "known_negative": 1, "partial": 1, "untouched": 2}
    assert progress["ghosts_left"] == {"bibs": 0, "faces": 1}


def test_edits_of_another_process_are_seen(client: TestClient, connect: Connect, photos: list[str]) -> None:
    assert client.get("/api/progress").json()["done"]["bibs"] == 0
    put(connect(), photos[0], "bibs", bibs())
    assert client.get("/api/progress").json()["done"]["bibs"] == 1


@pytest.mark.parametrize(
    "query",
    ["show=everything", "split=full", "tag=<script>", "page=0", "dimension=ears", "at=x", "colour=red", "sort=size"],
)
def test_a_filter_that_does_not_exist_is_refused(client: TestClient, query: str) -> None:
    refused = client.get(f"/api/queue?{query}" if "page" not in query else f"/api/photos?{query}")
    name = query.partition("=")[0]
    assert (refused.status_code, refused.json()["error"]) == (400, "bad_request")
    assert name in refused.json()["message"]
    page = client.get(f"/labels/?{query}", headers={"Accept": "text/html"})
    assert (page.status_code, name in page.text) == (400, True)


def test_freezing_takes_complete_photos_and_warns_about_others(
    client: TestClient, photos: list[str], root: Path
) -> None:
    a, b, c, _ = photos
    assert client.post("/api/freeze", json={"name": "none"}).status_code == 422
    put(client, a, "bibs", bibs())
    put(client, a, "faces", faces())
    put(client, b, "bibs", bibs(BIB))
    frozen = client.post("/api/freeze", json={"name": "v1", "description": "first"})
    assert frozen.status_code == 201
    assert (frozen.json()["photos"], frozen.json()["warning"]) == (1, None)
    more = client.post("/api/freeze", json={"name": "v2", "include_incomplete": True}).json()
    assert (more["photos"], more["warning"]) == (2, "1 partly labelled and 0 unlabelled of 2 photos are in the set")
    some = client.post("/api/freeze", json={"name": "v3", "everything": True, "photos": [a, c]}).json()
    assert some["photos"] == 2
    assert {photo.sha256 for photo in load_frozen(root, "v3", Split.FULL).photos} == {a, c}
    unknown = {"name": "v4", "everything": True, "photos": ["0" * 64]}
    assert client.post("/api/freeze", json=unknown).status_code == 404
    assert [each["name"] for each in client.get("/api/frozen").json()["sets"]] == ["v1", "v2", "v3"]


def test_a_touched_frozen_set_is_told_and_hides_no_other(client: TestClient, root: Path) -> None:
    for name in ("v1", "v2"):
        client.post("/api/freeze", json={"name": name, "everything": True})
    manifest = root / "frozen" / "v1" / "manifest.json"
    manifest.chmod(0o644)
    manifest.write_text("{}")
    found = client.get("/api/frozen").json()
    assert ([each["name"] for each in found["sets"]], [each["name"] for each in found["damaged"]]) == (["v2"], ["v1"])
    page = client.get("/staging/")
    assert page.status_code == 200
    assert "<strong>v2</strong>" in page.text
    assert "<strong>v1</strong> cannot be used: " in page.text


def test_a_store_that_cannot_be_read_is_told_and_not_a_crash(client: TestClient, root: Path) -> None:
    (root / "bib_ground_truth.json").write_text("{broken")
    answer = client.get("/api/progress")
    assert (answer.status_code, answer.json()["error"]) == (503, "store")
    assert "bib_ground_truth.json" in answer.json()["message"]


def test_the_api_describes_itself(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert "/api/photos/{sha256}/bibs" in paths
    assert "/api/freeze" in paths
    page = client.get("/docs/").text
    assert all(path in page for path in paths)
