"""A small staging set of real pictures with suggestions, and the labelling app on it, driven in process."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from harness.base.errors import MissingPackageError
from harness.exploring.opened import OpenedRuns
from harness.labeling.access import Access
from harness.labeling.app import make_app
from harness.labeling.context import Context
from harness.labeling.history import RunHistory
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import LabelSource, StagingSource
from harness.pipeline.links.geometric import GeometricLinker
from harness.references.adding import add_photos
from harness.references.store import LabelStore
from harness.references.suggestions import (
    GhostBib,
    GhostFace,
    PhotoSuggestions,
    Provenance,
    StageProvenance,
    Suggestions,
)
from harness.runs.gate import Gate
from harness.scoring.detection import Thresholds
from harness.tasks.identity.finder import Finder
from harness.tracking.store import LocalStore, Store

#: What a browser on the server's own pages sends along.
HERE = "http://127.0.0.1:8600"
LINKER = GeometricLinker(min_drop=0.8, max_drop=5.0, half_width=1.5, behind=0.5, nearer=1.25, threshold=0.0)

BIB = {"x": 0.4, "y": 0.5, "w": 0.1, "h": 0.1, "number": "417", "scope": "bib", "tags": []}
OTHER_BIB = BIB | {"x": 0.7, "number": "62?"}
FACE = {"x": 0.42, "y": 0.2, "w": 0.06, "h": 0.1, "scope": "keep", "identity": "Ada", "tags": []}
OTHER_FACE = FACE | {"x": 0.72, "identity": None}

Connect = Callable[..., TestClient]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four photos, a.jpg to d.jpg; the first has two suggested bibs and a suggested face."""
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    folder, source = tmp_path / "set", tmp_path / "source"
    source.mkdir()
    for number, name in enumerate("abcd"):
        Image.new("RGB", (120, 80), (40 * number, 90, 120)).save(source / f"{name}.jpg")
    store = LabelStore(folder)
    add_photos(store, sorted(source.iterdir()))
    stage = StageProvenance(backend="some.Backend", version="harness 0", models={}, config={})
    made_by = Provenance(bib=stage, face=stage, link=stage)
    ghosts = PhotoSuggestions(
        provenance=made_by.key,
        bibs=[GhostBib(x=0.4, y=0.5, w=0.1, h=0.1, number="417", score=0.9), GhostBib(x=0.1, y=0.1, w=0.1, h=0.1)],
        faces=[GhostFace(x=0.42, y=0.2, w=0.06, h=0.1, score=0.8)],
        links=[(0, 0)],
    )
    first = hash_of(store, "a.jpg")
    with store.edit() as draft:
        draft.put_head(Suggestions, provenances={made_by.key: made_by})
        draft.put(Suggestions, first, ghosts)
    return folder


def no_models() -> Finder:
    raise MissingPackageError("this test searches no photos")


@pytest.fixture
def connect(root: Path, tmp_path: Path) -> Connect:
    """A client of the app on the staging set, or on another source."""

    def connected(
        source: LabelSource | None = None,
        access: Access | None = None,
        store: Store | None = None,
        mlflow_url: str = "",
        search: PhotoSearch | None = None,
        **options: Any,
    ) -> TestClient:
        shown = source or StagingSource(LabelStore(root))
        runs = store or LocalStore(str(tmp_path / "mlruns"), "harness")
        history = RunHistory(runs, shown, Thresholds(0.5, 0.5))
        history.wait()
        opened = OpenedRuns(runs, Gate(strict=False))
        context = Context(shown, LINKER, history, search or PhotoSearch(shown, no_models), opened, mlflow_url)
        return TestClient(make_app(context, access or Access()), base_url=HERE, follow_redirects=False, **options)

    return connected


@pytest.fixture(scope="session")
def _mlruns(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(shutil.copytree(empty_store, tmp_path_factory.mktemp("runs") / "mlruns"))


@pytest.fixture
def kept(_mlruns: str, tmp_path: Path) -> LocalStore:
    """A store without any runs; tests share its folder and differ by experiment."""
    return LocalStore(_mlruns, tmp_path.name)


@pytest.fixture
def client(connect: Connect) -> TestClient:
    return connect()


@pytest.fixture
def photo(root: Path) -> str:
    """The hash of the first photo."""
    return hash_of(LabelStore(root), "a.jpg")


def hash_of(store: LabelStore, name: str) -> str:
    return next(sha256 for sha256, record in store.contents().index.photos.items() if record.names == [name])


def read(client: TestClient, photo: str) -> Any:
    """The photo, as GET answers it."""
    response = client.get(f"/api/photos/{photo}")
    assert response.status_code == 200
    assert response.headers["etag"] == f'"{response.json()["revision"]}"'
    return response.json()


def put(client: TestClient, photo: str, what: str, body: Any, revision: str | None = None, **headers: str) -> Any:
    """Save one dimension, based on the revision as of now unless another is given."""
    revision = read(client, photo)["revision"] if revision is None else revision
    return client.put(f"/api/photos/{photo}/{what}", json=body, headers={"If-Match": f'"{revision}"', **headers})


def bibs(*boxes: Any, origins: list[int | None] | None = None, labeled: bool = True) -> dict[str, Any]:
    """The body of a save of bibs or faces; without origins all boxes are new."""
    return {"labeled": labeled, "boxes": list(boxes), "tags": [], "origins": origins or [None] * len(boxes)}


faces = bibs
