"""The two readers of a store answer alike: the SQL of `Database` is held against MLflow's own client, run by run."""

from __future__ import annotations

import math
import shutil
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from bench.stores import fabricate

from harness.base.errors import HarnessError
from harness.runs.tags import BASELINE_TAG, GRADING_TAG, SEALED_TAG, SWEEP_TAG
from harness.tracking.database import SCHEMA, Database, find_experiments, local_path
from harness.tracking.entries import entry_of
from harness.tracking.finding import list_runs
from harness.tracking.reading import ClientReader, Query, StoredRun, matches
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore, OpenStore
from harness.tracking.sweeps import find_jobs

#: The name of a run that has it in a tag alone, as old ones have.
OLD = "Größe 🏃"
NAMES = ("it's", "both ' and \"", "100 %_", "back\\slash", "`tick`", OLD)
METRICS = {
    "a/nan": math.nan,
    "a/inf": math.inf,
    "a/minus_inf": -math.inf,
    "a/zero": 0.0,
    "a/tiny": 5e-324,
    "a/-1": -1.0,
}


@pytest.fixture(scope="module")
def opened(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> OpenStore:
    """A store with what is awkward in it: made by the harness, and by MLflow's client alone."""
    from mlflow.entities import Metric, Param, RunTag

    root = shutil.copytree(empty_store, tmp_path_factory.mktemp("a store #1 50%") / "ml runs")
    store = LocalStore(str(root), "reading").open()
    files = tmp_path_factory.mktemp("files")
    (files / "report.html").write_text("<h1>")
    for number, name in enumerate(NAMES):
        tags = {"data.digest": name, "odd": str(number % 2), SWEEP_TAG: f"s{number % 3} s-all"}
        tags |= {BASELINE_TAG: "2026"} if number == 2 else {}
        with tracked_run(store, store.runs_experiment, name, tags) as run:
            curves = {"curve": {0: 0.1, 2: 0.3, 1: 0.2}}
            run.log(RunRecord({"p": name}, {"m": number / 7}, {}, "", curves, files, failed=number == 3))
    client, now = store.client, int(time.time() * 1000)
    same = [client.create_run(store.runs_experiment, start_time=now + 1).info.run_id for _ in range(5)]
    client.log_batch(same[0], [Metric(key, value, now, 0) for key, value in METRICS.items()])
    # The latest value is that of the last step, and of the last time there; not what came last.
    for value, at, step in ((1.0, now, 5), (2.0, now + 9, 4), (3.0, now + 5, 5), (4.0, now + 4, 5)):
        client.log_batch(same[1], [Metric("stepped", value, at, step)])
    client.log_batch(same[1], [Metric("m", math.nan, now, 0)])
    client.log_batch(same[2], params=[Param("p", "x")], tags=[RunTag(GRADING_TAG, "g"), RunTag("odd", "")])
    client.delete_run(same[3])
    client.set_tag(same[4], SEALED_TAG, "set")
    with closing(sqlite3.connect(root / "mlflow.db")) as database, database:
        database.execute("UPDATE runs SET name = NULL WHERE name = ?", [OLD])
    client.create_run(store.sweeps_experiment, tags={SWEEP_TAG: "s1"})
    client.create_run(client.create_experiment("elsewhere"), tags={"odd": "1"})
    return LocalStore(str(root), "reading").open()


def readers(opened: OpenStore) -> tuple[Database, ClientReader]:
    assert isinstance(opened.reader, Database)
    return opened.reader, ClientReader(opened.connect)


def comparable(run: StoredRun) -> dict[str, Any]:
    """Every value, NaN as a word: NaN is equal to nothing."""
    return asdict(run) | {"metrics": {name: repr(value) for name, value in run.metrics.items()}}


QUERIES: dict[str, dict[str, Any]] = {
    "all": {},
    "oldest first": {"oldest_first": True},
    "none": {"limit": 0},
    "one": {"limit": 1},
    "some": {"limit": 4},
    "with ties": {"limit": 2, "status": "RUNNING"},
    "equal tags": {"tags": {"odd": "1"}},
    "two tags": {"tags": {"odd": "1", "data.digest": NAMES[1]}},
    "empty tag": {"tags": {"odd": ""}},
    "having": {"having": (BASELINE_TAG,)},
    "lacking": {"lacking": (GRADING_TAG, SEALED_TAG)},
    "having, not having": {"having": ("odd",), "lacking": (BASELINE_TAG,), "limit": 3},
    "words": {"words": {SWEEP_TAG: "s1"}, "oldest_first": True},
    "part of a word": {"words": {SWEEP_TAG: "s"}},
    "status": {"status": "FAILED"},
    "measured": {"measured": "m"},
    "measured nothing": {"measured": "a/-1"},
    "measured infinity": {"measured": "a/inf"},
    "no such metric": {"measured": "m' OR 1=1 --"},
    "no such id": {"id_begins": "zz"},
    "wildcard": {"id_begins": "%"},
    **{f"name {name}": {"name": name} for name in NAMES},
    **{f"tag {name}": {"tags": {"data.digest": name}} for name in NAMES},
    "wildcard in a name": {"name": "%"},
}


@pytest.mark.parametrize("case", QUERIES)
def test_both_readers_answer_alike(opened: OpenStore, case: str) -> None:
    query = Query(opened.runs_experiment, params=True, **QUERIES[case])
    ours, theirs = ([comparable(run) for run in reader.search(query)] for reader in readers(opened))
    assert ours == theirs
    meant = [run for run in opened.reader.search(Query(opened.runs_experiment)) if matches(query, run)]
    assert opened.reader.count(query) == len(meant)
    if query.limit is None:
        assert {run["run_id"] for run in ours} == {run.run_id for run in meant}


def test_each_query_means_some_runs_and_not_all(opened: OpenStore) -> None:
    """Readers that both answered nothing would agree, too."""
    empty = {
        "none",
        "part of a word",
        "measured nothing",
        "no such metric",
        "no such id",
        "wildcard",
        "wildcard in a name",
    }
    total = opened.reader.count(Query(opened.runs_experiment))
    assert total == len(NAMES) + 4, "what was deleted is none, and neither is what is in another experiment"
    for case, wanted in QUERIES.items():
        found = len(list(opened.reader.search(Query(opened.runs_experiment, **wanted))))
        assert (found == 0) == (case in empty), case
        assert found < total or case in ("all", "oldest first"), case


def test_a_run_is_found_by_each_beginning_of_its_id(opened: OpenStore) -> None:
    for run in opened.reader.search(Query(opened.runs_experiment)):
        for length in (1, 8, 32):
            query = Query(opened.runs_experiment, id_begins=run.run_id[:length])
            ours, theirs = ({found.run_id for found in reader.search(query)} for reader in readers(opened))
            assert run.run_id in ours == theirs


def test_one_run_with_all_its_values_also_where_it_was_deleted(opened: OpenStore) -> None:
    deleted = opened.client.search_runs([opened.runs_experiment], run_view_type=2)
    listed = [run.run_id for run in opened.reader.search(Query(opened.runs_experiment))]
    assert len(deleted) == 1
    assert deleted[0].info.run_id not in listed
    for run_id in (*listed, deleted[0].info.run_id):
        ours, theirs = (comparable(reader.get(run_id)) for reader in readers(opened))
        assert ours == theirs
    for reader in readers(opened):
        with pytest.raises(HarnessError, match=r"run 00 cannot be read: .+"):
            reader.get("00")


def test_values_are_what_mlflow_says(opened: OpenStore) -> None:
    runs = {tuple(run.metrics): run for run in opened.reader.search(Query(opened.runs_experiment))}
    odd = next(run.metrics for names, run in runs.items() if "a/nan" in names)
    assert math.isnan(odd["a/nan"])
    assert (odd["a/inf"], odd["a/minus_inf"]) == (1.7976931348623157e308, -1.7976931348623157e308)
    stepped = next(run.metrics for names, run in runs.items() if "stepped" in names)
    assert stepped["stepped"] == 3.0
    curves = next(run.metrics for names, run in runs.items() if "curve" in names)
    assert curves["curve"] == 0.3


def test_only_what_is_asked_for_is_read(opened: OpenStore) -> None:
    bare = list(opened.reader.search(Query(opened.runs_experiment, metrics=False)))
    assert not any(run.metrics or run.params for run in bare)
    assert any(run.tags for run in bare)


def test_files_are_those_that_mlflow_lists(opened: OpenStore, tmp_path: Path) -> None:
    database, client = readers(opened)
    for run in database.search(Query(opened.runs_experiment)):
        assert sorted(database.files(run.run_id)) == sorted(client.files(run.run_id))
        folder = database.folder(run.run_id)
        assert folder is not None
        if "report.html" in database.files(run.run_id):
            copy = client.download(run.run_id, "report.html", tmp_path)
            assert (folder / "report.html").read_bytes() == copy.read_bytes()
    assert client.folder(run.run_id) is None


def test_files_that_are_elsewhere_are_asked_of_mlflow(opened: OpenStore, monkeypatch: pytest.MonkeyPatch) -> None:
    run = next(opened.reader.search(Query(opened.runs_experiment, status="FINISHED")))
    monkeypatch.setattr(Database, "folder", lambda *_: None)
    assert opened.reader.files(run.run_id) == ["report.html"]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/c%23", "/a b/c#"),
        ("file://localhost/a", "/a"),
        ("/a b/50%25", "/a b/50%25"),
        ("file://host/a", None),
        ("s3://bucket/a", None),
        ("mlflow-artifacts:/a", None),
    ],
)
def test_where_artifacts_lie(uri: str, path: str | None) -> None:
    assert local_path(uri) == (Path(path) if path else None)


