"""The vectors of faces: looked up in the stage cache or computed, photo by photo, and in memory for as long as the
server runs. They are kept nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from harness.base.errors import PhotoError
from harness.base.progress import track
from harness.labeling.people.faces import Face, FaceIndex, Where
from harness.labeling.refusals import log
from harness.pipeline.answers import checked_faces
from harness.pipeline.looks import Look
from harness.references.photo_files import FOLDER, stored_photos
from harness.references.photos import open_photo
from harness.scoring.boxes import Boxes
from harness.scoring.matching import UNMATCHED, match_greedy
from harness.tasks.identity.finder import Finder
from harness.types import FaceBox

Vector = NDArray[np.float32]
#: From here on a box that somebody drew is a found face, and has its landmarks.
_SAME_FACE = 0.5


class FaceEmbedder:
    """Makes vectors with the models of a finder; `models` is held while they look at a photo."""

    def __init__(self, opened: Callable[[], AbstractContextManager[Finder]]) -> None:
        self._opened = opened
        self._vectors: dict[Where, Vector | None] = {}
        #: Photos that could not be looked at, and why. They are tried again when the server starts again.
        self.failed: dict[str, str] = {}

    @property
    def vectors(self) -> Mapping[Where, Vector | None]:
        """What is known; None for a face that is too small to be compared."""
        return self._vectors

    def know(self, face: Face, vector: Vector | None) -> None:
        """Take a vector that is known from elsewhere."""
        self._vectors[face.where] = vector

    def missing(self, index: FaceIndex) -> list[str]:
        """The photos with a face that nobody has looked at."""
        return [
            photo
            for photo, faces in index.photos.items()
            if photo not in self.failed and any(face.where not in self._vectors for face in faces)
        ]

    def look(self, index: FaceIndex) -> None:
        """Make what is missing. A photo that fails does so alone, and is told."""
        photos = self.missing(index)
        if not photos:
            return
        with self._opened() as finder:
            root = finder.photos.references.root
        paths = stored_photos(root)
        for photo in track(photos, "faces"):
            try:
                with self._opened() as finder:
                    opened = open_photo(paths.get(photo, root / FOLDER / photo), photo)
                    found = embed(finder, Look(opened, finder.photos.opened_cache), index.photos[photo])
            except PhotoError as error:
                self.failed[photo] = str(error)
                log.warning("%s: %s", index.file_names.get(photo, photo), error)
                continue
            self._vectors |= {face.where: each for face, each in zip(index.photos[photo], found, strict=True)}


def embed(finder: Finder, look: Look, faces: Sequence[Face]) -> list[Vector | None]:
    """The vectors of some faces of a photo. One that the detector finds, too, is turned upright by its landmarks."""
    pipeline = finder.pipeline
    found = checked_faces(pipeline.face, pipeline.face.detect(look))
    own = [_box(face) for face in faces]
    matches = match_greedy(Boxes.of([found]), Boxes.of([own]), _SAME_FACE)
    boxes = [found[int(row)] if row != UNMATCHED else box for box, row in zip(own, matches.prediction_of, strict=True)]
    made = pipeline.embed(look, boxes)
    assert made is not None, "a finder recognises people"
    return [row if good else None for row, good in zip(made.vectors, made.enrolled, strict=True)]


def _box(face: Face) -> FaceBox:
    x, y, w, h = face.place
    return FaceBox(x=x, y=y, w=w, h=h)
