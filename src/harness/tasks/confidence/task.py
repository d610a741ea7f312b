"""The confidence post-operation as a task of a run: the classes behind `confidence=files` and `confidence=sample`."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from harness.base.scratch import scratch_prefix
from harness.runs.archive import TaskData, TaskRun
from harness.runs.items import Item
from harness.runs.plan import TaskResult
from harness.scoring import Declaration, Tally, format_scorecard, intervals
from harness.scoring.confidence import Reducer
from harness.scoring.confidence_card import ConfidenceScorecard, tally_confidence
from harness.scoring.coord_tokens import TraceForm
from harness.scoring.format import interval_text, text_row
from harness.scoring.standardizer import Converter, Drops, Standardizer
from harness.tasks.confidence.lines import parse, read_lines, unreadable
from harness.tasks.confidence.postop import CONFIDENCE_FILE, SCORED_FILE, Options, Summary, run_postop
from harness.tasks.confidence.quality import Quality, judge

QUALITY_FILE = "confidence_quality.json"
SAMPLE = Path(__file__).parent / "sample"


@dataclass(frozen=True)
class ConfidenceTask(ABC):
    """Score the predictions of an artifact by its token trace and judge the result."""

    name: ClassVar[str] = "confidence"

    reducer: Reducer
    converter: Converter
    drops: Drops
    trace_form: TraceForm
    class_agnostic: bool

    @property
    @abstractmethod
    def artifact(self) -> Path:
        """The predictions, with the ground truth that each record carries."""

    @property
    @abstractmethod
    def trace_path(self) -> Path:
        """The token traces."""

    @property
    def note(self) -> str:
        """What has to be said about the data."""
        return ""

    @cached_property
    def _digests(self) -> tuple[str, str]:
        return _sha256(self.artifact), _sha256(self.trace_path)

    @cached_property
    def _scored(self) -> _Scored:
        """Both files read from end to end and scored, into a folder that goes when the task goes."""
        options = Options(self.reducer, Standardizer(self.converter, self.drops), self.trace_form)
        return _Scored(self.artifact, self.trace_path, options, self.class_agnostic)

    def declares(self) -> tuple[Declaration, ...]:
        """The one scorecard."""
        return (ConfidenceScorecard.DECLARED,)

    def data(self) -> TaskData:
        """The artifact: predictions and ground truth."""
        return TaskData((self.note and "sample") or self.artifact.stem, "", self._digests[0])

    def inputs(self) -> list[str]:
        """The token traces."""
        return [self._digests[1]]

    def thresholds(self) -> Mapping[str, float]:
        """None: average precision takes all of COCO's."""
        return {}

    def tags(self) -> Mapping[str, str]:
        """The digests of both files."""
        return {"confidence.gt_vs_pred.sha256": self._digests[0], "confidence.trace.sha256": self._digests[1]}

    def load(self) -> None:
        """Read and score both files, so that a line that is wrong is told before a run begins."""
        self._scored  # noqa: B018 - made here, used by `evaluate`

    def evaluate(self, folder: Path, seed: int, quiet: bool) -> TaskResult:  # noqa: ARG002 - a task's interface
        """Keep the outputs, and say what they come to."""
        scored = self._scored
        shutil.copytree(scored.folder.name, folder, dirs_exist_ok=True)
        counts = scored.tally.items()
        quality, sureness = scored.quality.metrics(), scored.quality.sureness
        kept = TaskRun(
            data=self.data(),
            noun="sample",
            items=tuple(
                Item(str(row), str(row), {counts.declared.name: {name: n for name, n in own.items() if n}})
                for row, own in enumerate(counts.by_item())
            ),
            cards={counts.declared.name: counts.total(_figures(quality))},
            intervals=intervals(counts) | {f"confidence/{name}": each.interval for name, each in sureness.items()},
            left_out={f"confidence/{name}": each.left_out for name, each in sureness.items() if each.left_out},
            text=quality_text(scored.summary, scored.quality, self.note),
        )
        return TaskResult(kept, scored.digest, quality)


