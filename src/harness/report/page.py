"""The report of a run: one page that says whether it is better, where it is not, and what it was made from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from harness.report.html import REPORT_FILE, render
from harness.runs.archive import IDENTITY, BenchmarkRun
from harness.runs.comparison import Comparison
from harness.runs.gate import Judgement, MetricVerdict, Verdict
from harness.runs.plan import Drawing, Showing, TaskResult
from harness.runs.tags import MEASURED_TAG
from harness.runs.verdicts import MEANINGS, TONES, moved, notes, reasons
from harness.scoring.speed import RUNTIME

Runs = Sequence[BenchmarkRun]

#: The headings of a task's part, which the page links to.
_HEADING = re.compile(r'<h2 id="([a-z-]+)">([^<]+)</h2>')
FOREST_WIDTH = 190
#: Where a page tells the verdict, and the place before it for a later one.
_VERDICT = re.compile(
    r'(?:<section class="verdict [a-z]*" id="judged-anew">.*?</section>\s*)?(<section class="verdict )', re.DOTALL
)


@dataclass(frozen=True)
class RunReport:
    """All that is told of a run. Without a baseline there is no comparison; `tags` say where the run comes from."""

    run: BenchmarkRun
    judgement: Judgement
    comparison: Comparison | None
    baseline_id: str | None
    tags: Mapping[str, str]
    config_yaml: str
    run_id: str = ""
    drawing: Drawing = field(default_factory=Drawing)

    @property
    def photo_pages(self) -> str:
        """What the addresses of its photos begin with where `harness ui` is served."""
        explorer = self.drawing.explorer
        return f"{explorer}/runs/{quote(self.run_id)}/photos/" if explorer and self.run_id else ""

    @property
    def comparable(self) -> Comparison | None:
        """The comparison, where its items mean the same on both sides."""
        return None if self.judgement.verdict is Verdict.INCOMPARABLE else self.comparison


def write_report(folder: Path, report: RunReport, results: Mapping[str, TaskResult], recent: Runs) -> dict[str, str]:
    """Let each task make its part, and write the page; returns the tags by which MLflow knows what there is to show."""
    showing = Showing(folder, report.comparable, recent, report.drawing.pictures, report.photo_pages)
    parts = {name: result.show(showing) for name, result in results.items() if result.show is not None}
    (folder / REPORT_FILE).write_text(run_page(report, {name: part.html for name, part in parts.items()}))
    return {name: value for part in parts.values() for name, value in part.tags.items()}


def judged_anew(page: str, judgement: Judgement, baseline: str, baseline_id: str) -> str:
    """The page of a run that was judged again after it was written: the new verdict on top of the earlier one."""
    tone, sign = TONES[judgement.verdict]
    pinned = judgement.verdict is Verdict.BASELINE
    why = (
        "Pinned as the baseline"
        if pinned
        else Markup("Judged anew against {}, run <code>{}</code>").format(baseline, baseline_id)
    )
    told = Markup(
        '<section class="verdict {}" id="judged-anew"><strong>{} {}</strong><p>{}. '
        "All below is about the earlier judgement.</p></section>\n"
    ).format(tone, sign, judgement.said, why)
    return _VERDICT.sub(lambda found: f"{told}{found.group(1)}", page, count=1)


def run_page(report: RunReport, parts: Mapping[str, str]) -> str:
    """The page. `parts` are the tasks' own by their names, escaped where they are made; a task without one is told as
    in the terminal."""
    run, comparison = report.run, report.comparison
    tone, sign = TONES[report.judgement.verdict]
    sections = [section for task in run.tasks.values() for section in task.sections()]
    # Where nothing is labelled nobody is known who could be found; the photos' part says what is missing.
    shown = [part for name, part in parts.items() if name != IDENTITY or not run.is_unlabelled]
    return render(
        "run.html",
        run=run,
        data=run.metadata,
        judgement=replace(report.judgement, reasons=(*moved(report.judgement), *reasons(report.judgement))),
        verdict={
            "tone": tone,
            "sign": sign,
            "word": report.judgement.said,
            "meaning": MEANINGS[report.judgement.verdict],
        },
        deltas=list(delta_rows(report.judgement.metrics)),
        notes=notes(report.judgement),
        baseline=comparison.base if comparison else None,
        baseline_id=report.baseline_id,
        tiles=[
            {"title": f"{section.title}, {row.label}", "value": row.value, "interval": row.interval, "basis": row.basis}
            for section in sections
            for row in section.rows
            if row.metric in run.headlines
        ],
        sections=sections,
        texts=[task.text for name, task in run.tasks.items() if task.text and name not in parts],
        parts=[Markup(part) for part in shown],
        anchors=[found for part in shown for found in _HEADING.findall(part)],
        config_changes=comparison.config if comparison else (),
        config_yaml=report.config_yaml,
        provenance=list(provenance(report)),
    )


def delta_rows(metrics: Sequence[MetricVerdict]) -> Iterator[dict[str, Any]]:
    """What each metric did beside the baseline, as text, and where its interval lies in a small drawing."""
    ends = [abs(end) for item in metrics for end in (item.low, item.high, item.gain) if end is not None and item.items]
    scale = (FOREST_WIDTH / 2 - 8) / max([*ends, 0.01])
    for item in metrics:
        row: dict[str, Any] = {
            "metric": item.metric,
            "verdict": str(item.verdict or "for information"),
            "tone": TONES[item.verdict][0] if item.verdict else "soft",
            "baseline": f"{item.baseline:.2f}",
            "candidate": f"{item.candidate:.2f}",
            "gain": f"{item.gain:+.2f}",
            "interval": "",
            "unseen": "",
            "forest": None,
        }
        if item.items:
            row |= {"baseline": f"{item.baseline:.1%}", "candidate": f"{item.candidate:.1%}"}
            row["gain"] = f"{100 * item.gain:+.1f} points"
        if item.unseen is not None:
            row["unseen"] = (
                f"{'about ' if item.rough else ''}{100 * item.unseen:.1f} points" if not item.blind else "any"
            )
        if item.low is not None and item.high is not None:
            row["interval"] = f"{100 * item.low:+.1f} to {100 * item.high:+.1f}"
            places = {"low": item.low, "high": item.high, "gain": item.gain}
            row["forest"] = {name: f"{FOREST_WIDTH / 2 + scale * value:.1f}" for name, value in places.items()}
        yield row


def provenance(report: RunReport) -> Iterator[tuple[str, str]]:
    """What a run was made from: code, data, rules, models, packages and time."""
    data, tags = report.run.metadata, report.tags
    yield "code", data.git_commit + (" with changes since" if tags.get("git.dirty") == "true" else "")
    for name, task in report.run.tasks.items():
        yield f"data of {name}", f"{task.data}, digest {task.data.digest}"
    rules = [f"version {data.scorer_version}", *(f"{name} {value}" for name, value in data.thresholds.items())]
    yield "scorer", ", ".join(rules)
    for name in sorted(tags):
        if name.startswith("model.") and name != "model.licences":
            yield name.replace(".", " ", 1), tags[name]
    packages = {name.removeprefix("version."): tags[name] for name in sorted(tags) if name.startswith("version.")}
    yield "packages", ", ".join(f"{name} {version}" for name, version in packages.items())
    if data.runtime:
        seconds = ", ".join(f"{name.removeprefix(RUNTIME)} {value:.2f}" for name, value in data.runtime.items())
        yield "time", f"{seconds} ({tags[MEASURED_TAG]})" if MEASURED_TAG in tags else seconds
    elif any(metric.startswith(RUNTIME) for card in report.run.cards.values() for metric in card.declared.metrics):
        yield "time", "not measured: answers came from the stage cache (timing=on measures)"
    yield "key", data.key
