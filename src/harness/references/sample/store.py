"""The generated sample in the cache: made once, whole or not at all, however many processes ask for it."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path

from harness.cache import cache_dir
from harness.locks import file_lock

_PACKAGES = ("numpy", "opencv-python", "opencv-python-headless", "pillow", "matplotlib", "openpeople")


def sample_key() -> str:
    """A short digest over the generator's own files and the versions that its pixels depend on."""
    total = hashlib.sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith((".py", ".json")):
            total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    for package in _PACKAGES:
        total.update(f"{package}=={_version(package)}\n".encode())
    return total.hexdigest()[:12]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def ensure_sample() -> Path:
    """The folder of the generated sample, made now if it is not there yet."""
    cache = cache_dir()
    folder = cache / f"sample-{sample_key()}"
    if folder.is_dir():
        return folder
    with file_lock(cache / f"{folder.name}.lock"):
        if not folder.is_dir():
            _make(folder)
    return folder


def _make(folder: Path) -> None:
    """Generate beside and rename, so that the folder is there only when it is whole."""
    from harness.references.sample.generate import generate

    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        generate(beside)
        beside.chmod(0o755)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
