"""Looks at a holdout in the tracking store: each is a run of its own, in an experiment of their own, so that they
outlast the runs, the studies and the reference set that they were made with."""

from __future__ import annotations

from collections.abc import Collection

from harness.runs.looks import Look, look_line, parse_look
from harness.tracking.catalog import read_artifact
from harness.tracking.patience import told
from harness.tracking.reading import Query
from harness.tracking.store import OpenStore

_FILE = "look.json"
_AT_TAG = "look.at"


def log_look(store: OpenStore, look: Look) -> None:
    """Keep a look."""
    name = "scores shown" if look.shown else look.run
    tags = {_AT_TAG: look.at, "look.judgement": look.judgement}
    with told("a look at the holdout cannot be counted in the store, so that it is not made"):
        run = store.client.create_run(store.looks_experiment(), run_name=name, tags=tags)
        store.client.log_text(run.info.run_id, look_line(look).decode(), _FILE)
        store.client.set_terminated(run.info.run_id, "FINISHED")


def stored_looks(store: OpenStore, known: Collection[Look]) -> list[Look]:
    """The looks that the store has beyond those that are known."""
    times = {look.at for look in known}
    # One whose file was never written was cut off before anything was shown.
    ended = store.reader.search(Query(store.looks_experiment(), status="FINISHED", metrics=False))
    new = [run.run_id for run in ended if run.tags.get(_AT_TAG) not in times]
    return [parse_look(read_artifact(store, run_id, _FILE), f"look {run_id}") for run_id in new]
