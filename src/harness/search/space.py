"""The points that a search may try: parameters with choices or ranges, some of them only under a condition.

A point maps the config keys that are active in it to values. Two points are the same when their values agree to ten
decimal places.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

if TYPE_CHECKING:
    from optuna.trial import Trial

Value = bool | int | float | str
Point = dict[str, Value]

#: Decimal places that a value keeps: steps of 0.1 add up to 0.3, not to 0.30000000000000004.
_PLACES = 10


class Parameter(BaseModel):
    """What one key may be set to: one of `choices`, or a number from `low` to `high`, in steps or on a log scale.

    `when` names values of parameters above it in the space; where they have others, this one is left alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: tuple[Value, ...] | None = None
    low: int | float | None = None
    high: int | float | None = None
    step: Annotated[float, Field(gt=0)] | None = None
    log: bool = False
    when: dict[str, tuple[Value, ...]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _one_value_for_a_list(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("when"), Mapping):
            when = {key: value if isinstance(value, list | tuple) else [value] for key, value in data["when"].items()}
            return {**data, "when": when}
        return data

    @model_validator(mode="after")
    def _makes_sense(self) -> Parameter:
        if (self.choices is None) == (self.low is None or self.high is None):
            raise ValueError("expected either choices, or low and high")
        if self.choices is not None:
            if not self.choices or len({json.dumps(choice) for choice in self.choices}) < len(self.choices):
                raise ValueError("expected choices that are all different")
            if self.low is not None or self.high is not None or self.step is not None or self.log:
                raise ValueError("choices have no low, high, step or log")
            return self
        low, high = self.ends
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"expected low below high, got {low} and {high}")
        if self.log and (self.step is not None or low <= 0):
            raise ValueError("log needs low above 0 and takes no step")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The range."""
        assert self.low is not None
        assert self.high is not None
        return self.low, self.high

    @property
    def is_int(self) -> bool:
        """Whether the range is one of whole numbers: both its ends are written as such, and so is its step."""
        whole = self.step is None or float(self.step).is_integer()
        return isinstance(self.low, int) and isinstance(self.high, int) and whole

    def values(self) -> tuple[Value, ...] | None:
        """Every value, or None where there is no end of them."""
        return self._values

    @cached_property
    def _values(self) -> tuple[Value, ...] | None:
        if self.choices is not None:
            return self.choices
        low, high = self.ends
        step = self.step if self.step is not None else 1 if self.is_int else None
        if step is None:
            return None
        count = math.floor((high - low) / step + 1e-9) + 1
        return tuple(rounded(int(low + n * step) if self.is_int else low + n * step) for n in range(count))

    def samples(self) -> tuple[Value, ...]:
        """A few values that stand for all of them: every choice, or the ends of the range and a point inside."""
        if self.choices is not None:
            return self.choices
        low, high = self.ends
        known = self.values()
        inside = known[len(known) // 2] if known else rounded(low + (high - low) / math.sqrt(7))
        return (known[0], inside, known[-1]) if known else (low, inside, high)

    def holds(self, value: Value) -> bool:
        """Whether a value is one of these."""
        if self.choices is not None:
            return any(type(value) is type(choice) and value == choice for choice in self.choices)
        if isinstance(value, bool | str):
            return False
        low, high = self.ends
        known = self.values()
        return rounded(value) in known if known else low <= value <= high

    def nearest(self, value: Any) -> Value | None:
        """The value that is nearest to another; None where there is none, as among names."""
        if self.choices is not None and self.holds(value):
            return value  # type: ignore[no-any-return]
        numbers = [v for v in self._values or () if isinstance(v, int | float) and not isinstance(v, bool)]
        if isinstance(value, bool) or not isinstance(value, int | float) or (self.choices is not None and not numbers):
            return None
        if numbers:
            return min(numbers, key=lambda number: abs(number - value))
        low, high = self.ends
        return float(rounded(min(max(value, low), high)))

    def suggest(self, trial: Trial, name: str) -> Value:
        """Let a trial's sampler choose."""
        if self.choices is not None:
            chosen: Value | None = trial.suggest_categorical(name, self.choices)
            assert chosen is not None
            return chosen
        low, high = self.ends
        known = self.values()
        last = float(known[-1]) if known else high  # which may lie below `high`; Optuna would warn of that
        if self.is_int:
            return trial.suggest_int(name, int(low), int(last), step=int(self.step or 1), log=self.log)
        if known:
            return float(rounded(trial.suggest_float(name, low, last, step=self.step)))
        return float(rounded(trial.suggest_float(name, low, high, log=self.log)))


