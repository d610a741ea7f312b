"""The files that annotation tools write. Each format is one module of this folder, and is read there and nowhere else.

The folder is the registry: a module with a `FORMAT` is a format, and nothing else has to be edited to add one. Modules
from outside are named by a file `conf/format/NAME.yaml` or by an entry point of the group `harness.formats`. A format
offers one or both of two things. With `read_set`, `harness import --format NAME` brings its photos and labels into a
reference set. With `annotations`, `harness grade` reads its files, which it tells apart by their content.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import yaml

from harness.base.conf import ConfFolder, conf_folders, shown_path
from harness.base.documents import number, read_json, read_xml
from harness.base.errors import ConfigError, HarnessError, ReferenceSetError
from harness.base.objects import import_named
from harness.formats.document import Box, Document, Image, Shape, Skipped
from harness.formats.labels import find_photo, labels_of, only_file, photo_folders, placed_record
from harness.references.files import BibLabels, BibRecord, FaceLabels, FaceRecord
from harness.references.importing import ImportedPhoto, ImportedSet, ImportSummary, import_set
from harness.references.store import LabelStore

#: What a format from outside needs, and what the harness does with formats.
__all__ = [
    "AnnotationFile",
    "BibLabels",
    "BibRecord",
    "Box",
    "Document",
    "FaceLabels",
    "FaceRecord",
    "Format",
    "Image",
    "ImportedPhoto",
    "ImportedSet",
    "ReferenceSetError",
    "Shape",
    "Skipped",
    "annotation_formats",
    "find_photo",
    "formats",
    "import_formats",
    "import_labels",
    "is_per_image",
    "labels_of",
    "number",
    "only_file",
    "photo_folders",
    "placed_record",
    "read_annotations",
    "read_json",
    "read_xml",
]


@dataclass(frozen=True, kw_only=True)
class AnnotationFile:
    """How a format's files are told from others and read.

    `load` parses a file (`read_json`, `read_xml`) and is the same for all formats of one suffix; `recognises` and
    `read` take what it returns. `sign` says in errors what `recognises` looks for. `per_image` is for formats that have
    a file for each image.
    """

    suffix: str
    sign: str
    load: Callable[[Path, type[HarnessError]], Any]
    recognises: Callable[[Any], bool]
    read: Callable[[Any, Path, type[HarnessError]], Document]
    per_image: bool = False

    def read_file(self, file: Path, error: type[HarnessError]) -> Document:
        """Load and read a file that is known to be of this format."""
        return self.read(self.load(file, error), file, error)


@dataclass(frozen=True, kw_only=True)
class Format:
    """What a module of this folder offers. `name` is what the command line calls it, `title` what people do.

    `read_set` takes what the user named and, if they gave one, the folder of the photos.
    """

    name: str
    title: str
    read_set: Callable[[Path, Path | None], ImportedSet] | None = None
    annotations: AnnotationFile | None = None


#: The entry points by which an installed package offers a module with a `FORMAT`.
ENTRY_POINTS = "harness.formats"


def formats() -> dict[str, Format]:
    """Every format by name: those of this folder, and those from outside. Raises ConfigError where two share a name."""
    return _formats(conf_folders())


@cache
def _formats(folders: tuple[ConfFolder, ...]) -> dict[str, Format]:
    modules = (import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    found: dict[str, Format] = {module.FORMAT.name: module.FORMAT for module in modules if hasattr(module, "FORMAT")}
    for where, name in _outside_modules(folders):
        format = getattr(import_named(name, where), "FORMAT", None)
        if not isinstance(format, Format):
            raise ConfigError(f"{where}: {name} has no FORMAT; expected a harness.formats.Format of that name")
        if format.name in found:
            known = f"{format.name}, {found[format.name].title}"
            raise ConfigError(f"{where}: {name}: there is a format of this name already: {known}")
        found[format.name] = format
    return dict(sorted(found.items()))


def _outside_modules(folders: tuple[ConfFolder, ...]) -> list[tuple[str, str]]:
    """The modules that config folders and packages name, each with what names it."""
    files = [file for folder in folders for file in sorted((folder.path / "format").glob("*.yaml"))]
    named = [(shown_path(file), _target(file)) for file in files]
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    return named + [(f"the entry point {point.name} of {ENTRY_POINTS}", point.value) for point in points]


def _target(file: Path) -> str:
    try:
        content = yaml.safe_load(file.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise ConfigError(f"{shown_path(file)}{f':{mark.line + 1}' if mark else ''}: not valid YAML") from error
    target = content.get("_target_") if isinstance(content, dict) else None
    if not isinstance(target, str):
        raise ConfigError(f"{shown_path(file)}: expected _target_, the dotted name of a module with a FORMAT")
    return target


def import_formats() -> dict[str, str]:
    """The formats that can be imported: name -> title."""
    return {name: format.title for name, format in formats().items() if format.read_set}


def import_labels(store: LabelStore, name: str, path: Path, photos: Path | None = None) -> ImportSummary:
    """Read a source of the named format and enter it: all of it or, with an error, nothing."""
    read_set = formats()[name].read_set
    if read_set is None:
        raise ReferenceSetError(f"{name}: this format can be graded, but not imported")
    if not path.exists():
        raise ConfigError(f"{path}: no such file or folder")
    return import_set(store, read_set(path, photos))


def annotation_formats() -> list[tuple[str, AnnotationFile]]:
    """The formats that can be graded, by title, in the order of their signs."""
    offered = [(format.title, format.annotations) for format in formats().values() if format.annotations]
    return sorted(offered, key=lambda pair: pair[1].sign)


def read_annotations(file: Path, error: type[HarnessError]) -> Document:
    """Read a file of any format that can be graded. The suffix says how to parse it, the content which format it is."""
    candidates = _candidates(file)
    content = candidates[0][1].load(file, error)
    for _, format in candidates:
        if format.recognises(content):
            return format.read(content, file, error)
    found = f"<{content.tag}>: " if isinstance(content, Element) else ""
    expected = " nor ".join(f"{title} ({format.sign})" for title, format in candidates)
    raise error(f"{file}: {found}{'neither' if len(candidates) > 1 else 'not'} {expected}")


def is_per_image(file: Path, error: type[HarnessError]) -> bool:
    """Whether a file is of a format that has a file for each image, so that a folder of them belongs together.

    One that cannot be parsed is not known to be; whoever reads it then says what is wrong with it.
    """
    offered = [format for _, format in _candidates(file) if format.per_image]
    if not offered:
        return False
    try:
        content = offered[0].load(file, error)
    except error:
        return False
    return any(format.recognises(content) for format in offered)


def _candidates(file: Path) -> list[tuple[str, AnnotationFile]]:
    """The formats of a file's suffix. A suffix that no format has is taken for XML, which tools name as they like."""
    offered = annotation_formats()
    same = [pair for pair in offered if pair[1].suffix == file.suffix.lower()]
    return same or [pair for pair in offered if pair[1].suffix == ".xml"]
