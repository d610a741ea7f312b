"""Editors that are killed while they write, and a check after each death: run as `python -m ... ROOT KILLS SEED`.

A process of its own, so that forking it is cheap and safe. An editor changes bibs and faces in ways that move links,
and acknowledges each edit on a pipe once the store has returned. After its death every file must load, and every photo
must show the last acknowledged edit or the one after it, with links that fit its boxes.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from harness.references.files import BibLabels, FaceLabels
from harness.references.labels import save_bibs, save_faces, view
from harness.references.store import LabelStore
from tests.references.builders import bib, face, make_store, photo_hash

PHOTOS = 6


def edit_forever(root: Path, seed: int, acknowledge: int) -> None:
    """Save after save; the first bib's number and the first face's name count the edits of a photo."""
    rng, store = random.Random(seed), LabelStore(root)
    while True:
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


def one_death(root: Path, rng: random.Random) -> dict[str, int]:
    """Start an editor, kill it at a random moment, return the last edit it acknowledged of each photo."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        edit_forever(root, rng.randrange(1 << 30), writing)
    os.close(writing)
    time.sleep(rng.uniform(0.0, 0.12))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading) as lines:
        return {photo: int(count) for photo, count in (line.split() for line in lines if line.endswith("\n"))}


def main(root: Path, kills: int, seed: int) -> None:
    """Kill, look, kill again."""
    rng = random.Random(seed)
    make_store(root, photos=PHOTOS, boxes=4)  # its first bibs have the number 0
    certain = {photo_hash(n): 0 for n in range(PHOTOS)}
    edits, mended = 0, 0
    for _ in range(kills):
        before = dict(certain)
        certain |= one_death(root, rng)
        edits += sum(certain[photo] - before[photo] for photo in certain)
        mended += (root / ".journal.json").exists()
        store = LabelStore(root)
        for photo in certain:
            found = int(view(store, photo).bibs.boxes[0].number or 0)
            assert certain[photo] <= found <= certain[photo] + 1, (photo, certain[photo], found)
            certain[photo] = found
        assert not (root / ".journal.json").exists()
        assert not list(root.glob(".*.new"))
    print(json.dumps({"kills": kills, "edits": edits, "journals_mended": mended}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
