"""The records of `gt_vs_pred.jsonl`, checked, and the standardizer that reproduces most of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.base.progress import track_stream
from harness.scoring.coord_tokens import read_objects
from harness.scoring.standardizer import Size, Standardizer, choose
from harness.tasks.confidence.lines import Record, parse_exactly, read_lines, wrong

_NUMBER = {int, float}
#: No image is larger, and every converter can count up to it.
_MOST_PIXELS = 10**9


def read_records(path: Path, samples: int, what: str = "samples") -> Iterator[Record]:
    """The records of a file of so many lines, in order. Raises ConfidenceError where one is not as it has to be."""
    return (_record(path, number, line) for number, line in track_stream(read_lines(path), what, samples))


def choose_standardizer(path: Path, samples: int, asked: Standardizer) -> Standardizer:
    """The standardizer that reproduces most records of a file, or the tolerance."""
    records = (record.fields for record in read_records(path, samples, "converters"))
    with_raws = ((fields, read_objects(fields.get("raw_output_json"))) for fields in records)
    return choose(((fields["pred"], raws, size_of(fields)) for fields, raws in with_raws if raws is not None), asked)


def size_of(fields: dict[str, Any]) -> Size:
    """Width and height of the image of a record, None where unknown."""
    return fields.get("width") or None, fields.get("height") or None


def _record(path: Path, number: int, line: bytes) -> Record:
    record = parse_exactly(path, number, line)
    _check(path, number, record.fields)
    return record


def _check(path: Path, number: int, fields: dict[str, Any]) -> None:
    """Refuse a record without the fields that are copied into the outputs, or with a size that is none."""
    if not isinstance(fields.get("image"), str):
        raise wrong(path, number, "image: expected a string")
    for side in ("width", "height"):
        value = fields.get(side)
        if value is not None and (type(value) not in _NUMBER or not 0 <= value <= _MOST_PIXELS):
            raise wrong(path, number, f"{side}: expected a number of pixels or null, got {value!r:.60}")
    pred = fields.get("pred")
    if not isinstance(pred, list):
        raise wrong(path, number, "pred: expected a list of objects")
    for index, item in enumerate(pred):
        try:
            kind, desc, points = item["type"], item["desc"], item["points"]
        except (KeyError, TypeError) as error:
            raise wrong(path, number, f"pred.{index}: expected an object with type, desc and points") from error
        if type(kind) is not str or type(desc) is not str:
            raise wrong(path, number, f"pred.{index}: expected strings as type and desc")
        if type(points) is not list or not _NUMBER.issuperset(map(type, points)):
            raise wrong(path, number, f"pred.{index}.points: expected a list of numbers")
