"""Asking for the photos of runners by every way, and counting what comes back. `finding.py` has the rules.

Counts are kept for each appearance (how many of the person's queries return it) and, for what is not wanted, for each
person; nothing grows with the number of queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.returning import Returned, Returning
from harness.scoring.searching import Search
from harness.scoring.strangers import NO_FACE, NO_SCORE, Gathering, Strangers

WAYS = ("number", "selfie", "both")


@dataclass
class Asking:
    """What has come back so far. `threshold` has that of each person; `not_wanted` counts by person what came back and
    is wrong, or unknown."""

    search: Search
    threshold: Floats
    strangers: Gathering = field(default_factory=Gathering)

    def __post_init__(self) -> None:
        evidence = self.search.evidence
        people, appearances = len(evidence.people), len(evidence.appearances)
        self.returning = Returning(self.search)
        self.runner = np.array([person.runner for person in evidence.people], dtype=bool)
        self.numbered = np.array([bool(person.numbers) for person in evidence.people], dtype=bool)
        self.queries = np.bincount(evidence.queries.person, minlength=people)
        self.number, self.selfie, self.both = (np.zeros(appearances) for _ in WAYS)
        #: Whether each was searched for by a face, and the best score that it had.
        self.by_face, self.best = np.zeros(appearances, dtype=bool), np.full(appearances, -np.inf)
        self.not_wanted = {f"{way}_{what}": np.zeros(people) for way in WAYS for what in ("wrong", "unknown")}

    @cached_property
    def askers(self) -> Ints:
        """By how many queries each appearance is asked for: those of the person that are not cut from that photo."""
        seen, queries = self.search.evidence.appearances, self.search.evidence.queries
        photos = len(self.search.evidence.photos)
        cut = np.sort((queries.person * photos + queries.photo)[queries.photo >= 0])
        here = seen.person * photos + seen.photo
        return self.queries[seen.person] - (np.searchsorted(cut, here, "right") - np.searchsorted(cut, here, "left"))

    def shares(self) -> dict[str, Floats]:
        """For each appearance the share by which it comes back, by way; NaN where nothing asks for it."""
        person, queries = self.search.evidence.appearances.person, self.search.evidence.queries
        tried = ((queries.not_found + queries.not_enrolled > 0) & (self.queries == 0))[person]
        asked, numbered, divisor = self.askers > 0, self.numbered[person], np.maximum(self.askers, 1)
        shares = {
            "number": np.where(numbered, self.number, np.nan),
            "selfie": np.where(asked | tried, self.selfie / divisor, np.nan),
            "both": np.where(asked | tried | numbered, self.both / divisor, np.nan),
        }
        return {way: np.where(self.runner[person], each, np.nan) for way, each in shares.items()}

    def ask(self) -> None:
        """Ask by every query of a runner, by numbers, and by numbers alone for what no query asks for."""
        whose = self.search.evidence.queries.person
        for rows in self.search.blocks(self.runner[whose]):
            self._count_queries(self.returning.by_query(rows, self.threshold[whose[rows]]))
        for person in np.flatnonzero(self.runner & self.numbered).tolist():
            self._count_number(person)
        for people in self._asked_by_number_alone():
            self._count_alone(self.returning.by_number(people, self.threshold[people]))

    def _count_queries(self, found: Returned) -> None:
        threshold = self.threshold[found.look.person][:, None]
        row, seen = self.search.wanted(found.look)
        photo = self.search.evidence.appearances.photo[seen]
        back = found.scores >= threshold
        np.add.at(self.selfie, seen, back[row, photo])
        self._count_both(found, row, seen)
        share = 1 / self.queries[found.look.person]
        others = _others(back, row, photo)
        self._count_others("selfie", found, share, back & others, (found.any_scores >= threshold) & others)
        self._count_others_by_both(found, share, others)

    def _count_number(self, person: int) -> None:
        """What comes back by the numbers of a runner."""
        evidence = self.search.evidence
        reads, wanted = (
            self.returning.reads(evidence.people[person].numbers),
            np.zeros(len(evidence.photos), dtype=bool),
        )
        seen = self.search.seen(person)
        self.number[seen] = reads[evidence.appearances.photo[seen]]
        wanted[evidence.appearances.photo[seen]] = True
        said = evidence.photos.bibs_said
        self.not_wanted["number_wrong"][person] = np.count_nonzero(reads & ~wanted & said)
        self.not_wanted["number_unknown"][person] = np.count_nonzero(reads & ~wanted & ~said)

    def _asked_by_number_alone(self) -> Iterator[Ints]:
        """The runners with a number who have no query, or none for one of their photos; some at a time."""
        alone = self.queries == 0
        alone[self.search.evidence.appearances.person[self.askers == 0]] = True
        return self.search.in_blocks(np.flatnonzero(alone & self.runner & self.numbered))

    def _count_alone(self, found: Returned) -> None:
        row, seen = self.search.wanted(found.look)
        others = _others(found.reads, row, self.search.evidence.appearances.photo[seen])
        alone = self.askers[seen] == 0
        self._count_both(found, row[alone], seen[alone])
        # Where there are queries, what else comes back is counted by these.
        self._count_others_by_both(found, np.where(self.queries[found.look.person] == 0, 1.0, 0.0), others)

    def _count_both(self, found: Returned, row: Ints, seen: Ints) -> None:
        photo = self.search.evidence.appearances.photo[seen]
        back = (found.scores_by_both >= self.threshold[found.look.person][:, None]) | found.reads
        np.add.at(self.both, seen, back[row, photo])
        np.maximum.at(self.best, seen, found.scores_by_both[row, photo])
        np.logical_or.at(self.by_face, seen, found.by_face[row])

    def _count_others_by_both(self, found: Returned, share: Floats, others: Bools) -> None:
        threshold, said = self.threshold[found.look.person][:, None], self.search.evidence.photos.bibs_said
        by_face = found.scores_by_both >= threshold
        wrong = (by_face | (found.reads & said)) & others & (share > 0)[:, None]
        back = ((found.any_by_both >= threshold) | found.reads) & others
        self._count_others("both", found, share, wrong, back)
        self._remember(found, share, wrong, by_face)

    def _count_others(self, way: str, found: Returned, share: Floats, wrong: Bools, back: Bools) -> None:
        """Count what came back and is not wanted: what is known to be wrong, and what may be right."""
        for what, cells in (("wrong", wrong), ("unknown", back & ~wrong)):
            np.add.at(self.not_wanted[f"{way}_{what}"], found.look.person, share * np.count_nonzero(cells, axis=1))

    def _remember(self, found: Returned, share: Floats, wrong: Bools, by_face: Bools) -> None:
        """Keep the strangers, each with the face that did it."""
        row, photo = np.nonzero(wrong)
        score, face = np.full(len(row), NO_SCORE), np.full(len(row), NO_FACE)
        seen = by_face[row, photo]
        score[seen] = found.scores_by_both[row[seen], photo[seen]]
        face[seen] = self._best_faces(found, row[seen], photo[seen])
        self.strangers.add(Strangers(found.look.person[row], photo, face, score, share[row]))

    def _best_faces(self, found: Returned, row: Ints, photo: Ints) -> Ints:
        """The face of somebody else that is most similar, for each row and photo; of equal ones the first."""
        pair, face = self.search.faces_in(np.arange(len(row)), photo)
        similar = np.maximum(found.look.similarity[row[pair], face], found.average.similarity[row[pair], face])
        similar[~self.search.of_others[face]] = -np.inf
        best = np.full(len(row), -np.inf)
        np.maximum.at(best, pair, similar)
        at_best = np.flatnonzero(similar == best[pair])
        _, first = np.unique(pair[at_best], return_index=True)
        return face[at_best[first]]


def _others(like: Bools, row: Ints, photo: Ints) -> Bools:
    """All photos but those that are wanted."""
    others = np.ones_like(like)
    others[row, photo] = False
    return others
