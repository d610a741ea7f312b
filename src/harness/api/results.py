"""What the functions of the API return: frozen dataclasses that show themselves in a notebook and become data frames.

They stand on the archive of a run (`kept`), which is not public and may change; the properties are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from harness.api import rows
from harness.runs.archive import BenchmarkRun, TaskData
from harness.runs.comparison import Change, CodeChange, ConfigChange, ItemChange
from harness.runs.comparison import Comparison as KeptComparison
from harness.runs.gate import Judgement, MetricVerdict, Verdict
from harness.runs.items import Item
from harness.runs.verdicts import text_judgement
from harness.scoring import Interval

if TYPE_CHECKING:
    from pandas import DataFrame

    from harness.references.sets import ReferencePhoto
    from harness.tracking.entries import RunEntry
    from harness.tracking.store import OpenStore


@dataclass(frozen=True, repr=False)
class Run:
    """One run: its scorecards, its items one by one, and how it compares with the baseline.

    `baseline` is the id of the run that it was judged against. `passed` says whether `gate=strict` would let it pass.
    `reused` is true where it comes from the store, and false where it was evaluated just now.
    """

    id: str
    judgement: Judgement
    baseline: str | None
    passed: bool
    reused: bool
    kept: BenchmarkRun = field(compare=False)
    store: OpenStore = field(compare=False)

    @property
    def name(self) -> str:
        """The preset, and what was overridden beyond it."""
        return self.kept.metadata.name

    @property
    def note(self) -> str:
        """What somebody wrote about it with `note=...`."""
        return self.kept.metadata.note

    @property
    def verdict(self) -> Verdict:
        """How it compares with the baseline: a string such as `IMPROVED`, or `NO BASELINE`."""
        return self.judgement.verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why there is no better verdict, in words."""
        return self.judgement.reasons

    @property
    def judged(self) -> tuple[MetricVerdict, ...]:
        """What each gated metric did: values, gain with its interval, verdict. Empty without a baseline."""
        return self.judgement.metrics

    @property
    def metrics(self) -> dict[str, float]:
        """Every number by its MLflow name, such as `face/f1`. One without targets is not there."""
        return dict(self.kept.metrics)

    @property
    def intervals(self) -> dict[str, Interval]:
        """The 95 % interval of each rate, with `low` and `high`, by the rate's name."""
        return {name: each for task in self.kept.tasks.values() for name, each in task.intervals.items()}

    @property
    def params(self) -> dict[str, str]:
        """The configuration by dotted keys, such as `face.threshold`."""
        return dict(self.kept.metadata.config)

    @property
    def data(self) -> TaskData:
        """What it was evaluated on: `name`, `split` and `digest`."""
        meta = self.kept.metadata
        return TaskData(meta.data_name, meta.data_split, meta.data_digest)

    @property
    def complete(self) -> bool:
        """Whether every item could be evaluated."""
        return self.kept.complete

    @property
    def failures(self) -> tuple[str, ...]:
        """The items that could not be evaluated, each with its reason."""
        return self.kept.failures

    @property
    def idle_steps(self) -> tuple[str, ...]:
        """The steps of the pipeline that were switched on and made no difference to any photo."""
        return self.kept.idle_steps

    @property
    def items(self) -> tuple[Item, ...]:
        """The photos (or people, tables, samples) one by one: `id`, `name`, `counts` of each scorecard, and for a photo
        `photo` with what was expected, read and predicted."""
        return tuple(item for task in self.kept.tasks.values() for item in task.items)

    @property
    def report(self) -> str:
        """The report as one HTML page with all its pictures, read from the store; "" where the run has none."""
        from harness.report.html import REPORT_FILE
        from harness.tracking.catalog import has_artifact, read_artifact

        if not has_artifact(self.store, self.id, REPORT_FILE):
            return ""
        return read_artifact(self.store, self.id, REPORT_FILE).decode()

    def to_pandas(self, what: Literal["items", "metrics"] = "items") -> DataFrame:
        """The `items`, one row each, those that failed included; or the `metrics`, one row each."""
        if what == "metrics":
            return _frame(rows.metric_rows(self.kept, self.judgement), rows.METRIC, index="metric")
        _check(what, "items", "metrics")
        return _frame(rows.item_rows(self.kept), rows.ITEM)

    def __repr__(self) -> str:
        return f"<harness.Run {self.id[:8]} {self.name!r}: {self.judgement.said}, {self.kept.described()}>"

    def __str__(self) -> str:
        """The run as the command line shows it."""
        head = f"{self.name}\n{self.kept.described()}, data {self.data.digest[:12]}"
        return f"{head}\n\n{self.kept.text()}\n\n{text_judgement(self.judgement)}\n\nMLflow run {self.id}"

    def _repr_html_(self) -> str:
        from harness.report.notebook import run_html

        return run_html(self.kept, self.judgement, self.id, self.baseline)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs side by side: `run_id` judged against `base_id`. `passed` is as for a run."""

    run_id: str
    base_id: str
    passed: bool
    kept: KeptComparison

    @property
    def verdict(self) -> Verdict:
        """How the run compares with the base: a string such as `IMPROVED`."""
        return self.kept.judgement.verdict

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why there is no better verdict, in words."""
        return self.kept.judgement.reasons

    @property
    def judged(self) -> tuple[MetricVerdict, ...]:
        """What each gated metric did: values, gain with its interval, verdict. Plus is better."""
        return self.kept.judgement.metrics

    @property
    def broken(self) -> tuple[ItemChange, ...]:
        """What a scorecard counts more errors on than in the base, item by item."""
        return self.kept.ledger().get(Change.BROKEN, ())

    @property
    def fixed(self) -> tuple[ItemChange, ...]:
        """What a scorecard counts fewer errors on."""
        return self.kept.ledger().get(Change.FIXED, ())

    @property
    def mixed(self) -> tuple[ItemChange, ...]:
        """What has fewer errors of one kind and more of the other."""
        return self.kept.ledger().get(Change.MIXED, ())

    @property
    def config(self) -> tuple[ConfigChange, ...]:
        """The keys of the configuration that differ: `key`, `before` and `after`."""
        return self.kept.config

    @property
    def code(self) -> tuple[CodeChange, ...] | None:
        """The modules and installed distributions that differ: `kind`, `name`, `before` and `after`, which are hashes
        of modules and versions of distributions. None where one of the runs did not record its code."""
        return self.kept.code

    def to_pandas(self, what: Literal["metrics", "items"] = "metrics") -> DataFrame:
        """The gated `metrics`, one row each; or the `items` that came out otherwise, one row for each scorecard."""
        if what == "items":
            return _frame(rows.change_rows(self.kept.items), rows.CHANGE)
        _check(what, "metrics", "items")
        return _frame(rows.verdict_rows(self.kept.judgement), rows.VERDICT, index="metric")

    def __repr__(self) -> str:
        moved = f"{len(self.broken)} broken, {len(self.fixed)} fixed"
        return f"<harness.Comparison {self.run_id[:8]} against {self.base_id[:8]}: {self.kept.judgement.said}, {moved}>"

    def __str__(self) -> str:
        """The comparison as the command line shows it."""
        from harness.report.comparisons import text_comparison

        return text_comparison(self.kept, self.run_id, self.base_id)

    def _repr_html_(self) -> str:
        from harness.report.notebook import comparison_html

        return comparison_html(self.kept, self.run_id, self.base_id)


