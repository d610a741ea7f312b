"""Photos as files: one copy of each under `photos/`, named by the SHA-256 of its bytes, sizes of the upright picture.

A picture that decodes only in part is refused.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from harness.base.disk import replace_file
from harness.base.errors import PhotoError
from harness.references.captures import Capture, read_capture

if TYPE_CHECKING:
    from PIL import Image as Pillow

FOLDER = "photos"
#: Pictures that people search with lie apart.
SELFIES = "selfies"
#: What counts as a photo when a folder is walked; other files are passed over.
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp"})
#: What Pillow calls the formats of these names; a phone's pictures of several views (MPO) are JPEG files.
_FORMATS = ("JPEG", "MPO", "PNG", "WEBP", "TIFF", "BMP")
#: The EXIF tag that says which way up a picture is.
_ORIENTATION = 0x0112
#: Its values for a picture that is stored lying on its side.
_LYING = frozenset({5, 6, 7, 8})


@dataclass(frozen=True)
class CopiedPhoto:
    """A photo that lies in `photos/`; width and height are those of the upright picture."""

    sha256: str
    name: str
    width: int
    height: int
    bytes: int
    capture: Capture


def read_bytes(path: Path) -> bytes:
    """The bytes of a photo."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read: {error.strerror}") from error


def find_photos(folder: Path) -> Iterator[Path]:
    """The photos in a folder and below it, in the order of their names; hidden ones are passed over."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in SUFFIXES and path.is_file() and not hidden:
            yield path


def stored_photos(root: Path, folder_name: str = FOLDER) -> dict[str, Path]:
    """Where the photos of a reference set lie, or its selfies: hash -> file. The names are believed; reading a photo
    checks them."""
    folder = root / folder_name
    return {path.stem: path for path in folder.iterdir() if path.name[0] != "."} if folder.is_dir() else {}


def copy_photo(root: Path, path: Path, content: bytes | None = None, folder: str = FOLDER) -> CopiedPhoto:
    """Put a copy of a photo into a reference set, once it has proved readable. Who indexes it syncs the folder."""
    content = read_bytes(path) if content is None else content
    sha256 = hashlib.sha256(content).hexdigest()
    width, height = upright(path, content).size
    target = root / folder / f"{sha256}{path.suffix.lower()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_file() or target.stat().st_size != len(content):
        replace_file(target, content)
    return CopiedPhoto(sha256, path.name, width, height, len(content), read_capture(io.BytesIO(content)))


def upright_size(path: Path, content: bytes) -> tuple[int, int]:
    """Width and height of the upright picture, from its header alone."""
    (width, height), orientation = _header(path, content)
    return (height, width) if orientation in _LYING else (width, height)


def size_on_disk(path: Path) -> tuple[int, int]:
    """The same for a file, of which only the header is read."""
    try:
        with path.open("rb") as file:
            (width, height), orientation = _opened_header(path, file)
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read: {error.strerror}") from error
    return (height, width) if orientation in _LYING else (width, height)


def check_format(path: Path, content: bytes) -> None:
    """Refuse bytes that are in no format of photos. Pillow knows many more, and starts programs to read some."""
    from PIL import Image as Pillow

    try:
        Pillow.open(io.BytesIO(content), formats=_FORMATS).close()
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error


def is_upright(path: Path, content: bytes) -> bool:
    """Whether the pixels already stand the way that they are to be shown."""
    return _header(path, content)[1] == 1


def _header(path: Path, content: bytes) -> tuple[tuple[int, int], int]:
    """Size as stored, and EXIF orientation."""
    return _opened_header(path, io.BytesIO(content))


def _opened_header(path: Path, file: BinaryIO) -> tuple[tuple[int, int], int]:
    from PIL import Image as Pillow

    try:
        with Pillow.open(file) as opened:
            return opened.size, opened.getexif().get(_ORIENTATION, 1)
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error


def upright(path: Path, content: bytes) -> Pillow.Image:
    """The decoded picture, turned the way that its EXIF orientation says."""
    from PIL import Image as Pillow
    from PIL import ImageOps

    try:
        with Pillow.open(io.BytesIO(content)) as opened:
            return ImageOps.exif_transpose(opened).convert("RGB")
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What Pillow says, unless it speaks of its own objects."""
    from PIL import UnidentifiedImageError

    return "no known format" if isinstance(error, UnidentifiedImageError) else str(error)
