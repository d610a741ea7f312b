"""A store of two runs on three small photos, scored from files: nothing is predicted, and everything else is real."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from harness.__main__ import run as run_in_process
from harness.tracking.store import LocalStore
from tests.conftest import BIB, PEOPLE, unit


def predictions(path: Path, *people: str) -> Path:
    """A file that sees these people as they are labelled, and no others."""
    lines = []
    for person, (number, face) in PEOPLE.items():
        seen_here = person in people
        bibs = [unit(BIB) | {"number": number, "score": 0.9}] if number and seen_here else []
        faces = [unit(face) | {"score": 0.9}] if seen_here else []
        lines.append({"photo": f"{person}.jpg", "bibs": bibs, "faces": faces, "links": [[0, 0]] if bibs else []})
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return path


@contextmanager
def scored_runs(folder: Path, tiny_set: Path, empty_store: Path) -> Iterator[Path]:
    """A folder with a store of two runs: the baseline, and one that lost somebody and has no report."""
    shutil.copytree(empty_store, folder / "mlruns")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HARNESS_CACHE", str(folder / "cache"))
        patch.setenv("HARNESS_CONF", "")
        patch.setattr("sys.argv", ["harness"])
        where = ("references=staging", f"references.root={tiny_set}", "references.groups=photo", "identity=off")
        assert run_in_process(["score", str(predictions(folder / "all.jsonl", *PEOPLE)), *where]) == 0
        assert run_in_process(["baseline"]) == 0
        fewer = predictions(folder / "fewer.jsonl", "P005", "P006")
        assert run_in_process(["score", str(fewer), *where, "report.make=off", "note='fewer <people>'"]) == 0
        yield folder


def copied(scored: Path, folder: Path) -> LocalStore:
    """A copy of the store, to change."""
    shutil.copytree(scored / "mlruns", folder / "mlruns")
    with closing(sqlite3.connect(folder / "mlruns" / "mlflow.db")) as database, database:
        database.execute("UPDATE runs SET artifact_uri = replace(artifact_uri, ?, ?)", (str(scored), str(folder)))
    return LocalStore(str(folder / "mlruns"), "harness")
