"""An agent's doubt about a label, kept for a person to look at. It changes no label and no score."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from harness.base.errors import ConfigError
from harness.base.texts import one_line
from harness.references.flags import FILE, Flag, add_flag, labels_digest
from harness.references.sets import ReferencePhoto
from harness.search.inspection import find_photo, photos_of
from harness.search.ledger import Ledger


def flag_label(
    ledger: Ledger,
    by: str,
    photo: str,
    what: Literal["bib", "face"],
    why: str,
    number: str = "",
    box: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Put a doubt about a photo of the search into the queue of label suspects."""
    task = photos_of(ledger)
    chosen = find_photo(task, photo)
    x, y, w, h = _place(chosen, what, number, box)
    flag = Flag(
        photo=chosen.sha256,
        kind=what,
        x=x,
        y=y,
        w=w,
        h=h,
        number=number or None,
        why=one_line(why),
        by=by,
        study=ledger.experiment.study,
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        labels=labels_digest(chosen.labels),
    )
    new = add_flag(task.references.root, flag)
    told = f"kept in {FILE} for a person to look at" if new else "somebody has doubted it before"
    return {"photo": chosen.name, "what": what, "told": f"{told}; nothing else changes, and the photo counts as before"}


def _place(photo: ReferencePhoto, what: str, number: str, box: Sequence[float] | None) -> Sequence[float]:
    """Where the doubt is about: the box that is given, that of the number, or the whole photo."""
    if box is not None:
        x, y, w, h = box
        if not (0 <= x < 1 and 0 <= y < 1 and 0 < w <= 1 - x + 1e-9 and 0 < h <= 1 - y + 1e-9):
            raise ConfigError(f"box: expected x, y, w, h as shares of the photo, got {list(box)}")
        return box
    if not number:
        return 0.0, 0.0, 1.0, 1.0
    worn = [each for each in photo.bibs if (each.number or "").strip() == number]
    if what != "bib" or not worn:
        raise ConfigError(f"number: no bib of {photo.name} is labelled {number!r}")
    return worn[0].xywh if worn[0].has_coords else (0.0, 0.0, 1.0, 1.0)
