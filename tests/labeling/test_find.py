"""The page that finds photos: what it answers and refuses, that it waits for nobody, and that it keeps no picture.

The models here are fakes: a face is the whole of a picture that is not black, and is described by its colour.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from fastapi.testclient import TestClient
from numpy.typing import NDArray
from PIL import Image

from harness.base.errors import MissingPackageError
from harness.building import build_pipeline
from harness.config import compose
from harness.labeling import searching
from harness.labeling.access import MOST_PICTURE_BYTES
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import FrozenSource, StagingSource
from harness.pipeline import Pipeline
from harness.pipeline.cache import CacheConfig
from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image as Pixels
from harness.pipeline.looks import Look
from harness.pipeline.weights import Model
from harness.references.adding import add_photos
from harness.references.freeze import freeze
from harness.references.sets import StagingSet
from harness.references.store import LabelStore
from harness.tasks.identity.finder import Finder
from harness.tasks.photos.scores import PhotoScoring
from harness.tasks.photos.task import PhotosTask
from harness.types import BibBox, FaceBox, Split
from tests.labeling.conftest import FACE, HERE, Connect, faces, hash_of, put
from tests.labeling.test_access import refused
from tests.selfies import answers_in

#: Any since a box has fields of other types, too.
WHOLE: dict[str, Any] = {"x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0}


@dataclass(frozen=True)
class WholePictures:
    """The whole picture is a face; two of them where it is wide; none where it is black."""

    CHEAP: ClassVar = frozenset[str]()
    models: tuple[Model, ...] = ()

    def load(self) -> None:
        """Nothing to open."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        image = look.photo.image
        if not image.any():
            return ()
        whole, small = FaceBox(**WHOLE, score=0.9), FaceBox(x=0.9, y=0.9, w=0.1, h=0.1, score=0.9)
        return (small, whole) if image.shape[1] > 3 * image.shape[0] else (whole,)


@dataclass(frozen=True)
class Reader:
    """Reads 417 in the bluest photo."""

    CHEAP: ClassVar = frozenset[str]()
    models: tuple[Model, ...] = ()

    def load(self) -> None:
        """Nothing to open."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        blue = look.photo.image[0, 0, 2] < 10
        return (BibBox(x=0.4, y=0.5, w=0.1, h=0.1, number="417", score=0.9),) if blue and faces else ()


@dataclass(frozen=True, kw_only=True)
class Colours(Recogniser):
    """A face is its colour."""

    @property
    def models(self) -> tuple[Model, ...]:
        """None."""
        return ()

    @property
    def side(self) -> int:
        """Small."""
        return 8

    def load(self) -> None:
        """Nothing to open."""

    def describe(self, face: Pixels) -> NDArray[np.float32]:
        colour: NDArray[np.float32] = face.reshape(-1, 3).mean(axis=0).astype(np.float32) - np.float32(100)
        return colour


def finder(root: Path, cache: Path) -> Finder:
    ours = build_pipeline(compose([]))
    assert ours.identity is not None
    people = Colours(least_height=20, gallery="all", fpir=0.01, clustering=ours.identity.clustering)
    pipeline = Pipeline(Reader(), WholePictures(), ours.link, people)
    staging, scoring = StagingSet(str(root), Split.FULL, "photo"), PhotoScoring(bib_iou=0.5, face_iou=0.5)
    return Finder(PhotosTask(staging, scoring, pipeline, CacheConfig(True, str(cache), 100)))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request waits until the photos were looked at, however busy the machine is."""
    monkeypatch.setattr(searching, "_SECONDS_TO_WAIT", 60.0)


@pytest.fixture
def search(root: Path, tmp_path: Path) -> PhotoSearch:
    return PhotoSearch(StagingSource(LabelStore(root)), lambda: finder(root, tmp_path / "stages"))


@pytest.fixture
def client(connect: Connect, search: PhotoSearch) -> TestClient:
    return connect(search=search)


def picture(colour: tuple[int, int, int], size: tuple[int, int] = (120, 80)) -> bytes:
    content = io.BytesIO()
    Image.new("RGB", size, colour).save(content, "PNG")
    return content.getvalue()


def post(client: TestClient, content: bytes, number: str = "", kind: str = "image/png", **headers: str) -> Any:
    sent = {"Content-Type": kind, **headers}
    return client.post("/find/", params={"number": number}, content=content, headers=sent)


