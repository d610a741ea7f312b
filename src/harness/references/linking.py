"""Links follow their boxes: links are positions in the label lists, and an edit of a list moves them.

Each new box may say which old one it was. Where nothing is said, a box with the coordinates of an old one is that one,
in order; that covers removing and reordering. A link goes only where its box is gone. An edit that says nothing, and
leaves both a linked box without a successor and a new box without a predecessor, may be a move or a removal: it is
refused, since a guess would lose a link or make a false one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.base.errors import InvalidEditError
from harness.references.files import BoxRecord, LinkPairs

Boxes = Sequence[BoxRecord]
#: For each new box the position of the box that it was, or None for one that was just drawn.
Origins = Sequence[int | None]


def destinations(old: Boxes, new: Boxes, origins: Origins | None, linked: Iterable[int]) -> dict[int, int]:
    """Where the old boxes are now: old position -> new position, for those that are still there."""
    if origins is not None:
        return _as_told(len(old), len(new), origins)
    places: dict[tuple[float, ...], list[int]] = {}
    for position, box in enumerate(old):
        places.setdefault(_coordinates(box), []).append(position)
    found: dict[int, int] = {}
    for position, box in enumerate(new):
        if same := places.get(_coordinates(box)):
            found[same.pop(0)] = position
    lost = sorted(set(linked) - found.keys())
    if lost and len(found) < len(new):
        raise InvalidEditError(
            f"box {lost[0]} has a link and is not among the new boxes as it was; "
            "say for each new box which old one it was (null for a new one)"
        )
    return found


def follow(pairs: LinkPairs, bibs: dict[int, int] | None, faces: dict[int, int] | None) -> LinkPairs:
    """The links after a move of bibs, of faces or of both; None says that a list has not changed."""
    return [
        (bib if bibs is None else bibs[bib], face if faces is None else faces[face])
        for bib, face in pairs
        if (bibs is None or bib in bibs) and (faces is None or face in faces)
    ]


def _as_told(old: int, new: int, origins: Origins) -> dict[int, int]:
    if len(origins) != new:
        raise InvalidEditError(f"origins: {len(origins)} given for {new} boxes")
    told: dict[int, int] = {}
    for position, origin in enumerate(origins):
        if origin is None:
            continue
        if not 0 <= origin < old:
            raise InvalidEditError(f"origins.{position}: there was no box {origin}; there were {old}")
        if origin in told:
            raise InvalidEditError(f"origins.{position}: box {origin} is named twice")
        told[origin] = position
    return told


def _coordinates(box: BoxRecord) -> tuple[float, ...]:
    return (box.x, box.y, box.w, box.h)
