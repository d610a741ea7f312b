"""How quick are the pages of runs on a store of 2,000 runs, of which 1,200 belong to 60 sweeps and the others are on 30
sets of data, each with a verdict, gains and a long text about what could not be seen?

Processor time against a limit, the slowest of several goes. *Reading* is what happens aside when the store has changed:
time on the wall, against a limit of its own.

    scripts/bench explorer
"""

from __future__ import annotations

import gc
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from bench.measure import row, show
from bench.reads import make_store
from harness.building import build_finder
from harness.config import compose
from harness.exploring.opened import OpenedRuns
from harness.labeling.access import Access
from harness.labeling.app import make_app
from harness.labeling.context import Context
from harness.labeling.history import RunHistory
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import StagingSource
from harness.pipeline.links.geometric import GeometricLinker
from harness.references.sample import ensure_sample
from harness.references.store import LabelStore
from harness.runs.gate import Gate
from harness.scoring.detection import Thresholds
from harness.tracking.finding import list_baselines, list_runs
from harness.tracking.store import LocalStore

RUNS, SWEPT, SWEEP, DATA = 2_000, 1_200, 20, 30
PAGE_LIMIT, READ_LIMIT = 0.3, 10.0
GOES = 5
UNSEEN = "; ".join(f"section/metric_{n}: a loss of 0.0500 cannot be excluded" for n in range(20))


def measure() -> list[dict[str, Any]]:
    """One entry a case."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        os.environ["HARNESS_CACHE"] = str(root / "cache")
        make_store(root / "mlruns", RUNS)
        store = LocalStore(str(root / "mlruns"), "harness")
        runs = [run.run_id for run in list_runs(store.open(), metrics=False) if not run.pinned]
        (base,) = list_baselines(store.open())
        _tag(store.database, runs, base.run_id)
        source = StagingSource(LabelStore(Path(shutil.copytree(ensure_sample(), root / "set"))))
        history = RunHistory(store, source, Thresholds(0.5, 0.5))
        start = time.perf_counter()
        known = history.wait()
        read = time.perf_counter() - start
        assert len(known.runs) == RUNS, known.error
        linker = GeometricLinker(min_drop=0.8, max_drop=5.0, half_width=1.5, behind=0.5, nearer=1.25, threshold=0.0)
        search = PhotoSearch(source, lambda: build_finder(compose()))
        opened = OpenedRuns(store, Gate(strict=False))
        app = make_app(Context(source, linker, history, search, opened, "http://mlflow/"), Access())
        gc.freeze()  # as the server does
        client = TestClient(app, base_url="http://127.0.0.1:8600")
        worse = next(run.run_id for run in known.runs if run.name == "worse")
        pages = [
            "/runs/",
            "/runs/?page=2",
            "/runs/?sort=high:number/f1",
            "/runs/?verdict=REGRESSED&sort=verdict",
            "/runs/?text=19&page=3",
            "/runs/?sweep=s1",
            f"/runs/{worse}",
            f"/runs/{base.run_id}?against={worse}",
        ]
        seconds = {page: max(_waits(client, page)) for page in pages}
    slowest = max(seconds, key=lambda page: seconds[page])
    name = (
        f"slowest of {len(pages)} pages of {RUNS:,} runs: {slowest.replace(worse, 'RUN').replace(base.run_id, 'RUN')}"
    )
    return [
        row(name, seconds[slowest], f"limit of {PAGE_LIMIT:g} s", PAGE_LIMIT, 1.0),
        row(f"reading {RUNS:,} runs, aside", read, f"limit of {READ_LIMIT:g} s", READ_LIMIT, 1.0),
    ]


def _tag(database: Path, runs: Sequence[str], base: str) -> None:
    """Judge the runs, and make them jobs of sweeps or runs on other data."""
    rows: list[tuple[str, str, str]] = []
    for number, run in enumerate(runs):
        said = ("REGRESSED", "CANNOT TELL", "NO WORSE")[number % 3]
        tags = {"verdict": said, "verdict.baseline": base, "verdict.number/f1": said, "verdict.unseen": UNSEEN}
        if number % RUNS < SWEPT:
            tags["sweep_id"] = f"s{number // SWEEP}"
        else:
            tags["data.digest"] = f"{number % DATA:064x}"
        rows += [(name, value, run) for name, value in tags.items()]
    with closing(sqlite3.connect(database)) as store, store:
        store.executemany("INSERT OR REPLACE INTO tags (key, value, run_uuid) VALUES (?, ?, ?)", rows)
        gains = [("delta/number_f1", -0.1, 0, 0, 0, run) for run in runs]
        store.executemany(
            "INSERT OR REPLACE INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            gains,
        )


def _waits(client: TestClient, page: str) -> list[float]:
    """What each go takes, once the page is there."""
    waits = []
    while "being read" in client.get(page).text:
        time.sleep(0.1)
    for _ in range(GOES):
        start = time.process_time()
        answer = client.get(page)
        waits.append(time.process_time() - start)
        assert answer.status_code == 200, answer.text
    return waits


if __name__ == "__main__":
    show(measure())
