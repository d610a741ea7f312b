"""The hidden folder that an import copies photos into before it enters them.

A kill leaves it behind, and the next import clears it away. Whose folder it is says a lock beside it, taken before the
folder is made and held until it goes: a folder whose lock nobody holds is a dead process's.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.base.locks import file_lock, is_locked

_SUFFIX, _LOCK_SUFFIX = ".new", ".lock"


@contextmanager
def workspace(root: Path) -> Iterator[Path]:
    """An empty folder in `root`, gone when the block ends; so are those that dead processes left."""
    _clear_abandoned(root)
    folder = root / f".import.{secrets.token_hex(4)}{_SUFFIX}"
    with file_lock(_lock_of(folder)):
        folder.mkdir()
        try:
            yield folder
        finally:
            _remove(folder)


def _clear_abandoned(root: Path) -> None:
    for folder in root.glob(f".import.*{_SUFFIX}"):
        if not is_locked(_lock_of(folder)):
            _remove(folder)


def _remove(folder: Path) -> None:
    """The lock goes first: a folder without one is cleared away the next time, a lock without a folder never is."""
    _lock_of(folder).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _lock_of(folder: Path) -> Path:
    return folder.with_suffix(_LOCK_SUFFIX)
