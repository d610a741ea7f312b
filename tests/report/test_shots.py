"""Pictures of photos: each is made once, kept by all that it shows, and never leaves this machine."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.pipeline.cache import PICTURE, Entry, StageCache
from harness.pipeline.cache.shared import SharedCache
from harness.pipeline.cache.stores import open_store
from harness.runs.plan import Showing
from harness.tasks.photos.pictures import Image
from harness.tasks.photos.section import show_photos
from tests.report.reports import FACE, LABELS, NOTHING, RIGHT, THRESHOLDS, Evaluated, evaluation_of


class Reader:
    """Photos whose pixels follow from their hash; says which were read."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, path: Path, sha256: str) -> Image:
        self.read.append(sha256)
        return np.random.default_rng(int(sha256[-4:], 16)).integers(0, 255, (300, 400, 3), dtype=np.uint8)


@pytest.fixture
def cache(tmp_path: Path) -> StageCache:
    return StageCache(tmp_path / "cache", 10**9)


def files_of(folder: Path, seen: Evaluated, cache: StageCache | None) -> tuple[dict[str, bytes], str, list[str]]:
    """What a report leaves in its folder, its page, and which photos were read for it."""
    folder.mkdir()
    read = Reader()
    shown = show_photos(Showing(folder, None, ()), seen.photos, seen.scores, THRESHOLDS, (), read, kept=cache)
    files = {
        re.sub(r"\+timestamp\+\d+\+[0-9a-f-]{36}", "", path.name): path.read_bytes() for path in folder.rglob("*.*")
    }
    return files, shown.html, read.read


def test_a_report_is_the_same_from_kept_pictures_and_reads_no_photo(tmp_path: Path, cache: StageCache) -> None:
    seen = evaluation_of([NOTHING, RIGHT, NOTHING])
    plain = files_of(tmp_path / "plain", seen, None)
    first = files_of(tmp_path / "first", seen, cache)
    again = files_of(tmp_path / "again", seen, cache)
    assert plain[:2] == first[:2] == again[:2]
    assert {name.partition("+")[0] for name in plain[0]} >= {"worst_1.jpg", "missed_bibs", "missed_faces"}
    assert plain[2] == first[2] == [seen.photos[0].sha256, seen.photos[2].sha256]  # each once
    assert again[2] == []


@pytest.mark.parametrize("what", ["prediction", "labels", "name", "photo"])
def test_a_picture_is_made_anew_when_anything_that_it_shows_has_changed(
    what: str, tmp_path: Path, cache: StageCache
) -> None:
    files_of(tmp_path / "first", evaluation_of([NOTHING]), cache)
    other: Evaluated = {
        "prediction": evaluation_of([replace(NOTHING, faces=(replace(FACE, x=0.7, score=0.9),))]),
        "labels": evaluation_of([NOTHING], [replace(LABELS, faces=(replace(FACE, x=0.7),))]),
        "name": evaluation_of([NOTHING], name="another"),
        "photo": _renamed(evaluation_of([NOTHING]), "f" * 64),
    }[what]
    kept, _, read = files_of(tmp_path / "kept", other, cache)
    fresh, _, _ = files_of(tmp_path / "fresh", other, None)
    assert kept == fresh
    assert read == [other.photos[0].sha256]


def _renamed(seen: Evaluated, sha256: str) -> Evaluated:
    photos = tuple(replace(item, photo=replace(item.photo, sha256=sha256)) for item in seen.photos)
    return replace(seen, photos=photos)


def test_a_damaged_picture_is_made_anew(tmp_path: Path, cache: StageCache) -> None:
    seen = evaluation_of([NOTHING])
    first = files_of(tmp_path / "first", seen, cache)
    cache._database.execute("UPDATE answers SET value = zeroblob(length(value))")
    again = files_of(tmp_path / "again", seen, cache)
    assert again == first


def test_forgetting_a_photo_forgets_its_pictures(tmp_path: Path, cache: StageCache) -> None:
    seen = evaluation_of([NOTHING])
    files_of(tmp_path / "first", seen, cache)
    assert cache.stats()[PICTURE].entries == cache.forget([seen.photos[0].sha256]) > 0
    assert PICTURE not in cache.stats()


def test_pictures_are_neither_written_to_a_shared_cache_nor_looked_for_there(tmp_path: Path) -> None:
    (tmp_path / "mount").mkdir()
    uri = str(tmp_path / "mount")
    shared = SharedCache(tmp_path / "here", 10**9, uri=uri, store=open_store(uri), faces=True)
    files_of(tmp_path / "first", evaluation_of([NOTHING]), shared)
    assert PICTURE in shared.stats()
    assert [path for path in (tmp_path / "mount").rglob("*") if path.is_file()] == []
    shared.put("k", "text", Entry([1], 0.0), "a" * 64)  # while others are
    assert [path for path in (tmp_path / "mount").rglob("*") if path.is_file()]
