"""The photos of a set, ready to be searched by a picture of a face, by a number, or by both.

The pipeline looks at each photo once. What it saw is kept in the stage cache, as that of a run is, so that a second
search is quick. The picture that somebody searches with is looked at in memory: neither it nor its vector is kept, in
the cache or elsewhere. The rules of a search are those of the scorecard (`scoring/answering.py`).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.errors import ConfigError, PhotoError, QueryError
from harness.pipeline import Pipeline
from harness.references.decoding import check_format, upright_size
from harness.references.photo_files import read_bytes
from harness.references.photos import OpenedPhoto
from harness.references.sets import ReferencePhoto, ReferenceSet
from harness.scoring.answering import Answer, Threshold, answer, threshold_of
from harness.scoring.bibs import is_complete
from harness.scoring.searching import Search
from harness.tasks.identity.selfies import SelfieFace, selfie_face
from harness.tasks.identity.task import IdentityTask
from harness.tasks.photos.predicting import EvaluatedPhoto, predict
from harness.tasks.photos.task import PhotosTask
from harness.types import FaceBox

#: A picture to search with has no more pixels: decoded, so many take up 200 MB.
MOST_PIXELS = 64_000_000


@dataclass(frozen=True)
class Query:
    """What somebody searches with: a face in a picture called `name`, a number, or both."""

    selfie: SelfieFace | None = None
    name: str = ""
    number: str | None = None

    def __post_init__(self) -> None:
        if self.selfie is None and self.number is None:
            raise QueryError("nothing to search with: expected a picture, a number, or both")


@dataclass(frozen=True)
class Gallery:
    """The photos of a set as they are searched: what was found in them, the threshold, and the photos that failed, by
    name and reason."""

    references: ReferenceSet
    photos: tuple[EvaluatedPhoto, ...]
    search: Search
    threshold: Threshold
    failed: Mapping[str, str]

    @property
    def faces(self) -> int:
        """How many faces are searched."""
        return int(self.search.searched.sum())

    def face(self, row: int) -> FaceBox:
        """The box of a found face."""
        photo = int(self.search.evidence.faces.photo[row])
        return self.photos[photo].prediction.faces[row - int(self.search.first_face[photo])]

    def answer(self, query: Query) -> Found:
        """The photos that come back."""
        vector = None if query.selfie is None else query.selfie.vector
        numbers = () if query.number is None else (query.number,)
        return Found(self, query, answer(self.search, vector, numbers, self.threshold))


@dataclass(frozen=True)
class Found:
    """What came back for a query."""

    gallery: Gallery
    query: Query
    answer: Answer

    def photo(self, row: int) -> ReferencePhoto:
        """A photo of the answer."""
        return self.gallery.photos[row].photo


@dataclass
class Finder:
    """Searches the photos of a task. `seen` are those that the pipeline has looked at: a gallery that is opened anew,
    since labels or photos have changed, costs only the photos that are new."""

    photos: PhotosTask
    seen: dict[str, EvaluatedPhoto] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.pipeline.identity is None:
            raise ConfigError("identity=off: nobody is recognised; choose identity=sface or another to search photos")

    @property
    def pipeline(self) -> Pipeline:
        """What looks at photos."""
        return self.photos.pipeline

    def load(self) -> None:
        """Open the models, so that a missing one is told in one sentence."""
        self.pipeline.load()

    def open(self, quiet: bool = False) -> Gallery:
        """The photos and labels as they are now."""
        photos = replace(self.photos)  # which reads the set anew
        references = photos.references
        new = [photo for photo in references.photos if photo.sha256 not in self.seen]
        evaluated, failed = predict(self.pipeline, new, photos.opened_cache, quiet)
        self.seen |= {item.sha256: item for item in evaluated}
        # Labels may have changed since a photo was looked at.
        there = tuple(
            replace(self.seen[photo.sha256], photo=photo) for photo in references.photos if photo.sha256 in self.seen
        )
        task = IdentityTask(photos)
        search = Search(task.evidence(references, there, task.selfies()[0]), task.recogniser.gallery)
        threshold = threshold_of(search, task.recogniser.fpir)
        return Gallery(references, there, search, threshold, {item.photo.name: item.reason for item in failed})

    def look(self, name: str, content: bytes) -> SelfieFace:
        """The face of a picture that can be searched with. Raises QueryError, in words, where there is none."""
        path = Path(name)
        try:
            check_format(path, content)
            width, height = upright_size(path, io.BytesIO(content))
            if width * height > MOST_PIXELS:
                raise QueryError(f"{name}: {width} x {height} pixels; a picture to search with has at most 64 million")
            photo = OpenedPhoto(path, hashlib.sha256(content).hexdigest(), content)
            seen = selfie_face(self.pipeline, photo, None)
        except PhotoError as error:
            raise QueryError(str(error)) from error
        if seen is None:
            raise QueryError(f"{name}: no face was found in it ({width} x {height} pixels)")
        if seen.vector is None:
            least = IdentityTask(self.photos).recogniser.least_height
            raise QueryError(
                f"{name}: {'its largest face' if seen.faces > 1 else 'the face'} is {seen.height:.0f} pixels high; "
                f"from {least:g} on faces can be compared (identity.least_height)"
            )
        return seen

    def query(self, selfie: Path | None, number: str | None) -> Query:
        """What the words of a command line ask for."""
        whole = None if number is None else checked_number(number)
        if selfie is None:
            return Query(number=whole)
        try:
            content = read_bytes(selfie)
        except PhotoError as error:
            raise QueryError(str(error)) from error
        return Query(self.look(str(selfie), content), selfie.name, whole)


def checked_number(text: str) -> str:
    """A number as it is compared with those that were read: whole, and without blanks at its ends."""
    if not is_complete(text):
        raise QueryError(f"{text!r}: expected a whole number, as it stands on a bib; ? cannot be searched for")
    return text.strip()
