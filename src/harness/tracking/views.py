"""What MLflow's pages first show: the newest work beside its baseline, what moved first.

Left to themselves they show no verdict and no gain in the table of runs, and a chart for every metric by the alphabet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.base.progress import warn
from harness.runs.gate import Verdict, delta_name
from harness.runs.tags import BASELINE_TAG, MOVED_TAG, STUDY_TAG, SWEEP_TAG
from harness.scoring.speed import SECONDS
from harness.tracking.entries import declared_by, first_declared
from harness.tracking.finding import list_baselines, nearest_baseline, runs_query
from harness.tracking.pages import (
    MOST_OF_A_VIEW,
    RunsView,
    Section,
    ids_filter,
    metric_column,
    packed,
    runs_page,
    sweep_filter,
    tag_column,
    view_tag,
)
from harness.tracking.patience import reason
from harness.tracking.reading import Query, StoredRun
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import last_sweep
from harness.tracking.upkeep import mark_baselines

#: The view of the newest work, and that of its newest run beside the baseline.
VIEW, COMPARE_VIEW = "harness", "harness-compare"
#: How many columns of metrics the table has, and how many of them are gains.
MOST_COLUMNS, MOST_GAINS = 8, 5
#: Sweeps of so many jobs are shown with their baseline: MLflow's search can only name them one by one.
_MOST_NAMED = 50
#: Among so many of the newest runs on the same data one that was judged is looked for.
_LOOKED_AT = 20
_CURVES = tuple(f"curve/{what}_{rate}" for what in ("bib", "face") for rate in ("precision", "recall"))
_WIDTHS = {"verdict": 112, MOVED_TAG: 270}
_METRIC_WIDTH = 112
_MOVED = (Verdict.REGRESSED, Verdict.IMPROVED)


@dataclass(frozen=True)
class StartPages:
    """Where to begin in MLflow, below its own address: the table of the newest work, its charts and, where a run of it
    was judged, the newest of those beside its baseline."""

    table: str
    charts: str
    compare: str = ""


@dataclass(frozen=True)
class Work:
    """What was made last: a sweep, a study or a run by itself, which is shown among the others on its data. `runs` are
    the newest of it, and `search` finds all of it."""

    search: str
    runs: Sequence[StoredRun]
    swept: bool = False

    @property
    def declared(self) -> dict[str, Any]:
        """What the scorecards of its newest run declare as worth a column or a chart."""
        return declared_by(self.runs[0].tags) if self.runs else first_declared()

    def moved(self) -> list[str]:
        """The metrics that moved in any of its runs, those that lost most first."""
        gains = {
            metric: min(gain for gain in (_gain(run, metric) for run in self.runs) if gain is not None)
            for metric in {metric for run in self.runs for metric in _moved(run)}
        }
        return sorted(gains, key=lambda metric: gains[metric])

    @property
    def judged(self) -> bool:
        """Whether one of its runs has gains over a baseline."""
        return any(_beside(run) for run in self.runs)


def start_pages(store: OpenStore) -> StartPages:
    """Where to begin. Keeps the views that the pages show; where MLflow does not take one, plain pages are shown."""
    _mark(store)
    work = newest_work(store)
    view = _keep(store, VIEW, _work_view(work))
    search = "" if view else work.search
    table, charts = (runs_page(store.runs_experiment, search, chart, view) for chart in (False, True))
    newest = next((run for run in work.runs if _beside(run)), None)
    if newest is None:
        return StartPages(table, charts)
    pair = [newest.run_id, _beside(newest)]
    kept = _keep(store, COMPARE_VIEW, _pair_view(newest, pair))
    return StartPages(
        table, charts, runs_page(store.runs_experiment, "" if kept else ids_filter(pair), chart=True, view=kept)
    )


def newest_work(store: OpenStore) -> Work:
    """The sweep whose overview was written last, or the run that was begun after it, with its sweep or study."""
    runs = list(store.reader.search(replace(runs_query(store), limit=1)))
    swept = last_sweep(store)
    if not runs:
        return Work("", ())
    newest = runs[0]
    if swept is not None and swept.started >= newest.started:
        return _group(store, SWEEP_TAG, swept.tags[SWEEP_TAG])
    for tag in (SWEEP_TAG, STUDY_TAG):
        if names := newest.tags.get(tag, "").split():
            return _group(store, tag, names[-1])
    digest = newest.tags.get("data.digest", "")
    if not digest:
        return Work("", runs)
    # Of several runs on these data the newest that was judged says what is worth a column.
    alike = list(store.reader.search(Query(store.runs_experiment, tags={"data.digest": digest}, limit=_LOOKED_AT)))
    judged = [run for run in alike if _beside(run)]
    return Work(f"tags.`data.digest` LIKE '{digest[:12]}%'", judged[:1] or runs)


def _group(store: OpenStore, tag: str, name: str) -> Work:
    """The runs of a sweep or of a study and, where MLflow's search can name them all, the baseline of their data."""
    runs = list(store.reader.search(Query(store.runs_experiment, words={tag: name}, limit=_MOST_NAMED + 1)))
    search = sweep_filter(name) if tag == SWEEP_TAG else f"tags.{tag} LIKE '%{name}%'"
    newest = runs[0].tags if runs else {}
    base = nearest_baseline(list_baselines(store), newest.get("data.digest", ""), newest.get("data.split", ""))
    if base is not None and runs and base.data_digest == newest.get("data.digest") and len(runs) <= _MOST_NAMED:
        search = ids_filter([*(run.run_id for run in runs if run.run_id != base.run_id), base.run_id])
    return Work(search, runs, swept=tag == SWEEP_TAG)


