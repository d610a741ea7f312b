"""Studies on small sets of real pictures and on no pictures at all; and a guard on what no search may touch."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image, ImageDraw, ImageFont

from harness.base.conf import conf_dir
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, write_file
from harness.references.freeze import freeze
from harness.references.store import LabelStore
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.storage import VARIABLE
from tests.conftest import HEIGHT, PEOPLE, QUICK, WIDTH, person_picture, unit
from tests.search.points import experiment

#: Where a bib hangs, in pixels: about 1.3 and 2.2 heights of the face below it.
HIGH, LOW = (185, 195, 110, 90), (185, 275, 110, 90)

WriteExperiment = Callable[..., Path]


def digest_of(*folders: Path) -> str:
    """A digest over every file below some folders, but for photos: those are named by their content."""
    total = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            counted = path.name == "looks.jsonl" or path.parent.name == "sealed"  # what a search may do to a holdout
            if path.is_file() and not counted and path.suffix not in (".jpg", ".lock") and path.name != ".lock":
                total.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return total.hexdigest()


@pytest.fixture(scope="session")
def _race(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set in which a bib that hangs low is its wearer's on the photos of the search, and nobody's on the holdout,
    which has enough photos for a verdict there."""
    root = tmp_path_factory.mktemp("race")
    (root / "photos").mkdir()
    index, bibs, faces, links = {}, {}, {}, {}
    plan = [("iteration", HIGH, True)] * 3 + [("iteration", LOW, True)] * 5
    plan += [("holdout", HIGH, True)] * 3 + [("holdout", LOW, False)] * 10
    for position, (split, bib, linked) in enumerate(plan):
        person, number = ("P001", "P005")[position % 2], str(1301 + 97 * position)
        picture = root / "photos" / f"{number}.jpg"
        _picture(person, number, bib).save(picture, quality=92)
        sha256, size = hashlib.sha256(picture.read_bytes()).hexdigest(), picture.stat().st_size
        picture.rename(picture.with_name(f"{sha256}.jpg"))
        record = {"names": [f"{number}.jpg"], "width": WIDTH, "height": HEIGHT, "bytes": size}
        index[sha256] = record | {"added_at": "2026-01-01T00:00:00Z", "split": split}
        bibs[sha256] = {"labeled": True, "boxes": [unit(bib) | {"number": number}]}
        faces[sha256] = {"labeled": True, "boxes": [unit(PEOPLE[person][1]) | {"identity": f"runner_{number}"}]}
        links[sha256] = [(0, 0)] if linked else []
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(root, BibGroundTruth.model_validate({"photos": bibs}))
    write_file(root, FaceGroundTruth.model_validate({"photos": faces}))
    write_file(root, BibFaceLinks.model_validate({"photos": links}))
    freeze(LabelStore(root), "spring")
    return root


def _picture(person: str, number: str, bib: tuple[int, int, int, int]) -> Image.Image:
    picture = person_picture(person, None)
    draw, (x, y, w, h) = ImageDraw.Draw(picture), bib
    draw.rectangle((x, y, x + w, y + h), fill="white", outline="black")
    draw.text((x + w / 2, y + h / 2), number, fill="black", font=ImageFont.load_default(size=42), anchor="mm")
    return picture


@pytest.fixture
def race(_race: Path, tmp_path: Path) -> Path:
    """A copy of that set, with a frozen one in it."""
    return Path(shutil.copytree(_race, tmp_path / "race"))


@pytest.fixture(autouse=True)
def untouched(request: pytest.FixtureRequest) -> Iterator[None]:
    """After every test of this suite, configs, labels and frozen sets are what they were before it."""
    guarded = [conf_dir()]
    if "race" in request.fixturenames:
        guarded.append(request.getfixturevalue("race"))
    before = digest_of(*guarded)
    yield
    assert digest_of(*guarded) == before


@pytest.fixture(scope="session")
def stage_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One stage cache for all tests here: what the models see in these photos, they see once."""
    return tmp_path_factory.mktemp("stages")


@pytest.fixture
def desk(tmp_path: Path, race: Path, stage_cache: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that a person, or an agent, works in: with `experiments/`, and the race set as its data."""
    folder = tmp_path / "desk"
    (folder / "experiments").mkdir(parents=True)
    shutil.copytree(empty_store, folder / "mlruns")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HARNESS_CACHE", str(stage_cache))
    monkeypatch.delenv(VARIABLE, raising=False)
    return folder


@pytest.fixture
def write_experiment(desk: Path, race: Path) -> WriteExperiment:
    """Write an experiment file on the race set; its base refuses bibs that hang low."""

    def write(name: str = "low_bibs", **changes: Any) -> Path:
        data: Mapping[str, Any] = {
            "base": ["references=staging", f"references.root={race}", "preset=fast", *QUICK, "link.max_drop=1.7"],
            "space": {"link.max_drop": [1.6, 2.0, 2.5, 3.0, 4.0]},
            "objectives": {"link/f1": "maximize"},
            "budget": {"trials": 4, "minutes": 10},
            **changes,
        }
        path = desk / "experiments" / f"{name}.yaml"
        path.write_text(yaml.safe_dump(dict(data)))
        return path.relative_to(desk)

    return write


@pytest.fixture(params=["journal", "postgres"])
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each kind of storage in turn, without anything in it."""
    if request.param == "postgres":
        monkeypatch.setenv(VARIABLE, _fresh_database(request.getfixturevalue("database"), f"t{os.urandom(6).hex()}"))
    else:
        monkeypatch.delenv(VARIABLE, raising=False)
    return str(request.param)


def _fresh_database(cluster: str, name: str) -> str:
    from sqlalchemy import create_engine, make_url, text

    with create_engine(cluster, isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    return make_url(cluster).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def open_ledger(tmp_path: Path) -> Callable[..., Ledger]:
    """Open the ledger of an experiment that needs no photos: in a journal, unless the test is for anywhere."""

    def opened(**changes: Any) -> Ledger:
        made: Experiment = experiment(**changes)
        return Ledger.open(made, tmp_path / made.study)

    return opened
