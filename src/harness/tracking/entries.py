"""A run as a list shows it: what its tags and metrics say, without its archive."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from harness.runs.gate import Verdict
from harness.runs.tags import (
    BASELINE_TAG,
    DECLARED_TAG,
    KEY_TAG,
    SEALED_TAG,
    STUDY_TAG,
    SWEEP_TAG,
    WORKER_TAG,
    plain_name,
)
from harness.tracking.reading import StoredRun


@dataclass(frozen=True)
class RunEntry:
    """A run as the store lists it. `pinned` is when it became a baseline, and `judged_against` the baseline that its
    verdict is about; both are empty where there is none. `reasons` and `unseen` are what was told with the verdict, and
    `metric_verdicts` what was said of each gated metric. `mistakes` are the kinds that its photos can
    have; a run that is not about photos has none. `sealed_in` is the folder of the reference set that has the
    scores of a run on its holdout."""

    run_id: str
    name: str
    status: str
    started: datetime
    data_name: str = ""
    data_split: str = ""
    data_digest: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    verdict: str = ""
    judged_against: str = ""
    pinned: str = ""
    study: str = ""
    worker: str = ""
    sweep_ids: tuple[str, ...] = ()
    note: str = ""
    artifacts: str = ""
    headlines: Mapping[str, str] = field(default_factory=dict)
    key: str = ""
    look: str = ""
    sealed_in: str = ""
    preset: str = ""
    reasons: str = ""
    unseen: str = ""
    metric_verdicts: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[str, ...] = ()

    def name_beside(self, base: RunEntry | None) -> str:
        """Its name without the overrides that `base` has in its own: what is looked for is what differs."""
        if base is None or base.run_id == self.run_id:
            return self.name
        shared = {word for word in base.name.split() if "=" in word}
        own = [word for word in self.name.split() if word not in shared]
        return self.name if len(own) == len(self.name.split()) else " ".join([*own[:1], "…", *own[1:]])

    @property
    def sealed(self) -> bool:
        """Whether it is on a holdout, and its scores are kept where the gate alone reads them."""
        return bool(self.sealed_in)

    @property
    def finished(self) -> bool:
        """Whether the run came to its end with every photo evaluated."""
        return self.status == "FINISHED"

    @property
    def short_id(self) -> str:
        """Enough of the id to name the run by."""
        return self.run_id[:8]

    @property
    def data(self) -> str:
        """What it is on, in words: `sample (iteration)`."""
        from harness.runs.archive import TaskData  # with numpy and all scorecards, which a list does not need

        return str(TaskData(self.data_name, self.data_split))

    @property
    def data_column(self) -> str:
        """The same for a column: `sample iteration 1f0c9a72`."""
        return " ".join(filter(None, (self.data_name, self.data_split, self.data_digest[:8])))

    def judged_by_another(self, baselines: Collection[str]) -> bool:
        """Whether its verdict is about a run that is none of the present baselines."""
        return bool(self.verdict and self.judged_against and not self.pinned) and self.judged_against not in baselines

    def same_data(self, other: RunEntry) -> bool:
        """Whether both runs are on the same photos, labels and split."""
        return (self.data_digest, self.data_split) == (other.data_digest, other.data_split)


def entry_of(run: StoredRun) -> RunEntry:
    """What a list shows of a run."""
    tags, declared = run.tags, declared_by(run.tags)
    return RunEntry(
        run_id=run.run_id,
        name=plain_name(run.name),
        status=run.status,
        started=datetime.fromtimestamp(run.started / 1000, UTC),
        data_name=tags.get("data.name", ""),
        data_split=tags.get("data.split", ""),
        data_digest=tags.get("data.digest", ""),
        metrics=run.metrics,
        verdict=str(Verdict.BASELINE) if BASELINE_TAG in tags else tags.get("verdict", ""),
        judged_against=tags.get("verdict.baseline", ""),
        pinned=tags.get(BASELINE_TAG, ""),
        study=tags.get(STUDY_TAG, tags.get(f"{STUDY_TAG}.keep", "")),
        worker=tags.get(WORKER_TAG, ""),
        sweep_ids=tuple(tags.get(SWEEP_TAG, "").split()),
        note=tags.get("note", ""),
        artifacts=run.artifact_uri,
        headlines=declared["headlines"],
        mistakes=tuple(declared.get("mistakes", ())),
        key=tags.get(KEY_TAG, ""),
        look=tags.get("verdict.look", ""),
        sealed_in=tags.get(SEALED_TAG, ""),
        preset=tags.get("preset", ""),
        reasons=tags.get("verdict.reasons", ""),
        unseen=tags.get("verdict.unseen", ""),
        metric_verdicts={
            name.removeprefix("verdict."): said
            for name, said in tags.items()
            if name.startswith("verdict.") and "/" in name
        },
    )


def declared_by(tags: Mapping[str, str]) -> dict[str, Any]:
    """What a run's scorecards declare as worth a column or a chart. Runs of the first format do not say it."""
    return _parsed(tags[DECLARED_TAG]) if DECLARED_TAG in tags else first_declared()


@lru_cache(maxsize=64)
def _parsed(declared: str) -> dict[str, Any]:
    """Most runs of a store declare the same."""
    found: dict[str, Any] = json.loads(declared)
    return found


@lru_cache(maxsize=1)
def first_declared() -> dict[str, Any]:
    """What the runs of the first format declare."""
    from harness.runs.first_format import CARDS
    from harness.runs.records import declared

    return declared([card.DECLARED for card in CARDS])


def headlines_of(runs: Iterable[RunEntry]) -> dict[str, str]:
    """The columns of a list of runs: every metric that one of them declares and one of them has, with its title.

    The oldest run comes first, so that a new kind of run adds its columns at the end.
    """
    listed = sorted(runs, key=lambda run: run.started)
    declared = {metric: title for run in listed for metric, title in run.headlines.items()}
    return {metric: title for metric, title in declared.items() if any(metric in run.metrics for run in listed)}
