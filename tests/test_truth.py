"""Edited code never shows old numbers: a user's own detector, tried as its author would, in real processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from harness.base import distributions, loaded
from harness.base.code import code_of
from harness.base.errors import ConflictError, StaleCodeError
from harness.pipeline import looks
from harness.pipeline.cache import StageCache
from harness.pipeline.weights import Weights
from harness.references.photos import OpenedPhoto
from harness.runs.archive import RUN_FILE
from harness.search.base import ensure_base
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from tests.base.test_code import Place

FACES = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from harness.types import FaceBox
import helper

@dataclass(frozen=True)
class MyFaces:
    CHEAP: ClassVar = frozenset()
    models: ClassVar = ()
    def load(self) -> None: pass
    def detect(self, look):
        return tuple(FaceBox(**box) for box in look.see("face", self, None, self._see))
    def _see(self, image):
        import acme
        return [{"x": 0.25, "y": 0.0, "w": 0.5, "h": helper.HEIGHT * acme.scale(), "score": SCORE}]
"""
OTHERS = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar

@dataclass(frozen=True)
class NoBibs:
    CHEAP: ClassVar = frozenset()
    models: ClassVar = ()
    def load(self) -> None: pass
    def read(self, look, faces): return ()

@dataclass(frozen=True)
class NoLinks:
    def link(self, bibs, faces, aspect): return ()
"""
ACME = {"acme/__init__.py": "def scale():\n    from acme_core import UNIT\n    return UNIT"}


@dataclass
class Project:
    """A user's folder, and packages that are installed beside it."""

    folder: Path
    installed: Place

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text)

    def git(self, *arguments: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *names, *arguments], cwd=self.folder, check=True, capture_output=True)

    def run(self, *overrides: str) -> tuple[str, float]:
        """Run the harness; what it said, and the height of the faces that its newest run has found."""
        environment = {**os.environ, "PYTHONPATH": f"{self.installed.site}:{os.environ.get('PYTHONPATH', '')}"}
        environment["HARNESS_CACHE"] = str(self.folder.parent / "cache")
        data = ("references=staging", f"references.root={self.folder.parent / 'set'}")
        command = [sys.executable, "-m", "harness", "face=mine", "bib=none", "link=none", *data, *overrides]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return done.stdout, self.archives()[-1]["height"]

    def archives(self) -> list[dict[str, Any]]:
        """What the runs have found, oldest first."""
        files = sorted((self.folder / "mlruns").rglob(RUN_FILE), key=lambda path: path.stat().st_mtime_ns)
        return [_summary(json.loads(path.read_text())) for path in files]

    def tags(self) -> dict[str, str]:
        """The tags of the newest run."""
        newest = max((self.folder / "mlruns").rglob(RUN_FILE), key=lambda path: path.stat().st_mtime_ns)
        from harness.tracking.catalog import read_tags
        from harness.tracking.store import LocalStore

        return read_tags(LocalStore(str(self.folder / "mlruns"), "harness").open(), newest.parents[1].name)


def _summary(run: dict[str, Any]) -> dict[str, Any]:
    photo = run["tasks"]["photos"]["items"][0]["photo"]
    return {"height": photo["prediction"]["faces"][0]["h"], "score": photo["prediction"]["faces"][0]["score"]}


