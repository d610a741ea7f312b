"""The boxes of a run by their scores: which are right, which targets no box found, and which boxes have no score.

Read from the files that a run leaves (`postop.py`) by the rules of `quality.py`: a box is right where it matches a
target of its class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

import numpy as np

from harness.base.errors import ConfidenceError
from harness.scoring.boxes import Bools, Floats, Ints
from harness.tasks.confidence.lines import parse, read_lines
from harness.tasks.confidence.quality import as_photo, is_box, match_boxes, objects

State = Literal["right", "wrong", "missed", "dropped"]


@dataclass(frozen=True, slots=True)
class Box:
    """A box with its corners in pixels. `why` says why it was dropped, and has then no score."""

    state: State
    desc: str
    points: tuple[float, float, float, float] | None
    score: float | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Sample:
    """A record: its image by name, its size where it says so, and its boxes, those with the highest score first."""

    image: str
    size: tuple[int, int] | None
    boxes: tuple[Box, ...]


@dataclass(frozen=True)
class BoxTable:
    """All samples in columns: what each has of every state, and the boxes with a score, the highest first, with the
    sample that they are of."""

    images: tuple[str, ...]
    counts: dict[State, Ints]
    sample: Ints
    score: Floats
    right: Bools
    descs: tuple[str, ...]


def samples(confidence: Path, scored: Path, class_agnostic: bool, only: int | None = None) -> Iterator[Sample]:
    """The records of a run, or one of them by its place from 0."""
    for (number, line), (_, other) in zip_longest(read_lines(scored), read_lines(confidence), fillvalue=(0, b"")):
        if not line or not other:
            raise ConfidenceError(f"{scored} and {confidence} do not have as many lines")
        if only is None or number == only + 1:
            yield _sample(parse(scored, number, line), parse(confidence, number, other), scored, number, class_agnostic)


def _sample(fields: dict[str, Any], told: dict[str, Any], path: Path, number: int, class_agnostic: bool) -> Sample:
    targets = [item for item in objects(path, number, "gt", fields) if is_box(item)]
    predictions = [item for item in objects(path, number, "pred", fields) if is_box(item)]
    (matched,) = match_boxes([as_photo(targets, predictions, {}, class_agnostic)])
    boxes = [
        Box("right" if right else "wrong", item["desc"], tuple(item["points"]), item["score"])
        for item, right in zip(predictions, matched.right.tolist(), strict=True)
    ]
    boxes.sort(key=lambda box: -(box.score or 0))
    boxes += [
        Box("missed", item["desc"], tuple(item["points"]))
        for item, found in zip(targets, matched.found.tolist(), strict=True)
        if not found
    ]
    boxes += [_dropped(item) for item in told["objects"] if not item["kept"]]
    return Sample(str(fields.get("image", "")), _size(fields), tuple(boxes))


def _dropped(item: dict[str, Any]) -> Box:
    points = tuple(item["points"]) if is_box(item) else None
    return Box("dropped", str(item.get("desc", "")), points, why=str(item["confidence_details"]["failure_reason"]))


def _size(fields: dict[str, Any]) -> tuple[int, int] | None:
    width, height = fields.get("width"), fields.get("height")
    return (int(width), int(height)) if isinstance(width, int) and isinstance(height, int) else None


def box_table(confidence: Path, scored: Path, class_agnostic: bool) -> BoxTable:
    """All samples of a run, read once."""
    images, descs = [], []
    counts: dict[State, list[int]] = {"right": [], "wrong": [], "missed": [], "dropped": []}
    columns: list[tuple[int, float, bool]] = []
    for place, sample in enumerate(samples(confidence, scored, class_agnostic)):
        images.append(sample.image)
        states = [box.state for box in sample.boxes]
        for state, column in counts.items():
            column.append(states.count(state))
        ranked = [box for box in sample.boxes if box.score is not None]
        columns += [(place, box.score or 0.0, box.state == "right") for box in ranked]
        descs += [box.desc for box in ranked]
    sample_of, score, right = (np.array(column) for column in zip(*columns, strict=True)) if columns else _NONE
    order = np.lexsort((sample_of, -score))
    return BoxTable(
        images=tuple(images),
        counts={state: np.array(column, dtype=np.int64) for state, column in counts.items()},
        sample=sample_of[order],
        score=score[order],
        right=right[order],
        descs=tuple(descs[place] for place in order.tolist()),
    )


_NONE = (np.empty(0, dtype=np.int64), np.empty(0), np.empty(0, dtype=bool))
