"""The files that a run leaves beside its numbers. All lie at the root, where MLflow's compare page finds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.report.canvas import write_pictures
from harness.report.content import RunReport
from harness.report.figures import run_figures
from harness.report.gallery import make_gallery
from harness.report.grid import write_grid
from harness.report.html import REPORT_FILE
from harness.report.mistakes import ReadPhoto
from harness.report.page import run_page
from harness.report.pictures import draw_photo
from harness.results import Evaluation
from harness.runs.comparison import LEDGER
from harness.scoring import number_status
from harness.scoring.numbers import expected_numbers, read_numbers


def write_artifacts(folder: Path, report: RunReport, read_photo: ReadPhoto | None) -> dict[str, str]:
    """Write the resolved config and the reasons of failed photos; given a way to read photos, also pictures, figures
    and the report.

    Returns the tags by which MLflow's UI knows what there is to show.
    """
    evaluation, cards = report.evaluation, report.run.cards
    (folder / "config.yaml").write_text(report.config_yaml)
    if evaluation.failed:
        reasons = "\n".join(f"{item.name}: {item.reason}\n{item.details}" for item in evaluation.failed)
        (folder / "failed_photos.txt").write_text(reasons)
    if read_photo is None:
        return {}
    gallery = make_gallery(report, read_photo)
    for rank, photo in enumerate(gallery.worst, start=1):
        picture = draw_photo(photo, gallery.shots[photo.sha256].whole, evaluation.thresholds)
        (folder / f"worst_{rank}.jpg").write_bytes(picture)
    tags = write_grid(folder, gallery.mistakes, gallery.shots)
    errors = {what: cards[f"{what}_errors"] for what in ("bib", "face") if f"{what}_errors" in cards}
    figures = run_figures(evaluation.behaviours, report.run.slices, errors)
    write_pictures(folder, figures)
    (folder / REPORT_FILE).write_text(run_page(report, gallery, figures))
    return tags


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
    for name, (_, fields) in LEDGER.items():
        for field in fields:
            counts = evaluation.scores.tallies[name].column(field).tolist()
            table[f"{name}_{field[-2:]}"] = [*counts, *gap]
    table["seconds"] = [round(sum(item.seconds.values()), 3) for item in done] + gap
    table["error"] = [None] * len(done) + [item.reason for item in failed]
    table["sha256"] = [item.sha256 for item in (*done, *failed)]
    return table
