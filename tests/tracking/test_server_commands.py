"""A run, a sweep and the commands on them, all of it on an MLflow server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Harness
from tests.test_command_line import staging


@pytest.mark.slow
@pytest.mark.xdist_group("server")
def test_a_server_does_what_a_folder_does(
    harness: Harness, server_uri: str, tiny_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server_uri)
    store = ("tracking=server", "tracking.experiment=commands")
    first = harness(*staging(tiny_set), *store)
    assert first.code == 0, first.err
    assert "see it with: harness mlflow tracking=server tracking.experiment=commands" in first.out
    assert harness("baseline", *store).code == 0

    swept = harness("-m", *staging(tiny_set), *store, "seed=1,2")
    assert swept.code == 0, swept.err
    assert "2 runs" in swept.out
    assert not (tmp_path / "mlruns" / "mlflow.db").exists()

    runs = json.loads(harness("list", "--json", *store).out)
    assert [run["verdict"] for run in runs] == ["NO WORSE", "NO WORSE", "BASELINE"]
    compared = harness("compare", "latest", *store, "gate=strict")
    assert (compared.code, "Verdict: NO WORSE" in compared.out) == (0, True)
    opened = harness("mlflow", "--no-browser", *store)
    assert (opened.code, f"MLflow is at {server_uri}/#/experiments/" in opened.out) == (0, True)
    cleaned = harness("clean", "-f", *store)
    assert "2 runs and 1 sweep overview: in the server's bin now" in cleaned.out
    assert len(json.loads(harness("list", "--json", *store).out)) == 1
