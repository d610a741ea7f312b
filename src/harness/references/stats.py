"""What a reference set holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from harness.base.garbage import no_collection
from harness.references.agreement import AuditReport, audit_report
from harness.references.audit_file import Audit
from harness.references.completeness import State, completeness
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.cross_checks import Finding, cross_check
from harness.references.groups import Groups, GroupSummary
from harness.types import BibScope, FaceScope, Split

Counts = dict[str, int]

_ORIGINS = ("drawn", "accepted", "edited", "imported", "unknown")


@dataclass(frozen=True)
class Stats:
    """Counts of photos, unless the name says otherwise. Scopes, box tags, identities and origins count boxes; `people`
    counts the photos that somebody is said to be in, `selfies` the pictures that they search with, by name.

    `review` are the photos, hash -> name, that an older rule took for complete and that nobody called done.
    `cross_checks` are labels that are hard to believe together. `audit` is None where nothing was drawn for one.
    """

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
    people: Counts
    selfies: Counts
    groups: dict[str, Any]
    review: dict[str, str]
    cross_checks: tuple[Finding, ...]
    origins: dict[str, Counts]
    audit: AuditReport | None = None


def count(contents: Contents, groups: Groups, audit: Audit | None = None) -> Stats:
    """Count the labels of the photos that are in the index; with what a blind audit says about them."""
    with no_collection():
        return _count(contents, groups, audit or Audit())


def _count(contents: Contents, groups: Groups, audit: Audit) -> Stats:
    photos = contents.index.photos
    bibs = [contents.bibs.photos.get(photo, NO_BIBS) for photo in photos]
    faces = [contents.faces.photos.get(photo, NO_FACES) for photo in photos]
    bib_boxes = [box for labels in bibs for box in labels.boxes]
    face_boxes = [box for labels in faces for box in labels.boxes]
    done = [completeness(contents, photo) for photo in photos]
    splits = {photo: record.split for photo, record in photos.items()}
    return Stats(
        photos=len(photos),
        splits=_in_order((record.split for record in photos.values()), (Split.ITERATION, Split.HOLDOUT)),
        states=_in_order((item.state for item in done), State),
        done={name: sum(getattr(item, name) for item in done) for name in ("bibs", "faces", "links", "people")},
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
        people=_by_count(name for labels in faces for name in labels.people or ()),
        selfies=_by_count(contents.selfies.photos.values()),
        groups=asdict(GroupSummary.of(groups, photos, splits)) | {"joined": dict(groups.joined)},
        review={photo: photos[photo].names[0] for photo, item in zip(photos, done, strict=True) if item.review},
        cross_checks=cross_check(contents),
        origins={
            "bibs": _in_order((box.origin.how if box.origin else "unknown" for box in bib_boxes), _ORIGINS),
            "faces": _in_order((box.origin.how if box.origin else "unknown" for box in face_boxes), _ORIGINS),
        },
        audit=audit_report(contents, audit),
    )


def _in_order(found: Iterable[str], order: Iterable[str]) -> Counts:
    counts = Counter(map(str, found))
    return {str(name): counts[str(name)] for name in order}


def _by_count(found: Iterable[str]) -> Counts:
    return dict(sorted(Counter(found).items(), key=lambda item: (-item[1], item[0])))
