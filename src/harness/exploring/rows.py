"""One row a photo of a run: which mistakes it has, why, and what has changed since another run.

Mistakes are counted as the scorecards count them, and changes are those of `runs.comparison`: what the report and
`harness compare` call newly broken is newly broken here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.base.texts import counted, plural
from harness.exploring.photo_sets import PhotoSet, people_in, tags_of
from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.runs.comparison import Change, Changed, Comparison, ItemChange, ledgers, outcome
from harness.runs.items import Item, PhotoDetail
from harness.scoring import Cause
from harness.scoring.boxes import Boxes
from harness.scoring.cards import Ledger
from harness.scoring.links import CAUSES as LINK_CAUSES
from harness.scoring.matching import UNMATCHED, match_greedy
from harness.types import BibBox, BibFaceLink, Box, FaceBox, PhotoPrediction

MISREAD, PARTIAL, FAILED = "misread_bibs", "partial_numbers", "not_evaluated"
#: Why a photo that a runner wants did not come back, by photo: the runners who miss it, each with the cause.
LostRunners = Mapping[str, Mapping[str, str]]
LOST = "lost_runners"


@dataclass(frozen=True, slots=True)
class Row:
    """One photo. `mistakes` has the kinds that it has any of, with how many; `causes` are as in `number: not seen`.
    `changes` are what the scorecards count otherwise than in the other run, `worse` how many more errors that is, and
    `differs` in how many boxes and readings the two predictions differ, whatever the labels say."""

    sha256: str
    name: str
    errors: float
    mistakes: Mapping[str, float]
    causes: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    scores: tuple[float, ...] = ()
    change: Change | None = None
    changes: tuple[ItemChange, ...] = ()
    worse: float = 0
    differs: int = 0
    problem: str = ""

    def words(self) -> str:
        """What is wrong, in a line, as in `2 faces missed, 1 bib misread`; "" where nothing is."""
        if self.problem:
            return self.problem
        return ", ".join(_mistake_words(kind, count) for kind, count in self.mistakes.items())

    def change_words(self) -> str:
        """What has changed, in a line."""
        return "; ".join(change.words() for change in self.changes)


def _mistake_words(kind: str, count: float) -> str:
    verb, _, noun = kind.partition("_")
    return f"{counted(int(count), noun.removesuffix('s'))} {verb}"


def make_rows(
    run: BenchmarkRun, comparison: Comparison | None, photos: PhotoSet, lost: LostRunners | None = None
) -> tuple[Row, ...]:
    """The rows of a run's photos in the order of their names; photos that could not be evaluated are among them."""
    task = run.tasks.get(PHOTOS)
    if task is None:
        return ()
    kept = {name: ledger for name, ledger in ledgers(run).items() if name in task.cards}
    changed = dict(_changed(comparison))
    differing = _differing(run, comparison)
    rows = [_row(item, kept, photos, changed, differing, (lost or {}).get(item.id, {})) for item in task.items]
    rows += [Row(item.id, item.name, 1, {FAILED: 1}, problem=f"not evaluated: {item.reason}") for item in task.failed]
    return tuple(sorted(rows, key=lambda row: (row.name, row.sha256)))


def _changed(comparison: Comparison | None) -> Iterator[tuple[str, tuple[Change, tuple[ItemChange, ...]]]]:
    for kind, items in (changed_items(comparison, PHOTOS) if comparison else {}).items():
        for changes in items:
            yield changes[0].id, (kind, changes)


def changed_items(comparison: Comparison, task: str) -> dict[Change, tuple[Changed, ...]]:
    """The items of a task that are newly broken, and those that are newly fixed."""
    return {Change.BROKEN: comparison.newly_broken(task), Change.FIXED: comparison.newly_fixed(task)}


def _differing(run: BenchmarkRun, comparison: Comparison | None) -> dict[str, int]:
    """By photo of both runs: in how much the predictions differ."""
    was, now = (comparison.base.predictions(), run.predictions()) if comparison else ({}, {})
    both = [sha256 for sha256 in now if sha256 in was]
    return dict(zip(both, differences([was[each] for each in both], [now[each] for each in both]), strict=True))


