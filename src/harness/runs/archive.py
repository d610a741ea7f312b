"""A run as it is kept: `run.json`, from which it can be shown, judged and compared again without its photos.

`BenchmarkRun.to_dict` and `from_dict` are each other's inverse. A file that an older harness wrote lacks some fields;
they keep their defaults, and a scorecard that was not made is left out on both sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.errors import HarnessError
from harness.results import Extra, ItemRates
from harness.scoring import (
    BibErrorScorecard,
    BibScorecard,
    FaceErrorScorecard,
    FaceScorecard,
    Interval,
    LinkScorecard,
    NumberScorecard,
    Scorecard,
    Slice,
    Tally,
    format_scorecard,
    markdown_scorecard,
    scorecard_sections,
)
from harness.scoring.uncertainty import tally_sides
from harness.types import PhotoPrediction

RUN_FILE = "run.json"

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True)
class RunMetadata:
    """What was run, on what, by which code, and how long it took."""

    timestamp: str
    git_commit: str
    config: Mapping[str, Any]
    runtime: Mapping[str, float]
    note: str = ""
    name: str = ""
    data_name: str = ""
    data_split: str = ""
    data_digest: str = ""
    scorer_version: int = 0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    key: str = ""


@dataclass(frozen=True)
class PhotoResult:
    """One photo: what was expected, read and predicted, and what each scorecard counted on it."""

    name: str
    sha256: str
    status: str
    expected: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    seconds: float = 0.0
    prediction: PhotoPrediction = field(default_factory=PhotoPrediction)
    counts: Counts = field(default_factory=dict)


@dataclass(frozen=True)
class FailedResult:
    """One photo that could not be evaluated, and why."""

    name: str
    sha256: str
    reason: str


@dataclass(frozen=True)
class BenchmarkRun:
    """A finished run: metadata, metrics, photos and scorecards. `extras` is what it has beside its photos."""

    metadata: RunMetadata
    metrics: Mapping[str, float]
    photo_results: tuple[PhotoResult, ...]
    failed_photos: tuple[FailedResult, ...] = ()
    bib_scorecard: BibScorecard | None = None
    number_scorecard: NumberScorecard | None = None
    face_scorecard: FaceScorecard | None = None
    link_scorecard: LinkScorecard | None = None
    bib_errors_scorecard: BibErrorScorecard | None = None
    face_errors_scorecard: FaceErrorScorecard | None = None
    slices: tuple[Slice, ...] = ()
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    extras: tuple[Extra, ...] = ()
    idle_steps: tuple[str, ...] = ()

    CARDS: ClassVar[Mapping[str, type[Scorecard]]] = {
        "bib": BibScorecard,
        "number": NumberScorecard,
        "face": FaceScorecard,
        "link": LinkScorecard,
        "bib_errors": BibErrorScorecard,
        "face_errors": FaceErrorScorecard,
    }

    @property
    def cards(self) -> dict[str, Any]:
        """The scorecards that the run has, by name."""
        found = {name: getattr(self, f"{name}_scorecard") for name in self.CARDS}
        return {name: card for name, card in found.items() if card is not None}

    @property
    def complete(self) -> bool:
        """Whether every photo, and every item of the extras, was evaluated."""
        return not self.failures

    @property
    def failures(self) -> tuple[str, ...]:
        """What could not be evaluated, each with its reason."""
        photos = tuple(f"{item.name}: {item.reason}" for item in self.failed_photos)
        return photos + tuple(failure for extra in self.extras for failure in extra.failures)

    @property
    def shortfall(self) -> str:
        """How much could not be evaluated; "" where everything was."""
        counts = [f"{len(self.failed_photos)} of {self.photos} photos"] if self.failed_photos else []
        counts += [f"{len(extra.failures)} of the {extra.name}" for extra in self.extras if extra.failures]
        return f"{' and '.join(counts)} could not be evaluated" if counts else ""

    @property
    def photos(self) -> int:
        """How many photos the reference set has."""
        return len(self.photo_results) + len(self.failed_photos)

    def tally(self, name: str) -> Tally[Any]:
        """A scorecard photo by photo, in the order of `photo_results`."""
        card = self.CARDS[name]
        counts = [photo.counts[name] for photo in self.photo_results]
        columns = {
            item.name: np.array([photo.get(item.name, 0) for photo in counts], dtype=np.int64) for item in fields(card)
        }
        return Tally.of(card, columns, len(counts))

    def rates(self) -> dict[str, ItemRates]:
        """Every rate item by item, to be paired with another run's: those of the photos, and those of each extra."""
        photos = {metric: sides for name in self.cards for metric, sides in tally_sides(self.tally(name)).items()}
        listed = {metric: (tuple(above.tolist()), tuple(below.tolist())) for metric, (above, below) in photos.items()}
        own = {"photos": ItemRates(tuple(photo.sha256 for photo in self.photo_results), listed)}
        return own | {extra.name: extra.paired for extra in self.extras if extra.paired is not None}

    def text(self) -> str:
        """The scorecards for a terminal."""
        cards = format_scorecard(**self.cards, slices=self.slices, intervals=self.intervals)
        return "\n\n".join([cards, *(extra.text for extra in self.extras)])

    def markdown(self) -> str:
        """The same for MLflow's description of a run."""
        table = markdown_scorecard(scorecard_sections(**self.cards, slices=self.slices, intervals=self.intervals))
        return "\n\n".join([table, *(f"```\n{extra.text}\n```" for extra in self.extras)])

    def to_dict(self) -> dict[str, Any]:
        """As JSON values; the scorecards with their rates, for whoever reads the file."""
        data = asdict(self) | {f"{name}_scorecard": card.to_dict() for name, card in self.cards.items()}
        return {name: value for name, value in data.items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchmarkRun:
        """Read what `to_dict` wrote, here or in an older harness. Raises a ValueError that names the field."""
        return _adapter().validate_python(data)


@cache
def _adapter() -> TypeAdapter[BenchmarkRun]:
    return TypeAdapter(BenchmarkRun)


def write_run(folder: Path, run: BenchmarkRun) -> None:
    """Put `run.json` into a folder."""
    (folder / RUN_FILE).write_text(json.dumps(run.to_dict(), separators=(",", ":")))


def read_run(path: Path) -> BenchmarkRun:
    """Read a `run.json`."""
    try:
        return _adapter().validate_json(path.read_bytes())
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise HarnessError(first_error(error, str(path))) from error
