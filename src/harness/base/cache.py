"""Where the harness keeps what it can make again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from harness.base.locks import file_lock


def cache_dir() -> Path:
    """The folder in `HARNESS_CACHE`, else the user's cache folder for the harness."""
    from platformdirs import user_cache_path

    given = os.environ.get("HARNESS_CACHE")
    return Path(given).expanduser().absolute() if given else user_cache_path("harness")


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder of the cache that `make` fills: once, whole or not at all, however many processes ask for it."""
    folder = cache_dir() / name
    if folder.is_dir():
        return folder
    with file_lock(folder.with_name(f"{name}.lock")):
        if not folder.is_dir():
            _make_beside(folder, make)
    return folder


def _make_beside(folder: Path, make: Callable[[Path], None]) -> None:
    """Make it beside and rename, so that the folder is there only when it is whole."""
    beside = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        make(beside)
        beside.chmod(0o755)
        beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
