"""What a signal leaves of a run, a sweep, a score and a search; and short slices of the soaks (`scripts/soak`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bench.soak.desk import Desk, make_desk

from tests.conftest import ROOT
from tests.servers import postgres_programs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.endings", str(tmp_path_factory.mktemp("endings"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_sigterm_ends_a_run_as_killed_and_the_next_goes_on_from_what_it_saw(endings: dict[str, Any]) -> None:
    told = endings["a_run"]
    assert (told["code"], told["status"]) == (128 + signal.SIGTERM, "KILLED")
    assert told["said"].splitlines()[-1] == "harness: ended by SIGTERM"
    assert 4 <= told["seen"] < 10
    assert told["again"] == 0
    words = f"Went on from run {told['id']}, which was killed: {told['seen']} of 10 photos came from the stage cache."
    assert told["went_on"] == [words]


def test_sighup_ends_a_sweep_whose_overview_names_what_is_missing_and_the_next_makes_only_that(
    endings: dict[str, Any],
) -> None:
    told = endings["a_sweep"]
    assert told["code"] == 128 + signal.SIGHUP
    assert told["missing"] == ["face.salt=2", "face.salt=3"]
    assert told["statuses"] == ["FINISHED", "KILLED"]
    assert (told["again"], told["reused"], told["missing_again"]) == (0, 1, False)
    assert told["statuses_again"] == ["FINISHED", "FINISHED", "FINISHED", "KILLED"]
    assert told["overviews"] == [2.0, 0.0]
    assert told["left"] == []


@pytest.mark.parametrize("what", ["a_score", "a_search"])
def test_sigterm_ends_the_run_of_other_commands_as_killed_too(endings: dict[str, Any], what: str) -> None:
    told = endings[what]
    assert told["code"] == 128 + signal.SIGTERM, told["said"]
    assert told["statuses"] == ["KILLED"]
    assert "Traceback" not in told["said"]


def test_the_workers_of_a_search_end_with_it_and_put_their_work_away(endings: dict[str, Any]) -> None:
    assert endings["a_searchs_workers"] == {"code": 128 + signal.SIGTERM, "ended": 2}


#: The second job of a sweep kills the worker that runs it, once the first job has come to its end. The third job, if it
#: was begun by then, goes on until its own worker is ended, so that it never comes to an end either.
KILLS = """
if [ "$SALT" = 2 ]; then
  until ls mlruns/sweeps/*/ended/0 >/dev/null 2>&1; do sleep 0.05; done
  kill -9 $PPID
fi
if [ "$SALT" = 3 ]; then
  while kill -0 $PPID 2>/dev/null; do sleep 0.05; done
fi
"""


def test_a_sweep_names_the_jobs_of_a_killed_worker_and_made_again_makes_only_those(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, photos=3)
    sweep = ("-m", *desk.overrides, "face.salt=1,2,3")
    killing = Desk(desk.folder, {"SOAK_HOOK": KILLS})
    first = killing.run(*sweep, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")
    assert first.returncode == 5, first.stderr
    assert "a worker of the sweep was killed" in first.stderr
    missing = [line for line in first.stderr.splitlines() if line.startswith("harness: missing: ")]
    assert [line.split()[2] for line in missing] == ["face.salt=2", "face.salt=3"]
    assert "RUNNING" not in desk.statuses().values()
    made = {run_id for run_id, status in desk.statuses(overviews=False).items() if status == "FINISHED"}
    assert len(made) == 1
    again = desk.run(*sweep)
    assert (again.returncode, "missing:" in again.stderr) == (0, False)
    after = desk.statuses(overviews=False)
    assert sum(status == "FINISHED" for status in after.values()) == 3
    assert made < {run_id for run_id, status in after.items() if status == "FINISHED"}
    assert again.stdout.count("Nothing has changed since this run was made") == 1


def soak(*arguments: str) -> None:
    command = [sys.executable, "-m", "bench.soak", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr


def test_kills_at_random_moments_leave_no_zombie_no_wrong_number_and_no_litter() -> None:
    soak("kills", "--size", "1", "--seed", "3")


def test_disks_that_fail_are_told_and_lose_nothing() -> None:
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0
    if not allowed and os.geteuid() == 0:
        pytest.skip("needs mounts in a namespace of their own, which this machine does not allow")
    soak("disks", "--size", "1", "--seed", "1")


def test_a_run_of_many_photos_ends_and_its_pages_open() -> None:
    soak("large", "--size", "100")


@pytest.mark.xdist_group("server")
def test_a_server_that_is_killed_for_ten_seconds_has_all_runs_in_the_end() -> None:
    if postgres_programs() is None:
        assert not os.environ.get("HARNESS_REQUIRE_POSTGRES")
        pytest.skip("needs PostgreSQL; scripts/test installs it where it can")
    soak("server", "--size", "10")
