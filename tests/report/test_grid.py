"""Cut-outs of mistakes: the right ones, of the right place, in files that MLflow takes for its own images."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from harness.tasks.photos.gallery import Gallery, make_gallery
from harness.tasks.photos.grid import IMAGES_TAG, MOST_OF_A_KIND, pick_mistakes, write_grid
from harness.tasks.photos.mistakes import mistakes
from harness.tasks.photos.shots import CROP_SIDE, cut_out
from harness.tracking.store import LocalStore
from harness.types import BibBox, Box, FaceBox, PhotoPrediction
from tests.report.reports import FACE, NOTHING, RIGHT, THRESHOLDS, evaluation_of, read_photo


def gallery_of(prediction: PhotoPrediction) -> Gallery:
    seen = evaluation_of([prediction])
    return make_gallery(seen.photos, seen.scores.cards, None, (), THRESHOLDS, read_photo)


def test_every_mistake_is_told_once() -> None:
    stranger = FaceBox(x=0.7, y=0.2, w=0.1, h=0.15, score=0.8)
    misread = BibBox(x=0.4, y=0.5, w=0.1, h=0.1, number="471", score=0.9)
    photos = evaluation_of([replace(RIGHT, bibs=(misread,), faces=(stranger,)), NOTHING, RIGHT]).photos
    told = [(item.kind, item.photo.name, item.words) for item in mistakes(photos, THRESHOLDS)]
    assert told == [
        ("misread_bibs", "photo-0.jpg", "is 417, read 471"),
        ("missed_faces", "photo-0.jpg", "missed face"),
        ("false_faces", "photo-0.jpg", "false face 0.80"),
        ("missed_bibs", "photo-1.jpg", "missed bib 417"),
        ("missed_faces", "photo-1.jpg", "missed face"),
    ]


def test_a_cut_out_is_square_and_shows_its_box_at_any_edge() -> None:
    pixels = np.zeros((200, 300, 3), dtype=np.uint8)
    for box in (Box(x=0, y=0, w=0.1, h=0.1), Box(x=0.95, y=0.9, w=0.05, h=0.1), Box(x=0, y=0, w=1, h=1), FACE):
        part = cut_out(pixels, box)
        assert part.shape == (CROP_SIDE, CROP_SIDE, 3)
        assert part.any()


def test_the_files_are_those_that_mlflow_writes_for_its_grid(empty_store: Path, tmp_path: Path) -> None:
    store = LocalStore(str(shutil.copytree(empty_store, tmp_path / "store")), "harness").open()
    run_id = store.client.create_run(store.runs_experiment).info.run_id
    store.client.log_image(run_id, np.zeros((8, 8, 3), dtype=np.uint8), key="missed_faces", step=0)
    folder = tmp_path / "ours"
    folder.mkdir()
    gallery = gallery_of(NOTHING)
    tags = write_grid(folder, gallery.mistakes, gallery.pictures)

    def shape(name: str) -> str:
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UUID", re.sub(r"\d{13}", "TIME", name))

    theirs = {shape(Path(file.path).name) for file in store.client.list_artifacts(run_id, "images")}
    ours = {shape(file.name) for file in (folder / "images").iterdir()}
    assert {name for name in ours if name.startswith("missed_faces")} == theirs
    assert tags.keys() == {IMAGES_TAG} <= store.client.get_run(run_id).data.tags.keys()


def test_no_kind_crowds_out_another() -> None:
    found = list(mistakes(evaluation_of([NOTHING] * 20).photos, THRESHOLDS))
    picked = [item.kind for item in pick_mistakes(found, ["missed_bibs", "false_bibs", "missed_faces"])]
    assert picked == ["missed_bibs"] * MOST_OF_A_KIND + ["missed_faces"] * MOST_OF_A_KIND


def test_a_run_without_mistakes_has_no_grid(tmp_path: Path) -> None:
    gallery = gallery_of(RIGHT)
    assert write_grid(tmp_path, gallery.mistakes, gallery.pictures) == {}
    assert list(tmp_path.iterdir()) == []
