"""Points of a space: enumerated, proposed and typed by people, they are the same points."""

from __future__ import annotations

from typing import Any

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from harness.search.space import Parameter, Space, faults, overrides, point_key, points, size, suggest_point

SPACES: TypeAdapter[dict[str, Parameter]] = TypeAdapter(Space)
CONDITIONAL = SPACES.validate_python(
    {
        "face": ["yunet", "scrfd"],
        "face.nms_iou": {"choices": [0.2, 0.3], "when": {"face": "yunet"}},
        "face.deep": {"choices": [1, 2], "when": {"face": "yunet", "face.nms_iou": [0.3]}},
    }
)


def numbers() -> st.SearchStrategy[dict[str, Any]]:
    """Ranges of whole numbers and of others, in steps, on a log scale and plain."""
    low = st.integers(1, 50)
    whole = st.tuples(low, st.integers(1, 50), st.integers(1, 9)).map(
        lambda t: {"low": t[0], "high": t[0] + t[1], "step": t[2]}
    )
    steps = st.tuples(low, st.integers(1, 30)).map(lambda t: {"low": t[0] / 10, "high": t[0] / 10 + t[1], "step": 0.1})
    logs = st.tuples(low, st.integers(1, 30)).map(lambda t: {"low": t[0] / 10, "high": t[0] + t[1], "log": True})
    return st.one_of(whole, steps, logs)


@given(st.lists(numbers(), min_size=1, max_size=3), st.integers(0, 99))
def test_what_a_sampler_proposes_is_a_point_of_the_space(ranges: list[dict[str, Any]], seed: int) -> None:
    space = SPACES.validate_python({f"k{n}": one for n, one in enumerate(ranges)})
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=seed))
    for _ in range(3):
        assert not faults(space, suggest_point(space, study.ask()))


@given(numbers())
def test_a_range_in_steps_has_its_ends_and_no_noise(one: dict[str, Any]) -> None:
    parameter = Parameter.model_validate(one)
    values = parameter.values()
    if values is None:
        return
    assert values[0] == one["low"]
    assert float(values[-1]) <= one["high"] + 1e-9
    assert all(len(str(value)) < 8 for value in values)
    assert all(parameter.holds(value) for value in values)
    assert len(set(values)) == len(values)


def test_a_parameter_takes_part_only_under_its_condition() -> None:
    found = list(points(CONDITIONAL))
    assert found == [
        {"face": "yunet", "face.nms_iou": 0.2},
        {"face": "yunet", "face.nms_iou": 0.3, "face.deep": 1},
        {"face": "yunet", "face.nms_iou": 0.3, "face.deep": 2},
        {"face": "scrfd"},
    ]
    assert all(not faults(CONDITIONAL, point) for point in found)
    assert size(CONDITIONAL) == 8


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ({"face": "scrfd", "face.nms_iou": 0.2}, "face.nms_iou: only when"),
        ({"face": "yunet"}, "face.nms_iou: missing"),
        ({"face": "yunet", "face.nms_iou": 0.5}, "face.nms_iou: 0.5 is not one of 0.2, 0.3"),
        ({"face": "scrfd", "seed": 3}, "seed: not in the space"),
        ({"face": True}, "face: True is not one of"),
    ],
)
def test_what_is_no_point_is_told_why(point: dict[str, Any], words: str) -> None:
    assert any(fault.startswith(words) for fault in faults(CONDITIONAL, point))


def test_equal_points_have_equal_keys() -> None:
    assert point_key({"a": 1, "b": 0.1 + 0.2}) == point_key({"b": 0.3, "a": 1.0})
    assert point_key({"a": True}) != point_key({"a": 1})
    assert overrides({"bib.guided": False, "face": "yunet", "link.min_drop": 0.5}) == [
        "bib.guided=false",
        "face=yunet",
        "link.min_drop=0.5",
    ]
