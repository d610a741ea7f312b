"""Formats and tasks that break one rule of their contract each, and the rule that notices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from harness.base.errors import HarnessError
from harness.formats import AnnotationFile, Format
from harness.formats.document import Document
from harness.references.files import BibLabels, BibRecord
from harness.references.importing import ImportedPhoto, ImportedSet
from harness.runs.archive import TaskData, TaskRun
from harness.runs.items import Item
from harness.runs.plan import TaskResult
from harness.scoring import Declaration, ItemCounts, Rate
from harness.testing import FormatContract, TaskContract, write_photo
from harness.testing.formats import Told
from tests.testing.broken import broken_rules

_DIGESTS = count()
DECLARED = Declaration("example", rates={"recall": Rate.share("example/recall", "hit", "miss")})


def read_names(path: Path, photos: Path | None) -> ImportedSet:
    """A format that keeps every rule: a file of names of photos."""
    if not path.is_file():
        raise HarnessError(f"{path}: not there")
    found = []
    for name in path.read_text().split():
        if not (path.parent / name).is_file():
            raise HarnessError(f"{path}: no photo {name}")
        found.append(ImportedPhoto(path=path.parent / name, where=str(path)))
    return ImportedSet(tuple(found))


def careless(path: Path, photos: Path | None) -> ImportedSet:
    try:
        return read_names(path, photos)
    except HarnessError:
        return ImportedSet(())


def anonymous(path: Path, photos: Path | None) -> ImportedSet:
    try:
        return read_names(path, photos)
    except HarnessError as error:
        raise HarnessError("something is wrong") from error


def half(path: Path, photos: Path | None) -> ImportedSet:
    return ImportedSet(read_names(path, photos).photos[:1])


def fickle(path: Path, photos: Path | None) -> ImportedSet:
    """Now the photos have labels, now they have others."""
    box = BibRecord(x=0.1, y=0.1, w=0.1, h=0.1, number=str(next(_DIGESTS)))
    labels = BibLabels(labeled=True, boxes=[box])
    return ImportedSet(tuple(replace(photo, bibs=labels) for photo in read_names(path, photos).photos))


#: Files that are not recognised by the format that has just written them.
STRANGE = AnnotationFile(
    suffix=".txt",
    sign="nothing",
    load=lambda file, _: file.read_text(),
    recognises=lambda text: not text,
    read=lambda *_: Document(()),
)


class FormatUnderTest(FormatContract):
    choice = "names"
    broken: ClassVar = {"no such photo": ("a.png", "z.png")}

    def __init__(self, format: Format) -> None:
        self.format = format

    def make(self) -> Format:
        return self.format

    def write(self, folder: Path) -> Path:
        write_photo(folder / "a.png")
        (folder / "b.png").write_bytes(write_photo(folder / "c.bmp").read_bytes())
        (folder / "names.txt").write_text("a.png b.png")
        return folder / "names.txt"

    def expected(self) -> dict[str, tuple[list[Told] | None, list[Told] | None]]:
        return {"a.png": (None, None), "b.png": (None, None)}


@pytest.mark.parametrize(
    ("format", "broken"),
    [
        (Format(name="names", title="Names", read_set=read_names), set()),
        (Format(name="others", title="Names", read_set=read_names), {"test_it_has_a_name_a_title_and_a_use"}),
        (Format(name="names", title="Names", read_set=half), {"test_what_the_file_says_is_imported"}),
        (
            Format(name="names", title="Names", read_set=careless),
            {"test_a_broken_file_is_an_error_that_names_it", "test_a_file_that_is_not_there_is_an_error_that_names_it"},
        ),
        (
            Format(name="names", title="Names", read_set=anonymous),
            {"test_a_broken_file_is_an_error_that_names_it", "test_a_file_that_is_not_there_is_an_error_that_names_it"},
        ),
        (
            Format(name="names", title="Names", read_set=fickle),
            {"test_what_the_file_says_is_imported", "test_importing_it_twice_changes_nothing"},
        ),
        (
            Format(name="names", title="Names", read_set=read_names, annotations=STRANGE),
            {"test_the_same_file_can_be_graded_where_the_format_offers_it"},
        ),
    ],
    ids=["good", "another name", "half", "careless", "anonymous", "fickle", "not its own"],
)
def test_a_format_breaks_the_rules_that_it_breaks(format: Format, broken: set[str], tmp_path: Path) -> None:
    assert set(broken_rules(FormatUnderTest(format), tmp_path)) == broken


@dataclass(frozen=True)
class Errand:
    """A task that keeps every rule."""

    name: ClassVar[str] = "errand"
    digest: ClassVar[Any] = staticmethod(lambda: "d")
    ids: ClassVar[tuple[str, ...]] = ("a", "b")
    declared: ClassVar[Declaration] = DECLARED
    total: ClassVar[dict[str, int]] = {"hit": 2, "miss": 0}
    predictions: ClassVar[Any] = staticmethod(lambda: "p")

    def declares(self) -> tuple[Declaration, ...]:
        return (self.declared,)

    def data(self) -> TaskData:
        return TaskData("errand", "", self.digest())

    def inputs(self) -> list[str]:
        return []

    def thresholds(self) -> dict[str, float]:
        return {}

    def tags(self) -> dict[str, str]:
        return {}

    def load(self) -> None: ...

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:
        counts = ItemCounts(DECLARED, {name: np.array([n]) for name, n in self.total.items()}, 1).total()
        items = tuple(Item(one, one, {"example": {"hit": 1, "miss": 0}}) for one in self.ids)
        return TaskResult(TaskRun(self.data(), "item", items, cards={"example": counts}), self.predictions())


class TaskUnderTest(TaskContract):
    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind

    def make(self) -> Any:
        return self.kind()

    def keys(self) -> frozenset[str]:
        return frozenset()


SAYS = "test_it_says_what_it_is_before_it_starts"
DATA = "test_its_data_has_a_name_and_a_digest_that_stays"
FILLS = "test_it_fills_the_scorecards_that_it_declares"
ITEMS = "test_its_items_are_told_apart_and_add_up_and_are_the_same_again"
_HEADLINE = Declaration("example", rates={"x": Rate.share("example/x", "never", headline="x")})


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, set()),
        ({"name": ""}, {SAYS}),
        ({"digest": staticmethod(lambda: "")}, {DATA}),
        ({"digest": staticmethod(lambda: str(next(_DIGESTS)))}, {DATA, FILLS}),
        ({"declared": _HEADLINE}, {FILLS}),
        ({"ids": ("a", "a")}, {ITEMS}),
        ({"ids": ()}, {ITEMS}),
        ({"total": {"hit": 3, "miss": 0}}, {ITEMS}),
        ({"predictions": staticmethod(lambda: str(next(_DIGESTS)))}, {ITEMS}),
    ],
    ids=["good", "nameless", "no digest", "fickle data", "another card", "twice", "nothing", "sum", "fickle"],
)
def test_a_task_breaks_the_rules_that_it_breaks(change: dict[str, Any], broken: set[str], tmp_path: Path) -> None:
    kind: Any = dataclass(frozen=True)(type("Changed", (Errand,), change))
    assert set(broken_rules(TaskUnderTest(kind), tmp_path)) == broken
