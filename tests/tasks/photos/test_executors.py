"""The photos of a run on other processes: the same predictions, errors of one photo, and workers that die."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError, StaleCodeError
from harness.base.loopback import keep_ray_here
from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.cache import StageCache
from harness.runs.records import plan_code, run_key
from harness.tasks.photos import executing
from harness.tasks.photos.executing import Job, look_at, shards_of
from harness.tasks.photos.on_processes import ProcessesExecutor
from harness.tasks.photos.on_ray import RayExecutor, connect
from harness.tasks.photos.predicting import LocalExecutor
from tests.conftest import ROOT
from tests.tasks.photos.scored import scored, task
from tests.tasks.photos.workers import (
    MAIN,
    PHOTOS,
    SHARD,
    InlineExecutor,
    InlinePool,
    NoFaces,
    NoLinks,
    NotingReader,
    executor_of,
    log_of,
    numbers,
    photos_in,
    predicted,
)

ALL = [(f"{number:02}.png", str(number)) for number in range(PHOTOS)]


#: Tests of the cluster, which takes long to start, stay together.
on_ray = pytest.mark.xdist_group("ray")


def test_shards_follow_from_the_photos_and_not_from_their_order(tmp_path: Path) -> None:
    photos = photos_in(tmp_path)
    shards = shards_of(photos, SHARD)
    assert shards == shards_of(photos[::-1], SHARD)
    assert [len(shard) for shard in shards] == [SHARD] * (PHOTOS // SHARD)
    assert {photo for shard in shards for photo in shard} == set(photos)
    assert shards_of([], SHARD) == []


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not say which cores are used")
def test_a_worker_opens_all_models_at_once_and_for_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cores: list[int] = []
    monkeypatch.setattr(Pipeline, "open", lambda _: cores.append(len(os.sched_getaffinity(0))))
    executing._opened.cache_clear()
    job = Job.of(Pipeline(NotingReader(str(tmp_path)), NoFaces(), NoLinks()), None)
    executing._opened(job)
    executing._opened.cache_clear()
    assert cores == [1]


def test_processes_say_what_this_one_says_and_what_breaks_or_kills_them_fails_alone(tmp_path: Path) -> None:
    found = predicted(executor_of("processes", retries=0), tmp_path, broken=(7,), deadly=(5,))
    here = predicted(LocalExecutor(), tmp_path, cached=False, broken=(5, 7))
    assert numbers(found.photos) == numbers(here.photos) == [item for item in ALL if item[1] not in ("5", "7")]
    assert [photo.photo for photo in found.photos] == [photo.photo for photo in here.photos], "labels, in the order"
    assert [item.photo for item in found.failed] == [item.photo for item in here.failed]
    assert found.failed[0].reason.startswith("the process that looked at it died: ")
    assert found.failed[1].reason == here.failed[1].reason
    assert found.failed[1].reason.startswith("ValueError: nobody can read 7 (workers.py, line ")
    assert str(os.getpid()) not in {photo.worker.split()[-1] for photo in found.photos}
    assert not any(photo.worker for photo in here.photos)
    warm = predicted(LocalExecutor(), tmp_path, broken=(5, 7))
    assert sum(sum(photo.hits.values()) for photo in warm.photos) == PHOTOS - 2, "what workers computed is kept"


@given(deadly=st.sets(st.integers(0, PHOTOS - 1), max_size=5), retries=st.integers(0, 2), shard=st.integers(1, PHOTOS))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whichever_photos_kill_their_workers_they_alone_fail(
    tmp_path: Path, deadly: set[int], retries: int, shard: int
) -> None:
    names = frozenset(f"{number:02}.png" for number in deadly)
    found = predicted(InlineExecutor(InlinePool(2, names), shard, retries), tmp_path, cached=False)
    assert numbers(found.photos) == [item for item in ALL if item[0] not in names]
    assert [item.photo.name for item in found.failed] == sorted(names)
    times = "" if retries == 0 else f", {retries + 1} times"
    reason = f"the process that looked at it died{times}: killed by a photo"
    assert all(item.reason == reason for item in found.failed)


def below(process: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True).stdout
    return [found for child in map(int, told.split()) for found in (child, *below(child))]


@on_ray
def test_a_cluster_of_ours_listens_on_loopback_alone(cluster: str) -> None:
    assert cluster.startswith("127.0.0.1:")
    if shutil.which("ss") is None:
        pytest.skip("needs ss, of iproute2")
    ours = {f"pid={process}," for process in below(os.getpid())}
    listed = subprocess.run(["ss", "-tlnpH"], capture_output=True, text=True, check=True).stdout.splitlines()
    listening = [line.split() for line in listed if any(process in line for process in ours)]
    assert len(listening) > 2
    assert [line for line in listening if not line[3].startswith(("127.0.0.1:", "[::1]:", "[::ffff:127.0.0.1]:"))] == []


@on_ray
def test_an_actor_that_is_killed_loses_nothing_and_costs_a_photo(cluster: str, tmp_path: Path) -> None:
    killed = []

    def kill() -> None:
        while len(log_of(tmp_path)) < PHOTOS // 3:
            time.sleep(0.01)
        killed.append(log_of(tmp_path)[-1][1])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = predicted(executor_of("ray"), tmp_path, seconds=0.03)
    killer.join()
    assert numbers(found.photos) == ALL
    assert found.failed == ()
    assert os.getpid() not in killed
    twice = Counter(number for number, _ in log_of(tmp_path))
    assert sum(twice.values()) - PHOTOS <= 2, "of each worker, the photo that was under way"


@on_ray
def test_a_driver_that_is_killed_and_started_again_goes_on_from_there(cluster: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", MAIN, "ray", str(tmp_path), cluster]
    driver = subprocess.Popen(command, cwd=ROOT)
    while len(log_of(tmp_path)) < PHOTOS // 2:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(PHOTOS), "0"]
    times = Counter(number for number, _ in log_of(tmp_path))
    assert set(times) == set(range(PHOTOS))
    assert sum(times.values()) - PHOTOS <= 2 * SHARD, "nothing is computed twice beyond the shards under way"


def test_a_cache_that_cannot_be_used_is_told_once_and_damaged_entries_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("in the way")
    assert numbers(predicted(InlineExecutor(), tmp_path).photos) == ALL
    (warning,) = capsys.readouterr().err.splitlines()
    assert "this run computes everything anew" in warning
    (tmp_path / "cache").unlink()
    predicted(InlineExecutor(), tmp_path)
    cache = StageCache(tmp_path / "cache", 10**8)
    cache._database.execute("UPDATE answers SET value = x'00' WHERE stage = 'text'")
    found = predicted(InlineExecutor(), tmp_path)
    assert (numbers(found.photos), found.repaired) == (ALL, PHOTOS)


def test_a_worker_with_other_code_is_refused(tmp_path: Path) -> None:
    pipeline = Pipeline(NotingReader(str(tmp_path / "log")), NoFaces(), NoLinks())
    job = Job.of(pipeline, None)
    other = replace(job, stages=tuple((stage, key if stage != "bibs" else "0") for stage, key in job.stages))
    assert look_at(job, photos_in(tmp_path)[:1]).refused is None
    refused = look_at(other, photos_in(tmp_path)[:1]).refused
    assert isinstance(refused, StaleCodeError)
    assert "the models of bibs are not those of the run" in str(refused)
    executing._opened.cache_clear()


def test_labels_do_not_travel(tmp_path: Path) -> None:
    (shard, *_) = shards_of([executing._bare(photo) for photo in photos_in(tmp_path)], SHARD)
    assert not any(photo.faces for photo in shard)


def test_the_key_of_a_run_does_not_depend_on_who_runs_it(tiny_set: Path) -> None:
    chosen = ["references=staging", f"references.root={tiny_set}"]
    plans = [build(compose([*chosen, f"executor={kind}"])) for kind in ("local", "processes", "ray")]
    assert len({run_key(plan, plan_code(plan)) for plan in plans}) == 1
    assert isinstance(plans[1].photos.executor, ProcessesExecutor)
    assert isinstance(plans[2].photos.executor, RayExecutor)


@pytest.mark.parametrize("cached", [True, False])
def test_seconds_of_workers_are_not_told_as_those_of_the_run(tiny_set: Path, tmp_path: Path, cached: bool) -> None:
    local = task(tiny_set, tmp_path / "one" if cached else None)
    other = replace(task(tiny_set, tmp_path / "two" if cached else None), executor=InlineExecutor())
    results = []
    for each in (local, other):
        each.load()
        results.append(each.evaluate(tmp_path, seed=0, quiet=True))
    assert scored(results[0]) == scored(results[1])
    assert results[0].predictions == results[1].predictions
    assert [any(name.startswith("runtime/") for name in result.metrics) for result in results] == [True, False]
    assert results[1].timing is not None, "whoever needs seconds has them measured by the run itself"
    assert "3 photos, " in results[1].tags["executor.workers"]


@on_ray
def test_ray_has_the_scorecards_of_a_local_run(cluster: str, tiny_set: Path, tmp_path: Path) -> None:
    results = []
    for executor in (LocalExecutor(), RayExecutor("local", 2, 2, 1)):
        made = replace(task(tiny_set, None), executor=executor)
        made.load()
        results.append(made.evaluate(tmp_path, seed=0, quiet=True))
    assert scored(results[0]) == scored(results[1])
    assert results[0].predictions == results[1].predictions


def test_no_cluster_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_ray_here(starts=True)  # as another test of this process needs it
    import ray

    def nobody(**_: object) -> None:
        raise ConnectionError("Could not find any running Ray instance")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", nobody)
    words = "executor.address=auto: no Ray cluster can be reached: Could not find any running Ray instance"
    with pytest.raises(HarnessError, match=words):
        connect("auto", None)
