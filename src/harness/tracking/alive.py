"""Whether the process of a run is alive: a run says who makes it and until when it counts as alive, and the next
command that meets one whose process is dead ends it as KILLED."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from harness.base.processes import Process, this_process
from harness.tracking.patience import impatient
from harness.tracking.reading import StoredRun
from harness.tracking.store import OpenStore

HOST_TAG, PID_TAG, STARTED_TAG, UNTIL_TAG = "process.host", "process.pid", "process.started", "process.alive_until"
#: How often a run under way says that it is alive.
SECONDS_BETWEEN_BEATS = 30.0
#: Without such a word for this long, a run on another machine counts as dead. Long beside the clocks of two machines,
#: and never shorter than a run waits for its server.
SILENCE = timedelta(minutes=15)
#: What a dead run is called in a store that takes no changes.
DEAD = "DEAD"


def process_tags(store: OpenStore) -> dict[str, str]:
    """What a run that begins now says about its process."""
    own = this_process()
    tags = {HOST_TAG: own.host, PID_TAG: str(own.pid), STARTED_TAG: own.started, UNTIL_TAG: _until(store)}
    return {name: value for name, value in tags.items() if value}


@contextmanager
def beating(store: OpenStore, run_id: str) -> Iterator[None]:
    """Renew the time until which a run counts as alive for as long as the block runs. A beat that fails is left out."""
    stop = threading.Event()

    def beat() -> None:
        client = impatient(store.client)
        while not stop.wait(SECONDS_BETWEEN_BEATS):
            try:
                client.set_tag(run_id, UNTIL_TAG, _until(store))
            except Exception:  # noqa: BLE001, S112 - the work goes on without it, and logging tells what is wrong
                continue

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=1)


def end_dead(store: OpenStore, runs: Iterable[StoredRun]) -> dict[str, str]:
    """End those of these RUNNING runs whose process is dead, as KILLED; returns their status by id. Where the store
    takes no changes that is DEAD. Runs that do not say who makes them, as those of older versions, are left alone."""
    ended = {run.run_id: _end(store, run.run_id) for run in runs if is_dead(run.tags)}
    return {run_id: status for run_id, status in ended.items() if status}


def _end(store: OpenStore, run_id: str) -> str:
    client = store.client
    from mlflow.exceptions import MlflowException  # which the client has imported

    try:
        # Again, now that its process can no longer end it by itself.
        status = str(client.get_run(run_id).info.status)
        if status != "RUNNING":
            return status
    except (MlflowException, OSError):
        return ""  # gone in the meantime, or the store is: whoever reads it next is told
    try:
        impatient(client).set_terminated(run_id, "KILLED")
    except (MlflowException, OSError):
        return DEAD
    return "KILLED"


def is_dead(tags: Mapping[str, str], now: datetime | None = None) -> bool:
    """Whether the process of a run is dead: by its number where it ran here, and by its silence where it ran elsewhere.
    Where neither can be known it is not."""
    if not tags.get(PID_TAG, "").isdigit():
        return False
    dead = Process(tags.get(HOST_TAG, ""), int(tags[PID_TAG]), tags.get(STARTED_TAG, "")).dead
    if dead is not None:
        return dead
    try:
        return datetime.fromisoformat(tags.get(UNTIL_TAG, "")) < (now or datetime.now(UTC))
    except (ValueError, TypeError):
        return False


def _until(store: OpenStore) -> str:
    silence = max(SILENCE, timedelta(seconds=2 * store.patience))
    return (datetime.now(UTC) + silence).isoformat(timespec="seconds")
