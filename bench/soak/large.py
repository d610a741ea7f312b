"""A run of very many photos from the first to the last step: it ends, its memory grows with the photos and no faster,
and the pages of MLflow and of the harness open. The photos and the stages are those of `scripts/bench large`."""

from __future__ import annotations

import json
import signal
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.servers import free_port, mlflow_server, running, wait_for

from bench.large import make_conf, make_set, run

#: The most that a further photo may take in memory, in kB; of few photos it says nothing.
MOST_KILOBYTES, FEWEST = 12.0, 20_000
#: The most that a photo may take in the store, and in the stage cache, in kB.
MOST_KEPT, MOST_CACHED = 0.5, 3.0
_SECONDS = 60.0
#: Files of a run, and what is in each.
_FILES = {"report.html": b"</html>", "photos.json": b'"columns"', "run.json": b'"metadata"'}


def soak_large(folder: Path, photos: int, seed: int) -> list[str]:  # noqa: ARG001 - a soak's interface
    """One run on a fifth of the photos and one on all of them; says what did not hold."""
    folder.mkdir()
    make_conf(folder / "conf")
    sizes = (photos // 5, photos)
    for size in sizes:
        make_set(folder / str(size), size)
    fewer, many = (run(folder, size) for size in sizes)
    grown = (many["megabytes"] - fewer["megabytes"]) * 1024 / (sizes[1] - sizes[0])
    kept, cached = (_kilobytes(folder / name) / sum(sizes) for name in ("mlruns", "cache"))
    print(
        f"{photos:,} photos: {many['total']:.0f} s of the processor, of which the pipeline {many['pipeline']:.0f} s; "
        f"{many['megabytes']:.0f} MB ({fewer['megabytes']:.0f} MB for a fifth, {grown:.1f} kB a further photo); "
        f"a photo leaves {kept:.2f} kB in the store and {cached:.2f} kB in the cache",
        flush=True,
    )
    limits = [("memory of a further photo", grown, MOST_KILOBYTES)] if photos >= FEWEST else []
    limits += [("of a photo in the store", kept, MOST_KEPT), ("of a photo in the cache", cached, MOST_CACHED)]
    wrong = [f"{what}: {found:.2f} kB, of at most {most:g}" for what, found, most in limits if found > most]
    return [*(wrong if photos >= FEWEST else []), *_pages(folder, photos)]


def _kilobytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1024


def _pages(folder: Path, photos: int) -> Iterator[str]:
    """What does not open, of MLflow and of the harness."""
    with mlflow_server(f"sqlite:///{folder / 'mlruns' / 'mlflow.db'}", folder) as address:
        found = json.loads(_read(f"{address}/ajax-api/2.0/mlflow/experiments/get-by-name?experiment_name=harness"))
        given = {"experiment_ids": [found["experiment"]["experiment_id"]], "max_results": 10}
        runs = json.loads(_read(f"{address}/ajax-api/2.0/mlflow/runs/search", given))["runs"]
        if [item["info"]["status"] for item in runs] != ["FINISHED"] * 2:
            yield f"MLflow lists {runs!r:.300}"
            return
        run_id = runs[0]["info"]["run_id"]
        for name, expected in _FILES.items():
            if expected not in _read(f"{address}/get-artifact?path={name}&run_uuid={run_id}"):
                yield f"MLflow's {name} of a run of {photos} photos has no {expected!r}"
    port, log = free_port(), folder / "ui.log"
    command = [sys.executable, "-m", "harness", "ui", "--no-browser", "--port", str(port), "references=staging"]
    command += [f"references.root={folder / str(photos)}", f"tracking.root={folder / 'mlruns'}"]
    with running(command, signal.SIGINT, log) as pages:
        home = f"http://127.0.0.1:{port}"
        wait_for(lambda: run_id[:8].encode() in _if_any(f"{home}/runs/"), pages, log)  # it is read meanwhile
        if _FILES["report.html"] not in _read(f"{home}/runs/{run_id}/report"):
            yield f"the report of a run of {photos} photos does not open"


def _read(address: str, given: object = None) -> bytes:
    data = None if given is None else json.dumps(given).encode()
    asked = urllib.request.Request(address, data, {"Content-Type": "application/json"} if data else {})
    with urllib.request.urlopen(asked, timeout=_SECONDS) as answer:
        return bytes(answer.read())


def _if_any(address: str) -> bytes:
    """What a server says; nothing where it is not up yet."""
    try:
        return _read(address)
    except OSError:
        return b""
