"""Rules as YAML and overrides as CSV, checked once on the way in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from harness.base.documents import checked, number
from harness.base.errors import ConfigError, GradingError
from harness.scoring import GradingRules, Override

_COLUMNS = ("image", "annotation", "score", "reason", "who")
Number = Annotated[float, Field(allow_inf_nan=False)]


class _Weights(BaseModel):
    model_config = ConfigDict(extra="forbid")

    iou: Number = 70.0
    label: Number = 15.0
    attributes: Number = 15.0


class _Rules(BaseModel):
    model_config = ConfigDict(extra="forbid")

    match_key: str | None = None
    attributes: dict[str, list[str]] = {}
    weights: _Weights = _Weights()
    beta: Number = 0.5
    blend: Number = 0.5
    min_iou: Number = 0.0
    ignore_case: bool = False
    point_radius: Number = 0.02


@dataclass(frozen=True)
class GivenOverride:
    """An override as it stands in a file; `student` is empty where the file does not say whose work it is about."""

    student: str
    override: Override
    where: str


def read_rules(path: Path | None) -> GradingRules:
    """The rules of a YAML file; what it does not say, or no file, is the default."""
    if path is None:
        return GradingRules()
    given = checked(_Rules, _read_yaml(path), str(path), ConfigError)
    weights = given.weights
    try:
        return GradingRules(
            **given.model_dump(exclude={"weights"}),
            iou_weight=weights.iou,
            label_weight=weights.label,
            attribute_weight=weights.attributes,
        )
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from error


def read_overrides(path: Path | None) -> tuple[GivenOverride, ...]:
    """A trainer's words: CSV with image, annotation, score, reason and who, and for a cohort the student."""
    if path is None:
        return ()
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise GradingError(f"{path}: cannot be read: {error}") from error
    reader = csv.DictReader(io.StringIO(text, newline=""))
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise GradingError(f"{path}: no column {missing[0]}; expected {', '.join(_COLUMNS)} and perhaps student")
    return tuple(_overrides(path, reader))


def _overrides(path: Path, reader: csv.DictReader[str]) -> Iterator[GivenOverride]:
    for row in reader:
        where = f"{path}: line {reader.line_num}"
        given = {name: (row.get(name) or "").strip() for name in _COLUMNS}
        for name, value in given.items():
            if not value:
                raise GradingError(f"{where}: {name}: empty; an override says what, why and who")
        score = number(given["score"], f"{where}: score", GradingError)
        yield GivenOverride((row.get("student") or "").strip(), Override(**given | {"score": score}), where)  # type: ignore[arg-type]


def _read_yaml(path: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(path.read_bytes()) or {}
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
