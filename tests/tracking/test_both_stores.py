"""What holds for every store: nothing is lost, runs are found again, one baseline for each data set, cleaning up."""

from __future__ import annotations

import json
import multiprocessing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from harness.base.errors import ConfigError, HarnessError
from harness.runs.archive import BenchmarkRun, write_run
from harness.runs.comparison import compare
from harness.runs.gate import Verdict
from harness.tracking.catalog import (
    end_killed,
    find_baseline,
    find_finished,
    join,
    load_run,
)
from harness.tracking.finding import find_base, find_run, list_running, list_runs, list_sweeps
from harness.tracking.remote import ServerStore
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore, OpenStore
from harness.tracking.sweeps import best_job, find_jobs
from harness.tracking.upkeep import baseline_of, choose_run, pin, plan_clean
from tests.benchmark_runs import benchmark_run, gate

AnyStore = LocalStore | ServerStore
GOOD = benchmark_run([(2, 0, 0)] * 12)
WORSE = benchmark_run([(1, 0, 1)] * 12)


def record(**changes: Any) -> RunRecord:
    return RunRecord(**{"params": {}, "metrics": {}, "tags": {}, "description": "", **changes})


@dataclass(frozen=True)
class Logger:
    """Logs runs that are made of counts."""

    store: OpenStore
    folder: Path

    def log(self, run: BenchmarkRun = GOOD, name: str = "fast", failed: bool = False, **tags: str) -> str:
        write_run(self.folder, run)
        data = {"data.name": "races", "data.split": "iteration", "data.digest": run.metadata.data_digest}
        with tracked_run(self.store, self.store.runs_experiment, name, data | tags) as tracked:
            tracked.log(record(metrics=run.metrics, files=self.folder, failed=failed))
        return tracked.run_id

    def pin(self, run_id: str) -> None:
        pin(self.store, find_run(self.store, run_id))

    def baselines(self) -> set[str]:
        return {run.run_id for run in list_runs(self.store) if run.pinned}


@pytest.fixture
def logger(store: AnyStore, tmp_path: Path) -> Logger:
    (tmp_path / "files").mkdir()
    return Logger(store.open(), tmp_path / "files")


def test_everything_of_a_run_is_kept(logger: Logger) -> None:
    (logger.folder / "a.txt").write_text("hello")
    params = {f"p{number}": str(number) for number in range(250)}
    metrics = {f"m/{number}": number / 7 for number in range(1200)}
    store = logger.store
    with tracked_run(store, store.runs_experiment, "run", {"early": "1"}) as run:
        run.log(
            record(
                params=params,
                metrics=metrics,
                tags={"late": "2"},
                description="**hi**",
                files=logger.folder,
                tables={"photos.json": {"photo": ["a"]}},
                dataset=("races", "d" * 64),
            )
        )
    stored = store.client.get_run(run.run_id)
    assert stored.info.status == "FINISHED"
    assert stored.data.params == params
    assert stored.data.metrics == metrics
    assert {"early": "1", "late": "2", "mlflow.note.content": "**hi**"}.items() <= stored.data.tags.items()
    assert {file.path for file in store.client.list_artifacts(run.run_id)} == {"a.txt", "photos.json"}
    assert stored.inputs is not None
    assert stored.inputs.dataset_inputs[0].dataset.name == "races"


def test_a_table_is_written_as_mlflow_itself_writes_it(logger: Logger, tmp_path: Path) -> None:
    table = {"photo": ["a", "b"], "n": [1, None], "share": [0.25, float("nan")], "text": ["<é>", None]}
    with tracked_run(logger.store, logger.store.runs_experiment, "ours", {}) as ours:
        ours.log(record(tables={"photos.json": table}))
    with tracked_run(logger.store, logger.store.runs_experiment, "theirs", {}) as theirs:
        logger.store.client.log_table(theirs.run_id, table, "photos.json")
    written, tags = [], []
    for number, run in enumerate((ours, theirs)):
        (tmp_path / str(number)).mkdir()
        path = logger.store.client.download_artifacts(run.run_id, "photos.json", str(tmp_path / str(number)))
        written.append(json.loads(Path(path).read_text()))
        tags.append(logger.store.client.get_run(run.run_id).data.tags["mlflow.loggedArtifacts"])
    assert written[0] == written[1]
    assert tags[0] == tags[1]


def test_runs_are_listed_newest_first_and_read_back_whole(logger: Logger) -> None:
    first, second = logger.log(GOOD, "first", note="a try"), logger.log(WORSE, "second", failed=True)
    runs = list_runs(logger.store)
    assert [(run.run_id, run.name, run.status) for run in runs] == [
        (second, "second", "FAILED"),
        (first, "first", "FINISHED"),
    ]
    assert runs[1].metrics["face/recall"] == 1.0
    assert (runs[1].data_name, runs[1].data_split, runs[1].note) == ("races", "iteration", "a try")
    assert load_run(logger.store, second) == WORSE


