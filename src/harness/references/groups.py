"""Photos that belong together: those of one runner or one burst are no independent samples.

For example, three photos of a burst and a fourth that shows the same bib number are one group: what a pipeline gets
wrong on one of them it tends to get wrong on all. Whatever is resampled, flipped or split is groups.

Groups are formed by joining photos in this order:

1. photos that were imported as one group (`group` in the index), neighbours by hash;
2. bursts: photos of one camera, at most `BURST_SECONDS` after the burst's first one, neighbours in time;
3. photos that share a runner, the pairs with most shared runners first, then by hash. A runner is the identity of a
   face, `anonymous_N` included, somebody of whom is said that they are in the photo, or a complete number of a scored
   bib. Where links tie a number to one identity, both are the same runner.

A tie that would make a group larger than `largest_group` is cut and counted: photos with several runners would
otherwise join a whole race. Groups only grow, so a tie that is cut once would be cut at any later time too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.base.garbage import no_collection
from harness.base.texts import counted
from harness.references.captures import Capture, read_capture
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.photo_files import stored_photos
from harness.scoring.bibs import SCORED, is_complete
from harness.types import FaceScope

#: How photos are grouped: as above, or each by itself.
Grouping = Literal["auto", "photo"]
#: How long after its first photo a burst goes on.
BURST_SECONDS = 10
#: How much of a group's first hash is its name.
_NAME_LENGTH = 16
#: A tuple, since members of an enumeration are slow to hash.
_SCORED = tuple(SCORED)

#: How many ties are looked at together.
_BATCH = 4096

#: Pairs of photos that belong together, by their places among all: the one of each pair, and the other.
Ties = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class Groups:
    """The group of each photo, by the photo's hash; how many ties were cut, and how many joined photos, by kind. With
    `photo`, each photo is a group of its own."""

    of: Mapping[str, str]
    cut: int = 0
    joined: Mapping[str, int] = field(default_factory=dict)
    grouping: Grouping = "auto"

    def members(self) -> dict[str, list[str]]:
        """The photos of each group."""
        found: dict[str, list[str]] = defaultdict(list)
        for photo, group in self.of.items():
            found[group].append(photo)
        return dict(found)

    def broken(self, splits: Mapping[str, str]) -> dict[str, list[str]]:
        """The groups that have photos in both splits."""
        return {name: photos for name, photos in self.members().items() if len({splits[p] for p in photos}) > 1}


@dataclass(frozen=True)
class GroupSummary:
    """The groups of the photos that a run evaluates, and of the whole set: how many ties were cut, and how many groups
    its split breaks."""

    grouping: Grouping
    photos: int
    groups: int
    largest: int
    cut: int
    broken: int

    @classmethod
    def of(cls, groups: Groups, photos: Iterable[str], splits: Mapping[str, str]) -> GroupSummary:
        """What the groups of some photos of a set add up to."""
        chosen = list(photos)
        sizes = Counter(groups.of[photo] for photo in chosen)
        broken = len(groups.broken(splits))
        return cls(groups.grouping, len(chosen), len(sizes), max(sizes.values(), default=0), groups.cut, broken)

    def words(self) -> str:
        """In a sentence, as in `240 photos in 96 groups, the largest of 12; 31 ties between groups were cut.`"""
        photos = counted(self.photos, "photo")
        if self.grouping == "photo":
            return f"{photos}, each a group of its own (references.groups=photo)."
        ties = (
            f"; {counted(self.cut, 'tie')} between groups {'was' if self.cut == 1 else 'were'} cut" if self.cut else ""
        )
        return f"{photos} in {counted(self.groups, 'group')}, the largest of {self.largest}{ties}."


def groups_of(contents: Contents, root: Path, grouping: Grouping) -> Groups:
    """The groups of all photos of a set; `root` is where the photos lie."""
    if grouping == "photo":
        return Groups({photo: photo[:_NAME_LENGTH] for photo in contents.index.photos}, grouping="photo")
    with no_collection():
        return form_groups(contents, captures_of(contents, root))


def captures_of(contents: Contents, root: Path) -> dict[str, Capture]:
    """The captures of photos: from the index, or for those that an older harness entered from their headers. A photo
    that is not there has none."""
    known = {
        photo: Capture(record.taken_at, record.camera)
        for photo, record in contents.index.photos.items()
        if record.taken_at is not None and record.camera is not None
    }
    unread = contents.index.photos.keys() - known.keys()
    stored = stored_photos(root) if unread else {}
    return known | {photo: read_capture(stored[photo]) for photo in unread & stored.keys()}


def largest_group(photos: int) -> float:
    """How many photos a group may have in a set of so many."""
    return max(4, 0.05 * photos)


def form_groups(contents: Contents, captures: Mapping[str, Capture]) -> Groups:
    """The groups that follow from labels, import and captures, in whichever order they are given."""
    photos = sorted(contents.index.photos)
    merging = _Merging(len(photos), largest_group(len(photos)))
    imported: dict[str, list[int]] = defaultdict(list)
    for place, photo in enumerate(photos):
        if group := contents.index.photos[photo].group:
            imported[group].append(place)
    joined = {
        "imported": merging.join(_neighbours(imported.values())),
        "burst": merging.join(_neighbours(_bursts(photos, captures))),
        "runner": merging.join(_shared(_runners(contents, photos))),
    }
    sets = merging.set_of.tolist()
    names = {number: photo[:_NAME_LENGTH] for number, photo in reversed(list(zip(sets, photos, strict=True)))}
    return Groups({photo: names[number] for number, photo in zip(sets, photos, strict=True)}, merging.cut, joined)


def _neighbours(rows: Iterable[Sequence[int]]) -> Ties:
    """Each place tied to the next of its row."""
    ties = np.array([tie for row in rows for tie in pairwise(row)], dtype=np.int64).reshape(-1, 2)
    return ties[:, 0], ties[:, 1]


class _Merging:
    """Sets of places that grow by ties, up to a size."""

    def __init__(self, places: int, largest: float) -> None:
        #: The set of each place, by the number of one of its places.
        self.set_of = np.arange(places)
        self._members = [[place] for place in range(places)]
        self._sizes = np.ones(places, dtype=np.int64)
        self._largest, self.cut = largest, 0

    def join(self, ties: Ties) -> int:
        """Follow ties one after the other; returns how many joined two sets. Those that may not are counted.

        Sets only grow, so that of a batch of ties all are settled at once that are inside a set by now, or cut by now.
        """
        joined = 0
        for start in range(0, len(ties[0]), _BATCH):
            one, other = (places[start : start + _BATCH] for places in ties)
            first, second = self.set_of[one], self.set_of[other]
            apart = first != second
            large = apart & (self._sizes[first] + self._sizes[second] > self._largest)
            self.cut += int(large.sum())
            left = apart & ~large
            joined += sum(map(self._join, one[left].tolist(), other[left].tolist()))
        return joined

    def _join(self, one: int, other: int) -> bool:
        first, second = int(self.set_of[one]), int(self.set_of[other])
        if first == second:
            return False
        size = self._sizes[first] + self._sizes[second]
        if size > self._largest:
            self.cut += 1
            return False
        self.set_of[self._members[second]] = first
        self._members[first] += self._members[second]
        self._sizes[first] = size
        return True


def _bursts(photos: Sequence[str], captures: Mapping[str, Capture]) -> Iterator[list[int]]:
    """Photos of one camera, each at most `BURST_SECONDS` after the first of them, whenever the one before was taken."""
    by_camera: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for place, photo in enumerate(photos):
        capture = captures.get(photo, Capture())
        if capture.camera and capture.taken_at:
            by_camera[capture.camera].append((datetime.fromisoformat(capture.taken_at), place))
    for _, taken in sorted(by_camera.items()):
        bursts: list[list[tuple[datetime, int]]] = []
        for time, place in sorted(taken):
            if bursts and time - bursts[-1][0][0] <= timedelta(seconds=BURST_SECONDS):
                bursts[-1].append((time, place))
            else:
                bursts.append([(time, place)])
        yield from ([place for _, place in burst] for burst in bursts)


def _runners(contents: Contents, photos: Sequence[str]) -> Iterator[set[str]]:
    """Who is in each photo."""
    whose = _wearers(contents)
    for photo in photos:
        bibs = contents.bibs.photos.get(photo, NO_BIBS).boxes
        faces = contents.faces.photos.get(photo, NO_FACES)
        names = {f"name {box.identity}" for box in faces.boxes if box.identity and box.scope != FaceScope.EXCLUDE}
        names.update(f"name {name}" for name in faces.people or ())
        for box in bibs:
            if box.number and box.scope in _SCORED and is_complete(box.number):
                number = box.number.strip()
                names.add(whose.get(number) or f"number {number}")
        yield names


def _wearers(contents: Contents) -> dict[str, str]:
    """The identity that links tie a complete number to. A number with two of them is neither's: one may be wrong."""
    found: dict[str, str] = {}
    for photo in contents.links.photos:
        for number, identity in worn_numbers(contents, photo):
            name = f"name {identity}"
            found[number] = name if found.setdefault(number, name) == name else ""
    return {number: name for number, name in found.items() if name}


