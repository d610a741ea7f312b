"""A search of 10,000 link trials on 111 photos beside a bare Optuna loop, and what the ledger costs as it grows.

Both loops are asked for the same points by the same sampler, make the links of the same bibs and faces anew and score
them by the same scorecard. The bare loop keeps its study in memory and nothing else; ours claims each trial under a
lock, writes it to a journal on the disk, refuses what was tried before and keeps to a budget. The photos are drawn by
chance: their labels, and bibs and faces as a pipeline would have found them.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import optuna

from bench.measure import row
from bench.search import METRIC, experiment
from harness.references.sets import ReferencePhoto
from harness.search.experiment import Experiment
from harness.search.ledger import Ledger
from harness.search.loop import Outcome, search
from harness.search.observing import Found
from harness.search.replay import Replay
from harness.search.samplers import make_sampler
from harness.search.space import suggest_point
from harness.search.trials import TrialRecord
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.tasks.photos.scores import score_cards
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction

#: A shorter run, to look into the loops: HARNESS_BENCH_TRIALS=1000 scripts/bench search
TRIALS, PHOTOS = int(os.environ.get("HARNESS_BENCH_TRIALS", "10000")), 111
SIZE = (1200, 900)
#: In small steps, so that no sampler runs out of points.
SPACE = {
    "link.min_drop": {"low": 0.0, "high": 2.0, "step": 0.01},
    "link.max_drop": {"low": 3.0, "high": 9.0, "step": 0.01},
    "link.half_width": {"low": 0.5, "high": 4.0, "step": 0.01},
    "link.behind": {"low": 0.0, "high": 1.0, "step": 0.01},
    "link.threshold": {"low": 0.0, "high": 0.4, "step": 0.01},
}


def drawn_photo(number: int) -> tuple[ReferencePhoto, Found]:
    """A photo of one to six runners, whose bibs hang below their faces, and what a pipeline found of them: most, a
    little off, and now and then something that is not there."""
    chance = random.Random(number)
    faces, bibs, found_faces, found_bibs = [], [], [], []
    for place in range(chance.randint(1, 6)):
        height = chance.uniform(0.04, 0.1)
        x, y = (place + chance.random()) / 6.5, chance.uniform(0.05, 0.4)
        drop = chance.uniform(1.5, 4.5) * height
        face = FaceBox(x=x, y=y, w=0.75 * height, h=height)
        bib = BibBox(x=x - 0.02, y=y + drop, w=0.08, h=0.05, number=str(100 + place))
        faces.append(face)
        bibs.append(bib)
        if chance.random() > 0.06:
            found_faces.append(replace(face, x=face.x + chance.gauss(0, 0.003), score=chance.uniform(0.6, 1)))
        if chance.random() > 0.1:
            found_bibs.append(replace(bib, y=bib.y + chance.gauss(0, 0.003), score=chance.uniform(0.5, 1)))
    if chance.random() < 0.15:
        found_bibs.append(BibBox(x=chance.random() * 0.9, y=0.8, w=0.05, h=0.03, number="7", score=0.6))
    sha256 = hashlib.sha256(f"drawn {number}".encode()).hexdigest()
    links = tuple(BibFaceLink(place, place) for place in range(len(bibs)))
    name = f"{number}.jpg"
    boxes = (True, tuple(bibs), (), True, tuple(faces), (), links)
    photo = ReferencePhoto(sha256, name, Path(name), "iteration", *boxes, f"burst {number // 2}")
    return photo, Found(tuple(found_bibs), tuple(found_faces), (), SIZE, {"read": 5, "face": 1}, {}, b"")


def drawn_replay(made: Experiment) -> Replay:
    """A replay in which the drawn photos were looked at before."""
    replay = Replay.open(made)
    photos, found = zip(*map(drawn_photo, range(PHOTOS)), strict=True)
    replay = replace(replay, references=replace(replay.references, photos=photos))
    pipeline = replay.stages.pipeline({})
    for photo, each in zip(photos, found, strict=True):
        replay.stages.observed.keep(pipeline, photo, each)
    return replay


def our_loop(made: Experiment, replay: Replay) -> tuple[float, list[float]]:
    """Processor seconds of a whole search, and of each trial what was not spent on evaluating it."""
    marks: list[tuple[float, float]] = []

    def evaluate(trial: TrialRecord) -> Outcome:
        start = time.process_time()
        outcome = replay.outcome(trial.point)
        marks.append((start, time.process_time()))
        return outcome

    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(made, Path(folder))
        begun = time.process_time()
        search(ledger, evaluate)
        spent = time.process_time() - begun
        assert len(marks) == TRIALS
    return spent, [start - end for (_, end), (start, _) in itertools.pairwise(marks)]


def bare_loop(made: Experiment, replay: Replay) -> float:
    """Processor seconds of the same search without a ledger."""
    pipeline = replay.stages.pipeline({})
    linker, scoring = pipeline.link, replay.base.photos.scoring
    seen = [replay.stages.observed.look(pipeline, photo, embed=False) for photo in replay.references.photos]
    study = optuna.create_study(direction="maximize", sampler=make_sampler(made, 0))
    begun = time.process_time()
    for _ in range(TRIALS):
        trial = study.ask()
        point = suggest_point(made.space, trial)
        values: dict[str, Any] = {key.removeprefix("link."): value for key, value in point.items()}
        photos = list(_linked(seen, replace(linker, **values)))  # type: ignore[type-var]
        study.tell(trial, score_cards(photos, scoring, names=frozenset({"link"}))["link"].total().metrics()[METRIC])
    return time.process_time() - begun


def _linked(seen: list[EvaluatedPhoto], linker: Any) -> Iterator[EvaluatedPhoto]:
    for photo in seen:
        bibs, faces = photo.prediction.bibs, photo.prediction.faces
        links = linker.link(bibs, faces, aspect=SIZE[0] / SIZE[1])
        yield replace(photo, prediction=PhotoPrediction(bibs, faces, links))


def measure() -> list[dict[str, Any]]:
    """Both samplers, and the ledger around its 100th and its 9,000th trial."""
    rows: list[dict[str, Any]] = []
    ledger: list[float] = []
    for sampler in ("random", "tpe"):
        made = experiment(sampler, space=SPACE, trials=TRIALS, study="links")
        replay = drawn_replay(made)
        bare = bare_loop(made, replay)
        ours, between = our_loop(made, replay)
        name = f"a link trial on {PHOTOS} photos, {TRIALS} trials, {sampler}"
        rows.append(row(name, ours / TRIALS, "bare Optuna loop", bare / TRIALS, 1 / 3))
        ledger = ledger or between
    early, late = (
        statistics.median(ledger[middle - TRIALS // 200 : middle + TRIALS // 200])
        for middle in (TRIALS // 100, TRIALS * 9 // 10)
    )
    name = f"what the ledger costs a trial, around trial {TRIALS * 9 // 10}"
    rows.append(row(name, late, f"around trial {TRIALS // 100}", early, 1 / 1.5))
    return rows
