"""Faults: processes that die while they write, and processes that write at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.references.labels import view
from tests.references.builders import make_store, photo_hash

ROOT = Path(__file__).parents[2]


def killed_editors(root: Path, rounds: int, editors: int) -> Any:
    """What is told of editors that were killed; it fails where an edit is lost or a file cannot be read."""
    command = [sys.executable, "-m", "tests.references.kill_editors", str(root), str(rounds), "1", str(editors)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_200_random_kills_lose_nothing_acknowledged_and_leave_every_file_readable(tmp_path: Path) -> None:
    result = killed_editors(tmp_path / "set", 200, editors=1)
    assert result["kills"] == 200
    assert result["edits"] > 100
    assert result["journals_mended"] > 0


def test_8_writers_that_are_killed_one_after_the_other_lose_nothing(tmp_path: Path) -> None:
    result = killed_editors(tmp_path / "set", 10, editors=8)
    assert result["kills"] == 80
    assert result["edits"] > 10


EDIT_OWN_PHOTO = """
import sys
from pathlib import Path

import pytest
from harness.references.files import BibLabels
from harness.references.labels import save_bibs, view
from harness.references.store import LabelStore
from tests.references.builders import bib, photo_hash

store, photo = LabelStore(Path(sys.argv[1])), photo_hash(int(sys.argv[2]))
for number in range(25):
    seen = view(store, photo)
    boxes = [*seen.bibs.boxes, bib(number / 100, str(number))][-6:]
    origins = [*range(len(seen.bibs.boxes)), None][-6:]
    save_bibs(store, photo, BibLabels(labeled=True, boxes=boxes), seen.revisions, origins)
"""


def test_4_processes_that_edit_different_photos_at_once_lose_no_edit(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set", photos=4)
    processes = [
        subprocess.Popen([sys.executable, "-c", EDIT_OWN_PHOTO, str(store.root), str(number)], cwd=ROOT)
        for number in range(4)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0] * 4
    assert store.contents().bibs.revision == 4 * 25
    for number in range(4):
        after = view(store, photo_hash(number))
        assert [box.number for box in after.bibs.boxes] == ["19", "20", "21", "22", "23", "24"]
        assert after.links == []
