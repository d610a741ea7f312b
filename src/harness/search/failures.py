"""Where a trial fails: the photos with errors that an objective counts, each mistake with its place and its cause.

The scorecard of the objective says what an error is: `number/f1` is after numbers, and a photo on which a face alone
was missed is no failure of it. Only photos of the search are there to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.errors import ConfigError, ConflictError
from harness.exploring.photo_sets import people_in, tags_of
from harness.references.sets import ReferencePhoto
from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.runs.comparison import outcome
from harness.runs.items import Item
from harness.scoring.bibs import SCORED
from harness.scoring.cards import Counted, Ledger
from harness.scoring.detection import Thresholds
from harness.scoring.links import judge_links, links_labeled
from harness.scoring.numbers import expected_numbers
from harness.search.views import View
from harness.tasks.photos.mistakes import mistakes
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import Box, DroppedText, PhotoPrediction

#: Mistakes of one photo that are told and drawn one by one at most.
MOST_MISTAKES = 4
#: The scorecards that look at bibs alone, and at faces alone.
_BIBS, _FACES = frozenset({"number", "bib"}), frozenset({"face"})


class MistakeView(View):
    """One mistake: its kind, what is wrong, why where that is known, and where: x, y, w, h as shares of the photo."""

    kind: str
    words: str
    why: str
    box: list[float]


class FailureView(View):
    """A photo with errors that the objective counts. `missed` has each missed number with its cause; `trace` what the
    reader saw and dropped, and by which rule; `baseline` what the baseline did on the same photo."""

    photo: str
    sha256: str
    errors: float
    counts: str
    expected: list[str]
    read: list[str]
    mistakes: list[MistakeView]
    missed: list[str]
    causes: list[str]
    trace: list[str]
    tags: list[str]
    people: list[str]
    baseline: dict[str, object]
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Errors:
    """What an objective counts as errors: by a scorecard of photos, with its ledger of what was found, invented and
    missed."""

    metric: str
    card: str
    ledger: Ledger
    kinds: tuple[str, ...]

    @classmethod
    def of(cls, run: BenchmarkRun, metric: str) -> Errors:
        """Those of a metric. Raises ConfigError where it does not count errors on photos."""
        task = run.tasks.get(PHOTOS)
        cards: Mapping[str, Counted] = task.cards if task else {}
        for name, card in cards.items():
            if metric in card.declared.metrics and (ledger := card.declared.ledger):
                return cls(metric, name, ledger, card.declared.mistakes)
        counted = [each for card in cards.values() if card.declared.ledger for each in card.declared.metrics]
        raise ConfigError(f"{metric}: counts no errors on photos one by one; these do: {', '.join(counted)}")

    def on(self, item: Item) -> float:
        """How many errors an item has."""
        counted = outcome(item, self.card, self.ledger)
        return float(counted.missed + counted.invented) if counted else 0.0

    def about(self, photo: ReferencePhoto, found: PhotoPrediction) -> tuple[ReferencePhoto, PhotoPrediction]:
        """Labels and prediction of a photo without what the scorecard does not look at."""
        if self.card in _BIBS:
            return replace(photo, faces=(), face_labeled=False, links=None), replace(found, faces=(), links=())
        if self.card in _FACES:
            return replace(photo, bibs=(), bib_labeled=False, links=None), replace(found, bibs=(), links=())
        return photo, found

    def words(self, item: Item) -> str:
        """The same in words."""
        counted = outcome(item, self.card, self.ledger)
        return f"{counted.missed:g} missed, {counted.invented:g} invented" if counted else "not scored"


@dataclass(frozen=True)
class Wish:
    """Which failures are asked for: by the cause of a missed number, a tag, a person in the photo."""

    cause: str = ""
    tag: str = ""
    person: str = ""

    def fits(self, item: Item, photo: ReferencePhoto) -> bool:
        """Whether a photo is one of them."""
        causes = {str(missed.cause) for missed in item.photo.missed} if item.photo else set()
        return (
            (not self.cause or self.cause in causes)
            and (not self.tag or self.tag in set(tags_of(photo)))
            and (not self.person or self.person in set(people_in(photo)))
        )


def failing(
    run: BenchmarkRun, errors: Errors, photos: Mapping[str, ReferencePhoto], wish: Wish | None = None
) -> list[Item]:
    """The photos of a run with errors that count, worst first, then by name."""
    wrong = [item for item in run.photos if errors.on(item) and (wish or Wish()).fits(item, photos[item.id])]
    return sorted(wrong, key=lambda item: (-errors.on(item), item.name, item.id))


def page(items: Sequence[Item], cursor: str, limit: int) -> tuple[Sequence[Item], str]:
    """Some items after a cursor, and the cursor of those that follow; "" where there are no more."""
    start = 0
    if cursor:
        places = [place for place, item in enumerate(items) if item.id.startswith(cursor)]
        if len(places) != 1:
            raise ConflictError(f"cursor {cursor!r}: not one of this list; begin again without it")
        start = places[0] + 1
    shown = items[start : start + limit]
    return shown, shown[-1].id[:16] if shown and start + limit < len(items) else ""


def view_of(
    item: Item, photo: ReferencePhoto, errors: Errors, thresholds: Thresholds, baseline: Item | None
) -> FailureView:
    """A failure in words."""
    detail = item.photo
    found = detail.prediction if detail else PhotoPrediction()
    return FailureView(
        photo=item.name,
        sha256=item.id,
        errors=errors.on(item),
        counts=errors.words(item),
        expected=list(detail.expected) if detail else [],
        read=list(detail.read) if detail else [],
        mistakes=list(mistakes_of(item, photo, errors, thresholds))[:MOST_MISTAKES],
        missed=missed_words(item),
        causes=sorted({str(missed.cause) for missed in detail.missed}) if detail else [],
        trace=[_dropped(text) for text in found.dropped],
        tags=sorted(set(tags_of(photo))),
        people=sorted(set(people_in(photo))),
        baseline=_beside(baseline, errors),
    )


def _beside(item: Item | None, errors: Errors) -> dict[str, object]:
    if item is None:
        return {}
    read = list(item.photo.read) if item.photo else []
    return {"errors": errors.on(item), "counts": errors.words(item), "read": read, "missed": missed_words(item)}


def missed_words(item: Item) -> list[str]:
    """Each missed number with its cause."""
    return [f"{missed.number}: {missed.words()}" for missed in item.photo.missed] if item.photo else []


def _dropped(text: DroppedText) -> str:
    by = f"dropped by {text.rule}" if text.rule else "dropped"
    if text.value is not None and text.limit is not None:
        by += f" {text.value:.3g} {'<' if text.value < text.limit else '>'} {text.limit:.3g}"
    return f'"{text.text}" at {_place(text)}: {by}'


def _place(box: Box) -> str:
    return ", ".join(f"{value:.3f}" for value in box.xywh)


def mistakes_of(item: Item, photo: ReferencePhoto, errors: Errors, thresholds: Thresholds) -> Iterator[MistakeView]:
    """What is wrong on a photo, as the scorecard of the objective counts it."""
    if item.photo is None:
        return
    if errors.card == "number":
        yield from _numbers(item, photo)
    elif errors.card == "link":
        yield from _links(item, photo, thresholds)
    seen = EvaluatedPhoto(photo, item.photo.prediction, {}, {}, {}, {})
    for each in mistakes([seen], thresholds, {item.id: item.photo.missed}):
        if each.kind in errors.kinds:
            yield _mistake(each.kind, each.words, each.why, each.box)


def _numbers(item: Item, photo: ReferencePhoto) -> Iterator[MistakeView]:
    assert item.photo is not None
    for missed in item.photo.missed:
        for box in photo.bibs:
            if box.scope in SCORED and (box.number or "").strip() == missed.number:
                yield _mistake("missed_number", f"missed {missed.number}", missed.words(), box)
    expected = expected_numbers(photo.labels)
    for box in item.photo.prediction.bibs:
        number = (box.number or "").strip()
        if number in item.photo.read and number not in expected:
            sure = "" if box.score is None else f", score {box.score:.2f}"
            yield _mistake("false_number", f"read {number}, which nobody wears{sure}", "", box)


def _links(item: Item, photo: ReferencePhoto, thresholds: Thresholds) -> Iterator[MistakeView]:
    assert item.photo is not None
    labels, found = photo.labels, item.photo.prediction
    if not links_labeled(labels):
        return
    judged = judge_links([labels], [found], thresholds.bib_iou, thresholds.face_iou)
    for place, link in enumerate(found.links):
        if not judged.right[place]:
            ends = found.bibs[link.bib_index], found.faces[link.face_index]
            yield _mistake(
                "false_link", f"linked {ends[0].number or 'a bib'} to a face that is not its wearer's", "", *ends
            )
    for place, link in enumerate(sorted(set(labels.links or ()))):
        cause = next((cause.replace("_", " ") for cause, chosen in judged.causes.items() if chosen[place]), "")
        if cause:
            pair = (labels.bibs or ())[link.bib_index], (labels.faces or ())[link.face_index]
            yield _mistake("missed_link", f"missed the link of {pair[0].number or 'a bib'}", cause, *pair)


def _mistake(kind: str, words: str, why: str, *boxes: Box) -> MistakeView:
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.x + box.w for box in boxes), max(box.y + box.h for box in boxes)
    return MistakeView(kind=kind, words=words, why=why, box=[left, top, right - left, bottom - top])
