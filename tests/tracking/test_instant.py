"""Commands that only read: they say the same with MLflow and without it, and on a local store they do not load it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from bench.stores import fabricate

from harness.runs.archive import write_run
from harness.runs.tags import DECLARED_TAG
from harness.tracking.finding import find_run
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin
from tests.benchmark_runs import benchmark_run
from tests.conftest import Harness

HEAVY = ("mlflow", "sqlalchemy", "pandas", "matplotlib", "sklearn", "cv2", "onnxruntime", "fastapi", "optuna", "PIL")


@pytest.fixture(scope="module")
def kept(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> LocalStore:
    """A store with a baseline, a run that is worse, and copies of it without files."""
    root = shutil.copytree(empty_store, tmp_path_factory.mktemp("instant") / "mlruns")
    store = LocalStore(str(root), "harness")
    opened = store.open()
    runs = {"good": benchmark_run([(2, 0, 0)] * 12), "worse": benchmark_run([(1, 0, 1)] * 12)}
    for name, run in runs.items():
        files = tmp_path_factory.mktemp(name)
        write_run(files, run)
        (files / "report.html").write_text(f"<h1>{name}</h1>")
        declared = json.dumps({"headlines": {"face/recall": "faces"}})
        tags = {
            DECLARED_TAG: declared,
            "data.name": "races",
            "data.split": "iteration",
            "data.digest": run.metadata.data_digest,
        }
        with tracked_run(opened, opened.runs_experiment, name, tags) as tracked:
            tracked.log(RunRecord({}, run.metrics, {}, "", files=files))
    fabricate(store.database, tracked.run_id, 30)
    pin(opened, find_run(opened, "good"))
    return store


COMMANDS = (
    ("list",),
    ("list", "--json", "-n", "3"),
    ("list", "-n", "0"),
    ("compare", "worse", "good"),
    ("compare", "worse", "--json"),
    ("report", "worse"),
    ("report", "worse 7"),
    ("baseline", "--list"),
    ("baseline", "good"),
    ("clean", "--keep-latest", "2"),
    ("list", "--limit", "1", "tracking.experiment=harness"),
    ("compare", "nobody"),
)


def test_what_they_say_is_what_they_say_with_mlflow(
    harness: Harness, kept: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = f"tracking.root={kept.root}"
    ours = [harness(*command, at) for command in COMMANDS]
    monkeypatch.setattr("harness.tracking.store.find_experiments", lambda *_: None)
    theirs = [harness(*command, at) for command in COMMANDS]
    assert [told.code for told in ours] == [0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 2]
    assert "... and 12 older; -n 0 lists all" in ours[0].out
    for command, mine, other in zip(COMMANDS, ours, theirs, strict=True):
        if command[0] == "report" and mine.code == 0:
            assert Path(mine.out.strip()).read_text() == Path(other.out.strip()).read_text() == "<h1>worse</h1>"
            continue
        counted = mine.out.replace("and 12 older;", "and older ones;").replace("and 31 older;", "and older ones;")
        said = [told.err.partition("config.yaml cannot be had")[0] for told in (mine, other)]  # each in its own words
        assert (counted, said[0]) == (other.out, said[1]), command


def test_a_report_is_opened(harness: Harness, kept: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Mock(return_value=True)
    monkeypatch.setattr("webbrowser.open", browser)
    at = f"tracking.root={kept.root}"
    told = harness("report", "good", "--open", at)
    browser.assert_called_once_with(Path(told.out.strip()).as_uri())
    browser.return_value = False
    assert "no browser could be opened; the report is" in harness("report", "good", "--open", at).err
    assert "has no report, and none can be made: run" in harness("report", "latest", at).err


def loaded_by(*lines: str) -> set[str]:
    """The modules that a new process has loaded after it has run these lines."""
    code = "\n".join(("import sys", *lines, "print(*sys.modules)"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.slow
def test_a_list_loads_neither_mlflow_nor_scorecards(kept: LocalStore) -> None:
    at = f"tracking.root={kept.root}"
    found = loaded_by("from harness.__main__ import run", f"assert run(['list', {at!r}]) == 0")
    assert not found & {*HEAVY, "numpy", "scipy", "harness.scoring", "harness.runs.archive"}


@pytest.mark.slow
def test_reading_loads_nothing_that_it_does_not_need(kept: LocalStore, tiny_set: Path) -> None:
    at = f"tracking.root={kept.root}"
    lines = [f"codes = [run([*command, {at!r}]) for command in {COMMANDS!r}]", "assert codes.count(0) == 9, codes"]
    found = loaded_by("from harness.__main__ import run", *lines)
    assert not found & {*HEAVY, "scipy"}


@pytest.mark.slow
def test_the_page_of_runs_loads_no_mlflow(kept: LocalStore, tiny_set: Path) -> None:
    found = loaded_by(
        "from pathlib import Path",
        "from harness.labeling.history import RunHistory",
        "from harness.labeling.source import StagingSource",
        "from harness.references.store import LabelStore",
        "from harness.scoring import Thresholds",
        "from harness.tracking.store import LocalStore",
        f"store = LocalStore({kept.root!r}, 'harness')",
        f"history = RunHistory(store, StagingSource(LabelStore(Path({str(tiny_set)!r}))), Thresholds(0.5, 0.5))",
        "known = history.wait()",
        "assert not known.error and len(known.runs) == 32 and len(known.reports) == 2, known",
        "assert history.report(known.runs[-1].run_id)",
    )
    assert not found & {"mlflow", "sqlalchemy", "pandas", "matplotlib"}
