"""Which labels are shown: the staging set, which can be changed, or a frozen one, which cannot."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from harness.base.errors import ReferenceSetError
from harness.references.contents import Contents, read_contents
from harness.references.frozen import load_frozen, open_frozen
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.types import Split


class FrozenError(ReferenceSetError):
    """A write to a set that never changes."""


class LabelSource(Protocol):
    """A reference set as the pages see it."""

    @property
    def root(self) -> Path:
        """Where `photos/` and `frozen/` lie."""

    @property
    def name(self) -> str:
        """What the set is called on the pages."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed."""

    def contents(self) -> Contents:
        """All labels as of now."""

    def suggestions(self) -> Suggestions:
        """All suggestions as of now."""

    def writable(self) -> LabelStore:
        """The store that takes edits. Raises FrozenError where there is none."""


@dataclass(frozen=True)
class StagingSource:
    """The labels that people are working on."""

    store: LabelStore
    name: str = "staging"
    read_only: bool = False

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.store.root

    def contents(self) -> Contents:
        """All labels as of now."""
        return self.store.contents()

    def suggestions(self) -> Suggestions:
        """All suggestions as of now."""
        return self.store.suggestions()

    def writable(self) -> LabelStore:
        """The store itself."""
        return self.store


@dataclass(frozen=True)
class SampleSource:
    """The built-in sample, to look at. It has no suggestions, and is the same for everybody."""

    root: Path
    name: str = "sample"
    read_only: bool = True

    @cached_property
    def _contents(self) -> Contents:
        return read_contents(self.root)

    def contents(self) -> Contents:
        """Its labels."""
        return self._contents

    def suggestions(self) -> Suggestions:
        """None."""
        return Suggestions()

    def writable(self) -> LabelStore:
        """Always refuses."""
        raise FrozenError("the sample never changes; label photos of your own with references=staging")


@dataclass(frozen=True)
class FrozenSource:
    """A frozen set, checked in full when it is opened. It has no suggestions."""

    root: Path
    name: str
    read_only: bool = True

    @cached_property
    def _contents(self) -> Contents:
        load_frozen(self.root, self.name, Split.FULL)
        return open_frozen(self.root, self.name)[1]

    def contents(self) -> Contents:
        """The labels as they were frozen."""
        return self._contents

    def suggestions(self) -> Suggestions:
        """None."""
        return Suggestions()

    def writable(self) -> LabelStore:
        """Always refuses."""
        raise FrozenError(
            f"{self.name} is frozen and never changes; correct the label in staging and freeze a new version"
        )