@pytest.fixture
def project(tmp_path: Path, tiny_set: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    # Python takes a module that was compiled in the same second, from as many bytes, for the same.
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    made = Project(tmp_path / "mine", Place(tmp_path / "nowhere", tmp_path / "site"))
    made.installed.install("acme", "1.0", ACME)
    made.installed.install("acme-core", "1.0", {"acme_core.py": "UNIT = 1.0"})
    made.write("my_faces.py", FACES.replace("SCORE", "0.9"))
    made.write("others.py", OTHERS)
    made.write("helper.py", "HEIGHT = 0.1")
    made.write("conf/face/mine.yaml", "_target_: my_faces.MyFaces")
    made.write("conf/bib/none.yaml", "_target_: others.NoBibs")
    made.write("conf/link/none.yaml", "_target_: others.NoLinks")
    shutil.copytree(empty_store, made.folder / "mlruns")
    return made


@pytest.mark.slow
def test_whatever_is_edited_or_upgraded_is_evaluated_anew(project: Project) -> None:
    project.write(".gitignore", "mlruns\n__pycache__\n")
    project.git("init", "-q")
    project.git("add", "-A")
    project.git("commit", "-qm", "mine")

    told, height = project.run()
    assert height == pytest.approx(0.1)
    assert len(project.tags()["user.git.commit"]) == 40
    assert project.tags()["user.git.dirty"] == "false"
    assert "Nothing has changed" in project.run()[0]

    project.write("helper.py", "HEIGHT = 0.2")
    told, height = project.run()
    assert "Nothing has changed" not in told
    assert height == pytest.approx(0.2), "the helper was edited"
    assert project.tags()["user.git.dirty"] == "true"

    project.write("my_faces.py", FACES.replace("SCORE", "0.8"))
    assert "Nothing has changed" not in project.run()[0]
    assert project.archives()[-1]["score"] == 0.8, "the backend was edited"

    project.installed.install("acme-core", "1.1", {"acme_core.py": "UNIT = 2.0"})
    assert project.run()[1] == pytest.approx(0.4), "a package that a package imports was upgraded"

    project.installed.install("acme", "1.1", {"acme/__init__.py": "def scale():\n    return 3.0"})
    assert project.run()[1] == pytest.approx(0.6), "a package that the backend imports was upgraded"

    assert len(project.archives()) == 5


def test_another_decoder_shares_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two versions of one module that opens photos, each in a process of its own as far as keys are concerned."""
    monkeypatch.syspath_prepend(str(tmp_path))
    cache = StageCache(tmp_path / "cache", 1_000_000)
    seen = []
    for value in (10, 10, 200):
        text = f"import numpy\nclass Photo:\n    sha256 = 'a'\n    image = numpy.full((4, 4, 3), {value}, 'uint8')\n"
        (tmp_path / "decoding.py").write_text(text)
        sys.modules.pop("decoding", None)
        loaded._FIRST_SEEN.clear()
        looks.decoder_key.cache_clear()
        from decoding import Photo  # type: ignore[import-not-found]

        look = looks.Look(Photo(), cache)
        seen.append((look.see("mean", _Eye(), None, lambda image: float(image.mean())), dict(look.hits)))
    sys.modules.pop("decoding", None)
    assert seen == [(10.0, {}), (10.0, {"mean": 1}), (200.0, {})]


def test_the_decoder_of_photos_is_their_whole_way_to_pixels() -> None:
    known = code_of(OpenedPhoto.__module__)
    assert {"harness.references.photos", "harness.references.photo_files"} <= set(known.sources)
    assert {"pillow", "numpy"} <= set(known.distributions)


@dataclass(frozen=True)
class _Eye:
    """Sees the brightness."""

    CHEAP: ClassVar[frozenset[str]] = frozenset()
    models: tuple[Weights, ...] = ()


@pytest.fixture
def study(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """A search that has begun, over a backend and a preset of the user's."""
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("HARNESS_CONF", str(project.folder / "conf"))
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(project.installed.site))
    forget_what_was_loaded("helper", "my_faces", "others")
    project.write("conf/preset/own.yaml", "# @package _global_\nscoring: {face_iou: 0.4}\n")
    experiment = Experiment.model_validate(
        {
            "study": "s",
            "base": ["face=mine", "bib=none", "link=none", "references=staging", f"references.root={tmp_path / 'set'}"],
            "objectives": {"face/f1": "maximize"},
            "space": {"preset": {"choices": ["own", "fast"]}},
            "budget": {"trials": 2, "minutes": 5},
        }
    )
    ledger = Ledger.open(experiment, tmp_path / "studies" / "s")
    ensure_base(ledger)
    return ledger


def forget_what_was_loaded(*modules: str) -> None:
    """As far as code is concerned, a new process."""
    for name in modules:
        sys.modules.pop(name, None)
    loaded._FIRST_SEEN.clear()
    distributions._installed.cache_clear()
    looks._IDENTITIES.clear()
    looks._WHOLE.clear()


def test_a_search_goes_on_only_with_the_code_and_the_config_that_it_began_with(
    study: Ledger, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.search import searchable

    assert ensure_base(study).code

    project.write("helper.py", "HEIGHT = 0.3")
    with pytest.raises(StaleCodeError, match=r"helper\.py: has changed since this process loaded it"):
        ensure_base(study)
    forget_what_was_loaded("helper", "my_faces")
    with pytest.raises(ConflictError, match="study s: the code of the pipeline or of its scoring, or a package"):
        ensure_base(study)
    project.write("helper.py", "HEIGHT = 0.1")
    forget_what_was_loaded("helper", "my_faces")
    ensure_base(study)

    project.write("conf/preset/own.yaml", "# @package _global_\nscoring: {face_iou: 0.3}\n")
    searchable._compose.cache_clear()
    with pytest.raises(ConflictError, match="study s: a config file that its base or its space names has changed"):
        ensure_base(study)
    forget_what_was_loaded("helper", "my_faces", "others")
