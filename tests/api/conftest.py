"""A folder in which somebody works with the API: the sample set is there, and so is a store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import harness


@pytest.fixture
def desk(tmp_path: Path, empty_store: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, with an empty store and an empty cache."""
    shutil.copytree(empty_store, tmp_path / "mlruns")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture(scope="session")
def used_desk(tmp_path_factory: pytest.TempPathFactory, empty_store: Path, sample_root: Path) -> Path:
    """One for all examples: `preset=fast` has been run on the sample set, so that each example finds that run again."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(empty_store, folder / "mlruns")
    (folder / "cache").mkdir()
    (folder / "cache" / sample_root.name).symlink_to(sample_root)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        assert harness.run("preset=fast").complete
    return folder


@pytest.fixture
def at_used_desk(used_desk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In that folder."""
    monkeypatch.chdir(used_desk)
    monkeypatch.setenv("HARNESS_CACHE", str(used_desk / "cache"))
    return used_desk
