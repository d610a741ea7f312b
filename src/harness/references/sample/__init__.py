"""The built-in sample: a small composed reference set, to try the harness without photos of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.cache import cache_dir, made_once
from harness.base.code import source_key
from harness.base.extras import need
from harness.references.groups import Grouping
from harness.types import Split

if TYPE_CHECKING:
    from harness.references.sets import ReferenceSet


@dataclass(frozen=True)
class SampleSet:
    """The sample as a reference set. `root` names a folder to read instead of the generated one.

    Each photo is a group of its own: nine people are in all photos, so that by the usual rule all would be one group.
    """

    root: str | None = None
    split: Split = Split.ITERATION
    groups: Grouping = "photo"

    def load(self) -> ReferenceSet:
        """Load the split; the first use composes the photos into the cache, which takes about a minute."""
        from harness.references.sets import load_set

        folder = Path(self.root) if self.root is not None else ensure_sample()
        return load_set(folder, "sample", self.split, self.groups)


def sample_key() -> str:
    """A short digest over the generator's own files and the versions that its pixels depend on."""
    return source_key(__package__)


def ensure_sample() -> Path:
    """The folder of the generated sample in the cache, made now if it is not there yet."""
    return made_once(f"sample-{sample_key()}", _make)


def made_sample() -> Path | None:
    """The folder of the sample, where it has been made."""
    folder = cache_dir() / f"sample-{sample_key()}"
    return folder if folder.is_dir() else None


def _make(folder: Path) -> None:
    need("photos of your own are references=staging or references=frozen; references=sample", "cv2", "openpeople")
    from harness.references.sample.generate import generate

    generate(folder)
