"""The identity workbench: groups follow names and constraints, actions are saved whole, crops stay within bounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from harness.labeling.people import workbench
from harness.labeling.people.clusters import NO_CLUSTERS, Clusters, cluster_faces
from harness.labeling.people.crops import Crops
from harness.labeling.people.faces import Face, FaceIndex, FaceIndexes
from harness.labeling.people.grouping import make_groups
from harness.labeling.people.known import KnownPeople
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import StagingSource
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import Constraints
from harness.pipeline.identity.hints import Hints
from harness.pipeline.identity.strangers import stranger_similarity
from harness.references.files import BibGroundTruth, FaceGroundTruth, FaceIdentities
from harness.references.labels import save_identity, view
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore
from tests.labeling.conftest import Connect
from tests.labeling.drawn_people import a_race, face_place, finder, make_set


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request waits until groups are made, however busy the machine is."""
    monkeypatch.setattr(workbench, "MOMENT", 600.0)
    monkeypatch.setattr(workbench.Workbench.current, "__defaults__", (600.0,))


@pytest.fixture
def race(tmp_path: Path) -> LabelStore:
    return make_set(tmp_path / "race", a_race())


@pytest.fixture
def client(race: LabelStore, connect: Connect, tmp_path: Path) -> TestClient:
    source = StagingSource(race)
    return connect(source=source, search=PhotoSearch(source, lambda: finder(race.root, tmp_path / "stages")))


def groups(client: TestClient) -> list[Any]:
    answer = client.get("/api/people/groups").json()
    assert answer["fresh"], answer["state"]
    return list(answer["groups"])


def files(group: Any) -> list[str]:
    return sorted(face["file"] for face in group["faces"])


def group_of(client: TestClient, file: str, position: int = 0) -> Any:
    """The group of the face at a position of a photo."""
    left = f"{face_place(position)[0]:.4f}".rstrip("0")
    return next(
        group
        for group in groups(client)
        if any(face["file"] == file and f"at={left}," in face["crop"] for face in group["faces"])
    )


def seen(faces: list[Any]) -> dict[str, str | None]:
    return {face["face"]: face["was"] for face in faces}


