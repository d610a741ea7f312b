"""The openpeople pictures that the sample is composed from, with labels checked by eye.

`people.json` says of each picture where the face, the head with its hair, the shirt between the arms and the
whole body are, in pixels, and what hangs over the shirt (`over`: an open jacket, a forearm). `shorts` are
outlined where the grey backdrop would swallow them. The labels belong to exactly these files, so a picture
with another SHA-256 is refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import ReferenceSetError
from harness.references.photos import Image

STUDIO, AMATEUR = "studio_posture", "amateur_posture"
_STUDIO_PIXELS_A_METRE = 1400.0

Rect = tuple[int, int, int, int]
Polygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture of one person and its labels: rectangles `x, y, w, h` and polygons in its pixels."""

    person: str
    name: str
    sha256: str
    face: Rect
    head: Rect
    shirt: Rect
    body: Rect
    over: tuple[Polygon, ...]
    shorts: Polygon
    pixels_a_metre: float

    def read(self) -> Image:
        """The picture as BGR; refused unless it is the file that the labels were made on."""
        import cv2

        content = read_picture(self.person, self.name, self.sha256)
        pixels = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
        if pixels is None:
            raise ReferenceSetError(f"sample: {self.name} of {self.person}: not a readable picture")
        return np.asarray(pixels, np.uint8)


def read_picture(person: str, name: str, sha256: str) -> bytes:
    """The bytes of a picture of openpeople, which have to be those of this hash."""
    path = _folder() / person / "assets" / f"{name}.jpg"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ReferenceSetError(f"sample: {path}: cannot be read: {error.strerror}") from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ReferenceSetError(
            f"sample: {path} has SHA-256 {found[:12]}..., expected {sha256[:12]}...; "
            "the sample's labels belong to openpeople 0.1.2, install that version"
        )
    return content


@cache
def picture(person: str, name: str) -> Picture:
    """The labels of one picture."""
    record, studio = _table()[person][name], _table()[person][STUDIO]
    return Picture(
        person=person,
        name=name,
        sha256=record["sha256"],
        face=tuple(record["face"]),
        head=tuple(record["head"]),
        shirt=tuple(record["shirt"]),
        body=tuple(record["body"]),
        over=tuple(tuple((x, y) for x, y in polygon) for polygon in record.get("over", [])),
        shorts=tuple((x, y) for x, y in record.get("shorts", [])),
        pixels_a_metre=_STUDIO_PIXELS_A_METRE * record["body"][3] / studio["body"][3],
    )


@cache
def _table() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = json.loads(files(__package__).joinpath("people.json").read_text("utf-8"))
    return table


def _folder() -> Path:
    spec = find_spec("openpeople")
    assert spec is not None, "it is asked for before the sample is made"
    assert spec.origin is not None
    return Path(spec.origin).parent / "data" / "curated"
