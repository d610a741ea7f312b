"""From the bytes of a photo to its upright pixels.

Pillow decodes JPEG, PNG, WebP, TIFF, BMP and AVIF, and HEIC with the help of pi-heif, which the extra `heic` brings.
Grey of 16 bits is scaled to 8. A JPEG whose last bytes are missing is read as viewers read it, with the missing rows
in one colour, and its damage is told; where more than `MOST_MISSING` of the rows are gone, and in any other format, a
picture that decodes only in part is refused.

A photo of 100 megapixels takes 400 MB in Pillow and 300 MB as pixels; nothing here makes a further copy of it.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import MissingPackageError, PhotoError
from harness.base.extras import need

if TYPE_CHECKING:
    from PIL import Image as Pillow

Image = NDArray[np.uint8]

#: The share of its rows that a JPEG may lack at its end.
MOST_MISSING = 0.05
#: The EXIF tag that says which way up a picture is.
_ORIENTATION = 0x0112
#: Its values for a picture that is stored lying on its side.
_LYING = frozenset({5, 6, 7, 8})
#: And for one that is mirrored, after it has been turned.
_MIRRORED = frozenset({2, 4, 5, 7})
#: How often it is to be turned left, by a quarter each time.
_TURNS = {3: 2, 4: 2, 5: 3, 6: 3, 7: 1, 8: 1}
#: The brands that HEIC files begin with, after `ftyp`.
_HEIC = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
#: What Pillow calls the formats of photos; a phone's JPEG of several views is an MPO.
_FORMATS = frozenset({"JPEG", "MPO", "PNG", "WEBP", "TIFF", "BMP", "AVIF", "HEIF"})
_END_OF_JPEG = b"\xff\xd9"
#: Pixels that are copied at a time.
_STRIP = 1 << 22


@dataclass(frozen=True)
class Decoded:
    """A picture in RGB as it is stored, how it is to be turned, and what is wrong with it ("" where nothing is)."""

    picture: Pillow.Image
    orientation: int
    damage: str

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright picture."""
        return _upright_size(self.picture.size, self.orientation)


def upright_size(path: Path, file: BinaryIO) -> tuple[int, int]:
    """Width and height of the upright picture, from its header alone."""
    return _upright_size(*_header(path, file))


def check_format(path: Path, content: bytes) -> None:
    """Refuse a picture from a stranger that is in no format of photos: Pillow knows many more, and has other programs
    decode some of them."""
    try:
        with _open(path, io.BytesIO(content)) as opened:
            kind = opened.format
    except (OSError, SyntaxError, ValueError, _bomb()) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error
    if kind not in _FORMATS:
        raise PhotoError(f"{path}: a picture in the format {kind}; expected a photo, such as a JPEG or PNG file")


def is_upright(path: Path, content: bytes) -> bool:
    """Whether the pixels already stand the way that they are to be shown."""
    return _header(path, io.BytesIO(content))[1] == 1


def decode(path: Path, content: bytes, long_side: int | None = None) -> Decoded:
    """The picture of a file. With a `long_side` a JPEG that is much larger is decoded smaller, though not smaller than
    that, which takes less memory. Raises PhotoError for what is no picture, or only a part of one."""
    try:
        opened = _open(path, io.BytesIO(content))
        if long_side:
            opened.draft("RGB", (long_side, long_side))
        try:
            opened.load()
        except OSError as error:
            if opened.format not in ("JPEG", "MPO"):
                raise
            opened, damage = _mended(path, content, long_side, error)
        else:
            damage = ""
        # Pillow turns a TIFF itself while it loads, and forgets its orientation then.
        return Decoded(_rgb(opened), opened.getexif().get(_ORIENTATION, 1), damage)
    except (OSError, SyntaxError, ValueError, _bomb()) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error


def upright(path: Path, content: bytes, long_side: int | None = None) -> Pillow.Image:
    """The picture turned the way that its EXIF orientation says."""
    from PIL import Image as Pillow

    decoded = decode(path, content, long_side)
    picture = decoded.picture
    if turns := _TURNS.get(decoded.orientation):
        quarter = {1: Pillow.Transpose.ROTATE_90, 2: Pillow.Transpose.ROTATE_180, 3: Pillow.Transpose.ROTATE_270}
        picture = picture.transpose(quarter[turns])
    if decoded.orientation in _MIRRORED:
        picture = picture.transpose(Pillow.Transpose.FLIP_LEFT_RIGHT)
    return picture


