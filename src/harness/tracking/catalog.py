"""Finding runs in a store: by key, by baseline, by what a person types; and reading them back."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError, HarnessError, SealedError
from harness.base.progress import warn
from harness.runs.archive import RUN_FILE, BenchmarkRun, TaskData, read_run
from harness.runs.first_format import CARDS
from harness.runs.gate import Verdict
from harness.runs.looks import is_sealed, unseal
from harness.runs.plan import TIMING_TAG, Audit
from harness.runs.provenance import CODE_FILE
from harness.runs.records import DECLARED_TAG, KEY_TAG, SEALED_TAG, STUDY_TAG, WORKER_TAG, declared
from harness.scoring.speed import RUNTIME, SECONDS
from harness.tracking.store import OpenStore

if TYPE_CHECKING:
    from mlflow.entities import Run

#: Present on the runs that are baselines, with the time at which they were pinned.
BASELINE_TAG = "baseline"
#: On the runs whose audit was made: what it came to.
AUDIT_TAG = "audit"
#: How many runs are asked what they see.
RECENT = 8
#: Present on the runs that are grades of a student, and on the overview of a cohort.
GRADING_TAG = "grading_id"
#: What the runs of the first format declare.
FIRST_DECLARED = declared([card.DECLARED for card in CARDS])
#: What stands for the newest run where a run is asked for.
LATEST = "latest"
_PAGE = 1000


@dataclass(frozen=True)
class RunEntry:
    """A run as the store lists it. `pinned` is when it became a baseline, and `judged_against` the baseline that its
    verdict is about; both are empty where there is none. `sealed_in` is the folder of the reference set that has the
    scores of a run on its holdout."""

    run_id: str
    name: str
    status: str
    started: datetime
    data_name: str = ""
    data_split: str = ""
    data_digest: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""
    judged_against: str = ""
    pinned: str = ""
    study: str = ""
    worker: str = ""
    sweep_ids: tuple[str, ...] = ()
    note: str = ""
    artifacts: str = ""
    headlines: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    look: str = ""
    sealed_in: str = ""

    @property
    def sealed(self) -> bool:
        """Whether it is on a holdout, and its scores are kept where the gate alone reads them."""
        return bool(self.sealed_in)

    @property
    def finished(self) -> bool:
        """Whether the run came to its end with every photo evaluated."""
        return self.status == "FINISHED"

    @property
    def short_id(self) -> str:
        """Enough of the id to name the run by."""
        return self.run_id[:8]

    @property
    def data(self) -> str:
        """What it is on, in words: `sample (iteration)`."""
        return str(TaskData(self.data_name, self.data_split))

    def judged_by_another(self, baselines: Collection[str]) -> bool:
        """Whether its verdict is about a run that is none of the present baselines."""
        return bool(self.verdict and self.judged_against and not self.pinned) and self.judged_against not in baselines

    def same_data(self, other: RunEntry) -> bool:
        """Whether both runs are on the same photos, labels and split."""
        return (self.data_digest, self.data_split) == (other.data_digest, other.data_split)


@dataclass(frozen=True)
class Baseline:
    """The run that others are judged against; empty where none was ever pinned."""

    run_id: str | None = None
    run: BenchmarkRun | None = None

    @property
    def key(self) -> str | None:
        """What judgements know it by: its own key or, where it is older than keys, its id."""
        return (self.run.metadata.key if self.run else "") or self.run_id


def list_runs(store: OpenStore, query: str = "", limit: int | None = None) -> list[RunEntry]:
    """Every run, or the last ones, newest first."""
    found = search_runs(store, store.runs_experiment, query, page=limit or _PAGE)
    return [_entry(run) for run in islice(_no_grades(found), limit)]


def baseline_ids(store: OpenStore) -> frozenset[str]:
    """The runs that are baselines."""
    return frozenset(run.run_id for run in list_runs(store, f"tags.{BASELINE_TAG} LIKE '%'"))


def list_sweeps(store: OpenStore) -> list[RunEntry]:
    """The overview of every sweep, newest first."""
    return [_entry(run) for run in _no_grades(search_runs(store, store.sweeps_experiment))]


def _no_grades(runs: Iterable[Run]) -> Iterator[Run]:
    """Without the grades of students and cohorts, which an older harness kept among runs and sweeps."""
    return (run for run in runs if GRADING_TAG not in run.data.tags)


def find_run(runs: Sequence[RunEntry], wanted: str) -> RunEntry:
    """The run that a person means by an id, the beginning of one, a name (the newest of that name) or `latest`."""
    if not runs:
        raise ConfigError("the store has no runs yet")
    if wanted == LATEST:
        return runs[0]
    named = [run for run in runs if wanted in (run.run_id, run.name)]
    if named:
        return named[0]
    begun = [run for run in runs if wanted and run.run_id.startswith(wanted)]
    if len(begun) > 1:
        raise ConfigError(f"{wanted}: {len(begun)} runs have an id that begins so; write more of it")
    if not begun:
        raise ConfigError(f"{wanted}: no run has this id or name")
    return begun[0]


def find_finished(store: OpenStore, key: str, *, timed: bool = False, sealed: bool = False) -> str | None:
    """The newest finished run with this key; of those that have seconds where they are asked for, and of those whose
    scores are sealed or of the others."""
    query = f"tags.key = '{key}' and attributes.status = 'FINISHED'"
    if timed:
        query += f" and metrics.`{SECONDS}` >= 0"
    found = search_runs(store, store.runs_experiment, query, page=10)
    return next((str(run.info.run_id) for run in found if (SEALED_TAG in run.data.tags) == sealed), None)


def find_seconds(store: OpenStore, timing_key: str) -> tuple[str, dict[str, float]] | None:
    """The newest run that has made this timing pass, and what it measured."""
    run = next(search_runs(store, store.runs_experiment, f"tags.`{TIMING_TAG}` = '{timing_key}'", page=1), None)
    if run is None:
        return None
    seconds = {name: value for name, value in run.data.metrics.items() if name.startswith(RUNTIME)}
    return (str(run.info.run_id), seconds) if seconds else None


def tag_audit(store: OpenStore, run_id: str, audit: Audit) -> None:
    """Note on a run what its audit came to. One that did not pass is FAILED from then on, and never reused."""
    with told(f"run {run_id}: its audit cannot be noted"):
        store.client.set_tag(run_id, AUDIT_TAG, audit.words())
        if audit.differences:
            store.client.set_terminated(run_id, "FAILED")


def find_baseline(store: OpenStore, data_digest: str, data_split: str, root: Path | None = None) -> Baseline:
    """The baseline of these data; where they have none, the one pinned last, so that the difference is told. `root` is
    the folder of the reference set, where there is a holdout in it."""
    best = nearest_baseline(list_runs(store, f"tags.{BASELINE_TAG} LIKE '%'"), data_digest, data_split)
    if best is None:
        return Baseline()
    try:
        return Baseline(best.run_id, load_to_judge(store, best, root))
    except HarnessError as error:
        if best.data_digest == data_digest:
            raise
        # It is on other data, and nothing could be judged against it.
        warn(f"these data have no baseline, and the one pinned last cannot be read: {error}")
        return Baseline()


def nearest_baseline(runs: Sequence[RunEntry], data_digest: str, data_split: str) -> RunEntry | None:
    """Among the pinned runs the one of these data, or else the one pinned last."""
    pinned = [run for run in runs if run.pinned]
    near = [(run.data_digest == data_digest, run.data_split == data_split, run.pinned) for run in pinned]
    return max(zip(near, pinned, strict=True), key=lambda pair: pair[0], default=(None, None))[1]


def find_base(runs: Sequence[RunEntry], run: RunEntry) -> RunEntry:
    """What a run is compared with where nothing is named: the baseline of its data, or the one pinned last."""
    base = nearest_baseline(runs, run.data_digest, run.data_split)
    if base is None:
        raise ConfigError("no run is pinned as the baseline yet; name a run to compare with, or pin one")
    if base.run_id == run.run_id:
        raise ConfigError(f"run {run.short_id} is itself the baseline; name a run to compare it with")
    return base


def load_run(store: OpenStore, run_id: str) -> BenchmarkRun:
    """A run from its archive. Raises SealedError where its scores are sealed."""
    try:
        with _downloaded(store, run_id, RUN_FILE) as path:
            return read_run(path)
    except HarnessError as error:
        if SEALED_TAG in read_tags(store, run_id):
            raise SealedError(
                f"run {run_id[:8]} is on a holdout: its scores are sealed, and only its verdict is shown; "
                "holdout.show=true shows them, and leaves the holdout unprotected"
            ) from error
        raise


def load_to_judge(store: OpenStore, entry: RunEntry, root: Path | None = None) -> BenchmarkRun:
    """A run for the gate, also where its scores are sealed: nothing of those may be shown but the verdict. They are
    looked for in `root` first, where the reference set may have been moved to."""
    if not entry.sealed:
        return load_run(store, entry.run_id)
    here = root is not None and is_sealed(root, entry.key)
    return unseal(root if root and here else Path(entry.sealed_in), entry.key)


def read_artifact(store: OpenStore, run_id: str, name: str) -> bytes:
    """A file that a run left."""
    with _downloaded(store, run_id, name) as path:
        return path.read_bytes()


def load_code(store: OpenStore, run_id: str) -> dict[str, dict[str, str]] | None:
    """The record of a run's code, as `code_diff` takes it; None where the run is older than such records."""
    if not has_artifact(store, run_id, CODE_FILE):
        return None
    record: dict[str, dict[str, str]] = json.loads(read_artifact(store, run_id, CODE_FILE))
    return record


