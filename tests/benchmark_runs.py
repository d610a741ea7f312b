"""Runs made of counts, for tests that judge and compare them without a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from harness.runs.archive import BenchmarkRun, RunMetadata, TaskData, TaskRun
from harness.runs.gate import Gate, Rule, RuleChange
from harness.runs.items import FailedItem, Item, PhotoDetail
from harness.scoring import FaceScorecard, NumberScorecard
from harness.scoring.cards import Count, Counted, Declaration, Rate

#: What one photo counts: found, invented, missed.
Photo = tuple[int, int, int]

PASSED = PhotoDetail("PASS")
METADATA = RunMetadata(
    timestamp="2026-01-02T03:04:05+00:00",
    git_commit="c0ffee",
    config={"preset": "fast", "face.threshold": "0.7"},
    runtime={"runtime/pipeline_seconds": 4.0},
    name="fast",
    data_name="races",
    data_split="iteration",
    data_digest="d" * 64,
    scorer_version=1,
    thresholds={"bib_iou": 0.5, "face_iou": 0.5},
)


def gate(strict: bool = False, proof: bool = False, **rules: Rule) -> Gate:
    """A gate over `section__metric` rules alone; by default over the recall of faces."""
    chosen = rules or {"face__recall": Rule()}
    metrics: dict[str, dict[str, RuleChange]] = {}
    for name, rule in chosen.items():
        section, _, metric = name.partition("__")
        metrics.setdefault(section, {})[metric] = RuleChange(**asdict(rule))
    return Gate(strict, metrics, declared=False, proof=proof)


def benchmark_run(
    faces: Sequence[Photo],
    numbers: Sequence[Photo] | None = None,
    failed: Sequence[str] = (),
    metrics: Mapping[str, float] | None = None,
    tasks: Mapping[str, TaskRun] | None = None,
    **metadata: Any,
) -> BenchmarkRun:
    """A run with a face scorecard, and a number scorecard where numbers are given; photos are named by their place.
    Runs with the same counts have the same stages behind them.

    `tasks` are what it has evaluated beside the photos.
    """
    meta = replace(METADATA, **metadata)
    rows: dict[str, list[dict[str, Count]]] = {}
    if numbers is not None:
        rows["number"] = [dict(NumberScorecard(*row, photos=1).counted().counts) for row in numbers]
    rows["face"] = [dict(FaceScorecard(*row, photos=1).counted().counts) for row in faces]
    items = tuple(
        Item(f"{place:064x}", f"{place:03}.jpg", {name: counts[place] for name, counts in rows.items()}, photo=PASSED)
        for place in range(len(faces))
    )
    kinds = {"face": FaceScorecard, "number": NumberScorecard}
    totals = {name: np.array([list(row.values()) for row in each]).sum(axis=0).tolist() for name, each in rows.items()}
    photos = TaskRun(
        data=TaskData(meta.data_name, meta.data_split, meta.data_digest),
        noun="photo",
        items=items,
        failed=tuple(FailedItem(f"{'f' * 60}{row:04}", name, "not an image") for row, name in enumerate(failed)),
        cards={name: kinds[name](*total).counted() for name, total in totals.items()},
        stage_keys={"face": repr(list(faces)), "number": repr((list(faces), list(numbers or ())))},
    )
    run = BenchmarkRun(metadata=meta, metrics={}, tasks={"photos": photos, **(tasks or {})})
    measured = {name: value for card in run.cards.values() for name, value in card.metrics().items()}
    return replace(run, metrics=measured | dict(metrics or {}))


def with_tables(run: BenchmarkRun, right: Mapping[str, int] | None = None, data_digest: str = "") -> BenchmarkRun:
    """The run with tables beside its photos: of each by its name, how many of 10 cells are right."""
    declared = Declaration("cells", {"accuracy": Rate.of("table/accuracy", "right", "cells")})
    cells = {name: {"right": count, "cells": 10} for name, count in (right or {}).items()}
    total = {name: sum(one[name] for one in cells.values()) for name in ("right", "cells")}
    tables = TaskRun(
        data=TaskData("cells", "", data_digest),
        noun="table",
        items=tuple(Item(name, name, {"cells": counts}) for name, counts in cells.items()),
        cards={"cells": Counted(declared, total)} if cells else {},
    )
    return replace(run, tasks={**run.tasks, "tables": tables})
