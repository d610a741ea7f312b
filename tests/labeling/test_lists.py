"""Finding a photo among many: search, order, pages, what is left open, and who made which box."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from harness.references.files import PhotoIndex
from harness.references.labels import view
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore
from tests.labeling.conftest import BIB, FACE, OTHER_BIB, bibs, faces, hash_of, put, read


@pytest.fixture
def photos(root: Path) -> list[str]:
    store = LabelStore(root)
    hashes = [hash_of(store, f"{name}.jpg") for name in "abcd"]
    with store.edit() as draft:
        for day, photo in zip((3, 1, 2), hashes, strict=False):
            record = draft.record(PhotoIndex, photo)
            draft.put(PhotoIndex, photo, record.model_copy(update={"taken_at": f"2026-05-0{day}T10:00:00"}))
    return hashes


def listed(client: TestClient, **query: str) -> list[str]:
    answer = client.get("/api/photos", params=query)
    assert answer.status_code == 200, answer.text
    return [photo["name"][0] for photo in answer.json()["photos"]]


def test_a_search_finds_numbers_people_files_and_dates(client: TestClient, photos: list[str]) -> None:
    put(client, photos[1], "bibs", bibs(OTHER_BIB | {"number": "4711"}))
    put(client, photos[2], "faces", faces(FACE | {"identity": "Ada Lovelace"}))
    assert listed(client, q="417") == ["a"], "a suggested number counts while the bibs are not done"
    assert listed(client, q="47") == ["b"]
    assert listed(client, q="711") == [], "a number is found by its beginning"
    assert listed(client, q="lovel") == ["c"]
    assert listed(client, q="person:ADA") == ["c"]
    assert listed(client, q="file:d.jpg") == ["d"]
    assert listed(client, q="date:2026-05-01") == ["b"]
    assert listed(client, q="2026-05 b.jpg") == ["b"], "all words have to be found"
    assert listed(client, q="number:ada") == []
    put(client, photos[0], "bibs", bibs(BIB | {"number": "9"}))
    assert listed(client, q="417") == [], "done bibs are what they are"


def test_photos_can_be_ordered_and_the_queue_follows(client: TestClient, photos: list[str]) -> None:
    assert listed(client, sort="-name") == ["d", "c", "b", "a"]
    assert listed(client, sort="date") == ["d", "b", "c", "a"]
    assert listed(client, sort="-date") == ["a", "c", "b", "d"]
    assert listed(client, sort="suggestions") == ["a", "b", "c", "d"]
    a, b, c, d = photos
    queue = client.get("/api/queue", params={"sort": "date", "at": c}).json()
    assert (queue["previous"], queue["next"], queue["position"], queue["todo"]) == (b, a, 3, [a, d, b])
    narrowed = client.get("/api/queue", params={"sort": "-name", "q": "jpg", "show": "unlabelled", "at": c}).json()
    assert (narrowed["before"], narrowed["after"]) == ([d], [b, a])


def test_filters_live_in_the_address_of_every_link(client: TestClient, photos: list[str]) -> None:
    page = client.get("/labels/?q=a.jpg&sort=date&show=unlabelled").text
    assert f"/labels/{photos[0]}?show=unlabelled&amp;q=a.jpg&amp;sort=date" in page
    assert f"/labels/{photos[1]}" not in page
    assert "viewBox" in page


def test_a_half_answered_photo_says_what_is_open_and_an_untouched_one_nothing(
    client: TestClient, photos: list[str]
) -> None:
    assert "open:" not in client.get("/labels/").text
    put(client, photos[0], "bibs", bibs(BIB, labeled=False))
    left = ["bibs begun, 1 suggestion without an answer", "faces not begun, 1 suggestion without an answer"]
    assert read(client, photos[0])["completeness"]["left_open"] == [*left, "links not begun"]
    assert "open: bibs begun, 1 suggestion without an answer" in client.get("/labels/").text
    assert listed(client, show="begun") == ["a"]
    assert "○ to do" in client.get("/staging/?state=untouched").text
    assert "nothing to link" not in client.get("/staging/?state=untouched").text


def test_each_box_says_who_made_it(client: TestClient, photos: list[str], root: Path) -> None:
    put(client, photos[0], "bibs", bibs(BIB), **{"X-Labeler": "Ada%20L"})
    put(client, photos[0], "bibs", bibs(BIB, OTHER_BIB, origins=[0, None]), **{"X-Labeler": "Ben"})
    boxes = view(LabelStore(root), photos[0]).bibs.boxes
    assert [(box.origin.how, box.origin.by) for box in boxes if box.origin] == [("accepted", "Ada L"), ("drawn", "Ben")]
    moved = bibs(BIB | {"x": 0.41}, OTHER_BIB, origins=[0, 1])
    put(client, photos[0], "bibs", moved, **{"X-Labeler": "Ben"})
    origin = view(LabelStore(root), photos[0]).bibs.boxes[0].origin
    assert origin is not None
    assert (origin.how, origin.by) == ("edited", "Ben")
    assert put(client, photos[0], "bibs", bibs(), **{"X-Labeler": "%3Cb%3E"}).status_code == 400


def persons(*, links: list[list[int]], done: bool = True) -> dict[str, object]:
    body = {"bibs": bibs(BIB, labeled=done), "faces": faces(FACE, labeled=done)}
    return body | {"links": links, "links_labeled": done}


def test_a_pass_over_the_people_is_saved_whole_or_not_at_all(client: TestClient, photos: list[str]) -> None:
    photo, revision = photos[0], read(client, photos[0])["revision"]
    half = put(client, photo, "persons", persons(links=[[0, 0]], done=False)).json()
    assert (half["links"], half["completeness"]["state"]) == ([[0, 0]], "partial")
    stale = put(client, photo, "persons", persons(links=[]), revision)
    assert (stale.status_code, stale.json()["error"]) == (409, "stale")
    assert read(client, photo)["links"] == [[0, 0]]
    whole = persons(links=[[0, 0]])
    whole["bibs"] = bibs(BIB | {"number": "418"}, origins=[0])
    whole["faces"] = faces(FACE, origins=[0])
    assert put(client, photo, "persons", whole).json()["completeness"]["state"] == "complete"
    assert put(client, photo, "persons", persons(links=[[1, 0]])).status_code == 422
    assert read(client, photo)["bibs"]["boxes"][0]["number"] == "418"


def test_a_number_is_known_by_the_name_of_its_runner_elsewhere(client: TestClient, photos: list[str]) -> None:
    put(client, photos[1], "persons", persons(links=[[0, 0]]))
    assert read(client, photos[0])["names_by_number"] == {"417": "Ada"}


def test_whoever_is_listed_without_a_number_keeps_the_one_on_the_bib(
    client: TestClient, photos: list[str], root: Path
) -> None:
    put(client, photos[1], "persons", persons(links=[[0, 0]]))
    with LabelStore(root).edit() as draft:
        draft.put_head(StartList, entrants=[Entrant(name="Ada"), Entrant(name="Bo", number="12")])
    names = {each["name"]: each["number"] for each in client.get("/api/names").json()["names"]}
    assert (names["Ada"], names["Bo"]) == ("417", "12")
