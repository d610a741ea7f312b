"""The summary is renewed where a photo has changed, and always what a fresh look would give."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PIL import Image

from harness.labeling.source import StagingSource
from harness.labeling.summary import PhotoRow, Summaries
from harness.references.adding import add_photos
from harness.references.files import BibLabels, FaceLabels, PhotoIndex
from harness.references.labels import save_bibs, save_faces, save_links, save_split, view
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from tests.references.builders import bib, face


def fresh(root: Path) -> list[PhotoRow]:
    return list(Summaries(StagingSource(LabelStore(root))).current().rows)


@pytest.mark.parametrize("seed", range(5))
def test_after_any_edits_it_is_what_a_fresh_look_gives(root: Path, seed: int) -> None:
    rng = random.Random(seed)
    here, elsewhere = LabelStore(root), LabelStore(root)
    summaries, photos = Summaries(StagingSource(here)), sorted(here.contents().index.photos)
    for _ in range(25):
        store, photo = rng.choice((here, here, elsewhere)), rng.choice(photos)
        seen, labeled = view(store, photo), rng.random() < 0.5
        boxes = [rng.random() / 2 for _ in range(rng.randrange(3))]
        match rng.randrange(5):
            case 0:
                labels = BibLabels(labeled=labeled, boxes=[bib(place) for place in boxes])
                save_bibs(store, photo, labels, seen.revisions, [None] * len(boxes))
            case 1:
                faces = FaceLabels(labeled=labeled, boxes=[face(place) for place in boxes])
                save_faces(store, photo, faces, seen.revisions, [None] * len(boxes))
            case 2:
                save_links(store, photo, [] if labeled else None, seen.revisions)
            case 3:
                save_split(store, photo, "holdout" if labeled else "iteration", seen.revisions)
            case 4:
                with store.edit() as draft:
                    draft.put(Suggestions, photo, None)
        if rng.random() < 0.7:
            assert list(summaries.current().rows) == fresh(root)
    assert list(summaries.current().rows) == fresh(root)


def test_only_the_row_of_the_photo_that_changed_is_made_anew(root: Path, photo: str) -> None:
    store = LabelStore(root)
    summaries = Summaries(StagingSource(store))
    before = summaries.current()
    assert summaries.current() is before
    save_bibs(store, photo, BibLabels(labeled=True), view(store, photo).revisions)
    after = summaries.current()
    assert [new is old for new, old in zip(after.rows, before.rows, strict=True)] == [False, True, True, True]
    assert (before.done["bibs"], after.done["bibs"]) == (0, 1)


def test_new_photos_and_new_names_are_seen(root: Path, tmp_path: Path, photo: str) -> None:
    store = LabelStore(root)
    summaries = Summaries(StagingSource(store))
    summaries.current()
    path = tmp_path / "aa.jpg"
    Image.new("RGB", (10, 10), "white").save(path)
    add_photos(LabelStore(root), [path])
    assert [row.name for row in summaries.current().rows] == ["a.jpg", "aa.jpg", "b.jpg", "c.jpg", "d.jpg"]
    with store.edit() as draft:
        draft.put(PhotoIndex, photo, draft.record(PhotoIndex, photo).model_copy(update={"names": ["z.jpg"]}))
    assert [row.name for row in summaries.current().rows] == ["aa.jpg", "b.jpg", "c.jpg", "d.jpg", "z.jpg"]


def test_a_file_that_somebody_put_in_place_is_seen(root: Path, photo: str) -> None:
    store = LabelStore(root)
    summaries = Summaries(StagingSource(store))
    save_bibs(store, photo, BibLabels(labeled=True), view(store, photo).revisions)
    assert summaries.current().done["bibs"] == 1
    (root / "bib_ground_truth.json").write_text('{"schema_version": 3, "revision": 1, "photos": {}}')
    assert summaries.current().done["bibs"] == 0