def files_in(folder: Path) -> dict[Path, bytes]:
    """All files but those of the stage cache."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.parent.name != "stages"}


def shown(page: str) -> list[str]:
    return re.findall(r'<span class="name">(.*?)</span>', page)


def label(client: TestClient, root: Path, **names: str) -> None:
    for photo, name in names.items():
        sha256 = hash_of(LabelStore(root), f"{photo}.jpg")
        assert put(client, sha256, "faces", faces(FACE | WHOLE | {"identity": name})).status_code == 200


#: The colours of the photos a.jpg to d.jpg, as `conftest` draws them.
COLOURS = {name: (40 * number, 90, 120) for number, name in enumerate("abcd")}


class TestAnswers:
    def test_nothing_is_opened_before_somebody_searches(self, connect: Connect, root: Path) -> None:
        client = connect(search=PhotoSearch(StagingSource(LabelStore(root)), lambda: pytest.fail("too early")))
        page = client.get("/find/")
        assert page.status_code == 200
        assert 'id="picture"' in page.text
        assert "Found in" not in page.text
        assert client.get("/find/state").json() == {"phase": "idle", "done": 0, "total": 0, "message": ""}

    def test_a_picture_finds_photos_by_a_threshold_that_labels_set(self, client: TestClient, root: Path) -> None:
        label(client, root, a="Ada", b="Bo", c="Cy")
        answer = post(client, picture(COLOURS["b"]))
        assert answer.status_code == 200
        assert shown(answer.text)[0] == "b.jpg"
        assert "face 1.00" in answer.text
        assert "set by the labels of these photos" in answer.text
        assert "rests on 3 searches" in answer.text
        assert f'href="/faces/labels/{hash_of(LabelStore(root), "b.jpg")}"' in answer.text
        assert "<script" not in answer.text

    def test_nobody_is_found(self, client: TestClient, root: Path) -> None:
        label(client, root, a="Ada", b="Bo", c="Cy")
        answer = post(client, picture((10, 255, 10)))
        assert answer.status_code == 200
        assert "Nobody found in 4 photos of staging" in answer.text
        assert shown(answer.text) == []

    def test_without_a_threshold_the_nearest_are_shown_with_a_warning(self, client: TestClient) -> None:
        answer = post(client, picture(COLOURS["c"]))
        assert "Nobody found" in answer.text
        assert "There is no threshold" in answer.text
        assert shown(answer.text)[0] == "c.jpg"
        assert "none is known to be similar enough" in answer.text

    def test_a_number_needs_no_script(self, client: TestClient) -> None:
        page = client.get("/find/", params={"number": " 417 "})
        assert page.status_code == 200
        assert shown(page.text) == ["a.jpg"]
        assert "number read 417" in page.text
        assert "Number 417 was read in 1 photo." in page.text
        nobody = client.get("/find/", params={"number": "41"})
        assert nobody.status_code == 200
        assert "Nobody found in 4 photos of staging" in nobody.text

    def test_a_picture_and_a_number(self, client: TestClient, root: Path) -> None:
        label(client, root, a="Ada", b="Bo", c="Cy")
        assert {"a.jpg", "d.jpg"} <= set(shown(post(client, picture(COLOURS["d"]), "417").text))

    def test_a_frozen_set_is_searched_too(self, connect: Connect, root: Path, search: PhotoSearch) -> None:
        freeze(LabelStore(root), "v1", everything=True)
        assert connect(FrozenSource(root, "v1"), search=search).get("/find/?number=417").status_code == 200

    def test_markup_in_a_name_is_text(self, client: TestClient, root: Path, tmp_path: Path) -> None:
        path = tmp_path / "<img src=x onerror=alert(1)>.png"
        path.write_bytes(picture((250, 0, 0)))
        add_photos(LabelStore(root), [path])
        answer = post(client, picture((250, 0, 0)))
        assert "&lt;img src=x" in answer.text
        assert "<img src=x" not in answer.text


class TestRefusals:
    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (picture((0, 0, 0)), "your picture: no face was found in it (120 x 80 pixels)"),
            (picture((0, 0, 0), (1, 1)), "your picture: no face was found in it (1 x 1 pixels)"),
            (picture((200, 0, 0), (12, 12)), "the face is 12 pixels high; from 20 on faces can be compared"),
            (b"hello", "your picture: not a readable picture: no known format"),
            (picture((9, 9, 9))[:60], "your picture: not a readable picture"),
        ],
        ids=["black", "pixel", "small", "text", "corrupt"],
    )
    def test_a_picture_that_cannot_be_searched_with(
        self, client: TestClient, caplog: pytest.LogCaptureFixture, content: bytes, words: str
    ) -> None:
        answer = post(client, content)
        refused(answer, 422, "invalid", caplog)
        assert words in answer.json()["message"]

    def test_several_faces_are_no_refusal(self, client: TestClient) -> None:
        answer = post(client, picture((200, 0, 0), (400, 100)))
        assert "2 faces in your picture; the largest is searched with, 100 pixels high" in answer.text

    def test_a_number_that_is_none(self, client: TestClient) -> None:
        page = client.get("/find/", params={"number": "4?7"})
        assert page.status_code == 422
        assert "expected a whole number" in page.text
        assert client.get("/find/", params={"number": "4" * 50}).status_code == 422
        assert post(client, picture((200, 0, 0)), "4?7").status_code == 422

    def test_only_pictures_from_these_pages_and_no_large_ones(
        self, client: TestClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        content = picture((200, 0, 0))
        refused(post(client, content, kind="application/json"), 415, "not_a_picture", caplog)
        refused(post(client, content, Origin="http://evil.example"), 403, "cross_site", caplog)
        refused(post(client, b"x" * (MOST_PICTURE_BYTES + 1)), 413, "too_large", caplog)
        assert post(client, content, Origin=HERE).status_code == 200
        # Labels are still JSON alone, and no larger than they were.
        sent = client.post("/api/freeze", content=content, headers={"Content-Type": "image/png"})
        assert (sent.status_code, sent.json()["error"]) == (415, "not_json")

    def test_without_the_packages_of_the_pipeline_a_sentence(self, connect: Connect, root: Path) -> None:
        tries: list[int] = []

        def make() -> Finder:
            tries.append(1)
            raise MissingPackageError("face=yunet needs packages that are not installed (cv2); install them with: pip")

        client = connect(search=PhotoSearch(StagingSource(LabelStore(root)), make))
        answer = post(client, picture((200, 0, 0)))
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert "packages that are not installed (cv2)" in answer.json()["message"]
        page = client.get("/find/?number=417")
        assert page.status_code == 503
        assert "packages that are not installed (cv2)" in page.text
        assert len(tries) == 2, "once they are installed, a search works"


class TestState:
    def test_whoever_searches_meanwhile_is_told_how_far_it_is(
        self, connect: Connect, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(searching, "_SECONDS_TO_WAIT", 0.0)
        go, third = threading.Event(), threading.Event()
        seen: list[str] = []
        detect: Callable[..., tuple[FaceBox, ...]] = WholePictures.detect

        def slow(self: WholePictures, look: Look) -> tuple[FaceBox, ...]:
            seen.append(look.photo.sha256)
            if len(seen) == 3:
                third.set()
                assert go.wait(60)
            return detect(self, look)

        monkeypatch.setattr(WholePictures, "detect", slow)
        search = PhotoSearch(StagingSource(LabelStore(root)), lambda: finder(root, tmp_path / "stages"))
        client = connect(search=search)
        first = post(client, picture((200, 0, 0)))
        assert (first.status_code, first.json()["error"], first.json()["total"]) == (503, "preparing", 4)
        assert third.wait(60)
        assert client.get("/find/state").json() == {"phase": "preparing", "done": 2, "total": 4, "message": ""}
        page = client.get("/find/?number=417")
        assert page.status_code == 200
        assert "2 of 4" in page.text
        assert '<meta http-equiv="refresh"' in page.text
        go.set()
        monkeypatch.setattr(searching, "_SECONDS_TO_WAIT", 60.0)
        assert post(client, picture((200, 0, 0))).status_code == 200
        assert client.get("/find/state").json()["phase"] == "ready"
        assert len(set(seen)) == 5, "each photo once, and the picture"

    def test_labels_and_photos_that_changed_are_in_the_next_answer(
        self, client: TestClient, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "There is no threshold" in post(client, picture(COLOURS["c"])).text
        label(client, root, a="Ada", b="Bo")
        answer = post(client, picture(COLOURS["c"]))
        assert "rests on 2 searches" in answer.text
        path = tmp_path / "new.png"
        path.write_bytes(picture((7, 200, 7)))
        add_photos(LabelStore(root), [path])
        looked: list[str] = []
        detect = WholePictures.detect

        def noted(self: WholePictures, look: Look) -> tuple[FaceBox, ...]:
            looked.append(look.photo.sha256)
            return detect(self, look)

        monkeypatch.setattr(WholePictures, "detect", noted)
        assert shown(post(client, picture((7, 200, 7), (121, 80))).text)[0] == "new.png"
        assert len(looked) == 2, "the new photo, and the picture"

    def test_the_picture_is_kept_nowhere(self, client: TestClient, root: Path, tmp_path: Path) -> None:
        assert post(client, picture((200, 0, 0))).status_code == 200
        before, files = answers_in(tmp_path / "stages"), files_in(tmp_path)
        assert before, "what was seen in photos is kept"
        assert post(client, picture((123, 231, 45), (333, 200))).status_code == 200
        assert answers_in(tmp_path / "stages") == before
        assert files_in(tmp_path) == files

    def test_an_error_that_nobody_expected_is_no_answer(
        self, connect: Connect, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken() -> Finder:
            raise ZeroDivisionError

        monkeypatch.setattr(threading, "excepthook", lambda _: None)
        client = connect(search=PhotoSearch(StagingSource(LabelStore(root)), broken))
        answer = post(client, picture((200, 0, 0)))
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert "the log of the server says why" in answer.json()["message"]
