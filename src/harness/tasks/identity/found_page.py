"""What came of a search as a page that needs nothing but itself."""

from __future__ import annotations

from typing import Any

from harness.base.errors import PhotoError
from harness.report.html import Inlined, render
from harness.tasks.identity.finder import Found
from harness.tasks.identity.telling import headline, notes, reasons, short, warnings
from harness.tasks.photos.pictures import jpeg, outline, scaled
from harness.tasks.photos.shots import ReadPhoto
from harness.types import FaceBox

#: The longer side of a photo on the page.
THUMB_SIDE = 480


def found_page(found: Found, most: int, read_photo: ReadPhoto) -> str:
    """The page, with at most so many photos, 0 for all. The picture that was searched with is not on it."""
    inlined, end, answer = Inlined(), most or None, found.answer

    def shown(row: int, at: int | None, words: str) -> dict[str, Any]:
        photo = found.photo(row)
        box = None if at is None else found.gallery.face(at)
        picture = _thumb(found, row, box, read_photo)
        return {"name": photo.name, "image": picture and inlined.jpeg(picture), "words": words}

    return render(
        "found.html",
        headline=headline(found),
        asked=_asked(found),
        photos=[shown(each.photo, each.at, reasons(each, answer.numbers)) for each in answer.photos[:end]],
        left_out=len(answer.photos) - len(answer.photos[:end]),
        nearest=[shown(each.photo, each.at, f"similarity {short(each.similarity)}") for each in answer.nearest[:end]],
        notes=notes(found),
        warnings=warnings(found),
    )


def _asked(found: Found) -> str:
    asked = [found.query.name] if found.query.selfie else []
    return " and ".join(asked + ([f"number {found.query.number}"] if found.query.number else []))


def _thumb(found: Found, row: int, box: FaceBox | None, read_photo: ReadPhoto) -> bytes | None:
    """A photo with the face that brought it back outlined; None where it cannot be read any more."""
    photo = found.photo(row)
    try:
        small = scaled(read_photo(photo.path, photo.sha256), THUMB_SIDE)
    except PhotoError:
        return None
    if box is not None:
        height, width = small.shape[:2]
        start = round(box.x * width), round(box.y * height)
        end = round((box.x + box.w) * width), round((box.y + box.h) * height)
        small = outline(small, start, end)
    return jpeg(small)