def act(client: TestClient, do: str, faces: list[Any], **more: Any) -> Any:
    answer = client.post("/api/people/changes", json={"do": do, "faces": seen(faces), **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def named(race: LabelStore) -> dict[str, set[str]]:
    """The photos of each name."""
    contents = race.contents()
    found: dict[str, set[str]] = {}
    for photo, labels in contents.faces.photos.items():
        for box in labels.boxes:
            if box.identity:
                found.setdefault(box.identity, set()).add(contents.index.photos[photo].names[0])
    return found


class TestGroups:
    def test_each_person_is_a_group_with_the_linked_number_as_proposal(self, client: TestClient) -> None:
        found = groups(client)
        several = [group for group in found if len(group["faces"]) > 1]
        assert sorted(files(group) for group in several) == [
            [f"{name}_{photo}.png" for photo in range(4)] for name in ("Ada", "Bo", "Cy", "Dee", "Eve", "Flo")
        ]
        assert group_of(client, "Ada_0.png")["proposal"] == "401"
        assert group_of(client, "Dee_0.png")["proposal"] is None
        assert [len(group["faces"]) > 1 for group in found] == sorted(
            (len(g["faces"]) > 1 for g in found), reverse=True
        )
        doubts = [group["doubt"] for group in several]
        assert doubts == sorted(doubts, reverse=True), "the biggest doubt comes first"

    def test_a_name_regroups_the_rest_around_the_known_person(self, client: TestClient) -> None:
        group = group_of(client, "Dee_0.png")
        act(client, "name", group["faces"][:1], name="Dee")
        rest = group_of(client, group["faces"][1]["file"])
        assert (rest["person"], len(rest["faces"])) == ("Dee", 3)
        assert rest["nearest"][0]["name"] == "Dee"
        assert all(near["name"] != "Dee" or near["score"] < 0.8 for near in group_of(client, "Eve_0.png")["nearest"])

    def test_a_split_group_stays_split(self, client: TestClient) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "split", group["faces"][:2], rest=seen(group["faces"][2:]))
        again = group_of(client, group["faces"][0]["file"])
        assert files(again) == sorted(face["file"] for face in group["faces"][:2])

    def test_somebody_who_is_not_that_person_is_not_proposed_as_them(self, client: TestClient) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "name", group["faces"][:3], name="Ada")
        last = group_of(client, group["faces"][3]["file"])
        assert last["person"] == "Ada"
        act(client, "not_person", last["faces"], name="Ada")
        again = group_of(client, group["faces"][3]["file"])
        assert again["person"] is None
        assert "Ada" not in [near["name"] for near in again["nearest"]]

    def test_moved_faces_are_with_the_others_and_out_of_their_group(self, client: TestClient) -> None:
        ada, bo = group_of(client, "Ada_0.png"), group_of(client, "Bo_0.png")
        moved = next(face for face in ada["faces"] if face["file"] == "Ada_0.png")
        rest = [face for face in ada["faces"] if face is not moved]
        act(client, "move", [moved], rest=seen(rest), to=seen(bo["faces"]))
        assert "Bo_1.png" in files(group_of(client, "Ada_0.png"))
        assert files(group_of(client, "Ada_1.png")) == ["Ada_1.png", "Ada_2.png", "Ada_3.png"]

    def test_who_is_left_alone_is_not_asked_again_and_is_a_face(self, client: TestClient, race: LabelStore) -> None:
        before = len(groups(client))
        stranger = group_of(client, "Ada_3.png", 1)
        act(client, "leave", stranger["faces"])
        assert len(groups(client)) == before - 1
        assert client.get("/api/people/state").json()["named"] == 0
        assert sum(len(labels.boxes) for labels in race.contents().faces.photos.values()) == 1

    def test_two_faces_of_a_photo_are_never_one_group(self, tmp_path: Path, connect: Connect) -> None:
        store = make_set(tmp_path / "twins", {f"{n}.png": {"Ada": None, f"Z{n}": None, "Ada ": None} for n in range(4)})
        source = StagingSource(store)
        client = connect(source=source, search=PhotoSearch(source, lambda: finder(store.root, tmp_path / "cache")))
        for group in groups(client):
            photos = [face["photo"] for face in group["faces"]]
            assert len(set(photos)) == len(photos)

    def test_a_wearer_of_a_known_number_is_proposed(self, client: TestClient) -> None:
        with_number = [face for face in group_of(client, "Cy_0.png")["faces"] if face["number"]]
        act(client, "name", with_number[:1], name="Cyrus")
        assert group_of(client, with_number[1]["file"])["proposal"] == "Cyrus"


