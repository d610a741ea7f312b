"""Photos as pages show them, upright and small where small is enough: kept in the cache folder, each made once.

What a hash names never changes, so that none of them is ever wrong. They show people, and outlive the photo that they
were made of until somebody removes them.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from harness.base.cache import cache_dir

_FOLDER = "renditions"


def rendition(sha256: str, size: str) -> Path:
    """Where the rendition of a photo in one size lies, once it was made."""
    return cache_dir() / _FOLDER / sha256[:2] / f"{sha256}.{size}.jpg"


def forget_renditions(photos: Iterable[str]) -> int:
    """Delete all renditions of some photos, by their hashes; returns how many there were."""
    found = [path for sha256 in photos for path in rendition(sha256, "*").parent.glob(f"{sha256}.*")]
    for path in found:
        path.unlink(missing_ok=True)
    return len(found)


def clear_renditions() -> int:
    """Delete the renditions of all photos; returns how many there were."""
    folder = cache_dir() / _FOLDER
    found = sum(1 for path in folder.glob("*/*") if path.is_file())
    if folder.is_dir():
        shutil.rmtree(folder)
    return found
