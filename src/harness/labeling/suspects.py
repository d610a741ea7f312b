"""Label suspects: photos where run after run finds something that nobody labelled.

One run that sees a bib too many is wrong; when most of the last runs do so on the same photo, the label may be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: How many runs are asked, and how many of them have to have seen a photo.
LAST_RUNS = 5
FEWEST_RUNS = 2


@dataclass(frozen=True, slots=True)
class Suspicion:
    """In how many of the runs that saw a photo something was found that is not labelled."""

    runs: int
    of: int


def find_suspects(false_positives: Sequence[Mapping[str, int]]) -> dict[str, Suspicion]:
    """Photos by hash on which most of the runs that saw them have a false positive; one mapping a run."""
    seen, wrong = Counter[str](), Counter[str]()
    for run in false_positives:
        seen.update(run.keys())
        wrong.update(photo for photo, count in run.items() if count)
    return {
        photo: Suspicion(count, seen[photo])
        for photo, count in wrong.items()
        if seen[photo] >= FEWEST_RUNS and count * 2 > seen[photo]
    }