def test_the_run_of_a_killed_process_is_ended_and_no_other(logger: Logger) -> None:
    store, done = logger.store, logger.log(study="s")
    left, other = (
        store.client.create_run(store.runs_experiment, tags={"study": study, "study.worker": "w"}).info.run_id
        for study in ("s", "t")
    )
    assert [(run.run_id, run.worker) for run in list_running(store, "s")] == [(left, "w")]
    for run_id in (left, done):
        end_killed(store, run_id)
    assert {run.run_id: run.status for run in list_runs(store)} == {left: "KILLED", done: "FINISHED", other: "RUNNING"}
    assert store.client.get_run(left).info.end_time


def test_a_run_is_found_by_what_a_person_types(logger: Logger) -> None:
    with pytest.raises(ConfigError, match="no runs yet"):
        find_run(logger.store, "latest")
    older, newer, other = logger.log(name="fast"), logger.log(name="fast"), logger.log(name="best seed=3")
    for typed, meant in [
        (older, older),
        (newer[:12], newer),
        ("fast", newer),
        ("best seed=3", other),
        ("latest", other),
    ]:
        assert find_run(logger.store, typed).run_id == meant
    for typed in ("nope", "it's", "%", "_", ""):
        with pytest.raises(ConfigError, match=f"{typed}: no run has this id or name"):
            find_run(logger.store, typed)
    begun = {logger.log(name="more")[0] for _ in range(17)}  # ids are hexadecimal, so that two begin alike
    first = next(digit for digit in sorted(begun) if sum(run.run_id[0] == digit for run in list_runs(logger.store)) > 1)
    with pytest.raises(ConfigError, match=f"{first}: several runs have an id that begins so"):
        find_run(logger.store, first)


def test_only_a_finished_run_with_the_same_key_is_found_again(logger: Logger) -> None:
    logger.log(key="k1", failed=True)
    assert find_finished(logger.store, "k1") is None
    older, newer = logger.log(key="k1"), logger.log(key="k1")
    assert older != newer
    assert find_finished(logger.store, "k1") == newer
    assert find_finished(logger.store, "k2") is None


def test_there_is_one_baseline_for_each_data_set(logger: Logger) -> None:
    assert find_baseline(logger.store, "d" * 64, "iteration").run_id is None
    ours, later = logger.log(), logger.log(WORSE)
    theirs = logger.log(benchmark_run([(1, 0, 0)], data_digest="e" * 64))
    logger.pin(ours)
    logger.pin(theirs)
    assert logger.baselines() == {ours, theirs}
    assert find_baseline(logger.store, "d" * 64, "iteration").run_id == ours
    assert find_baseline(logger.store, "e" * 64, "iteration").run_id == theirs
    logger.pin(later)
    assert logger.baselines() == {later, theirs}
    found = find_baseline(logger.store, "d" * 64, "iteration")
    assert (found.run_id, found.run) == (later, WORSE)
    assert find_baseline(logger.store, "f" * 64, "iteration").run_id == later, "without its own, the one pinned last"
    present = baseline_of(logger.store, find_run(logger.store, ours))
    assert present is not None
    assert present.run_id == later


def test_only_a_run_that_finished_can_be_the_baseline(logger: Logger) -> None:
    bad = logger.log(failed=True)
    with pytest.raises(HarnessError, match="no run has finished yet"):
        choose_run(logger.store)
    good, bad = logger.log(), logger.log(failed=True)
    with pytest.raises(HarnessError, match=f"run {bad[:8]} .* is FAILED; only a run that FINISHED"):
        logger.pin(bad)
    assert choose_run(logger.store).run_id == good


def test_a_run_is_compared_with_the_baseline_of_its_data(logger: Logger) -> None:
    base, run = logger.log(GOOD), logger.log(WORSE)
    with pytest.raises(ConfigError, match="no run is pinned"):
        find_base(logger.store, find_run(logger.store, run))
    logger.pin(base)
    found = find_base(logger.store, find_run(logger.store, run))
    assert found.run_id == base
    with pytest.raises(ConfigError, match="is itself the baseline"):
        find_base(logger.store, found)
    comparison = compare(gate(), load_run(logger.store, run), load_run(logger.store, base))
    assert comparison.judgement.verdict is Verdict.REGRESSED
    assert comparison.totals()["face"] == ("face", 12, 0)


def test_a_run_without_an_archive_says_so(logger: Logger) -> None:
    with tracked_run(logger.store, logger.store.runs_experiment, "bare", {}) as tracked:
        pass
    with pytest.raises(HarnessError, match=f"run {tracked.run_id}: its run.json cannot be had from the store"):
        load_run(logger.store, tracked.run_id)


