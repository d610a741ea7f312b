"""`people_reviews.json`: what somebody has looked at and wants to leave as it is.

`left_alone` are faces, each `<sha256>:<box id>`, that nobody needs to name. `answers` are cross-checks and what was
said to them. A cross-check is kept as a digest of what it says: the file names nobody, and a check that says something
else, since a label has changed, is asked again.
"""

from __future__ import annotations

import hashlib

from pydantic import Field

from harness.references.fields import is_none
from harness.references.files import LabelFile, Record


class CheckAnswer(Record):
    """What somebody said to a cross-check, and when."""

    check: str = Field(min_length=1)
    answer: str
    at: str
    by: str | None = Field(default=None, exclude_if=is_none)


class PeopleReviews(LabelFile):
    """Faces that are left alone, and cross-checks that have an answer."""

    FILE_NAME = "people_reviews.json"
    left_alone: list[str] = Field(default_factory=list)
    answers: list[CheckAnswer] = Field(default_factory=list)


def check_id(*parts: str) -> str:
    """A cross-check by a digest of its kind and of the labels that it is about."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]
