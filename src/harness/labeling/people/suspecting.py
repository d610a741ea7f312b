"""The queue of suspects, made aside: a request gets those that were found last, without what has an answer by now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from harness.labeling.chores import Chores
from harness.labeling.people import workbench
from harness.labeling.people.faces import FaceIndex
from harness.labeling.people.suspects import Suspect, suspects_of
from harness.labeling.people.workbench import Made, Workbench
from harness.labeling.refusals import Refusal
from harness.labeling.source import LabelSource
from harness.references.cross_checks import Finding

_CHORE = "suspects"


@dataclass(frozen=True)
class _Found:
    """Suspects, and what they were found in."""

    files: Sequence[object]
    made: Made
    settled: frozenset[str]
    suspects: Sequence[Suspect]

    def is_of(self, files: Sequence[object], made: Made, settled: frozenset[str]) -> bool:
        """Whether nothing has changed since."""
        same = all(old is new for old, new in zip(self.files, files, strict=True))
        return same and self.made is made and self.settled == settled


class SuspectQueue:
    """The suspects of one source."""

    def __init__(self, source: LabelSource, people: Workbench, findings: Callable[[], Sequence[Finding]]) -> None:
        self._source, self._people, self._findings = source, people, findings
        self._chores = Chores()
        self._found: _Found | None = None
        self._took = 0.0

    def current(self, most: int) -> tuple[list[Suspect], int, bool]:
        """The first of what has no answer yet, as it was found last; how many there are, those beyond the first as they
        were counted then; and whether that is up to date."""
        deadline = time.monotonic() + workbench.worth_waiting(workbench.MOMENT, self._took)
        made, compared = self._people.made(workbench.MOMENT)
        while not (fresh := self._is_fresh(made)):
            if (chore := self._chores.get(_CHORE)) and chore.problem and not chore.running:
                raise Refusal(500, "failed", f"labels cannot be cross-checked: {chore.problem}")
            self._chores.start(_CHORE, "labels are being cross-checked", self._find)
            if time.monotonic() > deadline:
                break
            time.sleep(0.01)
        first = list(islice(self._open(), most))
        total = len(self._found.suspects) if self._found and len(first) == most else len(first)
        return first, total, fresh and compared

    def find(self, check: str) -> Suspect | None:
        """A suspect without an answer; None where the labels do not say this any more."""
        if found := self._one(check):
            return found
        self.current(0)
        return self._one(check)

    def _one(self, check: str) -> Suspect | None:
        return next((each for each in self._open() if each.check == check), None)

    def _open(self) -> Iterator[Suspect]:
        index, settled = self._people.index(), self._people.settled()
        found = self._found.suspects if self._found else ()
        return (each for each in found if each.check not in settled and _still_said(each, index))

    def _files(self) -> Sequence[object]:
        contents = self._source.contents()
        return (contents.index, contents.bibs, contents.faces, contents.links)

    def _is_fresh(self, made: Made) -> bool:
        return self._found is not None and self._found.is_of(self._files(), made, self._people.settled())

    def _find(self) -> str:
        started = time.monotonic()
        files, settled = self._files(), self._people.settled()
        made, _ = self._people.made(0.0)
        found = suspects_of(self._findings(), made.alike, self._people.index(), settled)
        self._found = _Found(files, made, settled, found)
        self._took = time.monotonic() - started
        return "labels were cross-checked"


def _still_said(suspect: Suspect, index: FaceIndex) -> bool:
    """Whether the faces still have the names that the suspect is about."""
    return all(
        side.face is None or ((now := index.by_name.get(side.face.name)) and now.identity == side.face.identity)
        for side in (suspect.left, suspect.right)
    )