def worn_numbers(contents: Contents, photo: str) -> list[tuple[str, str]]:
    """The complete numbers that links of a photo tie to an identity, each with that identity; whatever the scopes."""
    if not (pairs := contents.links.photos.get(photo)):
        return []
    bibs, faces = contents.bibs.photos.get(photo, NO_BIBS).boxes, contents.faces.photos.get(photo, NO_FACES).boxes
    tied = [(bibs[bib].number, faces[face].identity) for bib, face in pairs]
    return [(number.strip(), identity) for number, identity in tied if number and identity and is_complete(number)]


def _shared(runners: Iterable[Iterable[str]]) -> Ties:
    """The pairs of photos that share runners: most of them first, then in the order of the photos."""
    seen: dict[str, list[int]] = defaultdict(list)
    total = 1
    for place, names in enumerate(runners):
        total = place + 1
        for name in names:
            seen[name].append(place)
    by_size: dict[int, list[list[int]]] = defaultdict(list)
    for places in seen.values():
        by_size[len(places)].append(places)
    pairs = [np.zeros(0, dtype=np.int64)]
    for size, rows in by_size.items():  # runners of as many photos at once: there are far fewer sizes than runners
        ascending = np.array(rows, dtype=np.int64)
        first, second = np.triu_indices(size, k=1)
        pairs.append((ascending[:, first] * total + ascending[:, second]).ravel())
    found, shared = np.unique(np.concatenate(pairs), return_counts=True)
    ordered = [found[shared == count] for count in sorted(set(shared.tolist()), reverse=True)]
    return np.divmod(np.concatenate([np.zeros(0, dtype=np.int64), *ordered]), total)
