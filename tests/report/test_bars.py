"""What changed, drawn in text: each bar says what the figures say, and fits the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.screen import Screen, wide
from harness.report.bars import bars
from harness.report.comparisons import shown_judgement
from harness.runs.gate import Judgement, MetricVerdict, Verdict


def metric(name: str, gain: float, low: float, high: float, verdict: Verdict | None) -> MetricVerdict:
    return MetricVerdict(name, 0.9, 0.9 + gain, gain, low, high, 16, verdict, groups=12, unseen=0.2, margin=0.05)


LOST = metric("face/recall", -0.6, -0.8, -0.4, Verdict.REGRESSED)
GAINED = metric("number/f1", 0.2, 0.1, 0.3, Verdict.IMPROVED)
EVEN = metric("link/f1", -0.01, -0.05, 0.03, Verdict.NO_WORSE)
SPEED = MetricVerdict("runtime/photos_per_second", 3.0, 2.5, -0.5, None, None, None, None)
JUDGED = Judgement(Verdict.REGRESSED, metrics=(SPEED, EVEN, GAINED, LOST))


def drawn(width: int, judgement: Judgement = JUDGED) -> dict[str, str]:
    """The bar of each metric, from where the scale begins."""
    head, *lines = bars(judgement, Screen(width))
    start = re.search(r"-\d+ +0 +\+\d+$", head)
    assert start is not None, head
    return {line.split()[1]: line[start.start() :] for line in lines}


def test_80_columns_show_what_got_worse_first_and_where_zero_is() -> None:
    assert bars(JUDGED, Screen(80)) == [
        "                             points    base     run  -80          0          +80",
        "▼ face/recall                 -60.0   90.0%   30.0%  ───●────     │",
        "▲ number/f1                   +20.0   90.0%  110.0%               │ ─●──",
        "≈ link/f1                      -1.0   90.0%   89.0%              ─●",
        "· runtime/photos_per_seco…    -0.50    3.00    2.50",
    ]


def test_a_bar_lies_on_the_side_of_zero_where_the_interval_lies() -> None:
    lost, gained, even = (drawn(100)[name] for name in ("face/recall", "number/f1", "link/f1"))
    zero = lost.index("│")
    assert lost.index("●") < zero
    assert "●" not in lost[zero:]
    assert gained.index("●") > zero
    assert gained[: gained.index("─")].strip() in ("", "│")
    assert even.index("─") < zero


def test_a_metric_without_an_interval_has_figures_and_no_bar() -> None:
    (line,) = (line for line in bars(JUDGED, Screen(80)) if "runtime" in line)
    assert line.split()[2:] == ["-0.50", "3.00", "2.50"]


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5),
    st.integers(30, 160),
    st.booleans(),
)
def test_no_line_is_wider_than_the_screen_and_the_gain_is_where_the_scale_says(
    gains: list[tuple[float, float, float]], width: int, plain: bool
) -> None:
    rows = [
        metric(f"m/{place}", gain, max(gain - below, -1), min(gain + above, 1), Verdict.NO_WORSE)
        for place, (gain, below, above) in enumerate(gains)
    ]
    judgement = Judgement(Verdict.NO_WORSE, metrics=tuple(rows))
    lines = bars(judgement, Screen(width, ascii=plain))
    assert all(wide(line) <= width for line in lines)
    assert not plain or all(line.isascii() for line in lines)
    if width >= 80:
        head = bars(judgement, Screen(width))[0]
        half = (len(head) - re.search(r"-\d+ +0 +\+\d+$", head).start()) // 2  # type: ignore[union-attr]
        scale = max(max(abs(row.low or 0), abs(row.high or 0), abs(row.gain), 0.01) for row in rows)
        for row in rows:
            place = drawn(width, judgement)[row.metric].index("●")
            assert abs(place - half - row.gain / scale * half) <= 0.5 + 1e-9


def test_colours_come_with_signs_and_do_not_move_anything() -> None:
    plain, coloured = (bars(JUDGED, Screen(100, colours=on)) for on in (False, True))
    assert [re.sub(r"\033\[\d+m", "", line) for line in coloured] == plain
    assert coloured[1].startswith("\033[31m▼ face/recall")


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_judgement_on_a_screen_has_no_line_that_wraps(width: int) -> None:
    told = Judgement(Verdict.CANNOT_TELL, ("a reason that is as long as reasons are " * 4,), JUDGED.metrics)
    assert all(wide(line) <= width for line in shown_judgement(told, Screen(width)))


def test_a_pipe_gets_the_table_of_figures() -> None:
    lines = shown_judgement(JUDGED)
    assert lines[0] == "Verdict: REGRESSED"
    assert any(line.startswith("face/recall") and "[-0.8000, -0.4000]" in line for line in lines)
