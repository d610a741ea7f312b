"""What other values would do to one photo: a replay of it in milliseconds, and the smallest change that mends it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harness.base.errors import ConfigError, ConflictError
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import item_changes
from harness.search.failures import Errors, FailureView, view_of
from harness.search.inspection import find_photo, photos_of, run_of
from harness.search.ledger import Ledger
from harness.search.replay import Replay
from harness.search.searchable import described_values, trial_choices
from harness.search.space import Parameter, Point, Value, rounded
from harness.search.views import View

#: So many values of a range without steps are tried, and so often is the stretch between two of them halved.
_TRIED, _HALVINGS = 32, 12


class WhatIfView(View):
    """One photo as the base has it and as other values have it; `gain` is how many errors fewer it has then."""

    photo: str
    params: dict[str, Value]
    objective: str
    before: FailureView
    after: FailureView
    gain: float
    milliseconds: float
    opened_model: bool


class ChangeView(View):
    """The value of one parameter nearest to the base's that mends a photo, at least in part. `distance` is the share of
    the parameter's range that it is away; `errors` are those that the photo has then."""

    parameter: str
    base: Value | None
    value: Value
    distance: float
    errors: float
    opened_model: bool


class SmallestChangeView(View):
    """What would mend a photo: the nearest change, and those of other parameters. `elsewhere` says what the nearest one
    does to all photos of the search, and is told in words where that would cost models."""

    photo: str
    objective: str
    errors: float
    nearest: ChangeView | None
    others: list[ChangeView]
    elsewhere: str
    broken: list[str]
    mended: list[str]
    tried: int
    note: str


def what_if(ledger: Ledger, replay: Replay, photo: str, params: Mapping[str, Value], objective: str = "") -> WhatIfView:
    """Replay one photo of the search with other values than the base's."""
    point = part_of_space(ledger, params)
    task = photos_of(ledger)
    chosen = find_photo(task, photo)
    errors = Errors.of(run_of(ledger, None), objective or ledger.experiment.metric)
    before, after = replay.photo(chosen.sha256, {}), replay.photo(chosen.sha256, point)
    views = [view_of(each.item, chosen, errors, task.scoring, None) for each in (before, after)]
    return WhatIfView(
        photo=chosen.name,
        params=point,
        objective=errors.metric,
        before=views[0],
        after=views[1],
        gain=views[0].errors - views[1].errors,
        milliseconds=round(after.milliseconds, 2),
        opened_model=after.opened_model,
    )


def part_of_space(ledger: Ledger, params: Mapping[str, Value]) -> Point:
    """Some values of the space, on top of the base. Raises ConfigError where one is not in it."""
    space = ledger.experiment.space
    if not params:
        raise ConfigError("params: name at least one parameter of the space, with a value")
    given: dict[str, Value | None] = {**base_values(ledger), **params}
    for key, value in params.items():
        if key not in space:
            raise ConfigError(f"{key}: not in the space, which has: {', '.join(space)}")
        if not space[key].holds(value):
            raise ConfigError(f"{key}: {value!r} is not one of its values")
        for other, allowed in space[key].when.items():
            if given.get(other) not in allowed:
                raise ConfigError(f"{key}: only when {other} is one of {', '.join(map(str, allowed))}")
    return dict(params)


def base_values(ledger: Ledger) -> dict[str, Value | None]:
    """What the base has for the keys of the space, groups among them."""
    values, chosen = described_values(ledger.experiment), trial_choices(ledger.experiment, {})
    return {key: values.get(key) if "." in key else chosen.get(key) for key in ledger.experiment.space}


@dataclass
class _Tries:
    """Tries of one photo, counted."""

    errors_with: Callable[[Point], tuple[float, bool]]
    count: int = 0

    def __call__(self, key: str, value: Value) -> tuple[float, bool]:
        self.count += 1
        return self.errors_with({key: value})