def test_cleaning_takes_old_runs_and_leaves_what_is_needed(store: AnyStore, logger: Logger) -> None:
    base, studied = logger.log(name="base"), logger.log(name="studied", study="thresholds")
    old, swept, newest = logger.log(name="old"), logger.log(name="swept", sweep_id="s1"), logger.log(name="newest")
    join(logger.store, newest, "sweep_id", "s2")
    for sweep_id in ("s1", "s2"):
        with tracked_run(logger.store, logger.store.sweeps_experiment, sweep_id, {"sweep_id": sweep_id}):
            pass
    logger.pin(base)
    folders = {run.run_id: Path(unquote(urlsplit(run.artifacts).path)).parent for run in list_runs(logger.store)}
    plan = plan_clean(list_runs(logger.store), list_sweeps(logger.store), keep_latest=1)
    assert {run.run_id for run in plan.runs} == {old, swept}
    assert {run.run_id: why for run, why in plan.kept} == {
        base: "baseline of races (iteration)",
        studied: "the study thresholds refers to it",
        newest: "one of the latest",
    }
    assert [sweep.name for sweep in plan.sweeps] == ["s1"]
    said = store.erase(logger.store, [run.run_id for run in plan.doomed])
    assert {run.run_id for run in list_runs(logger.store)} == {base, studied, newest}
    assert [sweep.name for sweep in list_sweeps(logger.store)] == ["s2"]
    assert load_run(logger.store, base) == GOOD
    if isinstance(store, LocalStore):
        assert said == "deleted for good, artifacts included"
        assert {run_id for run_id, folder in folders.items() if folder.exists()} == {base, studied, newest}
        from mlflow.exceptions import MlflowException

        with pytest.raises(MlflowException, match="not found"):
            logger.store.client.get_run(old)
    else:
        assert "`mlflow gc` on the server" in said
        assert logger.store.client.get_run(old).info.lifecycle_stage == "deleted"


def log_five(store: AnyStore, worker: int) -> None:
    opened = store.open()
    for number in range(5):
        with tracked_run(opened, opened.runs_experiment, f"{worker}-{number}", {}) as run:
            run.log(
                record(
                    params={f"p{i}": f"{worker}-{number}-{i}" for i in range(60)},
                    metrics={f"m{i}": worker * 1000.0 + number * 100 + i for i in range(120)},
                    tables={"t.json": {"a": [worker], "b": [number]}},
                )
            )


@pytest.mark.slow
def test_four_processes_that_log_at_once_lose_nothing(store: AnyStore) -> None:
    # Each worker is forked off a process that has imported MLflow, which takes seconds, and has opened nothing.
    fresh = multiprocessing.get_context("forkserver")
    fresh.set_forkserver_preload(["mlflow", "sqlalchemy", __name__])
    processes = [fresh.Process(target=log_five, args=(store, worker)) for worker in range(1, 5)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=200)
    assert [process.exitcode for process in processes] == [0] * 4
    opened = store.open()
    runs = {run.info.run_name: run for run in opened.client.search_runs([opened.runs_experiment])}
    assert set(runs) == {f"{worker}-{number}" for worker in range(1, 5) for number in range(5)}
    for worker in range(1, 5):
        for number in range(5):
            run = runs[f"{worker}-{number}"]
            assert run.info.status == "FINISHED"
            assert run.data.params == {f"p{i}": f"{worker}-{number}-{i}" for i in range(60)}
            assert run.data.metrics == {f"m{i}": worker * 1000.0 + number * 100 + i for i in range(120)}
            assert [file.path for file in opened.client.list_artifacts(run.info.run_id)] == ["t.json"]


def test_an_experiment_that_was_deleted_is_named(store: AnyStore) -> None:
    opened = store.open()
    assert store.open().runs_experiment == opened.runs_experiment
    opened.client.delete_experiment(opened.runs_experiment)
    with pytest.raises(HarnessError, match=f"tracking.experiment: {store.experiment} is deleted in MLflow"):
        store.open()


def swept(logger: Logger, found: int, name: str) -> str:
    """A job of a sweep that finds the faces of its first photos."""
    run = benchmark_run([(1, 0, 0)] * found + [(0, 0, 1)] * (20 - found))
    declared = json.dumps({"headlines": {"face/recall": "faces"}})
    return logger.log(run, name, sweep_id="s1", declared=declared)


def test_the_best_job_of_a_sweep_is_held_against_the_baseline_or_else_the_first_job(
    logger: Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(logger, 10, "first")
    assert best_job(logger.store, find_jobs(logger.store, "s1")) == ""
    swept(logger, 18, "better")
    swept(logger, 16, "good")
    jobs = find_jobs(logger.store, "s1")
    words = best_job(logger.store, jobs)
    assert words.startswith("better, the best of 2 runs held against the first run in face/recall on 20 groups: ")
    assert words.endswith("shown to be better")
    elsewhere = logger.log(benchmark_run([(1, 0, 0)] * 20, data_digest="e" * 64))
    logger.pin(elsewhere)
    assert best_job(logger.store, jobs) == words
    logger.pin(logger.log(benchmark_run([(1, 0, 0)] * 17 + [(0, 0, 1)] * 3)))
    words = best_job(logger.store, jobs)
    assert words.startswith("better, the best of 3 runs held against the baseline in face/recall")
    assert ": nothing found" in words
    monkeypatch.setattr("harness.tracking.sweeps._MOST_SELECTED", 2)
    assert best_job(logger.store, jobs) == ("not looked for among 3 runs: more than 2 take long to read item by item")
