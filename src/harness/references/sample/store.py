"""The generated sample in the cache, under a name that changes with whatever its pixels depend on."""

from __future__ import annotations

from pathlib import Path

from harness.base.cache import made_once, source_key

_PACKAGES = ("numpy", "opencv-python", "opencv-python-headless", "pillow", "matplotlib", "openpeople")


def sample_key() -> str:
    """A short digest over the generator's own files and the versions that its pixels depend on."""
    return source_key(__package__, _PACKAGES)


def ensure_sample() -> Path:
    """The folder of the generated sample, made now if it is not there yet."""
    return made_once(f"sample-{sample_key()}", _make)


def _make(folder: Path) -> None:
    from harness.references.sample.generate import generate

    generate(folder)
