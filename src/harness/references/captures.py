"""When and by which camera a photo was taken, as its EXIF header says.

Cameras write DateTimeOriginal in seconds and, most of them, SubSecTimeOriginal for the fraction. Nothing is guessed: a
photo whose header has no such tags, or is damaged, has no time and no camera, and belongs to no burst.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

_MAKE, _MODEL, _EXIF = 0x010F, 0x0110, 0x8769
_TAKEN, _SUBSECONDS, _SERIAL = 0x9003, 0x9291, 0xA431


@dataclass(frozen=True, slots=True)
class Capture:
    """When a photo was taken, in ISO form and the camera's own time, and by which camera; "" where it is not said."""

    taken_at: str = ""
    camera: str = ""


def read_capture(file: Path | BinaryIO) -> Capture:
    """What the header of a photo says; nothing else of it is read. A file that cannot be read says nothing: whoever
    needs its pixels finds out, and says so."""
    from PIL import Image as Pillow

    try:
        with Pillow.open(file) as opened:
            header = opened.getexif()
            details = header.get_ifd(_EXIF)
    except Exception:  # noqa: BLE001 - Pillow raises whatever it stumbles over in a damaged header
        return Capture()
    camera = (_text(header.get(_MAKE)), _text(header.get(_MODEL)), _text(details.get(_SERIAL)))
    taken_at = _time(_text(details.get(_TAKEN)), _text(details.get(_SUBSECONDS)))
    return Capture(taken_at, " ".join(filter(None, camera)))


def _time(taken: str, subseconds: str) -> str:
    try:
        second = datetime.strptime(taken, "%Y:%m:%d %H:%M:%S")
    except ValueError:
        return ""
    fraction = subseconds[:6] if subseconds.isdecimal() and subseconds.isascii() else ""
    return second.isoformat() + (f".{fraction}" if fraction else "")


def _text(value: Any) -> str:
    return " ".join(value.replace("\0", " ").split()) if isinstance(value, str) else ""
