"""The confidence post-operation as part of a run: the classes behind `confidence=files` and `confidence=sample`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.results import Extra
from harness.scoring.cards import Tally
from harness.scoring.confidence import Reducer
from harness.scoring.confidence_card import ConfidenceScorecard, tally_confidence
from harness.scoring.uncertainty import Interval, intervals
from harness.tasks.confidence.lines import parse, read_lines, unreadable
from harness.tasks.confidence.postop import CONFIDENCE_FILE, SCORED_FILE, run_postop
from harness.tasks.confidence.quality import Quality, judge

QUALITY_FILE = "confidence_quality.json"
SAMPLE = Path(__file__).parent / "sample"
SAMPLE_FILES = (SAMPLE / "gt_vs_pred.jsonl", SAMPLE / "pred_token_trace.jsonl")


@dataclass(frozen=True)
class ConfidenceFiles:
    """Score the predictions of an artifact by its token trace and judge the result."""

    gt_vs_pred: str
    trace: str
    reducer: Reducer
    class_agnostic: bool

    def inputs(self) -> str:
        """Both files."""
        return " ".join(_sha256(Path(path).expanduser()) for path in (self.gt_vs_pred, self.trace))

    def run(self, folder: Path, seed: int) -> Extra:
        """Put the outputs into `folder`, and what they come to into an Extra."""
        artifact, trace = Path(self.gt_vs_pred).expanduser(), Path(self.trace).expanduser()
        return evaluate_confidence(artifact, trace, folder, self.reducer, self.class_agnostic, seed)


@dataclass(frozen=True)
class ConfidenceSample:
    """The same on the small pair of files that comes with the harness. They are made up."""

    reducer: Reducer
    class_agnostic: bool

    def inputs(self) -> str:
        """Both files of the sample."""
        return " ".join(map(_sha256, SAMPLE_FILES))

    def run(self, folder: Path, seed: int) -> Extra:
        """As for files."""
        return evaluate_confidence(
            *SAMPLE_FILES, folder, self.reducer, self.class_agnostic, seed, note="made-up sample"
        )


def evaluate_confidence(
    artifact: Path, trace: Path, folder: Path, reducer: Reducer, class_agnostic: bool, seed: int, note: str = ""
) -> Extra:
    """Score, judge and word it."""
    run_postop(artifact, trace, folder, reducer)
    tally = read_tally(folder / CONFIDENCE_FILE)
    quality = judge(folder / SCORED_FILE, class_agnostic=class_agnostic)
    (folder / QUALITY_FILE).write_text(json.dumps(quality.to_dict(), indent=1) + "\n")
    spread = intervals(tally, seed=seed)
    metrics = tally.scorecard().metrics() | quality.metrics()
    for name, interval in spread.items():
        key = f"interval/{name.replace('/', '_')}"
        metrics |= {f"{key}_low": interval.low, f"{key}_high": interval.high}
    return Extra(
        name="confidence",
        metrics=metrics,
        tags={"confidence.gt_vs_pred.sha256": _sha256(artifact), "confidence.trace.sha256": _sha256(trace)},
        data_digest=_sha256(artifact),
        text="\n".join(format_confidence(tally.scorecard(), quality, spread, reducer.method, note)),
    )


def read_tally(confidence: Path) -> Tally[ConfidenceScorecard]:
    """What became of the objects of each sample, from `pred_confidence.jsonl`."""
    samples = []
    for number, line in read_lines(confidence):
        objects: list[dict[str, Any]] = parse(confidence, number, line)["objects"]
        samples.append(Counter(item["confidence_details"]["failure_reason"] or "kept" for item in objects))
    return tally_confidence(samples)


def format_confidence(
    card: ConfidenceScorecard, quality: Quality | None, spread: dict[str, Interval], *details: str
) -> list[str]:
    """The lines that the terminal shows; a rate without anything to count is n/a."""
    notes = ", ".join(filter(None, (f"{card.samples} samples", *details)))
    lines = [f"Confidence  ({notes})"]
    interval = spread.get("confidence/kept_fraction")
    shown = f"[{interval.low:.1%}, {interval.high:.1%}]" if interval else ""
    kept = f"{card.kept_fraction:.1%}" if card.objects else "n/a"
    lines.append(_row("boxes kept", kept, shown, f"{card.kept} of {card.objects}" if card.objects else "no objects"))
    lines += [_row("dropped", str(count), "", reason) for reason, count in card.dropped_by_reason.items()]
    if quality is None:
        return lines
    basis = f"{quality.ranked.targets} targets, {quality.ranked.predictions} boxes"
    for label, name in (("AP", "ap"), ("AP50", "ap_50"), ("AP75", "ap_75")):
        ranked, constant = getattr(quality.ranked, name), getattr(quality.constant, name)
        if ranked is None or constant is None:
            lines.append(_row(label, "n/a", "", "no targets"))
        else:
            gain = f"{constant:.1%} with a constant score, {(ranked - constant) * 100:+.1f} by ranking"
            lines.append(_row(label, f"{ranked:.1%}", "", f"{basis}; {gain}"))
    error = quality.calibration
    lines.append(_row("calibration", "n/a" if error.ece is None else f"{error.ece:.3f}", "", f"ECE, {error.n} boxes"))
    return lines


def _row(label: str, value: str, interval: str, basis: str) -> str:
    return f"  {label:<17} {value:>8}  {interval:<16}  {basis}".rstrip()


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error
