"""What a report of a run is made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.results import Evaluation
from harness.runs.archive import BenchmarkRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Judgement, Verdict
from harness.runs.suspects import Suspect


@dataclass(frozen=True)
class RunReport:
    """All that is told of a run. Without a baseline there is no comparison; `tags` say where the run comes from."""

    run: BenchmarkRun
    judgement: Judgement
    evaluation: Evaluation
    comparison: Comparison | None
    baseline_id: str | None
    suspects: Sequence[Suspect]
    tags: Mapping[str, str]
    config_yaml: str

    @property
    def comparable(self) -> Comparison | None:
        """The comparison, where its photos mean the same on both sides."""
        return None if self.judgement.verdict is Verdict.INCOMPARABLE else self.comparison
