"""The stage cache: what is computed once is not computed again, and nothing wrong ever comes out of it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from harness.base.cache import cache_dir
from harness.pipeline.cache import CacheConfig, Entry, StageCache, StageUse, key_of
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights


@dataclass(frozen=True)
class Eye:
    """A backend that sees the mean of a photo, `scale` times; its threshold is cheap."""

    CHEAP: ClassVar = frozenset({"threshold", "models"})

    scale: int = 1
    threshold: float = 0.5
    models: tuple[Weights, ...] = ()


@dataclass
class Photo:
    sha256: str = "a" * 64
    decoded: int = field(default=0, compare=False)

    @property
    def image(self) -> Image:
        self.decoded += 1
        return np.full((4, 6, 3), 7, dtype=np.uint8)


def see(look: Look, eye: Eye) -> Any:
    return look.see("mean", eye, None, lambda image: float(image.mean()) * eye.scale)


@pytest.fixture
def cache(tmp_path: Path) -> StageCache:
    return StageCache(tmp_path / "stages", limit_bytes=10_000)


def test_a_second_look_costs_nothing_and_decodes_nothing(cache: StageCache) -> None:
    first, second = Look(Photo(), cache), Look(photo := Photo(), cache)
    assert see(first, Eye()) == see(second, Eye()) == 7.0
    assert first.size == second.size == (6, 4)
    assert (first.misses, second.hits) == ({"mean": 1}, {"mean": 1})
    assert photo.decoded == 0


def test_a_warm_run_tells_the_seconds_of_the_cold_one(cache: StageCache) -> None:
    slow = Look(Photo(), cache)
    slow.see("slow", Eye(), None, lambda _: time.sleep(0.05))
    warm = Look(Photo(), cache)
    warm.see("slow", Eye(), None, lambda _: None)
    assert warm.seconds == slow.seconds
    assert warm.seconds["slow"] >= 0.05


def test_a_cheap_field_shares_an_entry_and_a_costly_one_does_not(cache: StageCache) -> None:
    see(Look(Photo(), cache), Eye())
    cheap, costly, other = (Look(Photo(), cache) for _ in range(3))
    see(cheap, replace(Eye(), threshold=0.9))
    assert see(costly, replace(Eye(), scale=2)) == 14.0
    assert cheap.hits == {"mean": 1}
    assert costly.misses == {"mean": 1}
    other.photo = Photo(sha256="b" * 64)
    see(other, Eye())
    assert other.misses == {"mean": 1}


def test_other_weights_under_the_same_configuration_share_no_entry(cache: StageCache) -> None:
    see(Look(Photo(), cache), Eye())
    other = Look(Photo(), cache)
    see(other, replace(Eye(), models=(Weights("package", "eye.onnx", "0" * 64, "MIT", "package"),)))
    assert other.misses == {"mean": 1}


PACKAGES = ("numpy", "opencv-python-headless", "onnxruntime", "rapidocr", "insightface", "pillow")


@pytest.mark.parametrize("package", PACKAGES)
def test_another_version_of_a_package_shares_no_entry(
    cache: StageCache, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    see(Look(Photo(), cache), Eye())

    def changed(name: str) -> str:
        return "0.0.0" if name == package else version(name)

    monkeypatch.setattr("harness.pipeline.looks.version", changed)
    other = Look(Photo(), cache)
    # The threshold is cheap and not in the key. It makes another backend of it: versions are looked up once a backend.
    see(other, Eye(threshold=0.6 + PACKAGES.index(package) / 100))
    assert other.misses == {"mean": 1}


def test_the_order_of_a_configuration_does_not_change_a_key() -> None:
    assert key_of({"scale": 1, "side": 640}) == key_of({"side": 640, "scale": 1})
    assert key_of({"scale": 1}, "mean") != key_of("mean", {"scale": 1})


def test_the_configuration_says_whether_where_and_up_to_what_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "home"))
    named = str(tmp_path / "not" / "there" / "yet")
    assert CacheConfig(enabled=True, folder=named, limit_mb=3).open() == StageCache(Path(named), 3_000_000)
    assert CacheConfig(enabled=True, folder=None, limit_mb=1).open() == StageCache(cache_dir() / "stages", 1_000_000)
    assert CacheConfig(enabled=False, folder=named, limit_mb=3).open() is None
    StageCache(Path(named), 1).put("key", "s", Entry(1, 0.0))
    assert StageCache(Path(named), 1).get("key") == Entry(1, 0.0)


def test_a_cache_that_one_thread_opened_answers_in_another(cache: StageCache) -> None:
    cache.put("key", "s", Entry(1, 0.0))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(cache.get, "key").result() == Entry(1, 0.0)


def test_stats_count_entries_bytes_and_seconds_by_stage(cache: StageCache) -> None:
    cache.put("a", "mean", Entry([1, 2], 0.5))
    cache.put("b", "mean", Entry([], 0.25))
    cache.put("c", "size", Entry(None, 0.0))
    assert cache.stats() == {"mean": StageUse(2, len("[1,2]") + len("[]"), 0.75), "size": StageUse(1, 4, 0.0)}
    assert cache.clear() == 3
    assert cache.stats() == {}


def test_without_a_cache_everything_is_computed() -> None:
    look = Look(Photo())
    assert see(look, Eye()) == 7.0
    assert look.misses == {"mean": 1}


def test_the_least_lately_used_entries_go_when_the_limit_is_passed(cache: StageCache) -> None:
    for number in range(30):
        cache.put(key_of(number), "big", Entry("x" * 1000, 0.0))
        time.sleep(0.001)
    assert cache.prune() > 0
    assert cache.get(key_of(0)) is None
    assert cache.get(key_of(29)) == Entry("x" * 1000, 0.0)
    assert sum(use.bytes for use in cache.stats().values()) <= cache.limit_bytes
    assert cache.clear() == 8


def fill(cache: StageCache, *sizes: int) -> None:
    """Entries of so many bytes, named by their place."""
    for place, size in enumerate(sizes):
        cache.put(str(place), "s", Entry("x" * (size - 2), 0.0))


def test_a_cache_that_is_just_full_keeps_everything(cache: StageCache) -> None:
    fill(cache, *[100] * 100)
    assert cache.prune() == 0
    assert cache.stats()["s"].bytes == cache.limit_bytes


@pytest.mark.parametrize(("last", "gone"), [(100, 11), (101, 12)])
def test_a_cache_that_is_over_its_limit_is_emptied_down_to_nine_tenths(cache: StageCache, last: int, gone: int) -> None:
    fill(cache, *[100] * 100, last)
    assert cache.prune() == gone
    assert cache.stats()["s"].bytes == 10_000 + last - gone * 100 <= 0.9 * cache.limit_bytes


@pytest.mark.parametrize(("read_after", "stays"), [(60.0, "second"), (60.5, "first")])
def test_an_entry_counts_as_used_again_when_it_is_read_more_than_a_minute_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_after: float, stays: str
) -> None:
    cache, now = StageCache(tmp_path, limit_bytes=150), 1_000_000.0
    for seconds, key in ((0.0, "first"), (30.0, "second")):
        monkeypatch.setattr("harness.pipeline.cache.time.time", lambda seconds=seconds: now + seconds)
        cache.put(key, "s", Entry("x" * 98, 0.0))
    monkeypatch.setattr("harness.pipeline.cache.time.time", lambda: now + read_after)
    cache.get("first")
    assert cache.prune() == 1
    assert [key for key in ("first", "second") if cache.get(key)] == [stays]


def test_what_is_dropped_is_given_back_to_the_disk(cache: StageCache) -> None:
    def pages() -> int:
        with closing(sqlite3.connect(cache.folder / "stages.sqlite")) as database:
            return int(database.execute("PRAGMA page_count").fetchone()[0])

    fill(cache, *[1000] * 100)
    full = pages()
    cache.prune()
    assert pages() < full / 2
    fill(cache, *[1000] * 100)
    cache.clear()
    assert pages() < full / 10


FILL = """
import sys
from pathlib import Path
from harness.pipeline.cache import Entry, StageCache, key_of
cache = StageCache(Path(sys.argv[1]), 10**9)
for number in range(int(sys.argv[2])):
    cache.put(key_of(number), "s", Entry([number] * 50, number / 8))
    if number == 20:
        print("going", flush=True)
"""


def test_two_processes_fill_one_cache_and_one_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILL, str(tmp_path)]
    victim = subprocess.Popen([*command, "1000000"], stdout=subprocess.PIPE, env=os.environ, text=True)
    survivor = subprocess.Popen([*command, "2000"], env=os.environ)
    assert victim.stdout is not None
    assert victim.stdout.readline() == "going\n"
    time.sleep(0.1)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    assert survivor.wait(timeout=120) == 0
    cache = StageCache(tmp_path, 10**9)
    for number in range(2000):
        assert cache.get(key_of(number)) == Entry([number] * 50, number / 8)
    assert cache.stats()["s"].entries >= 2000
