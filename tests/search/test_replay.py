"""Replaying a point comes to what `evaluate` comes to, from memory; what is not known is computed, and kept."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from harness.base.errors import ConflictError, HarnessError
from harness.evaluate import evaluate
from harness.pipeline.cache import Entry, StageCache
from harness.pipeline.cache.memory import MemoryCache
from harness.references.contents import read_file
from harness.references.files import BibFaceLinks, write_file
from harness.search import replay as replaying
from harness.search.base import ensure_base
from harness.search.experiment import Experiment, read_experiment, shipped
from harness.search.ledger import Ledger
from harness.search.loop import outcome_of
from harness.search.observing import Observed
from harness.search.replay import Replay, trial_run
from harness.search.searchable import trial_config, trial_spec
from harness.search.space import Point, is_active, rounded
from tests.conftest import QUICK
from tests.search.conftest import WriteExperiment

OnRace = Callable[[dict[str, Any]], Experiment]
SHIPPED = sorted(path.stem for path in shipped().glob("*.yaml"))


@pytest.fixture
def on_race(write_experiment: WriteExperiment, race: Path) -> OnRace:
    """An experiment on the small race set."""

    def made(changes: dict[str, Any]) -> Experiment:
        base = ["references=staging", f"references.root={race}", "preset=fast", *QUICK]
        return read_experiment(write_experiment("replayed", **{"base": base, **changes}))

    return made


def some_point(experiment: Experiment, chance: random.Random) -> Point:
    point: Point = {}
    for key, parameter in experiment.space.items():
        if is_active(parameter, point):
            values = parameter.values()
            point[key] = chance.choice(values) if values else rounded(chance.uniform(*parameter.ends))
    return point


def scored(run: Any) -> dict[str, float]:
    """What a run has but for what depends on when it was made."""
    return {name: value for name, value in run.metrics.items() if not name.startswith(("cache/", "runtime/"))}


def told(items: Any) -> list[Any]:
    return [replace(item, photo=item.photo and replace(item.photo, seconds=None)) for item in items]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_a_replayed_point_comes_to_what_evaluate_comes_to(name: str, on_race: OnRace) -> None:
    file = yaml.safe_load((shipped() / f"{name}.yaml").read_text())
    objectives = {key: way for key, way in file["objectives"].items() if not key.startswith("runtime/")}
    experiment = on_race({"space": file["space"], "objectives": objectives or {"number/f1": "maximize"}})
    replay, chance = Replay.open(experiment), random.Random(7)
    for _ in range(2):
        point = some_point(experiment, chance)
        result = evaluate(replace(trial_spec(experiment, point), light=True))
        expected = outcome_of(experiment, "", result.run)
        assert replay.outcome(point) == expected
        assert replay.outcome(point) == expected, "and again, from memory"
        whole = replay.run(point)
        assert scored(whole) == scored(result.run)
        assert whole.tasks.keys() == result.run.tasks.keys()
        for task, kept in result.run.tasks.items():
            assert told(whole.tasks[task].items) == told(kept.items)
            assert whole.tasks[task].cards == kept.cards or task == "photos"
            assert whole.tasks[task].stage_keys == kept.stage_keys
        for item in whole.photos[:2]:
            assert told([replay.photo(item.id, point).item]) == told([item])


@pytest.mark.slow
def test_only_what_is_new_opens_a_model(on_race: OnRace, monkeypatch: pytest.MonkeyPatch) -> None:
    space = {"link.max_drop": [1.6, 2.5], "bib.rule.min_char_score": [0.3, 0.6], "face.long_side": [320, 640]}
    replay = Replay.open(on_race({"space": space}))
    first: Point = {"link.max_drop": 1.6, "bib.rule.min_char_score": 0.3, "face.long_side": 640}
    replay.outcome(first)
    looked: list[str] = []
    get = StageCache.get

    def watched(self: StageCache, key: str, *rest: str) -> Entry | None:
        looked.append(key)
        return get(self, key, *rest)

    monkeypatch.setattr(StageCache, "get", watched)
    photo = replay.references.photos[0].sha256
    for change in ({"link.max_drop": 2.5}, {"bib.rule.min_char_score": 0.6}):
        replay.outcome({**first, **change})
        assert not replay.photo(photo, {**first, **change}).opened_model
    assert looked == [], "neither a model nor the disk was asked"
    replay.photo(photo, {**first, "face.long_side": 320})
    assert looked, "another size of the picture is another observation"
    assert not replay.photo(photo, {**first, "face.long_side": 320}).opened_model


@pytest.mark.slow
def test_some_photos_are_those_photos_alone(on_race: OnRace) -> None:
    replay = Replay.open(on_race({}))
    point: Point = {"link.max_drop": 2.5}
    hashes = sorted(photo.sha256 for photo in replay.references.photos)
    whole, parts = replay.outcome(point), [replay.outcome(point, [sha256]) for sha256 in hashes]
    assert whole.sides is not None
    assert [list(whole.sides[0]), list(whole.sides[1])] == [
        [part.sides[side][0] for part in parts if part.sides] for side in (0, 1)
    ]
    with pytest.raises(ConflictError, match="no photo of this search"):
        replay.outcome(point, ["0" * 64])


@pytest.mark.slow
def test_the_result_of_a_trial_is_its_run_or_replayed(on_race: OnRace, desk: Path) -> None:
    experiment = on_race({})
    ledger = Ledger.open(experiment, desk / "experiments" / "replayed")
    base, point = ensure_base(ledger), Point({"link.max_drop": 2.5})
    with ledger.worker() as worker:
        trial = ledger.claim(worker, point)
        assert trial is not None
        outcome = Replay.open(experiment).outcome(point)
        ledger.tell(trial.number, outcome.values, outcome.violations, **outcome.notes())
        other = ledger.claim(worker, {"link.max_drop": 1.6})
        assert other is not None
        ledger.tell(other.number, [0.123], {})
    assert trial_run(ledger, None).metadata.key
    assert base.values[0] == trial_run(ledger, None).metrics["link/f1"]
    run = trial_run(ledger, trial.number)
    assert (run.metrics["link/f1"],) == outcome.values
    assert scored(run) == scored(evaluate(trial_spec(experiment, point)).run)
    with pytest.raises(HarnessError, match="comes out otherwise"):
        trial_run(ledger, other.number)


@pytest.mark.slow
def test_labels_that_change_under_an_open_replay_are_a_conflict(on_race: OnRace, race: Path, tmp_path: Path) -> None:
    links = read_file(race, BibFaceLinks)
    replay = Replay.open(on_race({}))
    try:
        write_file(race, BibFaceLinks.model_validate({"photos": {}}))
        with pytest.raises(ConflictError, match="have changed"):
            replay.run({"link.max_drop": 2.5})
    finally:
        write_file(race, links)


def test_a_photo_that_is_gone_fails_the_trial_and_says_so(on_race: OnRace, race: Path) -> None:
    replay = Replay.open(on_race({}))
    photo = replay.references.photos[0]
    hidden = photo.path.rename(photo.path.with_suffix(".hidden"))
    try:
        with pytest.raises(HarnessError, match=r"1 of 8 photos could not be evaluated; .*jpg"):
            replay.outcome({"link.max_drop": 2.5})
    finally:
        hidden.rename(photo.path)


def test_a_stage_that_refers_to_another_follows_it(on_race: OnRace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stage is made once for its own keys, unless its config refers to a key that may be searched."""
    replay = Replay.open(on_race({"space": {"link.max_drop": [1.6, 2.5], "face.threshold": [0.6, 0.7]}}))
    points: list[Point] = [{"link.max_drop": 2.5, "face.threshold": value} for value in (0.6, 0.7)]
    first, second = points
    assert replay.stages.pipeline(first).link is replay.stages.pipeline(second).link
    assert replay.stages.pipeline(first).face.threshold == 0.6  # type: ignore[attr-defined]

    tied = trial_config(replay.experiment, {})
    tied.link.threshold = "${face.threshold}"
    monkeypatch.setattr("harness.search.searchable.composed", lambda _: tied)
    monkeypatch.setattr("harness.search.observing.composed", lambda _: tied)
    fresh = Replay.open(replay.experiment)
    assert [fresh.stages.pipeline(point).link.threshold for point in (first, second)] == [0.6, 0.7]  # type: ignore[attr-defined]


