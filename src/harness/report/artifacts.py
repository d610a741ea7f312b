"""The files that a run leaves beside its numbers. All lie at the root, where MLflow's compare page finds them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.report.pictures import Image, draw_photo
from harness.results import Evaluation
from harness.scoring import number_status
from harness.scoring.numbers import expected_numbers, read_numbers

WORST_PHOTOS = 6

#: The counts of the photo table, and those among them that are errors.
_COUNTS = {
    "bib": ("detection_tp", "detection_fp", "detection_fn"),
    "number": ("number_tp", "number_fp", "number_fn"),
    "face": ("detection_tp", "detection_fp", "detection_fn"),
    "link": ("link_tp", "link_fp", "link_fn"),
}


def write_artifacts(
    folder: Path, evaluation: Evaluation, config_yaml: str, read_photo: Callable[[Path, str], Image] | None
) -> None:
    """Write the resolved config, the reasons of failed photos and, given a way to read them, the worst as pictures."""
    (folder / "config.yaml").write_text(config_yaml)
    if evaluation.failed:
        reasons = "\n".join(f"{item.name}: {item.reason}\n{item.details}" for item in evaluation.failed)
        (folder / "failed_photos.txt").write_text(reasons)
    if read_photo is None:
        return
    for rank, position in enumerate(worst_photos(evaluation), start=1):
        photo = evaluation.evaluated[position]
        picture = draw_photo(photo, read_photo(photo.path, photo.sha256), evaluation.thresholds)
        (folder / f"worst_{rank}.jpg").write_bytes(picture)


def photo_table(evaluation: Evaluation) -> dict[str, list[Any]]:
    """One row a photo: what was expected, what was read, what went wrong. Failed photos stand last."""
    done, failed = evaluation.evaluated, evaluation.failed
    gap: list[Any] = [None] * len(failed)
    table: dict[str, list[Any]] = {
        "photo": [item.name for item in (*done, *failed)],
        "status": [str(number_status(item.labels, item.prediction)) for item in done] + ["FAILED"] * len(failed),
        "expected": [" ".join(sorted(expected_numbers(item.labels))) for item in (*done, *failed)],
        "read": [" ".join(sorted(read_numbers(item.prediction))) for item in done] + gap,
    }
    for name, fields in _COUNTS.items():
        for field in fields:
            counts = evaluation.scores.tallies[name].column(field).tolist()
            table[f"{name}_{field[-2:]}"] = [*counts, *gap]
    table["seconds"] = [round(sum(item.seconds.values()), 3) for item in done] + gap
    table["error"] = [None] * len(done) + [item.reason for item in failed]
    table["sha256"] = [item.sha256 for item in (*done, *failed)]
    return table


def worst_photos(evaluation: Evaluation) -> list[int]:
    """Positions of the photos with the most errors, worst first; photos without an error are not among them."""
    tallies = evaluation.scores.tallies
    columns = [
        tallies[name].column(field) for name, fields in _COUNTS.items() for field in fields if field[-2:] != "tp"
    ]
    errors = [sum(counts) for counts in zip(*(column.tolist() for column in columns), strict=True)]
    ranked = sorted(range(len(errors)), key=lambda position: (-errors[position], position))
    return [position for position in ranked[:WORST_PHOTOS] if errors[position]]
