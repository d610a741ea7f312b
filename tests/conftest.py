"""A tiny reference set of real pictures, made once a session, and a way to run the command line on it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings
from PIL import Image, ImageDraw, ImageFont

from harness.__main__ import run as run_in_process
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    FaceGroundTruth,
    PhotoIndex,
    write_file,
)
from harness.references.labels import save_bib_tags, view
from harness.references.store import LabelStore
from tests.exploring.scored import Scored, score_two
from tests.servers import postgres, postgres_programs, s3_server

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 480, 860
#: Person -> number on the bib and face box, in pixels of the scaled picture. None: the person wears no bib.
PEOPLE: dict[str, tuple[str | None, tuple[int, int, int, int]]] = {
    "P001": ("417", (206, 74, 64, 92)),
    "P005": ("2085", (206, 69, 73, 102)),
    "P006": (None, (206, 71, 65, 89)),
}
BIB = (185, 260, 110, 90)
#: Small pictures, so that real models answer in a fraction of a second.
QUICK = ("bib.long_side=640", "face.long_side=640")

#: Set by scripts/test, which installs PostgreSQL: then its absence is an error and no reason to skip.
REQUIRE_POSTGRES = "HARNESS_REQUIRE_POSTGRES"

# How long an example takes depends on what else the machine does.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

RunHarness = Callable[..., subprocess.CompletedProcess[str]]


#: Fixtures that start a server.
SERVERS = {"database", "server_uri", "s3_environment", "cluster"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Fast tests first: those that need servers, models or whole runs come after them, and the browser last."""
    for item in items:
        chosen = getattr(item, "callspec", None)
        parameters = [value for value in chosen.params.values() if isinstance(value, str)] if chosen else []
        if SERVERS & set(getattr(item, "fixturenames", ())) or "postgres" in parameters:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: (bool(item.get_closest_marker("browser")), bool(item.get_closest_marker("slow"))))


def unit(box: tuple[int, int, int, int]) -> dict[str, float]:
    x, y, w, h = box
    return {"x": x / WIDTH, "y": y / HEIGHT, "w": w / WIDTH, "h": h / HEIGHT}


def person_picture(person: str, number: str | None) -> Image.Image:
    """A full-body picture with the number on the chest."""
    spec = find_spec("openpeople")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    source = Path(spec.submodule_search_locations[0]) / "data" / "curated" / person / "assets" / "studio_posture.jpg"
    picture = Image.open(source).convert("RGB").resize((WIDTH, HEIGHT))
    if number:
        draw, (x, y, w, h) = ImageDraw.Draw(picture), BIB
        draw.rectangle((x, y, x + w, y + h), fill="white", outline="black")
        font = ImageFont.load_default(size=42)
        draw.text((x + w / 2, y + h / 2), number, fill="black", font=font, anchor="mm")
    return picture


@pytest.fixture(scope="session")
def _tiny_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny")
    (root / "photos").mkdir()
    index, bibs, faces, links = {}, {}, {}, {}
    for person, (number, face) in PEOPLE.items():
        picture = root / "photos" / f"{person}.jpg"
        person_picture(person, number).save(picture, quality=92)
        sha256 = hashlib.sha256(picture.read_bytes()).hexdigest()
        size = picture.stat().st_size
        picture.rename(picture.with_name(f"{sha256}.jpg"))
        record = {"names": [f"{person}.jpg"], "width": WIDTH, "height": HEIGHT, "bytes": size}
        index[sha256] = record | {"added_at": "2026-01-01T00:00:00Z", "split": "iteration"}
        boxes = [unit(BIB) | {"number": number}] if number else []
        bibs[sha256] = {"labeled": True, "boxes": boxes}
        faces[sha256] = {"labeled": True, "boxes": [unit(face) | {"identity": person}]}
        links[sha256] = [(0, 0)] if number else []
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(root, BibGroundTruth.model_validate({"photos": bibs}))
    write_file(root, FaceGroundTruth.model_validate({"photos": faces}))
    write_file(root, BibFaceLinks.model_validate({"photos": links}))
    return root


