"""What a stored run predicted as a file that `harness score` reads, with the same scorecards to the last digit.

A run keeps no embedding of a face. Whoever asks for them has them made again, of the faces that the run found, and
written into a file that nobody else on the machine can read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.disk import write_atomically
from harness.base.errors import PredictionsError
from harness.runs.archive import BenchmarkRun
from harness.tasks.photos.prediction_lines import Vector, line_of, selfie_line_of


@dataclass(frozen=True)
class Embeddings:
    """The vectors of the faces that were found in each photo, by its hash, None for a face that cannot be compared; and
    for each selfie whether a face was found on it, and its vector."""

    faces: Mapping[str, Sequence[Vector | None]]
    selfies: Mapping[str, tuple[bool, Vector | None]]


def export_predictions(run: BenchmarkRun, path: Path, embeddings: Embeddings | None = None) -> None:
    """Write a line for each photo that was evaluated and, with embeddings, for each selfie. A key that the run did not
    predict is left out. A file with embeddings can be read by its owner alone."""
    lines = []
    for item in run.photos:
        if item.photo:
            vectors = embeddings.faces[item.id] if embeddings else None
            lines.append(line_of(item.id, item.name, item.photo.prediction, run.absent, run.traced, vectors))
    if embeddings:
        lines += [selfie_line_of(sha256, *seen) for sha256, seen in embeddings.selfies.items()]
    write_lines(path, lines, personal=embeddings is not None)


def write_lines(path: Path, lines: Sequence[bytes], *, personal: bool) -> None:
    """Write a file of predictions; one with embeddings, which are personal, for its owner alone."""
    try:
        write_atomically(path, b"".join(lines), 0o600 if personal else 0o666)
    except OSError as error:
        raise PredictionsError(f"{path}: cannot be written: {error.strerror}") from error