class TestActions:
    def test_a_group_is_accepted_and_the_labels_are_on_disk(self, client: TestClient, race: LabelStore) -> None:
        group = group_of(client, "Ada_0.png")
        done = act(client, "name", group["faces"], name=group["proposal"])
        assert done["photos"] == 4
        assert named(LabelStore(race.root)) == {"401": {f"Ada_{photo}.png" for photo in range(4)}}
        origins = [box.origin for labels in race.contents().faces.photos.values() for box in labels.boxes]
        assert all(origin and origin.how == "accepted" and origin.at for origin in origins)

    def test_actions_are_undone_step_by_step_and_done_again(self, client: TestClient, race: LabelStore) -> None:
        start = {group["id"]: files(group) for group in groups(client)}
        first = act(client, "name", group_of(client, "Ada_0.png")["faces"], name="Ada")
        second = act(client, "anonymous", group_of(client, "Bo_0.png")["faces"])
        assert second["name"] == "anonymous_1"
        redo = []
        for token in (second["undo"], first["undo"]):
            answer = client.post("/api/people/undo", json={"undo": token})
            assert answer.status_code == 200
            redo.append(answer.json()["undo"])
        assert named(race) == {}
        assert {group["id"]: files(group) for group in groups(client)} == start
        assert client.post("/api/people/undo", json={"undo": redo[-1]}).status_code == 200
        assert list(named(race)) == ["Ada"]
        assert client.post("/api/people/undo", json={"undo": first["undo"]}).status_code == 404, "it is undone already"

    def test_a_suggestion_that_somebody_else_has_named_is_told_and_nothing_is_saved(
        self, client: TestClient, race: LabelStore
    ) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "name", group["faces"][:1], name="Bea")
        answer = client.post("/api/people/changes", json={"do": "name", "faces": seen(group["faces"]), "name": "Ada"})
        assert (answer.status_code, answer.json()["error"]) == (409, "stale")
        assert {name: len(files) for name, files in named(race).items()} == {"Bea": 1}

    def test_a_name_of_somebody_else_is_not_overwritten_unseen(self, client: TestClient, race: LabelStore) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "same", group["faces"])
        labelled = group_of(client, "Ada_0.png")["faces"]
        photo = labelled[0]["photo"]
        save_identity(race, photo, 0, "Bea", view(race, photo).revisions)
        answer = client.post("/api/people/changes", json={"do": "name", "faces": seen(labelled), "name": "Ada"})
        assert answer.status_code == 409
        assert answer.json()["error"] == "stale"
        assert list(named(race)) == ["Bea"]

    @pytest.mark.parametrize(
        ("body", "words"),
        [
            ({"do": "name", "faces": {}}, "needs name and faces"),
            ({"do": "name", "faces": {"x": None}, "name": "Ada"}, "pattern"),
            ({"do": "name", "faces": {"0" * 64 + ":~00000000": None}, "name": "<b>"}, "may not have"),
            ({"do": "rename", "name": "Ada"}, "needs old"),
            ({"do": "fly", "faces": {}}, "name"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, client: TestClient, body: Any, words: str) -> None:
        answer = client.post("/api/people/changes", json=body)
        assert answer.status_code == 422
        assert words in answer.text

    def test_a_frozen_set_takes_nothing(self, race: LabelStore, connect: Connect) -> None:
        from harness.labeling.source import SampleSource

        client = connect(source=SampleSource(race.root))
        assert client.get("/people/").status_code == 200
        answer = client.post("/api/people/changes", json={"do": "rename", "old": "Ada", "name": "Bo"})
        assert (answer.status_code, answer.json()["error"]) == (403, "frozen")


class TestPeople:
    def test_the_gallery_has_everybody_with_numbers_and_photos(self, client: TestClient) -> None:
        act(client, "name", group_of(client, "Ada_0.png")["faces"], name="Ada & Co")
        page = client.get("/people/known/").text
        assert "Ada &amp; Co" in page
        assert "4 faces" in page
        one = client.get("/people/known/Ada%20%26%20Co")
        assert one.status_code == 200
        assert "number 401" in one.text
        assert one.text.count("/people/crops/") >= 4
        assert "Ada &amp; Co" in client.get("/people/known/?search=ada").text
        assert "Nobody" in client.get("/people/known/?search=zoe").text
        assert client.get("/people/known/Zoe").status_code == 404

    def test_known_people_are_near_the_faces_of_a_photo(self, client: TestClient, race: LabelStore) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "name", group["faces"][:3], name="Ada")
        last = group["faces"][3]
        answer = client.get(f"/api/people/near/{last['photo']}").json()
        nearest = {tuple(face["box"]): [near["name"] for near in face["nearest"]] for face in answer["faces"]}
        assert nearest[face_place(0)][0] == "Ada"
        assert all(len(near) <= 3 for near in nearest.values())

    def test_models_that_cannot_be_had_are_told(self, race: LabelStore, connect: Connect) -> None:
        answer = connect(source=StagingSource(race)).get("/api/people/groups").json()
        assert answer["state"]["phase"] == "failed"
        assert "this test searches no photos" in answer["state"]["message"]


class TestSuspects:
    def test_near_identical_faces_with_two_names_are_asked_about_once(
        self, client: TestClient, race: LabelStore
    ) -> None:
        group = group_of(client, "Ada_0.png")
        act(client, "name", group["faces"][:3], name="Ada")
        act(client, "name", group_of(client, group["faces"][3]["file"])["faces"], name="Bo")
        (suspect,) = self._all(client)
        assert suspect["kind"] == "faces_alike"
        assert [side["name"] for side in suspect["sides"]] == ["Ada", "Bo"]
        done = client.post("/api/people/suspects", json={"check": suspect["check"], "answer": "both"}).json()
        assert self._all(client) == []
        assert len(named(race)) == 2, "an answer that both are right changes no label"
        client.post("/api/people/undo", json={"undo": done["undo"]})
        assert len(self._all(client)) == 1
        client.post("/api/people/suspects", json={"check": suspect["check"], "answer": "left"})
        assert list(named(race)) == ["Ada"]
        assert self._all(client) == []

    def test_two_numbers_of_one_person_and_names_alike(self, client: TestClient, race: LabelStore) -> None:
        ada, bo = group_of(client, "Ada_0.png")["faces"], group_of(client, "Bo_0.png")["faces"]
        act(client, "name", ada[:2], name="Ada")
        act(client, "name", ada[2:], name="ada")
        kinds = {each["kind"]: each for each in self._all(client)}
        assert "names_alike" in kinds
        answer = client.post("/api/people/suspects", json={"check": kinds["names_alike"]["check"], "answer": "merge"})
        assert answer.status_code == 422, "names that differ by case have no such answer"
        client.post("/api/people/suspects", json={"check": kinds["names_alike"]["check"], "answer": "left"})
        assert len(named(race)) == 1
        gone = client.post("/api/people/suspects", json={"check": kinds["names_alike"]["check"], "answer": "left"})
        assert gone.status_code == 404
        assert bo

    def test_one_identity_on_two_faces_of_a_photo(self, client: TestClient, race: LabelStore) -> None:
        act(client, "name", group_of(client, "Ada_3.png")["faces"], name="Ada")
        act(client, "name", group_of(client, "Ada_3.png", 1)["faces"], name="Ada")
        twice = next(each for each in self._all(client) if each["kind"] == "identity_on_two_faces")
        assert "everywhere" not in str(twice["answers"])
        client.post("/api/people/suspects", json={"check": twice["check"], "answer": "left"})
        photo = twice["photos"][0]
        assert [box.identity for box in view(race, photo).faces.boxes] == ["Ada", None]

    def test_names_that_contradict_what_is_said_about_faces(self, client: TestClient, race: LabelStore) -> None:
        act(client, "name", group_of(client, "Ada_0.png")["faces"][:2], name="Ada")
        photos = race.contents().faces.photos
        pair = [f"{photo}:{box.id}" for photo, labels in photos.items() for box in labels.boxes if box.identity]
        with race.edit() as draft:
            draft.put_head(FaceIdentities, cannot_link=[pair])
        (apart,) = self._all(client)
        assert (apart["kind"], [side["name"] for side in apart["sides"]]) == ("identity_told_apart", ["Ada", "Ada"])
        client.post("/api/people/suspects", json={"check": apart["check"], "answer": "left"})
        ((kept,),) = named(race).values()
        assert kept == race.contents().index.photos[pair[0].partition(":")[0]].names[0]
        with race.edit() as draft:
            photo, _, box_id = pair[1].partition(":")
            labels = draft.record(FaceGroundTruth, photo)
            boxes = [box.model_copy(update={"identity": "Bo"}) if box.id == box_id else box for box in labels.boxes]
            draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))
            draft.put_head(FaceIdentities, cannot_link=[], must_link=[pair])
        linked = next(each for each in self._all(client) if each["kind"] == "names_linked")
        assert [side["name"] for side in linked["sides"]] == ["Ada", "Bo"]
        client.post("/api/people/suspects", json={"check": linked["check"], "answer": "right"})
        assert {name: len(files) for name, files in named(race).items()} == {"Bo": 2}

    def test_a_settled_check_is_not_told_on_the_staging_page_either(self, client: TestClient) -> None:
        ada = group_of(client, "Ada_0.png")["faces"]
        act(client, "name", ada[:2], name="Ada")
        act(client, "name", ada[2:], name="ADA")
        assert "differ by case" in client.get("/staging/?cross_checks=true").text
        (check,) = (each["check"] for each in self._all(client) if each["kind"] == "names_alike")
        client.post("/api/people/suspects", json={"check": check, "answer": "both"})
        assert "differ by case" not in client.get("/staging/?cross_checks=true").text

    def _all(self, client: TestClient) -> list[Any]:
        answer = client.get("/api/people/suspects").json()
        assert answer["fresh"]
        return list(answer["suspects"])


