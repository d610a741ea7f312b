"""Writing files so that a crash at any moment leaves the old one or the new one."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file, and make its name last too."""
    replace_file(path, content)
    sync_folder(path.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Write beside, flush to disk, rename over `path`. The name lasts once its folder is synced."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with beside.open("xb") as file:
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