def _work_view(work: Work) -> RunsView:
    declared = work.declared
    gained = list(dict.fromkeys([*work.moved(), *declared["gated"]])) if work.judged else []
    return RunsView(
        work.search,
        first=BASELINE_TAG,
        columns=_columns(gained, [*([SECONDS] if work.swept else []), *declared["headlines"]]),
        sections=[_gains(gained), *_sections([*declared["headlines"], SECONDS], declared["mistakes"])],
    )


def _pair_view(run: StoredRun, pair: Sequence[str]) -> RunsView:
    """A run beside its baseline: all gains in one chart, then the metrics that moved, with both values."""
    declared = declared_by(run.tags)
    moved = sorted(_moved(run), key=lambda metric: _gain(run, metric) or 0.0)
    gained = list(dict.fromkeys([*moved, *declared["gated"]]))
    still = [metric for metric in declared["headlines"] if metric not in moved]
    return RunsView(
        ids_filter(pair),
        first=BASELINE_TAG,
        columns=_columns(gained, list(declared["headlines"])),
        sections=[
            replace(_gains(gained), columns=1, together=True),
            Section("moved", "What moved", "BAR", moved, columns=2),
            *_sections(still, declared["mistakes"]),
        ],
    )


def _columns(gained: Sequence[str], headlines: Sequence[str]) -> dict[str, int]:
    """The verdict and what moved, in words, and at most eight metrics: gains first."""
    metrics = [*map(delta_name, gained[:MOST_GAINS]), *headlines][:MOST_COLUMNS]
    tags = {tag_column(tag): width for tag, width in _WIDTHS.items()}
    return tags | {metric_column(metric): _METRIC_WIDTH for metric in metrics}


def _gains(gained: Sequence[str]) -> Section:
    """The gains, each under the name of its metric: beside MLflow's assistant `delta/...` would be all one reads."""
    titles = {delta_name(metric): metric for metric in gained}
    return Section("gains", "Gain over baseline", "BAR", list(titles), columns=2, titles=titles)


def _sections(headlines: Sequence[str], mistakes: Sequence[str]) -> list[Section]:
    return [
        Section("headlines", "Headlines", "BAR", headlines, columns=2),
        Section("mistakes", "Mistakes", "IMAGE", mistakes),
        Section("curves", "Over score threshold", "LINE", _CURVES if mistakes else (), columns=2),
    ]


def _keep(store: OpenStore, key: str, view: RunsView) -> str:
    """Keep a view in the experiment; returns its key, or nothing where MLflow does not take it."""
    from mlflow.exceptions import MlflowException

    value = packed(view)
    if len(value) > MOST_OF_A_VIEW:
        warn(f"MLflow's pages open without columns and charts of their own: they take {len(value):,} characters")
        return ""
    try:
        store.client.set_experiment_tag(store.runs_experiment, view_tag(key), value)
    except MlflowException as error:
        warn(f"MLflow's pages open without columns and charts of their own: {reason(error)}")
        return ""
    return key


def _mark(store: OpenStore) -> None:
    """Mark baselines of an older harness; who may only read sees them by their verdict."""
    from mlflow.exceptions import MlflowException

    try:
        mark_baselines(store)
    except MlflowException as error:
        warn(f"the names of baselines are not marked in MLflow: {reason(error)}")


def _moved(run: StoredRun) -> list[str]:
    """The gated metrics of a run that moved, by its tags."""
    verdicts = _verdicts(run.tags)
    return [metric for metric, verdict in verdicts if verdict in _MOVED and _gain(run, metric) is not None]


def _verdicts(tags: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    return ((name.removeprefix("verdict."), value) for name, value in tags.items() if name.startswith("verdict."))


def _gain(run: StoredRun, metric: str) -> float | None:
    """What a run gained in a metric; None where it was not compared. One that is no longer known is logged as NaN."""
    gain = run.metrics.get(delta_name(metric))
    return None if gain is None or math.isnan(gain) else gain


def _beside(run: StoredRun) -> str:
    """The baseline that a run was judged against; nothing where it was not compared with one."""
    gains = (value for name, value in run.metrics.items() if name.startswith("delta/"))
    return run.tags.get("verdict.baseline", "") if any(not math.isnan(gain) for gain in gains) else ""
