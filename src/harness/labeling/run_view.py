"""What the page of one run shows: the verdict as in the report, what broke where, scorecards, what it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from harness.base.texts import plural
from harness.exploring.opened import OpenedRun
from harness.exploring.rows import changed_items
from harness.exploring.selection import Selection
from harness.judging import known_judgement
from harness.report.comparisons import code_lines
from harness.report.page import RunReport, delta_rows, provenance
from harness.runs.archive import PHOTOS, BenchmarkRun, TaskRun
from harness.runs.comparison import Change
from harness.runs.gate import Judgement, Verdict
from harness.runs.verdicts import MEANINGS, TONES, moved, notes, reasons
from harness.scoring.format import BY_TAG

#: The figures that a run may have drawn, as files of it, and what they show.
_FIGURES = {
    "precision_recall": "Precision and recall over the score threshold",
    "error_types": "Kinds of errors",
    "reliability": "Score beside share right",
    "slices": "Recall by tag",
    "similarities": "Similarities of faces",
    "fnir_fpir": "People missed over strangers taken for them",
}
#: By the name of the file; older runs have them as PNG.
FIGURES = {f"{name}{ending}": title for name, title in _FIGURES.items() for ending in (".svg", ".png")}
CHANGES = {Change.BROKEN: "Newly broken", Change.FIXED: "Newly fixed"}
_CHANGE_TONES = {Change.BROKEN: ("bad", "▼"), Change.FIXED: ("good", "▲")}


@dataclass(frozen=True)
class Chip:
    """A count with a link to what it counts; `tone` and `mark` where it is about change."""

    label: str
    count: int
    address: str
    tone: str = ""
    mark: str = ""


def run_view(opened: OpenedRun, tags: Mapping[str, str], against: str) -> dict[str, Any]:
    """All that the template needs beside the run itself."""
    judgement = _judgement(opened)
    tone, sign = TONES.get(judgement.verdict, ("even", "–"))
    base_id = opened.base.run_id if opened.base else None
    run, comparison = opened.run, opened.comparison
    base_word = "other run" if opened.base and not opened.base.pinned else "baseline"
    report = RunReport(run, judgement, comparison, base_id, tags, "") if run else None
    return {
        "judgement": judgement,
        "tone": tone,
        "sign": sign,
        "meaning": MEANINGS[judgement.verdict].replace("baseline", base_word),
        "base_word": base_word,
        "reasons": (*moved(judgement), *reasons(judgement)),
        "deltas": list(delta_rows(judgement.metrics)),
        "notes": notes(judgement),
        "changes": list(_changes(opened, against)),
        "mistakes": list(_mistakes(opened, against)),
        "causes": list(_causes(opened, against)),
        "sections": [each for task in _tasks(run) for each in task.sections() if each.title != BY_TAG],
        "slices": [
            row for task in _tasks(run) for each in task.sections() if each.title == BY_TAG for row in each.rows
        ],
        "texts": {name: task.text for name, task in (run.tasks.items() if run else ()) if task.text},
        "figures": FIGURES,
        "config": _grouped(run.metadata.config) if run else {},
        "code": code_lines(comparison) if comparison else [],
        "provenance": list(provenance(report)) if report else [],
    }


def _tasks(run: BenchmarkRun | None) -> Iterator[TaskRun]:
    yield from run.tasks.values() if run else ()


def _judgement(opened: OpenedRun) -> Judgement:
    """The one beside the run that it is compared with; the one that it was logged with where there is none."""
    if opened.comparison:
        return opened.comparison.judgement
    entry = opened.entry
    known = known_judgement(entry) if entry.verdict.partition(", ")[0] in MEANINGS else Judgement(Verdict.NO_BASELINE)
    told = tuple(filter(None, [entry.reasons]))
    return Judgement(known.verdict, told, look=known.look, unprotected=known.unprotected)


def _changes(opened: OpenedRun, against: str) -> Iterator[Chip]:
    """How many photos, and items of other tasks, came out otherwise than in the other run."""
    if opened.comparison is None or opened.run is None or opened.comparison.judgement.verdict is Verdict.INCOMPARABLE:
        return
    for task, kept in opened.run.tasks.items():
        if task not in opened.comparison.base.tasks or not any(card.declared.ledger for card in kept.cards.values()):
            continue
        found = changed_items(opened.comparison, task)
        for change, label in CHANGES.items():
            where = f"/runs/{opened.entry.run_id}{_changed(task, change, against)}"
            yield Chip(f"{label} {plural(kept.noun)}", len(found[change]), where, *_CHANGE_TONES[change])


def _changed(task: str, change: Change, against: str) -> str:
    """Where the items of a task are that have changed so, below the address of the run."""
    if task == PHOTOS:
        chosen = {"change": change.value, "against": against or None, "sort": "change"}
        return f"/photos{Selection.model_validate(chosen).query}"
    beside = {"against": against} if against else {}
    return f"/items?{urlencode({'task': task, 'change': change.value, **beside})}"


def _mistakes(opened: OpenedRun, against: str) -> Iterator[Chip]:
    """The kinds of mistakes, each with the photos that have it, the most frequent first."""
    for kind, photos in opened.facets.mistakes.items():
        chosen = Selection(mistake=kind, against=against or None).query
        yield Chip(kind.replace("_", " ").capitalize(), photos, f"/runs/{opened.entry.run_id}/photos{chosen}")


def _causes(opened: OpenedRun, against: str) -> Iterator[Chip]:
    """Why numbers, links and runners are missed, each with the photos that have it."""
    for cause, photos in opened.facets.causes.items():
        chosen = Selection(cause=cause, against=against or None).query
        yield Chip(cause, photos, f"/runs/{opened.entry.run_id}/photos{chosen}")


def _grouped(config: Mapping[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """The config by the first part of its keys."""
    rows = sorted((key, str(value)) for key, value in config.items())
    return {group: list(each) for group, each in groupby(rows, key=lambda row: row[0].partition(".")[0])}
