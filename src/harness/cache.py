"""Where the harness keeps what it can make again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """The folder in `HARNESS_CACHE`, else the user's cache folder for the harness."""
    from platformdirs import user_cache_path

    given = os.environ.get("HARNESS_CACHE")
    return Path(given).expanduser().absolute() if given else user_cache_path("harness")
