"""Runs of a study, read back: what one is, how two differ, where one fails. The holdout cannot be read here.

A run is shown only where it was made on the photos of the study: its search split, with the labels that the study began
with. A run on any other photos, the holdout's among them, is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.base.errors import ConflictError
from harness.references.photos import read_photo
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import Comparison, compare, ledgers, outcome
from harness.runs.items import Item
from harness.runs.verdicts import notes
from harness.search.base import known_base, open_runs
from harness.search.ledger import Ledger
from harness.search.searchable import trial_spec
from harness.search.views import View
from harness.tasks.photos.pictures import draw_photo
from harness.tracking.catalog import find_baseline, load_run

#: Failures that are shown at most, and the long side of their pictures in pixels.
MOST_FAILURES = 8
#: Missed numbers that are told one by one at most.
MOST_MISSED = 100
PICTURE_SIDE = 640


class RunView(View):
    """A run in numbers. The metrics are its scorecards'; `config` is what its pipeline was set to."""

    run_id: str
    name: str
    note: str
    data: str
    photos: int
    complete: bool
    metrics: dict[str, float]
    config: dict[str, str]


class BaselineView(View):
    """What trials are held against: the base of the study, and the run that people have pinned on these photos."""

    base: RunView
    pinned: RunView | None
    note: str


class MetricView(View):
    """One metric of both runs; gain, low and high are positive where the candidate is better."""

    metric: str
    baseline: float
    candidate: float
    gain: float
    low: float | None
    high: float | None
    verdict: str


class ComparisonView(View):
    """Two runs side by side: the verdict, what moved, what differs, and what became of photos."""

    verdict: str
    reasons: list[str]
    metrics: list[MetricView]
    config: dict[str, list[str | None]]
    photos: list[str]


class FailureView(View):
    """One photo of a run with errors on it, in words; `missed` has each missed number with its cause."""

    photo: str
    errors: int
    status: str
    expected: list[str]
    read: list[str]
    missed: list[str]
    counts: dict[str, str]


@dataclass(frozen=True)
class Failure:
    """A photo with errors, and a small picture of it."""

    view: FailureView
    picture: bytes


def load_visible(ledger: Ledger, run_id: str) -> BenchmarkRun:
    """A run that may be looked at; raises for every other."""
    run, base = load_run(open_runs(ledger.experiment), run_id), known_base(ledger)
    if run.metadata.data_split != ledger.experiment.split or run.metadata.data_digest != base.data_digest:
        raise ConflictError(f"run {run_id} is not on the photos of this search, {base.data}: it cannot be read here")
    return run


def run_view(run_id: str, run: BenchmarkRun) -> RunView:
    """A run for reading; counts and intervals are left out."""
    hidden = ("interval/", "count/", "cache/", "delta/")
    return RunView(
        run_id=run_id,
        name=run.metadata.name,
        note=run.metadata.note,
        data=f"{run.metadata.data_name} ({run.metadata.data_split})",
        photos=len(run.photos),
        complete=run.complete,
        metrics={name: round(value, 6) for name, value in run.metrics.items() if not name.startswith(hidden)},
        config={key: str(value) for key, value in run.metadata.config.items() if not _is_plumbing(key)},
    )


def _is_plumbing(key: str) -> bool:
    """Whether a key says where something is, not what the pipeline does."""
    return key.startswith("references.") or key.endswith((".sha256", ".file", ".package", ".licence", ".provided_by"))


def baseline(ledger: Ledger) -> BaselineView:
    """What a trial has to beat."""
    base = known_base(ledger)
    pinned = find_baseline(open_runs(ledger.experiment), base.data_digest, ledger.experiment.split)
    visible = pinned.run is not None and pinned.run.metadata.data_digest == base.data_digest
    shown = run_view(pinned.run_id, pinned.run) if visible and pinned.run and pinned.run_id else None
    note = "" if shown else "nobody has pinned a baseline on these photos; trials are held against the base"
    return BaselineView(base=run_view(base.run_id, load_visible(ledger, base.run_id)), pinned=shown, note=note)


def comparison(ledger: Ledger, candidate: str, base: str | None) -> ComparisonView:
    """A run beside another, or beside the base of the study."""
    gate = trial_spec(ledger.experiment, {}).gate
    other = base or known_base(ledger).run_id
    return _compared(compare(gate, load_visible(ledger, candidate), load_visible(ledger, other)))


def _compared(found: Comparison) -> ComparisonView:
    return ComparisonView(
        verdict=str(found.judgement.verdict),
        reasons=[*found.judgement.reasons, *notes(found.judgement)],
        metrics=[
            MetricView(
                metric=item.metric,
                baseline=item.baseline,
                candidate=item.candidate,
                gain=item.gain,
                low=item.low,
                high=item.high,
                verdict=str(item.verdict or "informational"),
            )
            for item in found.judgement.metrics
        ],
        config={item.key: [item.before, item.after] for item in found.config if not _is_plumbing(item.key)},
        photos=[f"{item.name}: {item.change}: {item.words()}" for item in found.items],
    )


def explanation(ledger: Ledger, run_id: str) -> str:
    """A run's scorecards, why it missed numbers, and what it did to photos beside the base of the study."""
    run, compared = load_visible(ledger, run_id), comparison(ledger, run_id, None)
    changed = "\n".join(compared.photos) or "no photo came out otherwise"
    settings = "\n".join(f"{key}: {before} -> {after}" for key, (before, after) in compared.config.items())
    missed = [f"{item.name}: {words}" for item in run.photos for words in _missed(item)]
    told = ["Missed numbers", *missed[:MOST_MISSED], *_more(len(missed) - MOST_MISSED)] if missed else []
    parts = [
        run.text(),
        "\n".join(told),
        f"Beside the base: {compared.verdict}",
        settings or "the same settings",
        changed,
    ]
    return "\n\n".join(filter(None, parts))


def _missed(item: Item) -> list[str]:
    return [f"{missed.number}: {missed.words()}" for missed in item.photo.missed] if item.photo else []


def _more(count: int) -> list[str]:
    return [f"... and {count} more"] if count > 0 else []


def failures(ledger: Ledger, run_id: str, limit: int) -> list[Failure]:
    """The photos of a run with the most errors, worst first, with pictures."""
    run, task = load_visible(ledger, run_id), trial_spec(ledger.experiment, {}).photos
    photos = {photo.sha256: photo for photo in task.references.photos}
    views = {item.id: _failure(run, item) for item in run.photos}
    predictions = run.predictions()
    worst = sorted(run.photos, key=lambda item: (-views[item.id].errors, item.name))
    found = []
    for item in [item for item in worst if views[item.id].errors][: min(limit, MOST_FAILURES)]:
        photo = photos[item.id]
        pixels = read_photo(photo.path, photo.sha256)
        picture = draw_photo(photo, predictions[item.id], pixels, task.scoring, PICTURE_SIDE)
        found.append(Failure(views[item.id], picture))
    return found


def _failure(run: BenchmarkRun, item: Item) -> FailureView:
    counts, errors = {}, 0
    for card, kept in ledgers(run).items():
        counted = outcome(item, card, kept)
        if counted is not None and (counted.missed or counted.invented):
            errors += int(counted.missed + counted.invented)
            counts[kept.noun] = f"{counted.missed} missed, {counted.invented} invented"
    return FailureView(
        photo=item.name,
        errors=errors,
        status=item.photo.status if item.photo else "",
        expected=list(item.photo.expected) if item.photo else [],
        read=list(item.photo.read) if item.photo else [],
        missed=_missed(item),
        counts=counts,
    )