def test_the_schema_is_that_of_the_mlflow_that_is_installed(empty_store: Path) -> None:
    """With another MLflow, look at what changed in the tables of runs before this is set to its revision."""
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from mlflow.store.db import utils

    scripts = Config()
    scripts.set_main_option("script_location", str(Path(utils.__file__).parent.parent / "db_migrations"))
    assert ScriptDirectory.from_config(scripts).get_heads() == [SCHEMA]


@pytest.fixture
def copied(empty_store: Path, tmp_path: Path) -> LocalStore:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    store = LocalStore(str(tmp_path / "mlruns"), "harness")
    assert isinstance(store.open().reader, Database)
    return store


def change(store: LocalStore, statement: str) -> None:
    with sqlite3.connect(store.database) as database:
        database.execute(statement)
    database.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = 'bd07f7e963c5'",
        "DELETE FROM alembic_version",
        "DROP TABLE alembic_version",
        "UPDATE experiments SET lifecycle_stage = 'deleted' WHERE name = 'harness'",
        "DELETE FROM experiments WHERE name = 'harness-sweeps'",
        "UPDATE experiments SET workspace = 'theirs'",
    ],
)
def test_what_is_not_known_is_left_to_mlflow(copied: LocalStore, statement: str) -> None:
    names = "harness", "harness-sweeps"
    assert find_experiments(copied.database, *names)
    change(copied, statement)
    assert find_experiments(copied.database, *names) is None