def smallest_change(ledger: Ledger, replay: Replay, photo: str, objective: str = "") -> SmallestChangeView:
    """Which single parameter mends a photo with the least change: every parameter of the space is tried from the base's
    value outwards, each answer by replay."""
    chosen = find_photo(photos_of(ledger), photo)
    base_run = run_of(ledger, None)
    errors = Errors.of(base_run, objective or ledger.experiment.metric)
    now = errors.on(replay.photo(chosen.sha256, {}).item)
    if not now:
        raise ConflictError(f"{chosen.name}: the base has no error there that {errors.metric} counts")

    def errors_with(point: Point) -> tuple[float, bool]:
        found = replay.photo(chosen.sha256, point)
        return errors.on(found.item), found.opened_model

    tries, base = _Tries(errors_with), base_values(ledger)
    active = {
        key: parameter
        for key, parameter in ledger.experiment.space.items()
        if all(base.get(other) in allowed for other, allowed in parameter.when.items())
    }
    found = [
        change for key, parameter in active.items() if (change := _nearest(key, parameter, base.get(key), now, tries))
    ]
    found.sort(key=lambda change: (change.opened_model, change.distance, change.errors))
    elsewhere, broken, mended = _elsewhere(replay, base_run, errors, found[0]) if found else ("", [], [])
    return SmallestChangeView(
        photo=chosen.name,
        objective=errors.metric,
        errors=now,
        nearest=found[0] if found else None,
        others=found[1:],
        elsewhere=elsewhere,
        broken=broken,
        mended=mended,
        tried=tries.count,
        note="" if found else f"no single parameter of the space mends it, of {tries.count} values tried",
    )


def _nearest(key: str, parameter: Parameter, base: Value | None, now: float, tries: _Tries) -> ChangeView | None:
    """The value of a parameter nearest to the base's with which there are fewer errors than now."""
    #: The last value on either side of the base that does not mend.
    fails = {True: base, False: base}
    for distance, value in _outwards(parameter, base):
        errors, opened = tries(key, value)
        above = _is_number(base) and _is_number(value) and value > base  # type: ignore[operator]
        if errors >= now:
            fails[above] = value
            continue
        if parameter.values() is None and _is_number(fails[above]):
            value, errors = _halved(key, fails[above], value, now, errors, tries)  # type: ignore[arg-type]
            distance = _distance(parameter, base, value)
        return ChangeView(
            parameter=key, base=base, value=value, distance=round(distance, 4), errors=errors, opened_model=opened
        )
    return None


def _outwards(parameter: Parameter, base: Value | None) -> Iterator[tuple[float, Value]]:
    """The values of a parameter other than the base's, by how far they are from it."""
    known = parameter.values()
    if known is None:
        low, high = parameter.ends
        steps = [step / (_TRIED - 1) for step in range(_TRIED)]
        known = tuple(low * (high / low) ** s if parameter.log else low + s * (high - low) for s in steps)
    others = [(_distance(parameter, base, value), rounded(value)) for value in known if rounded(value) != base]
    return iter(sorted(others, key=lambda item: item[0]))


def _distance(parameter: Parameter, base: Value | None, value: Value) -> float:
    """How far two values are apart, as a share of the range; choices that are no numbers are all as far."""
    if not _is_number(base) or not _is_number(value):
        return 1.0
    numbers = [float(each) for each in parameter.choices or parameter.ends if _is_number(each)]
    return abs(float(value) - float(base)) / ((max(numbers) - min(numbers)) or 1.0)  # type: ignore[arg-type]


def _is_number(value: Value | None) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _halved(key: str, fails: float, mends: float, now: float, errors: float, tries: _Tries) -> tuple[Value, float]:
    """A value between one that does not mend and one that does, as near to the first as halving comes; it mends."""
    for _ in range(_HALVINGS):
        middle = float(rounded((fails + mends) / 2))
        found, _opened = tries(key, middle)
        if found < now:
            mends, errors = middle, found
        else:
            fails = middle
    return mends, errors


def _elsewhere(
    replay: Replay, base: BenchmarkRun, errors: Errors, change: ChangeView
) -> tuple[str, list[str], list[str]]:
    """What a change does to all photos of the search: in words, and the photos that it breaks and mends."""
    if change.opened_model:
        return "unknown: a model would have to look at every photo; run_trial does that", [], []
    other = replay.run({change.parameter: change.value})
    changes = [each for each in item_changes(other, base) if each.scorecard == errors.card]
    broken = [each.name for each in changes if each.breaks]
    mended = [each.name for each in changes if not each.breaks]
    value, was = other.metrics.get(errors.metric), base.metrics.get(errors.metric)
    score = f"; {errors.metric} {was:.4f} -> {value:.4f}" if value is not None and was is not None else ""
    return f"breaks {len(broken)} photos and mends {len(mended)}{score}", broken, mended
