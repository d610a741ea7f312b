"""Hydra's launchers: two real runs by each of them, and the overview of the sweep after both."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.app import _ray_overrides
from tests.conftest import ROOT
from tests.test_command_line import stored_runs

LOOPBACK = "++hydra.launcher.ray.init._node_ip_address=127.0.0.1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "launcher",
    ["joblib hydra.launcher.n_jobs=2", "submitit_local", pytest.param("ray", marks=pytest.mark.xdist_group("ray"))],
)
def test_two_runs_and_their_overview(launcher: str, work: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    chosen = [f"hydra/launcher={launcher.split()[0]}", *launcher.split()[1:]]
    if launcher == "ray":
        chosen.append(f"hydra.launcher.ray.init.address={request.getfixturevalue('cluster')}")
    environment = {**os.environ, "HARNESS_CACHE": str(tmp_path / "cache")}
    arguments = ["-m", "references=off", "confidence=sample", "seed=1,2", *chosen]
    documented = [argument for argument in arguments if "init.address" not in argument]
    assert f"    harness {' '.join(documented)}\n" in (ROOT / "docs" / "scale.md").read_text()
    command = [sys.executable, "-m", "harness", *arguments]
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    runs = stored_runs(work)
    assert sorted(run.data.params["seed"] for run in runs) == ["1", "2"]
    assert {run.info.status for run in runs} == {"FINISHED"}
    (overview,) = stored_runs(work, "sweeps")
    assert overview.data.metrics["jobs"] == 2
    assert overview.info.start_time >= max(run.info.end_time for run in runs), "after both"
    assert done.stdout.rindex("Sweep ") > 0
    assert {run.data.tags["sweep_id"] for run in runs} == {overview.data.tags["sweep_id"]}


def test_ray_is_started_on_loopback_and_one_that_runs_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RAY_USAGE_STATS_ENABLED", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"):
        monkeypatch.setenv(name, "")  # to be restored
        monkeypatch.delenv(name)
    assert _ray_overrides(["-m", "hydra/launcher=joblib"]) == ()
    assert "RAY_USAGE_STATS_ENABLED" not in os.environ
    joined = _ray_overrides(["-m", "hydra/launcher=ray", "hydra.launcher.ray.init.address=auto"])
    assert joined == ("++hydra.launcher.ray.init.object_store_memory=null",)
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER" not in os.environ, "a driver of a real cluster has a real address"
    assert LOOPBACK in _ray_overrides(["-m", "hydra/launcher=ray"])
    assert os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] == "0"
