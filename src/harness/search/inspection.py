"""Trials of a study, read back: what one came to, how two differ, where one fails. The holdout cannot be read here.

A trial is named by its number, and the base by None. Only what was made on the photos of the study is shown: its search
split, with the labels that the study began with. Anything else, the holdout's runs among them, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.errors import ConflictError, UnknownPhotoError
from harness.references.photos import read_photo
from harness.references.sets import ReferencePhoto
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import Comparison, compare
from harness.runs.items import Item
from harness.runs.verdicts import notes
from harness.search.base import known_base, open_runs
from harness.search.failures import Errors, FailureView, Wish, failing, missed_words, page, view_of
from harness.search.ledger import Ledger
from harness.search.replay import trial_run
from harness.search.searchable import trial_spec
from harness.search.trials import State
from harness.search.views import View
from harness.tasks.photos.pictures import draw_close_up, draw_photo
from harness.tasks.photos.task import PhotosTask
from harness.tracking.catalog import find_baseline
from harness.types import Box

#: Failures that are shown at once at most, and the long side of their whole photos in pixels.
MOST_FAILURES = 8
#: Missed numbers that are told one by one at most.
MOST_MISSED = 100
PICTURE_SIDE = 640


class RunView(View):
    """A trial, the base or the pinned baseline in numbers. The metrics are its scorecards'; `config` is what its
    pipeline was set to; `trial` is None for the base, and for what is no trial of this study."""

    trial: int | None
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


class FailuresView(View):
    """Photos on which a trial has errors that the objective counts, worst first. `failures` are `shown` of `total`;
    `next_cursor` gives those that follow, and is empty where there are none."""

    trial: int | None
    objective: str
    total: int
    shown: int
    next_cursor: str
    failures: list[FailureView]


@dataclass(frozen=True)
class Failures:
    """Failures, and their pictures by name."""

    view: FailuresView
    pictures: Mapping[str, bytes]


def run_of(ledger: Ledger, trial: int | None) -> BenchmarkRun:
    """The result of a trial, or of the base. Raises ConflictError where there is none, or none that may be seen."""
    base = known_base(ledger)
    if trial is not None and (record := ledger.trial(trial)).state is not State.COMPLETE:
        raise ConflictError(f"trial {trial} is {record.state}; only one that is complete can be looked at")
    run = trial_run(ledger, trial)
    if run.metadata.data_split != ledger.experiment.split or run.metadata.data_digest != base.data_digest:
        name = "the base" if trial is None else f"trial {trial}"
        raise ConflictError(f"{name} is not on the photos of this search, {base.data}: it cannot be read here")
    return run


def photos_of(ledger: Ledger) -> PhotosTask:
    """The photos of the study. Raises ConflictError where they or their labels have changed since it was begun."""
    task, base = trial_spec(ledger.experiment, {}).photos, known_base(ledger)
    if task.references.digest != base.data_digest or task.references.split != ledger.experiment.split:
        raise ConflictError(f"the photos or labels of {base.data} have changed since the study was begun")
    return task


def find_photo(task: PhotosTask, photo: str) -> ReferencePhoto:
    """A photo of the search by its name, or by its hash or how that begins. No other photo of the set exists here: what
    is said of one of the holdout is what is said of one that nobody has."""
    among = task.references.photos
    found = [each for each in among if photo in (each.name, each.sha256)]
    found = found or [each for each in among if len(photo) >= 8 and each.sha256.startswith(photo)]
    if len(found) != 1:
        what = "several photos of this search are called so; give its sha256" if found else "no photo of this search"
        raise UnknownPhotoError(f"{photo[:80]!r}: {what}")
    return found[0]


def run_view(trial: int | None, run: BenchmarkRun) -> RunView:
    """A run for reading; counts and intervals are left out."""
    hidden = ("interval/", "count/", "cache/", "delta/")
    return RunView(
        trial=trial,
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
    pinned = pinned_run(ledger)
    note = "" if pinned else "nobody has pinned a baseline on these photos; trials are held against the base"
    return BaselineView(
        base=run_view(None, run_of(ledger, None)), pinned=run_view(None, pinned) if pinned else None, note=note
    )


def pinned_run(ledger: Ledger) -> BenchmarkRun | None:
    """The run that people have pinned on the photos of the study, where there is one."""
    base = known_base(ledger)
    found = find_baseline(open_runs(ledger.experiment), base.data_digest, ledger.experiment.split).run
    return found if found is not None and found.metadata.data_digest == base.data_digest else None


def comparison(ledger: Ledger, trial: int, other: int | None = None) -> ComparisonView:
    """A trial beside another one, or beside the base of the study."""
    gate = trial_spec(ledger.experiment, {}).gate
    return _compared(compare(gate, run_of(ledger, trial), run_of(ledger, other)))


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


def explanation(ledger: Ledger, trial: int) -> str:
    """A trial's scorecards, why it missed numbers, and what it did to photos beside the base of the study."""
    run, compared = run_of(ledger, trial), comparison(ledger, trial)
    changed = "\n".join(compared.photos) or "no photo came out otherwise"
    settings = "\n".join(f"{key}: {before} -> {after}" for key, (before, after) in compared.config.items())
    missed = [f"{item.name}: {words}" for item in run.photos for words in missed_words(item)]
    told = ["Missed numbers", *missed[:MOST_MISSED], *_more(len(missed) - MOST_MISSED)] if missed else []
    parts = [
        run.text(),
        "\n".join(told),
        f"Beside the base: {compared.verdict}",
        settings or "the same settings",
        changed,
    ]
    return "\n\n".join(filter(None, parts))


