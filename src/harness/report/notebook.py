"""Runs, comparisons and reference sets as small pieces of HTML for a notebook, legible on light and on dark.

A notebook has its own theme, which a page cannot ask for: text keeps the colour that it is given, lines are made of
that colour, and only the badge of a verdict has a background.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.report.comparisons import changes_by_title, code_lines
from harness.report.html import render
from harness.report.page import delta_rows
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Judgement
from harness.runs.verdicts import TONES, notes, reasons
from harness.scoring.format import Row, ShownSection
from harness.types import PhotoLabels

#: More rows than this are counted, not listed.
LISTED = 12
#: How wide the drawing of an interval from 0 to 100 % is, in pixels.
TRACK = 110


def run_html(run: BenchmarkRun, judgement: Judgement, run_id: str, baseline_id: str | None) -> str:
    """A run: its verdict, the headlines of its scorecards, and all of them folded."""
    sections = [section for task in run.tasks.values() for section in task.sections()]
    return render(
        "notebook_run.html",
        run=run,
        run_id=run_id,
        badge=_badge(judgement),
        baseline_id=baseline_id,
        reasons=[] if run.failures else [*reasons(judgement), *notes(judgement)],
        deltas=list(delta_rows(judgement.metrics)),
        headlines=[row for section in sections for row in _rows(run, section) if row["headline"]],
        sections=[{"title": each.title, "note": each.note, "rows": list(_rows(run, each))} for each in sections],
        texts=[task.text for task in run.tasks.values() if task.text],
        failures=_listed(run.failures),
        track=TRACK,
    )


def comparison_html(comparison: Comparison, run_id: str, base_id: str) -> str:
    """Two runs side by side: the verdict, each metric, and the items that came out otherwise."""
    return render(
        "notebook_comparison.html",
        run=comparison.run,
        base=comparison.base,
        run_id=run_id,
        base_id=base_id,
        badge=_badge(comparison.judgement),
        reasons=[*reasons(comparison.judgement), *notes(comparison.judgement)],
        deltas=list(delta_rows(comparison.judgement.metrics)),
        kinds=[
            {
                "title": title,
                "count": len(items),
                "items": [(each[0].name, "; ".join(change.words() for change in each)) for each in items[:LISTED]],
                "more": max(len(items) - LISTED, 0),
            }
            for title, items in changes_by_title(comparison)
        ],
        config=comparison.config,
        code=code_lines(comparison) if comparison.code else [],
        track=TRACK,
    )


def references_html(name: str, split: str, digest: str, photos: Sequence[PhotoLabels]) -> str:
    """A reference set: how much of it is labelled, and how."""
    return render(
        "notebook_references.html",
        name=name,
        split=split,
        digest=digest,
        photos=len(photos),
        rows=[
            _label_row("bibs", [each.bibs for each in photos], lambda box: str(box.scope)),
            _label_row("faces", [each.faces for each in photos], lambda box: str(box.scope)),
            _label_row("links", [each.links for each in photos], lambda _: ""),
        ],
    )


def runs_html(titles: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """A list of runs; each row has `id`, `name`, `data`, `started`, `verdict` and a value for each title."""
    more = max(len(rows) - LISTED, 0)
    return render("notebook_runs.html", count=len(rows), titles=titles, rows=rows[:LISTED], more=more)


def _badge(judgement: Judgement) -> dict[str, str]:
    tone, sign = TONES[judgement.verdict]
    return {"tone": tone, "sign": sign, "word": judgement.said}


def _rows(run: BenchmarkRun, section: ShownSection) -> Iterator[dict[str, Any]]:
    intervals = {name: each for task in run.tasks.values() for name, each in task.intervals.items()}
    for row in section.rows:
        yield {
            "row": row,
            "section": section.title,
            "headline": row.metric in run.headlines,
            "span": _span(run, row, intervals),
        }


def _span(run: BenchmarkRun, row: Row, intervals: Mapping[str, Any]) -> dict[str, str] | None:
    """Where a rate and its interval lie between 0 and 100 %."""
    value, interval = run.metrics.get(row.metric), intervals.get(row.metric)
    if value is None or interval is None or not row.interval:
        return None
    places = {"low": interval.low, "high": interval.high, "value": value}
    return {name: f"{4 + (TRACK - 8) * min(max(place, 0.0), 1.0):.1f}" for name, place in places.items()}


def _label_row(noun: str, labels: Sequence[Sequence[Any] | None], kind: Callable[[Any], str]) -> dict[str, Any]:
    """How many photos are labelled, how many labels they have, and of which kinds."""
    counts = Counter(kind(each) for photo in labels for each in photo or ())
    told = ", ".join(f"{count} {name}" for name, count in counts.most_common() if name)
    labelled = sum(photo is not None for photo in labels)
    return {"noun": noun, "labelled": labelled, "total": sum(counts.values()), "told": told}


def _listed(lines: Iterable[str]) -> dict[str, Any]:
    listed = list(lines)
    return {"lines": listed[:LISTED], "count": len(listed), "more": max(len(listed) - LISTED, 0)}
