"""How fast the pipeline is, as a scorecard of figures: shown beside every verdict, and part of none by default."""

from __future__ import annotations

from harness.scoring.cards import Declaration, Figure

SECONDS, PHOTOS_PER_SECOND = "runtime/pipeline_seconds", "runtime/photos_per_second"

SPEED = Declaration(
    "speed",
    figures=(
        Figure(PHOTOS_PER_SECOND, gate="shown", tolerance=0.0, relative=0.2),
        Figure(SECONDS, better="lower"),
    ),
)
