"""The winner as a preset file, for a person to look at and to copy into `conf/preset/`; nothing here writes there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.base.errors import ConflictError
from harness.config import conf_dir, value_at
from harness.search.base import gain_of, known_base
from harness.search.holdout import peeks_of
from harness.search.ledger import Ledger
from harness.search.searchable import GROUPS, trial_config
from harness.search.space import Value
from harness.search.trials import State, TrialRecord

FILE = "proposed_preset.yaml"


def write_proposal(ledger: Ledger, trial: TrialRecord) -> Path:
    """Write the trial's configuration as a preset into the study's folder."""
    if trial.state is not State.COMPLETE:
        raise ConflictError(f"trial {trial.number} is {trial.state}; only a complete one can be proposed")
    path = ledger.folder / FILE
    beside = path.with_suffix(".tmp")
    beside.write_text(f"# @package _global_\n{_header(ledger, trial)}\n{preset_yaml(ledger, trial)}")
    beside.replace(path)
    return path


def preset_yaml(ledger: Ledger, trial: TrialRecord) -> str:
    """What the base's preset says, with the base's own overrides and then the trial's values on top."""
    experiment = ledger.experiment
    preset = value_at(trial_config(experiment, trial.point), "preset")
    content: dict[str, Any] = yaml.safe_load((conf_dir() / "preset" / f"{preset}.yaml").read_text())
    chosen = list(content.pop("defaults", []))
    given = dict(item.split("=", 1) for item in experiment.base if item.split(".")[0].split("=")[0] in GROUPS)
    parsed: dict[str, Value] = {key: yaml.safe_load(value) for key, value in given.items()}
    for key, value in {**parsed, **trial.point}.items():
        if key == "preset":
            continue
        if "." in key:
            _set(content, key.split("."), value)
        else:
            chosen = [item for item in chosen if f"override /{key}" not in item] + [{f"override /{key}": value}]
    content["preset"] = experiment.study
    top = {"defaults": chosen} if chosen else {}
    text: str = yaml.safe_dump({**top, **content}, sort_keys=False)
    return text


def _set(node: dict[str, Any], path: list[str], value: Value) -> None:
    for name in path[:-1]:
        node = node.setdefault(name, {})
    node[path[-1]] = value


def _header(ledger: Ledger, trial: TrialRecord) -> str:
    experiment, base = ledger.experiment, known_base(ledger)
    values = _told(experiment.objectives, trial.values)
    lines = [
        f"Proposed by the search {experiment.study}: trial {trial.number}, MLflow run {trial.run_id}.",
        f"{base.photos} photos of {base.data}: {values}; the base has {_told(experiment.objectives, base.values)}.",
        _confirmed(ledger, trial),
        f"To use it, copy it to conf/preset/{experiment.study}.yaml:   python -m harness preset={experiment.study}",
    ]
    if gain_of(ledger, trial).gain <= 0:
        lines.insert(2, "It does not beat the base.")
    return "\n".join(f"# {line}" for line in lines)


def _told(objectives: Mapping[str, str], values: tuple[float, ...]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in zip(objectives, values, strict=True))


def _confirmed(ledger: Ledger, trial: TrialRecord) -> str:
    for peek in peeks_of(ledger):
        if peek.trial == trial.number and peek.standing:
            return f"On the holdout: {peek.standing}. {peek.words}."
    return f"Not confirmed on photos that the search has not seen: harness search confirm {ledger.experiment.study}"
