"""Disks that are full, a database that is cut short, a store that is read-only: each is told in one sentence, ends with
an exit code, and harms neither labels nor earlier runs; what was computed is logged once the disk is well again.

Each scenario runs in a fork with mounts of its own, which nothing else sees.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.soak.children import fork, harness, import_everything
from bench.soak.desk import Desk, make_desk

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000


def own_mounts() -> None:
    """Give this process mounts of its own. Raises OSError where the machine does not allow it."""
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_MOUNTS | (_NEW_USER if user else 0)):
        raise OSError(ctypes.get_errno(), "this machine allows no mounts of one's own")
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _shell("mount --make-rprivate /")


def _shell(script: str) -> None:
    subprocess.run(["sh", "-c", script], check=True, capture_output=True)


def small_disk(folder: Path, room_kb: int) -> None:
    """Put a folder, as it is, on a disk of its own with so much room left."""
    copy = folder.with_name(f"{folder.name}-copy")
    shutil.copytree(folder, copy)
    used = sum((path.stat().st_size + 8191) // 4096 * 4 for path in copy.rglob("*"))
    _shell(f"mount -t tmpfs -o size={used + room_kb + 64}k tmpfs {folder}")
    shutil.copytree(copy, folder, dirs_exist_ok=True)
    shutil.rmtree(copy)


def fill(folder: Path, room_kb: int) -> str:
    """A command that leaves so much room on the disk of a folder."""
    ballast = folder / "ballast"
    return f"cat /dev/zero > {ballast} 2>/dev/null; truncate -s -{room_kb}K {ballast}"


@dataclass
class Scene:
    """A scenario inside its fork: calls the harness, and notes what does not hold."""

    desk: Desk
    wrong: list[str] = field(default_factory=list)

    def call(self, *arguments: str, **variables: str) -> tuple[int, str]:
        """`harness ...` as a process of its own, on the same mounts: its exit code, and what it said."""
        said = self.desk.folder.parent / "said.txt"
        child = harness(self.desk.folder, said, arguments, variables)
        return child.wait(), child.output

    def refused(self, *arguments: str, **variables: str) -> str:
        """The one sentence with which a command ends that cannot be done."""
        code, err = self.call(*arguments, **variables)
        told = sentences(err)
        if not code or len(told) != 1 or "Traceback" in err:
            self.wrong.append(f"{arguments[0]}: expected one sentence and an exit code, got {code}: {err[-800:]}")
        return told[-1] if told else ""

    def unharmed(self, what: str, before: Any, after: Any) -> None:
        """Note where something is no longer as it was."""
        if before != after:
            self.wrong.append(f"{what}: {str(before)[:200]} has become {str(after)[:200]}")

    def finished(self) -> list[str]:
        """The runs that came to an end."""
        return [run_id for run_id, status in self.desk.statuses().items() if status == "FINISHED"]

    def logged_later(self, earlier: str) -> None:
        """Once the disk is well again: the earlier run is as it was, and a run that was kept is logged whole."""
        for command in (("log", "--all"), ("list",)):
            code, said = self.call(*command)
            if code:
                self.wrong.append(f"{command[0]}: {said[-800:]}")
        runs = self.desk.statuses()
        self.unharmed("the earlier run", "FINISHED", runs.pop(earlier, "gone"))
        if "RUNNING" in runs.values():
            self.wrong.append(f"a run is still RUNNING: {runs}")
        expected = self.desk.scores(earlier)
        for run_id, status in runs.items():
            if status == "FINISHED":
                self.unharmed(f"the scores of run {run_id}", expected, self.desk.scores(run_id))


def sentences(said: str) -> list[str]:
    """What a command says went wrong; that the report cannot show earlier runs is told by the way."""
    lines = [line for line in said.splitlines() if line.startswith("harness: ")]
    return [line for line in lines if not line.startswith("harness: the report leaves out the runs before")]


def digest(folder: Path) -> dict[str, str]:
    """The content of every file of a folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ("ballast", ".lock"))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def full_store(scene: Scene, earlier: str, room_kb: int) -> None:
    """The disk of mlruns is full from the middle of a run on, with more or less room."""
    mlruns = scene.desk.folder / "mlruns"
    small_disk(mlruns, 4096)
    settings = ("force=true", "face.salt=1", "tracking.patience=1")
    code, err = scene.call(*scene.desk.overrides, *settings, SOAK_HOOK=fill(mlruns, room_kb))
    told = sentences(err)
    if "Traceback" in err or (code and len(told) != 1):
        scene.wrong.append(f"full store with room for {room_kb} kB: {code}: {err[-800:]}")
    (mlruns / "ballast").unlink()
    if code == 7 and len(list((scene.desk.folder / "cache" / "pending").glob("[!.]*"))) != 1:
        scene.wrong.append(f"full store with room for {room_kb} kB: no pending run")
    scene.logged_later(earlier)
    if len(scene.finished()) != 2:
        scene.wrong.append(f"full store with room for {room_kb} kB: the run is lost: {told}")


def store_full_at_once(scene: Scene, earlier: str, _: int) -> None:
    """Nothing can even be begun."""
    mlruns = scene.desk.folder / "mlruns"
    small_disk(mlruns, 256)
    _shell(fill(mlruns, 0))
    scene.refused(*scene.desk.overrides, "force=true", "tracking.patience=1")
    (mlruns / "ballast").unlink()
    scene.logged_later(earlier)


