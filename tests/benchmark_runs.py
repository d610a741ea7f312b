"""Runs made of counts, for tests that judge and compare them without a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from harness.results import Extra, ItemRates
from harness.runs.archive import BenchmarkRun, FailedResult, PhotoResult, RunMetadata
from harness.runs.gate import Gate, Rule
from harness.scoring import FaceScorecard, NumberScorecard

#: What one photo counts: found, invented, missed.
Photo = tuple[int, int, int]

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


def gate(strict: bool = False, **rules: Rule) -> Gate:
    """A gate over `section__metric` rules; by default over the recall of faces alone."""
    chosen = rules or {"face__recall": Rule()}
    metrics: dict[str, dict[str, Rule]] = {}
    for name, rule in chosen.items():
        section, _, metric = name.partition("__")
        metrics.setdefault(section, {})[metric] = rule
    return Gate(strict, metrics)


def _face_card(faces: Sequence[Photo]) -> FaceScorecard:
    found, invented, missed = np.array(faces).reshape(-1, 3).sum(axis=0).tolist()
    return FaceScorecard(found, invented, missed, photos=len(faces))


def benchmark_run(
    faces: Sequence[Photo],
    numbers: Sequence[Photo] | None = None,
    failed: Sequence[str] = (),
    metrics: Mapping[str, float] | None = None,
    **metadata: Any,
) -> BenchmarkRun:
    """A run with a face scorecard, and a number scorecard where numbers are given; photos are named by their place."""
    photos = []
    for place, (found, invented, missed) in enumerate(faces):
        face = {"detection_tp": found, "detection_fp": invented, "detection_fn": missed, "photos": 1}
        counts: dict[str, dict[str, int]] = {"face": face}
        if numbers is not None:
            counts["number"] = dict(zip(("number_tp", "number_fp", "number_fn"), numbers[place], strict=True))
        photos.append(PhotoResult(f"{place:03}.jpg", f"{place:064x}", "PASS", counts=counts))
    run = BenchmarkRun(
        metadata=replace(METADATA, **metadata),
        metrics={},
        photo_results=tuple(photos),
        failed_photos=tuple(
            FailedResult(name, f"{'f' * 60}{row:04}", "not an image") for row, name in enumerate(failed)
        ),
        face_scorecard=_face_card(faces),
        number_scorecard=None if numbers is None else NumberScorecard(*np.array(numbers).sum(axis=0).tolist()),
    )
    measured = {name: value for card in run.cards.values() for name, value in card.metrics().items()}
    return replace(run, metrics=measured | dict(metrics or {}))


def with_tables(run: BenchmarkRun, right: Mapping[str, int] | None = None, data_digest: str = "") -> BenchmarkRun:
    """The run with tables beside its photos: of each by its name, how many of 10 cells are right."""
    rates = None
    if right is not None:
        cells = tuple(float(count) for count in right.values())
        rates = ItemRates(tuple(right), {"table/accuracy": (cells, (10.0,) * len(cells))})
    return replace(run, extras=(Extra("tables", {}, {}, "", rates, data_digest),))
