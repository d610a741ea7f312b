"""Where a bib may hang: the torso below a face, measured in heights of that face."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.checks import Positive, Share
from harness.types import Box, FaceBox

#: Text this high, as a share of the photo, hangs on somebody who is near, whatever else is in the photo.
_LARGE = 1 / 12


@dataclass(frozen=True)
class Torso:
    """The centre of a bib's number lies `min_drop` to `max_drop` below the face's centre, at most `half_width` aside.

    The number is `min_height` to `max_height` high. All in heights of the face. Text on one torso that is lower than
    `rival_share` of the highest number there is a date, a sponsor or a name, and not the bib's number.
    """

    min_drop: float
    max_drop: float
    half_width: Positive
    min_height: float
    max_height: Positive
    rival_share: Share

    def __post_init__(self) -> None:
        if not self.min_drop < self.max_drop:
            raise ValueError(f"min_drop={self.min_drop} is not below max_drop={self.max_drop}")
        if not self.min_height < self.max_height:
            raise ValueError(f"min_height={self.min_height} is not below max_height={self.max_height}")

    def wearer(self, faces: Sequence[FaceBox], box: Box, aspect: float) -> int | None:
        """Whose torso a number at `box` is on: of the faces that it may belong to, the one most nearly above it.

        A photo that shows a bib and hardly more than that is of one torso, and no face is missing in it.
        """
        if self.close_up(faces, box):
            return 0
        fitting = [(self._strain(face, box, aspect), number) for number, face in enumerate(faces)]
        strain, number = min(fitting, default=(math.inf, 0))
        return number if strain <= 1 else None

    def somebody(self, faces: Sequence[FaceBox], box: Box, missed: bool = False) -> bool:
        """Whether a number may hang on somebody whose face was not found: people stand on the same ground, so that it
        is as high and as far down as one on somebody beside them whose face was found. What is larger than most banners
        may hang on somebody near. With no face at all, every number may.

        `missed`: where nobody who was found has a number, it may also hang on somebody who is nearer or farther than
        all of them. Heads are about level in a photo, however far away they are; and the lower a bib hangs below that
        level, the nearer is its wearer, and the higher its number.
        """
        beside = any(self._height_fits(face, box) and abs(self._drop(face, box)) <= 1 for face in faces)
        return not faces or box.h >= _LARGE or beside or (missed and any(self._as_low(face, box) for face in faces))

    def _as_low(self, face: FaceBox, box: Box) -> bool:
        """Whether a number is as far below the level of a face as it would be on somebody of any size."""
        below = box.y + box.h / 2 - face.y - face.h / 2
        return self.min_drop / self.max_height * box.h <= below <= self.max_drop / max(self.min_height, 1e-9) * box.h

    def close_up(self, faces: Sequence[FaceBox], box: Box) -> bool:
        """Whether a photo shows one bib and hardly more than that, by the height of a text and for want of a face."""
        return not faces and box.h >= _LARGE

    def _strain(self, face: FaceBox, box: Box, aspect: float) -> float:
        """How far off the middle of the torso a number is; 1 at its edge, infinite for one of an impossible height."""
        if not self._height_fits(face, box):
            return math.inf
        aside = (box.x + box.w / 2 - face.x - face.w / 2) * aspect / face.h
        return max(abs(self._drop(face, box)), abs(aside) / self.half_width)

    def _height_fits(self, face: FaceBox, box: Box) -> bool:
        return self.min_height <= box.h / face.h <= self.max_height

    def _drop(self, face: FaceBox, box: Box) -> float:
        """How far below the face a number is: 0 in the middle of the range, -1 at its upper and 1 at its lower end."""
        drop = (box.y + box.h / 2 - face.y - face.h / 2) / face.h
        middle, reach = (self.min_drop + self.max_drop) / 2, (self.max_drop - self.min_drop) / 2
        return (drop - middle) / reach

    def scene(self, faces: Sequence[FaceBox], aspect: float) -> Box | None:
        """The strip of the picture in which all torsos are, also of somebody beside them whose face was not found; none
        where nobody has one."""
        regions = [region for face in faces if (region := self.region(face, aspect)).has_coords]
        if not regions:
            return None
        top, bottom = min(region.y for region in regions), max(region.y + region.h for region in regions)
        return Box(x=0.0, y=top, w=1.0, h=bottom - top)

    def region(self, face: FaceBox, aspect: float, room: float = 1.0) -> Box:
        """The part of the picture that the torso takes up, with `room` at both sides for a number at its edge."""
        width = (self.half_width + room) * face.h / aspect
        left, right = face.x + face.w / 2 - width, face.x + face.w / 2 + width
        top = face.y + face.h / 2 + (self.min_drop - 0.5) * face.h
        bottom = face.y + face.h / 2 + (self.max_drop + 0.5) * face.h
        left, top, right, bottom = max(left, 0.0), max(top, 0.0), min(right, 1.0), min(bottom, 1.0)
        return Box(x=left, y=top, w=max(right - left, 0.0), h=max(bottom - top, 0.0))
