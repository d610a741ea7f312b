"""Where a run comes from: the code's commit and the versions of what it runs on."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("harness", "mlflow", "hydra-core", "numpy", "opencv-python-headless", "onnxruntime", "rapidocr")


def provenance() -> dict[str, str]:
    """Tags that say which code and which packages made a run."""
    source = {"mlflow.source.name": "harness", "mlflow.source.type": "LOCAL"}
    return {**source, **_git(), **versions(), "version.python": platform.python_version()}


@cache
def code_digest() -> str:
    """A digest over the harness's own source."""
    total, root = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        total.update(f"{path.relative_to(root).as_posix()}\0".encode() + path.read_bytes())
    return total.hexdigest()


def versions() -> dict[str, str]:
    """The versions of the packages that a run's results depend on."""
    found = {}
    for package in _PACKAGES:
        try:
            found[f"version.{package}"] = version(package)
        except PackageNotFoundError:
            found[f"version.{package}"] = "not installed"
    return found


@cache
def _git() -> dict[str, str]:
    """The commit of the checkout that this code was started from, and whether it was changed; none when installed."""
    here = Path(__file__).parent
    tracked = _run_git(here, "ls-files", "--error-unmatch", Path(__file__).name)
    commit = _run_git(here, "rev-parse", "HEAD")
    if tracked is None or commit is None:
        return {"git.commit": "not a checkout"}
    dirty = bool(_run_git(here, "status", "--porcelain", "--untracked-files=no"))
    return {"git.commit": commit, "mlflow.source.git.commit": commit, "git.dirty": str(dirty).lower()}


def _run_git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
