"""The tables behind `to_pandas`: lists of rows, without pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import ItemChange
from harness.runs.gate import Judgement, MetricVerdict
from harness.runs.items import Item
from harness.types import Box

if TYPE_CHECKING:
    from harness.references.sets import ReferencePhoto
    from harness.tracking.entries import RunEntry

Row = dict[str, Any]

#: The columns that each table has, whatever is in it; counts and metrics come after them.
ITEM = ("task", "name", "id", "group", "failed")
CHANGE = ("change", "task", "name", "id", "scorecard", "lost", "invented", "words")
VERDICT = ("metric", "value", "baseline", "gain", "gain_low", "gain_high", "unseen", "needed", "verdict")
METRIC = ("metric", "value", "low", "high", "n", "n_eff", *VERDICT[2:])
LABEL = ("photo", "sha256", "split", "kind", "place", "x", "y", "w", "h", "scope", "number", "identity", "bib", "face")
RUN = ("run_id", "name", "started", "status", "data", "split", "digest", "verdict", "baseline", "note")


def item_rows(run: BenchmarkRun) -> list[Row]:
    """One row an item: what it is, and each count as `scorecard.count`. One that failed has its reason, no counts."""
    rows: list[Row] = []
    for name, task in run.tasks.items():
        rows += [{"task": name, "name": item.name, "id": item.id, **_counted(item)} for item in task.items]
        rows += [{"task": name, "name": item.name, "id": item.id, "failed": item.reason} for item in task.failed]
    return rows


def _counted(item: Item) -> Row:
    row: Row = {"group": item.group, "failed": ""}
    if item.photo is not None:
        detail = item.photo
        row |= {"status": detail.status, "expected": detail.expected, "read": detail.read}
        row |= {"missed": {each.number: each.words() for each in detail.missed}, "seconds": detail.seconds}
    return row | {f"{card}.{name}": n for card, counts in item.counts.items() for name, n in counts.items()}


def metric_rows(run: BenchmarkRun, judgement: Judgement) -> list[Row]:
    """One row a metric: value, interval, n, and what it did beside the baseline."""
    intervals = {name: each for task in run.tasks.values() for name, each in task.intervals.items()}
    bases = {
        rate.metric: card.denominator(rate) for card in run.cards.values() for rate in card.declared.rates.values()
    }
    judged = {item.metric: item for item in judgement.metrics}
    rows = []
    for metric, value in run.metrics.items():
        if metric.startswith("interval/"):  # it has a column
            continue
        interval = intervals.get(metric)
        row: Row = {"metric": metric, "value": value}
        row |= {"low": interval.low, "high": interval.high, "n_eff": interval.n_eff} if interval else {}
        row["n"] = bases.get(metric)
        rows.append(row | (_verdict(judged[metric]) if metric in judged else {}))
    return rows


def _verdict(item: MetricVerdict) -> Row:
    return {
        "baseline": item.baseline,
        "gain": item.gain,
        "gain_low": item.low,
        "gain_high": item.high,
        "unseen": item.unseen,
        "needed": item.needed,
        "verdict": str(item.verdict or ""),
    }


def verdict_rows(judgement: Judgement) -> list[Row]:
    """One row a judged metric. Gains are above zero where the run is better, whichever way the metric points."""
    return [{"metric": item.metric, "value": item.candidate, **_verdict(item)} for item in judgement.metrics]


def change_rows(changes: Iterable[ItemChange]) -> list[Row]:
    """One row for each item and each scorecard that counts it otherwise."""
    return [
        {
            "change": str(item.change),
            "task": item.task,
            "name": item.name,
            "id": item.id,
            "scorecard": item.scorecard,
            "lost": item.lost,
            "invented": item.invented,
            "words": item.words(),
        }
        for item in changes
    ]


def label_rows(photos: Iterable[ReferencePhoto]) -> list[Row]:
    """One row for each bib, face and link of each photo."""
    return [
        {"photo": photo.name, "sha256": photo.sha256, "split": photo.split, **row}
        for photo in photos
        for row in _labels(photo)
    ]


def _labels(photo: ReferencePhoto) -> Iterator[Row]:
    for place, bib in enumerate(photo.bibs):
        yield {"kind": "bib", "place": place, **_box(bib), "scope": str(bib.scope), "number": bib.number}
    for place, face in enumerate(photo.faces):
        yield {"kind": "face", "place": place, **_box(face), "scope": str(face.scope), "identity": face.identity}
    for place, link in enumerate(photo.links or ()):
        yield {"kind": "link", "place": place, "bib": link.bib_index, "face": link.face_index}


def _box(box: Box) -> Row:
    return {"x": box.x, "y": box.y, "w": box.w, "h": box.h}


def run_rows(runs: Iterable[RunEntry]) -> list[Row]:
    """One row a run: what it is, and its metrics; intervals and gains aside, which `load_run` has."""
    return [
        {
            "run_id": run.run_id,
            "name": run.name,
            "started": run.started,
            "status": run.status,
            "data": run.data_name,
            "split": run.data_split,
            "digest": run.data_digest,
            "verdict": run.verdict,
            "baseline": bool(run.pinned),
            "note": run.note,
            **{name: value for name, value in run.metrics.items() if not name.startswith(("interval/", "delta/"))},
        }
        for run in runs
    ]


def shown_run(run: RunEntry, headlines: Iterable[str]) -> Row:
    """A run as a line of a list, with the metrics that stand for it as text."""
    return {
        "id": run.short_id,
        "name": run.name,
        "data": run.data,
        "started": f"{run.started:%Y-%m-%d %H:%M}",
        "values": [f"{run.metrics[name]:.1%}" if name in run.metrics else "" for name in headlines],
        "verdict": run.verdict or run.status.lower(),
    }
