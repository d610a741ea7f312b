"""Figures as SVG that follows the light and dark of the page around it; as a file it stands on white.

They are written by hand, since a plotting library takes longer to import and to draw six figures than all the rest of a
report. Places are in points from the upper left corner. What is shown is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

INK, FAINT = "#1f2329", "#8a9099"
#: How wide a figure is that fills the page.
WIDTH = 690.0
_SIZE = 10.5
#: Pixels of a file for each point.
_SCALE = 1.5
#: The width of a letter, as a share of its size, rather too wide than too narrow.
_LETTER = 0.58
_DASHES = {"-": "", "--": ' stroke-dasharray="7 4"', ":": ' stroke-dasharray="2 3"'}
Point = tuple[float, float]
#: What a line of a legend begins with, drawn around a place.
Sample = Callable[[float, float], str]


@dataclass(frozen=True)
class Picture:
    """A figure to stand inside a page; `title` says in words what it shows."""

    name: str
    title: str
    svg: str
    width: float
    height: float

    @property
    def file(self) -> str:
        """The figure by itself: dark ink on white, and a size, without which MLflow shows nothing."""
        start = self.svg.index(">") + 1
        size = f'width="{_SCALE * self.width:.0f}" height="{_SCALE * self.height:.0f}"'
        opened = self.svg[:start].replace("<svg ", f'<svg {size} color="{INK}" ', 1)
        return f'{opened}<rect width="100%" height="100%" fill="#ffffff"/>{self.svg[start:]}'


def picture(name: str, title: str, height: float, parts: Iterable[str], width: float = WIDTH) -> Picture:
    """A figure of this size that consists of these parts."""
    opened = (
        f'<svg role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="DejaVu Sans, Verdana, sans-serif" font-size="{_SIZE}" '
        'fill="currentColor">'
    )
    return Picture(name, title, "".join([opened, *parts, "</svg>"]), width, height)


def write_pictures(folder: Path, pictures: Sequence[Picture]) -> None:
    """Write each as a file of its own."""
    for each in pictures:
        (folder / f"{each.name}.svg").write_text(each.file, encoding="utf-8")


@dataclass(frozen=True)
class Scale:
    """Which values an axis has."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], margin: float = 0.05) -> Scale:
        """A scale that all of these values are on, with a margin on both sides."""
        known = sorted(values) or [0.0, 1.0]
        room = (known[-1] - known[0] or abs(known[0]) or 1.0) * margin
        return cls(known[0] - room, known[-1] + room)

    def at(self, value: float) -> float:
        """Where a value lies, as a share of the axis."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int = 6, whole: bool = False) -> list[float]:
        """At most so many round values of the axis; `whole` ones where things are counted."""
        if self.log:
            powers = range(math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9) + 1)
            return [10.0**power for power in powers]
        raw = (self.high - self.low) / most
        power = 10 ** math.floor(math.log10(raw))
        step = next(power * times for times in (1, 2, 5, 10) if power * times >= raw * (1 - 1e-9))
        step = max(step, 1.0) if whole else step
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(place * step, 10) for place in range(first, last + 1)]

    def percents(self) -> dict[float, str]:
        """Ticks in per cent, with as many digits as tell them apart."""
        found = self.ticks()
        digits = next((d for d in range(4) if len({f"{value:.{d}%}" for value in found}) == len(found)), 4)
        return {value: f"{value:.{digits}%}" for value in found}

    def numbers(self, whole: bool = False) -> dict[float, str]:
        """Ticks as plain numbers."""
        return {value: f"{value:,.0f}" if whole else f"{value:g}" for value in self.ticks(whole=whole)}


@dataclass(frozen=True)
class Chart:
    """One pair of axes. Its plot lies within `left`, `top`, `width` and `height`; `parts` is what was drawn so far."""

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale
    parts: list[str] = field(default_factory=list)

    def place(self, point: Point) -> Point:
        """Where a point lies in the figure."""
        return self.left + self.width * self.x.at(point[0]), self.top + self.height * (1 - self.y.at(point[1]))

    def line(self, points: Sequence[Point], colour: str, dash: str = "-", width: float = 2, opacity: float = 1) -> None:
        """A line through points."""
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        self.parts.append(
            f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
            f'stroke-opacity="{opacity:g}" stroke-linejoin="round"{_DASHES[dash]}/>'
        )

    def across(self, value: float, dash: str, width: float = 1.5) -> None:
        """A line at a value of the y axis, from side to side."""
        self.line([(self.x.low, value), (self.x.high, value)], FAINT, dash, width)

    def upright(self, value: float, dash: str, width: float = 2) -> None:
        """A line at a value of the x axis, from the bottom to the top."""
        self.line([(value, self.y.low), (value, self.y.high)], FAINT, dash, width)

    def mark(self, point: Point, kind: str, colour: str, size: float = 8) -> None:
        """A mark at a point."""
        self.parts.append(mark(*self.place(point), kind, colour, size))

    def dots(self, points: Sequence[Point], colour: str, size: float = 3, opacity: float = 0.5) -> None:
        """Many dots as one path: a mark for each of thousands would make a page heavy."""
        drawn = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in map(self.place, points))
        self.parts.append(
            f'<path d="{drawn}" stroke="{colour}" stroke-width="{size:g}" stroke-opacity="{opacity:g}" '
            'stroke-linecap="round" fill="none"/>'
        )

    def bar(self, low: Point, high: Point, fill: str, opacity: float = 1) -> None:
        """A box from its lower left to its upper right corner."""
        (x, bottom), (right, y) = self.place(low), self.place(high)
        self.parts.append(box(x, y, right - x, bottom - y, fill, opacity))

    def text(self, point: Point, words: str, by: Point = (0, 0), anchor: str = "start", size: float = 9) -> None:
        """Words beside a point, moved by so much to the right and down."""
        x, y = self.place(point)
        self.parts.append(text(x + by[0], y + by[1], words, anchor, size))

    def frame(self, title: str, x: tuple[str, Mapping[float, str]], y: tuple[str, Mapping[float, str]]) -> list[str]:
        """All of the chart: grid, what was drawn, axes with their labels and ticks, and the title on the left. The x
        axis of a chart whose y axis has names, and no label, has the only grid."""
        bottom, right = self.top + self.height, self.left + self.width
        behind, before = [], []
        for value, words in x[1].items():
            at = self.place((value, self.y.low))[0]
            behind.append(_rule(at, self.top, at, bottom, 0.25))
            before.append(text(at, bottom + 15, words, "middle"))
        for value, words in y[1].items():
            at = self.place((self.x.low, value))[1]
            behind.append(_rule(self.left, at, right, at, 0.25) if y[0] else "")
            before.append(text(self.left - 7, at + _SIZE * 0.35, words, "end"))
        before += [_rule(self.left, self.top, self.left, bottom), _rule(self.left, bottom, right, bottom)]
        before.append(text(self.left + self.width / 2, bottom + 32, x[0], "middle"))
        widest = max((len(words) for words in y[1].values()), default=0) * _SIZE * _LETTER
        if y[0]:
            turn = f'transform="translate({self.left - widest - 18:.1f} {self.top + self.height / 2:.1f}) rotate(-90)"'
            before.append(f'<text {turn} text-anchor="middle">{escape(y[0])}</text>')
        before.append(text(self.left, self.top - 10, title, size=11.5, bold=True))
        return [*behind, *self.parts, *before]

    def legend(self, entries: Mapping[str, Sample], corner: str) -> None:
        """What the colours mean, in a corner of the plot such as `lower left`."""
        upright, side = corner.split()
        longest = max(len(label) for label in entries) * _SIZE * _LETTER + 34
        x = self.left + 8 if side == "left" else self.left + self.width - longest
        y = self.top + 10 if upright == "upper" else self.top + self.height - 16 * len(entries) + 4
        for row, (label, sample) in enumerate(entries.items()):
            self.parts.append(sample(x + 12, y + 16 * row))
            self.parts.append(text(x + 30, y + 16 * row + _SIZE * 0.35, label))


def text(x: float, y: float, words: str, anchor: str = "start", size: float = _SIZE, bold: bool = False) -> str:
    """Words at a place."""
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}"{weight}>{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1) -> str:
    """A box by its upper left corner."""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" fill="{fill}" '
        f'fill-opacity="{opacity:g}"/>'
    )


def mark(x: float, y: float, kind: str, colour: str, size: float) -> str:
    """A circle (`o`), a square (`s`) or a cross (`x`) around a place."""
    half = size / 2
    if kind == "o":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:g}" fill="{colour}"/>'
    if kind == "s":
        return box(x - half, y - half, size, size, colour)
    ends = f"M{x - half:.1f} {y - half:.1f}l{size:g} {size:g}m0 -{size:g}l-{size:g} {size:g}"
    return f'<path d="{ends}" stroke="{colour}" stroke-width="2" fill="none"/>'


def line_sample(colour: str, dash: str = "-", width: float = 2, kind: str = "") -> Sample:
    """A short line for a legend, with a mark on it where it has one."""

    def drawn(x: float, y: float) -> str:
        line = f'<path d="M{x - 12:.1f} {y:.1f}h24" stroke="{colour}" stroke-width="{width:g}"{_DASHES[dash]}/>'
        return line + (mark(x, y, kind, colour, 4) if kind else "")

    return drawn


def legend_below(x: float, y: float, entries: Mapping[str, Sample]) -> list[str]:
    """What the colours mean, in a row below a plot that is full of marks."""
    parts = []
    for label, sample in entries.items():
        parts += [sample(x + 12, y), text(x + 30, y + _SIZE * 0.35, label)]
        x += len(label) * _SIZE * _LETTER + 46
    return parts


def hatched(name: str, colour: str) -> tuple[str, str]:
    """White lines on a colour: what defines them in a figure, by a name that no other figure of the page has, and what
    a box is filled with."""
    pattern = (
        f'<defs><pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f'<rect width="6" height="6" fill="{colour}"/><path d="M0 0v6" stroke="#ffffff" stroke-width="2"/>'
        "</pattern></defs>"
    )
    return pattern, f"url(#{name})"


def room_for(labels: Iterable[str], label: str = "") -> float:
    """How much room the y axis needs on its left."""
    widest = max((len(each) for each in labels), default=0) * _SIZE * _LETTER
    return widest + (32 if label else 12)


def _rule(x: float, y: float, right: float, bottom: float, opacity: float = 1) -> str:
    return (
        f'<path d="M{x:.1f} {y:.1f}L{right:.1f} {bottom:.1f}" stroke="{FAINT}" stroke-width="0.8" '
        f'stroke-opacity="{opacity:g}"/>'
    )
