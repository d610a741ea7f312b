"""A store that is ready, for runs of tasks that need no photos."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture
def stored(empty_store: Path, tmp_path: Path) -> None:
    """The folder that `harness` runs in has a store already: making one takes seconds."""
    shutil.copytree(empty_store, tmp_path / "mlruns")
