"""A folder of people once more, with faces as small as in race photos.

Each picture is reduced, kept as JPEG, and put into the middle of a grey photo, so that nothing in it is enlarged and
the detector looks at a face of a given height. In a photo of a camera a face has more pixels than the detector looks
at: with `sharper`, the photo is so many times as large.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.formats.labels import photos_by_person
from harness.pipeline.faces.yunet import YuNet
from harness.pipeline.looks import Image, Look
from harness.references.decoding import upright_pixels
from harness.references.photo_files import read_bytes
from harness.testing import Picture

#: The photo that the detector looks at, width and height: `face.long_side` of the preset.
SIZE = 960, 720
_QUALITY = 90


def make_small(folder: Path, detector: YuNet, height: int, sharper: int, out: Path) -> Path:
    """A folder of people like `folder`; pictures in which no face is found are left out."""
    import cv2

    for path, person in photos_by_person(folder):
        image, _ = upright_pixels(path, read_bytes(path))
        faces = detector.detect(Look(Picture(image)))
        if not faces:
            continue
        face = min(faces, key=lambda face: abs(face.x + face.w / 2 - 0.5) + abs(face.y + face.h / 2 - 0.5))
        factor = height * sharper / (face.h * image.shape[0])
        small = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        target = out / person / path.with_suffix(".jpg").name
        target.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(
            str(target),
            _in_the_middle(np.asarray(small, dtype=np.uint8), sharper),
            [cv2.IMWRITE_JPEG_QUALITY, _QUALITY],
        )
    return out


def _in_the_middle(picture: Image, sharper: int) -> Image:
    width, height = (side * sharper for side in SIZE)
    photo = np.full((height, width, 3), 127, dtype=np.uint8)
    high, wide = min(picture.shape[0], height), min(picture.shape[1], width)
    top, left = (height - high) // 2, (width - wide) // 2
    photo[top : top + high, left : left + wide] = picture[:high, :wide]
    return photo