def test_memory_gives_what_was_put_and_nobody_can_change_it(tmp_path: Path) -> None:
    cache = MemoryCache(behind=StageCache(tmp_path, 10**6))
    cache.put("a", "read", Entry([[0.1, None], {"x": "é"}], 1.5), "photo")
    cache.put("b", "identity", Entry(np.arange(3, dtype=np.float32), 0.5), "photo")
    got = cache.get("a")
    assert got is not None
    got.value.append("mine")
    again, vector = cache.get("a"), cache.get("b")
    assert again is not None
    assert vector is not None
    assert (again.value, again.seconds) == ([[0.1, None], {"x": "é"}], 1.5)
    with pytest.raises(ValueError, match="read-only"):
        vector.value[0] = 7
    behind = MemoryCache(behind=StageCache(tmp_path, 10**6)).get("a")
    assert behind == again, "it is in the cache behind, too"


def test_memory_keeps_to_its_limit_and_forgets_what_was_asked_least_lately() -> None:
    cache = MemoryCache(limit_bytes=3000)
    for key in "abc":
        cache.put(key, "read", Entry("x" * 900, 0.0))
    assert cache.get("a") is not None
    cache.put("d", "read", Entry("x" * 900, 0.0))
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    assert cache._held.bytes <= 3000


def test_what_was_found_is_bounded(monkeypatch: pytest.MonkeyPatch, on_race: OnRace) -> None:
    monkeypatch.setattr("harness.search.observing._MOST_FOUND", 10)
    replay = Replay.open(on_race({"space": {"bib.rule.min_char_score": {"low": 0.1, "high": 0.9, "step": 0.1}}}))
    for value in (0.1, 0.2, 0.3):
        replay.outcome({"bib.rule.min_char_score": value})
        observed: Observed = replay.stages.observed
        assert sum(map(len, observed._found.values())) == observed._count <= 16, "those of one pipeline are never cut"
    assert replaying.wanted(replay.experiment) == ["link/f1"]
