"""Splits keep groups together: of new photos, and of those whose runners became known later."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidEditError
from harness.references.adding import add_photos
from harness.references.contents import Contents
from harness.references.files import BibGroundTruth, BibLabels, PhotoIndex
from harness.references.groups import Groups, groups_of
from harness.references.importing import ImportedPhoto, ImportedSet, import_set
from harness.references.splitting import mend, mending, split_of
from harness.references.store import LabelStore
from tests.references.builders import bib, make_store, photo_hash
from tests.references.test_groups import jpeg


def splits(store: LabelStore) -> dict[str, str]:
    return {record.names[0]: record.split for record in store.contents().index.photos.values()}


def groups(store: LabelStore) -> Groups:
    return groups_of(store.contents(), store.root, "auto")


def burst(folder: Path, minute: int, photos: int = 4) -> list[Path]:
    """Photos of one moment."""
    return [
        jpeg(folder / f"{minute:02}_{n}.jpg", f"2026:05:03 10:{minute:02}:0{n}", shade=minute * 4 + n)
        for n in range(photos)
    ]


def test_a_burst_that_is_added_falls_on_one_side(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "set")
    add_photos(store, [path for minute in range(40) for path in burst(tmp_path / "in", minute)])
    found = splits(store)
    sides = [{found[f"{minute:02}_{n}.jpg"] for n in range(4)} for minute in range(40)]
    assert all(len(side) == 1 for side in sides)
    assert 4 <= sum(side == {"holdout"} for side in sides) <= 20  # 12 of 40 are to be expected, not three in four
    assert not mending(store.contents(), groups(store)).moves


def test_a_photo_that_belongs_to_no_other_goes_where_its_hash_says(tmp_path: Path) -> None:
    store = LabelStore(tmp_path / "set")
    add_photos(store, [jpeg(tmp_path / f"{n}.jpg", shade=n * 9) for n in range(20)])
    index = store.contents().index.photos
    assert {photo: record.split for photo, record in index.items()} == {photo: split_of(photo) for photo in index}
    assert {record.split for record in index.values()} == {"iteration", "holdout"}


@pytest.mark.parametrize("side", ["iteration", "holdout"])
def test_a_photo_that_is_added_later_goes_where_its_group_is_and_moves_nobody(tmp_path: Path, side: str) -> None:
    store, photos = LabelStore(tmp_path / "set"), burst(tmp_path / "in", 0)
    add_photos(store, photos[:2])
    with store.edit() as draft:
        for photo, record in draft.file(PhotoIndex).photos.items():
            draft.put(PhotoIndex, photo, record.model_copy(update={"split": side}))
    add_photos(store, photos)
    assert set(splits(store).values()) == {side}


def test_an_imported_group_and_a_shared_number_are_kept_together_and_a_split_that_is_given_stays(
    tmp_path: Path,
) -> None:
    def imported(n: int, **more: object) -> ImportedPhoto:
        return ImportedPhoto(path=jpeg(tmp_path / f"{n}.jpg", shade=n * 9), where=f"{n}", **more)  # type: ignore[arg-type]

    store = LabelStore(tmp_path / "set")
    runner = BibLabels(labeled=True, boxes=[bib(0.1, "417")])
    photos = [imported(n, group="finish") for n in range(4)]
    photos += [imported(n, bibs=runner) for n in range(4, 7)]
    photos += [
        imported(n, bibs=BibLabels(boxes=[bib(0.1, "9")]), split=s) for n, s in ((7, "holdout"), (8, "iteration"))
    ]
    import_set(store, ImportedSet(tuple(photos)))
    found = splits(store)
    assert len({found[f"{n}.jpg"] for n in range(4)}) == len({found[f"{n}.jpg"] for n in range(4, 7)}) == 1
    assert (found["7.jpg"], found["8.jpg"]) == ("holdout", "iteration")
    assert mending(store.contents(), groups(store)).broken == 1


def broken(tmp_path: Path) -> LabelStore:
    """Seven photos: 0, 1, 2 of one runner, 3, 4 of another, 5 and 6 of nobody else; each group is in both splits."""
    store = make_store(tmp_path / "set", photos=7, boxes=0)
    numbers = ["1", "1", "1", "2", "2", "3", "4"]
    sides = ["holdout", "iteration", "holdout", "iteration", "holdout", "holdout", "iteration"]
    with store.edit() as draft:
        for n, (number, side) in enumerate(zip(numbers, sides, strict=True)):
            record = draft.record(PhotoIndex, photo_hash(n))
            draft.put(PhotoIndex, photo_hash(n), record.model_copy(update={"split": side, "names": [f"{n}"]}))
            draft.put(BibGroundTruth, photo_hash(n), BibLabels(labeled=True, boxes=[bib(0.1, number)]))
    return store


def test_a_broken_group_goes_where_most_of_it_is_and_else_to_iteration(tmp_path: Path) -> None:
    store = broken(tmp_path)
    plan = mending(store.contents(), groups(store))
    assert plan.broken == 2
    assert plan.moves == {photo_hash(1): "holdout", photo_hash(4): "iteration"}
    mend(store, plan, groups(store))
    assert [splits(store)[f"{n}"] for n in range(7)] == ["holdout"] * 3 + ["iteration"] * 2 + ["holdout", "iteration"]
    assert not mending(store.contents(), groups(store)).moves


def test_nothing_is_moved_where_something_has_changed_meanwhile(tmp_path: Path) -> None:
    store = broken(tmp_path)
    plan, before = mending(store.contents(), groups(store)), groups(store)
    with store.edit() as draft:
        draft.put(BibGroundTruth, photo_hash(4), None)
    now = splits(store)
    with pytest.raises(InvalidEditError, match="changed meanwhile"):
        mend(store, plan, before)
    assert splits(store) == now


def test_each_photo_by_itself_is_broken_by_no_split(tmp_path: Path) -> None:
    contents: Contents = broken(tmp_path).contents()
    assert mending(contents, groups_of(contents, tmp_path, "photo")).broken == 0
