"""Editors that are killed while they write, and a check after all have died: `python -m ... ROOT ROUNDS SEED EDITORS`.

A process of its own, so that forking it is cheap and safe. An editor changes bibs and faces in ways that move links,
and acknowledges each edit on a pipe once the store has returned. Several write the same photos at once, and are killed
one after the other, while the others go on. Then every file must load, and every photo must show the last acknowledged
edit, or one after it that nobody could acknowledge any more, with links that fit its boxes.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from harness.base.errors import StaleRevisionError
from harness.references.files import BibLabels, FaceLabels
from harness.references.labels import save_bibs, save_faces, view
from harness.references.store import LabelStore
from tests.references.builders import bib, face, make_store, photo_hash

PHOTOS = 6


def edit_forever(root: Path, seed: int, acknowledge: int) -> None:
    """Save after save; the first bib's number and the first face's name count the edits of a photo."""
    rng, store = random.Random(seed), LabelStore(root)
    while True:
        with contextlib.suppress(StaleRevisionError):  # somebody else was quicker: once more from what there is now
            edit_once(store, rng, acknowledge)


def edit_once(store: LabelStore, rng: random.Random, acknowledge: int) -> None:
    """Save bibs, and now and then faces, too."""
    photo = photo_hash(rng.randrange(PHOTOS))
    seen = view(store, photo)
    count = int(seen.bibs.boxes[0].number or 0) + 1
    origins: list[int | None] = rng.sample([0, 1, 2, 3], 4) if len(seen.bibs.boxes) == 4 else [0, 1, 2, None]
    origins = origins[: rng.choice([3, 4])]
    bibs = [bib(n / 10, str(count)) for n in range(len(origins))]
    save_bibs(store, photo, BibLabels(labeled=True, boxes=bibs), seen.revisions, origins)
    os.write(acknowledge, f"{photo} {count}\n".encode())
    if rng.random() < 0.5:
        seen = view(store, photo)
        faces = [face(n / 10, f"runner_{count}") for n in range(4)]
        save_faces(store, photo, FaceLabels(labeled=True, boxes=faces), seen.revisions, [0, 1, 2, None])


def start_editor(root: Path, seed: int, writing: int) -> int:
    """The process id of an editor at work."""
    if child := os.fork():
        return child
    edit_forever(root, seed, writing)
    raise AssertionError("it goes on until it is killed")


def some_deaths(root: Path, rng: random.Random, editors: int) -> dict[str, int]:
    """Start editors, kill each at a random moment, return the last edit that any acknowledged of each photo."""
    reading, writing = os.pipe()
    children = [start_editor(root, rng.randrange(1 << 30), writing) for _ in range(editors)]
    os.close(writing)
    for child in children:
        time.sleep(rng.uniform(0.0, 0.12 / editors**0.5))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    last: dict[str, int] = {}
    with os.fdopen(reading) as lines:
        for photo, count in (line.split() for line in lines if line.endswith("\n")):
            last[photo] = max(int(count), last.get(photo, 0))
    return last


def main(root: Path, rounds: int, seed: int, editors: int) -> None:
    """Kill, look, kill again."""
    rng = random.Random(seed)
    make_store(root, photos=PHOTOS, boxes=4)  # its first bibs have the number 0
    certain = {photo_hash(n): 0 for n in range(PHOTOS)}
    edits, mended = 0, 0
    for _ in range(rounds):
        before = dict(certain)
        certain |= some_deaths(root, rng, editors)
        edits += sum(certain[photo] - before[photo] for photo in certain)
        mended += (root / ".journal.json").exists()
        store = LabelStore(root)
        for photo in certain:
            found = int(view(store, photo).bibs.boxes[0].number or 0)
            assert certain[photo] <= found <= certain[photo] + editors, (photo, certain[photo], found)
            certain[photo] = found
        assert not (root / ".journal.json").exists()
        assert not list(root.glob(".*.new"))
    print(json.dumps({"kills": rounds * editors, "edits": edits, "journals_mended": mended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
