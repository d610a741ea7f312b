"""Text in the fonts that come with matplotlib."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from harness.base.errors import ReferenceSetError
from harness.references.sample.arrays import Canvas, Colour, Mask, resize

SANS = "DejaVuSans-Bold.ttf"
SERIF = "DejaVuSerif-Bold.ttf"
MONO = "DejaVuSansMono-Bold.ttf"
OBLIQUE = "DejaVuSans-BoldOblique.ttf"
TIMES = "STIXGeneralBol.ttf"
MODERN = "cmss10.ttf"
ROMAN = "cmb10.ttf"


def stencil(text: str, font: str, height: int) -> Mask:
    """The text as a mask that fits tightly around it, `height` pixels high."""
    sized = _font(font, max(8, round(height * 1.4)))
    left, top, right, bottom = sized.getbbox(text)
    canvas = Pillow.new("L", (int(right - left) + 2, int(bottom - top) + 2))
    ImageDraw.Draw(canvas).text((1 - left, 1 - top), text, font=sized, fill=255)
    width = max(1, round(canvas.width * height / canvas.height))
    resized = canvas.resize((width, height), Pillow.Resampling.LANCZOS)
    return np.asarray(np.asarray(resized) / 255, np.float32)


def paint(image: Canvas, mask: Mask, x: int, y: int, colour: Colour) -> None:
    """Lay a stencil on a float BGR image in place; it must fit inside."""
    height, width = mask.shape
    region = image[y : y + height, x : x + width]
    weight = mask[: region.shape[0], : region.shape[1], None]
    region[:] = region * (1 - weight) + np.array(colour, np.float32) * weight


def fit(mask: Mask, width: int, height: int) -> Mask:
    """Shrink a stencil to fit into a box, keeping its shape."""
    factor = min(width / mask.shape[1], height / mask.shape[0])
    if factor >= 1:
        return mask
    return resize(mask, round(mask.shape[1] * factor), round(mask.shape[0] * factor))


@cache
def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise ReferenceSetError("sample: matplotlib, whose fonts the sample uses, is not installed")
    path = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / name
    try:
        return ImageFont.truetype(str(path), size)
    except OSError as error:
        raise ReferenceSetError(f"sample: {path}: no such font in this matplotlib") from error
