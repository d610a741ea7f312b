"""Photos without a runner that came back for them: in columns, one row for each runner and photo."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from harness.scoring.boxes import Floats, Ints

#: At most so many strangers that came back are listed as such, the most similar first; the columns have them all.
MOST_STRANGERS = 500
#: In place of a face and a score: the photo came back by a number alone.
NO_FACE, NO_SCORE = -1, -np.inf
#: Rows that are gathered before those of one runner and photo are put together.
_TOGETHER = 1 << 16


@dataclass(frozen=True, slots=True)
class Stranger:
    """A photo without the runner that came back by both: the face that did it and its score, or by a number alone."""

    person: int
    photo: int
    face: int | None
    score: float | None


@dataclass(frozen=True)
class Strangers:
    """All of them by runner and photo: the best score with its face, and the share of the runner's searches that
    returned the photo; the shares of a runner add up to `both_wrong` of the scorecard."""

    person: Ints
    photo: Ints
    face: Ints
    score: Floats
    share: Floats

    def __len__(self) -> int:
        return len(self.person)

    @cached_property
    def most_similar(self) -> tuple[Stranger, ...]:
        """Those with the best scores first, then those that came back by a number alone."""
        first = np.lexsort((self.photo, self.person, -self.score))[:MOST_STRANGERS]
        columns = (self.person[first], self.photo[first], self.face[first], self.score[first])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(
            Stranger(person, photo, None, None) if score == -math.inf else Stranger(person, photo, face, score)
            for person, photo, face, score in rows
        )


@dataclass
class Gathering:
    """Strangers as they come back, search by search. Memory grows with the pairs of runners and photos alone."""

    found: list[Strangers] = field(default_factory=list)
    _loose: int = 0

    def add(self, more: Strangers) -> None:
        """What some searches returned."""
        self.found.append(more)
        self._loose += len(more)
        if self._loose > max(_TOGETHER, len(self.found[0])):
            self.found, self._loose = [self.together()], 0

    def together(self) -> Strangers:
        """One row for each runner and photo, in their order; of equal scores the first face."""
        person, photo, face, score, share = (
            np.concatenate([np.empty(0, kind), *(getattr(each, name) for each in self.found)])
            for name, kind in (("person", int), ("photo", int), ("face", int), ("score", float), ("share", float))
        )
        order = np.lexsort((face, -score, photo, person))
        new = np.diff(person[order], prepend=-1).astype(bool) | np.diff(photo[order], prepend=-1).astype(bool)
        first, group = order[new], np.cumsum(new) - 1
        shares: Floats = np.bincount(group, share[order], len(first)).astype(np.float64)
        return Strangers(person[first], photo[first], face[first], score[first], shares)
