"""The page of a study: how a search went, what matters, and what was learned, in one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from harness.report.canvas import FAINT, INK, draw
from harness.report.html import render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STUDY_FILE = "study.html"
#: How a trial is drawn by what became of it: its marker, its colour and its name in the legend.
_KINDS = {
    "complete": ("o", "#0072b2", "complete"),
    "infeasible": ("X", "#d55e00", "breaks a constraint"),
    "pruned": ("v", "#8a9099", "given up early, on some photos"),
}
_BASE, _BEST = "#009e73", "#cc79a7"
#: Of the history, in inches: small enough to be read on a phone.
_SIZE = (6.6, 3.6)
#: More marks than this are drawn as one picture: each by itself would make the page heavy.
_MOST_MARKS = 1500
#: A value of a parameter that is longer than this is cut in its plot.
_LONGEST = 14


@dataclass(frozen=True)
class ShownTrial:
    """A trial as the page shows it. `kind` is `complete`, `infeasible`, `pruned` or something else, which has no value
    and is not drawn; `told` are its cells in the table of what was learned."""

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
        drawn = [trial for trial in self.trials if trial.kind in _KINDS and trial.value is not None]
        history = draw("history", "Trials in the order in which they were made", _SIZE, self._history(drawn))
        slices = [
            (key, Markup(draw("slice", f"Trials by parameter {place}", (3.4, 2.5), self._slice(drawn, key)).svg))
            for place, key in enumerate(self.parameters, start=1)
            if any(key in trial.point for trial in drawn)
        ]
        figure = Markup(history.svg) if drawn else None
        return render("study.html", page=self, history=figure, slices=slices)

    def _history(self, drawn: Sequence[ShownTrial]) -> Callable[[Figure], None]:
        def fill(figure: Figure) -> None:
            axes = figure.subplots()
            for kind in _KINDS:
                _marks(axes, drawn, kind, lambda trial: trial.number)
            axes.axhline(self.base, color=_BASE, linestyle="--", linewidth=1.5, label="the base")
            steps = self._best_so_far(drawn)
            if steps:
                axes.step(*zip(*steps, strict=True), where="post", color=_BEST, linewidth=2, label="best so far")
            axes.set(xlabel="trial", ylabel=self.metric)
            axes.legend(loc="best", fontsize=8.5)

        return fill

    def _best_so_far(self, drawn: Sequence[ShownTrial]) -> list[tuple[int, float]]:
        steps: list[tuple[int, float]] = []
        for trial in drawn:
            if trial.kind == "complete" and trial.value is not None:
                before = steps[-1][1] if steps else None
                better = before is None or self.sign * trial.value > self.sign * before
                steps.append((trial.number, trial.value if better else steps[-1][1]))
        return steps

    def _slice(self, drawn: Sequence[ShownTrial], key: str) -> Callable[[Figure], None]:
        with_it = [trial for trial in drawn if key in trial.point]
        numeric = all(isinstance(t.point[key], int | float) and not isinstance(t.point[key], bool) for t in with_it)
        names = sorted({str(trial.point[key]) for trial in with_it})

        def place(trial: ShownTrial) -> float:
            return float(trial.point[key]) if numeric else names.index(str(trial.point[key]))

        def fill(figure: Figure) -> None:
            axes = figure.subplots()
            for kind in _KINDS:
                _marks(axes, with_it, kind, place)
            axes.axhline(self.base, color=_BASE, linestyle="--", linewidth=1)
            for trial in with_it:
                if trial.number == self.best and trial.value is not None:
                    axes.plot([place(trial)], [trial.value], "*", color=_BEST, markersize=13, markeredgecolor=INK)
            if not numeric:
                axes.set_xticks(range(len(names)), [name[:_LONGEST] for name in names], fontsize=8)
            axes.tick_params(labelsize=8)

        return fill


def _marks(axes: Axes, trials: Sequence[ShownTrial], kind: str, place: Callable[[ShownTrial], float]) -> None:
    """The trials of one kind; nothing where there is none."""
    marker, colour, label = _KINDS[kind]
    some = [trial for trial in trials if trial.kind == kind]
    if some:
        x, y = [place(trial) for trial in some], [trial.value or 0.0 for trial in some]
        many = len(trials) > _MOST_MARKS
        size, edge = (8, "none") if many else (28, FAINT)
        style: dict[str, Any] = {"marker": marker, "color": colour, "edgecolors": edge, "alpha": 0.5 if many else 0.8}
        axes.scatter(x, y, s=size, linewidths=0.3, label=label, rasterized=many, **style)