def read_tags(store: OpenStore, run_id: str) -> dict[str, str]:
    """The tags of a run."""
    with told(f"run {run_id} cannot be read"):
        return dict(store.client.get_run(run_id).data.tags)


def has_artifact(store: OpenStore, run_id: str, name: str) -> bool:
    """Whether a run left a file of this name."""
    with told(f"run {run_id}: its files cannot be listed"):
        return any(item.path == name for item in store.client.list_artifacts(run_id))


def recent_runs(store: OpenStore, tag: str, value: str, limit: int = RECENT) -> tuple[BenchmarkRun, ...]:
    """The last finished runs with this tag, such as `data.digest`, newest first.

    Those that predict the same as another are left out, and so are those whose predictions are sealed.
    """
    query = f"tags.`{tag}` = '{value}' and attributes.status = 'FINISHED'"
    distinct: dict[str, str] = {}
    found = _no_grades(search_runs(store, store.runs_experiment, query, page=4 * limit))
    for run in islice((run for run in found if SEALED_TAG not in run.data.tags), 4 * limit):
        distinct.setdefault(run.data.tags.get("predictions.digest", run.info.run_id), str(run.info.run_id))
    runs = []
    for run_id in list(distinct.values())[:limit]:
        with suppress(HarnessError):  # an archive that is gone or older than its format is no reason to fail a new run
            runs.append(load_run(store, run_id))
    return tuple(runs)