def _more(count: int) -> list[str]:
    return [f"... and {count} more"] if count > 0 else []


def failures(
    ledger: Ledger, trial: int | None, objective: str = "", wish: Wish | None = None, cursor: str = "", limit: int = 4
) -> Failures:
    """Where a trial fails by an objective, with pictures: each mistake large enough to be read, and the whole photo."""
    run, task = run_of(ledger, trial), photos_of(ledger)
    errors = Errors.of(run, objective or ledger.experiment.metric)
    photos = {photo.sha256: photo for photo in task.references.photos}
    other = pinned_run(ledger) or (run_of(ledger, None) if trial is not None else None)
    beside = {item.id: item for item in other.photos} if other else {}
    wrong = failing(run, errors, photos, wish)
    shown, following = page(wrong, cursor, min(limit, MOST_FAILURES))
    views, pictures = [], dict[str, bytes]()
    for number, item in enumerate(shown, start=1):
        view = view_of(item, photos[item.id], errors, task.scoring, beside.get(item.id))
        drawn = _draw(task, item, photos[item.id], errors, view, number)
        views.append(view.model_copy(update={"pictures": tuple(drawn)}))
        pictures |= drawn
    told = FailuresView(
        trial=trial,
        objective=errors.metric,
        total=len(wrong),
        shown=len(shown),
        next_cursor=following,
        failures=views,
    )
    return Failures(told, pictures)


def _draw(
    task: PhotosTask, item: Item, photo: ReferencePhoto, errors: Errors, view: FailureView, number: int
) -> dict[str, bytes]:
    """A close-up of each mistake, and the whole photo; of bibs alone, or of faces alone, where it is about these."""
    assert item.photo is not None
    pixels = read_photo(photo.path, photo.sha256)
    photo, found = errors.about(photo, item.photo.prediction)
    places = [Box(x=x, y=y, w=w, h=h) for x, y, w, h in (each.box for each in view.mistakes)]
    parts = {
        f"{number}-mistake-{place}.jpg": draw_close_up(photo, found, pixels, task.scoring, box)
        for place, box in enumerate(places, start=1)
        if box.has_coords
    }
    return parts | {f"{number}-photo.jpg": draw_photo(photo, found, pixels, task.scoring, PICTURE_SIDE)}
