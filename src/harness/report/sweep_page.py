"""The overview of a sweep: as a table for the terminal, as Markdown for MLflow, and as a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from harness.base.screen import ENDLESS, Screen, fitted
from harness.base.texts import aligned
from harness.report.canvas import WIDTH, Chart, Picture, Sample, Scale, mark, picture
from harness.report.html import render
from harness.runs.sweeps import (
    SweepJob,
    has_ladder,
    headlines,
    identical,
    idle_params,
    ladder_inversions,
    pareto_front,
    quality,
    varied,
)
from harness.scoring.speed import SECONDS

FRONT_MARK = "★"
#: Run, status, front and verdict, which stand before the headlines.
_FIXED = 4
FRONT, OTHERS = "#0072b2", "#d55e00"


@dataclass(frozen=True)
class SweepFindings:
    """What a sweep comes to, in words. `best` is its best job with what is left of its gain; empty where there is
    nothing to choose from. `missing` are the jobs that were killed or never begun, by what they override."""

    jobs: tuple[SweepJob, ...]
    front: tuple[SweepJob, ...]
    has_ladder: bool
    inversions: tuple[str, ...]
    idle: tuple[str, ...]
    same: tuple[str, ...]
    best: str = ""
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, jobs: Sequence[SweepJob], best: str = "", missing: Sequence[str] = ()) -> SweepFindings:
        """Look at the jobs of a sweep."""
        same = tuple(", ".join(job.name for job in group) for group in identical(jobs))
        inversions = ladder_inversions(jobs)
        front, idle = pareto_front(jobs), idle_params(jobs)
        return cls(tuple(jobs), front, has_ladder(jobs), inversions, idle, same, best, tuple(missing))

    @property
    def warnings(self) -> list[str]:
        """What a person should look into."""
        return [
            *(
                f"missing: {name} came to no end; the same sweep again makes only what is missing"
                for name in self.missing
            ),
            *(f"preset ladder: {text}" for text in self.inversions),
            *(f"changed nothing: {name}" for name in self.idle),
            *(f"the same predictions on every photo: {names}" for names in self.same),
        ]


def sweep_table(jobs: Sequence[SweepJob]) -> dict[str, list[str | float | None]]:
    """One row a job: what was varied, the headline metrics, the verdict, and whether it is on the front."""
    front = {job.run_id for job in pareto_front(jobs)}
    table: dict[str, list[str | float | None]] = {
        "run": [job.name for job in jobs],
        "status": [job.status for job in jobs],
        "front": [FRONT_MARK if job.run_id in front else "" for job in jobs],
        "verdict": [job.verdict for job in jobs],
    }
    table |= {name: [job.metrics.get(name) for job in jobs] for name in headlines(jobs)}
    return table | {name: [job.params.get(name) for job in jobs] for name in varied(jobs)}


def sweep_text(jobs: Sequence[SweepJob], screen: Screen = ENDLESS) -> str:
    """The table for a terminal. Where it is narrow, the parameters go first, which stand in the names as well, and then
    the later headlines."""
    rows, titles = _lines(jobs), headlines(jobs)
    if not screen.fits(aligned(rows)):
        rows[0] = [titles.get(name, name) for name in rows[0]]
    first = _FIXED + len(titles)
    status = [1] if all(job.finished for job in jobs) else []
    drop = [*reversed(range(first, len(rows[0]))), *status, *reversed(range(_FIXED + 1, first)), 2]
    return fitted(rows, screen, {0: 20}, drop).text(screen)


def sweep_markdown(findings: SweepFindings, sweep_id: str, chart: str) -> str:
    """The description of the overview in MLflow."""
    names, *rows = _lines(findings.jobs)
    table = "\n".join(f"| {' | '.join(_escaped(line))} |" for line in (names, ["---"] * len(names), *rows))
    parts = [f"{len(findings.jobs)} runs, sweep `{sweep_id}`. [Compare them in a chart]({chart})."]
    parts += [f"**{text}**" for text in findings.warnings]
    if findings.best:
        parts.append(f"Best: {_in_markdown(findings.best)}.")
    if findings.has_ladder and not findings.inversions:
        parts.append("Preset ladder: in order.")
    if findings.front:
        parts.append(
            f"{FRONT_MARK} on the front: no other run has a better {quality(findings.jobs)} in as little time."
        )
    return "\n\n".join([*parts, table])


def sweep_page(findings: SweepFindings, sweep_id: str, figure: Picture | None) -> str:
    """The page."""
    names, *rows = _lines(findings.jobs)
    front = {job.run_id for job in findings.front}
    return render(
        "sweep.html",
        sweep_id=sweep_id,
        findings=findings,
        failed=sum(not job.finished for job in findings.jobs),
        names=names,
        rows=[
            {"cells": row, "front": job.run_id in front, "id": job.run_id}
            for job, row in zip(findings.jobs, rows, strict=True)
        ],
        figure=Markup(figure.svg) if figure else None,
        mark=FRONT_MARK,
    )


def _lines(jobs: Sequence[SweepJob]) -> list[list[str]]:
    table = sweep_table(jobs)
    rows = zip(*table.values(), strict=True)
    return [list(table), *([_cell(name, value) for name, value in zip(table, row, strict=True)] for row in rows)]


def _cell(name: str, value: str | float | None) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, str):
        return value
    return f"{value:.1f}" if name == SECONDS else f"{value:.1%}"


def _escaped(line: Sequence[str]) -> list[str]:
    return [_in_markdown(cell) for cell in line]


def _in_markdown(text: str) -> str:
    return text.replace("|", "\\|")


def pareto_figure(jobs: Sequence[SweepJob]) -> Picture | None:
    """Quality against seconds, with the front; None where no job has both."""
    if not pareto_front(jobs):
        return None
    return _pareto(jobs)


def _pareto(jobs: Sequence[SweepJob]) -> Picture:
    front, metric = pareto_front(jobs), quality(jobs)
    others = [job for job in jobs if job.finished and job not in front and {metric, SECONDS} <= job.metrics.keys()]
    places = [(job.metrics[SECONDS], job.metrics[metric]) for job in (*front, *others)]
    across, upright = (Scale.around((place[axis] for place in places), 0.15) for axis in (0, 1))
    chart = Chart(78, 30, WIDTH - 98, 265, across, upright)
    best = places[: len(front)]
    steps = [step for (x, y), (after, _) in pairwise(best) for step in ((x, y), (after, y))]
    chart.line([*steps, best[-1]], FRONT, width=1.5, opacity=0.6)
    for row, (job, place) in enumerate(zip((*front, *others), places, strict=True)):
        leading = row < len(front)
        chart.mark(place, "o" if leading else "x", FRONT if leading else OTHERS, 9 if leading else 8)
        right = across.at(place[0]) > 0.7  # where a name on the right would leave the figure
        chart.text(place, _short(job.name), (-8 if right else 8, -6 if leading else 13), "end" if right else "start")
    legend: dict[str, Sample] = {"on the front": lambda x, y: mark(x, y, "o", FRONT, 9)}
    if others:
        legend["another is better or cheaper"] = lambda x, y: mark(x, y, "x", OTHERS, 8)
    chart.legend(legend, "lower right")
    below, beside = ("seconds in the pipeline", across.numbers()), (metric, upright.percents())
    return picture("pareto", "Quality against time", 345, chart.frame("Quality against time", below, beside))


def _short(name: str) -> str:
    return name if len(name) <= 36 else f"{name[:35]}…"
