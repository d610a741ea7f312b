"""How fast are reference sets with 20,000 photos, three bibs and three faces each?

Seconds against fixed limits, best of several. *Stats* is what `harness stats` does once its modules are imported: a
fresh store reads and checks every file, then counts; CPU time of the process. *Saving* is one photo's bibs in a process
that has read the files before, as the labelling page does: one bib less, so that the links follow and two files are
written and synced to disk each time; time on the wall, since it is spent waiting for the disk.

    scripts/bench references
"""

from __future__ import annotations

import hashlib
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measure import best_of, row, show
from harness.cli.sets import compose_staging, open_set
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    PhotoIndex,
    write_file,
)
from harness.references.groups import groups_of
from harness.references.labels import save_bibs, view
from harness.references.stats import count
from harness.references.store import LabelStore

PHOTOS, BOXES = 20_000, 3
STATS_LIMIT, SAVE_LIMIT = 2.0, 0.1


def make(root: Path) -> list[str]:
    """Write the files of a large set; returns the hashes of its photos."""
    rng = random.Random(0)
    hashes = [hashlib.sha256(str(number).encode()).hexdigest() for number in range(PHOTOS)]

    def box(**fields: Any) -> dict[str, Any]:
        return {side: rng.random() / 2 for side in "xywh"} | fields

    record = {"width": 6000, "height": 4000, "bytes": 5_000_000, "added_at": "2026-01-01T00:00:00Z"}
    index = {h: record | {"names": [f"DSC_{n}.jpg"], "split": "iteration"} for n, h in enumerate(hashes)}
    bibs = {h: [box(number=str(rng.randrange(9999))) for _ in range(BOXES)] for h in hashes}
    faces = {h: [box(identity=f"runner_{rng.randrange(500)}") for _ in range(BOXES)] for h in hashes}
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(
        root, BibGroundTruth.model_validate({"photos": {h: {"labeled": True, "boxes": b} for h, b in bibs.items()}})
    )
    write_file(
        root, FaceGroundTruth.model_validate({"photos": {h: {"labeled": True, "boxes": f} for h, f in faces.items()}})
    )
    write_file(root, BibFaceLinks.model_validate({"photos": {h: [(n, n) for n in range(BOXES)] for h in hashes}}))
    write_file(root, FaceIdentities(names=[f"runner_{number}" for number in range(500)]))
    return hashes


def stats(root: Path) -> None:
    """What the command does, without its printing."""
    store, references = open_set(compose_staging([f"references.root={root}"]))
    contents = store.contents()
    assert count(contents, groups_of(contents, store.root, references.groups)).bib_boxes == PHOTOS * BOXES


def measure() -> list[dict[str, Any]]:
    """One entry a case: our seconds, the limit, and how often they fit into it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        hashes = make(root)
        stats_seconds = best_of(lambda: stats(root), 3)
        store = LabelStore(root)
        store.contents()
        photos = iter(hashes)

        def save() -> None:
            photo = next(photos)
            seen = view(store, photo)
            save_bibs(store, photo, BibLabels(labeled=True, boxes=seen.bibs.boxes[1:]), seen.revisions)

        save()  # the first save encodes what it has only read so far
        save_seconds = _best_on_the_wall(save, 10)
    return [
        row(f"stats of {PHOTOS:,} photos", stats_seconds, f"limit of {STATS_LIMIT:g} s", STATS_LIMIT, 1.0),
        row(f"save one photo's labels among {PHOTOS:,}", save_seconds, f"limit of {SAVE_LIMIT:g} s", SAVE_LIMIT, 1.0),
    ]


def _best_on_the_wall(work: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    show(measure())
