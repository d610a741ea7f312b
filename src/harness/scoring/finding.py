"""Find scorecard: of the photos that a runner wants, how many come back, and how much of what comes back is theirs?

A runner wants every photo that they are labelled in. Each pair of a runner and a wanted photo is asked for:

- by number: it comes back where the pipeline read a number of theirs. A runner without a number asks nothing.
- by selfie: it counts as the share of the runner's queries that return it, but for queries cut from that very photo.
  Where there is no other query, nothing is asked. A runner of whose pictures none became a query has missed it.
- by both: the same for selfie and number together (`returning.py`); by the number alone where there is no query.

Precision is the share of what comes back that is wanted, by the same shares. What comes back and may be right counts
neither way and is counted as unknown: unknown faces in photos that do not say who is in them, and numbers read in
photos whose bibs nobody labelled.

Each wanted photo that does not come back by both has one cause, the first that holds of `CAUSES`, and counts for it as
the share by which it is missed; the causes add up to what is missed.

- nobody readable: neither a face nor a bib that has to be found or read is labelled there.
- face not found, not enrolled, below threshold: their face, or any face where only the photo says that they are there.
  A runner of whose pictures none became a query misses everything because of those.
- bib not found, misread, not linked: their bib, where no face of theirs was to be found, or none to search with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from harness.scoring.asking import WAYS, Asking
from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import (
    Column,
    Counted,
    CountRow,
    Declaration,
    Gating,
    ItemCounts,
    Note,
    Rate,
    Scorecard,
    Section,
)
from harness.scoring.people import UNKNOWN, Evidence, Tallied, counts_by_person, sum_by
from harness.scoring.searching import Operating, Search
from harness.scoring.slices import Slice
from harness.scoring.strangers import Stranger, Strangers
from harness.scoring.uncertainty import AVERAGE, rate_intervals

#: Why a photo does not come back, in the order in which causes are looked for, and what each means.
MEANINGS = {
    "nobody_readable": "neither their face nor their number can be made out, so that nobody could find it",
    "face_not_found": "the detector did not find their face, there or in the picture they searched with",
    "not_enrolled": "their face is too small to compare (identity.least_height)",
    "below_threshold": "their face was compared, and is not similar enough",
    "bib_not_found": "only their bib shows, and it was not found",
    "misread": "only their bib shows, and its number was read wrongly",
    "not_linked": "their number was read, and nothing led from their face to it",
}
CAUSES = tuple(MEANINGS)
#: Heights of faces in pixels: from, below, and what such faces are called.
HEIGHTS = (
    (0.0, 24.0, "face_0_24"),
    (24.0, 40.0, "face_24_40"),
    (40.0, 80.0, "face_40_80"),
    (80.0, np.inf, "face_80_up"),
)
_GATES: Mapping[str, Gating] = {"by_selfie": "judged", "by_both": "judged", "by_both_precision": "judged"}


def _rates() -> dict[str, Rate]:
    rates = {}
    for way in WAYS:
        name, headline = f"by_{way}", "" if way == "number" else f"found by {way}"
        more = {"label": f"by {way}", "headline": headline, "gate": _GATES.get(name, "shown")}
        rates[name] = Rate.of(f"find/{name}", f"{way}_found", f"{way}_asked", **more)
    for way in WAYS:
        name = f"by_{way}_precision"
        rates[name] = Rate.share(
            f"find/{name}", f"{way}_found", f"{way}_wrong", label=f"by {way}: theirs", gate=_GATES.get(name, "shown")
        )
    return rates


@dataclass(frozen=True)
class FindScorecard(Scorecard):
    """Wanted photos by how they were asked for and came back, what else came back, and why others did not."""

    runners: int = 0
    wanted: int = 0
    number_asked: int = 0
    number_found: int = 0
    number_wrong: int = 0
    number_unknown: int = 0
    selfie_asked: int = 0
    selfie_found: float = 0.0
    selfie_wrong: float = 0.0
    selfie_unknown: float = 0.0
    both_asked: int = 0
    both_found: float = 0.0
    both_wrong: float = 0.0
    both_unknown: float = 0.0
    nobody_readable: float = 0.0
    face_not_found: float = 0.0
    not_enrolled: float = 0.0
    below_threshold: float = 0.0
    bib_not_found: float = 0.0
    misread: float = 0.0
    not_linked: float = 0.0

    DECLARED: ClassVar = Declaration(
        name="find",
        rates=_rates(),
        counts={
            "runners": "count/find_runners",
            "wanted": "count/find_wanted",
            **{f"{way}_{what}": f"count/find_{way}_{what}" for way in WAYS for what in ("asked", "wrong", "unknown")},
            **{cause: f"count/find_missed_{cause}" for cause in CAUSES},
        },
        sections=(
            Section(
                "Runners find their photos",
                tuple(rate.metric for rate in _rates().values()),
                (Note("runners", "runners", always=True), Note("wanted", "wanted photos", always=True)),
                (
                    CountRow("missed by both", CAUSES, ", ".join(f"{{{c}}} {c.replace('_', ' ')}" for c in CAUSES)),
                    CountRow("unknown", ("both_unknown",), "came back by both and may be theirs", always=False),
                ),
            ),
        ),
    )

    @property
    def causes(self) -> dict[str, float]:
        """Why photos did not come back by both, in words; they add up to those that are missed."""
        return {cause.replace("_", " "): getattr(self, cause) for cause in CAUSES}


@dataclass(frozen=True, slots=True)
class Missed:
    """A wanted photo that does not come back by both for a `share` of the queries, why, and its best score."""

    person: int
    photo: int
    share: float
    cause: str
    score: float | None


#: In place of a cause: the photo comes back, or nothing asks for it.
NO_CAUSE = -1


@dataclass(frozen=True)
class Wanted:
    """One row for each runner and photo that they want, by person and photo: the share of their searches by which it
    comes back by each way, NaN where nothing asks for it; its best score by both, -inf where no face was compared; and
    why it does not always come back by both, as a place in `CAUSES`."""

    person: Ints
    photo: Ints
    selfie: Floats
    number: Floats
    both: Floats
    score: Floats
    cause: Ints

    def __len__(self) -> int:
        return len(self.person)

    @cached_property
    def missed(self) -> tuple[Missed, ...]:
        """Those that do not always come back."""
        rows = np.flatnonzero(self.both < 1)
        columns = (self.person, self.photo, 1 - self.both, self.cause, self.score)
        return tuple(
            Missed(person, photo, share, CAUSES[cause], score if score > -np.inf else None)
            for person, photo, share, cause, score in zip(*(each[rows].tolist() for each in columns), strict=True)
        )


@dataclass(frozen=True)
class FindTally(Tallied):
    """The scorecard, and what it counts pair by pair: every photo that is wanted, and those of strangers that came
    back; `thresholds` has what scores have to reach for each person."""

    wanted: Wanted = field(kw_only=True)
    others: Strangers = field(kw_only=True)
    thresholds: Floats = field(kw_only=True)

    @property
    def missed(self) -> tuple[Missed, ...]:
        """The wanted photos that do not always come back, by person and photo."""
        return self.wanted.missed

    @property
    def strangers(self) -> tuple[Stranger, ...]:
        """Strangers that came back, the most similar first, and not too many."""
        return self.others.most_similar


def tally_finding(search: Search, operating: Operating) -> FindTally:
    """Ask for every photo that a runner wants, by number, by selfie and by both."""
    asking = Asking(search, operating.by_person(search.evidence.folds))
    asking.ask()
    shares = asking.shares()
    causes = _causes(search, asking.by_face)
    return FindTally(
        counts=_counts(search.evidence, asking, shares, causes),
        slices=tuple(each for way in ("selfie", "both") for each in _slices(search.evidence, way, shares[way])),
        wanted=_wanted(search.evidence, asking, shares, causes),
        others=asking.strangers.together(),
        thresholds=asking.threshold,
    )


def _counts(evidence: Evidence, asking: Asking, shares: Mapping[str, Floats], causes: Ints) -> ItemCounts:
    person, people = evidence.appearances.person, len(evidence.people)

    def summed(values: Floats | Bools) -> Floats:
        return sum_by(person, np.where(np.isnan(values), 0.0, values), people)

    columns: dict[str, Column] = {**asking.not_wanted, "wanted": summed(asking.runner[person])}
    columns["runners"] = columns["wanted"] > 0
    for way in WAYS:
        columns |= {f"{way}_asked": summed(~np.isnan(shares[way])), f"{way}_found": summed(shares[way])}
    for number, cause in enumerate(CAUSES):
        columns[cause] = summed(np.where(causes == number, 1 - shares["both"], 0.0))
    return counts_by_person(FindScorecard, columns, people)


def _causes(search: Search, by_face: Bools) -> Ints:
    """Why each appearance would be missed, as a place in `CAUSES`. `by_face`: it was searched for by a face."""
    evidence = search.evidence
    seen, queries = evidence.appearances, evidence.queries
    found, enrolled, searched = (_there(search, cells) for cells in _faces(search))
    no_query = (np.bincount(queries.person, minlength=len(evidence.people)) == 0)[seen.person]
    not_found, not_enrolled = (counts[seen.person] > 0 for counts in (queries.not_found, queries.not_enrolled))
    by_eye = seen.face_labeled | seen.photo_alone
    holds = {
        "nobody_readable": ~by_eye & ~seen.bib_labeled,
        "face_not_found": (no_query & not_found) | (by_eye & ~found & ~(no_query & not_enrolled)),
        "not_enrolled": (no_query & not_enrolled) | (by_eye & ~enrolled),
        "below_threshold": by_eye & searched & by_face,
        "bib_not_found": seen.bib_labeled & ~seen.bib_found,
        "misread": seen.bib_labeled & ~seen.bib_read,
        "not_linked": np.ones(len(seen), dtype=bool),
    }
    first: Ints = np.argmax(np.stack([holds[cause] for cause in CAUSES]), axis=0)
    return first


def _faces(search: Search) -> tuple[Bools, Bools, Bools]:
    faces = search.evidence.faces
    return np.ones(len(faces), dtype=bool), faces.enrolled, search.searched


def _there(search: Search, chosen: Bools) -> Bools:
    """Whether the found face of each appearance is among those chosen; without a box, whether one of the photo is that
    may be theirs."""
    seen, faces = search.evidence.appearances, search.evidence.faces
    theirs = faces.photo[chosen & (faces.person == UNKNOWN)]
    any_face = np.bincount(theirs, minlength=len(search.evidence.photos))[seen.photo] > 0
    own = np.append(chosen, False)[seen.face]
    return np.where(seen.face_labeled, own, any_face)


def _wanted(evidence: Evidence, asking: Asking, shares: Mapping[str, Floats], causes: Ints) -> Wanted:
    """What became of each appearance of a runner."""
    seen = evidence.appearances
    order = np.lexsort((seen.photo, seen.person))
    rows = order[asking.runner[seen.person[order]]]
    return Wanted(
        person=seen.person[rows],
        photo=seen.photo[rows],
        **{way: shares[way][rows] for way in WAYS},
        score=asking.best[rows],
        cause=np.where(shares["both"][rows] < 1, causes[rows], NO_CAUSE),
    )


def _slices(evidence: Evidence, way: str, shares: Floats) -> tuple[Slice, ...]:
    """The share that comes back by the height of the labelled face, and by each tag, person by person."""
    seen, people = evidence.appearances, len(evidence.people)
    slices = {tag: seen.face_labeled & (seen.height >= least) & (seen.height < below) for least, below, tag in HEIGHTS}
    slices |= {tag: np.array([tag in own for own in seen.tags]) for tag in sorted(frozenset().union(*seen.tags))}
    sides = {}
    for tag, inside in slices.items():
        here = ~np.isnan(shares) & inside
        if here.any():
            person = seen.person[here]
            sides[tag] = sum_by(person, shares[here], people), sum_by(person, here[here], people)
    spread = rate_intervals(sides, evidence.groups, dict.fromkeys(sides, AVERAGE))
    return tuple(
        Slice(way, tag, float(above.sum()), int(below.sum()), spread[tag]) for tag, (above, below) in sides.items()
    )


def headline(card: Counted) -> str:
    """What a run comes to for its runners, in one sentence. A share of fewer photos than are wanted says of how many,
    and a way that nobody asks by is named."""
    runners, wanted = (int(card.counts.get(name, 0)) for name in ("runners", "wanted"))
    if not wanted:
        return "No runner is labelled in any photo, so that no photo is wanted."
    whose = f"{runners} runner wants" if runners == 1 else f"{runners} runners want"
    subject = f"Of the {wanted} photo{'' if wanted == 1 else 's'} that {whose}"
    told = {way: _told(card, way, wanted) for way in ("selfie", "number", "both")}
    known = [f"{share} by {way}" for way, share in told.items() if share]
    if not known:
        return f"{subject}, none is asked for."
    known[0] = known[0].replace(" by ", " come back by ")
    silent = [f"by {way}" for way, share in told.items() if not share]
    sentence = f"{subject}, {', '.join(known)}" + (f", and nobody asks {' or '.join(silent)}" if silent else "")
    theirs = card.declared.rates["by_both_precision"]
    if card.denominator(theirs):
        sentence += f"; {percent(card.value(theirs))} of what comes back by both is theirs"
    return f"{sentence}."


def _told(card: Counted, way: str, wanted: int) -> str:
    """The share that comes back by a way, and of how many where it is not of all; "" where nobody asks."""
    rate = card.declared.rates[f"by_{way}"]
    asked = int(card.denominator(rate))
    if not asked:
        return ""
    return percent(card.value(rate)) + ("" if asked == wanted else f" of {asked}")


def percent(value: float) -> str:
    """Whole percents; what is not quite all, or not quite nothing, never reads as if it were."""
    if 0 < value < 0.005:
        return f"{100 * value:.1g} %"
    return f"{min(100 * value, 99.9):.1f} %" if 0.995 <= value < 1 else f"{100 * value:.0f} %"
