"""An MLflow server on PostgreSQL that is killed while eight runs are under way, and comes back after a while.

Each run must be there in the end, once, FINISHED and whole. Two more do not wait that long: they are kept on disk, and
`harness log --all` logs them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

from tests.servers import free_port, mlflow_process, postgres, postgres_programs

from bench.soak.children import Child, fork, harness, import_everything, wait_until
from bench.soak.desk import Desk, make_desk

WRITERS, HASTY = 8, 2
_PHOTOS = 12


def stored(database: str) -> list[tuple[Any, ...]]:
    """Each run with its status, and how many params and metrics it has."""
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import ProgrammingError
    from sqlalchemy.pool import NullPool

    query = """SELECT run_uuid, status, (SELECT count(*) FROM params p WHERE p.run_uuid = r.run_uuid),
               (SELECT count(*) FROM latest_metrics m WHERE m.run_uuid = r.run_uuid) FROM runs r"""
    try:
        with create_engine(database, poolclass=NullPool).connect() as connection:
            return [tuple(row) for row in connection.execute(text(query))]
    except ProgrammingError:  # its tables are not made yet
        return []


def light_run(uri: str, number: int, seconds: float, patience: float) -> int:
    """A run without a pipeline: begun, busy for a while, logged."""
    from harness.base.errors import HarnessError
    from harness.tracking.remote import ServerStore
    from harness.tracking.runs import RunRecord, tracked_run

    store = ServerStore(uri, "harness", patience).open()
    files = Path(f"files-{number}")
    files.mkdir(exist_ok=True)
    (files / "run.json").write_text(json.dumps({"number": number}))
    metrics = {f"m/{place}": number + place / 7 for place in range(300)}
    try:
        with tracked_run(store, store.runs_experiment, f"run {number}", {}) as run:
            time.sleep(seconds)
            run.log(RunRecord({"number": str(number)}, metrics, {}, "", files=files, dataset=("set", "d" * 64)))
    except HarnessError as error:
        print(error)
        return error.exit_code
    return 0


def soak_server(folder: Path, outage: int, seed: int, light: bool = False) -> list[str]:
    """Kill the server for so many seconds; returns what was wrong."""
    programs = postgres_programs()
    if programs is None:
        return ["there is no PostgreSQL here; scripts/test installs it"]
    import_everything()
    (folder / "server").mkdir(parents=True)
    desk, rng, port = make_desk(folder, photos=_PHOTOS), random.Random(seed), free_port()
    uri = f"http://127.0.0.1:{port}"

    def start(number: int, patience: float) -> Child:
        said = folder / f"said-{number}.txt"
        busy = rng.uniform(1, outage / 2)
        if light:
            return fork(folder, said, lambda: light_run(uri, number, busy, patience), **desk.variables)
        where = ("tracking=server", f"tracking.uri={uri}", f"tracking.patience={patience}")
        slow = (f"face.salt={number}", f"face.seconds={busy / _PHOTOS}")
        return harness(folder, said, (*desk.overrides, *where, *slow), desk.variables)

    with postgres(programs) as database:
        with mlflow_process(database, folder / "server", port) as server:
            children = [start(number, 300) for number in range(WRITERS)]
            hasty = [start(WRITERS + number, 1) for number in range(HASTY)]
            wait_until(lambda: sum(row[1] == "RUNNING" for row in stored(database)) >= WRITERS + HASTY, 300)
            os.killpg(server.pid, signal.SIGKILL)
            killed = time.monotonic()
        codes = [child.wait() for child in hasty]
        time.sleep(max(0.0, outage - (time.monotonic() - killed)))
        away = time.monotonic() - killed
        with mlflow_process(database, folder / "server", port):
            wrong = [f"writer {n}: {c.output[-500:]}" for n, c in enumerate(children) if c.wait()]
            wrong += [
                f"a hasty writer ended with {code}: {hasty[n].output[-500:]}"
                for n, code in enumerate(codes)
                if code != 7
            ]
            wrong += _log_pending(desk)
            wrong += _check(stored(database), folder / "server" / "artifacts")
    print(f"{WRITERS} writers, server away for {away:.0f} s: {len(children)} ended with 0, {HASTY} more were pending")
    return wrong


def _log_pending(desk: Desk) -> list[str]:
    logging = harness(desk.folder, desk.folder / "log.txt", ("log", "--all"), desk.variables)
    return [f"harness log --all: {logging.output[-500:]}"] if logging.wait() else []


def _check(runs: list[tuple[Any, ...]], artifacts: Path) -> list[str]:
    wrong = []
    if len(runs) != WRITERS + HASTY or {run[1] for run in runs} != {"FINISHED"}:
        wrong.append(f"expected {WRITERS + HASTY} runs, all FINISHED: {runs}")
    if len({run[2:] for run in runs}) != 1 or not runs[0][3]:
        wrong.append(f"runs differ in how many params and metrics they have: {runs}")
    if missing := [run[0] for run in runs if not list(artifacts.rglob(f"{run[0]}/artifacts/run.json"))]:
        wrong.append(f"without their files: {missing}")
    return wrong
