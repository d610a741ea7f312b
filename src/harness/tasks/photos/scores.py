"""From predictions to scorecards. A new scorecard of photos is one file in `scoring/` and one line in `SCORECARDS`.

Scorecards from outside are functions of the same form, which `scoring.cards` names by their dotted names.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from harness.base.errors import ConfigError
from harness.base.objects import import_named
from harness.references.sets import ReferencePhoto
from harness.scoring import (
    Behaviour,
    Counted,
    Declaration,
    Interval,
    ItemCounts,
    MissedNumber,
    MissScorecard,
    Slice,
    bib_behaviour,
    face_behaviour,
    intervals,
    missed_numbers,
    number_status,
    slice_bibs,
    slice_faces,
    tally_bib_errors,
    tally_bibs,
    tally_face_errors,
    tally_faces,
    tally_links,
    tally_misses,
    tally_numbers,
)
from harness.scoring.detection import Thresholds
from harness.scoring.speed import SPEED
from harness.scoring.uncertainty import Jackknifed
from harness.tasks.photos.costs import Costs
from harness.tasks.photos.precision import precisions
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.types import PhotoLabels, PhotoPrediction

Labels = Sequence[PhotoLabels]
Predictions = Sequence[PhotoPrediction]
ScorePhotos = Callable[[Labels, Predictions, Thresholds], ItemCounts]

#: The scorecards of photos, in the order in which they are shown.
SCORECARDS: tuple[ScorePhotos, ...] = (
    lambda labels, found, _: tally_numbers(labels, found).items(),
    lambda labels, found, _: tally_misses(labels, found).items(),
    lambda labels, found, at: tally_bibs(labels, found, at.bib_iou).items(),
    lambda labels, found, at: tally_faces(labels, found, at.face_iou).items(),
    lambda labels, found, at: tally_links(labels, found, at.bib_iou, at.face_iou).items(),
    lambda labels, found, at: tally_bib_errors(labels, found, at.bib_iou).items(),
    lambda labels, found, at: tally_face_errors(labels, found, at.face_iou).items(),
)


#: What a program may or may not predict. Without it, these counts of these scorecards are unknown.
BIBS, FACES, LINKS, NUMBERS = "bibs", "faces", "links", "numbers"
_ABOUT_NUMBERS = {"bib": ("ocr_correct", "ocr_total", "ocr_partial"), "bib_errors": ("wrong_text",)}
_ABOUT = {
    BIBS: ("number", "reading", "bib", "bib_errors", "link"),
    FACES: ("face", "face_errors", "link"),
    LINKS: ("link",),
    NUMBERS: ("number", "reading"),
}


def card_keys(cards: Iterable[str], stages: Mapping[str, str]) -> dict[str, str]:
    """The stages that each scorecard rests on, in one text. One from outside may look at everything that is predicted
    for photos."""
    seen = {what: key for what, key in stages.items() if what in _ABOUT}
    about = {name: [key for what, key in seen.items() if name in _ABOUT[what]] for name in cards}
    return {name: " ".join(keys or seen.values()) for name, keys in about.items()}


#: Thresholds for when there is nothing to score.
_NO_OVERLAP = Thresholds(1.0, 1.0)


@dataclass(frozen=True)
class PhotoScoring(Thresholds):
    """How photos are scored: the thresholds, and scorecards from outside by the dotted names of their functions."""

    cards: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [score((), (), self).declared.name for score in SCORECARDS] if self.cards else []
        for card, score in zip(self.cards, self.own_scorecards, strict=True):
            name = _declared_by(card, score, self).name
            if name in (*names, SPEED.name):
                raise ConfigError(f"scoring.cards: {card}: there is a scorecard called {name} already")
            names.append(name)

    @cached_property
    def own_scorecards(self) -> tuple[ScorePhotos, ...]:
        """The functions that `cards` names."""
        return tuple(_imported(card) for card in self.cards)

    @property
    def named_modules(self) -> frozenset[str]:
        """The modules of those functions, for the key of a run: that which is named, and that which it is made in."""
        named = {name for card in self.cards for name in _prefixes(card) if name in sys.modules}
        return frozenset(named | {score.__module__ for score in self.own_scorecards if hasattr(score, "__module__")})

    def thresholds(self) -> dict[str, float]:
        """The thresholds alone."""
        return {"bib_iou": self.bib_iou, "face_iou": self.face_iou}


def _prefixes(dotted: str) -> Iterator[str]:
    while "." in dotted:
        dotted = dotted.rpartition(".")[0]
        yield dotted


def _imported(card: str) -> ScorePhotos:
    found = import_named(card, "scoring.cards")
    if not callable(found) or isinstance(found, type):
        raise ConfigError(f"scoring.cards: {card} is no function; {_EXPECTED}")
    score: ScorePhotos = found
    return score


_EXPECTED = "expected one that takes labels, predictions and thresholds and returns ItemCounts"


def _declared_by(card: str, score: ScorePhotos, thresholds: Thresholds) -> Declaration:
    """What a scorecard from outside declares, which it says when it is asked about no photos."""
    try:
        counts = score((), (), thresholds)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigError(f"scoring.cards: {card} raised {told} for no photos; {_EXPECTED}") from error
    if not isinstance(counts, ItemCounts):
        raise ConfigError(f"scoring.cards: {card} returned {type(counts).__name__}; {_EXPECTED}")
    return counts.declared


def scorecards(thresholds: Thresholds) -> tuple[ScorePhotos, ...]:
    """The scorecards of photos, ours first."""
    own = thresholds.own_scorecards if isinstance(thresholds, PhotoScoring) else ()
    return (*SCORECARDS, *own)


@dataclass(frozen=True)
class Scores:
    """The scorecards of photos item by item, recall by tag, and how bibs and faces depend on their scores. `absent` is
    what the predictions do not speak about, `groups` the group of each photo, `costs` what they took. `missed` has the
    numbers that were missed on a photo, by its hash; `traced` says that the reader tells what it dropped."""

    cards: Mapping[str, ItemCounts]
    slices: tuple[Slice, ...]
    behaviours: Mapping[str, Behaviour]
    figures: Mapping[str, float]
    sureness: Mapping[str, Jackknifed] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    groups: tuple[str, ...] = ()
    costs: Costs = field(default_factory=Costs)
    missed: Mapping[str, tuple[MissedNumber, ...]] = field(default_factory=dict)
    traced: bool = False

    def status(self, photo: EvaluatedPhoto) -> str:
        """PASS, PARTIAL or MISS for the numbers of a photo; n/a where no numbers are predicted."""
        unread = self.absent & {BIBS, NUMBERS}
        return "n/a" if unread else str(number_status(photo.labels, photo.prediction))

    def counted(self) -> dict[str, Counted]:
        """The scorecards over all photos, each with those of the figures that it declares."""
        return {name: card.total(_declared_of(card.declared, self.figures)) for name, card in self.cards.items()} | {
            SPEED.name: Counted(SPEED, {}, _declared_of(SPEED, self.figures))
        }

    def intervals(self) -> dict[str, Interval]:
        """An interval for each rate, and for each figure that has one, by metric name."""
        rates = {metric: each for card in self.cards.values() for metric, each in intervals(card, self.groups).items()}
        return rates | {metric: each.interval for metric, each in self.sureness.items()}


@lru_cache
def _scorecards_named(thresholds: Thresholds, names: frozenset[str]) -> tuple[ScorePhotos, ...]:
    return tuple(each for each in scorecards(thresholds) if each((), (), thresholds).declared.name in names)


def declared(thresholds: Thresholds = _NO_OVERLAP) -> tuple[Declaration, ...]:
    """What the scorecards of photos declare."""
    return (*(score((), (), thresholds).declared for score in scorecards(thresholds)), SPEED)


def score_cards(
    photos: Sequence[EvaluatedPhoto],
    thresholds: Thresholds,
    traced: bool = False,
    names: frozenset[str] | None = None,
) -> dict[str, ItemCounts]:
    """Every scorecard item by item, by its name, or those of these `names`. `traced` says that the reader of bibs tells
    what it dropped."""
    labels, found = [photo.labels for photo in photos], [photo.prediction for photo in photos]
    asked = scorecards(thresholds) if names is None else _scorecards_named(thresholds, names)
    cards = {card.declared.name: card for card in (score(labels, found, thresholds) for score in asked)}
    if traced and MissScorecard.DECLARED.name in cards:
        cards[MissScorecard.DECLARED.name] = tally_misses(labels, found, traced).items()
    return cards


def judged(photo: ReferencePhoto, absent: frozenset[str]) -> ReferencePhoto:
    """A photo with only those labels that the predictions speak about: by the others nobody is judged."""
    if NUMBERS in absent:
        photo = replace(photo, bibs=tuple(replace(box, number=None) for box in photo.bibs))
    return replace(
        photo,
        bib_labeled=photo.bib_labeled and BIBS not in absent,
        face_labeled=photo.face_labeled and FACES not in absent,
        links=None if LINKS in absent else photo.links,
    )


def _without(cards: Mapping[str, ItemCounts], absent: frozenset[str]) -> dict[str, ItemCounts]:
    """The scorecards without the counts that the predictions do not speak about."""
    whole = {name for what in absent for name in _ABOUT[what]}
    known = {name: card.without(card.columns) if name in whole else card for name, card in cards.items()}
    if NUMBERS in absent:
        known |= {name: known[name].without(counts) for name, counts in _ABOUT_NUMBERS.items()}
    return known


def score(
    photos: Sequence[EvaluatedPhoto],
    thresholds: Thresholds,
    absent: frozenset[str] = frozenset(),
    traced: bool = False,
) -> Scores:
    """All that is scored on photos, whose labels are those that are `judged`; what is `absent` is n/a."""
    costs = Costs()
    costs.add(photos)
    labels, found = [photo.labels for photo in photos], [photo.prediction for photo in photos]
    groups = tuple(photo.photo.group for photo in photos)
    missed = {photo.sha256: missed_numbers(photo.labels, photo.prediction, traced) for photo in photos}
    values, sureness = precisions(photos)
    return Scores(
        cards=_without(score_cards(photos, thresholds, traced), absent),
        slices=(
            *slice_bibs(labels, found, thresholds.bib_iou, groups),
            *slice_faces(labels, found, thresholds.face_iou, groups),
        ),
        behaviours={
            "bib": bib_behaviour(labels, found, thresholds.bib_iou),
            "face": face_behaviour(labels, found, thresholds.face_iou),
        },
        figures=values | costs.speed,
        sureness=sureness,
        absent=absent,
        groups=groups,
        costs=costs,
        missed={sha256: numbers for sha256, numbers in missed.items() if numbers},
        traced=traced,
    )


def _declared_of(card: Declaration, figures: Mapping[str, float]) -> dict[str, float]:
    return {figure.metric: figures[figure.metric] for figure in card.figures if figure.metric in figures}
