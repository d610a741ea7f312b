"""Figures: everything lies where its value says, names are escaped, and ticks are round."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.canvas import FAINT, INK, Chart, Scale, hatched, line_sample, picture

RUDE = "</text><script>alert('1')</script>&\"<"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_ticks_are_round_evenly_apart_and_on_the_axis(low: float, length: float, whole: bool) -> None:
    scale = Scale(low, low + length)
    found = scale.ticks(whole=whole)
    assert len(found) <= 7
    assert all(scale.low - 1e-6 * length <= tick <= scale.high + 1e-6 * length for tick in found)
    steps = {round((b - a) / length, 6) for a, b in pairwise(found)}
    assert len(steps) <= 1
    if whole:
        assert all(tick == int(tick) for tick in found)
    elif length > 1:
        assert len(found) >= 2, "an axis without ticks cannot be read"


def test_ticks_of_a_logarithmic_axis_are_powers_of_ten() -> None:
    assert Scale(0.008, 1.3, log=True).ticks() == [0.01, 0.1, 1.0]
    assert Scale(0.01, 100, log=True).at(1) == pytest.approx(0.5)


def test_per_cents_have_as_many_digits_as_tell_them_apart() -> None:
    assert list(Scale(0, 1).percents().values()) == ["0%", "20%", "40%", "60%", "80%", "100%"]
    assert list(Scale(0.880, 0.890).percents().values())[:2] == ["88.0%", "88.2%"]


def test_a_scale_around_one_value_has_a_length() -> None:
    for values in ([], [0.0], [3.0, 3.0]):
        scale = Scale.around(values)
        assert scale.low < scale.high


def test_what_is_drawn_lies_where_its_value_says() -> None:
    chart = Chart(100, 10, 200, 50, Scale(0, 10), Scale(0, 1))
    assert chart.place((0, 0)) == (100, 60)
    assert chart.place((10, 1)) == (300, 10)
    chart.bar((0, 0), (5, 0.5), "#000000")
    bar = ElementTree.fromstring(chart.parts[0])
    assert [float(bar.get(name, "")) for name in ("x", "y", "width", "height")] == [100, 35, 100, 25]


def test_names_are_escaped_in_every_place_and_the_figure_is_xml() -> None:
    chart = Chart(100, 10, 200, 50, Scale(0, 10), Scale(0, 1))
    pattern, fill = hatched("a-b", "#112233")
    chart.bar((0, 0), (1, 1), fill)
    chart.line([(0, 0), (1, 1)], FAINT, "--")
    for kind in "osx":
        chart.mark((1, 1), kind, FAINT)
    chart.text((1, 1), RUDE)
    chart.legend({RUDE: line_sample(FAINT, kind="o")}, "upper right")
    drawn = picture("a", RUDE, 80, [pattern, *chart.frame(RUDE, (RUDE, {1: RUDE}), (RUDE, {1: RUDE}))])
    for form in (drawn.svg, drawn.file):
        assert "<script" not in form
        found = ElementTree.fromstring(form)
        assert sum(text.text == RUDE for text in found.iter("{http://www.w3.org/2000/svg}text")) == 7
    assert INK not in drawn.svg, "inside a page the ink is the page's"
