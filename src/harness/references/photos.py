"""Reading a photo's pixels, and refusing bytes that are not what their name says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import PhotoError
from harness.base.progress import warn
from harness.references.decoding import upright_pixels
from harness.references.photo_files import read_bytes

Image = NDArray[np.uint8]


@dataclass(frozen=True)
class OpenedPhoto:
    """A photo whose bytes are what its name says; its pixels are decoded when somebody asks for them."""

    path: Path
    sha256: str
    content: bytes

    @cached_property
    def image(self) -> Image:
        """The pixels in BGR, with the EXIF orientation applied. Raises PhotoError for a broken file; one of which only
        the last bytes are missing is told."""
        pixels, damage = upright_pixels(self.path, self.content)
        if damage:
            warn(f"{self.path}: {damage}")
        return pixels


@dataclass(frozen=True)
class KnownPhoto:
    """A photo whose bytes were checked before; they are read, and checked again, when somebody asks for its pixels."""

    path: Path
    sha256: str

    @cached_property
    def image(self) -> Image:
        """The pixels in BGR, with the EXIF orientation applied. Raises PhotoError where they cannot be had."""
        return read_photo(self.path, self.sha256)


def open_photo(path: Path, sha256: str) -> OpenedPhoto:
    """Read a photo's bytes and check them. Raises PhotoError for a file that is missing or has other content."""
    content = read_bytes(path)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise PhotoError(f"{path}: content has SHA-256 {found[:12]}..., expected {sha256[:12]}...")
    return OpenedPhoto(path, sha256, content)


def read_photo(path: Path, sha256: str) -> Image:
    """The checked and decoded pixels of a photo."""
    return open_photo(path, sha256).image
