"""Two runs to look at, made once: nothing here changes them."""

from __future__ import annotations

import pytest

from harness.exploring.opened import OpenedRun, open_run
from harness.runs.gate import Gate
from tests.exploring.scored import Scored


@pytest.fixture(scope="session")
def opened(scored: Scored) -> OpenedRun:
    """The run beside the baseline."""
    return open_run(scored.store.open(), Gate(strict=False), scored.run)
