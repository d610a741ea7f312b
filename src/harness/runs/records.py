"""What a run is called, known by, tagged and archived as."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

from harness.base.code import Code, code_of, modules_of
from harness.base.screen import abridged
from harness.runs.archive import PHOTOS, BenchmarkRun, RunMetadata, TaskData, TaskRun, combined_digest
from harness.runs.gate import Gate, Judgement
from harness.runs.judge import judge
from harness.runs.plan import Plan, Task, TaskResult
from harness.runs.provenance import provenance
from harness.runs.tags import (
    DECLARED_TAG,
    JUDGE_TAG,
    JUDGEMENT_TAG,
    KEY_TAG,
    MOVED_TAG,
    SEALED_TAG,
    STUDY_TAG,
    SWEEP_TAG,
    WORKER_TAG,
)
from harness.runs.verdicts import markdown_judgement, moved_points, unseen, verdict_line
from harness.scoring import SCORER_VERSION, Declaration
from harness.scoring.pairing import JUDGE_VERSION

#: So many characters of a description, or of any tag, MLflow keeps; it cuts off the rest, in the middle of a table.
MOST_DESCRIBED = 8000


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
        *([plan.secrets] if plan.secrets else []),
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
    optional = {SWEEP_TAG: plan.sweep_id, STUDY_TAG: plan.study, WORKER_TAG: plan.worker, "note": plan.note}
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
        "verdict.reasons": _first("; ".join(judgement.reasons)),
        MOVED_TAG: moved_points(judgement),
        "verdict.look": judgement.look,
        "verdict.baseline": baseline or "",
        "verdict.unseen": _first("; ".join(unseen(judgement))),
        JUDGE_TAG: str(JUDGE_VERSION),
    }
    for item in judgement.metrics:
        tags[f"verdict.{item.metric}"] = str(item.verdict or "")
    return {name: value for name, value in tags.items() if value}


def describe(run: BenchmarkRun, judgement: Judgement, base: str = "", page: str = "", changed: str = "") -> str:
    """The run's description in MLflow, as Markdown. MLflow shows its first lines and folds the rest, and only in the
    first a link can be clicked: the verdict against a `base`, which links to a `page` with both, and what moved; then
    what `changed` on which photos."""
    data = run.metadata
    against = f"[against {_escaped(abridged(base, 32))}]({page})" if base else ""
    lines = ["  \n".join(filter(None, [verdict_line(judgement, against), changed]))]
    lines += [f"**{data.name}**: {run.described()}.", run.headline, data.note]
    lines = [*lines, markdown_judgement(judgement)]
    whole = _joined(*lines, run.markdown())
    return whole if len(whole) <= MOST_DESCRIBED else _cut(_joined(*lines, run.markdown(by_tag=False)))


def _first(text: str) -> str:
    """As much of a text as a tag holds: thousands of photos may have failed, and the run itself names each."""
    return text if len(text) <= MOST_DESCRIBED else f"{text[: MOST_DESCRIBED - 4]} ..."


def _escaped(text: str) -> str:
    """A name that makes no markup."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


def _joined(*parts: str) -> str:
    return "\n\n".join(filter(None, parts))


def _cut(text: str) -> str:
    """A description that MLflow takes whole: without the lines at its end for which there is no room."""
    told = "\n\nThe report has more."
    if len(text) + len(told) > MOST_DESCRIBED:
        text = text[: MOST_DESCRIBED - len(told)].rpartition("\n")[0]
    return text + told
