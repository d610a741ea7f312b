"""What a stored run predicted as a file that `harness score` reads, with the same scorecards to the last digit."""

from __future__ import annotations

from pathlib import Path

from harness.base.disk import write_atomically
from harness.base.errors import PredictionsError
from harness.runs.archive import BenchmarkRun
from harness.tasks.photos.prediction_lines import line_of


def export_predictions(run: BenchmarkRun, path: Path) -> None:
    """Write a line for each photo that was evaluated. A key that the run did not predict is left out."""
    lines = [
        line_of(item.id, item.name, item.photo.prediction, run.absent, run.traced) for item in run.photos if item.photo
    ]
    try:
        write_atomically(path, b"".join(lines))
    except OSError as error:
        raise PredictionsError(f"{path}: cannot be written: {error.strerror}") from error
