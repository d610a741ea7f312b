"""Doubts about labels that an agent has told: for somebody to look at. They change no label and no score.

A doubt is a line of `flags.jsonl` in the folder of the set. It stands until the labels of its photo are changed, which
is how a person answers it, or until its line is deleted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.base.checks import first_error
from harness.base.disk import write_atomically
from harness.base.errors import ReferenceSetError
from harness.base.locks import file_lock
from harness.types import BibBox, FaceBox, PhotoLabels

FILE, _LOCK = "flags.jsonl", ".flags.lock"
#: An agent that doubts everything has told nothing.
MOST_OPEN = 200


class Flag(BaseModel):
    """A doubt about one label of a photo: which box, or the whole photo; why; who has it; and the labels that it is
    about, as a digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    photo: str
    kind: Literal["bib", "face"]
    x: float = 0.0
    y: float = 0.0
    w: float = 1.0
    h: float = 1.0
    number: str | None = None
    why: str
    by: str
    study: str
    at: str
    labels: str

    @property
    def box(self) -> BibBox | FaceBox:
        """Where it is."""
        if self.kind == "face":
            return FaceBox(x=self.x, y=self.y, w=self.w, h=self.h)
        return BibBox(x=self.x, y=self.y, w=self.w, h=self.h, number=self.number)

    def is_about(self, labels: PhotoLabels) -> bool:
        """Whether the labels of its photo are still those that it is about."""
        return self.labels == labels_digest(labels)


def labels_digest(labels: PhotoLabels) -> str:
    """A digest of what people said about a photo."""
    return hashlib.sha256(repr((labels.bibs, labels.faces, labels.links, labels.people)).encode()).hexdigest()[:16]


def read_flags(root: Path) -> tuple[Flag, ...]:
    """Every doubt about the labels of a set, in the order in which they were told."""
    path = root / FILE
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return ()
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(Flag.model_validate(orjson.loads(line)))
        except (orjson.JSONDecodeError, ValidationError) as error:
            told = first_error(error) if isinstance(error, ValidationError) else str(error)
            raise ReferenceSetError(f"{path}:{number}: no flag: {told}") from error
    return tuple(found)


def add_flag(root: Path, flag: Flag) -> bool:
    """Keep a doubt; False where the same one stands already. Raises ReferenceSetError where there are too many."""
    with file_lock(root / _LOCK):
        before = read_flags(root)
        if any(_same(flag, each) for each in before):
            return False
        if len(before) >= MOST_OPEN:
            raise ReferenceSetError(
                f"{root / FILE}: {len(before)} doubts wait for a person to look at them; no more are taken"
            )
        write_atomically(root / FILE, b"".join(_line(each) for each in (*before, flag)))
    return True


def _same(one: Flag, other: Flag) -> bool:
    place = [(each.photo, each.kind, each.x, each.y, each.w, each.h, each.labels) for each in (one, other)]
    return place[0] == place[1]


def _line(flag: Flag) -> bytes:
    return orjson.dumps(flag.model_dump()) + b"\n"


def open_flags(flags: Sequence[Flag], photo: str, labels: PhotoLabels) -> list[Flag]:
    """The doubts about a photo that nobody has answered yet."""
    return [flag for flag in flags if flag.photo == photo and flag.is_about(labels)]
