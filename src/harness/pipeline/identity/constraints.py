"""What clusters of faces have to obey: faces that are one person's, and faces that are not.

Two faces of one photo are two people. What people have said (must-link and cannot-link of `face_identities.json`) comes
on top. Must-links are closed first: if a is b and b is c, then a is c. Constraints that contradict each other are
refused before anything is clustered, so that a clustering can always keep all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from harness.scoring.boxes import Ints

#: In place of a photo: others of the photo may be the same person, as for a face in a mirror or on a poster.
ANY = -1


def _no_pairs() -> Ints:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Constraints:
    """`photo` says which photo each face is in, or ANY. `must` and `cannot` have one row a pair of faces. `names` is
    what faces are called where something is wrong with them; without it, by their position."""

    photo: Ints
    must: Ints = field(default_factory=_no_pairs)
    cannot: Ints = field(default_factory=_no_pairs)
    names: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.photo)

    def groups(self) -> Ints:
        """For each face the lowest of the faces that must-links tie it to, be it through others.

        Raises ValueError with the names of two faces where constraints contradict each other, and for a link of a face
        with itself or with one that does not exist.
        """
        self._check(self.must, "must-link")
        self._check(self.cannot, "cannot-link")
        lowest = lowest_tied(self.must, len(self))
        self._refuse_apart(lowest)
        self._refuse_photos(lowest)
        return lowest

    def _check(self, pairs: Ints, what: str) -> None:
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ValueError(f"{what}s of shape {pairs.shape}; expected one row of two faces a link")
        for row in np.flatnonzero(((pairs < 0) | (pairs >= len(self))).any(axis=1)):
            raise ValueError(f"{what} {row}: {pairs[row].tolist()}; expected two faces of {len(self)}")
        for row in np.flatnonzero(pairs[:, 0] == pairs[:, 1]):
            raise ValueError(f"{what} {row}: {self._name(pairs[row, 0])} with itself; expected two different faces")

    def _refuse_apart(self, group: Ints) -> None:
        for a, b in self.cannot[group[self.cannot[:, 0]] == group[self.cannot[:, 1]]]:
            raise ValueError(
                f"{self._name(a)} and {self._name(b)} are linked by must-links and by a cannot-link; remove one of them"
            )

    def _refuse_photos(self, group: Ints) -> None:
        shown = np.flatnonzero(self.photo != ANY)
        order = shown[np.lexsort((shown, self.photo[shown], group[shown]))]
        a, b = order[:-1], order[1:]
        for twice in np.flatnonzero((group[a] == group[b]) & (self.photo[a] == self.photo[b])):
            raise ValueError(
                f"{self._name(a[twice])} and {self._name(b[twice])} are linked by must-links and are in one photo, "
                "where they are two people; remove a must-link, or give one of them the scope exclude"
            )

    def _name(self, face: int | np.int64) -> str:
        return f"face {self.names[int(face)] if self.names else face}"


def lowest_tied(pairs: Ints, faces: int) -> Ints:
    """For each face the lowest of those that pairs tie it to."""
    if not len(pairs):
        return np.arange(faces, dtype=np.int64)
    from scipy.sparse import coo_array  # slow to load, and few sets have must-links
    from scipy.sparse.csgraph import connected_components

    ties = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(faces, faces))
    _, tied = connected_components(ties, directed=False)
    lowest: Ints = np.unique(tied, return_index=True)[1][tied]
    return lowest
