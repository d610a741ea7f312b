"""The shared cache: what one machine computes another one finds, and nothing wrong ever comes out of it.

Machines are processes, or local caches in folders of their own. Every store keeps the same rules: a folder, object
storage in memory, and an S3 server.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ConfigError, HarnessError
from harness.config import build, compose
from harness.pipeline.cache import CacheConfig, Entry, StageCache, key_of
from harness.pipeline.cache.shared import SharedCache, SharedCacheConfig, packed, unpacked
from harness.pipeline.cache.stores import ANSWERS, FolderStore, open_store
from harness.pipeline.looks import Look
from harness.runs.plan import TaskResult
from harness.runs.records import plan_code, run_key
from tests.conftest import Harness
from tests.mounts import read_only
from tests.pipeline.test_cache import Eye, Photo, see
from tests.servers import free_port
from tests.tasks.photos.scored import evaluated, scored, task

PHOTO, OTHER = "a" * 64, "b" * 64


#: The stores that processes share.
REAL = ["folder", pytest.param("s3", marks=pytest.mark.xdist_group("s3"))]


@pytest.fixture(params=["memory", *REAL])
def uri(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store of each kind, with nothing in it."""
    if request.param == "memory":
        return f"memory://{secrets.token_hex(8)}"
    if request.param == "s3":
        for name, value in request.getfixturevalue("s3_environment").items():
            monkeypatch.setenv(name, value)
        return f"s3://race/{secrets.token_hex(8)}"
    (tmp_path / "mount").mkdir()
    return str(tmp_path / "mount")


@dataclass
class Machines:
    """Local caches in folders of their own, in front of one store."""

    root: Path
    uri: str
    faces: bool = False
    made: int = 0

    def new(self) -> SharedCache:
        self.made += 1
        config = SharedCacheConfig(True, str(self.root / f"machine{self.made}"), 10, uri=self.uri, faces=self.faces)
        opened = config.open()
        assert opened is not None
        return opened


@pytest.fixture
def machines(tmp_path: Path, uri: str) -> Machines:
    return Machines(tmp_path, uri)


