"""What the commands on a reference set share: which set they work on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError

if TYPE_CHECKING:
    from harness.references.sets import StagingSet
    from harness.references.store import LabelStore


def compose_staging(overrides: Sequence[str]) -> Any:
    """The config that the overrides select, on the staging set unless they say otherwise."""
    from harness.config import compose

    chosen = any(item.startswith("references=") for item in overrides)
    return compose(overrides if chosen else ["references=staging", *overrides])


def open_store(config: Any) -> LabelStore:
    """The label store of a composed config."""
    return open_set(config)[0]


def open_set(config: Any) -> tuple[LabelStore, StagingSet]:
    """The label store of a composed config, and how the set is to be read."""
    from pathlib import Path

    from harness.building import instantiate
    from harness.references.sets import StagingSet
    from harness.references.store import LabelStore

    references = instantiate(config, "references")
    if not isinstance(references, StagingSet):
        raise ConfigError("references: this command works on references=staging alone; other sets never change")
    return LabelStore(Path(references.root)), references