def _row(
    item: Item,
    kept: Mapping[str, Ledger],
    photos: PhotoSet,
    changed: Mapping[str, tuple[Change, tuple[ItemChange, ...]]],
    differing: Mapping[str, int],
    lost: Mapping[str, str],
) -> Row:
    detail, photo = item.photo or PhotoDetail(""), photos.photos.get(item.id)
    mistakes = {kind: count for kind, count in _mistakes(item, kept) if count}
    change, changes = changed.get(item.id, (None, ()))
    return Row(
        sha256=item.id,
        name=item.name,
        errors=sum(_errors(item, kept)),
        mistakes=mistakes | ({LOST: len(lost)} if lost else {}),
        causes=frozenset([*_causes(item, detail), *(f"runner: {cause.replace('_', ' ')}" for cause in lost.values())]),
        tags=frozenset(tags_of(photo)) if photo else frozenset(),
        people=frozenset(people_in(photo)) if photo else frozenset(),
        numbers=frozenset((*detail.expected, *detail.read)),
        scores=tuple(box.score for box in _boxes(detail.prediction) if box.score is not None),
        change=change,
        changes=changes,
        worse=sum(each.lost + each.invented for each in changes),
        differs=differing.get(item.id, 0),
    )


def _errors(item: Item, kept: Mapping[str, Ledger]) -> Iterator[float]:
    """What every scorecard missed and invented, as the report ranks its worst photos."""
    for card, ledger in kept.items():
        if (found := outcome(item, card, ledger)) is not None:
            yield found.missed + found.invented


def _mistakes(item: Item, kept: Mapping[str, Ledger]) -> Iterator[tuple[str, float]]:
    for card, ledger in kept.items():
        if (found := outcome(item, card, ledger)) is not None:
            yield f"missed_{plural(ledger.noun)}", found.missed
            yield f"false_{plural(ledger.noun)}", found.invented
    yield MISREAD, item.counts.get("bib_errors", {}).get("wrong_text", 0)
    yield PARTIAL, item.counts.get("reading", {}).get(Cause.PARTIAL, 0)


def _causes(item: Item, detail: PhotoDetail) -> Iterator[str]:
    for missed in detail.missed:
        by = f"dropped by {missed.rule}" if missed.cause is Cause.DROPPED and missed.rule else None
        yield f"number: {by or missed.cause.replace('_', ' ')}"
    links = item.counts.get("link", {})
    yield from (f"link: {cause.replace('_', ' ')}" for cause in LINK_CAUSES if links.get(cause))


def _boxes(prediction: PhotoPrediction) -> tuple[BibBox | FaceBox, ...]:
    return (*prediction.bibs, *prediction.faces)


#: From this overlap on, two predictions mean the same thing.
_SAME_PLACE = 0.5


def differences(before: Sequence[PhotoPrediction], after: Sequence[PhotoPrediction]) -> list[int]:
    """Photo by photo: how many bibs, faces and links only one of two predictions has, and how many bibs are read
    otherwise. The labels have no say."""
    bibs = _partners([each.bibs for each in before], [each.bibs for each in after])
    faces = _partners([each.faces for each in before], [each.faces for each in after])
    return [
        _alone(was.bibs, now.bibs, bib)
        + _alone(was.faces, now.faces, face)
        + sum(_number(now.bibs[row]) != _number(was.bibs[partner]) for row, partner in bib.items())
        + len(
            {(link.bib_index, link.face_index) for link in was.links} ^ {_joined(link, bib, face) for link in now.links}
        )
        for was, now, bib, face in zip(before, after, bibs, faces, strict=True)
    ]


def _partners(before: Sequence[Sequence[Box]], after: Sequence[Sequence[Box]]) -> Iterator[dict[int, int]]:
    """Photo by photo: which box of the later prediction is which of the earlier one, as positions in the photo."""
    was, now = Boxes.of(before), Boxes.of(after)
    partner = match_greedy(now, was, _SAME_PLACE).target_of.tolist()
    for photo in range(len(after)):
        first, other = int(now.offsets[photo]), int(was.offsets[photo])
        rows = range(first, int(now.offsets[photo + 1]))
        yield {row - first: partner[row] - other for row in rows if partner[row] != UNMATCHED}


def _alone(was: Sequence[Box], now: Sequence[Box], partners: Mapping[int, int]) -> int:
    return len(was) + len(now) - 2 * len(partners)


def _joined(link: BibFaceLink, bibs: Mapping[int, int], faces: Mapping[int, int]) -> tuple[int, int]:
    """The ends of a later link as positions in the earlier prediction; a box that it did not have is below zero."""
    return bibs.get(link.bib_index, -1 - link.bib_index), faces.get(link.face_index, -1 - link.face_index)


def _number(bib: BibBox) -> str:
    return (bib.number or "").strip()
