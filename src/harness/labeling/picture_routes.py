"""Photos by content hash, as a page shows them: upright, in a format that every browser knows, and small where small is
enough.

What a hash names never changes: a rendition is made once and kept in the cache, and a browser keeps it for good.
"""

from __future__ import annotations

import io
from enum import StrEnum
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import FileResponse, Response

from harness.base.disk import write_atomically
from harness.base.errors import PhotoError
from harness.labeling.context import Hash, Shared
from harness.references.decoding import is_upright, upright, upright_size
from harness.references.photo_files import FOLDER, SUFFIXES, read_bytes
from harness.references.renditions import rendition


class Size(StrEnum):
    """How large a photo is shown."""

    THUMB = "thumb"
    SCREEN = "screen"
    FULL = "full"


_LONG_SIDE = {Size.THUMB: 320, Size.SCREEN: 2048}
_QUALITY = {Size.THUMB: 80, Size.SCREEN: 88, Size.FULL: 94}
#: What browsers show as it is.
_MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp"}
_FOR_GOOD = "private, max-age=31536000, immutable"

router = APIRouter(prefix="/photos", tags=["pictures"])


@router.get("/{sha256}/{size}", response_class=FileResponse)
def read_picture(context: Shared, sha256: Hash, size: Size, request: Request) -> Response:
    """A photo of the set, upright."""
    context.row(sha256)  # only photos of the set, whatever else lies in the folder
    return picture(request, context.source.root, sha256, size)


def picture(request: Request, root: Path, sha256: str, size: Size) -> Response:
    """A photo of the set in `root`; whether it may be shown is for the caller to say."""
    headers = {"Cache-Control": _FOR_GOOD, "ETag": f'"{sha256}.{size}"'}
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    path, media_type = _rendition(root, sha256, size)
    return FileResponse(path, media_type=media_type, headers=headers)


def _rendition(root: Path, sha256: str, size: Size) -> tuple[Path, str]:
    """A file that shows the photo upright, and its media type."""
    kept = rendition(sha256, size)
    if kept.is_file():
        return kept, "image/jpeg"
    original = _find_photo(root, sha256)
    content = read_bytes(original)
    fits = size is Size.FULL or max(upright_size(original, io.BytesIO(content))) <= _LONG_SIDE[size]
    if fits and original.suffix in _MEDIA_TYPES and is_upright(original, content):
        return original, _MEDIA_TYPES[original.suffix]
    picture = upright(original, content, _LONG_SIDE.get(size))
    if size is not Size.FULL:
        picture.thumbnail((_LONG_SIDE[size], _LONG_SIDE[size]))
    encoded = io.BytesIO()
    picture.save(encoded, "JPEG", quality=_QUALITY[size])
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, encoded.getvalue())
    return kept, "image/jpeg"


def _find_photo(root: Path, sha256: str) -> Path:
    """The file of a photo."""
    for suffix in sorted(SUFFIXES):
        path = root / FOLDER / f"{sha256}{suffix}"
        if path.is_file():
            return path
    raise PhotoError(f"{root / FOLDER}: the file of photo {sha256} is missing")
