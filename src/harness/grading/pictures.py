"""Images for a report: upright, scaled down and inside the page, so that it can be sent to a student as one file."""

from __future__ import annotations

import base64
import io
from pathlib import Path

from harness.base.errors import GradingError

LONG_SIDE = 960
QUALITY = 78


def embedded(path: Path, said: tuple[int, int] | None) -> tuple[str, tuple[int, int]]:
    """A small JPEG as a data address, and the size of the upright image, which must be what its annotations say."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise GradingError(f"{path}: not a readable picture: {error}") from error
    size = picture.size
    if said not in (None, size):
        raise GradingError(f"{path}: is {size[0]} x {size[1]} upright, but its annotations say {said[0]} x {said[1]}")
    picture.thumbnail((LONG_SIDE, LONG_SIDE))
    content = io.BytesIO()
    picture.save(content, "JPEG", quality=QUALITY, optimize=True)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode(), size
