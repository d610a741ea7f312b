"""Which photos of a run are shown, and their pixels: each is read once, whatever it is shown for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.report.content import RunReport
from harness.report.grid import pick_mistakes
from harness.report.mistakes import Mistake, ReadPhoto, Shots, mistakes, take_shots
from harness.results import EvaluatedPhoto, Evaluation
from harness.runs.comparison import LEDGER, Change, Comparison, PhotoChange
from harness.types import Box

#: What all scorecards say of one photo.
ChangedPhoto = tuple[PhotoChange, ...]

#: Photos that are drawn as the worst; cut-outs of mistakes come from more of them.
WORST_PHOTOS, LOOKED_AT = 6, 12
#: How many changed photos of each kind are shown; the others are named.
MOST_CHANGED = 6
#: And how many suspects; the others are counted.
MOST_SUSPECTS = 12


@dataclass(frozen=True)
class Gallery:
    """The photos with most errors, those that changed, and the mistakes that are cut out; `shots` by SHA-256."""

    worst: tuple[EvaluatedPhoto, ...]
    broken: tuple[ChangedPhoto, ...]
    fixed: tuple[ChangedPhoto, ...]
    mistakes: tuple[Mistake, ...]
    shots: Mapping[str, Shots]


def make_gallery(report: RunReport, read_photo: ReadPhoto) -> Gallery:
    """Choose what is shown of a run, and read it."""
    evaluation, suspects = report.evaluation, report.suspects[:MOST_SUSPECTS]
    broken, fixed = changed_photos(report.comparable)
    worst = [evaluation.evaluated[position] for position in worst_photos(evaluation)[:LOOKED_AT]]
    changed = {photo[0].sha256 for photo in (*broken[:MOST_CHANGED], *fixed[:MOST_CHANGED])}
    wanted = changed | {item.sha256 for item in suspects} | {photo.sha256 for photo in worst}
    others = [photo for photo in evaluation.evaluated if photo.sha256 in wanted and photo not in worst]
    picked = pick_mistakes(list(mistakes([*worst, *others], evaluation.thresholds)))
    boxes: dict[str, list[Box]] = {}
    for sha256, box in [(item.photo.sha256, item.box) for item in picked] + [(s.sha256, s.box) for s in suspects]:
        boxes.setdefault(sha256, []).append(box)
    return Gallery(
        tuple(worst[:WORST_PHOTOS]), broken, fixed, tuple(picked), take_shots([*worst, *others], boxes, read_photo)
    )


def changed_photos(comparison: Comparison | None) -> tuple[tuple[ChangedPhoto, ...], tuple[ChangedPhoto, ...]]:
    """The photos on which something is newly broken, and those on which things are only fixed; most changed first."""
    kinds = comparison.by_photo() if comparison else {}
    broken = kinds.get(Change.BROKEN, ()) + kinds.get(Change.MIXED, ())
    return broken, tuple(reversed(kinds.get(Change.FIXED, ())))


def worst_photos(evaluation: Evaluation) -> list[int]:
    """Positions of the photos with errors, those with most of them first."""
    tallies = evaluation.scores.tallies
    columns = [tallies[name].column(field).tolist() for name, (_, counts) in LEDGER.items() for field in counts[1:]]
    errors = [sum(row) for row in zip(*columns, strict=True)]
    ranked = sorted(range(len(errors)), key=lambda position: (-errors[position], position))
    return [position for position in ranked if errors[position]]
