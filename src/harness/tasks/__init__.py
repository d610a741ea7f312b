"""What a run can evaluate. Each task is a package with a `task` module; `runs.plan` says what a task is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

#: An overlap (IoU) from which on two boxes match.
Overlap = Annotated[float, Field(gt=0, le=1)]


@dataclass(frozen=True)
class Off:
    """The class behind `off`: a task that is not part of the run."""
