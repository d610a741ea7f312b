"""How fast the pipeline is, as a scorecard of figures: shown beside every verdict, and part of none by default.

It has figures only where they were measured: seconds that the stage cache keeps belong to another hour.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.scoring.cards import Declaration, Figure

#: What the names of all metrics that are measured by a clock begin with.
RUNTIME = "runtime/"
SECONDS, PHOTOS_PER_SECOND = f"{RUNTIME}pipeline_seconds", f"{RUNTIME}photos_per_second"
#: Those of the whole process on all cores; only a timing pass measures them.
CPU_SECONDS = f"{RUNTIME}cpu_seconds"

#: Stages whose seconds are told by themselves and are no part of the pipeline's: whether people are recognised is
#: another question than how fast bibs and faces are found.
APART = frozenset({"identity", "landmarks"})

SPEED = Declaration(
    "speed",
    figures=(
        Figure(PHOTOS_PER_SECOND, gate="shown", tolerance=0.0, relative=0.2),
        Figure(SECONDS, better="lower"),
    ),
)


def pipeline_seconds(by_stage: Mapping[str, float]) -> float:
    """The seconds of the pipeline, from those of its stages."""
    return sum(seconds for stage, seconds in by_stage.items() if stage not in APART)


def stage_seconds(stage: str) -> str:
    """The metric for the seconds of one stage."""
    return f"{RUNTIME}{stage}_seconds"
