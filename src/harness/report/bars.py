"""What changed, drawn in text: a line for each metric with a bar from worse to better, the gain on its interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.base.screen import Screen, shortened
from harness.runs.gate import Judgement, MetricVerdict, Verdict
from harness.runs.verdicts import TONES, ranked

#: The least and the most that a bar is drawn in.
_LEAST, _MOST = 15, 61
_LONGEST_NAME = 24
_PLAIN_SIGNS = {"▼": "v", "▲": "^", "≈": "=", "≠": "!", "–": "-", "◆": "*", "·": "."}


@dataclass(frozen=True)
class _Column:
    """A column of figures: its head, how wide it is, what stands in it, and how wide the bars must stay for it."""

    head: str
    width: int
    cell: Callable[[MetricVerdict], str]
    leaves: int = 0
    left: bool = False

    def line(self, text: str) -> str:
        return f"{text:<{self.width}}" if self.left else f"{text:>{self.width}}"


def bars(judgement: Judgement, screen: Screen) -> list[str]:
    """One line a metric, those that got worse first; the scale above them is in points, and plus is better. Where the
    screen is narrow, figures give way to the bars, and the bars to the figures that say the least."""
    rows = ranked(judgement)
    if not rows:
        return []
    longest = min(max(len(item.metric) for item in rows), _LONGEST_NAME)
    room = (screen.width or 80) - longest - 2
    columns = []
    for column in _COLUMNS:
        if room - column.width - 2 >= column.leaves:
            columns.append(column)
            room -= column.width + 2
    drawn, scale = min(room - 2, _MOST), _scale(rows)
    drawn = drawn if drawn >= _LEAST else 0
    head = "  ".join([" " * (longest + 2), *(column.line(column.head) for column in columns)])
    lines = [f"{head}  {_axis(scale, drawn)}".rstrip()]
    for item in rows:
        tone = TONES[item.verdict][0] if item.verdict else "soft"
        name = f"{sign(item.verdict, screen)} {shortened(item.metric, longest, screen.ascii):<{longest}}"
        figures = "  ".join(column.line(column.cell(item)) for column in columns)
        bar = screen.paint(_bar(item, scale, drawn, screen), tone)
        lines.append(f"{screen.paint(name, tone)}  {figures}  {bar}".rstrip())
    return lines


def sign(verdict: Verdict | None, screen: Screen) -> str:
    """The sign of a verdict, which says the same as its colour."""
    mark = TONES[verdict][1] if verdict else "·"
    return _PLAIN_SIGNS.get(mark, mark) if screen.ascii else mark


def _value(item: MetricVerdict, value: float) -> str:
    return f"{value:.1%}" if item.items else f"{value:.2f}"


def _points(item: MetricVerdict) -> str:
    return f"{100 * item.gain:+.1f}" if item.items else f"{item.gain:+.2f}"


def _interval(item: MetricVerdict) -> str:
    known = item.low is not None and item.high is not None
    return f"{100 * (item.low or 0):+.1f} to {100 * (item.high or 0):+.1f}" if known else ""


def _unseen(item: MetricVerdict) -> str:
    if item.unseen is None or not item.items:
        return ""
    return "any" if item.blind else f"{'~' if item.rough else ''}{100 * item.unseen:.1f}"


_COLUMNS = (
    _Column("points", 7, _points),
    _Column("base", 6, lambda item: _value(item, item.baseline)),
    _Column("run", 6, lambda item: _value(item, item.candidate)),
    _Column("95 % interval", 16, _interval, 2 * _LEAST, left=True),
    _Column("unseen below", 12, _unseen, 3 * _LEAST),
    _Column("verdict", 15, lambda item: str(item.verdict or "for information"), 2 * _LEAST, left=True),
)


def _scale(rows: Sequence[MetricVerdict]) -> float:
    """Half of what the bars span: the furthest end of an interval, so that every one of them is whole."""
    ends = [abs(end) for item in rows if item.items for end in (item.low, item.high, item.gain) if end is not None]
    return max([*ends, 0.01])


def _axis(scale: float, width: int) -> str:
    """`-70      0      +70`, the zero over that of the bars."""
    if not width:
        return ""
    left, right, half = f"-{100 * scale:.0f}", f"+{100 * scale:.0f}", _half(width)
    return f"{left:<{half}}0{right:>{half}}"


def _half(width: int) -> int:
    return (width - 1) // 2


def _bar(item: MetricVerdict, scale: float, width: int, screen: Screen) -> str:
    """The interval as a line, the gain as a point on it, and zero as a bar."""
    if not width or not item.items:
        return ""
    line, point, zero = ("-", "o", "|") if screen.ascii else ("─", "●", "│")
    half = _half(width)
    place = {name: half + round(value / scale * half) for name, value in _ends(item).items()}
    cells = [" "] * (2 * half + 1)
    cells[half] = zero
    if "low" in place and "high" in place:
        for cell in range(place["low"], place["high"] + 1):
            cells[cell] = zero if cell == half else line
    cells[place["gain"]] = point
    return "".join(cells).rstrip()


def _ends(item: MetricVerdict) -> dict[str, float]:
    ends = {"low": item.low, "high": item.high, "gain": item.gain}
    return {name: value for name, value in ends.items() if value is not None}
