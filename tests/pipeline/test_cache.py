"""The stage cache: what is computed once is not computed again, and nothing wrong ever comes out of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from harness.pipeline.cache import Entry, StageCache, key_of
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
    assert cache.clear() == sum(1 for number in range(30) if number > 20) or cache.stats() == {}


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
