"""The photos of a reference set as a file of predictions names them: by hash, by name, and how large they are."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path, PureWindowsPath

from harness.references.photo_files import size_on_disk, stored_photos
from harness.references.sets import KnownPhoto, ReferencePhoto, ReferenceSet
from harness.tasks.photos.prediction_lines import LineError, Size


class SetPhotos:
    """The photos of a set: `used` are those of the run, `known` also those of other splits, both by their hashes."""

    def __init__(self, references: ReferenceSet) -> None:
        self.used: dict[str, ReferencePhoto] = {photo.sha256: photo for photo in references.photos}
        self.known: dict[str, KnownPhoto] = {photo.sha256: photo for photo in references.known}
        self._references = references
        self._named: dict[str, list[str]] = {}
        for photo in references.known:
            for name in set(photo.names):
                self._named.setdefault(name, []).append(photo.sha256)

    def find(self, name: str) -> list[str]:
        """The hashes of the photos of this name."""
        return self._named.get(name, [])

    def find_file(self, name: str) -> str | None:
        """The hash of the photo that is stored under this name: the files of a set are called by their hashes."""
        sha256 = PureWindowsPath(name).stem.lower()
        return sha256 if sha256 in self.known else None

    def near(self, name: str) -> str:
        """What the set has for somebody who wrote a name that it does not have."""
        near = PureWindowsPath(name).name  # behind slashes of either kind
        if self.find(near):
            return f" (the set has {near})"
        return ' (the name of a stored file: give its hash as "sha256")' if self.find_file(name) else ""

    def size(self, sha256: str, believed: Size | None) -> Size:
        """Width and height of the upright photo, from its header."""
        width, height = size_on_disk(self._path(sha256))
        if believed is not None and believed != (width, height):
            told = f"taken to be {believed[0]} x {believed[1]}"
            raise LineError(f"{told}; expected {width} x {height}, which the photo is upright")
        return width, height

    def _path(self, sha256: str) -> Path:
        """Where a photo lies; those of other splits lie in the same folder."""
        if sha256 in self.used:
            return self.used[sha256].path
        return self._stored.get(sha256, self._folder / sha256)

    @property
    def _folder(self) -> Path:
        return self._references.photos[0].path.parent

    @cached_property
    def _stored(self) -> dict[str, Path]:
        return stored_photos(self._folder.parent)
