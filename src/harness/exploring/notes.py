"""Notes that people leave on photos of a run. They are tags of the run in MLflow, so that everybody who shares the
store sees them; each is a tag of its own, and none replaces another."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime

from harness.tracking.catalog import read_tags
from harness.tracking.patience import told
from harness.tracking.store import Store

_TAG = "photo_note"
#: As much of a photo's hash as names it among those of a run.
_NAMED = 16


def notes_of(tags: Mapping[str, str]) -> dict[str, str]:
    """The notes among the tags of a run."""
    return {name: text for name, text in tags.items() if name.startswith(f"{_TAG}.")}


def notes_on(notes: Mapping[str, str], sha256: str) -> list[tuple[str, str]]:
    """Those on one photo, oldest first: when, and what."""
    own = sorted((name, text) for name, text in notes.items() if name.split(".")[1] == sha256[:_NAMED])
    return [(_time(int(name.split(".")[2])), text) for name, text in own]


def keep_note(store: Store, run_id: str, sha256: str, text: str) -> dict[str, str]:
    """Leave a note; returns all notes of the run."""
    opened = store.open()
    with told(f"run {run_id}: the note cannot be kept"):
        opened.client.set_tag(run_id, f"{_TAG}.{sha256[:_NAMED]}.{time.time_ns() // 1_000_000}", text)
    return notes_of(read_tags(opened, run_id))


def _time(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%d %H:%M} UTC"
