"""What the last runs and agents hold against the labels, as these are now.

All photos are gone through when the runs are read; after a save only the photo that has changed is.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from harness.labeling.summary import changed_photos
from harness.references.contents import Contents
from harness.references.files import PhotoFile
from harness.references.flags import Flag, open_flags
from harness.references.sets import labels_of
from harness.runs.suspects import Predictions, Suspect, suspects_among
from harness.scoring.detection import Thresholds

Suspects = Mapping[str, Sequence[Suspect]]


def with_flags(suspects: Suspects, flags: Sequence[Flag], contents: Contents) -> Suspects:
    """The suspects, and after them the doubts of agents that nobody has answered."""
    found = dict(suspects)
    for photo in {flag.photo for flag in flags if flag.photo in contents.index.photos}:
        doubts = [
            Suspect(photo, flag.kind, flag.box, 0, 0, ignored=False, doubt=f"doubted by {flag.by}: {flag.why}")
            for flag in open_flags(flags, photo, labels_of(contents, photo))
        ]
        if doubts:
            found[photo] = [*found.get(photo, ()), *doubts]
    return found


class Suspicions:
    """Label suspects by the hash of their photo."""

    def __init__(self, witnesses: Sequence[Predictions], thresholds: Thresholds) -> None:
        self._witnesses, self._thresholds = witnesses, thresholds
        self._photos = frozenset(photo for witness in witnesses for photo in witness)
        self._lock = threading.Lock()
        self._files: tuple[PhotoFile, ...] = ()
        self._found: dict[str, list[Suspect]] = {}

    def among(self, contents: Contents) -> Suspects:
        """The suspects of labels that are the last ones or newer."""
        if not self._photos:
            return {}
        files = (contents.index, contents.bibs, contents.faces)
        with self._lock:
            changed = changed_photos(self._files, files)
            self._files = files
            if changed is None:
                self._found = self._look(contents, self._photos)
            elif changed:
                kept = {photo: found for photo, found in self._found.items() if photo not in changed}
                self._found = kept | self._look(contents, changed & self._photos)
            return self._found

    def _look(self, contents: Contents, photos: Iterable[str]) -> dict[str, list[Suspect]]:
        labels = {photo: labels_of(contents, photo) for photo in photos if photo in contents.index.photos}
        found: dict[str, list[Suspect]] = {}
        for suspect in suspects_among(labels, self._witnesses, self._thresholds):
            found.setdefault(suspect.sha256, []).append(suspect)
        return found
