"""The second process of a judge: it has none of the candidate's code, and compares two files of predictions.

It is started as `python -I` with the place of the harness that judges. What it is asked comes as JSON on standard
input. It prints one line when the base is scored, so that whatever goes wrong after it is about the candidate's file,
and one with what it found. Config comes from the harness itself, from the experiment's overrides and from a folder that
a person names, and from no other place.
"""

from __future__ import annotations

import json
import math
import resource
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from harness.base.errors import ConfigError, HarnessError, PredictionsError
from harness.base.scratch import scratch
from harness.building import instantiate
from harness.config import build, compose, value_at, vary
from harness.references.sets import ReferenceSet
from harness.runs.archive import BenchmarkRun
from harness.runs.gate import Gate, Judgement, MetricVerdict, RuleChange, Verdict
from harness.runs.judge import judge
from harness.runs.looks import LEVEL, unseal
from harness.runs.records import archive, plan_code, run_key
from harness.runs.selection import rate_items, select_runs
from harness.runs.tags import KEY_TAG
from harness.runs.verdicts import unseen
from harness.scoring.speed import RUNTIME
from harness.spec import RunSpec
from harness.tasks import Off
from harness.tasks.identity.scores import DECLARED
from harness.tasks.photos.prediction_files import PredictionsFile
from harness.tasks.photos.scores import declared
from harness.types import Split

#: Numerators and denominators of a rate, item by item.
Sides = tuple[Sequence[float], Sequence[float]]
BASE_IS_SCORED = "base"
_MOST_MEMORY = 16 << 30


@dataclass(frozen=True)
class Question:
    """What is compared: two files of predictions in one metric, on the photos that the overrides name. `before` are the
    candidates that were judged already, each as its sides and those of the base that it was judged against; `bases` are
    what those bases had in a metric that has no sides, such as average precision."""

    overrides: tuple[str, ...]
    metric: str
    sign: int
    base: str
    candidate: str
    seed: int = 0
    study: str = ""
    before: tuple[tuple[Sides, Sides], ...] = ()
    bases: tuple[float, ...] = ()
    holdout: bool = False


