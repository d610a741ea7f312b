"""Small findings that are kept in the cache folder as JSON, and never trusted when damaged."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any


def read_kept(path: Path) -> Any:
    """What was found before; None where it was not, or where the file is not whole."""
    try:
        digest, _, text = path.read_text().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return json.loads(text) if digest == hashlib.sha256(text.encode()).hexdigest() else None


def keep(path: Path, found: Any) -> None:
    """Keep what was found. Where it cannot be written it is found again next time, which costs a second."""
    text = json.dumps(found)
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
        beside.replace(path)
    except OSError:
        return