def list_running(store: OpenStore, study: str) -> list[RunEntry]:
    """The runs of a study that nobody has ended."""
    return list_runs(store, f"tags.{STUDY_TAG} = '{study}' and attributes.status = 'RUNNING'")


def end_killed(store: OpenStore, run_id: str) -> None:
    """End the run of a process that is dead by now; one that it has ended itself stays as it is."""
    with told(f"run {run_id} cannot be ended"):
        if store.client.get_run(run_id).info.status == "RUNNING":
            store.client.set_terminated(run_id, "KILLED")


def join(store: OpenStore, run_id: str, tag: str, name: str) -> None:
    """Make a run that exists one of a sweep's or a study's; it stays one of those that it belongs to."""
    before = store.client.get_run(run_id).data.tags.get(tag, "").split()
    if name not in before:
        store.client.set_tag(run_id, tag, " ".join([*before, name]))


@contextmanager
def _downloaded(store: OpenStore, run_id: str, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        with told(f"run {run_id}: its {name} cannot be had from the store"):
            path = Path(store.client.download_artifacts(run_id, name, folder))
        yield path


@contextmanager
def told(what: str) -> Iterator[None]:
    """MLflow's own errors in the words of the harness."""
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, OSError) as error:
        raise HarnessError(f"{what}: {str(error).splitlines()[0]}") from error


def search_runs(store: OpenStore, experiment: str, query: str = "", page: int = _PAGE) -> Iterator[Run]:
    """Runs that match, newest first, page by page."""
    token = None
    while True:
        with told("the store cannot be searched"):
            found = store.client.search_runs([experiment], query, max_results=page, page_token=token)
        yield from found
        token = found.token
        if not token:
            return


def declared_by(tags: Mapping[str, str]) -> dict[str, Any]:
    """What a run's scorecards declare as worth a column or a chart. Runs of the first format do not say it."""
    return json.loads(tags[DECLARED_TAG]) if DECLARED_TAG in tags else dict(FIRST_DECLARED)


def headlines_of(runs: Iterable[RunEntry]) -> dict[str, str]:
    """The columns of a list of runs: every metric that one of them declares and one of them has, with its title.

    The oldest run comes first, so that a new kind of run adds its columns at the end.
    """
    listed = sorted(runs, key=lambda run: run.started)
    declared = {metric: title for run in listed for metric, title in run.headlines.items()}
    return {metric: title for metric, title in declared.items() if any(metric in run.metrics for run in listed)}


def _entry(run: Run) -> RunEntry:
    tags = run.data.tags
    return RunEntry(
        run_id=str(run.info.run_id),
        name=str(run.info.run_name),
        status=str(run.info.status),
        started=datetime.fromtimestamp(run.info.start_time / 1000, UTC),
        data_name=tags.get("data.name", ""),
        data_split=tags.get("data.split", ""),
        data_digest=tags.get("data.digest", ""),
        metrics=run.data.metrics,
        verdict=str(Verdict.BASELINE) if BASELINE_TAG in tags else tags.get("verdict", ""),
        judged_against=tags.get("verdict.baseline", ""),
        pinned=tags.get(BASELINE_TAG, ""),
        study=tags.get(STUDY_TAG, tags.get(f"{STUDY_TAG}.keep", "")),
        worker=tags.get(WORKER_TAG, ""),
        sweep_ids=tuple(tags.get("sweep_id", "").split()),
        note=tags.get("note", ""),
        artifacts=str(run.info.artifact_uri),
        headlines=declared_by(tags)["headlines"],
        key=tags.get(KEY_TAG, ""),
        look=tags.get("verdict.look", ""),
        sealed_in=tags.get(SEALED_TAG, ""),
    )
