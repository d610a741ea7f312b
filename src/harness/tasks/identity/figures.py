"""The figures of identity: how similar faces are, and what a search misses at what it lets through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from harness.report.canvas import FAINT, WIDTH, Picture, draw, percent_axis
from harness.scoring.searching import CurvePoint
from harness.scoring.verification import ScoreHistogram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GENUINE, IMPOSTOR = "#0072b2", "#d55e00"


def identity_figures(
    similar: ScoreHistogram, curve: Sequence[CurvePoint], threshold: float, fpir: float
) -> tuple[Picture, ...]:
    """The figures; one that would show nothing is left out."""
    pictures = []
    if any(similar.genuine) or any(similar.impostors):
        title = "How similar two faces are"
        pictures.append(draw("similarities", title, (WIDTH, 3.4), lambda it: _similarities(it, similar, threshold)))
    if curve:
        title = "FNIR over FPIR"
        pictures.append(draw("fnir_fpir", title, (WIDTH, 3.6), lambda it: _fnir(it, curve, fpir)))
    return tuple(pictures)


def _similarities(figure: Figure, similar: ScoreHistogram, threshold: float) -> None:
    axes = figure.subplots()
    edges = np.array(similar.edges)
    kinds = (("one person", similar.genuine, GENUINE, ""), ("two people", similar.impostors, IMPOSTOR, "///"))
    for label, counts, colour, hatch in kinds:
        if total := sum(counts):
            shares, name = np.array(counts) / total, f"{label}, {total:,} pairs"
            bars = axes.bar(edges[:-1], shares, np.diff(edges), align="edge", label=name, color=colour, alpha=0.65)
            for bar in bars:
                bar.set_hatch(hatch)
    if np.isfinite(threshold):
        axes.axvline(threshold, color=FAINT, linestyle="--", linewidth=2)
        axes.text(threshold, axes.get_ylim()[1] * 0.94, f" threshold {threshold:.2f}", ha="left", fontsize=9.5)
    axes.set(xlabel="similarity", ylabel="share of the pairs", title="How similar two faces are")
    axes.set_xlim(-0.4, 1.0)
    percent_axis(axes, "y")
    axes.legend(loc="upper left")


def _fnir(figure: Figure, curve: Sequence[CurvePoint], fpir: float) -> None:
    axes = figure.subplots()
    points = sorted((point.fpir, point.fnir) for point in curve if point.fpir > 0)
    least = [point.fnir for point in curve if point.fpir == 0]
    if points:
        axes.plot(*zip(*points, strict=True), color=GENUINE, linewidth=2, drawstyle="steps-post")
        axes.set_xscale("log")
    if least:
        axes.axhline(min(least), color=FAINT, linestyle=":", linewidth=1.5)
        words, beside = "dotted: no stranger is shown anybody", axes.get_yaxis_transform()
        axes.text(0.99, min(least), words, ha="right", va="bottom", fontsize=9, transform=beside)
    axes.axvline(fpir, color=FAINT, linestyle="--", linewidth=2)
    axes.set(
        xlabel="FPIR: strangers who are shown somebody", ylabel="FNIR: runners who are shown nothing",
        title="What a search misses at what it lets through (dashed: the target)",
    )  # fmt: skip
    axes.set_ylim(-0.02, 1.02)
    percent_axis(axes, "x")
    percent_axis(axes, "y")
