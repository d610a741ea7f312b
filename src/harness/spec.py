"""A run as it is to be made: what it evaluates, and where it is kept. `config.build` makes it of Hydra's config."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.errors import ConfigError
from harness.runs.plan import Plan

if TYPE_CHECKING:
    from harness.tasks.photos.task import PhotosTask
    from harness.tracking.store import Store


@dataclass(frozen=True)
class RunSpec(Plan):
    """Everything that one run needs to know, where it is kept included."""

    tracking: Store

    @property
    def photos(self) -> PhotosTask:
        """The task of photos. Raises where the run has none."""
        from harness.tasks.photos.task import PhotosTask

        found = next((task for task in self.tasks if isinstance(task, PhotosTask)), None)
        if found is None:
            raise ConfigError("references=off: this needs photos; choose references=sample, staging or frozen")
        return found
