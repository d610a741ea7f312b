"""Reading stored runs back from their archives: by id, by key, and the baseline of some data; and what is noted on a
run after it has ended. `finding` lists runs, and finds the one that a person means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError, SealedError
from harness.base.progress import warn
from harness.base.scratch import scratch
from harness.runs.archive import RUN_FILE, BenchmarkRun, read_run
from harness.runs.looks import is_sealed, unseal
from harness.runs.plan import Audit
from harness.runs.provenance import CODE_FILE
from harness.runs.tags import AUDIT_TAG, KEY_TAG, SEALED_TAG, TIMING_TAG
from harness.scoring.speed import RUNTIME, SECONDS
from harness.tracking.entries import RunEntry
from harness.tracking.finding import list_baselines, nearest_baseline, runs_query
from harness.tracking.patience import told
from harness.tracking.reading import Query
from harness.tracking.store import OpenStore

#: How many runs are asked what they see, and after how many photos of theirs no further one is.
RECENT, RECENT_PHOTOS = 8, 10_000


@dataclass(frozen=True)
class Baseline:
    """The run that others are judged against; empty where none was ever pinned."""

    run_id: str | None = None
    run: BenchmarkRun | None = None

    @property
    def key(self) -> str | None:
        """What judgements know it by: its own key or, where it is older than keys, its id."""
        return (self.run.metadata.key if self.run else "") or self.run_id


def find_finished(store: OpenStore, key: str, *, timed: bool = False, sealed: bool = False) -> str | None:
    """The newest finished run with this key; of those that have seconds where they are asked for, and of those whose
    scores are sealed or of the others."""
    query = Query(store.runs_experiment, {KEY_TAG: key}, status="FINISHED", measured=SECONDS if timed else "", limit=1)
    query = replace(query, having=(SEALED_TAG,)) if sealed else replace(query, lacking=(SEALED_TAG,))
    return next((run.run_id for run in store.reader.search(query)), None)


def killed_before(store: OpenStore, key: str, run_id: str) -> str | None:
    """The last run with this key before this one, where it was killed."""
    query = Query(store.runs_experiment, {KEY_TAG: key}, metrics=False)
    ended = (run for run in store.reader.search(query) if run.run_id != run_id and run.status != "RUNNING")
    last = next(ended, None)
    return last.run_id if last and last.status == "KILLED" else None


def find_seconds(store: OpenStore, timing_key: str) -> tuple[str, dict[str, float]] | None:
    """The newest run that has made this timing pass, and what it measured."""
    run = next(store.reader.search(Query(store.runs_experiment, {TIMING_TAG: timing_key}, limit=1)), None)
    if run is None:
        return None
    seconds = {name: value for name, value in run.metrics.items() if name.startswith(RUNTIME)}
    return (run.run_id, seconds) if seconds else None


def tag_audit(store: OpenStore, run_id: str, audit: Audit) -> None:
    """Note on a run what its audit came to. One that did not pass is FAILED from then on, and never reused."""
    with told(f"run {run_id}: its audit cannot be noted"):
        store.client.set_tag(run_id, AUDIT_TAG, audit.words())
        if audit.differences:
            store.client.set_terminated(run_id, "FAILED")


def find_baseline(store: OpenStore, data_digest: str, data_split: str, root: Path | None = None) -> Baseline:
    """The baseline of these data; where they have none, the one pinned last, so that the difference is told. `root` is
    the folder of the reference set, where there is a holdout in it."""
    best = nearest_baseline(list_baselines(store), data_digest, data_split)
    if best is None:
        return Baseline()
    try:
        return Baseline(best.run_id, load_to_judge(store, best, root))
    except HarnessError as error:
        if best.data_digest == data_digest:
            raise
        # It is on other data, and nothing could be judged against it.
        warn(f"these data have no baseline, and the one pinned last cannot be read: {error}")
        return Baseline()


def load_run(store: OpenStore, run_id: str, predictions_alone: bool = False) -> BenchmarkRun:
    """A run from its archive, or only what it predicted for photos. Raises SealedError where its scores are sealed."""
    try:
        with at_hand(store, run_id, RUN_FILE) as path:
            return read_run(path, lambda name: _beside(store, run_id, name, path.parent), predictions_alone)
    except HarnessError as error:
        if SEALED_TAG in read_tags(store, run_id):
            raise SealedError(
                f"run {run_id[:8]} is on a holdout: its scores are sealed, and only its verdict is shown; "
                "holdout.show=true shows them, and leaves the holdout unprotected"
            ) from error
        raise


def load_to_judge(store: OpenStore, entry: RunEntry, root: Path | None = None) -> BenchmarkRun:
    """A run for the gate, also where its scores are sealed: nothing of those may be shown but the verdict. They are
    looked for in `root` first, where the reference set may have been moved to."""
    if not entry.sealed:
        return load_run(store, entry.run_id)
    here = root is not None and is_sealed(root, entry.key)
    return unseal(root if root and here else Path(entry.sealed_in), entry.key)


def read_artifact(store: OpenStore, run_id: str, name: str) -> bytes:
    """A file that a run left."""
    with at_hand(store, run_id, name) as path:
        try:
            return path.read_bytes()
        except OSError as error:
            raise HarnessError(f"run {run_id}: its {name} cannot be had from the store: {error}") from error


def load_code(store: OpenStore, run_id: str) -> dict[str, dict[str, str]] | None:
    """The record of a run's code, as `code_diff` takes it; None where the run is older than such records."""
    if not has_artifact(store, run_id, CODE_FILE):
        return None
    record: dict[str, dict[str, str]] = json.loads(read_artifact(store, run_id, CODE_FILE))
    return record


