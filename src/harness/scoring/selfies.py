"""Selfie scorecard: does a search by a picture of somebody find their photos, and nobody where they are not there?

A query is *mated* where its person is labelled in at least one photo other than its own; those photos are wanted.
Photos are ranked by their scores (`searching.py`), equal ones by their rows.

- Recall at k: the share of mated queries with a wanted photo among the first k.
- mAP: the mean over mated queries of their average precision, which is the mean over all wanted photos of the share of
  wanted ones among the photos down to it; a photo that cannot come back counts 0.
- Photo share: of the R photos that a query wants, how many are among its first R.
- At the operating threshold: recall is the share of the wanted photos that come back, precision the share of what
  comes back that is wanted, also of queries that are not mated.
- FNIR: the share of mated queries that return no wanted photo, at the threshold for an FPIR; n/a where so low an FPIR
  cannot be measured. FPIR: the share of strangers' queries that return somebody at the operating threshold.

Wanted photos whose face was not found or not enrolled stay wanted. Pictures that could not become a query are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.cards import Column, Declaration, Note, Rate, Scorecard, Section
from harness.scoring.people import Tallied, counts_by_person, sum_by
from harness.scoring.searching import BLOCK, DIGITS, CurvePoint, Look, Operating, Search, fnir_curve

FIRST = (1, 5, 10)
#: The FPIRs at which FNIR is told, by what their counts are called.
FPIRS = {0.01: "1e_2", 0.1: "1e_1"}
_LAST, _NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class SelfieScorecard(Scorecard):
    """What queries found; `wanted`, `found_at_r`, `found` and `wrong` count photos."""

    queries: int = 0
    mated: int = 0
    found_at_1: int = 0
    found_at_5: int = 0
    found_at_10: int = 0
    precisions: float = 0.0
    found_at_r: int = 0
    wanted: int = 0
    found: int = 0
    wrong: int = 0
    mated_1e_2: int = 0
    missed_1e_2: int = 0
    mated_1e_1: int = 0
    missed_1e_1: int = 0
    strangers: int = 0
    strangers_returned: int = 0
    not_found: int = 0
    not_enrolled: int = 0
    gallery_faces: int = 0
    gallery_not_enrolled: int = 0

    DECLARED: ClassVar = Declaration(
        name="selfie",
        rates={
            **{
                f"recall_at_{k}": Rate.of(f"selfie/recall_at_{k}", f"found_at_{k}", "mated", label=f"recall at {k}")
                for k in FIRST
            },
            "map": Rate.of("selfie/map", "precisions", "mated", label="mAP", headline="selfie mAP"),
            "photo_share": Rate.of("selfie/photo_share", "found_at_r", "wanted", label="photo share"),
            "recall": Rate.of("selfie/recall", "found", "wanted", label="recall", gate="shown"),
            "precision": Rate.share("selfie/precision", "found", "wrong", label="precision", gate="shown"),
            **{
                f"fnir_{name}": Rate.of(
                    f"selfie/fnir_at_fpir_{name.replace('_', '-')}",
                    f"missed_{name}",
                    f"mated_{name}",
                    label=f"FNIR at FPIR {fpir:g}",
                    better="lower",
                )
                for fpir, name in FPIRS.items()
            },
            "fpir": Rate.of("selfie/fpir", "strangers_returned", "strangers", label="FPIR", better="lower"),
        },
        counts={
            "queries": "count/selfie_queries",
            "mated": "count/selfie_mated",
            "wanted": "count/selfie_wanted",
            "found": "count/selfie_found",
            "wrong": "count/selfie_wrong",
            "strangers": "count/selfie_strangers",
            "not_found": "count/selfie_not_found",
            "not_enrolled": "count/selfie_not_enrolled",
            "gallery_faces": "count/selfie_gallery_faces",
            "gallery_not_enrolled": "count/selfie_gallery_not_enrolled",
        },
        sections=(
            Section(
                "Search by selfie",
                (
                    *(f"selfie/recall_at_{k}" for k in FIRST),
                    "selfie/map",
                    "selfie/photo_share",
                    "selfie/recall",
                    "selfie/precision",
                    *(f"selfie/fnir_at_fpir_{name.replace('_', '-')}" for name in FPIRS.values()),
                    "selfie/fpir",
                ),
                (
                    Note("queries", "queries", always=True),
                    Note("not_found", "pictures without a face found"),
                    Note("not_enrolled", "pictures whose face cannot be compared"),
                    Note("gallery_faces", "faces searched", always=True),
                    Note("gallery_not_enrolled", "faces not enrolled"),
                ),
            ),
        ),
    )


@dataclass(frozen=True)
class SelfieTally(Tallied):
    """The scorecard, and FNIR over FPIR."""

    curve: tuple[CurvePoint, ...] = ()


def tally_selfies(search: Search, operating: Operating, points: Sequence[Operating] = ()) -> SelfieTally:
    """Search by every query. `points` are the operating points of `FPIRS`; FNIR is n/a where one is missing."""
    evidence = search.evidence
    people, queries = len(evidence.people), evidence.queries
    thresholds = operating.by_person(evidence.folds)
    measured = [(FPIRS[point.target], point.by_person(evidence.folds)) for point in points if point.measurable]
    columns: dict[str, Column] = {}
    mated, strangers = [np.empty(0)], [np.empty(0)]
    for rows in search.blocks():
        look = search.look(rows)
        scores, alien = search.scores(look), search.strangers(look)
        row, seen = search.wanted(look)
        wanted = row, evidence.appearances.photo[seen]
        found = _ranked(scores, wanted) | _returned(scores, wanted, thresholds[look.person])
        best = _best(scores, wanted)
        is_mated = found["mated"] > 0
        for name, cut in measured:
            found |= {f"mated_{name}": found["mated"], f"missed_{name}": is_mated & (best < cut[look.person])}
        found |= {"strangers": alien > -np.inf, "strangers_returned": alien >= thresholds[look.person]}
        _add(columns, found, look, people)
        mated.append(best[is_mated])
        strangers.append(alien)
    columns |= {"queries": np.bincount(queries.person, minlength=people)}
    columns |= {"not_found": queries.not_found, "not_enrolled": queries.not_enrolled}
    shared = {
        "gallery_faces": int(np.count_nonzero(search.searched)),
        "gallery_not_enrolled": int(np.count_nonzero(~evidence.faces.enrolled)),
    }
    return SelfieTally(
        counts=counts_by_person(SelfieScorecard, columns, people, shared),
        shared=shared,
        curve=fnir_curve(np.concatenate(mated), np.concatenate(strangers)),
    )


def _add(columns: dict[str, Column], found: Mapping[str, Column], look: Look, people: int) -> None:
    for name, values in found.items():
        columns[name] = columns.get(name, 0) + sum_by(look.person, values, people)


def _ranked(scores: Floats, wanted: tuple[Ints, Ints]) -> dict[str, Column]:
    """How high each query ranks its wanted photos."""
    count = np.bincount(wanted[0], minlength=len(scores))
    rank = _ranks(scores, *wanted)
    order = np.lexsort((rank, wanted[0]))
    row, rank = wanted[0][order], rank[order]
    place = np.arange(len(row)) - (np.cumsum(count) - count)[row]
    best = np.full(len(scores), _NEVER)
    np.minimum.at(best, row, rank)
    shares = np.where(rank < _NEVER, (place + 1) / rank, 0.0)
    return {
        "mated": count > 0,
        **{f"found_at_{k}": best <= k for k in FIRST},
        "found_at_r": np.bincount(row[rank <= count[row]], minlength=len(scores)),
        "precisions": sum_by(row, shares, len(scores)) / np.maximum(count, 1),
    }


def _ranks(scores: Floats, row: Ints, photo: Ints) -> Ints:
    """The rank of each of these photos for the query of its row, from 1; `_NEVER` for one that cannot come back."""
    photos = scores.shape[1]
    seen = scores > -np.inf
    keys = np.rint(np.where(seen, scores, 0.0) * DIGITS).astype(np.int64) * photos + np.arange(photos - 1, -1, -1)
    keys[~seen] = _LAST
    rank = np.empty(len(row), dtype=np.int64)
    together = max(1, BLOCK // max(1, photos))
    for first in range(0, len(row), together):
        part = slice(first, first + together)
        rank[part] = np.count_nonzero(keys[row[part]] > keys[row[part], photo[part]][:, None], axis=1) + 1
    return np.where(seen[row, photo], rank, _NEVER)


def _returned(scores: Floats, wanted: tuple[Ints, Ints], threshold: Floats) -> dict[str, Column]:
    """How many photos come back, wanted and others."""
    back: Bools = scores >= threshold[:, None]
    found = sum_by(wanted[0], back[wanted], len(scores))
    return {
        "wanted": np.bincount(wanted[0], minlength=len(scores)),
        "found": found,
        "wrong": np.count_nonzero(back, axis=1) - found,
    }


def _best(scores: Floats, wanted: tuple[Ints, Ints]) -> Floats:
    """The score of each query's best wanted photo."""
    best = np.full(len(scores), -np.inf)
    np.maximum.at(best, wanted[0], scores[wanted])
    return best