def _short_forms(data: Any) -> Any:
    """A list of values stands for choices."""
    if not isinstance(data, Mapping):
        return data
    return {key: {"choices": value} if isinstance(value, list) else value for key, value in data.items()}


#: The space of an experiment file; a list of values is short for choices.
Space = Annotated[dict[str, Parameter], BeforeValidator(_short_forms), Field(min_length=1)]


def rounded(value: Any) -> Any:
    """A value to the places that count."""
    return round(value, _PLACES) if isinstance(value, float) else value


def point_key(point: Mapping[str, Value]) -> str:
    """The same text for the same point."""
    numbers = {
        key: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for key, value in point.items()
    }
    return json.dumps({key: rounded(value) for key, value in numbers.items()}, sort_keys=True)


def is_active(parameter: Parameter, point: Mapping[str, Value]) -> bool:
    """Whether a parameter takes part, given the values of those above it."""
    return all(key in point and point[key] in values for key, values in parameter.when.items())


def suggest_point(space: Mapping[str, Parameter], trial: Trial) -> Point:
    """Let a trial's sampler choose a point."""
    point: Point = {}
    for key, parameter in space.items():
        if is_active(parameter, point):
            point[key] = parameter.suggest(trial, key)
    return point


def size(space: Mapping[str, Parameter]) -> int | None:
    """An upper bound of the number of points, or None where there is no end of them."""
    counts = [len(values) if (values := parameter.values()) else None for parameter in space.values()]
    return None if None in counts else math.prod(count for count in counts if count)


def points(space: Mapping[str, Parameter]) -> Iterator[Point]:
    """Every point of a finite space, once."""
    seen = set()
    keys, values = list(space), [parameter.values() or () for parameter in space.values()]
    for combination in itertools.product(*values):
        chosen = dict(zip(keys, combination, strict=True))
        point: Point = {}
        for key, parameter in space.items():
            if is_active(parameter, point):
                point[key] = chosen[key]
        if (key := point_key(point)) not in seen:
            seen.add(key)
            yield point


def overrides(point: Mapping[str, Value]) -> list[str]:
    """The point as a person would type it."""
    return [f"{key}={json.dumps(value) if isinstance(value, bool) else value}" for key, value in point.items()]


def wrong_values(space: Mapping[str, Parameter], values: Mapping[str, Value]) -> list[str]:
    """Which of some values are in no point of the space, in words."""
    found = [f"{key}: not in the space, which has: {', '.join(space)}" for key in values if key not in space]
    known = [key for key in space if key in values]
    wrong = [key for key in known if not space[key].holds(values[key])]
    return found + [f"{key}: {values[key]!r} is not one of {describe(space[key])}" for key in wrong]


def faults(space: Mapping[str, Parameter], point: Mapping[str, Value]) -> Sequence[str]:
    """What keeps a mapping from being a point of the space, in words; nothing where it is one."""
    found = wrong_values(space, point)
    for key, parameter in space.items():
        active = is_active(parameter, point)
        if active and key not in point:
            found.append(f"{key}: missing")
        elif not active and key in point:
            found.append(f"{key}: only when {parameter.when}")
    return found


def describe(parameter: Parameter) -> str:
    """What a parameter may be, in a few words."""
    if parameter.choices is not None:
        return ", ".join(map(str, parameter.choices))
    step = f" in steps of {parameter.step:g}" if parameter.step else ""
    return f"{parameter.low} to {parameter.high}{step}{' (log)' if parameter.log else ''}"
