"""Reading a photo's pixels, and refusing bytes that are not what their name says."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import PhotoError
from harness.references.photo_files import read_bytes, upright

Image = NDArray[np.uint8]


def read_photo(path: Path, sha256: str) -> Image:
    """Decode a photo to BGR with its EXIF orientation applied.

    Truncated or broken files raise a PhotoError; so does a file whose content does not match its hash.
    """
    content = read_bytes(path)
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise PhotoError(f"{path}: content has SHA-256 {found[:12]}..., expected {sha256[:12]}...")
    return np.ascontiguousarray(np.asarray(upright(path, content))[:, :, ::-1])
