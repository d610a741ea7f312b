"""The figures of identity: how similar faces are, and what a search misses at what it lets through."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from harness.report.canvas import WIDTH, Chart, Picture, Sample, Scale, box, hatched, picture
from harness.scoring.searching import CurvePoint
from harness.scoring.verification import ScoreHistogram

GENUINE, IMPOSTOR = "#0072b2", "#d55e00"


def identity_figures(
    similar: ScoreHistogram, curve: Sequence[CurvePoint], thresholds: Mapping[str, float], fpir: float
) -> tuple[Picture, ...]:
    """The figures; one that would show nothing is left out. `thresholds` are what they are called, and where."""
    pictures = []
    if any(similar.genuine) or any(similar.impostors):
        pictures.append(_similarities(similar, thresholds))
    if curve:
        pictures.append(_fnir(curve, fpir))
    return tuple(pictures)


def _similarities(similar: ScoreHistogram, thresholds: Mapping[str, float]) -> Picture:
    pattern, lines = hatched("similarities-two", IMPOSTOR)
    kinds = (("one person", similar.genuine, GENUINE), ("two people", similar.impostors, lines))
    shares = {
        (f"{label}, {sum(counts):,} pairs", fill): [count / sum(counts) for count in counts]
        for label, counts, fill in kinds
        if sum(counts)
    }
    upright, across = Scale(0, max(max(own) for own in shares.values()) * 1.25), Scale(-0.4, 1.0)
    chart = Chart(68, 30, WIDTH - 88, 165, across, upright)
    edges = list(pairwise(float(edge) for edge in similar.edges))
    legend: dict[str, Sample] = {}
    for (label, fill), own in shares.items():
        for (low, high), share in zip(edges, own, strict=True):
            if share and high > across.low:
                chart.bar((max(low, across.low), 0), (high, share), fill, 0.65)
        legend[label] = _swatch(fill)
    for place, (name, value) in enumerate(thresholds.items()):
        if math.isfinite(value):
            chart.upright(value, ("--", ":")[place % 2])
            chart.text((value, upright.high), f"{name} {value:.2f}", (5, 12 + 13 * place), size=9.5)
    chart.legend(legend, "upper left")
    ticks = ("similarity", across.numbers()), ("share of the pairs", upright.percents())
    parts = [pattern, *chart.frame("How similar two faces are", *ticks)]
    return picture("similarities", "How similar two faces are", 240, parts)


def _swatch(fill: str) -> Sample:
    return lambda x, y: box(x - 12, y - 5, 24, 10, fill, 0.65)


def _fnir(curve: Sequence[CurvePoint], fpir: float) -> Picture:
    points = sorted((point.fpir, point.fnir) for point in curve if point.fpir > 0)
    least = [point.fnir for point in curve if point.fpir == 0]
    shown = [*(x for x, _ in points), fpir]
    across, upright = Scale(min(shown) / 1.3, max(*shown, 0.1) * 1.3, log=True), Scale(-0.02, 1.02)
    chart = Chart(68, 30, WIDTH - 88, 180, across, upright)
    if points:
        steps = [step for (x, y), (after, _) in pairwise(points) for step in ((x, y), (after, y))]
        chart.line([*steps, points[-1]], GENUINE)
    if least:
        chart.across(min(least), ":")
        chart.text((across.high, min(least)), "dotted: no stranger is shown anybody", (-4, -4), "end")
    chart.upright(fpir, "--")
    title = "What a search misses at what it lets through (dashed: the target)"
    ticks = {value: f"{value:.6%}".rstrip("0%").rstrip(".") + "%" for value in across.ticks()}
    below = ("FPIR: strangers who are shown somebody", ticks)
    parts = chart.frame(title, below, ("FNIR: runners who are shown nothing", upright.percents()))
    return picture("fnir_fpir", "FNIR over FPIR", 255, parts)
