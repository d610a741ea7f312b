"""One photo through the API: saves, revisions, links that follow, ghosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from harness.base.errors import InvalidEditError
from harness.references.completeness import State, completeness
from harness.references.files import SuggestedBy
from harness.references.freeze import freeze
from harness.references.labels import save_people, view
from harness.references.sets import StagingSet
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.types import Split
from tests.labeling.conftest import BIB, FACE, OTHER_BIB, OTHER_FACE, Connect, bibs, faces, put, read


def label(client: TestClient, photo: str) -> None:
    """Two bibs, two faces, each face linked to the bib below it."""
    assert put(client, photo, "bibs", bibs(BIB, OTHER_BIB)).status_code == 200
    assert put(client, photo, "faces", faces(FACE, OTHER_FACE)).status_code == 200
    assert put(client, photo, "links", {"links": [[0, 0], [1, 1]]}).status_code == 200


def test_a_photo_that_nobody_touched(client: TestClient, photo: str) -> None:
    seen = read(client, photo)
    assert (seen["name"], seen["width"], seen["height"]) == ("a.jpg", 120, 80)
    assert seen["bibs"] == {"labeled": False, "boxes": [], "tags": []}
    assert seen["links"] is None
    nothing = {"bibs": False, "faces": False, "links": False}
    assert seen["completeness"] == nothing | {"state": "untouched", "left_open": []}
    assert [ghost["answered"] for ghost in seen["ghosts"]["bibs"]] == [False, False]
    assert seen["ghosts"]["provenance"] == {"bibs": "Backend, harness 0", "faces": "Backend, harness 0"}


def test_what_is_saved_is_on_disk_and_comes_back(client: TestClient, photo: str, root: Path) -> None:
    label(client, photo)
    seen = read(client, photo)
    assert seen["bibs"]["boxes"] == [BIB, OTHER_BIB]
    assert seen["faces"]["boxes"] == [FACE, OTHER_FACE]
    assert seen["completeness"]["state"] == "complete"
    assert view(LabelStore(root), photo).links == [(0, 0), (1, 1)]


def test_the_answer_to_a_save_is_the_photo_and_the_revision_for_the_next(client: TestClient, photo: str) -> None:
    answer = put(client, photo, "bibs", bibs(BIB))
    assert answer.json() == read(client, photo)
    again = put(client, photo, "bibs", bibs(BIB, OTHER_BIB, origins=[0, None]), answer.json()["revision"])
    assert again.status_code == 200
    assert again.headers["etag"] == f'"{again.json()["revision"]}"'


def test_links_follow_their_boxes(client: TestClient, photo: str) -> None:
    label(client, photo)
    assert put(client, photo, "bibs", bibs(OTHER_BIB, origins=[1])).json()["links"] == [[0, 1]]
    moved = put(client, photo, "faces", faces(OTHER_FACE | {"x": 0.6}, FACE, origins=[1, 0]))
    assert moved.json()["links"] == [[0, 0]]


def test_saves_keep_the_ids_of_boxes_and_who_is_in_the_photo_though_pages_know_neither(
    client: TestClient, photo: str, root: Path
) -> None:
    label(client, photo)
    store = LabelStore(root)
    save_people(store, photo, ["Ada"], view(store, photo).revisions)
    before = [box.id for box in view(store, photo).faces.boxes]
    assert all(before)
    moved = put(client, photo, "faces", faces(OTHER_FACE | {"x": 0.6}, FACE, FACE | {"x": 0.3}, origins=[1, None, 0]))
    assert moved.status_code == 200, moved.text
    after = view(LabelStore(root), photo).faces
    assert [after.boxes[0].id, after.boxes[2].id] == before[::-1]
    assert after.boxes[1].id not in (None, *before)
    assert after.people == ["Ada"]
    assert put(client, photo, "faces", faces(FACE | {"id": "mine"}, origins=[None])).status_code == 422


def test_links_that_nobody_called_done_are_kept_and_neither_complete_nor_frozen_nor_scored(
    client: TestClient, photo: str, root: Path
) -> None:
    """The link page saves after each link; the photo is done when the person says so."""
    label(client, photo)
    half = put(client, photo, "links", {"links": [[0, 0]], "labeled": False}).json()
    assert (half["links"], half["links_labeled"]) == ([[0, 0]], False)
    assert (half["completeness"]["links"], half["completeness"]["state"]) == (False, "partial")
    assert put(client, photo, "links", {"links": [[0, 0]], "labeled": False}, half["revision"]).status_code == 200
    assert completeness(LabelStore(root).contents(), photo).state is State.PARTIAL
    (staged,) = [each for each in StagingSet(str(root), Split.FULL).load().photos if each.sha256 == photo]
    assert staged.links is None
    with pytest.raises(InvalidEditError, match="no photo"):
        freeze(LabelStore(root), "half")
    done = put(client, photo, "links", {"links": [[0, 0]], "labeled": True}).json()
    assert (done["links_labeled"], done["completeness"]["state"]) == (True, "complete")
    assert "links_open" not in (root / "photo_index.json").read_text()


def test_a_stale_save_is_refused_with_theirs_and_loses_nothing(client: TestClient, photo: str) -> None:
    old = read(client, photo)["revision"]
    theirs = put(client, photo, "bibs", bibs(BIB)).json()
    refused = put(client, photo, "bibs", bibs(OTHER_BIB), old)
    assert refused.status_code == 409
    assert refused.json()["error"] == "stale"
    assert refused.json()["current"] == theirs == read(client, photo)
    mine = client.put(f"/api/photos/{photo}/bibs", json=bibs(OTHER_BIB), headers={"If-Match": refused.headers["etag"]})
    assert mine.json()["bibs"]["boxes"] == [OTHER_BIB]


def test_other_photos_and_other_dimensions_do_not_conflict(client: TestClient, photo: str) -> None:
    old = read(client, photo)["revision"]
    other = client.get("/api/queue", params={"at": photo}).json()["next"]
    assert put(client, other, "bibs", bibs(BIB)).status_code == 200
    assert put(client, photo, "bibs", bibs(BIB), old).status_code == 200
    assert put(client, photo, "faces", faces(FACE), old).status_code == 200


def test_links_are_stale_when_the_boxes_that_they_count_have_changed(client: TestClient, photo: str) -> None:
    label(client, photo)
    old = read(client, photo)["revision"]
    put(client, photo, "bibs", bibs(OTHER_BIB, BIB, origins=[1, 0]))
    assert put(client, photo, "links", {"links": [[0, 0]]}, old).status_code == 409


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("bibs", bibs(BIB)),
        ("faces", faces(FACE)),
        ("links", {"links": []}),
        ("split", {"split": "holdout"}),
        ("bibs/tags", {"tags": ["no_bib"]}),
        ("faces/tags", {"tags": ["no_faces"]}),
    ],
)
def test_a_save_that_is_sent_again_is_answered_again(client: TestClient, photo: str, what: str, body: object) -> None:
    if what == "split":
        put(client, photo, "split", {"split": "iteration"})
    old = read(client, photo)["revision"]
    first, second = put(client, photo, what, body, old), put(client, photo, what, body, old)
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json() == second.json()


def test_a_repeated_removal_does_not_move_links_twice(client: TestClient, photo: str) -> None:
    label(client, photo)
    old, body = read(client, photo)["revision"], bibs(OTHER_BIB, origins=[1])
    assert put(client, photo, "bibs", body, old).json()["links"] == [[0, 1]]
    assert put(client, photo, "bibs", body, old).json()["links"] == [[0, 1]]


def test_links_may_be_none_or_not_looked_for(client: TestClient, photo: str) -> None:
    label(client, photo)
    assert put(client, photo, "links", {"links": []}).json()["completeness"]["links"]
    taken_back = put(client, photo, "links", {"links": None}).json()
    assert (taken_back["links"], taken_back["completeness"]["links"]) == (None, False)


def test_links_are_suggested_on_the_boxes_as_they_are_now(client: TestClient, photo: str) -> None:
    not_a_bib = BIB | {"scope": "not_bib", "number": None}
    put(client, photo, "bibs", bibs(not_a_bib, OTHER_BIB, BIB))
    assert put(client, photo, "faces", faces(FACE, OTHER_FACE)).json()["suggested_links"] == [[1, 1], [2, 0]]


def test_ghosts_are_accepted_and_rejected_as_boxes(client: TestClient, photo: str) -> None:
    etag = {"If-Match": f'"{read(client, photo)["revision"]}"'}
    answer = client.post(f"/api/photos/{photo}/bibs/ghosts", json={"accept": [0], "reject": [1]}, headers=etag).json()
    assert [(box["number"], box["scope"]) for box in answer["bibs"]["boxes"]] == [("417", "bib"), (None, "not_bib")]
    assert [ghost["answered"] for ghost in answer["ghosts"]["bibs"]] == [True, True]
    assert not answer["bibs"]["labeled"]
    again = client.post(f"/api/photos/{photo}/bibs/ghosts", json={"accept": [0], "reject": [1]}, headers=etag)
    assert again.json() == answer
    etag = {"If-Match": again.headers["etag"]}
    face = client.post(f"/api/photos/{photo}/faces/ghosts", json={"reject": [0]}, headers=etag).json()
    assert [box["scope"] for box in face["faces"]["boxes"]] == ["exclude"]


@pytest.mark.parametrize("answers", [{"accept": [0], "reject": [0]}, {"accept": [7]}, {"accept": [-1]}])
def test_answers_to_ghosts_that_make_no_sense_are_refused(client: TestClient, photo: str, answers: object) -> None:
    etag = {"If-Match": f'"{read(client, photo)["revision"]}"'}
    assert client.post(f"/api/photos/{photo}/bibs/ghosts", json=answers, headers=etag).status_code == 422


def test_identities_become_known_names(client: TestClient, photo: str) -> None:
    put(client, photo, "faces", faces(FACE, OTHER_FACE))
    assert put(client, photo, "faces/1/identity", {"identity": "Grace O'Hara"}).status_code == 200
    assert put(client, photo, "faces/9/identity", {"identity": "Nobody"}).status_code == 422
    names = client.get("/api/names").json()
    assert names == {
        "names": [
            {"name": "Ada", "faces": 1, "number": None, "listed": False},
            {"name": "Grace O'Hara", "faces": 1, "number": None, "listed": False},
        ],
        "next_anonymous": "anonymous_1",
    }


def test_anonymous_people_are_numbered_once_and_for_all(client: TestClient) -> None:
    made = [client.post("/api/names/anonymous", json={}) for _ in range(2)]
    assert [(answer.status_code, answer.json()["name"]) for answer in made] == [
        (201, "anonymous_1"),
        (201, "anonymous_2"),
    ]
    assert client.get("/api/names").json()["next_anonymous"] == "anonymous_3"


def test_a_killed_server_has_lost_nothing_that_it_acknowledged(connect: Connect, photo: str) -> None:
    saved = put(connect(), photo, "bibs", bibs(BIB)).json()
    assert read(connect(), photo) == saved


@pytest.mark.parametrize(
    ("what", "body", "where"),
    [
        ("bibs", bibs(BIB | {"x": 1.2}), "boxes.0.x"),
        ("bibs", bibs(BIB | {"x": 0.95}), "boxes.0"),
        ("bibs", bibs(BIB | {"x": "0.4"}), "boxes.0.x"),
        ("bibs", bibs(BIB | {"colour": "red"}), "boxes.0.colour"),
        ("bibs", bibs(BIB | {"scope": "face"}), "boxes.0.scope"),
        ("bibs", bibs(BIB | {"number": "4 1 7"}), "boxes.0.number"),
        ("bibs", {"labeled": True, "boxes": [BIB], "tags": []}, "origins"),
        ("bibs", bibs(BIB, origins=[None, None]), "origins"),
        ("bibs", bibs(*[BIB] * 501), "boxes"),
        ("faces", faces(FACE | {"tags": ["funny"]}), "boxes.0.tags.0"),
        ("links", {"links": [[0, 0], [0, 0]]}, "link"),
        ("links", {"links": [[0, 99]]}, "link"),
        ("split", {"split": "full"}, "split"),
    ],
)
def test_what_does_not_fit_is_refused_by_field_and_changes_nothing(
    client: TestClient, photo: str, what: str, body: object, where: str
) -> None:
    label(client, photo)
    before = read(client, photo)
    refused = put(client, photo, what, body)
    assert refused.status_code == 422
    assert where in refused.json()["message"]
    assert read(client, photo) == before


def test_one_answer_to_several_suggestions_is_not_done_until_somebody_says_so(
    client: TestClient, photo: str, root: Path
) -> None:
    store = LabelStore(root)
    with store.edit() as draft:
        ghosts = draft.record(Suggestions, photo)
        places = [ghosts.faces[0].model_copy(update={"x": place / 10}) for place in range(8)]
        draft.put(Suggestions, photo, ghosts.model_copy(update={"faces": places}))
    put(client, photo, "bibs", bibs())
    etag = {"If-Match": f'"{read(client, photo)["revision"]}"'}
    answered = client.post(f"/api/photos/{photo}/faces/ghosts", json={"accept": [2]}, headers=etag).json()
    assert len(answered["faces"]["boxes"]) == 1
    left = ["faces begun, 7 suggestions without an answer", "links not begun"]
    done = {"bibs": True, "faces": False, "links": False}
    assert answered["completeness"] == done | {"state": "partial", "left_open": left}
    autosaved = put(client, photo, "faces", faces(*answered["faces"]["boxes"], origins=[0], labeled=False)).json()
    assert autosaved["completeness"]["state"] == "partial"
    tagged = put(client, photo, "faces/tags", {"tags": ["light_faces"]}).json()
    assert not tagged["completeness"]["faces"]
    refused = client.post("/api/freeze", json={"name": "v1"})
    assert (refused.status_code, "no photo is labelled completely" in refused.json()["message"]) == (422, True)
    said = put(client, photo, "faces", faces(*answered["faces"]["boxes"], origins=[0])).json()
    assert said["completeness"]["state"] == "complete"
    assert client.post("/api/freeze", json={"name": "v1"}).json()["photos"] == 1


def test_the_store_finds_out_where_a_box_came_from_and_no_client_says_so(
    client: TestClient, photo: str, root: Path
) -> None:
    put(client, photo, "bibs", bibs(BIB, OTHER_BIB))
    found = [box.origin for box in view(LabelStore(root), photo).bibs.boxes]
    assert [origin.how if origin else None for origin in found] == ["accepted", "drawn"]
    assert found[0] is not None
    assert found[0].suggestion == SuggestedBy(backend="some.Backend", score=0.9)
    refused = put(client, photo, "bibs", bibs(BIB | {"origin": {"how": "drawn"}}))
    assert (refused.status_code, "boxes.0.origin" in refused.json()["message"]) == (422, True)