@dataclass(frozen=True)
class ConfidenceFiles(ConfidenceTask):
    """Your own files."""

    gt_vs_pred: str
    trace: str

    @property
    def artifact(self) -> Path:
        """The file that the config names."""
        return Path(self.gt_vs_pred).expanduser()

    @property
    def trace_path(self) -> Path:
        """The file that the config names."""
        return Path(self.trace).expanduser()


@dataclass(frozen=True)
class ConfidenceSample(ConfidenceTask):
    """The small pair of files that comes with the harness. They are made up."""

    @property
    def artifact(self) -> Path:
        """A file of this package."""
        return SAMPLE / "gt_vs_pred.jsonl"

    @property
    def trace_path(self) -> Path:
        """A file of this package."""
        return SAMPLE / "pred_token_trace.jsonl"

    @property
    def note(self) -> str:
        """That nobody takes it for real predictions."""
        return "made-up sample"


class _Scored:
    """The outputs of the post-operation in a folder of their own, and what they come to."""

    def __init__(self, artifact: Path, trace: Path, options: Options, class_agnostic: bool) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix=scratch_prefix())
        out = Path(self.folder.name)
        self.summary = run_postop(artifact, trace, out, options)
        self.tally = read_tally(out / CONFIDENCE_FILE)
        self.quality = judge(out / SCORED_FILE, class_agnostic=class_agnostic)
        (out / QUALITY_FILE).write_text(json.dumps(self.quality.to_dict(), indent=1) + "\n")
        self.digest = _sha256(out / SCORED_FILE)


def read_tally(confidence: Path) -> Tally[ConfidenceScorecard]:
    """What became of the objects of each sample, from `pred_confidence.jsonl`."""
    samples = []
    for number, line in read_lines(confidence):
        objects: list[dict[str, Any]] = parse(confidence, number, line)["objects"]
        samples.append(Counter(item["confidence_details"]["failure_reason"] or "kept" for item in objects))
    return tally_confidence(samples)


def format_confidence(summary: Summary, quality: Quality | None) -> str:
    """The scorecard and, where it was measured, the quality of the scores, for a terminal."""
    return "\n\n".join([format_scorecard(summary.card), quality_text(summary, quality)])


def quality_text(summary: Summary, quality: Quality | None, note: str = "") -> str:
    """What the scores are and how good: the converter, average precision by them and without them, calibration."""
    lines = [f"Scores  ({', '.join(filter(None, (summary.options.reducer.method, note)))})", _converter_row(summary)]
    if quality is None:
        return "\n".join(lines)
    sure = quality.sureness
    basis = f"{quality.ranked.targets} targets, {quality.ranked.predictions} boxes"
    for label, name in (("AP", "ap"), ("AP50", "ap_50"), ("AP75", "ap_75")):
        ranked, constant = getattr(quality.ranked, name), getattr(quality.constant, name)
        if ranked is None or constant is None:
            lines.append(text_row(label, "n/a", "", "no targets"))
        else:
            gain = f"{constant:.1%} with a constant score, {(ranked - constant) * 100:+.1f} by ranking"
            spread = interval_text(sure[name].interval) if name in sure else ""
            lines.append(text_row(label, f"{ranked:.1%}", spread, f"{basis}; {gain}"))
    error = quality.calibration
    shown = "n/a" if error.ece is None else f"{error.ece:.3f}"
    return "\n".join([*lines, text_row("calibration", shown, "", f"ECE, {error.n} boxes")])


def _converter_row(summary: Summary) -> str:
    if not summary.records:
        return text_row("converter", "n/a", "", f"{summary.standardizer.converter}; no record to reproduce has a size")
    basis = f"{summary.reproduced} of {summary.records} records by {summary.standardizer.converter}"
    return text_row("reproduced", f"{summary.reproduced / summary.records:.1%}", "", basis)


def _figures(quality: Mapping[str, float]) -> dict[str, float]:
    known = (figure.metric for figure in ConfidenceScorecard.DECLARED.figures)
    return {metric: quality[metric] for metric in known if metric in quality}


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