def test_workspaces_are_left_to_mlflow(copied: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_ENABLE_WORKSPACES", "true")
    assert find_experiments(copied.database, "harness") is None


def test_a_store_of_another_schema_is_read_by_mlflow_or_told_as_ever(copied: LocalStore, tmp_path: Path) -> None:
    change(copied, "UPDATE alembic_version SET version_num = 'ffffffffffff'")
    assert isinstance(copied.open().reader, ClientReader), "MLflow has opened this one before, and does not look again"
    moved = LocalStore(str(shutil.copytree(copied.folder, tmp_path / "moved")), "harness")
    with pytest.raises(
        HarnessError, match=r"tracking\.root: cannot open the MLflow store in .+moved: a newer MLflow has"
    ):
        moved.open()


def test_a_file_that_is_cut_off_is_told_in_a_sentence(copied: LocalStore) -> None:
    content = copied.database.read_bytes()
    copied.database.write_bytes(content[: len(content) // 3])
    with pytest.raises(HarnessError, match=r"mlflow\.db|cannot open the MLflow store"):
        list_runs(copied.open())


def test_reading_changes_nothing(copied: LocalStore) -> None:
    before = copied.database.read_bytes()
    opened = copied.open()
    list_runs(opened)
    with opened.reader._reading("x") as database, pytest.raises(sqlite3.OperationalError, match="readonly"):  # type: ignore[attr-defined]
        database.execute("DELETE FROM experiments")
    assert copied.database.read_bytes() == before


def test_a_reader_sees_one_moment_and_keeps_nobody_from_writing(copied: LocalStore) -> None:
    store = copied.open()
    for number in range(3):
        with tracked_run(store, store.runs_experiment, f"run {number}", {}):
            pass
    reading = store.reader.search(Query(store.runs_experiment))
    first = next(reading)
    writer = threading.Thread(target=lambda: store.client.create_run(store.runs_experiment, run_name="late"))
    writer.start()
    writer.join(timeout=60)
    assert not writer.is_alive()
    assert [first.name, *(run.name for run in reading)] == ["run 2", "run 1", "run 0"]
    assert list_runs(store)[0].name == "late"


def test_a_sweep_of_more_than_a_thousand_jobs_is_found_whole(copied: LocalStore) -> None:
    store = copied.open()
    with tracked_run(store, store.runs_experiment, "job", {SWEEP_TAG: "before big"}) as first:
        first.log(RunRecord({"p": "x"}, {"m": 0.5}, {}, ""))
    fabricate(copied.database, first.run_id, 1202)
    client = replace(store, reader=ClientReader(store.connect))
    names = ["job", *(f"job {number}" for number in range(1, 1203))]
    for each in (store, client):
        jobs = find_jobs(each, "big")
        assert [job.name for job in jobs] == names
        assert {(job.params["p"], job.metrics["m"]) for job in jobs} == {("x", 0.5)}
        assert find_jobs(each, "bi") == ()
    ours, theirs = (next(reader.search(Query(store.runs_experiment))) for reader in (store.reader, client.reader))
    assert entry_of(ours) == entry_of(theirs)
