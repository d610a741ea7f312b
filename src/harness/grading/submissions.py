"""The annotations that somebody made, in COCO, Pascal VOC or CVAT's XML: a file or a folder, told apart by content.

An image is known by its file name, without folders: that is what both sides share. Boxes are in pixels. Attributes are
text; a yes or no is `true` or `false`, whichever way a format writes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from harness.base.documents import read_xml
from harness.base.errors import GradingError
from harness.base.garbage import no_collection
from harness.scoring import Annotation

SUFFIXES = (".json", ".xml")


@dataclass(frozen=True)
class AnnotatedImage:
    """One image of a file: where its record stands, its size if that is said, and what was drawn on it."""

    name: str
    where: str
    size: tuple[int, int] | None
    annotations: tuple[Annotation, ...]


@dataclass(frozen=True)
class Submission:
    """What one person made, image by image; `digest` is over the files that it was read from."""

    name: str
    path: Path
    images: Mapping[str, AnnotatedImage]
    digest: str

    @property
    def annotations(self) -> dict[str, Sequence[Annotation]]:
        """As the scoring takes them."""
        return {name: image.annotations for name, image in self.images.items()}


def read_submission(path: Path) -> Submission:
    """Read a COCO or CVAT file, a folder with such files, or a folder of Pascal VOC files."""
    files = annotation_files(path)
    if not files:
        raise GradingError(f"{path}: no annotations here; expected COCO (.json), Pascal VOC or CVAT (.xml) files")
    with no_collection():
        images = _by_name(image for file in files for image in _read_file(file))
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return Submission(path.stem if path.is_file() else path.name, path, images, digest.hexdigest())


def annotation_files(path: Path) -> list[Path]:
    """The file itself, or those in a folder and below it; hidden ones are passed over."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise GradingError(f"{path}: no such file or folder")
    found = (file for file in sorted(path.rglob("*")) if file.suffix.lower() in SUFFIXES and file.is_file())
    return [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]


def students(path: Path) -> dict[str, Path] | None:
    """The submissions in a folder, one a file or folder in it, by name; None where `path` is itself a submission.

    A folder with Pascal VOC files right in it is one submission, since VOC has a file for each image.
    """
    if not path.is_dir():
        return None
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")]
    files = [entry for entry in entries if entry.is_file() and entry.suffix.lower() in SUFFIXES]
    if any(_is_voc(file) for file in files if file.suffix.lower() == ".xml"):
        return None
    found: dict[str, Path] = {}
    for entry in [*files, *(entry for entry in entries if entry.is_dir() and annotation_files(entry))]:
        name = entry.stem if entry.is_file() else entry.name
        if name in found:
            raise GradingError(f"{path}: two submissions are called {name}: {found[name].name} and {entry.name}")
        found[name] = entry
    if not found:
        raise GradingError(f"{path}: no submissions here; expected a file or a folder for each student")
    return dict(sorted(found.items()))


def image_name(given: str) -> str:
    """The name that an image is known by: its file name, without folders."""
    return PurePosixPath(given.replace("\\", "/")).name


def attribute_text(value: Any, where: str) -> str:
    """An attribute as text. A number is written the shortest way, yes and no as `true` and `false`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise GradingError(f"{where}: expected text, a number or true or false, got {value!r:.80}")


def flag_text(text: str) -> str:
    """A flag of the XML formats, which write 0 and 1."""
    return {"0": "false", "1": "true"}.get(text, text)


def _read_file(file: Path) -> Iterable[AnnotatedImage]:
    from harness.grading import coco, cvat, voc

    if file.suffix.lower() == ".json":
        return coco.read(file)
    root = read_xml(file, GradingError)
    if root.tag == "annotation":
        return [voc.read(file, root)]
    if root.tag == "annotations":
        return cvat.read(file, root)
    raise GradingError(f"{file}: <{root.tag}>: neither Pascal VOC (<annotation>) nor CVAT (<annotations>)")


def _is_voc(file: Path) -> bool:
    return read_xml(file, GradingError).tag == "annotation"


def _by_name(images: Iterable[AnnotatedImage]) -> dict[str, AnnotatedImage]:
    found: dict[str, AnnotatedImage] = {}
    for image in images:
        if image.name in found:
            other = found[image.name].where
            raise GradingError(f"{image.where}: another image is called {image.name} too, at {other}")
        found[image.name] = image
    return found
