"""The figures of a run on photos.

Bibs and faces differ in colour, and in marker or hatching too. Every bar carries its count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.report.canvas import (
    FAINT,
    WIDTH,
    Chart,
    Picture,
    Sample,
    Scale,
    box,
    hatched,
    line_sample,
    picture,
    room_for,
)
from harness.scoring import Behaviour, Slice
from harness.scoring.error_types import ErrorScorecard

COLOURS = {"bib": "#0072b2", "face": "#d55e00"}
MARKERS, LINES = {"bib": "o", "face": "s"}, {"bib": "-", "face": "--"}
HATCHED = frozenset({"face"})
MOST_SLICES = 24
_SHARES = Scale(-0.02, 1.03)
_KINDS = {
    "missed outright": "missed",
    "missed, badly placed": "missed_by_localisation",
    "false, background": "background",
    "false, badly placed": "localisation",
    "false, duplicate": "duplicate",
    "wrong text": "wrong_text",
}


def run_figures(
    behaviours: Mapping[str, Behaviour], slices: Sequence[Slice], errors: Mapping[str, ErrorScorecard]
) -> tuple[Picture, ...]:
    """The figures of a run; one that would show nothing is left out."""
    pictures = []
    if scored := {what: item for what, item in behaviours.items() if _has_curve(item)}:
        pictures.append(_precision_recall(scored))
    if judged := {what: item for what, item in behaviours.items() if item.reliability.n}:
        pictures.append(_reliability(judged))
    if errors:
        pictures.append(_error_types(errors))
    if slices:
        pictures.append(_slices(slices))
    return tuple(pictures)


def _has_curve(behaviour: Behaviour) -> bool:
    return any(point.recall is not None and point.precision is not None for point in behaviour.curve)


def _precision_recall(behaviours: Mapping[str, Behaviour]) -> Picture:
    curves = {
        what: [(p.threshold, p.precision, p.recall) for p in item.curve if None not in (p.precision, p.recall)]
        for what, item in behaviours.items()
    }
    thresholds = Scale.around(threshold for points in curves.values() for threshold, _, _ in points)
    left = Chart(58, 30, WIDTH / 2 - 78, 195, _SHARES, _SHARES)
    right = Chart(WIDTH / 2 + 48, 30, WIDTH / 2 - 60, 195, thresholds, _SHARES)
    first: dict[str, Sample] = {}
    second: dict[str, Sample] = {}
    for what, points in curves.items():
        colour, dash = COLOURS[what], LINES[what]
        precisions = [(threshold, precision or 0.0) for threshold, precision, _ in points]
        recalls = [(threshold, recall or 0.0) for threshold, _, recall in points]
        left.line([(recall or 0.0, precision or 0.0) for _, precision, recall in points], colour, dash)
        left.mark((points[0][2] or 0.0, points[0][1] or 0.0), MARKERS[what], colour)
        right.line(precisions, colour, dash)
        right.line(recalls, colour, dash, width=1)
        for point in recalls:
            right.mark(point, "o", colour, 3)
        first[what] = line_sample(colour, dash, kind=MARKERS[what])
        second[f"{what} precision"] = line_sample(colour, dash)
        second[f"{what} recall"] = line_sample(colour, dash, width=1, kind="o")
    left.legend(first, "lower left")
    right.legend(second, "lower left")
    shares = _SHARES.percents()
    parts = left.frame("Precision and recall (mark: as run)", ("recall", shares), ("precision", shares))
    parts += right.frame(
        "What another threshold would do", ("least score that is kept", thresholds.numbers()), (" ", shares)
    )
    return picture("precision_recall", "Precision and recall over the score threshold", 270, parts)


def _reliability(behaviours: Mapping[str, Behaviour]) -> Picture:
    parts: list[str] = []
    across, upright, each = Scale(-0.02, 1.05), Scale(-0.04, 1.08), WIDTH / 2
    for place, (what, behaviour) in enumerate(behaviours.items()):
        card, chart = behaviour.reliability, Chart(58 + place * each, 30, each - 78, 195, across, upright)
        chart.line([(0, 0), (1, 1)], FAINT, ":", 1.5)
        chart.text((0.4, 0.3), "dotted: as sure as right")
        bins = [entry for entry in card.bins if entry.n]
        points = [(entry.mean_score or 0.0, entry.accuracy or 0.0) for entry in bins]
        chart.line(points, COLOURS[what], LINES[what], width=1.5)
        for entry, point in zip(bins, points, strict=True):
            chart.mark(point, MARKERS[what], COLOURS[what], 6)
            chart.text(point, f"n={entry.n}", (0, 16 if point[1] > 0.5 else -9), "middle", 8.5)
        title = f"{what}: calibration error {card.ece or 0:.1%}, n={card.n}"
        parts += chart.frame(title, ("score", across.numbers()), ("share right", upright.percents()))
    return picture("reliability", "Score beside share right", 270, parts, each * len(behaviours))


def _fills(figure: str) -> tuple[list[str], dict[str, str]]:
    """What bars are filled with, and what defines it in the figure of this name."""
    defined, fills = [], dict(COLOURS)
    for what in sorted(HATCHED):
        pattern, fills[what] = hatched(f"{figure}-{what}", COLOURS[what])
        defined.append(pattern)
    return defined, fills


def _error_types(errors: Mapping[str, ErrorScorecard]) -> Picture:
    parts, fills = _fills("error_types")
    counts = {what: [int(getattr(card, name)) for name in _KINDS.values()] for what, card in errors.items()}
    left = room_for(_KINDS)
    across = Scale(0, max(1, *(count for own in counts.values() for count in own)) * 1.08)
    chart = Chart(left, 30, WIDTH - left - 20, 170, across, Scale(-len(_KINDS) + 0.5, 0.5))
    height = 0.8 / len(errors)
    for row, (what, own) in enumerate(counts.items()):
        for kind, count in enumerate(own):
            middle = -kind - (row - (len(errors) - 1) / 2) * height
            chart.bar((0, middle - height * 0.46), (count, middle + height * 0.46), fills[what])
            if what == "bib" or list(_KINDS.values())[kind] != "wrong_text":
                chart.text((count, middle), str(count), (4, 3.5), size=10.5)
    chart.legend({what: _swatch(fills[what]) for what in errors}, "lower right")
    names = {-float(kind): name for kind, name in enumerate(_KINDS)}
    parts += chart.frame("Kinds of errors", ("how many", across.numbers(whole=True)), ("", names))
    return picture("error_types", "Kinds of errors", 245, parts)


def _swatch(fill: str) -> Sample:
    return lambda x, y: box(x - 12, y - 5, 24, 10, fill)


def _slices(slices: Sequence[Slice]) -> Picture:
    worst = sorted(slices, key=lambda item: (item.recall, -item.total, item.metric))[:MOST_SLICES]
    parts, fills = _fills("slices")
    names = {-float(row): f"{item.scorecard}: {item.tag}" for row, item in enumerate(worst)}
    left, across = room_for(names.values()), Scale(0, 1.4)
    height = 21.6 * len(worst)
    chart = Chart(left, 30, WIDTH - left - 12, height, across, Scale(-len(worst) + 0.5, 0.5))
    for row, item in enumerate(worst):
        chart.bar((0, -row - 0.36), (item.recall, -row + 0.36), fills.get(item.scorecard, FAINT))
        spread = f", {item.interval.low:.0%} to {item.interval.high:.0%}" if item.interval else ""
        chart.text(
            (item.recall, -row), f"{item.recall:.0%}  ({item.found} of {item.total}{spread})", (5, 3.5), size=9.5
        )
    left_out = f" ({len(slices) - len(worst)} better ones left out)" if len(worst) < len(slices) else ""
    shares = {value: f"{value:.0%}" for value in (0, 0.25, 0.5, 0.75, 1)}
    parts += chart.frame(f"Recall by tag, worst first{left_out}", ("recall", shares), ("", names))
    return picture("slices", "Recall by tag", height + 75, parts)
