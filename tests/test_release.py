"""`scripts/release` refuses what should not be released."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from bench.release import ReleaseError, build, check_names, check_versions, check_wheel

from tests.conftest import ROOT


def git(folder: Path, *words: str) -> None:
    own = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is released of this tree, as a repository of one commit with a dated changelog."""
    folder = tmp_path_factory.mktemp("release") / "repository"
    folder.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "conf", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    (folder / "experiments").mkdir()
    for file in (ROOT / "experiments").glob("*.yaml"):
        shutil.copy(file, folder / "experiments" / file.name)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "all")
    return folder


@pytest.mark.slow
def test_wheel_and_sdist_of_a_clean_commit_hold_what_they_should(repository: Path, tmp_path: Path) -> None:
    wheel, sdist = build(repository, tmp_path)
    assert wheel.name.removesuffix("-py3-none-any.whl") == sdist.name.removesuffix(".tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert "harness/templates/ci/my_gate.yml" in archive.namelist()
    broken = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as archive, zipfile.ZipFile(broken, "w") as less:
        for name in archive.namelist():
            if name != "harness/conf/config.yaml":
                less.writestr(name, archive.read(name))
        less.writestr("harness/extra.txt", "x")
    with pytest.raises(ReleaseError, match=r"missing harness/conf/config.yaml; not expected harness/extra.txt"):
        check_wheel(broken, repository, wheel.name.split("-")[1])


def test_changes_that_are_in_no_commit_are_refused(repository: Path, tmp_path: Path) -> None:
    copied = Path(shutil.copytree(repository, tmp_path / "copied"))
    (copied / "README.md").write_text("changed")
    with pytest.raises(ReleaseError, match=r"changes that are in no commit:\nM README\.md"):
        build(copied, tmp_path)


@pytest.mark.parametrize("place", ["src/harness/__init__.py", "CHANGELOG.md"])
def test_versions_that_do_not_agree_are_refused(place: str, repository: Path, tmp_path: Path) -> None:
    version = check_versions(repository)
    for name in ("pyproject.toml", "CHANGELOG.md", "src/harness/__init__.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((repository / name).read_text())
    changed = tmp_path / place
    changed.write_text(changed.read_text().replace(version, "9.9.9", 1))
    with pytest.raises(ReleaseError, match=rf"{place} has 9.9.9"):
        check_versions(tmp_path)


@pytest.mark.parametrize("name", ["harness/__pycache__/x.pyc", "mlruns/mlflow.db", "x/data/reference/photos/1.jpg"])
def test_what_is_made_while_working_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.whl").touch()
    with pytest.raises(ReleaseError, match="not to be released"):
        check_names([name], tmp_path / "x.whl")