def flip(cache: SharedCache, photo: str, key: str) -> None:
    """One bit of an entry in the store."""
    content = bytearray(cache.store.read(photo, key) or b"")
    content[len(content) // 2] ^= 1
    cache.store.write(photo, key, bytes(content))


def test_what_one_machine_computes_another_finds_and_keeps(machines: Machines) -> None:
    first = Look(Photo(), machines.new())
    assert (see(first, Eye()), first.size) == (7.0, (6, 4))
    second, photo = machines.new(), Photo()
    look = Look(photo, second)
    assert (see(look, Eye()), look.size, photo.decoded) == (7.0, (6, 4), 0)
    assert look.hits == {"mean": 1}
    assert StageCache(second.folder, 10_000).stats()["mean"].entries == 1
    third = machines.new()
    see(Look(Photo(), third), Eye(scale=2))
    assert third.repaired == 0


def test_a_flipped_byte_in_the_store_is_computed_anew_replaced_and_counted(machines: Machines) -> None:
    first = machines.new()
    first.put("key", "mean", Entry([1, 2], 0.5), PHOTO)
    flip(first, PHOTO, "key")
    second = machines.new()
    assert (second.get("key", "mean", PHOTO), second.repaired) == (None, 1)
    second.put("key", "mean", Entry([1, 2], 0.5), PHOTO)
    third = machines.new()
    assert (third.get("key", "mean", PHOTO), third.repaired) == (Entry([1, 2], 0.5), 0)


@given(st.data())
def test_no_changed_cut_or_misplaced_entry_is_taken(data: st.DataObject) -> None:
    value = data.draw(st.one_of(st.lists(st.floats(allow_nan=False)), st.text(), st.dictionaries(st.text(), st.text())))
    entry = Entry(value, data.draw(st.floats(0, 1e6)))
    content = packed("key", "stage", entry)
    assert unpacked("key", content) == ("stage", entry)
    assert unpacked("other", content) is None
    place = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    changed[place] ^= data.draw(st.integers(1, 255))
    assert unpacked("key", bytes(changed)) is None
    assert unpacked("key", content[:place]) is None
    assert unpacked("key", content + b" ") is None


def test_an_answer_that_an_audit_drops_is_gone_for_all(machines: Machines) -> None:
    first = machines.new()
    first.put("key", "mean", Entry([1], 0.5), PHOTO)
    second = machines.new()
    assert second.get("key", "mean", PHOTO)
    second.drop("key", PHOTO)
    assert second.get("key", "mean", PHOTO) is None
    assert machines.new().get("key", "mean", PHOTO) is None


FILL = """
import sys
from harness.pipeline.cache import Entry, key_of
from harness.pipeline.cache.shared import SharedCacheConfig
cache = SharedCacheConfig(True, sys.argv[1], 100, uri=sys.argv[2]).open()
for number in range(int(sys.argv[3])):
    cache.put(key_of(number), "s", Entry([number] * 5000, number / 8), f"{number % 7:064x}")
    if number == 10:
        print("going", flush=True)
"""


@pytest.mark.parametrize("uri", REAL, indirect=True)
def test_two_processes_fill_one_store_and_one_is_killed(machines: Machines, tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILL]
    victim = subprocess.Popen([*command, str(tmp_path / "v"), machines.uri, "20000"], stdout=subprocess.PIPE)
    survivor = subprocess.Popen([*command, str(tmp_path / "s"), machines.uri, "60"], stdout=subprocess.DEVNULL)
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"going\n"
    time.sleep(0.05)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    assert survivor.wait(timeout=120) == 0
    cache = machines.new()
    kept = {name for photo in range(7) for name in cache.store.names(f"{photo:064x}")}
    there = [number for number in range(20_000) if number < 60 or key_of(number) in kept]
    for number in there[:70] + there[-10:]:
        assert cache.get(key_of(number), "s", f"{number % 7:064x}") == Entry([number] * 5000, number / 8)
    assert cache.repaired == 0


def test_a_file_that_was_never_finished_goes_after_a_day(tmp_path: Path) -> None:
    beside = tmp_path / ANSWERS / "unfinished"
    beside.mkdir(parents=True)
    for name, age in (("old", 100_000), ("new", 10)):
        (beside / name).write_bytes(b"half")
        os.utime(beside / name, (time.time() - age, time.time() - age))
    FolderStore(tmp_path).write(PHOTO, "key", b"content")
    assert [path.name for path in beside.iterdir()] == ["new"]


class TestPersonal:
    """Vectors of faces go there only where the user says so, and `forget` reaches them."""

    VECTOR = Entry(np.arange(4, dtype=np.float32), 0.1)

    def test_neither_what_a_recogniser_saw_nor_any_array_goes_to_the_store(self, machines: Machines) -> None:
        first = machines.new()
        first.put("vector", "identity", self.VECTOR, PHOTO)
        first.put("list", "identity", Entry([0.1, 0.2], 0.1), PHOTO)
        first.put("array", "own_stage", self.VECTOR, PHOTO)
        first.put("face", "face", Entry([1], 0.1), PHOTO)
        assert first.get("vector", "identity", PHOTO) is not None
        assert first.store.names(PHOTO) == {"face"}
        second = machines.new()
        assert second.get("vector", "identity", PHOTO) is second.get("list", "identity", PHOTO) is None

    def test_with_faces_they_go_there_and_forget_removes_them(self, machines: Machines) -> None:
        sharing = replace(machines, faces=True)
        first = sharing.new()
        first.put("vector", "identity", self.VECTOR, PHOTO)
        first.put("other", "identity", self.VECTOR, OTHER)
        found = sharing.new().get("vector", "identity", PHOTO)
        assert found is not None
        assert np.array_equal(found.value, self.VECTOR.value)
        assert first.forget([PHOTO]) == 2, "one here and one there"
        assert first.store.names(PHOTO) == frozenset()
        assert sharing.new().get("vector", "identity", PHOTO) is None
        assert sharing.new().get("other", "identity", OTHER) is not None

    def test_the_command_reaches_the_store(self, tmp_path: Path, tiny_set: Path, harness: Harness) -> None:
        (tmp_path / "mount").mkdir()
        chosen = ["cache=shared", f"cache.uri={tmp_path / 'mount'}"]
        store = FolderStore(tmp_path / "mount")
        (photo,) = [path.stem for path in (tiny_set / "photos").iterdir() if b"P001" in index_of(tiny_set, path.stem)]
        store.write(photo, "key", packed("key", "identity", self.VECTOR))
        done = harness("forget", "P001", "--yes", f"references.root={tiny_set}", *chosen)
        assert done.code == 0, done.err
        assert "1 cached answer about" in done.out
        assert store.names(photo) == frozenset()

    def test_a_store_that_cannot_be_reached_is_told_and_nothing_is_forgotten(
        self, tmp_path: Path, tiny_set: Path, harness: Harness
    ) -> None:
        gone = f"cache.uri={tmp_path / 'gone'}"
        told = harness("forget", "P001", "--yes", f"references.root={tiny_set}", "cache=shared", gone)
        assert told.code == 1
        assert (
            f"{tmp_path / 'gone'}: what it keeps of these photos cannot be wiped: there is no such folder" in told.err
        )
        assert b"P001" in (tiny_set / "face_ground_truth.json").read_bytes()


def index_of(root: Path, sha256: str) -> bytes:
    """What the index of a set says about a photo."""
    return json.dumps(json.loads((root / "photo_index.json").read_bytes())["photos"][sha256]).encode()


def test_clear_drops_all_entries_and_nothing_else(machines: Machines) -> None:
    first = machines.new()
    first.put("key", "s", Entry(1, 0.0), PHOTO)
    first.put("key2", "s", Entry(1, 0.0), OTHER)
    first.put("key3", "s", Entry(1, 0.0))
    if isinstance(first.store, FolderStore):
        (first.store.root / "mine.txt").write_text("mine")
    assert first.clear() == 6
    assert machines.new().get("key", "s", PHOTO) is None
    if isinstance(first.store, FolderStore):
        assert (first.store.root / "mine.txt").exists()


class TestOutOfReach:
    """A store that fails costs a warning, and neither a photo nor a number."""

    def warned(self, cache: SharedCache, capsys: pytest.CaptureFixture[str]) -> str:
        assert [see(Look(Photo(), cache), Eye(scale=scale)) for scale in (1, 2, 3)] == [7.0, 14.0, 21.0]
        (warning,) = capsys.readouterr().err.splitlines()
        assert warning.startswith(f"harness: the shared cache at {cache.uri} cannot be ")
        assert StageCache(cache.folder, 10_000).stats()["mean"].entries == 3, "the local cache goes on"
        return warning

    def test_a_mount_that_is_gone(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        warning = self.warned(Machines(tmp_path, str(tmp_path / "gone")).new(), capsys)
        assert warning.endswith("cannot be reached (there is no such folder); this run goes on without it")
        assert not (tmp_path / "gone").exists()

    def test_a_file_in_the_way(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (tmp_path / "file").write_text("")
        self.warned(Machines(tmp_path, str(tmp_path / "file")).new(), capsys)

    def test_a_server_that_is_gone(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
        assert "cannot be reached" in self.warned(Machines(tmp_path, "s3://race/x").new(), capsys)

    def test_a_mount_that_takes_nothing_still_gives_what_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "mount").mkdir()
        Machines(tmp_path, str(tmp_path / "mount")).new().put("key", "s", Entry("x", 0.5), PHOTO)
        done = read_only(
            tmp_path / "mount", sys.executable, "-c", USE, str(tmp_path / "local"), str(tmp_path / "mount")
        )
        assert done.stdout.splitlines() == ["Entry(value='x', seconds=0.5)"], done.stderr
        (warning,) = done.stderr.splitlines()
        assert "cannot be written (" in warning
        assert "this run adds nothing to it" in warning


USE = """
import sys
from harness.pipeline.cache import Entry
from harness.pipeline.cache.shared import SharedCacheConfig
cache = SharedCacheConfig(True, sys.argv[1], 100, uri=sys.argv[2]).open()
for number in range(3):
    cache.put(f"new{number}", "s", Entry(1, 0.0), "a" * 64)
print(cache.get("key", "s", "a" * 64))
"""


class TestScorecards:
    """A run scores the same, whatever happens to the store."""

    def run(self, root: Path, folder: Path, uri: str) -> TaskResult:
        made = replace(task(root, folder), cache=SharedCacheConfig(True, str(folder), 100, 1.0, uri=uri))
        made.load()
        return made.evaluate(root, seed=0, quiet=True)

    @pytest.mark.parametrize("uri", REAL, indirect=True)
    def test_cold_warm_and_after_flipped_bytes(self, tiny_set: Path, tmp_path: Path, machines: Machines) -> None:
        cold = scored(evaluated(tiny_set, None))
        first = self.run(tiny_set, tmp_path / "one", machines.uri)
        second = self.run(tiny_set, tmp_path / "two", machines.uri)
        assert scored(first) == scored(second) == cold
        assert second.metrics["cache/face_hits"] == 3
        assert "cache/repaired" not in second.metrics
        assert second.audit is not None
        assert not second.audit().differences
        client = machines.new()
        photos = [path.stem for path in (tiny_set / "photos").iterdir()]
        damaged = [(photo, key) for photo in photos for key in client.store.names(photo)]
        for photo, key in damaged:
            flip(client, photo, key)
        third = self.run(tiny_set, tmp_path / "three", machines.uri)
        assert scored(third) == cold
        assert third.metrics["cache/repaired"] == len(damaged) > 6
        fourth = self.run(tiny_set, tmp_path / "four", machines.uri)
        assert "cache/repaired" not in fourth.metrics, "they were replaced"


def test_a_run_has_the_same_key_whatever_its_cache(tiny_set: Path) -> None:
    chosen = ["references=staging", f"references.root={tiny_set}"]
    plans = [build(compose([*chosen, *cache])) for cache in ([], ["cache=off"], ["cache=shared", "cache.uri=/mnt"])]
    assert len({run_key(plan, plan_code(plan)) for plan in plans}) == 1
    code = plan_code(plans[2])
    assert "harness.pipeline.cache.local" in code.sources
    assert "harness.pipeline.cache.shared" not in code.sources
    assert "fsspec" not in code.direct


def test_a_store_has_to_be_named(harness: Harness) -> None:
    told = harness("cache", "stats", "cache=shared")
    assert told.code == 2
    assert "cache" in told.err
    assert "uri" in told.err


def test_a_password_in_an_address_is_refused_since_it_would_be_logged() -> None:
    with pytest.raises(ConfigError, match="it has a password"):
        open_store("sftp://me:secret@host/x")


def test_stats_say_where_both_are(tmp_path: Path, harness: Harness) -> None:
    (tmp_path / "mount").mkdir()
    told = harness("cache", "stats", "cache=shared", f"cache.uri={tmp_path / 'mount'}")
    assert f"in front of {tmp_path / 'mount'}" in told.out


def test_a_store_that_cannot_be_cleared_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Machines(tmp_path, str(tmp_path / "file")).new()
    cache.put("key", "s", Entry(1, 0.0), PHOTO)
    with pytest.raises(HarnessError, match="cannot be cleared"):
        cache.clear()


def test_switched_off_it_is_none() -> None:
    config: Any = SharedCacheConfig(False, None, 1, uri="/nowhere")
    assert isinstance(config, CacheConfig)
    assert config.open() is None
