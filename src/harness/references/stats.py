"""What a reference set holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.garbage import no_collection
from harness.references.completeness import State, completeness
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.types import BibScope, FaceScope, Split

Counts = dict[str, int]


@dataclass(frozen=True)
class Stats:
    """Counts of photos, unless the name says otherwise. Scopes, box tags and identities count boxes."""

    photos: int
    splits: Counts
    states: Counts
    done: Counts
    bib_boxes: int
    bib_scopes: Counts
    bib_numbers: int
    bib_tags: Counts
    face_boxes: int
    face_scopes: Counts
    face_box_tags: Counts
    face_tags: Counts
    links: int
    known_names: int
    identities: Counts


def count(contents: Contents) -> Stats:
    """Count the labels of the photos that are in the index."""
    with no_collection():
        return _count(contents)


def _count(contents: Contents) -> Stats:
    photos = contents.index.photos
    bibs = [contents.bibs.photos.get(photo, NO_BIBS) for photo in photos]
    faces = [contents.faces.photos.get(photo, NO_FACES) for photo in photos]
    bib_boxes = [box for labels in bibs for box in labels.boxes]
    face_boxes = [box for labels in faces for box in labels.boxes]
    done = [completeness(contents, photo) for photo in photos]
    return Stats(
        photos=len(photos),
        splits=_in_order((record.split for record in photos.values()), (Split.ITERATION, Split.HOLDOUT)),
        states=_in_order((item.state for item in done), State),
        done={name: sum(getattr(item, name) for item in done) for name in ("bibs", "faces", "links")},
        bib_boxes=len(bib_boxes),
        bib_scopes=_in_order((box.scope for box in bib_boxes), BibScope),
        bib_numbers=len({box.number for box in bib_boxes if box.number}),
        bib_tags=_by_count(tag for labels in bibs for tag in labels.tags),
        face_boxes=len(face_boxes),
        face_scopes=_in_order((box.scope for box in face_boxes), FaceScope),
        face_box_tags=_by_count(tag for box in face_boxes for tag in box.tags),
        face_tags=_by_count(tag for labels in faces for tag in labels.tags),
        links=sum(len(contents.links.photos.get(photo, ())) for photo in photos),
        known_names=len(contents.identities.names),
        identities=_by_count(box.identity for box in face_boxes if box.identity),
    )


def _in_order(found: Iterable[str], order: Iterable[str]) -> Counts:
    counts = Counter(map(str, found))
    return {str(name): counts[str(name)] for name in order}


def _by_count(found: Iterable[str]) -> Counts:
    return dict(sorted(Counter(found).items(), key=lambda item: (-item[1], item[0])))
