"""What a run is called, known by, tagged and archived as."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from harness.base.code import Code, code_of, modules_of
from harness.runs.archive import PHOTOS, BenchmarkRun, RunMetadata, TaskData, TaskRun, combined_digest
from harness.runs.gate import Gate, Judgement
from harness.runs.judge import judge
from harness.runs.plan import Plan, Task, TaskResult
from harness.runs.provenance import provenance
from harness.runs.verdicts import markdown_judgement, unseen
from harness.scoring import SCORER_VERSION, Declaration
from harness.scoring.pairing import JUDGE_VERSION

#: Present on the runs that a search made, with its name.
STUDY_TAG = "study"
#: Present on those of its trials, with the name of the worker that evaluates it.
WORKER_TAG = "study.worker"
#: What a run is found again by.
KEY_TAG = "key"
#: What its judgement depends on; one with another key is made anew.
JUDGEMENT_TAG = "judgement.key"
#: Present on runs whose scores are sealed, with the folder of the reference set that has them.
SEALED_TAG = "sealed"
#: Which rule it was judged by.
JUDGE_TAG = "verdict.judge_version"
#: Says which metrics and pictures a run declares as worth a column or a chart, so that lists need not read the run.
DECLARED_TAG = "declared"


def run_name(plan: Plan) -> str:
    """The preset, and what was overridden beyond it. Presets are of the pipeline: without photos there is none."""
    tasks = [task.name for task in plan.tasks]
    beyond = [item for item in plan.overrides if not item.startswith("preset=")]
    return " ".join([plan.title or plan.preset, *beyond] if PHOTOS in tasks else beyond or tasks)


def all_data(plan: Plan) -> TaskData:
    """The data of all tasks as one, called by its photos where it has some. Only photos have a split."""
    parts = {task.name: task.data() for task in plan.tasks}
    photos = parts.get(PHOTOS, TaskData(" + ".join(f"{name} {data.name}" for name, data in parts.items())))
    return TaskData(photos.name, photos.split, combined_digest(parts))


def plan_code(plan: Plan) -> Code:
    """The code that a run's results come from: that of its tasks, and of all that was chosen for them."""
    return code_of(*modules_of(*plan.tasks))


def run_key(plan: Plan, code: Code) -> str:
    """A digest of all that a run's results depend on. How it is judged is not among them."""
    return _digest(
        {name: value for name, value in plan.params.items() if not name.startswith("references.")},
        plan.note,
        {task.name: [task.data().digest, *task.inputs()] for task in plan.tasks},
        SCORER_VERSION,
        code.digest,
        *(["light"] if plan.light else []),
        *plan.shadowed,
    )


def judgement_key(key: str, gate: Gate, baseline: str | None, seed: int) -> str:
    """A digest of all that a judgement depends on: the run, the baseline by its own key, the rules and the judge, and
    the seed that it draws by."""
    rules = [asdict(gate)[part] for part in ("metrics", "declared")]
    return _digest(key, baseline, rules, code_of(judge.__module__).digest, seed)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def archive(plan: Plan, results: Mapping[str, TaskResult], tags: Mapping[str, str]) -> BenchmarkRun:
    """The run as it is kept; `tags` are those that it has begun with."""
    data = all_data(plan)
    metrics: dict[str, float] = {}
    for result in results.values():
        metrics |= {**result.kept.metrics(), **result.metrics}
    return BenchmarkRun(
        metadata=RunMetadata(
            timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
            git_commit=tags["git.commit"],
            config=plan.params,
            runtime={name: value for name, value in metrics.items() if name.startswith("runtime/")},
            note=plan.note,
            name=run_name(plan),
            data_name=data.name,
            data_split=data.split,
            data_digest=data.digest,
            scorer_version=SCORER_VERSION,
            thresholds={name: value for task in plan.tasks for name, value in task.thresholds().items()},
            key=tags[KEY_TAG],
        ),
        metrics=metrics,
        tasks={task.name: _with_keys(plan, task, results[task.name].kept) for task in plan.tasks},
        idle_steps=tuple(sorted(step for result in results.values() for step in result.idle_steps)),
    )


def _with_keys(plan: Plan, task: Task, kept: TaskRun) -> TaskRun:
    """A task's part with the keys of its stages. One that does not tell them apart is a single stage."""
    if kept.stage_keys:
        return kept
    whole = _digest(repr(task), list(task.inputs()), plan.seed, code_of(*modules_of(task)).digest)
    return replace(kept, stage_keys=dict.fromkeys(kept.cards, whole))


def run_tags(plan: Plan, key: str, code: Code) -> dict[str, str]:
    """What a run is, known before it starts."""
    data = all_data(plan)
    tags = {
        "preset": plan.preset,
        KEY_TAG: key,
        "data.name": data.name,
        "data.split": data.split,
        "data.digest": data.digest,
        "scorer_version": str(SCORER_VERSION),
        DECLARED_TAG: json.dumps(declared([card for task in plan.tasks for card in task.declares()])),
        **{name: value for task in plan.tasks for name, value in task.tags().items()},
        **provenance(code),
    }
    optional = {"sweep_id": plan.sweep_id, STUDY_TAG: plan.study, WORKER_TAG: plan.worker, "note": plan.note}
    optional["conf.shadowed"] = ", ".join(plan.shadowed)
    optional[SEALED_TAG] = str(plan.holdout.root.resolve()) if plan.holdout and plan.sealed else ""
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


def result_tags(run: BenchmarkRun, results: Mapping[str, TaskResult]) -> dict[str, str]:
    """What a run turned out to be."""
    predicted = [result.predictions for result in results.values()]
    tags = {
        "outcome": "COMPLETE" if run.complete else "INCOMPLETE",
        "predictions.digest": hashlib.sha256(json.dumps(predicted).encode()).hexdigest(),
        "idle_steps": ", ".join(run.idle_steps),
    }
    for result in results.values():
        tags |= result.tags
    return {name: value for name, value in tags.items() if value}


def judgement_tags(judgement: Judgement, key: str, baseline: str | None) -> dict[str, str]:
    """How a run was judged, and against what."""
    tags = {
        JUDGEMENT_TAG: key,
        "verdict": judgement.said,
        "verdict.reasons": "; ".join(judgement.reasons),
        "verdict.look": judgement.look,
        "verdict.baseline": baseline or "",
        "verdict.unseen": "; ".join(unseen(judgement)),
        JUDGE_TAG: str(JUDGE_VERSION),
    }
    for item in judgement.metrics:
        tags[f"verdict.{item.metric}"] = str(item.verdict or "")
    return {name: value for name, value in tags.items() if value}


def describe(run: BenchmarkRun, judgement: Judgement) -> str:
    """The run's description in MLflow, as Markdown."""
    data = run.metadata
    lines = [f"**{data.name}**: {run.described()}.", run.headline, data.note]
    return "\n\n".join(filter(None, [*lines, markdown_judgement(judgement), run.markdown()]))
