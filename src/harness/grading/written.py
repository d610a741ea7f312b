"""What a graded submission leaves on disk: `grade.json`, `grade.csv` and `report.html`, each whole or not there."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from harness.base.errors import GradingError
from harness.grading.graded import GradedSubmission, Item, SkippedItem
from harness.grading.page import report_page

#: What a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_grade(folder: Path, graded: GradedSubmission, images: Path | None = None) -> None:
    """Write the three files into a folder, which is made."""
    write_text(folder / "grade.json", as_json(as_dict(graded)))
    write_text(folder / "grade.csv", as_csv(rows(graded)))
    write_text(folder / "report.html", report_page(graded, images))


def as_dict(graded: GradedSubmission) -> dict[str, Any]:
    """Everything about a graded submission, as plain values."""
    return {
        "student": graded.student.name,
        "ground_truth": graded.ground_truth.name,
        "digests": {"student": graded.student.digest, "ground_truth": graded.ground_truth.digest},
        "skills": asdict(graded.skills),
        "skipped": {
            "student": len(graded.student.skipped),
            "ground_truth": len(graded.ground_truth.skipped),
            "overall_if_counted": graded.overall_if_counted,
            "annotations": [asdict(item) for item in graded.skipped],
        },
        "points_lost": {str(aspect): points for aspect, points in graded.points_lost.items()},
        **graded.report.to_dict(),
    }


def rows(graded: GradedSubmission) -> list[dict[str, Any]]:
    """One row an annotation: who it is on either side, what it scored, and why not more; then what was skipped."""
    table = [
        {"image": image.image, **_row(item, graded)} for image in graded.report.images for item in graded.items(image)
    ]
    empty = {"image": None, **dict.fromkeys(_row(Item(None, None), graded))}
    return table + [empty | _skipped_row(item) for item in graded.skipped]


def _skipped_row(item: SkippedItem) -> dict[str, Any]:
    id = "student_annotation" if item.side == "student" else "annotation"
    return {"image": item.image, "status": "skipped", id: item.annotation, "lost": f"skipped: {item.why}"}


def _row(item: Item, graded: GradedSubmission) -> dict[str, Any]:
    match = item.match
    cost = {"missed": graded.missed_cost, "extra": graded.extra_cost}.get(item.status)
    lost = "; ".join(f"{loss.reason} (-{loss.points:.1f})".replace("--", "+") for loss in item.losses)
    return {
        "status": item.status,
        "annotation": item.truth.id if item.truth else None,
        "label": item.truth.label if item.truth else None,
        "student_annotation": item.student.id if item.student else None,
        "student_label": item.student.label if item.student else None,
        "by_key": match.by_key if match else None,
        "iou": match.iou if match else None,
        "label_similarity": match.label_similarity if match else None,
        "attribute_similarity": match.attribute_similarity if match else None,
        "original_score": match.original_score if match else None,
        "final_score": match.final_score if match else None,
        "overridden_by": match.override.who if match and match.override else None,
        "lost": lost if cost is None else f"{item.status}: -{cost:.2f} of the overall grade",
    }


def as_json(value: Any) -> str:
    """JSON to be read by people too."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def as_csv(table: Sequence[Mapping[str, Any]]) -> str:
    """CSV with a header. Text that a spreadsheet would run as a formula is marked as text by a leading apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if table:
        writer.writerow(table[0])
        writer.writerows([_cell(value) for value in row.values()] for row in table)
    return text.getvalue()


def columns(table: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """A table by its columns, as MLflow takes it."""
    found: dict[str, list[Any]] = {}
    for row in table:
        for name, value in row.items():
            found.setdefault(name, []).append(value)
    return found


def write_text(path: Path, text: str) -> None:
    """Write a file beside, then rename it."""
    beside = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise GradingError(f"{path}: cannot be written: {error.strerror}") from error


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return round(value, 6) if isinstance(value, float) else value
