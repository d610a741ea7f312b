"""Small pictures of parts of photos, in memory: as many as fit, the longest unseen ones make room."""

from __future__ import annotations

import io
import threading
from collections import OrderedDict
from pathlib import Path

from harness.labeling.people.faces import Place
from harness.references.decoding import upright
from harness.references.photo_files import read_bytes

#: Pixels on each side, and how much of the photo is shown around the box, as a share of it.
SIDE, MARGIN = 144, 0.25
#: What is kept; a crop takes about 6 kB, so that these are some 10,000.
MOST_BYTES = 64 << 20


class Crops:
    """Parts of photos as JPEG. They are kept in memory alone, for as long as the server runs."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._bytes = most_bytes, 0
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, Place], bytes] = OrderedDict()

    @property
    def size(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def get(self, path: Path, sha256: str, place: Place) -> bytes:
        """A square part of a photo around a box. Raises PhotoError where the photo cannot be read."""
        key = (sha256, place)
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return found
        made = crop(path, place)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._bytes += len(made)
            while self._bytes > self._most and len(self._kept) > 1:
                self._bytes -= len(self._kept.popitem(last=False)[1])
        return made


def crop(path: Path, place: Place) -> bytes:
    """The part of a photo around a box, as wide as high; it is cut off at the edges of the photo."""
    x, y, w, h = place
    # A large JPEG is decoded no larger than the crop needs.
    picture = upright(path, read_bytes(path), round(SIDE / max(min(w, h), 0.005)))
    width, height = picture.size
    side = max(w * width, h * height) * (1 + 2 * MARGIN)
    middle = ((x + w / 2) * width, (y + h / 2) * height)
    box = (
        max(0, round(middle[0] - side / 2)),
        max(0, round(middle[1] - side / 2)),
        min(width, round(middle[0] + side / 2) + 1),
        min(height, round(middle[1] + side / 2) + 1),
    )
    part, encoded = picture.crop(box), io.BytesIO()
    part.thumbnail((SIDE, SIDE))
    part.save(encoded, "JPEG", quality=85)
    return encoded.getvalue()
