"""Writing files so that a crash at any moment leaves the old one or the new one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Replace a file, and make its name last too; `mode` says who may read it."""
    replace_file(path, content, mode)
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write beside, flush to disk, rename over `path`. The name lasts once its folder is synced."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last through a crash of the machine."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
