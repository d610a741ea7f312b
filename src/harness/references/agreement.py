"""How far labels agree with what somebody saw who labelled the same photos blind.

A label is confirmed where a blind box lies in its place (as a suggestion and a label are compared) and, for bibs, has
the same number; what is marked as no bib or no face takes no part. Labels that were accepted as they were suggested are
counted apart from all others: where they are confirmed less often, suggestions have led people astray. A blind box
without a label is one that was missed. Intervals are those of runs, over photos.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from harness.references.audit_file import Audit
from harness.references.contents import NO_BIBS, NO_FACES, Contents
from harness.references.files import BibRecord, FaceRecord
from harness.references.suggestions import same_place
from harness.scoring.uncertainty import rate_intervals
from harness.types import BibScope, FaceScope

Box = BibRecord | FaceRecord
_KINDS = ("bibs", "faces")


@dataclass(frozen=True)
class Share:
    """`right` of `n`, with an interval where there is one."""

    right: int
    n: int
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if not self.n:
            return "none"
        between = "" if self.low is None or self.high is None else f" [{self.low:.1%}, {self.high:.1%}]"
        return f"{self.right / self.n:.1%}{between} ({self.right} of {self.n})"


@dataclass(frozen=True)
class Agreement:
    """Of one kind of label: labels that are confirmed blind; of these the ones accepted as suggested, and all others;
    and blind boxes that have a label. `photos` were labelled blind."""

    photos: int
    confirmed: Share
    accepted: Share
    others: Share
    found: Share


@dataclass(frozen=True)
class AuditReport:
    """What a blind audit came to; `disagreements` says where, each in words."""

    drawn: int
    bibs: Agreement
    faces: Agreement
    disagreements: tuple[str, ...]


@dataclass(frozen=True)
class _Photo:
    """One photo's labels of one kind against its blind ones: each label with whether it is confirmed."""

    labels: Sequence[tuple[Box, bool]]
    missed: Sequence[Box]
    blind: int


def audit_report(contents: Contents, audit: Audit, photos: Collection[str] | None = None) -> AuditReport | None:
    """What the audit says about the labels as they are now, of `photos` alone where they are given; None where nothing
    was drawn."""
    drawn = {
        photo: record
        for photo, record in audit.photos.items()
        if photo in contents.index.photos and (photos is None or photo in photos)
    }
    if not drawn:
        return None
    told: list[str] = []
    found: dict[str, Agreement] = {}
    for kind in _KINDS:
        compared = []
        for photo, record in sorted(drawn.items(), key=lambda item: contents.index.photos[item[0]].names[0]):
            blind = getattr(record, kind)
            labels = (contents.bibs if kind == "bibs" else contents.faces).photos.get(photo)
            labels = labels or (NO_BIBS if kind == "bibs" else NO_FACES)
            if not blind.labeled or not labels.labeled:
                continue
            compared.append(_compare(labels.boxes, blind.boxes))
            told += [
                f"{contents.index.photos[photo].names[0]}: {text}" for text in _words(kind, compared[-1], blind.boxes)
            ]
        found[kind] = _agreement(compared)
    return AuditReport(len(drawn), found["bibs"], found["faces"], tuple(told))


def _compare(labels: Sequence[Box], blind: Sequence[Box]) -> _Photo:
    left = [box for box in blind if _is_real(box)]
    blind_count = len(left)
    judged = []
    for label in labels:
        if not _is_real(label):
            continue
        near = [box for box in left if same_place(box, label)]
        best = next((box for box in near if _number(box) == _number(label)), near[0] if near else None)
        if best is not None:
            left.remove(best)
        judged.append((label, best is not None and _number(best) == _number(label)))
    return _Photo(judged, left, blind_count)


def _is_real(box: Box) -> bool:
    return box.scope not in (BibScope.NOT_BIB, FaceScope.EXCLUDE) and box.w > 0 and box.h > 0


def _number(box: Box) -> str | None:
    return box.number if isinstance(box, BibRecord) else None


def _accepted(box: Box) -> bool:
    return box.origin is not None and box.origin.how == "accepted"


def _words(kind: str, photo: _Photo, blind: Sequence[Box]) -> Iterator[str]:
    what = kind[:-1]
    for label, confirmed in photo.labels:
        if not confirmed:
            near = [_number(box) for box in blind if _is_real(box) and same_place(box, label)]
            seen = f"seen blind as {near[0] or 'without a number'}" if near else "not seen blind"
            how = label.origin.how if label.origin else "of unknown origin"
            yield f"{what} {_number(label) or ''}".strip() + f", {how}: {seen}"
    for box in photo.missed:
        yield f"{what} {_number(box) or ''}".strip() + ": seen blind, and not labelled"


def _agreement(photos: Sequence[_Photo]) -> Agreement:
    def counts(wanted: Sequence[tuple[Box, bool]]) -> tuple[int, int]:
        return sum(confirmed for _, confirmed in wanted), len(wanted)

    sides = {
        "confirmed": [counts(photo.labels) for photo in photos],
        "accepted": [counts([item for item in photo.labels if _accepted(item[0])]) for photo in photos],
        "others": [counts([item for item in photo.labels if not _accepted(item[0])]) for photo in photos],
        "found": [(photo.blind - len(photo.missed), photo.blind) for photo in photos],
    }
    rates = {
        name: ([float(right) for right, _ in pairs], [float(n) for _, n in pairs])
        for name, pairs in sides.items()
        if sum(n for _, n in pairs)
    }
    known = rate_intervals(rates) if rates else {}

    def share(name: str) -> Share:
        right, n = sum(right for right, _ in sides[name]), sum(n for _, n in sides[name])
        interval = known.get(name)
        return Share(right, n, interval.low, interval.high) if interval else Share(right, n)

    return Agreement(len(photos), share("confirmed"), share("accepted"), share("others"), share("found"))
