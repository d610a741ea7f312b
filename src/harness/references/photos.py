"""Reading a photo's pixels, and refusing bytes that are not what their name says."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.errors import PhotoError

Image = NDArray[np.uint8]


def read_photo(path: Path, sha256: str) -> Image:
    """Decode a photo to BGR with its EXIF orientation applied.

    Truncated or broken files raise a PhotoError; so does a file whose content does not match its hash.
    """
    from PIL import Image as Pillow
    from PIL import ImageOps

    try:
        content = path.read_bytes()
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise PhotoError(f"{path}: content has SHA-256 {found[:12]}..., expected {sha256[:12]}...")
    try:
        with Pillow.open(io.BytesIO(content)) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise PhotoError(f"{path}: not a readable picture: {error}") from error
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])