def read_tags(store: OpenStore, run_id: str) -> dict[str, str]:
    """The tags of a run."""
    return dict(store.reader.get(run_id).tags)


def has_artifact(store: OpenStore, run_id: str, name: str) -> bool:
    """Whether a run left a file of this name."""
    return name in store.reader.files(run_id)


def recent_runs(
    store: OpenStore, tag: str, value: str, limit: int = RECENT, but: str | None = None
) -> tuple[BenchmarkRun, ...]:
    """What the last finished runs with this tag, such as `data.digest`, predicted for photos, newest first.

    Those that predict the same as another are left out, as are those whose predictions have the digest `but`, and those
    whose predictions are sealed. Of runs with very many photos it is fewer, so that memory does not grow with them.
    """
    query = replace(runs_query(store), tags={tag: value}, status="FINISHED", limit=4 * limit, metrics=False)
    query = replace(query, lacking=(*query.lacking, SEALED_TAG))
    distinct: dict[str, str] = {}
    for run in store.reader.search(query):
        distinct.setdefault(run.tags.get("predictions.digest", run.run_id), run.run_id)
    distinct.pop(but or "", None)
    runs: list[BenchmarkRun] = []
    for run_id in list(distinct.values())[:limit]:
        if sum(len(run.photos) for run in runs) > RECENT_PHOTOS:
            break
        with suppress(HarnessError):  # an archive that is gone or older than its format is no reason to fail a new run
            runs.append(load_run(store, run_id, predictions_alone=True))
    return tuple(runs)


def end_killed(store: OpenStore, run_id: str) -> None:
    """End the run of a process that is dead by now; one that it has ended itself stays as it is."""
    with told(f"run {run_id} cannot be ended"):
        if store.client.get_run(run_id).info.status == "RUNNING":
            store.client.set_terminated(run_id, "KILLED")


def join(store: OpenStore, run_id: str, tag: str, name: str) -> None:
    """Make a run that exists one of a sweep's or a study's; it stays one of those that it belongs to."""
    before = store.client.get_run(run_id).data.tags.get(tag, "").split()
    if name not in before:
        store.client.set_tag(run_id, tag, " ".join([*before, name]))


@contextmanager
def at_hand(store: OpenStore, run_id: str, name: str) -> Iterator[Path]:
    """A file that a run left: where it lies, or a copy of it."""
    folder = store.reader.folder(run_id)
    if folder is not None:
        if not (folder / name).is_file():
            raise HarnessError(f"run {run_id}: its {name} cannot be had from the store: there is no {folder / name}")
        yield folder / name
        return
    with scratch() as copies:
        yield store.reader.download(run_id, name, copies)


def _beside(store: OpenStore, run_id: str, name: str, folder: Path) -> Path:
    """Another file of the run, in the folder of one that is at hand."""
    return folder / name if store.reader.folder(run_id) is not None else store.reader.download(run_id, name, folder)
