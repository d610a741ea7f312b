"""The run that a search starts from: its base configuration on the same photos. Every trial is held against it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from harness.base.errors import ConflictError, NotBegunError
from harness.evaluate import evaluate
from harness.runs.archive import BenchmarkRun
from harness.runs.judge import paired
from harness.scoring.pairing import PairedRate
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome, outcome_of
from harness.search.searchable import base_point, preset_points, study_digests, trial_spec
from harness.search.trials import breaches
from harness.spec import RunSpec
from harness.tracking.store import OpenStore

#: Who evaluates the base holds this lease.
_BASE = "base"


@dataclass(frozen=True)
class Base:
    """The base's run, its values of the objectives, and the photos that it was made on. `code` and `config` are digests
    of what every trial is made of, and `broken` are the constraints that the base itself breaks; studies of an older
    harness have none of them."""

    run_id: str
    values: tuple[float, ...]
    data: str
    data_digest: str
    photos: int
    code: str = ""
    config: str = ""
    broken: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gain:
    """A trial beside the base, over the photos that both have; plus is better. A metric that is not made of photos,
    such as seconds, has no interval, and neither has one of a single group of photos."""

    metric: str
    base: float
    trial: float
    gain: float
    low: float | None = None
    high: float | None = None
    photos: int | None = None


def ensure_base(ledger: Ledger) -> Base:
    """The base, evaluated now if the study is new; others that want to begin it at the same time wait for it. That has
    a lock of its own: whoever reads the study, or claims a trial of it, does not wait."""
    spec = replace(trial_spec(ledger.experiment, {}), study=ledger.experiment.study)
    references = spec.photos.references
    if (known := read_base(ledger)) is None:
        known = _evaluate_base(ledger, spec)
    check_unchanged(ledger.experiment, known, references.digest)
    return known


def _evaluate_base(ledger: Ledger, spec: RunSpec) -> Base:
    references = spec.photos.references
    with ledger.place.lease(_BASE):
        if (known := read_base(ledger)) is None:
            result = evaluate(spec)
            outcome = outcome_of(ledger.experiment, result.run_id, result.run)
            data = f"{references.name} ({references.split})"
            digests = study_digests(ledger.experiment)
            broken = tuple(breaches(ledger.experiment, outcome.metrics, outcome.bounds))
            photos = len(result.run.photos)
            known = Base(result.run_id, outcome.values, data, references.digest, photos, *digests, broken)
            with ledger.place.exclusive():
                _tell_first(ledger, outcome)
                ledger.note("base", asdict(known))
    return known


def _tell_first(ledger: Ledger, outcome: Outcome) -> None:
    """Tell the sampler the base, where it is a point of the space, and note the presets as the first to be tried. A
    grid comes to all of them by itself."""
    experiment = ledger.experiment
    if experiment.sampler == "grid":
        return
    if (point := base_point(experiment)) is not None:
        ledger.tell_base(point, outcome.values, outcome.violations, **outcome.notes())
    ledger.note("first", [[f"preset {name}", point] for name, point in preset_points(experiment).items()])


def check_unchanged(experiment: Experiment, base: Base, data_digest: str) -> None:
    """Raise ConflictError where a trial that is evaluated now could not be held against those before it."""
    if changed := _changed(experiment, base, data_digest):
        raise ConflictError(
            f"study {experiment.study}: {changed} since it was begun; set `study:` in the experiment file to a new name"
        )


def _changed(experiment: Experiment, base: Base, data_digest: str) -> str:
    """What is no longer as it was when the base was evaluated; empty where nothing is."""
    if base.data_digest != data_digest:
        return f"the photos or labels of {base.data} have changed"
    if base.code:
        code, config = study_digests(experiment)
        if base.code != code:
            return "the code of the pipeline or of its scoring, or a package that it uses, has changed"
        if base.config != config:
            return "a config file that its base or its space names has changed"
    return ""


def read_base(ledger: Ledger) -> Base | None:
    """The base, where it was evaluated."""
    noted = ledger.noted("base")
    return Base(**{**noted, **{name: tuple(noted.get(name, ())) for name in ("values", "broken")}}) if noted else None


def known_base(ledger: Ledger) -> Base:
    """The base of a study that was begun; raises where it was not."""
    base = read_base(ledger)
    if base is None:
        raise NotBegunError(f"study {ledger.experiment.study} has not been begun")
    return base


def open_runs(experiment: Experiment) -> OpenStore:
    """The store that holds the runs of a study."""
    return trial_spec(experiment, {}).tracking.open()


def gain_between(experiment: Experiment, run: BenchmarkRun, base: BenchmarkRun) -> Gain:
    """What one run gains over another in the first objective."""
    metric = experiment.metric
    return gain_in(experiment, base.metrics[metric], run.metrics[metric], paired(run, base).get(metric))


def gain_in(experiment: Experiment, before: float, after: float, rate: PairedRate | None) -> Gain:
    """A gain in the first objective; `rate` is the paired one, where it is a rate of items."""
    metric, sign = experiment.metric, experiment.sign
    if rate is None:
        return Gain(metric, before, after, sign * (after - before))
    low, high = sorted(sign * end for end in ends) if (ends := rate.interval()) else (None, None)
    return Gain(metric, before, after, sign * rate.delta, low, high, rate.items)
