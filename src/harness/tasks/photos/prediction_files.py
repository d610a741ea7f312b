"""A file of predictions as it lies on the disk: its hash, its kind, and its lines, all of which are checked before
anything is scored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.documents import BYTE_ORDER_MARK
from harness.base.errors import PredictionsError
from harness.references.sets import ReferenceSet
from harness.tasks.photos.gathering import Gatherer, Predictions

#: How a file begins that is no text in UTF-8, and what to say about it.
_OTHER_KINDS = {
    b"\x1f\x8b": "packed by gzip; unpack it first",
    b"PK\x03\x04": "packed by zip; unpack it first",
    b"\xff\xfe": "text in UTF-16; expected UTF-8",
    b"\xfe\xff": "text in UTF-16; expected UTF-8",
}


@dataclass(frozen=True)
class PredictionsFile:
    """A file of predictions and its hash. COCO results come with the file that has their images and categories;
    `categories` says what a category of another name means: bib, face or none. Of one that is judged, what it says of
    its own `seconds` does not count."""

    path: Path
    sha256: str
    missing_is_empty: bool = False
    images: Path | None = None
    images_sha256: str = ""
    categories: Mapping[str, str] = field(default_factory=dict)
    seconds: bool = True

    @classmethod
    def of(
        cls,
        path: Path,
        *,
        missing_is_empty: bool = False,
        images: Path | None = None,
        categories: Mapping[str, str] | None = None,
    ) -> PredictionsFile:
        """The file as it is now."""
        if categories and images is None:
            told = ", ".join(f"{name}={kind}" for name, kind in categories.items())
            raise PredictionsError(f"--category {told}: no file that has categories; expected --images with it")
        known = _sha256(images) if images else ""
        return cls(path, _sha256(path), missing_is_empty, images, known, dict(categories or {}))

    def params(self) -> dict[str, str]:
        """What a run on it is known by."""
        params = {"file": self.path.name, "sha256": self.sha256}
        params["missing"] = "empty" if self.missing_is_empty else "incomplete"
        if self.images:
            params |= {"images": self.images.name, "images_sha256": self.images_sha256}
            params |= {"categories": ", ".join(f"{name}={kind}" for name, kind in self.categories.items())}
        return params


def read_predictions(file: PredictionsFile, references: ReferenceSet) -> Predictions:
    """Read and check a file of predictions. Raises PredictionsError with all that is wrong."""
    from harness.tasks.photos.coco_results import gather_results

    gatherer = Gatherer(file.path, references)
    is_array = _is_array(file.path)
    if file.images and not is_array:
        expected = "expected a JSON array of detections with --images, or one JSON object a line without it"
        raise PredictionsError(f"{file.path}: no COCO results; {expected}")
    if is_array:
        gather_results(file, gatherer)
    else:
        total = hashlib.sha256()
        for number, text in enumerate(_lines(file.path), start=1):
            total.update(text)
            gatherer.add_text(number, text.removeprefix(BYTE_ORDER_MARK) if number == 1 else text)
        if total.hexdigest() != file.sha256:
            raise PredictionsError(f"{file.path}: changed while it was read; score it again")
    found = gatherer.gathered()
    return found if file.seconds else replace(found, seconds={})


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except OSError as error:
        raise PredictionsError(f"{path}: cannot be read: {error.strerror}") from error


def _is_array(path: Path) -> bool:
    """Whether the file is one JSON array, as COCO results are, and not one object a line."""
    first = next((text.removeprefix(BYTE_ORDER_MARK).strip() for text in _lines(path) if text.strip()), b"")
    return first.startswith(b"[")


def _sha256(path: Path) -> str:
    """The hash of a file, unless its kind tells that it cannot be read as JSON."""
    if path.is_fifo():
        raise PredictionsError(f"{path}: a pipe, which can be read only once; write the predictions to a file first")
    try:
        with path.open("rb") as file:
            if kind := _other_kind(file.read(4)):
                raise PredictionsError(f"{path}: {kind}")
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PredictionsError(f"{path}: cannot be read: {error.strerror}") from error


def _other_kind(start: bytes) -> str | None:
    return next((kind for sign, kind in _OTHER_KINDS.items() if start.startswith(sign)), None)
