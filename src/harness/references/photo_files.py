"""Photos as files: one copy of each under `photos/`, named by the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.disk import replace_file
from harness.base.errors import PhotoError
from harness.references.captures import Capture, read_capture
from harness.references.decoding import decode, upright_size

FOLDER = "photos"
#: Pictures that people search with lie apart.
SELFIES = "selfies"
#: What counts as a photo when a folder is walked; other files are passed over.
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp", ".heic", ".heif", ".hif", ".avif"})
#: Pictures that cannot be read: raw files of cameras and a few other formats. They are told and not passed over.
_RAW = "3fr arw cr2 cr3 crw dng erf iiq kdc mos mrw nef nrw orf pef raf raw rw2 rwl sr2 srf srw x3f"
UNSUPPORTED = frozenset(f".{kind}" for kind in (*_RAW.split(), "gif", "jp2", "jpx", "jxl", "psd"))


@dataclass(frozen=True)
class CopiedPhoto:
    """A photo that lies in `photos/`; width and height are those of the upright picture. `damage` is what is wrong with
    one that could be read all the same."""

    sha256: str
    name: str
    width: int
    height: int
    bytes: int
    capture: Capture
    damage: str = ""


def read_bytes(path: Path) -> bytes:
    """The bytes of a photo."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read: {error.strerror}") from error


def find_photos(folder: Path, suffixes: Container[str] = SUFFIXES) -> Iterator[Path]:
    """The photos in a folder and below it, in the order of their names; hidden ones are passed over."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.suffix.lower() in suffixes and path.is_file() and not hidden:
            yield path


def unsupported_photos(*places: Path) -> dict[Path, str]:
    """The photos in these folders that are of a kind that cannot be read, each with a reason."""
    found = {path for place in places if place.is_dir() for path in find_photos(place, UNSUPPORTED)}
    expected = "expected JPEG, PNG, WebP, TIFF, BMP, AVIF or HEIC"
    return {path: f"{path}: {path.suffix.lower()} is not supported; {expected}" for path in sorted(found)}


def stored_photos(root: Path, folder_name: str = FOLDER) -> dict[str, Path]:
    """Where the photos of a reference set lie, or its selfies: hash -> file. The names are believed; reading a photo
    checks them."""
    folder = root / folder_name
    return {path.stem: path for path in folder.iterdir() if path.name[0] != "."} if folder.is_dir() else {}


def copy_photo(root: Path, path: Path, content: bytes | None = None, folder: str = FOLDER) -> CopiedPhoto:
    """Put a copy of a photo into a reference set, once it has proved readable. Who indexes it syncs the folder."""
    content = read_bytes(path) if content is None else content
    sha256 = hashlib.sha256(content).hexdigest()
    decoded = decode(path, content)
    (width, height), damage = decoded.size, decoded.damage
    del decoded
    target = root / folder / f"{sha256}{path.suffix.lower()}"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.is_file() or target.stat().st_size != len(content):
        replace_file(target, content)
    return CopiedPhoto(sha256, path.name, width, height, len(content), read_capture(io.BytesIO(content)), damage)


def size_on_disk(path: Path) -> tuple[int, int]:
    """Width and height of the upright picture of a file, of which only the header is read."""
    try:
        with path.open("rb") as file:
            return upright_size(path, file)
    except OSError as error:
        raise PhotoError(f"{path}: cannot be read: {error.strerror}") from error
