"""The winner as a preset file, for a person to look at and to copy into `conf/preset/`; nothing here writes there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.base.conf import find_choice
from harness.base.disk import write_atomically
from harness.base.errors import ConfigError, ConflictError
from harness.config import value_at
from harness.search.base import known_base
from harness.search.holdout import PROPOSED as NOTE
from harness.search.holdout import peeks_of
from harness.search.ledger import Ledger
from harness.search.searchable import GROUPS, trial_choices, trial_config
from harness.search.selecting import standings
from harness.search.space import Value
from harness.search.trials import TrialRecord, broken

FILE = "proposed_preset.yaml"


def write_proposal(ledger: Ledger, trial: TrialRecord) -> Path:
    """Write the configuration of a complete trial as a preset into the study's folder. The ledger keeps which trial it
    is and a digest of the file, so that what is confirmed is what was proposed."""
    path = ledger.folder / FILE
    content = f"# @package _global_\n{_header(ledger, trial)}\n{preset_yaml(ledger, trial)}".encode()
    write_atomically(path, content)
    ledger.note(NOTE, {"trial": trial.number, "sha256": hashlib.sha256(content).hexdigest()})
    return path


def withdraw(ledger: Ledger) -> None:
    """Take back what was proposed before, if anything was."""
    (ledger.folder / FILE).unlink(missing_ok=True)
    if ledger.noted(NOTE):
        ledger.note(NOTE, None)


def refuse_edited(ledger: Ledger) -> None:
    """Raise ConflictError where the proposed preset is not the file that was proposed. Whatever an older harness has
    proposed is taken as it is."""
    noted, path = ledger.noted(NOTE), ledger.folder / FILE
    if not noted:
        return
    content = path.read_bytes() if path.is_file() else None
    if content is None or hashlib.sha256(content).hexdigest() != noted["sha256"]:
        what = "has changed" if content is not None else "is gone"
        again = f"harness search propose {ledger.experiment.study} {noted['trial']}"
        raise ConflictError(f"{path}: {what} since trial {noted['trial']} was proposed; propose it again: {again}")


def preset_yaml(ledger: Ledger, trial: TrialRecord) -> str:
    """What the base's preset says, with the base's own overrides and then the trial's values on top.

    It is tuned for the backends of the trial, and what the base's preset says about others is left out.
    """
    experiment = ledger.experiment
    backends = trial_choices(experiment, trial.point)
    content = _preset_content(backends)
    chosen = list(content.pop("defaults", []))
    given = dict(item.split("=", 1) for item in experiment.base if item.split(".")[0].split("=")[0] in GROUPS)
    composed = trial_config(experiment, {})  # which has read the values: YAML takes 1e-3 for a text, and off for false
    read = {key: value_at(composed, key) if "." in key else choice for key, choice in given.items()}
    for key, value in {**read, **trial.point}.items():
        if key == "preset":
            continue
        if "." in key:
            _set(content, key.split("."), value)
        else:
            chosen = [item for item in chosen if f"override /{key}" not in item] + [{f"override /{key}": value}]
    content["preset"] = experiment.study
    top: dict[str, Any] = {"defaults": chosen} if chosen else {}
    top["preset"] = content.pop("preset")
    top["tuned_for"] = {group: [backends[group]] for group in GROUPS if isinstance(content.get(group), dict)}
    text: str = yaml.safe_dump({**top, **content}, sort_keys=False)
    return text


def _preset_content(backends: Mapping[str, str]) -> dict[str, Any]:
    """What the chosen preset says about these backends."""
    path = find_choice("preset", backends["preset"])
    if path is None:
        raise ConfigError(f"preset={backends['preset']}: its file is gone")
    content: dict[str, Any] = yaml.safe_load(path.read_text())
    for group, tuned in content.pop("tuned_for", {}).items():
        if backends[group] not in tuned:
            content.pop(group, None)
    return content


def _set(node: dict[str, Any], path: list[str], value: Value) -> None:
    for name in path[:-1]:
        node = node.setdefault(name, {})
    node[path[-1]] = value


def _header(ledger: Ledger, trial: TrialRecord) -> str:
    experiment, base = ledger.experiment, known_base(ledger)
    values = _told(experiment.objectives, trial.values)
    run = f", MLflow run {trial.run_id}" if trial.run_id else ""
    breaks = [f"It breaks a constraint: {'; '.join(found)}."] if (found := broken(experiment, trial)) else []
    lines = [
        f"Proposed by the search {experiment.study}: trial {trial.number}{run}.",
        f"{base.photos} photos of {base.data}: {values}; the base has {_told(experiment.objectives, base.values)}.",
        f"{_standing(ledger, trial)}.",
        *breaks,
        _confirmed(ledger, trial),
        f"To use it, copy it to conf/preset/{experiment.study}.yaml:   python -m harness preset={experiment.study}",
    ]
    return "\n".join(f"# {line}" for line in lines)


def _told(objectives: Mapping[str, str], values: tuple[float, ...]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in zip(objectives, values, strict=True))


def _standing(ledger: Ledger, trial: TrialRecord) -> str:
    """How much of the gain is left once it is counted in how many trials there were."""
    stand = standings(ledger)
    selected = stand.found.get(trial.number)
    tried = "" if selected is None else f"Of {selected.among()}: "
    return f"{tried}{stand.words(trial.number)}"


def _confirmed(ledger: Ledger, trial: TrialRecord) -> str:
    for peek in peeks_of(ledger):
        if peek.trial == trial.number and peek.standing:
            return f"On the holdout: {peek.told}. {peek.words}."
    return f"Not confirmed on photos that the search has not seen: harness search confirm {ledger.experiment.study}"
