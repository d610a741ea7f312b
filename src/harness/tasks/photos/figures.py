"""The figures of a run on photos.

Bibs and faces differ in colour, and in marker or hatching too. Every bar carries its count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from harness.report.canvas import FAINT, WIDTH, Picture, draw, percent_axis
from harness.scoring import Behaviour, Slice
from harness.scoring.error_types import ErrorScorecard

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = {"bib": "#0072b2", "face": "#d55e00"}
MARKERS, LINES, HATCHES = {"bib": "o", "face": "s"}, {"bib": "-", "face": "--"}, {"bib": "", "face": "///"}
MOST_SLICES = 24


def run_figures(
    behaviours: Mapping[str, Behaviour], slices: Sequence[Slice], errors: Mapping[str, ErrorScorecard]
) -> tuple[Picture, ...]:
    """The figures of a run; one that would show nothing is left out."""
    pictures = []
    if scored := {what: item for what, item in behaviours.items() if _has_curve(item)}:
        title = "Precision and recall over the score threshold"
        pictures.append(draw("precision_recall", title, (WIDTH, 3.8), lambda it: _precision_recall(it, scored)))
    if judged := {what: item for what, item in behaviours.items() if item.reliability.n}:
        size = (WIDTH / 2 * len(judged), 3.8)
        pictures.append(draw("reliability", "Score beside share right", size, lambda it: _reliability(it, judged)))
    if errors:
        pictures.append(draw("error_types", "Kinds of errors", (WIDTH, 3.4), lambda it: _error_types(it, errors)))
    if slices:
        size = (WIDTH, 1.2 + 0.3 * min(len(slices), MOST_SLICES))
        pictures.append(draw("slices", "Recall by tag", size, lambda it: _slices(it, slices)))
    return tuple(pictures)


def _has_curve(behaviour: Behaviour) -> bool:
    return any(point.recall is not None and point.precision is not None for point in behaviour.curve)


def _precision_recall(figure: Figure, behaviours: Mapping[str, Behaviour]) -> None:
    left, right = figure.subplots(1, 2)
    for what, behaviour in behaviours.items():
        points = [p for p in behaviour.curve if p.precision is not None and p.recall is not None]
        style: dict[str, Any] = {"color": COLOURS[what], "linestyle": LINES[what], "linewidth": 2}
        left.plot([p.recall for p in points], [p.precision for p in points], label=what, **style)
        left.plot(points[0].recall, points[0].precision, MARKERS[what], color=COLOURS[what], markersize=8)
        thresholds = [p.threshold for p in points]
        right.plot(thresholds, [p.precision for p in points], label=f"{what} precision", **style)
        right.plot(
            thresholds, [p.recall for p in points], label=f"{what} recall", **{**style, "linewidth": 1}, marker="."
        )
    left.set(xlabel="recall", ylabel="precision", title="Precision and recall (mark: as run)")
    right.set(xlabel="least score that is kept", title="What another threshold would do")
    for axes in (left, right):
        percent_axis(axes, "y")
        axes.set_ylim(-0.02, 1.03)
        axes.legend(loc="lower left")
    left.set_xlim(-0.02, 1.03)
    percent_axis(left, "x")


def _reliability(figure: Figure, behaviours: Mapping[str, Behaviour]) -> None:
    charts = figure.subplots(1, len(behaviours), squeeze=False)[0]
    for axes, (what, behaviour) in zip(charts, behaviours.items(), strict=True):
        card = behaviour.reliability
        axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", linewidth=1.5)
        axes.text(0.4, 0.3, "dotted: as sure as right", fontsize=9)
        bins = [entry for entry in card.bins if entry.n]
        axes.plot(
            [entry.mean_score for entry in bins],
            [entry.accuracy for entry in bins],
            color=COLOURS[what], linestyle=LINES[what], marker=MARKERS[what], linewidth=1.5,
        )  # fmt: skip
        for entry in bins:
            below = (entry.accuracy or 0) > 0.5
            axes.annotate(
                f"n={entry.n}", (entry.mean_score or 0, entry.accuracy or 0), textcoords="offset points",
                xytext=(0, -14 if below else 9), ha="center", fontsize=8.5,
            )  # fmt: skip
        axes.set(
            title=f"{what}: calibration error {card.ece or 0:.1%}, n={card.n}", xlabel="score", ylabel="share right"
        )
        axes.set(xlim=(-0.02, 1.05), ylim=(-0.04, 1.08))
        percent_axis(axes, "y")


def _error_types(figure: Figure, errors: Mapping[str, ErrorScorecard]) -> None:
    from matplotlib.ticker import MaxNLocator

    kinds = {
        "missed outright": "missed",
        "missed, badly placed": "missed_by_localisation",
        "false, background": "background",
        "false, badly placed": "localisation",
        "false, duplicate": "duplicate",
        "wrong text": "wrong_text",
    }
    axes = figure.subplots()
    height = 0.8 / len(errors)
    for row, (what, card) in enumerate(errors.items()):
        counts = [getattr(card, name) for name in kinds.values()]
        places = [place + (row - (len(errors) - 1) / 2) * height for place in range(len(kinds))]
        bars = axes.barh(places, counts, height * 0.92, label=what, color=COLOURS[what], hatch=HATCHES[what])
        shown = [
            str(n) if name != "wrong_text" or what == "bib" else ""
            for n, name in zip(counts, kinds.values(), strict=True)
        ]
        axes.bar_label(bars, shown, padding=3)
    axes.set_yticks(range(len(kinds)), list(kinds))
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="how many", title="Kinds of errors")
    axes.legend(loc="lower right")


def _slices(figure: Figure, slices: Sequence[Slice]) -> None:
    worst = sorted(slices, key=lambda item: (item.recall, -item.total, item.metric))[:MOST_SLICES]
    axes = figure.subplots()
    for row, item in enumerate(worst):
        colour, hatch = COLOURS.get(item.scorecard, FAINT), HATCHES.get(item.scorecard, "")
        bar = axes.barh(row, item.recall, 0.72, color=colour, hatch=hatch)
        spread = f", {item.interval.low:.0%} to {item.interval.high:.0%}" if item.interval else ""
        axes.bar_label(bar, [f"{item.recall:.0%}  ({item.found} of {item.total}{spread})"], padding=4, fontsize=9.5)
    axes.set_yticks(range(len(worst)), [f"{item.scorecard}: {item.tag}" for item in worst])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlim=(0, 1.4), xticks=[0, 0.25, 0.5, 0.75, 1])
    percent_axis(axes, "x")
    left_out = f" ({len(slices) - len(worst)} better ones left out)" if len(worst) < len(slices) else ""
    axes.set(xlabel="recall", title=f"Recall by tag, worst first{left_out}")
