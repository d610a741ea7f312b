"""A blind audit: photos are drawn that are labelled completely, and somebody labels them again, seeing neither
suggestions nor labels. It answers one question: how far can the labels be trusted, and those that were accepted from
suggestions less than those that were drawn? `agreement.py` compares.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

from harness.base.errors import InvalidEditError, UnknownPhotoError
from harness.references.audit_file import Audit, BlindLabels
from harness.references.completeness import completeness
from harness.references.files import BibLabels, FaceLabels
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.references.tracing import traced


def draw_audit(store: LabelStore, count: int, seed: int = 0) -> list[str]:
    """Draw photos that are labelled completely into the sample; returns those that are new in it."""
    contents = store.contents()
    with store.edit() as draft:
        known = draft.file(Audit).photos
        open_ones = [
            photo
            for photo in sorted(contents.index.photos)
            if photo not in known and completeness(contents, photo).complete
        ]
        if count < 1 or not open_ones:
            raise InvalidEditError(
                f"{store.root}: nothing to draw: {len(open_ones)} photos are labelled completely and not drawn yet, "
                f"and {count} are asked for"
            )
        chosen = random.Random(seed).sample(open_ones, min(count, len(open_ones)))
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for photo in chosen:
            draft.put(Audit, photo, BlindLabels(drawn_at=now))
    return chosen


def save_blind(store: LabelStore, photo: str, labels: BibLabels | FaceLabels, by: str | None = None) -> None:
    """Set the blind labels of one kind of a photo of the sample; whoever saves last is right."""
    with store.edit() as draft:
        record: BlindLabels | None = draft.record(Audit, photo)
        if record is None:
            raise UnknownPhotoError(f"{store.root / Audit.FILE_NAME}: photo {photo} is not in the sample")
        if isinstance(labels, BibLabels):
            made = {"bibs": traced(photo, labels, None, {}, Suggestions(), by)}
            draft.put(Audit, photo, record.model_copy(update=made))
        else:
            blind = {"faces": traced(photo, labels, None, {}, Suggestions(), by)}
            draft.put(Audit, photo, record.model_copy(update=blind))
