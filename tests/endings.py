"""Commands that are ended by a signal while a run is under way: run as `python -m tests.endings FOLDER`, prints JSON.

A process of its own that has imported everything, so that each command is a fork that starts at once.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

from bench.soak.children import Child, fork, harness, import_everything, wait_until
from bench.soak.desk import Desk, make_desk

PHOTOS = 10
EXPERIMENT = """
description: a threshold
base: [{base}]
space:
  face.threshold: [0.5, 0.886, 0.8863]
objectives:
  face/recall: maximize
budget: {{trials: 3, minutes: 10}}
sampler: random
seed: 0
"""


def call(desk: Desk, *arguments: str) -> Child:
    return harness(desk.folder, desk.folder / f"said-{arguments[0][:8]}.txt", arguments, desk.variables)


def seen(desk: Desk) -> int:
    """Of how many photos the cache has an answer."""
    path = desk.folder / "cache" / "stages" / "answers.sqlite"
    if not path.is_file():
        return 0
    database = sqlite3.connect(path, timeout=60)
    try:
        return int(database.execute("SELECT count(*) FROM answers WHERE stage = 'face'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        database.close()


def end(desk: Desk, child: Child, number: signal.Signals, runs: int, answers: int = 0) -> tuple[int, str]:
    """Send a signal once so many runs were begun, the last of them is under way, and so many photos were seen."""

    def under_way() -> bool:
        assert not child.ended(), child.output
        statuses = list(desk.statuses().values())
        return len(statuses) >= runs and "RUNNING" in statuses and seen(desk) >= answers

    wait_until(under_way)
    child.send(number)
    return child.wait(), child.output


def a_run(folder: Path) -> dict[str, Any]:
    desk = make_desk(folder, photos=PHOTOS)
    slow = (*desk.overrides, "face.seconds=0.3")
    code, said = end(desk, call(desk, *slow), signal.SIGTERM, 1, answers=4)
    (killed,) = desk.statuses().items()
    known = seen(desk)
    again = call(desk, *slow)
    told: dict[str, Any] = {"code": code, "said": said, "status": killed[1], "id": killed[0][:8], "seen": known}
    return told | {"again": again.wait(), "went_on": re.findall(r"^Went on.*", again.output, re.MULTILINE)}


def a_sweep(folder: Path) -> dict[str, Any]:
    desk = make_desk(folder, photos=PHOTOS)
    swept = ("-m", *desk.overrides, "face.salt=1,2,3", "face.seconds=0.2")
    code, said = end(desk, call(desk, *swept), signal.SIGHUP, 2, answers=PHOTOS + 2)
    statuses = list(desk.statuses(overviews=False).values())
    again = call(desk, *swept)
    return {
        "code": code,
        "missing": re.findall(r"^harness: missing: (.*?) came", said, re.MULTILINE),
        "statuses": sorted(statuses),
        "again": again.wait(),
        "reused": again.output.count("Nothing has changed since this run was made"),
        "missing_again": "missing:" in again.output,
        "statuses_again": sorted(desk.statuses(overviews=False).values()),
        "overviews": [row[0] for row in desk.rows("SELECT value FROM metrics WHERE key = 'jobs_missing'")],
        "left": sorted(path.name for path in (desk.folder / "mlruns" / "sweeps").rglob("ended")),
    }


def a_score(folder: Path) -> dict[str, Any]:
    desk = make_desk(folder, photos=PHOTOS)
    lines = [{"photo": f"{number:03}.png", "faces": []} for number in range(PHOTOS)]
    (folder / "predictions.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    child = call(desk, "score", "predictions.jsonl", *desk.overrides[:2])
    code, said = end(desk, child, signal.SIGTERM, 1)
    return {"code": code, "said": said, "statuses": list(desk.statuses().values())}


def a_search(folder: Path) -> dict[str, Any]:
    desk = make_desk(folder, photos=PHOTOS)
    (folder / "experiments").mkdir()
    base = ", ".join((*desk.overrides, "face.seconds=0.2"))
    (folder / "experiments" / "thresholds.yaml").write_text(EXPERIMENT.format(base=base))
    code, said = end(desk, call(desk, "search", "thresholds"), signal.SIGTERM, 1, answers=2)
    return {"code": code, "said": said, "statuses": list(desk.statuses().values())}


def a_searchs_workers(folder: Path) -> dict[str, Any]:
    """The process that waits for workers is ended: it ends them, too, and each puts its work away."""
    folder.mkdir(parents=True)

    def worker(number: int) -> None:
        from harness.base.signals import ended_by_signals, interrupted_code

        try:
            with ended_by_signals():
                (folder / f"begun-{number}").touch()
                time.sleep(120)
        except KeyboardInterrupt as error:
            (folder / f"ended-{number}").touch()
            sys.exit(interrupted_code(error))

    class NoTrials:
        def trials(self) -> list[Any]:
            return []

    def work() -> int:
        from harness.base.signals import interrupted_code
        from harness.search.workers import run_processes

        forks = multiprocessing.get_context("fork")
        made = iter(forks.Process(target=worker, args=(number,)) for number in range(2))
        try:
            run_processes(NoTrials(), lambda: next(made), 2, lambda _: None)  # type: ignore[arg-type]
        except KeyboardInterrupt as error:
            return interrupted_code(error)
        return 0

    child = fork(folder, folder / "said.txt", work)
    wait_until(lambda: len(list(folder.glob("begun-*"))) == 2)
    child.send(signal.SIGTERM)
    return {"code": child.wait(), "ended": len(list(folder.glob("ended-*")))}


def main(folder: Path) -> None:
    import_everything()
    made = {
        work.__name__: work(folder / work.__name__) for work in (a_run, a_sweep, a_score, a_search, a_searchs_workers)
    }
    print(json.dumps(made))


if __name__ == "__main__":
    os.environ.pop("HARNESS_CONF", None)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # whoever started the tests, as nohup does, may have them ignored
    main(Path(sys.argv[1]))