class TestCrops:
    def test_a_crop_shows_the_box_and_is_small(self, client: TestClient) -> None:
        face = group_of(client, "Ada_0.png")["faces"][0]
        answer = client.get(face["crop"])
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "image/jpeg"
        assert len(answer.content) < 20_000
        assert "immutable" in answer.headers["cache-control"]
        assert client.get(face["crop"].split("?")[0] + "?at=2,2,1,1").status_code == 422
        assert client.get(face["crop"].split("?")[0] + "?at=nonsense").status_code == 422
        assert client.get(f"/people/crops/{'0' * 64}?at=0.1,0.1,0.1,0.1").status_code == 404

    def test_memory_is_bounded(self, race: LabelStore) -> None:
        crops, photo = Crops(most_bytes=20_000), next(iter(race.contents().index.photos))
        path = race.root / "photos" / f"{photo}.png"
        for step in range(40):
            assert crops.get(path, photo, (step / 100, 0.1, 0.2, 0.3))[:2] == b"\xff\xd8"
        assert 0 < crops.size <= 20_000


@pytest.mark.parametrize("people", [200, 400])
def test_the_threshold_lets_few_strangers_through_and_most_friends(people: int) -> None:
    """Four faces each of so many people: strangers are random directions, friends share most of one."""
    rng = np.random.default_rng(people)
    centres = rng.normal(size=(people, 64))
    vectors = np.repeat(centres, 4, axis=0) + 0.5 * rng.normal(size=(people * 4, 64))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    threshold = stranger_similarity(vectors, 0.01)
    similar = vectors @ vectors.T
    same = np.repeat(np.arange(people), 4)[:, None] == np.repeat(np.arange(people), 4)
    assert (np.where(same, -1, similar).max(axis=1) >= threshold).mean() < 0.05
    assert (similar[same] >= threshold).mean() > 0.95