def full_temporary(scene: Scene, earlier: str, room_kb: int) -> None:
    """The disk of the temporary folder is full from the middle of a run on."""
    folder = scene.desk.folder / "tmp"
    folder.mkdir(exist_ok=True)
    small_disk(folder, 4096)
    os.environ["TMPDIR"] = str(folder)
    said = scene.refused(*scene.desk.overrides, "force=true", "face.salt=2", SOAK_HOOK=fill(folder, room_kb % 32))
    if "TMPDIR" not in said and "all of it is kept" not in said:
        scene.wrong.append(f"full temporary folder: {said}")
    (folder / "ballast").unlink()
    scene.logged_later(earlier)
    scene.unharmed("the temporary folder", [], [path.name for path in folder.iterdir()])


def full_freeze(scene: Scene, _: str, room_kb: int) -> None:
    """The disk of the reference set is full when it is frozen."""
    before = digest(scene.desk.photos)
    small_disk(scene.desk.photos, 4096)
    _shell(fill(scene.desk.photos, room_kb % 24))
    scene.refused("freeze", "--name", "v1", "--for", "faces", f"references.root={scene.desk.photos}")
    (scene.desk.photos / "ballast").unlink()
    scene.unharmed("the labels", before, digest(scene.desk.photos))
    code, err = scene.call("freeze", "--name", "v1", "--for", "faces", f"references.root={scene.desk.photos}")
    if code:
        scene.wrong.append(f"freezing again: {err[-300:]}")


def truncated_database(scene: Scene, earlier: str, room_kb: int) -> None:
    """The database is cut short: in the middle of a run, and before one."""
    database = scene.desk.folder / "mlruns" / "mlflow.db"
    whole = database.with_name("whole.db")
    copy = f"import sqlite3; sqlite3.connect('{database}').backup(sqlite3.connect('{whole}'))"
    cut = f'{sys.executable} -c "{copy}"; rm -f {database}-wal {database}-shm; truncate -s {12288 + room_kb} {database}'
    said = scene.refused(*scene.desk.overrides, "force=true", "face.salt=3", "tracking.patience=1", SOAK_HOOK=cut)
    if "all of it is kept in" not in said:
        scene.wrong.append(f"truncated database: {said}")
    scene.refused(*scene.desk.overrides, "force=true", "tracking.patience=1")
    scene.refused("list")
    for name in ("-wal", "-shm"):
        Path(f"{database}{name}").unlink(missing_ok=True)
    whole.replace(database)
    scene.logged_later(earlier)
    if len(scene.finished()) != 2:
        scene.wrong.append("truncated database: the run is lost")


def read_only_store(scene: Scene, *_unused: object) -> None:
    """Nothing can be written to the store."""
    mlruns = scene.desk.folder / "mlruns"
    before = digest(mlruns)
    _shell(f"mount --bind {mlruns} {mlruns} && mount -o remount,bind,ro {mlruns}")
    scene.refused(*scene.desk.overrides, "force=true")
    code, err = scene.call("list")
    if "Traceback" in err:
        scene.wrong.append(f"list on a read-only store: {code}: {err[-500:]}")
    scene.unharmed("the store", before, digest(mlruns))


Scenario = Callable[[Scene, str, int], None]
SCENARIOS: Sequence[Scenario] = (
    *(full_store, store_full_at_once, full_temporary, full_freeze, truncated_database, read_only_store),
)


def soak_disks(folder: Path, rounds: int, seed: int, scenarios: Sequence[Scenario] = SCENARIOS) -> list[str]:
    """Every scenario so many times, with more or less room; returns what was wrong."""
    import_everything()
    first = make_desk(folder / "first", photos=4)
    made = fork(first.folder, folder / "first.txt", lambda: _first(first), **first.variables)
    if made.wait():
        return [made.output]
    (earlier,) = first.statuses()
    rng, wrong = random.Random(seed), []
    for number in range(rounds):
        for scenario in scenarios:
            room_kb = rng.choice([0, 4, rng.randrange(0, 64), rng.randrange(0, 1024)])
            wrong += _play(first, folder, f"{scenario.__name__}-{number}", scenario, earlier, room_kb)
    print(f"{rounds} rounds of {', '.join(scenario.__name__ for scenario in scenarios)}", flush=True)
    return wrong


def _first(desk: Desk) -> int:
    from harness.__main__ import run

    return run([*desk.overrides])


def _play(first: Desk, folder: Path, name: str, scenario: Scenario, earlier: str, room_kb: int) -> list[str]:
    """One scenario, in the place of the first desk: MLflow keeps absolute paths."""
    notes = folder / f"{name}.json"

    def work() -> int:
        own_mounts()
        saved = folder / "saved"
        shutil.copytree(first.folder, saved)
        _shell(f"mount --bind {saved} {first.folder}")
        os.chdir(first.folder)
        scene = Scene(first)
        scenario(scene, earlier, room_kb)
        notes.write_text(json.dumps(scene.wrong))
        return 0

    child = fork(first.folder, folder / f"{name}.txt", work, **first.variables)
    code = child.wait()
    shutil.rmtree(folder / "saved", ignore_errors=True)
    if code:
        return [f"{name}: {child.output[-1500:]}"]
    return [f"{name}, room for {room_kb} kB: {text}" for text in json.loads(notes.read_text())]