def upright_pixels(path: Path, content: bytes) -> tuple[Image, str]:
    """The upright pixels in BGR, and what is wrong with them. They are copied in strips, without a second whole one."""
    decoded = decode(path, content)
    picture, orientation, damage = decoded.picture, decoded.orientation, decoded.damage
    del decoded
    width, height = picture.size
    pixels = np.empty((height, width, 3), dtype=np.uint8)
    rows = max(1, _STRIP // max(width, 1))
    for top in range(0, height, rows):
        bottom = min(top + rows, height)
        pixels[top:bottom] = np.asarray(picture.crop((0, top, width, bottom)))[:, :, ::-1]
    del picture
    pixels = np.rot90(pixels, _TURNS.get(orientation, 0))
    return np.ascontiguousarray(pixels[:, ::-1] if orientation in _MIRRORED else pixels), damage


def _upright_size(size: tuple[int, int], orientation: int) -> tuple[int, int]:
    width, height = size
    return (height, width) if orientation in _LYING else (width, height)


def _header(path: Path, file: BinaryIO) -> tuple[tuple[int, int], int]:
    """Size as stored, and EXIF orientation. Of a TIFF that lies on its side Pillow tells the upright size."""
    try:
        with _open(path, file) as opened:
            orientation = opened.getexif().get(_ORIENTATION, 1)
            lies = opened.format == "TIFF" and orientation in _LYING
            return opened.size[::-1] if lies else opened.size, orientation
    except (OSError, SyntaxError, ValueError, _bomb()) as error:
        raise PhotoError(f"{path}: not a readable picture: {_reason(error)}") from error


def _open(path: Path, file: BinaryIO) -> Pillow.Image:
    """The picture before it is decoded. Pillow warns of photos above 89 megapixels, which cameras do make; from twice
    as many on it refuses them."""
    from PIL import Image as Pillow

    warnings.filterwarnings("ignore", category=Pillow.DecompressionBombWarning)
    start = file.read(12)
    file.seek(0)
    if start[4:8] == b"ftyp" and start[8:12] in _HEIC:
        _learn_heic(path)
    return Pillow.open(file)


def _learn_heic(path: Path) -> None:
    try:
        need("a HEIC photo", "pi_heif")
    except MissingPackageError as error:
        raise PhotoError(f"{path}: {error}") from error
    from pi_heif import register_heif_opener

    register_heif_opener()


def _mended(path: Path, content: bytes, long_side: int | None, cause: OSError) -> tuple[Pillow.Image, str]:
    """A JPEG that ends too early, ended where it is: the decoder then fills the rest with one colour."""
    opened = _open(path, io.BytesIO(content + _END_OF_JPEG))
    if opened.info.get("progressive"):  # which has all rows from the start, and then refines them
        raise cause
    if long_side:
        opened.draft("RGB", (long_side, long_side))
    try:
        opened.load()
    except OSError:
        raise cause from None
    missing = _plain_rows(opened) / max(opened.height, 1)
    if missing > MOST_MISSING:
        raise OSError(f"{cause}; {missing:.0%} of its rows are missing")
    return opened, f"its last bytes are missing, and with them {missing:.1%} of its rows; it was read all the same"


def _plain_rows(picture: Pillow.Image) -> int:
    """How many rows at the lower edge are of one and the same colour."""
    width, height = picture.size
    last = np.asarray(picture.crop((0, height - 1, 1, height)))[0, 0]
    for row in range(height):
        line = np.asarray(picture.crop((0, height - 1 - row, width, height - row)))
        if not (line == last).all():
            return row
    return height


def _rgb(picture: Pillow.Image) -> Pillow.Image:
    from PIL import Image as Pillow

    if picture.mode.startswith("I;16"):
        return Pillow.fromarray((np.asarray(picture) >> 8).astype(np.uint8)).convert("RGB")
    if picture.mode in ("I", "F"):
        raise ValueError("32 bits a pixel; expected 8 or 16 bits a channel")
    return picture if picture.mode == "RGB" else picture.convert("RGB")


def _bomb() -> type[Exception]:
    from PIL import Image as Pillow

    return Pillow.DecompressionBombError


def _reason(error: Exception) -> str:
    """What Pillow says, unless it speaks of its own objects or of an attack."""
    from PIL import Image as Pillow
    from PIL import UnidentifiedImageError

    if isinstance(error, Pillow.DecompressionBombError):
        return f"more than {2 * (Pillow.MAX_IMAGE_PIXELS or 0) // 10**6} megapixels"
    return "no known format" if isinstance(error, UnidentifiedImageError) else str(error).strip()
