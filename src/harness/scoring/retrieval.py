"""Retrieval scorecard: does a search by one face find the person's other faces and photos?

Every face that has an identity is a query against all other faces that have one, best cosine similarity first;
similarities that agree to nine digits are ties and go to the lower row. A face without an identity is neither query nor
candidate: it may well be the person who is looked for.

- Recall at k: the share of queries that have a face of the same person among their first k results. Only queries
  whose person has another face count.
- Share of a person's photos found: all photos but the query's own are ranked by their best face. Of the R photos that
  show the person, how many are among the first R? Sums over all queries, so a perfect ranking scores 1 however many
  photos a person has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import Declaration, Rate, Scorecard, Tally
from harness.scoring.clusters import NONE, Labels, label_codes

#: Similarities are told apart in steps of 1 / DIGITS.
DIGITS = 10**9
#: Pairs of faces that are looked at together; bounds the memory.
BLOCK = 1 << 21
LAST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class RetrievalScorecard(Scorecard):
    """Queries that found their person, and photos found of those that show the person."""

    queries: int
    found_at_1: int
    found_at_5: int
    found_at_10: int
    person_photos: int
    person_photos_found: int
    faces: int = 0
    unidentified_faces: int = 0
    photos: int = 0

    DECLARED: ClassVar = Declaration(
        name="retrieval",
        rates={
            "recall_at_1": Rate.of("retrieval/recall_at_1", "found_at_1", "queries"),
            "recall_at_5": Rate.of("retrieval/recall_at_5", "found_at_5", "queries"),
            "recall_at_10": Rate.of("retrieval/recall_at_10", "found_at_10", "queries"),
            "photo_share": Rate.of("retrieval/photo_share", "person_photos_found", "person_photos"),
        },
        counts={
            "queries": "retrieval/queries",
            "person_photos": "retrieval/person_photos",
            "faces": "retrieval/faces",
            "unidentified_faces": "retrieval/unidentified_faces",
            "photos": "retrieval/photos",
        },
    )

    @property
    def recall_at_1(self) -> float:
        """Share of queries whose first result is the person."""
        return self.rate("recall_at_1")

    @property
    def recall_at_5(self) -> float:
        """Share of queries with the person among the first 5 results."""
        return self.rate("recall_at_5")

    @property
    def recall_at_10(self) -> float:
        """Share of queries with the person among the first 10 results."""
        return self.rate("recall_at_10")

    @property
    def photo_share(self) -> float:
        """Share of a person's other photos that are found."""
        return self.rate("photo_share")


def score_retrieval(embeddings: ArrayLike, identities: Labels, photos: Sequence[Hashable]) -> RetrievalScorecard:
    """Score a search by each face; one row of `embeddings`, one identity and one photo a face."""
    return tally_retrieval(embeddings, identities, photos).scorecard()


def tally_retrieval(embeddings: ArrayLike, identities: Labels, photos: Sequence[Hashable]) -> Tally[RetrievalScorecard]:
    """The same, photo by photo (the query's), in the order in which photos first appear."""
    vectors, identity = np.asarray(embeddings, dtype=np.float64), label_codes(identities, "identity")
    if vectors.ndim != 2 or not len(vectors) == len(identity) == len(photos):
        raise ValueError(
            f"embeddings of shape {vectors.shape}, {len(identity)} identities, {len(photos)} photos; "
            "expected one of each a face"
        )
    numbers: dict[Hashable, int] = {}
    photo = np.array([numbers.setdefault(name, len(numbers)) for name in photos], dtype=np.int64)
    known = identity != NONE
    unit = _unit(vectors)[known]
    columns = {name: np.zeros(len(identity), dtype=np.int64) for name in _QUERY_COUNTS}
    for rows, counts in _search(unit, identity[known], photo[known]):
        for name, values in counts.items():
            columns[name][np.flatnonzero(known)[rows]] = values
    columns |= {"faces": known.astype(np.int64), "unidentified_faces": (~known).astype(np.int64)}
    by_photo = {name: _sum_by(photo, values, len(numbers)) for name, values in columns.items()}
    by_photo["photos"] = np.ones(len(numbers), dtype=np.int64)
    return Tally.of(RetrievalScorecard, by_photo, len(numbers))


_QUERY_COUNTS = ("queries", "found_at_1", "found_at_5", "found_at_10", "person_photos", "person_photos_found")


def _search(unit: Floats, identity: Ints, photo: Ints) -> Iterator[tuple[slice, dict[str, Ints]]]:
    """What each query finds, a block of queries at a time."""
    faces = len(unit)
    by_photo = np.argsort(photo, kind="stable")
    shown, starts = np.unique(photo[by_photo], return_index=True)
    own_photo = np.searchsorted(shown, photo)
    together = max(1, BLOCK // max(1, faces))
    for first in range(0, faces, together):
        rows = slice(first, min(first + together, faces))
        here = np.arange(rows.stop - rows.start)
        key = _rank_keys(unit[rows] @ unit.T)
        same = identity[rows, None] == identity
        key[here, here + first] = LAST
        same[here, here + first] = False

        best = np.max(np.where(same, key, LAST), axis=1)
        rank = np.count_nonzero(key > best[:, None], axis=1)
        query = best > LAST
        photo_key = np.maximum.reduceat(key[:, by_photo], starts, axis=1)
        wanted = np.logical_or.reduceat(same[:, by_photo], starts, axis=1)
        photo_key[here, own_photo[rows]] = LAST
        wanted[here, own_photo[rows]] = False
        yield (
            rows,
            {
                "queries": query.astype(np.int64),
                **{f"found_at_{k}": (query & (rank < k)).astype(np.int64) for k in (1, 5, 10)},
                "person_photos": np.count_nonzero(wanted, axis=1),
                "person_photos_found": _found(photo_key, wanted),
            },
        )


def _found(key: Ints, wanted: Bools) -> Ints:
    """Of each row's R wanted entries, how many are among its R greatest keys."""
    r: Ints = np.count_nonzero(wanted, axis=1)
    most = int(r.max(initial=0))
    if not most:
        return r
    top = np.argpartition(key, -most, axis=1)[:, -most:]
    top = np.take_along_axis(top, np.argsort(-np.take_along_axis(key, top, axis=1), axis=1), axis=1)
    hits: Ints = np.count_nonzero(np.take_along_axis(wanted, top, axis=1) & (np.arange(most) < r[:, None]), axis=1)
    return hits


def _rank_keys(similarity: Floats) -> Ints:
    """Whole numbers in the order of the ranking: greater is better, and no two in a row are equal."""
    faces = similarity.shape[1]
    keys: Ints = np.rint(similarity * DIGITS).astype(np.int64)
    keys *= faces
    keys += np.arange(faces - 1, -1, -1)
    return keys


def _unit(vectors: Floats) -> Floats:
    length = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    wrong = ~(np.isfinite(length) & (length > 0))
    if wrong.any():
        face = int(np.argmax(wrong))
        raise ValueError(f"face {face}: its embedding has length {length[face]}; expected a finite one above 0")
    unit: Floats = vectors / length[:, None]
    return unit


def _sum_by(group: Ints, values: NDArray[np.int64], groups: int) -> Ints:
    return np.bincount(group, values, groups).astype(np.int64)
