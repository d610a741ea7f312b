"""The annotations that somebody made, in any format that `harness.formats` can grade: a file, or a folder of them.

An image is known by its file name, without folders: that is what both sides share. Boxes and shapes are in pixels.
Attributes are text; a yes or no is `true` or `false`, whichever way a format writes it.

An annotation that cannot be read is skipped: it is neither graded nor counted as missed or extra, and is listed with
the reason. Where every annotation would be skipped, or the caller is strict, the submission is refused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.base.errors import ConfigError, GradingError
from harness.base.garbage import no_collection
from harness.formats import annotation_formats, is_per_image, read_annotations
from harness.formats.document import Image, Shape, Skipped, file_name
from harness.scoring import Annotation


@dataclass(frozen=True)
class AnnotatedImage:
    """One image of a file: where its record stands, its size if that is said, what is drawn on it, what was skipped."""

    name: str
    where: str
    size: tuple[int, int] | None
    annotations: tuple[Annotation, ...]
    skipped: tuple[Skipped, ...] = ()


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

    @property
    def skipped(self) -> list[tuple[str, Skipped]]:
        """What could not be read, each with the name of its image."""
        return [(name, skipped) for name, image in self.images.items() for skipped in image.skipped]


def read_submission(path: Path, strict: bool = False) -> Submission:
    """Read a file of annotations, or all such files in a folder.

    An annotation that cannot be read is an error where `strict`. So is always a submission of which every annotation
    would be skipped: its grade would rest on nothing.
    """
    files = annotation_files(path)
    if not files:
        expected = ", ".join(f"{title} ({format.suffix})" for title, format in annotation_formats())
        raise GradingError(f"{path}: no annotations here; expected files of one of {expected}")
    with no_collection():
        images = _by_name(_annotated(image) for file in files for image in read_annotations(file, GradingError).images)
    digest = hashlib.sha256()
    for file in files:
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    submission = Submission(path.stem if path.is_file() else path.name, path, images, digest.hexdigest())
    skipped = [one.text for _, one in submission.skipped]
    if skipped and strict:
        raise GradingError(skipped[0])
    if skipped and not any(submission.annotations.values()):
        raise GradingError(f"{path}: none of its annotations ({len(skipped)}) can be graded; the first: {skipped[0]}")
    return submission


def annotation_files(path: Path) -> list[Path]:
    """The file itself, or those in a folder and below it; hidden ones are passed over."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise ConfigError(f"{path}: no such file or folder")
    suffixes = _suffixes()
    found = (file for file in sorted(path.rglob("*")) if file.suffix.lower() in suffixes and file.is_file())
    return [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]


def students(path: Path) -> dict[str, Path] | None:
    """The submissions in a folder, one a file or folder in it, by name; None where `path` is itself a submission.

    A folder with files right in it that have one image each, as those of Pascal VOC and LabelMe, is one submission.
    """
    if not path.is_dir():
        return None
    entries = [entry for entry in sorted(path.iterdir()) if not entry.name.startswith(".")]
    suffixes = _suffixes()
    files = [entry for entry in entries if entry.is_file() and entry.suffix.lower() in suffixes]
    if any(is_per_image(file, GradingError) for file in files):
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


def attribute_text(value: Any, where: str) -> str:
    """An attribute as text. A number is written the shortest way, yes and no as `true` and `false`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise GradingError(f"{where}: expected text, a number or true or false, got {value!r:.80}")


def _annotated(image: Image) -> AnnotatedImage:
    annotations = tuple(map(_annotation, image.shapes))
    return AnnotatedImage(file_name(image.name), image.where, image.size, annotations, image.skipped)


def _annotation(shape: Shape) -> Annotation:
    attributes = {
        name: attribute_text(value, f"{shape.where}.attributes.{name}")
        for name, value in shape.attributes.items()
        if value is not None
    }
    key = None if shape.key is None else attribute_text(shape.key, f"{shape.where}.key")
    box = shape.drawing.box if shape.drawing else shape.box.xywh
    return Annotation(shape.id, shape.label, box, attributes, key, shape.drawing)


def _suffixes() -> set[str]:
    return {format.suffix for _, format in annotation_formats()}


def _by_name(images: Iterable[AnnotatedImage]) -> dict[str, AnnotatedImage]:
    found: dict[str, AnnotatedImage] = {}
    for image in images:
        if image.name in found:
            other = found[image.name].where
            raise GradingError(f"{image.where}: another image is called {image.name} too, at {other}")
        found[image.name] = image
    return found
