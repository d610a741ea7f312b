"""The built-in sample: a small composed reference set, to try the harness without photos of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.types import Split

if TYPE_CHECKING:
    from harness.references.sets import ReferenceSet


@dataclass(frozen=True)
class SampleSet:
    """The sample as a reference set. `root` names a folder to read instead of the generated one."""

    root: str | None = None
    split: Split = Split.ITERATION

    def load(self) -> ReferenceSet:
        """Load the split; the first use composes the photos into the cache, which takes about a minute."""
        from harness.references.sample.store import ensure_sample
        from harness.references.sets import load_set

        folder = Path(self.root) if self.root is not None else ensure_sample()
        return load_set(folder, "sample", self.split)


__all__ = ["SampleSet"]
