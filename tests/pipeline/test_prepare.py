"""Preparing: photos in, suggestions beside the labels, and going on after an interruption."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from harness.base.errors import ReferenceSetError
from harness.pipeline import Pipeline
from harness.pipeline.images import UnitBox
from harness.pipeline.looks import Look
from harness.pipeline.prepare import copy_in, provenance_of, suggest
from harness.pipeline.weights import Weights
from harness.references.labels import save_bib_tags, view
from harness.references.store import LabelStore
from harness.types import BibBox, BibFaceLink, FaceBox
from tests.conftest import QUICK, RunHarness

SPOT = UnitBox(x=0.1, y=0.2, w=0.3, h=0.1)


@dataclass(frozen=True)
class FakeReader:
    """Reads the same bib everywhere."""

    CHEAP: ClassVar = frozenset[str]()

    number: str
    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """Nothing to open."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        return (BibBox(**SPOT, number=self.number, score=0.9),)


@dataclass(frozen=True)
class FakeFaces:
    """Finds one face."""

    CHEAP: ClassVar = frozenset[str]()

    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """Nothing to open."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        return (FaceBox(**SPOT, score=0.8),)


@dataclass(frozen=True)
class FakeLinker:
    """Links the first to the first."""

    def link(self, bibs: Sequence[BibBox], faces: Sequence[FaceBox], aspect: float) -> tuple[BibFaceLink, ...]:
        return (BibFaceLink(0, 0),)


def pipeline(number: str = "12") -> Pipeline:
    return Pipeline(FakeReader(number), FakeFaces(), FakeLinker())


def stop_at(photo: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reader raise at its n-th photo."""
    read, calls = FakeReader.read, iter(range(1, 100))

    def stopping(self: FakeReader, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        if next(calls) == photo:
            raise error
        return read(self, look, faces)

    monkeypatch.setattr(FakeReader, "read", stopping)


def suggested(store: LabelStore) -> list[str | None]:
    return [photo.bibs[0].number for photo in store.suggestions().photos.values()]


@pytest.fixture
def store(tiny_set: Path) -> LabelStore:
    return LabelStore(tiny_set)


def test_suggestions_stand_beside_the_labels_and_say_what_made_them(store: LabelStore) -> None:
    labels = {path.name: path.read_bytes() for path in store.root.glob("*.json")}
    made_by = pipeline()
    result = suggest(store, made_by)
    assert (result.photos, result.bibs, result.faces, result.links, result.failed) == (3, 3, 3, 3, {})
    assert {name: (store.root / name).read_bytes() for name in labels} == labels
    suggestions = store.suggestions()
    entry = next(iter(suggestions.photos.values()))
    assert (entry.bibs[0].score, entry.faces[0].score, entry.links) == (0.9, 0.8, [(0, 0)])
    provenance = suggestions.provenances[entry.provenance]
    assert provenance == provenance_of(made_by)
    assert provenance.bib.backend == "tests.pipeline.test_prepare.FakeReader"
    assert provenance.bib.config["number"] == "12"
    assert provenance.bib.version.startswith("harness ")


def test_photos_with_suggestions_of_the_same_configuration_are_passed_over_unless_refreshed(store: LabelStore) -> None:
    suggest(store, pipeline())
    again = suggest(store, pipeline())
    assert (again.photos, again.skipped) == (0, 3)
    assert suggest(store, pipeline(), refresh=True).photos == 3
    assert suggest(store, pipeline(number="77")).photos == 3
    assert suggested(store) == ["77"] * 3


def test_an_interruption_keeps_what_is_done_and_the_next_call_goes_on(
    store: LabelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at(3, KeyboardInterrupt(), monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        suggest(store, pipeline())
    assert suggested(store) == ["12"] * 2
    resumed = suggest(store, pipeline())
    assert (resumed.photos, resumed.skipped) == (1, 2)
    assert suggested(store) == ["12"] * 3


def test_a_photo_that_fails_is_named_and_fails_alone(store: LabelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_at(2, RuntimeError("no"), monkeypatch)
    broken = sorted((store.root / "photos").iterdir())[0]
    broken.write_bytes(b"no picture")
    result = suggest(store, pipeline())
    assert result.photos == 1
    assert sorted(reason.split(":")[0] for reason in result.failed.values()) == ["PhotoError", "RuntimeError"]


def test_labels_that_change_meanwhile_are_kept(store: LabelStore) -> None:
    photo = next(iter(store.contents().index.photos))
    seen = view(store, photo)
    suggest(store, pipeline())
    save_bib_tags(store, photo, ["dark_bib"], seen.revisions)
    suggest(store, pipeline(), refresh=True)
    assert view(store, photo).bibs.tags == ["dark_bib"]


def test_a_folder_without_photos_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReferenceSetError, match="empty: no photos here"):
        copy_in(LabelStore(tmp_path / "new"), tmp_path / "empty")
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_from_a_folder_of_photos_to_a_frozen_benchmark(
    run_harness: RunHarness, work: Path, tiny_set: Path, tmp_path: Path
) -> None:
    """The whole way on the command line, with real models."""
    source = Path(shutil.copytree(tiny_set / "photos", tmp_path / "source"))
    (source / "broken.jpg").write_bytes(b"no picture")
    done = run_harness("prepare", str(source), "preset=fast", *QUICK)
    assert done.returncode == 0, done.stderr
    assert "Photos: 3 new, 0 known, 1 not readable; 3 photos in data/reference" in done.stdout
    assert "broken.jpg: not a readable picture" in done.stdout
    assert "Suggestions by preset fast: 3 photos (2 bibs, 3 faces, 2 links)" in done.stdout
    assert done.stdout.endswith("To confirm and correct them in the browser: harness ui\n")
    again = run_harness("prepare", str(source), "--refresh", "--reset-labels", "-f", "preset=fast", *QUICK)
    assert again.returncode == 0, again.stderr
    assert "Labels taken away; backup in data/reference/backups/" in again.stdout
    assert "Suggestions by preset fast: 3 photos" in again.stdout
    asked = run_harness("prepare", str(source), "--reset-labels")
    assert asked.returncode == 2
    assert "-f" in asked.stderr
    shutil.rmtree(work / "data")
    assert run_harness("import", "--format", "bnr", str(tiny_set)).returncode == 0
    frozen = run_harness("freeze", "--name", "v1", "--description", "three people")
    assert frozen.returncode == 0, frozen.stderr
    run = run_harness("references=frozen", "references.name=v1", "references.split=full", "preset=fast", *QUICK)
    assert run.returncode == 0, run.stderr
    assert "3 photos of v1 (full)" in run.stdout