@dataclass(frozen=True)
class Scored:
    """What came of it. `verdict` is that of the gate over all; `objective` is the verdict on the first objective at the
    level that is left for this candidate. On a holdout there is nothing beyond the verdicts."""

    verdict: str
    objective: str
    reasons: tuple[str, ...] = ()
    metrics: tuple[dict[str, Any], ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    intervals: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unseen: tuple[str, ...] = ()
    tries: int = 1
    level: float = 0.05
    standing: str = ""
    finding: str = ""
    sides: Sides | None = None
    base_sides: Sides | None = None
    look: str = ""
    #: What is wrong with the candidate's file, where it cannot be scored at all.
    bad: str = ""


def level_of(tries: int) -> float:
    """At which level the nth candidate beside one base has to be better: .05 / (n (n + 1)). They add up to 5 %, however
    many there will be, so that all of them together are kept by luck at most once in twenty bases."""
    return 0.05 / (tries * (tries + 1))


def main() -> None:
    """Answer one question, with as much memory as that can take: what a candidate wrote may be meant to be large."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.load(sys.stdin)
    about, asked["overrides"] = asked.pop("about"), tuple(asked["overrides"])
    try:
        if about == "setting":
            found = _setting(asked["overrides"], asked["metric"], asked["holdout"], asked["people"])
        else:
            question = Question(**asked)
            found = asdict(_on_holdout(question) if question.holdout else _compared(question))
    except HarnessError as error:
        sys.exit(f"harness: {error}")
    print(json.dumps(found), flush=True)


def _setting(overrides: Sequence[str], metric: str, holdout: bool, people: bool = False) -> dict[str, Any]:
    """What a candidate is judged on, and where things are that it must not see. Raises where the metric is none. With
    `people`, selfies are shown, and beside the holdout the photos that set its threshold."""
    config = compose(overrides)
    if (split := str(value_at(config, "references.split"))) != Split.ITERATION:
        raise ConfigError(f"base: references.split is {split}; candidates are judged on the iteration split")
    references = instantiate(config, "references")
    if isinstance(references, Off):
        raise ConfigError("base: references=off: candidates are judged on photos")
    chosen = replace(references, split=Split.HOLDOUT) if holdout else references
    found: ReferenceSet = chosen.load()
    shown = [*found.photos, *(references.load().photos if people and holdout else ())]
    cards = (*declared(instantiate(config, "scoring")), *(DECLARED if people else ()))
    known = [name for card in cards for name in card.metrics]
    if metric not in known or metric.startswith(RUNTIME):
        told = ", ".join(name for name in known if not name.startswith(RUNTIME))
        raise ConfigError(f"objectives: {metric}: candidates cannot be judged by it; there are: {told}")
    return {
        "photos": {photo.sha256: str(photo.path.absolute()) for photo in shown},
        "selfies": {selfie.sha256: str(selfie.path.absolute()) for selfie in found.selfies} if people else {},
        "digest": found.digest,
        "root": str(found.root.absolute()),
        "store": str(value_at(config, "tracking").get("root") or ""),
        "split": str(found.split),
    }


def _compared(question: Question) -> Scored:
    base = _scored(question, question.base)
    if not base.complete:
        raise HarnessError(f"the base is {base.shortfall}; {base.failures[0]}")
    if question.metric not in base.metrics and any(question.metric in card.metrics for card in DECLARED):
        raise HarnessError(f"{question.metric}: none of its faces has an embedding, so that nobody is searched for")
    print(BASE_IS_SCORED, flush=True)
    try:
        candidate = _scored(question, question.candidate)
    except PredictionsError as error:
        return Scored("", "", bad=str(error).replace(question.candidate, "predictions"))
    if not candidate.complete:
        return Scored(str(Verdict.INCOMPLETE), "", (candidate.shortfall, *candidate.failures[:5]))
    return compare_runs(
        question, gate_with(question, instantiate(_config(question.overrides, False), "gate")), candidate, base
    )


def compare_runs(question: Question, gate: Gate, candidate: BenchmarkRun, base: BenchmarkRun) -> Scored:
    """A candidate beside the base, and among the candidates before it."""
    ours, theirs = rate_items(candidate, question.metric), rate_items(base, question.metric)
    before = [sides for sides, against in question.before if theirs and _same(theirs.listed(), against)]
    tries = 1 + (len(before) if theirs else question.bases.count(base.metrics.get(question.metric, math.nan)))
    level = level_of(tries)
    judgement = judge(gate, candidate, base, question.seed, level_better=level)
    selected = None
    if ours is not None and theirs is not None and ours.items == theirs.items:
        rates = [theirs.with_sides(*sides) for sides in before]
        selected = select_runs(theirs, [*rates, ours], question.sign, question.seed).of(len(rates))
    return Scored(
        verdict=str(judgement.verdict),
        objective=_objective(question, judgement),
        reasons=judgement.reasons,
        metrics=tuple({**asdict(item), "verdict": str(item.verdict or "")} for item in _first(question, judgement)),
        values={name: value for name, value in candidate.metrics.items() if not name.startswith(RUNTIME)},
        intervals={name: asdict(sure) for task in candidate.tasks.values() for name, sure in task.intervals.items()},
        unseen=tuple(unseen(judgement)),
        tries=tries,
        level=level,
        standing=selected.words() if selected else "",
        finding=str(selected.finding) if selected else "",
        sides=ours.listed() if ours else None,
        base_sides=theirs.listed() if theirs else None,
    )


def _same(sides: Sides, known: Sides) -> bool:
    """Whether a base answers as another did: one that differs in its text alone is the same to beat."""
    return [list(side) for side in sides] == [list(side) for side in known]


def _on_holdout(question: Question) -> Scored:
    """The same on the holdout: a look, of which nothing is told but verdicts."""
    from harness.evaluate import evaluate  # with MLflow, which nothing else here needs
    from harness.tracking.catalog import Baseline

    spec = replace(_spec(question, question.base), study=question.study or None)
    if spec.holdout is None:
        raise ConfigError("--holdout: the reference set has no photo in the holdout")
    root, gate = spec.holdout.root, gate_with(question, spec.gate)
    base = evaluate(replace(spec, gate=gate, light=True), Baseline())
    against = Baseline(base.run_id, unseal(root, base.run.metadata.key))
    print(BASE_IS_SCORED, flush=True)
    try:
        spec = replace(_spec(question, question.candidate), study=question.study or None, gate=gate, light=True)
        result = evaluate(spec, against)
    except PredictionsError as error:
        return Scored("", "", bad=str(error).replace(question.candidate, "predictions"))
    if not result.run.complete:
        return Scored(str(Verdict.INCOMPLETE), "", ("photos without a line",))
    # The judgement that was just counted, once more, for what it says about the objective.
    whole = judge(gate, unseal(root, result.run.metadata.key), against.run, spec.seed, level_better=LEVEL)
    return Scored(
        str(result.judgement.verdict), _objective(question, whole), look=result.judgement.look, level=LEVEL, tries=0
    )


def _first(question: Question, judgement: Judgement) -> list[MetricVerdict]:
    """What each metric did, the objective first."""
    return sorted(judgement.metrics, key=lambda item: item.metric != question.metric)


def _objective(question: Question, judgement: Judgement) -> str:
    return next((str(each.verdict or "") for each in judgement.metrics if each.metric == question.metric), "")


def gate_with(question: Question, gate: Gate) -> Gate:
    """The gate of the experiment, by which its first objective is judged whatever it says of it otherwise."""
    section, _, name = question.metric.partition("/")
    rules = {**gate.metrics}
    better = "higher" if question.sign > 0 else "lower"
    gated = replace(rules.get(section, {}).get(name, RuleChange()), better=better, informational=False)  # type: ignore[arg-type]
    rules[section] = {**rules.get(section, {}), name: gated}
    return replace(gate, metrics=rules)


def _spec(question: Question, file: str) -> RunSpec:
    config = _config(question.overrides, question.holdout)
    return build(config, (), replace(PredictionsFile.of(Path(file)), seconds=False))


@cache
def _config(overrides: tuple[str, ...], holdout: bool) -> Any:
    """Composed once, for both files."""
    config = compose(overrides)
    return vary(config, {"references.split": str(Split.HOLDOUT)}) if holdout else config


def _scored(question: Question, file: str) -> BenchmarkRun:
    """The predictions of a file as a run that is kept nowhere."""
    spec = _spec(question, file)
    with scratch() as folder:
        results = {task.name: task.evaluate(folder, spec.seed, quiet=True) for task in spec.tasks}
    return archive(spec, results, {"git.commit": "", KEY_TAG: run_key(spec, plan_code(spec))})


if __name__ == "__main__":
    main()
