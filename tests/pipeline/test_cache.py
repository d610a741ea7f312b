"""The stage cache: what is computed once is not computed again, and nothing wrong ever comes out of it."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from harness.base.cache import cache_dir
from harness.base.errors import HarnessError
from harness.pipeline.cache import FILE, CacheConfig, Entry, StageCache, StageUse, checksum, key_of
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Weights, check_models
from tests.mounts import full_disk, read_only


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


@dataclass(frozen=True)
class LateEye(Eye):
    """One that opens its models when they are first needed."""

    opened: list[str] = field(default_factory=list, compare=False)
    CHEAP: ClassVar = frozenset({*Eye.CHEAP, "opened"})

    def find_models(self) -> None:
        self.opened.append("found")

    def load(self) -> None:
        time.sleep(0.05)
        self.opened.append("opened")

    def __hash__(self) -> int:
        return 0


def test_models_open_where_the_cache_has_no_answer_and_outside_of_the_clock(cache: StageCache) -> None:
    eye = LateEye()
    check_models(eye)
    cold = Look(Photo(), cache)
    see(cold, eye)
    assert eye.opened == ["found", "opened"]
    assert cold.seconds["mean"] < 0.05
    see(Look(Photo(), cache), again := LateEye())
    assert again.opened == []


def test_an_answer_is_the_same_computed_kept_and_without_a_cache(cache: StageCache) -> None:
    """What JSON has no word for would come out otherwise only when it is read again."""
    looks = [Look(Photo(), cache), Look(Photo(), cache), Look(Photo())]
    answers = [look.see("odd", Eye(), None, lambda _: {1: (2, 3)}) for look in looks]
    assert answers == [{"1": [2, 3]}] * 3
    with pytest.raises(TypeError, match="JSON"):
        looks[2].see("odd", Eye(), None, lambda _: {1, 2})


def test_the_seconds_that_the_cache_keeps_are_not_told_as_those_of_a_later_look(cache: StageCache) -> None:
    cold, warm = Look(Photo(), cache), Look(Photo(), cache)
    for look in (cold, warm):
        look.see("slow", Eye(), None, lambda _: time.sleep(0.05))
    assert cold.seconds["slow"] >= 0.05
    assert warm.seconds == {}
    assert cache.stats()["slow"].seconds == pytest.approx(cold.seconds["slow"])


def test_a_question_that_comes_twice_in_one_look_is_no_answer_from_another_hour(cache: StageCache) -> None:
    look = Look(Photo(), cache)
    see(look, Eye())
    once = look.seconds["mean"]
    see(look, Eye())
    assert (look.hits, look.misses) == ({}, {"mean": 2})
    assert look.seconds == {"mean": 2 * once}


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


@pytest.mark.parametrize("what", ["seeing_identity", "decoder_key"])
def test_other_code_of_the_backend_or_of_the_decoder_shares_no_entry(
    cache: StageCache, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """tests/base/test_code.py says which code that is."""
    see(Look(Photo(), cache), Eye())
    same = Look(Photo(), cache)
    see(same, Eye())
    assert same.hits == {"mean": 1}
    monkeypatch.setattr(f"harness.pipeline.looks.{what}", lambda _: "other")
    other = Look(Photo(), cache)
    see(other, Eye())
    assert other.misses == {"mean": 1}


@dataclass(frozen=True)
class Modest(Eye):
    """It calls itself equal to another one of another scale."""

    scale: int = field(default=1, compare=False)


def test_a_field_counts_though_it_is_not_compared(cache: StageCache) -> None:
    assert Modest(scale=1) == Modest(scale=2)
    assert see(Look(Photo(), cache), Modest(scale=1)) == 7.0
    assert see(Look(Photo(), cache), Modest(scale=2)) == 14.0


def test_classes_of_one_name_in_two_modules_of_a_package_share_no_entry(
    cache: StageCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package imports both, so that both rest on the same sources."""
    code = f"from {__name__} import Eye as Base\nclass Eye(Base): pass\n"
    (tmp_path / "two_eyes").mkdir()
    (tmp_path / "two_eyes" / "__init__.py").write_text("from . import left, right")
    for side in ("left", "right"):
        (tmp_path / "two_eyes" / f"{side}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    for side in ("left", "right"):
        see(look := Look(Photo(), cache), importlib.import_module(f"two_eyes.{side}").Eye())
        assert look.misses == {"mean": 1}
    for name in ("two_eyes", "two_eyes.left", "two_eyes.right"):
        monkeypatch.delitem(sys.modules, name)


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


def secret(number: int) -> str:
    """What nobody may find in the file afterwards."""
    return f"vector-of-{number:03}-" * 400


def bytes_of(cache: StageCache) -> bytes:
    return b"".join(path.read_bytes() for path in cache.folder.iterdir())


def test_forgetting_photos_leaves_no_byte_of_their_entries_and_all_others(tmp_path: Path) -> None:
    cache = StageCache(tmp_path / "stages", limit_bytes=10_000_000)
    for number in range(6):
        for stage in ("face", "identity"):
            cache.put(f"{stage}-{number}", stage, Entry(secret(number), 0.1), f"{number % 3:064x}")
    cache.put("identity-0", "identity", Entry(secret(0), 0.2), f"{0:064x}")  # replaced: the old one lies in free pages
    cache.drop("face-3")
    assert cache.forget([f"{0:064x}", "f" * 64]) == 3
    assert not any(secret(number)[:14].encode() in bytes_of(cache) for number in (0, 3))
    left = {f"{stage}-{number}" for stage in ("face", "identity") for number in (1, 2, 4, 5)}
    assert {key for key in left if cache.get(key)} == left
    assert cache.forget([f"{0:064x}"]) == 0
    with closing(sqlite3.connect(cache.folder / FILE)) as database:
        assert database.execute("SELECT count(*) FROM photos").fetchone() == (8,)


def test_what_a_look_has_kept_can_be_forgotten_and_is_computed_anew(cache: StageCache) -> None:
    see(Look(Photo(), cache), Eye())
    assert cache.forget(["b" * 64]) == 0
    assert cache.forget([Photo().sha256]) == 1
    look = Look(Photo(), cache)
    see(look, Eye())
    assert look.misses == {"mean": 1}


def test_a_cache_that_was_never_used_has_nothing_to_forget_and_is_not_made(cache: StageCache) -> None:
    assert cache.forget(["a" * 64]) == 0
    assert not cache.folder.exists()


def test_a_file_of_the_version_before_opens_and_its_entries_stay(cache: StageCache) -> None:
    cache.folder.mkdir()
    with closing(sqlite3.connect(cache.folder / FILE)) as database:
        database.execute(
            "CREATE TABLE answers (key TEXT PRIMARY KEY, stage TEXT NOT NULL, value BLOB NOT NULL, "
            "seconds REAL NOT NULL, checksum BLOB NOT NULL, used REAL NOT NULL) WITHOUT ROWID"
        )
        row = ("k", "mean", b"1", 0.5, checksum("k", b"mean", b"1", 0.5), time.time())
        database.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", row)
        database.commit()
    assert cache.get("k") == Entry(1, 0.5)
    cache.put("l", "mean", Entry(2, 0.5), "a" * 64)
    assert cache.forget(["a" * 64]) == 1
    assert cache.get("k") == Entry(1, 0.5)


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
        monkeypatch.setattr("harness.pipeline.cache.local.time.time", lambda seconds=seconds: now + seconds)
        cache.put(key, "s", Entry("x" * 98, 0.0))
    monkeypatch.setattr("harness.pipeline.cache.local.time.time", lambda: now + read_after)
    cache.get("first")
    assert cache.prune() == 1
    assert [key for key in ("first", "second") if cache.get(key)] == [stays]


def test_what_is_dropped_is_given_back_to_the_disk(cache: StageCache) -> None:
    def pages() -> int:
        with closing(sqlite3.connect(cache.folder / FILE)) as database:
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


def database(cache: StageCache) -> closing[sqlite3.Connection]:
    """The file of a cache, as somebody else opens it."""
    return closing(sqlite3.connect(cache.folder / FILE, isolation_level=None))


def reopened(cache: StageCache) -> StageCache:
    """The same folder, as the next run opens it."""
    return StageCache(cache.folder, cache.limit_bytes)


DAMAGE = {
    "a flipped byte": "value = CAST(x'5b35392c325d' AS BLOB)",
    "cut short": "value = substr(value, 1, length(value) - 2)",
    "nothing left": "value = x''",
    "other JSON, as valid": "value = CAST('[4,2]' AS BLOB)",
    "text for bytes": "value = '[1,2]'",
    "other seconds": "seconds = seconds + 1",
    "no seconds": "seconds = 'long'",
    "another stage": "stage = 'other'",
    "no text": "stage = CAST(x'ff' AS TEXT)",
    "the entry of another photo": "key = 'other'",
    "no checksum": "checksum = x''",
}


@pytest.mark.parametrize("change", DAMAGE.values(), ids=DAMAGE)
def test_an_entry_that_fails_its_checksum_is_computed_anew_replaced_and_counted(
    cache: StageCache, capsys: pytest.CaptureFixture[str], change: str
) -> None:
    cache.put("key", "mean", Entry([1, 2], 0.5))
    cache.put("whole", "mean", Entry([3], 0.5))
    with database(cache) as file:
        file.execute(f"UPDATE answers SET {change} WHERE key = 'key'")
    damaged = "other" if change.startswith("key") else "key"
    assert (cache.get(damaged), cache.repaired) == (None, 1)
    cache.put(damaged, "mean", Entry([1, 2], 0.5))
    later = reopened(cache)
    assert later.get(damaged) == Entry([1, 2], 0.5)
    assert later.get("whole") == Entry([3], 0.5)
    assert later.repaired == 0
    assert capsys.readouterr().err == ""


def test_a_value_that_is_no_json_counts_as_damaged_though_its_checksum_is_right(cache: StageCache) -> None:
    cache.put("key", "mean", Entry([1, 2], 0.5))
    with database(cache) as file:
        proof = checksum("key", b"mean", b"[1,", 0.5)
        file.execute("UPDATE answers SET value = ?, checksum = ?", (b"[1,", proof))
    assert (cache.get("key"), cache.repaired) == (None, 1)


def test_a_byte_that_is_flipped_on_the_disk_is_noticed(cache: StageCache) -> None:
    cache.put("key", "mean", Entry("a long enough answer", 0.5))
    with database(cache) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = (cache.folder / FILE).read_bytes()
    assert content.count(b"long enough") == 1
    (cache.folder / FILE).write_bytes(content.replace(b"long enough", b"lonG enough"))
    later = reopened(cache)
    assert (later.get("key"), later.repaired) == (None, 1)


def test_the_parts_of_an_entry_do_not_run_into_each_other() -> None:
    assert checksum("key", b"a", b"bc", 0.0) != checksum("key", b"ab", b"c", 0.0)
    assert checksum("key", b"a", b"b", 0.0) != checksum("key", b"a", b"b", 0.5)


def cut(cache: StageCache) -> None:
    os.truncate(cache.folder / FILE, (cache.folder / FILE).stat().st_size // 2)


def overwrite(cache: StageCache) -> None:
    (cache.folder / FILE).write_bytes(b"no database at all " * 400)


@pytest.mark.parametrize("damage", [cut, overwrite])
def test_a_damaged_file_is_bypassed_with_one_warning_and_can_be_cleared(
    cache: StageCache, capsys: pytest.CaptureFixture[str], damage: Callable[[StageCache], None]
) -> None:
    fill(cache, *[1000] * 40)
    with database(cache) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    damage(cache)
    left = (cache.folder / FILE).read_bytes()
    later = reopened(cache)
    assert see(Look(Photo(), later), Eye()) == see(Look(Photo(), later), Eye(scale=1)) == 7.0
    assert later.prune() == 0
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith(f"harness: the stage cache in {cache.folder} cannot be used (")
    assert "this run computes everything anew; `harness cache clear` deletes it" in warning
    assert (cache.folder / FILE).read_bytes() == left, "what is left may still be worth something to somebody"
    with pytest.raises(HarnessError, match=r"cannot be read: .*`harness cache clear`"):
        later.stats()
    assert reopened(cache).clear() == 0
    assert see(Look(Photo(), cleared := reopened(cache)), Eye()) == 7.0
    assert cleared.stats()["mean"].entries == 1


def test_a_folder_that_cannot_be_made_is_bypassed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = StageCache(tmp_path / "file" / "stages", 10_000)
    assert see(Look(Photo(), cache), Eye()) == see(Look(Photo(), cache), Eye()) == 7.0
    (warning,) = capsys.readouterr().err.splitlines()
    assert "cannot be used (Not a directory); this run computes everything anew" in warning


def test_a_cache_that_stays_locked_is_read_and_not_written(
    cache: StageCache, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.pipeline.cache.local._PATIENCE_SECONDS", 0.05)
    see(Look(Photo(), cache), Eye())
    with database(cache) as other:
        other.execute("BEGIN IMMEDIATE")
        costly, warm = Look(Photo(), cache), Look(Photo(), cache)
        assert see(costly, Eye(scale=2)) == 14.0
        assert see(costly, Eye(scale=3)) == 21.0
        see(warm, Eye())
    assert warm.hits == {"mean": 1}
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning == (
        f"harness: the stage cache in {cache.folder} cannot be written (database is locked); "
        "this run does not keep what it computes"
    )


def test_the_file_of_a_version_without_checksums_is_not_read_and_goes(cache: StageCache) -> None:
    cache.folder.mkdir()
    with closing(sqlite3.connect(cache.folder / "stages.sqlite")) as former:
        former.execute("CREATE TABLE entries (key TEXT, stage TEXT, value BLOB, seconds REAL, used REAL)")
        former.execute("INSERT INTO entries VALUES ('key', 's', '1', 0.0, 0.0)")
        former.commit()
    assert cache.get("key") is None
    assert not (cache.folder / "stages.sqlite").exists()


USE = """
import sys
from pathlib import Path
from harness.pipeline.cache import Entry, StageCache, key_of
cache = StageCache(Path(sys.argv[1]), 10**9)
print([cache.get(key_of(number)) == Entry("x" * 1000, 0.0) for number in range(3)])
for number in range(300):
    cache.put(key_of("new", number), "s", Entry("x" * 1000, 0.0))
print(cache.prune())
"""


no_room = partial(full_disk, room_kb=0)


@pytest.mark.parametrize("in_use", [True, False], ids=["in use", "at rest"])
@pytest.mark.parametrize("disk", [read_only, full_disk, no_room], ids=["read-only", "fills up", "full"])
def test_a_disk_that_takes_nothing_still_gives_what_is_there(
    tmp_path: Path, disk: Callable[..., subprocess.CompletedProcess[str]], in_use: bool
) -> None:
    """At rest, SQLite has no file beside the database, and would need to make one in order to read."""
    folder = tmp_path / "stages"
    cache = StageCache(folder, 10**9)
    for number in range(3):
        cache.put(key_of(number), "s", Entry("x" * 1000, 0.0))
    if not in_use:
        cache._database.close()
    assert (folder / f"{FILE}-wal").exists() == in_use
    done = disk(folder, sys.executable, "-c", USE, str(folder))
    assert done.stdout.splitlines() == ["[True, True, True]", "0"], done.stderr
    (warning,) = done.stderr.splitlines()
    assert re.search(r"cannot be written \(.*(readonly|unable to open|full|I/O).*\); this run does not keep", warning)


def test_a_disk_without_room_for_the_file_is_bypassed(tmp_path: Path) -> None:
    (tmp_path / "stages").mkdir()
    done = no_room(tmp_path / "stages", sys.executable, "-c", USE, str(tmp_path / "stages"))
    assert done.stdout.splitlines() == ["[False, False, False]", "0"], done.stderr
    (warning,) = done.stderr.splitlines()
    assert "cannot be used (" in warning
    assert "this run computes everything anew" in warning
