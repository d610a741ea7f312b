"""The sample in the cache, under a name that changes with whatever its bytes depend on."""

from __future__ import annotations

from pathlib import Path

from harness.base.cache import made_once, source_key
from harness.tasks.tables.sample.draw import GROUND_TRUTH, draw_sample


def ensure_sample() -> Path:
    """The ground truth of the sample, with its PDF beside it, made now if it is not there yet."""
    return made_once(f"tables-{source_key(__package__, ('matplotlib',))}", draw_sample) / GROUND_TRUTH
