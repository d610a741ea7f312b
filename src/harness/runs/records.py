"""What a run is called, known by, tagged and archived as."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from harness.runs.archive import PHOTOS, BenchmarkRun, RunMetadata, TaskData, combined_digest
from harness.runs.gate import Judgement
from harness.runs.plan import Plan, TaskResult
from harness.runs.provenance import code_digest, provenance, versions
from harness.runs.verdicts import markdown_judgement
from harness.scoring import SCORER_VERSION, Declaration

#: Present on the runs that a search made, with its name.
STUDY_TAG = "study"
#: Present on those of its trials, with the name of the worker that evaluates it.
WORKER_TAG = "study.worker"
#: Says which metrics and pictures a run declares as worth a column or a chart, so that lists need not read the run.
DECLARED_TAG = "declared"


def run_name(plan: Plan) -> str:
    """The preset, and what was overridden beyond it. Presets are of the pipeline: without photos there is none."""
    tasks = [task.name for task in plan.tasks]
    beyond = [item for item in plan.overrides if not item.startswith("preset=")]
    return " ".join([plan.preset, *beyond] if PHOTOS in tasks else beyond or tasks)


def all_data(plan: Plan) -> TaskData:
    """The data of all tasks as one, called by its photos where it has some. Only photos have a split."""
    parts = {task.name: task.data() for task in plan.tasks}
    photos = parts.get(PHOTOS, TaskData(" + ".join(f"{name} {data.name}" for name, data in parts.items())))
    return TaskData(photos.name, photos.split, combined_digest(parts))


def run_key(plan: Plan, baseline: str | None) -> str:
    """A digest of all that a run's results depend on, the run that it is judged against included."""
    parts = [
        {name: value for name, value in plan.params.items() if not name.startswith("references.")},
        plan.note,
        {task.name: [task.data().digest, *task.inputs()] for task in plan.tasks},
        SCORER_VERSION,
        code_digest(),
        versions(),
        [asdict(plan.gate)[part] for part in ("metrics", "declared")],
        baseline,
        *(["light"] if plan.light else []),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def archive(plan: Plan, results: Mapping[str, TaskResult], key: str) -> BenchmarkRun:
    """The run as it is kept."""
    data = all_data(plan)
    metrics: dict[str, float] = {}
    for result in results.values():
        metrics |= {**result.kept.metrics(), **result.metrics}
    return BenchmarkRun(
        metadata=RunMetadata(
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            git_commit=provenance()["git.commit"],
            config=plan.params,
            runtime={name: value for name, value in metrics.items() if name.startswith("runtime/")},
            note=plan.note,
            name=run_name(plan),
            data_name=data.name,
            data_split=data.split,
            data_digest=data.digest,
            scorer_version=SCORER_VERSION,
            thresholds={name: value for task in plan.tasks for name, value in task.thresholds().items()},
            key=key,
        ),
        metrics=metrics,
        tasks={name: result.kept for name, result in results.items()},
        idle_steps=tuple(sorted(step for result in results.values() for step in result.idle_steps)),
    )


def run_tags(plan: Plan, key: str) -> dict[str, str]:
    """What a run is, known before it starts."""
    data = all_data(plan)
    tags = {
        "preset": plan.preset,
        "key": key,
        "data.name": data.name,
        "data.split": data.split,
        "data.digest": data.digest,
        "scorer_version": str(SCORER_VERSION),
        DECLARED_TAG: json.dumps(declared([card for task in plan.tasks for card in task.declares()])),
        **{name: value for task in plan.tasks for name, value in task.tags().items()},
        **provenance(),
    }
    optional = {"sweep_id": plan.sweep_id, STUDY_TAG: plan.study, WORKER_TAG: plan.worker, "note": plan.note}
    return {name: value for name, value in (tags | optional).items() if value}


def declared(cards: Sequence[Declaration]) -> dict[str, Any]:
    """What lists, sweeps and MLflow's pages show of these scorecards: the metrics that have a column and its title,
    those whose gain is shown, and the kinds of mistakes that have pictures."""
    rates = [rate for card in cards for rate in card.rates.values()]
    return {
        "headlines": {metric: title for card in cards for metric, title in card.headlines.items()},
        "gated": [rate.metric for rate in rates if rate.gate == "judged"],
        "mistakes": [kind for card in cards for kind in card.mistakes],
    }


def result_tags(
    run: BenchmarkRun, results: Mapping[str, TaskResult], judgement: Judgement, baseline: str | None
) -> dict[str, str]:
    """What a run turned out to be."""
    predicted = [result.predictions for result in results.values()]
    tags = {
        "outcome": "COMPLETE" if run.complete else "INCOMPLETE",
        "predictions.digest": hashlib.sha256(json.dumps(predicted).encode()).hexdigest(),
        "verdict": str(judgement.verdict),
        "verdict.reasons": "; ".join(judgement.reasons),
        "verdict.baseline": baseline or "",
        "idle_steps": ", ".join(run.idle_steps),
    }
    for item in judgement.metrics:
        tags[f"verdict.{item.metric}"] = str(item.verdict or "")
    for result in results.values():
        tags |= result.tags
    return {name: value for name, value in tags.items() if value}


def describe(run: BenchmarkRun, judgement: Judgement) -> str:
    """The run's description in MLflow, as Markdown."""
    data = run.metadata
    lines = [f"**{data.name}**: {run.described()}.", data.note]
    return "\n\n".join(filter(None, [*lines, markdown_judgement(judgement), run.markdown()]))
