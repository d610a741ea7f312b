"""Pictures to search with, cut from openpeople's."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from harness.pipeline.cache import FILE
from harness.references.sample.people import picture


def selfie(person: str, name: str = "amateur_posture", width: int = 320) -> Image.Image:
    """The head of a person, in another picture than the one in the tiny set."""
    source = picture(person, name)
    x, y, w, h = source.head
    pixels = source.read()[max(0, y - h // 3) : y + 2 * h, max(0, x - w // 2) : x + 2 * w, ::-1]
    found = Image.fromarray(np.ascontiguousarray(pixels))
    return found.resize((width, round(width * found.height / found.width)))


def two_faces(large: str, small: str) -> Image.Image:
    """Two people beside each other, the second one half as large."""
    first, second = selfie(large), selfie(small, width=160)
    both = Image.new("RGB", (first.width + second.width, first.height), "white")
    both.paste(first, (0, 0))
    both.paste(second, (first.width, 0))
    return both


def jpeg(image: Image.Image) -> bytes:
    content = io.BytesIO()
    image.save(content, "JPEG", quality=92)
    return content.getvalue()


def answers_in(folder: Path) -> list[tuple[Any, ...]]:
    """All that a stage cache keeps."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        return sorted(database.execute("SELECT key, stage, value FROM answers").fetchall())


def bad_pictures(folder: Path) -> dict[str, tuple[Path, str]]:
    """Pictures that cannot be searched with, and what is said about each."""
    whole = jpeg(selfie("P001"))
    contents = {
        "corrupt": (whole[: len(whole) // 2], "not a readable picture"),
        "empty": (b"", "not a readable picture: no known format"),
        "text": (b"hello", "not a readable picture: no known format"),
        "pixel": (jpeg(Image.new("RGB", (1, 1))), "no face was found in it (1 x 1 pixels)"),
        "blank": (jpeg(Image.new("RGB", (300, 200), "gray")), "no face was found in it (300 x 200 pixels)"),
        "small": (_small(), "pixels high; from 20 on faces can be compared (identity.least_height)"),
        "gif": (_gif(), "a picture in the format GIF; expected a photo"),
    }
    found = {}
    for name, (content, words) in contents.items():
        (folder / f"{name}.jpg").write_bytes(content)
        found[name] = folder / f"{name}.jpg", words
    found["missing"] = folder / "missing.jpg", "cannot be read: No such file or directory"
    found["folder"] = folder, "cannot be read: Is a directory"
    return found


def _small() -> bytes:
    return jpeg(selfie("P001", width=32))


def _gif() -> bytes:
    content = io.BytesIO()
    selfie("P001").save(content, "GIF")
    return content.getvalue()
