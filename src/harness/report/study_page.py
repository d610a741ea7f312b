"""The page of a study: how a search went, what matters, and what was learned, in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markupsafe import Markup

from harness.report.canvas import (
    WIDTH,
    Chart,
    Picture,
    Point,
    Sample,
    Scale,
    legend_below,
    line_sample,
    mark,
    picture,
    room_for,
)
from harness.report.html import render

STUDY_FILE = "study.html"
#: How a trial is drawn by what became of it: its marker, its colour and its name in the legend.
_KINDS = {
    "complete": ("o", "#0072b2", "complete"),
    "infeasible": ("x", "#d55e00", "breaks a constraint"),
    "pruned": ("s", "#8a9099", "given up early, at the foot"),
}
_BASE, _BEST = "#009e73", "#cc79a7"
#: More trials than this are drawn as dots without a shape of their own.
_MOST_MARKS = 1500
#: The width and height of the plot of one parameter.
_SLICE = (330.0, 230.0)
#: A value of a parameter that is longer than this is cut in its plot.
_LONGEST = 14


@dataclass(frozen=True)
class ShownTrial:
    """A trial as the page shows it. `kind` is `complete`, `infeasible`, `pruned` or something else, which is not drawn;
    one that is pruned has seen a part of the photos alone, and has no value that could stand beside others. `told` are
    its cells in the table of what was learned."""

    number: int
    kind: str
    value: float | None
    point: Mapping[str, Any] = field(default_factory=dict)
    told: Sequence[str] = ()


@dataclass(frozen=True)
class StudyPage:
    """All that the page shows. `findings` are sentences, `parameters` the keys that were varied, `learned` the trials
    with a hypothesis, and `sign` is -1 where less is better."""

    study: str
    description: str
    data: str
    metric: str
    sign: int
    base: float
    good: bool
    verdict: str
    findings: Sequence[str]
    trials: Sequence[ShownTrial]
    parameters: Sequence[str]
    importances: Mapping[str, Mapping[str, float]]
    best: int | None
    changed: Sequence[tuple[str, str, str]]
    learned: Sequence[ShownTrial]
    learned_heads: Sequence[str]
    broken: Sequence[str]
    budget: str

    def html(self) -> str:
        """The page."""
        drawn = [trial for trial in self.trials if trial.kind in _KINDS]
        slices = [
            (key, Markup(self._slice(drawn, key, place).svg))
            for place, key in enumerate(self.parameters, start=1)
            if any(key in trial.point for trial in drawn)
        ]
        figure = Markup(self._history(drawn).svg) if drawn else None
        return render("study.html", page=self, history=figure, slices=slices)

    def _history(self, drawn: Sequence[ShownTrial]) -> Picture:
        y = Scale.around([self.base, *(value for _, value in _points(drawn))])
        ticks, left = y.numbers(), room_for(y.numbers().values(), self.metric)
        numbers = [trial.number for trial in drawn]
        chart = Chart(left, 24, WIDTH - left - 12, 240, Scale(min(numbers) - 0.5, max(numbers) + 0.5), y)
        legend = _draw(chart, drawn, lambda trial: trial.number)
        chart.line([(chart.x.low, self.base), (chart.x.high, self.base)], _BASE, "--", 1.5)
        legend["the base"] = line_sample(_BASE, "--", 1.5)
        if steps := self._best_so_far(drawn):
            chart.line(list(_stairs(steps, chart.x.high)), _BEST)
            legend["best so far"] = line_sample(_BEST)
        parts = chart.frame("", ("trial", chart.x.numbers(whole=True)), (self.metric, ticks))
        told = legend_below(left, chart.top + chart.height + 56, legend)
        return picture("history", "Trials in the order in which they were made", 332, [*parts, *told])

    def _best_so_far(self, drawn: Sequence[ShownTrial]) -> list[tuple[int, float]]:
        steps: list[tuple[int, float]] = []
        for trial in drawn:
            if trial.kind == "complete" and trial.value is not None:
                before = steps[-1][1] if steps else None
                better = before is None or self.sign * trial.value > self.sign * before
                steps.append((trial.number, trial.value if better else steps[-1][1]))
        return steps

    def _slice(self, drawn: Sequence[ShownTrial], key: str, place: int) -> Picture:
        with_it = [trial for trial in drawn if key in trial.point]
        numeric = all(isinstance(t.point[key], int | float) and not isinstance(t.point[key], bool) for t in with_it)
        names = sorted({str(trial.point[key]) for trial in with_it})

        def at(trial: ShownTrial) -> float:
            return float(trial.point[key]) if numeric else names.index(str(trial.point[key]))

        y = Scale.around([self.base, *(value for _, value in _points(with_it))])
        x = Scale.around(map(at, with_it)) if numeric else Scale(-0.5, len(names) - 0.5)
        left = room_for(y.numbers().values())
        chart = Chart(left, 10, _SLICE[0] - left - 12, _SLICE[1] - 34, x, y)
        chart.line([(x.low, self.base), (x.high, self.base)], _BASE, "--", 1)
        for trial in with_it:
            if trial.number == self.best and trial.value is not None:
                chart.mark((at(trial), trial.value), "o", _BEST, 13)
        _draw(chart, with_it, at)  # on top, so that the large mark hides no trial
        ticks = x.numbers() if numeric else {float(n): name[:_LONGEST] for n, name in enumerate(names)}
        parts = chart.frame("", ("", ticks), ("", y.numbers()))
        return picture("slice", f"Trials by parameter {place}", _SLICE[1], parts, _SLICE[0])


def _points(trials: Sequence[ShownTrial]) -> list[tuple[ShownTrial, float]]:
    """The trials that have a value, with it."""
    return [(trial, trial.value) for trial in trials if trial.value is not None and trial.kind != "pruned"]


def _draw(chart: Chart, trials: Sequence[ShownTrial], at: Callable[[ShownTrial], float]) -> dict[str, Sample]:
    """Draw the trials, kind by kind; returns what a legend says of them."""
    legend: dict[str, Sample] = {}
    for kind, (shape, colour, label) in _KINDS.items():
        places: list[Point] = [(at(trial), value) for trial, value in _points(trials) if trial.kind == kind]
        if kind == "pruned":
            places = [(at(trial), chart.y.low) for trial in trials if trial.kind == kind]
        if len(trials) > _MOST_MARKS and places:
            chart.dots(places, colour)
            legend[label] = partial(mark, kind="o", colour=colour, size=4)
        elif places:
            for each in places:
                chart.mark(each, shape, colour, 6)
            legend[label] = partial(mark, kind=shape, colour=colour, size=6)
    return legend


def _stairs(steps: Sequence[tuple[int, float]], end: float) -> Iterator[Point]:
    """A line that keeps its value up to the next step."""
    for (number, value), after in zip(steps, [number for number, _ in steps[1:]] + [end], strict=True):
        yield number, value
        yield after, value
