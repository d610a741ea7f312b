"""The contract of formats: what a file says comes in whole, and a file that is broken is named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from harness.base.errors import GradingError, HarnessError
from harness.formats import Format
from harness.references.importing import ImportedSet, import_set
from harness.references.sets import load_set
from harness.references.store import LabelStore
from harness.testing.choices import format_from
from harness.types import BibBox, FaceBox, PhotoLabels

#: A box in pixels of the upright photo, rounded, and its number or its identity.
Told = tuple[tuple[int, int, int, int], str | None]


class FormatContract(ABC):
    """What a format promises. A subclass names its `choice`, writes an example and says what stands in it."""

    choice: ClassVar[str]
    conf: ClassVar[Path]
    #: What is wrong -> a piece of the example, and what to put in its place.
    broken: ClassVar[Mapping[str, tuple[str, str]]]

    def make(self) -> Format:
        """The format."""
        return format_from(self.choice, self.conf)

    @abstractmethod
    def write(self, folder: Path) -> Path:
        """Write an example with its photos into an empty folder; returns what `harness import` would be given."""

    @abstractmethod
    def expected(self) -> Mapping[str, tuple[list[Told] | None, list[Told] | None]]:
        """The name of each photo -> its bibs and its faces; None where the example does not speak about them."""

    def annotation_file(self, path: Path) -> Path:
        """The file of the example that is broken on purpose and that can be graded; the example itself, if a file."""
        return path

    def test_it_has_a_name_a_title_and_a_use(self) -> None:
        format = self.make()
        assert format.name == self.choice, f"its name is {format.name!r}, and its YAML is called {self.choice}.yaml"
        assert format.title, "a format without a title"
        assert format.read_set or format.annotations, "neither read_set nor annotations: it can do nothing"

    def test_what_the_file_says_is_imported(self, tmp_path: Path) -> None:
        store = LabelStore(tmp_path / "set")
        import_set(store, self._read(self.write(tmp_path / "source")))
        found = {}
        for photo in load_set(store.root, "set", "full").photos:
            record = store.contents().index.photos[photo.sha256]
            found[photo.name] = _told(photo.labels, (record.width, record.height))
        assert found == dict(self.expected())

    def test_importing_it_twice_changes_nothing(self, tmp_path: Path) -> None:
        store, path = LabelStore(tmp_path / "set"), self.write(tmp_path / "source")
        import_set(store, self._read(path))
        before = store.contents()
        again = import_set(store, self._read(path))
        assert again.new_photos == 0
        assert store.contents() == before

    def test_a_broken_file_is_an_error_that_names_it(self, tmp_path: Path) -> None:
        for number, (wrong, (piece, instead)) in enumerate(self.broken.items()):
            path = self.write(tmp_path / f"{number}")
            file = self.annotation_file(path)
            text = file.read_text()
            assert piece in text, f"{wrong}: {piece!r} is not in the example"
            file.write_text(text.replace(piece, instead, 1))
            with pytest.raises(HarnessError) as caught:
                self._read(path)
            assert str(file) in str(caught.value), f"{wrong}: the message does not name the file: {caught.value}"

    def test_a_file_that_is_not_there_is_an_error_that_names_it(self, tmp_path: Path) -> None:
        file = self.annotation_file(self.write(tmp_path / "source"))
        file.unlink()
        with pytest.raises(HarnessError) as caught:
            self._read(file)
        assert file.name in str(caught.value)

    def test_the_same_file_can_be_graded_where_the_format_offers_it(self, tmp_path: Path) -> None:
        offered = self.make().annotations
        if offered is None:
            return
        file = self.annotation_file(self.write(tmp_path / "source"))
        assert offered.suffix == file.suffix.lower()
        assert offered.recognises(offered.load(file, GradingError)), f"does not recognise its own {file.name}"
        shapes = sum(len(image.shapes) for image in offered.read_file(file, GradingError).images)
        assert shapes == sum(len(kind or ()) for kinds in self.expected().values() for kind in kinds)
        file.write_bytes(b"\xff\xfe\x00 not a file of any format")
        with pytest.raises(GradingError, match=file.name):
            offered.read_file(file, GradingError)

    def _read(self, path: Path) -> ImportedSet:
        read_set = self.make().read_set
        if read_set is None:
            pytest.skip("this format is for grading alone")
        return read_set(path, None)


def _told(labels: PhotoLabels, size: tuple[int, int]) -> tuple[list[Told] | None, list[Told] | None]:
    bibs = None if labels.bibs is None else [(_pixels(box, size), box.number) for box in labels.bibs]
    faces = None if labels.faces is None else [(_pixels(box, size), box.identity) for box in labels.faces]
    return bibs, faces


def _pixels(box: BibBox | FaceBox, size: tuple[int, int]) -> tuple[int, int, int, int]:
    width, height = size
    return (round(box.x * width), round(box.y * height), round(box.w * width), round(box.h * height))