@pytest.fixture(scope="session")
def sample_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole sample set, made once for all workers of the tests, by processes that all want it first."""
    base = tmp_path_factory.getbasetemp()
    cache = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "sample-cache"
    ask = "from harness.references.sample import ensure_sample; print(ensure_sample())"
    environment = {"HARNESS_CACHE": str(cache), "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"}
    asking = [
        subprocess.Popen([sys.executable, "-c", ask], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = {process.communicate(timeout=500)[0].strip() for process in asking}
    assert [process.returncode for process in asking] == [0, 0, 0]
    assert len(answers) == 1
    return Path(answers.pop())


@pytest.fixture
def tiny_set(_tiny_set: Path, tmp_path: Path) -> Path:
    """A copy of three small photos with exact labels, to use and to break."""
    return Path(shutil.copytree(_tiny_set, tmp_path / "set"))


@pytest.fixture(scope="session")
def scored(_tiny_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Scored:
    """Two runs to look at: a baseline that is right in everything, and one that is not. Nobody changes them. One photo
    of the three has a tag."""
    folder = tmp_path_factory.mktemp("explored")
    store = LabelStore(Path(shutil.copytree(_tiny_set, folder / "set")))
    blurred = next(sha256 for sha256, record in store.contents().index.photos.items() if record.names == ["P005.jpg"])
    save_bib_tags(store, blurred, ["blurry_bib"], view(store, blurred).revisions)
    return score_two(store.root, folder / "mlruns")


@pytest.fixture
def harness_process(work: Path, tmp_path: Path) -> RunHarness:
    """`python -m harness ...` in an empty folder, as a user would start it: for what only a process of its own has,
    such as how it is started, imported, interrupted and ended. Each takes a second or two to import what it needs."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "HARNESS_CACHE": str(tmp_path / "cache")}
        command = [sys.executable, "-m", "harness", *arguments]
        return subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=300)

    return run


@pytest.fixture
def run_harness(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunHarness:
    """The same in this process, which has imported everything."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        with monkeypatch.context() as patched:
            patched.chdir(work)
            patched.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
            patched.setenv("HARNESS_CONF", "")  # which --config-dir sets
            patched.setattr("sys.argv", ["harness", *arguments])
            code = run_in_process(list(arguments))
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """The folder that `run_harness` and `harness_process` run in."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    """The address of a database on a PostgreSQL of its own."""
    programs = postgres_programs()
    if programs is None:
        assert not os.environ.get(REQUIRE_POSTGRES), "no PostgreSQL; scripts/test installs it"
        pytest.skip("needs PostgreSQL; scripts/test installs it where it can")
    with postgres(programs) as address:
        yield address


@pytest.fixture(scope="session")
def s3_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What a client of an S3 server of its own needs in its environment; the server has a bucket called `race`."""
    with s3_server(tmp_path_factory.mktemp("s3")) as environment:
        make = "import s3fs; s3fs.S3FileSystem().mkdir('race')"
        subprocess.run([sys.executable, "-c", make], env={**os.environ, **environment}, check=True, timeout=120)
        yield environment


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The address of a Ray cluster of this process, on loopback."""
    from harness.tasks.photos.on_ray import connect

    connect("local", 2)
    import ray

    yield str(ray.get_runtime_context().gcs_address)
    ray.shutdown()


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A local store's folder, to be copied: MLflow takes seconds to make its tables."""
    from mlflow import MlflowClient

    folder = tmp_path_factory.mktemp("empty")
    MlflowClient(f"sqlite:///{folder / 'mlflow.db'}").search_experiments(max_results=1)
    return folder


@dataclass(frozen=True)
class Told:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


Harness = Callable[..., Told]


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Harness:
    """`harness ...` in an empty folder and in this process: quicker, where how it is started is not the question."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARNESS_CONF", "")  # which --config-dir sets
    monkeypatch.setattr("sys.argv", ["harness"])

    def call(*arguments: str) -> Told:
        capsys.readouterr()
        code = run_in_process(list(arguments))
        return Told(code, *capsys.readouterr())

    return call