@dataclass(frozen=True, repr=False)
class References:
    """Photos and their labels. The digest changes when a photo, a label or the selection changes."""

    name: str
    split: str
    digest: str
    photos: tuple[ReferencePhoto, ...]

    def to_pandas(self) -> DataFrame:
        """One row a label: a bib, a face or a link, with its photo. Boxes are shares of the photo."""
        return _frame(rows.label_rows(self.photos), rows.LABEL)

    def __repr__(self) -> str:
        return f"<harness.References {self.name} ({self.split}): {len(self.photos)} photos, {self.digest[:12]}>"

    def _repr_html_(self) -> str:
        from harness.report.notebook import references_html

        return references_html(self.name, self.split, self.digest, [photo.labels for photo in self.photos])


@dataclass(frozen=True, repr=False)
class RunList:
    """The stored runs, newest first. Each has `run_id`, `name`, `verdict`, `metrics` and more."""

    entries: tuple[RunEntry, ...]

    def to_pandas(self) -> DataFrame:
        """One row a run, with a column for each metric."""
        return _frame(rows.run_rows(self.entries), rows.RUN, index="run_id")

    def __iter__(self) -> Iterator[RunEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, place: int) -> RunEntry:
        return self.entries[place]

    def __repr__(self) -> str:
        return f"<harness.RunList of {len(self)} runs>"

    def _repr_html_(self) -> str:
        from harness.report.notebook import runs_html
        from harness.tracking.entries import headlines_of

        headlines = headlines_of(self.entries)
        return runs_html(list(headlines.values()), [rows.shown_run(run, headlines) for run in self.entries])


def _check(what: str, *known: str) -> None:
    if what not in known:
        raise ValueError(f"to_pandas({what!r}): expected one of {', '.join(map(repr, known))}")


def _frame(table: Sequence[rows.Row], columns: Sequence[str], index: str = "") -> DataFrame:
    """A data frame that has these columns first, also where it has no rows."""
    import pandas as pd

    frame = pd.DataFrame(table)
    frame = frame.reindex(columns=[*columns, *(name for name in frame.columns if name not in columns)])
    return frame.set_index(index) if index else frame