@pytest.mark.parametrize("reached_by", [0.5, 5.0], ids=["many parts", "one part"])
@pytest.mark.parametrize("seed", [1, 3])
def test_clusters_that_are_kept_are_those_that_would_be_made(seed: int, reached_by: float) -> None:
    """Numbers, faces, must-links and cannot-links change; what was clustered before is used each time, and the result
    is that of all faces at once."""
    rng = np.random.default_rng(seed)
    count, people = 120, 20
    vectors = rng.normal(size=(people, 16))[rng.integers(people, size=count)] + 0.7 * rng.normal(size=(count, 16))
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    places = [(at / 1000, 0.1, 0.1, 0.1) for at in range(count)]
    faces = [Face(f"{at // 3}:{at}", str(at // 3), places[at], None, True, str(at % 40)) for at in range(count)]
    known = {face.where: None if at % 17 == 3 else vectors[at] for at, face in enumerate(faces)}
    clustering = Clustering(neighbours=64, number_weight=0.2, time_weight=0.0, seconds_apart=600)
    must, cannot, before = list[tuple[str, str]](), list[tuple[str, str]](), NO_CLUSTERS
    for step in range(8):
        index = FaceIndex(
            {photo: tuple(own) for photo, own in groupby(faces, lambda face: face.photo)}, {}, must, cannot
        )
        before = cluster_faces(index, known, clustering, reached_by, before)
        row = {face.name: at for at, face in enumerate(faces)}
        table = np.array([np.zeros(16) if (each := known[face.where]) is None else each for face in faces], np.float32)
        links = [
            np.array([[row[one], row[two]] for one, two in said]).reshape(-1, 2).astype(int) for said in (must, cannot)
        ]
        photos = np.array([int(face.photo) for face in faces])
        hints = Hints([face.number for face in faces], np.full(len(faces), np.nan))
        whole = clustering.cluster(table, before.threshold, Constraints(photos, links[0], links[1]), hints)
        kept = [before.cluster[face.where] for face in faces]
        assert len({*zip(kept, whole.tolist(), strict=True)}) == len({*kept}) == len({*whole.tolist()})
        together = [(a, b) for b in range(len(faces)) for a in range(b) if kept[a] == kept[b]]
        one, two = (faces[at].name for at in together[rng.integers(len(together))])
        if step % 4 == 0:
            faces = [replace(face, number=str(rng.integers(20))) if rng.random() < 0.5 else face for face in faces]
        elif step % 4 == 1:
            cannot = [(one, two)]
        elif step % 4 == 2:
            must, cannot = [(one, next(face.name for face in reversed(faces) if face.photo != one.split(":")[0]))], []
        else:
            must = []
            faces = [face for face in faces if face.name != one]


def test_a_number_on_several_bibs_of_a_group_lowers_its_doubt() -> None:
    """The faces that fit least are both as dissimilar; one of them wears the number of the others."""
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0.4, 0.9165, 0]], dtype=np.float32)
    places = [(step / 10, 0.1, 0.05, 0.1) for step in range(3)]

    def doubt(*numbers: str | None) -> float:
        faces = [Face(f"{at}:0", str(at), places[at], None, True, number) for at, number in enumerate(numbers)]
        rows = {face.where: at for at, face in enumerate(faces)}
        index = FaceIndex({face.photo: (face,) for face in faces}, {})
        clusters = Clusters(dict.fromkeys(rows, 0), rows, vectors, threshold=0.5, number_weight=0.2)
        (group,) = make_groups(index, clusters, KnownPeople(index, clusters), ())
        return group.doubt

    assert doubt(None, None, None) == doubt("7", "7", None) == pytest.approx(0.6)
    assert doubt("7", "7", "7") == pytest.approx(0.4)
    assert doubt("7", "7", "8") == 1.0


