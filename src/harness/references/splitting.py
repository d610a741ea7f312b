"""Which split photos are in: groups are kept together.

A new photo goes where the photos of its group are, and where it is the first of its group the group's name decides, 70
to 30. Splits of photos that are there never change by themselves: a person may have chosen them. Since runners become
known later, by labels, a group can come to be on both sides; `mending` says how to bring it together again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.base.errors import InvalidEditError
from harness.references.contents import Contents, load_contents
from harness.references.drafts import Draft
from harness.references.files import PhotoIndex
from harness.references.groups import Groups, captures_of, groups_of
from harness.references.store import LabelStore

HOLDOUT_SHARE = 0.3

PhotoSplit = Literal["iteration", "holdout"]


def split_of(sha256: str) -> PhotoSplit:
    """The split that a photo falls into by itself: its hash decides, 70 to 30."""
    return "holdout" if int(sha256[:8], 16) < HOLDOUT_SHARE * 2**32 else "iteration"


def learn_captures(draft: Draft, root: Path) -> None:
    """Enter when and by which camera photos were taken, where an older harness has not."""
    index = draft.by_now(PhotoIndex).photos
    if not any(record.taken_at is None or record.camera is None for record in index.values()):
        return
    for photo, capture in captures_of(load_contents(draft.by_now), root).items():  # one that is lost may come back
        found = {"taken_at": capture.taken_at, "camera": capture.camera}
        draft.put(PhotoIndex, photo, index[photo].model_copy(update=found))


def split_new(draft: Draft, root: Path, new: Collection[str]) -> None:
    """Choose the splits of photos that have just been entered."""
    if not new:
        return
    contents = load_contents(draft.by_now)
    index = contents.index.photos
    for group, photos in groups_of(contents, root, "auto").members().items():
        entered = [photo for photo in photos if photo in new]
        if not entered or len(photos) == 1:
            continue
        settled = [index[photo].split for photo in photos if photo not in new]
        # The name begins with the smallest hash of the group, which is small in large groups: it is hashed again.
        split = _most(settled) if settled else split_of(hashlib.sha256(group.encode()).hexdigest())
        for photo in entered:
            draft.put(PhotoIndex, photo, index[photo].model_copy(update={"split": split}))


@dataclass(frozen=True)
class Mending:
    """How groups come together: the groups that a split breaks, and the photos that move, each with its new split."""

    broken: int
    moves: Mapping[str, PhotoSplit]


def mending(contents: Contents, groups: Groups) -> Mending:
    """The fewest moves that bring each broken group to one side: where it has most photos, or else `iteration`."""
    splits = {photo: record.split for photo, record in contents.index.photos.items()}
    broken = groups.broken(splits)
    moves: dict[str, PhotoSplit] = {}
    for photos in broken.values():
        side = _most(splits[photo] for photo in photos)
        moves |= {photo: side for photo in photos if splits[photo] != side}
    return Mending(len(broken), dict(sorted(moves.items())))


def mend(store: LabelStore, plan: Mending, groups: Groups) -> None:
    """Move photos as planned, all of them or none. Where labels or splits have changed since, nothing is moved."""
    with store.edit() as draft:
        contents = load_contents(draft.by_now)
        now = groups_of(contents, store.root, groups.grouping)
        if mending(contents, now) != plan:
            raise InvalidEditError(f"{store.root}: labels or splits were changed meanwhile; look again")
        for photo, split in plan.moves.items():
            draft.put(PhotoIndex, photo, contents.index.photos[photo].model_copy(update={"split": split}))


def _most(splits: Iterable[PhotoSplit]) -> PhotoSplit:
    counts = Counter(splits)
    return "holdout" if counts["holdout"] > counts["iteration"] else "iteration"
