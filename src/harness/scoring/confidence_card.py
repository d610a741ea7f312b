"""The scorecard of the confidence post-operation: how many predicted objects have a score, and why others do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.scoring.cards import CountRow, Declaration, Figure, Note, Rate, Scorecard, Section, Tally
from harness.scoring.confidence import Failure


@dataclass(frozen=True)
class ConfidenceScorecard(Scorecard):
    """Kept objects, and dropped ones by reason; the fields are named after the reasons."""

    kept: int = 0
    missing_trace: int = 0
    trace_len_mismatch: int = 0
    unsupported_geometry_type: int = 0
    missing_coord_bins: int = 0
    missing_span: int = 0
    nonfinite_logprob: int = 0
    pred_alignment_mismatch: int = 0
    object_idx_oob: int = 0
    samples: int = 0

    DECLARED: ClassVar = Declaration(
        name="confidence",
        rates={
            "kept_fraction": Rate.share(
                "confidence/kept_fraction", "kept", *map(str, Failure), label="boxes kept", headline="boxes kept"
            ),
        },
        counts={
            "samples": "confidence/samples",
            "kept": "confidence/kept",
            **{str(reason): f"confidence/dropped_{reason}" for reason in Failure},
        },
        figures=(Figure("confidence/ap", gate="shown"), Figure("confidence/ap_50"), Figure("confidence/ap_75")),
        sections=(
            Section(
                "Confidence",
                ("confidence/kept_fraction",),
                (Note("samples", "samples", always=True),),
                tuple(CountRow("dropped", (str(reason),), str(reason), always=False) for reason in Failure),
            ),
        ),
    )

    @property
    def kept_fraction(self) -> float:
        """Share of the predicted objects that have a score."""
        return self.rate("kept_fraction")

    @property
    def objects(self) -> int:
        """How many objects were predicted."""
        return int(self.denominator("kept_fraction"))

    @property
    def dropped_by_reason(self) -> dict[str, int]:
        """The reasons that occurred, with their counts."""
        counts = {str(reason): int(getattr(self, reason)) for reason in Failure}
        return {reason: count for reason, count in counts.items() if count}


def tally_confidence(samples: Sequence[Mapping[str, int]]) -> Tally[ConfidenceScorecard]:
    """The scorecard sample by sample, each given as counts by reason, `kept` for those that have a score."""
    return Tally.of_cards(ConfidenceScorecard, [ConfidenceScorecard(**counts, samples=1) for counts in samples])
