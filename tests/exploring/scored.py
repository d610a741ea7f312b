"""Two real runs on three labelled photos, scored from predictions: a baseline, and one that lost a face and its link,
misread a bib and invented one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
from harness.references.sets import ReferencePhoto, load_set
from harness.tracking.finding import find_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin

Prediction = dict[str, Any]


@dataclass(frozen=True)
class Scored:
    """The set, the store, and the ids of the runs; `photos` by name."""

    root: Path
    store: LocalStore
    base: str
    run: str
    photos: Mapping[str, ReferencePhoto]


def right(photo: ReferencePhoto) -> Prediction:
    """A prediction that says what the labels say."""
    bibs = [{**_box(box), "number": box.number, "score": 0.9} for box in photo.bibs]
    faces = [{**_box(box), "score": 0.8} for box in photo.faces]
    links = [[link.bib_index, link.face_index, 0.7] for link in photo.links or ()]
    return {"photo": photo.name, "bibs": bibs, "faces": faces, "links": links}


def _box(box: Any) -> dict[str, float]:
    return dict(zip("xywh", box.xywh, strict=True))


def score_two(root: Path, mlruns: Path) -> Scored:
    """Make the two runs, and pin the first."""
    photos = {photo.name: photo for photo in load_set(root, "staging", "iteration").photos}
    with_bib = [name for name, photo in photos.items() if photo.bibs]
    without = next(name for name, photo in photos.items() if not photo.bibs)
    good = {name: right(photo) for name, photo in photos.items()}
    lost, misread = with_bib
    bad = {name: dict(prediction) for name, prediction in good.items()}
    bad[lost] |= {"faces": [], "links": []}
    bad[misread]["bibs"] = [{**bad[misread]["bibs"][0], "number": "9", "score": 0.4}]
    bad[without]["bibs"] = [{"x": 0.1, "y": 0.1, "w": 0.1, "h": 0.1, "number": "77", "score": 0.3}]
    where = ("references=staging", f"references.root={root}", f"tracking.root={mlruns}", "report.make=off")
    base = harness.score(list(good.values()), *where, "note=good")
    store = LocalStore(str(mlruns), "harness")
    pin(store.open(), find_run(store.open(), base.id))
    run = harness.score(list(bad.values()), *where, "note=bad")
    return Scored(root, store, base.id, run.id, photos)
