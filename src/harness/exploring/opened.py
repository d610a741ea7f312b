"""Stored runs that are being looked at, each beside another: read once, aside, and kept for as long as they are asked
for. Whoever asks never waits long: a large run is being read, or is shown as it was before its labels changed.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from harness.base.errors import ConfigError, SealedError
from harness.exploring.item_files import boxes_of
from harness.exploring.items import ItemTable, item_tables
from harness.exploring.notes import notes_of
from harness.exploring.people import People, people_of
from harness.exploring.photo_sets import PhotoSet, label_stamp, photo_set
from harness.exploring.rows import Row, make_rows
from harness.exploring.selection import Facets
from harness.judging import compare_stored
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Gate
from harness.tasks.confidence.boxes import BoxTable
from harness.tracking.catalog import load_run, read_tags
from harness.tracking.entries import RunEntry
from harness.tracking.finding import find_base, find_run
from harness.tracking.store import OpenStore, Store

#: So many runs are kept: two that are compared, each beside the other and beside the baseline, and a few more.
KEPT = 6
#: Small runs are there within this; of larger ones a page says that they are being read.
SECONDS_TO_WAIT = 1.5
#: A change that a store does not show goes unnoticed no longer than this.
SECONDS_BETWEEN_LOOKS = 30.0
_NEVER = object()


@dataclass(frozen=True)
class OpenedRun:
    """A run with its photos, beside the one that it is compared with, where there is one. `run` is None where scores
    are sealed, and then there are no rows; `alone` says why there is nothing to compare with. `notes` are what people
    left on its photos (`notes.py`), and `labels` tells whether the labels are still the same."""

    entry: RunEntry
    run: BenchmarkRun | None
    base: RunEntry | None = None
    comparison: Comparison | None = None
    alone: str = ""
    photos: PhotoSet = field(default_factory=PhotoSet)
    rows: tuple[Row, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[tuple[str, int], ...] = ()
    people: People | None = None
    boxes: BoxTable | None = None
    #: Those of the tasks that are neither about photos nor about people, by task.
    items: Mapping[str, ItemTable] = field(default_factory=dict)

    @property
    def labels_stand(self) -> bool:
        """Whether the labels are still those that it was opened with."""
        return self.run is None or label_stamp(self.run) == self.labels

    @cached_property
    def facets(self) -> Facets:
        """What its photos can be chosen by."""
        return Facets(self.rows)

    @cached_property
    def by_hash(self) -> dict[str, Row]:
        """The rows by the hashes of their photos."""
        return {row.sha256: row for row in self.rows}


@dataclass
class _Slot:
    """A run that was asked for: as it was read last, or what went wrong with it, and the thread that reads it."""

    opened: OpenedRun | None = None
    error: Exception | None = None
    stamp: Any = _NEVER
    read_at: float = 0.0
    reading: threading.Thread | None = None


class OpenedRuns:
    """The runs of a store, opened on demand."""

    def __init__(self, store: Store, gate: Gate, seed: int = 0) -> None:
        self.store, self._gate, self._seed = store, gate, seed
        self._lock = threading.Lock()
        self._slots: OrderedDict[tuple[str, str], _Slot] = OrderedDict()

    def get(self, run_id: str, against: str | None = None, wait: float = SECONDS_TO_WAIT) -> OpenedRun | None:
        """A run beside another one, or beside the baseline; None while it is being read for the first time. Raises what
        reading it raised."""
        slot = self._slot(run_id, against or "")
        if slot.opened is None and (reading := slot.reading) is not None:
            reading.join(wait)
        if slot.opened is None and slot.error is not None:
            raise slot.error
        return slot.opened

    def forget(self) -> None:
        """Read everything anew when it is next asked for: something has just been changed."""
        with self._lock:
            self._slots.clear()

    def _slot(self, run_id: str, against: str) -> _Slot:
        with self._lock:
            slot = self._slots.setdefault((run_id, against), _Slot())
            self._slots.move_to_end((run_id, against))
            while len(self._slots) > KEPT:
                self._slots.popitem(last=False)
            if slot.reading is None and self._outdated(slot):
                slot.reading = threading.Thread(target=self._read, args=(slot, run_id, against), daemon=True)
                slot.reading.start()
            return slot

    def _outdated(self, slot: _Slot) -> bool:
        """Whether it was never read, its labels or the store have changed since, or the store may have."""
        waited = time.monotonic() - slot.read_at > SECONDS_BETWEEN_LOOKS
        return waited or slot.stamp != self.store.stamp or (slot.opened is not None and not slot.opened.labels_stand)

    def _read(self, slot: _Slot, run_id: str, against: str) -> None:
        opened, error, stamp = None, None, self.store.stamp
        try:
            opened = open_run(self.store.open(), self._gate, run_id, against, self._seed, slot.opened)
        except Exception as raised:  # noqa: BLE001 - raised again by whoever asks
            error = raised
        with self._lock:
            slot.opened, slot.error, slot.stamp, slot.read_at = opened, error, stamp, time.monotonic()
            slot.reading = None


def open_run(
    store: OpenStore, gate: Gate, run_id: str, against: str = "", seed: int = 0, before: OpenedRun | None = None
) -> OpenedRun:
    """Read a run, compare it with another one or the baseline, and make its rows. `before` is the same as it was read
    last: where neither the runs nor the labels are others now, nothing is made anew."""
    entry = find_run(store, run_id)
    base, alone = None, ""
    try:
        base = find_run(store, against) if against else find_base(store, entry)
        if base.sealed:
            raise ConfigError(f"run {base.short_id} is on a holdout, and its scores are sealed")
    except ConfigError as error:
        if against:
            raise
        base, alone = None, str(error)
    notes = notes_of(read_tags(store, entry.run_id))
    if before is not None and _same(before.entry, entry) and _same(before.base, base) and before.labels_stand:
        return replace(before, entry=entry, base=base, alone=alone, notes=notes)
    try:
        run = load_run(store, entry.run_id)
    except SealedError as error:
        return OpenedRun(entry, None, alone=str(error))
    comparison = compare_stored(store, gate, entry, base, seed, run) if base else None
    labels = label_stamp(run)
    photos, people = photo_set(run), people_of(store, entry, run, base, comparison)
    boxes = boxes_of(store, entry.run_id, run)
    return OpenedRun(
        entry,
        run,
        base,
        comparison,
        alone,
        photos,
        rows=make_rows(run, comparison, photos, people.lost() if people else None),
        notes=notes,
        labels=labels,
        people=people,
        boxes=boxes,
        items=item_tables(run, comparison, boxes),
    )


def _same(before: RunEntry | None, now: RunEntry | None) -> bool:
    """Whether both are the same run in the same state, or there is none."""
    return (before and (before.run_id, before.status)) == (now and (now.run_id, now.status))
