"""An experiment file: what a bounded search varies, what it is after and how much it may spend.

The file is checked in full before anything runs: here what it says by itself, in `searchable` what it says about the
config.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from harness.base.checks import Positive, first_error
from harness.base.errors import ConfigError, HarnessError
from harness.scoring import Interval
from harness.scoring.speed import RUNTIME
from harness.scoring.uncertainty import one_sided
from harness.search.space import Space

#: Where a person keeps experiments, in the folder that the command is run in.
FOLDER = Path("experiments")

Sampler = Literal["tpe", "random", "grid", "nsga2", "gp"]
Direction = Literal["maximize", "minimize"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Budget(_Part):
    """What a study may spend in all, by however many workers and however often it is resumed. Minutes are those in
    which at least one trial was being evaluated."""

    trials: Annotated[int, Field(ge=1)]
    minutes: Positive


class Limit(_Part):
    """A metric that a winner must keep to, whatever it is after. With a `certainty` it is the metric's bound that has
    to: `{at_least: 0.93, certainty: 0.9}` holds where the metric is at least 0.93 with 90 % certainty, by the interval
    that every run has."""

    at_least: float | None = None
    at_most: float | None = None
    certainty: Annotated[float, Field(gt=0.5, lt=1)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Limit:
        if self.at_least is None and self.at_most is None:
            raise ValueError("expected at_least, at_most or both")
        if self.certainty is not None and None not in (self.at_least, self.at_most):
            raise ValueError("a certainty is that of one bound; expected at_least or at_most, not both")
        return self

    def held(self, name: str, value: float, interval: Interval | None) -> float:
        """What is held against the limit: the value, or the bound that it keeps to with the certainty. Raises where
        nothing says how sure the value is."""
        if self.certainty is None:
            return value
        if interval is None or interval.n_eff is None:
            raise HarnessError(f"constraints: {name}: nothing says how sure it is, so that it has no bound")
        low, high = one_sided(value, interval.n_eff, self.certainty)
        return low if self.at_least is not None else high

    def words(self, held: float) -> str:
        """What is wrong with a value that breaks the limit, as it follows the value."""
        side, bound = ("at least", "low") if self.at_least is not None and held < self.at_least else ("at most", "high")
        wanted = self.at_least if side == "at least" else self.at_most
        if self.certainty is None:
            return f", expected {side} {wanted:g}"
        return f", with {100 * self.certainty:g} % certainty {side} {held:.4f}: too {bound} for {wanted:g}"

    def violation(self, value: float) -> float:
        """By how much a value breaks the limit; at most 0 where it keeps to it."""
        low = self.at_least - value if self.at_least is not None else float("-inf")
        high = value - self.at_most if self.at_most is not None else float("-inf")
        return max(low, high)


class Experiment(_Part):
    """One experiment file. `base` are the overrides that every trial shares."""

    study: Name
    description: str = ""
    base: tuple[str, ...] = ()
    space: Space
    objectives: Annotated[dict[str, Direction], Field(min_length=1)]
    constraints: dict[str, Limit] = Field(default_factory=dict)
    budget: Budget
    sampler: Sampler = "tpe"
    seed: Annotated[int, Field(ge=0)] = 0
    split: str = "iteration"
    pruning: bool = True
    #: Which trials are logged as runs of their own: the best ones, or all.
    log: Literal["finalists", "all"] = "finalists"

    @field_validator("split")
    @classmethod
    def _the_holdout_is_sealed(cls, split: str) -> str:
        if split != "iteration":
            raise ValueError(
                f"{split}: a search sees the iteration split alone; `harness search confirm` opens the holdout"
            )
        return split

    @model_validator(mode="after")
    def _fits_together(self) -> Experiment:
        for position, (key, parameter) in enumerate(self.space.items()):
            above = list(self.space)[:position]
            for other in parameter.when:
                if other not in above:
                    raise ValueError(f"space.{key}.when: {other} is not above it in the space")
        if self.sampler == "grid" and (endless := [key for key, one in self.space.items() if one.values() is None]):
            raise ValueError(f"sampler: a grid needs an end of values; give space.{endless[0]} choices or a step")
        return self

    @property
    def metric(self) -> str:
        """The first objective: the one that ranks the trials."""
        return next(iter(self.objectives))

    @property
    def sign(self) -> int:
        """1 where more of the first objective is better, -1 where less is."""
        return 1 if self.objectives[self.metric] == "maximize" else -1

    @property
    def is_timed(self) -> bool:
        """Whether an objective or a constraint is measured by a clock."""
        return any(name.startswith(RUNTIME) for name in (*self.objectives, *self.constraints))

    def definition(self) -> dict[str, Any]:
        """What must stay the same for the trials of a study to be comparable."""
        found = self.model_dump(mode="json", include={"base", "space", "objectives", "constraints", "split"})
        for limit in found["constraints"].values():
            if limit["certainty"] is None:  # studies of an older harness know nothing of it
                del limit["certainty"]
        return found


def shipped() -> Path:
    """The experiments that the harness comes with: inside an installed wheel, or at the root of a checkout."""
    packaged = Path(__file__).parents[1] / "experiments"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "experiments"


def experiment_names() -> list[str]:
    """The experiments that can be called by their name: a person's own, and those that the harness comes with."""
    return sorted({path.stem for folder in (FOLDER, shipped()) for path in folder.glob("*.yaml")})


def experiment_path(study: str) -> Path:
    """The experiment file of a study, given by its path or by its name. A person's own file comes before one of the
    same name that the harness comes with."""
    if study.endswith((".yaml", ".yml")):
        return Path(study)
    own, known = FOLDER / f"{study}.yaml", shipped() / f"{study}.yaml"
    return known if known.is_file() and not own.is_file() else own


def study_folder(path: Path, experiment: Experiment) -> Path:
    """Where a study keeps what it writes: beside its file, or in `experiments/` for one that the harness comes with."""
    return (FOLDER if path.parent == shipped() else path.parent) / experiment.study


def read_experiment(path: Path) -> Experiment:
    """Read an experiment file; the study is called as the file unless it says otherwise."""
    try:
        data = yaml.safe_load(path.read_text())
    except OSError as error:
        there = ", ".join(sorted(str(file) for file in path.parent.glob("*.yaml"))) or "none"
        known = f"; by name: {', '.join(experiment_names())}"
        raise ConfigError(f"{path}: cannot be read: {error.strerror}; experiments there: {there}{known}") from error
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected keys such as space, objectives and budget")
    try:
        return Experiment.model_validate({"study": re.sub(r"[^A-Za-z0-9_-]", "_", path.stem), **data})
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_error(error)}") from error