def test_the_index_of_faces_follows_each_change_as_if_it_were_made_anew(client: TestClient, race: LabelStore) -> None:
    kept = FaceIndexes(StagingSource(race))
    for do, file in (
        ("anonymous", "Ada_0.png"),
        ("same", "Bo_0.png"),
        ("not_faces", "Cy_3.png"),
        ("leave", "Dee_0.png"),
    ):
        act(client, do, group_of(client, file)["faces"])
        anew = FaceIndexes(StagingSource(LabelStore(race.root))).current()
        now = kept.current()
        assert (now.photos, now.must_link, now.cannot_link) == (anew.photos, anew.must_link, anew.cannot_link)
        assert list(now.photos) == list(anew.photos)


def test_bibs_are_left_as_they_are(client: TestClient, race: LabelStore) -> None:
    act(client, "name", group_of(client, "Ada_0.png")["faces"], name="Ada")
    assert race.contents().bibs == BibGroundTruth()


class TestStartList:
    @pytest.fixture(autouse=True)
    def _listed(self, race: LabelStore) -> None:
        with race.edit() as draft:
            listed = [Entrant(name="Ada Lovelace", number="401"), Entrant(name="Grace Hopper")]
            draft.put_head(StartList, entrants=listed)

    def test_the_owner_of_a_linked_number_is_proposed(self, client: TestClient) -> None:
        group = group_of(client, "Ada_0.png")
        assert (group["number"], group["wearer"], group["proposal"]) == ("401", "Ada Lovelace", "Ada Lovelace")
        assert group_of(client, "Bo_0.png")["proposal"] == "402", "a number that nobody has on the list"

    def test_what_labels_say_counts_more_than_the_list(self, client: TestClient) -> None:
        faces = {face["face"]: None for face in group_of(client, "Ada_0.png")["faces"] if face["file"] == "Ada_0.png"}
        act(client, "name", [{"face": face, "was": None} for face in faces], name="Ada King")
        photos = {face["file"]: face["photo"] for face in group_of(client, "Ada_1.png")["faces"]}
        assert group_of(client, "Ada_1.png")["proposal"] == "Ada King"
        near = client.get(f"/api/people/near/{photos['Ada_1.png']}").json()["faces"]
        assert near[0]["nearest"][0]["name"] == "Ada King"

    def test_names_of_the_list_are_offered_with_their_numbers(self, client: TestClient) -> None:
        names = client.get("/api/names").json()["names"]
        assert {"name": "Ada Lovelace", "faces": 0, "number": "401", "listed": True} in names
        assert {"name": "Grace Hopper", "faces": 0, "number": None, "listed": True} in names
