"""Label suspects and the list of runs, from what runs leave in MLflow."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.labeling.suspects import Suspicion, find_suspects

from harness.labeling.history import RunHistory
from harness.tracking.runs import RunRecord, tracked_run
from harness.tracking.store import LocalStore
from tests.labeling.conftest import Connect


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([], {}),
        ([{"a": 3}], {}),
        ([{"a": 1}, {"a": 2}], {"a": Suspicion(2, 2)}),
        ([{"a": 1}, {"a": 0}], {}),
        ([{"a": 1}, {"a": 0}, {"a": 5}], {"a": Suspicion(2, 3)}),
        ([{"a": 1, "b": 1}, {"a": 1}], {"a": Suspicion(2, 2)}),
    ],
)
def test_most_of_the_runs_that_saw_a_photo_have_to_disagree(
    runs: list[dict[str, int]], expected: dict[str, Suspicion]
) -> None:
    assert find_suspects(runs) == expected


@pytest.mark.slow
def test_runs_are_listed_and_make_suspects(connect: Connect, photo: str, tmp_path: Path) -> None:
    store = LocalStore(str(tmp_path / "mlruns"), "harness")
    opened = store.open()
    for number in range(2):
        tags = {"data.name": "staging", "verdict": "FAIL" if number else "PASS", "note": "<b>note</b>"}
        with tracked_run(opened, opened.runs_experiment, f"run {number}", tags) as run:
            table: dict[str, list[object]] = {"photo": ["a.jpg"], "bib_fp": [1], "face_fp": [0], "sha256": [photo]}
            (tmp_path / "files").mkdir(exist_ok=True)
            (tmp_path / "files" / "report.html").write_text("<h1>Report</h1>")
            record = RunRecord(
                params={},
                metrics={"number/f1": 0.5},
                tags={},
                description="",
                files=tmp_path / "files",
                tables={"photos.json": table},
            )
            run.log(record)
    known = RunHistory(store, "staging").wait()
    assert [(run.name, run.verdict) for run in known.runs] == [("run 1", "FAIL"), ("run 0", "PASS")]
    assert known.suspects == {photo: Suspicion(2, 2)}
    assert RunHistory(store, "benchmark_v1").wait().suspects == {}

    client = connect()
    page = client.get("/runs/").text
    assert "PASS" in page
    assert "50.0%" in page
    assert "<b>note</b>" not in page
    assert [each["sha256"] for each in client.get("/api/photos?show=suspects").json()["photos"]] == [photo]
    assert client.get(f"/api/photos/{photo}").json()["suspect"] == {"runs": 2, "of": 2}
    report = client.get(f"/runs/{known.runs[0].run_id}/report")
    assert report.text == "<h1>Report</h1>"
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    assert client.get(f"/runs/{'0' * 32}/report").status_code == 404


def test_a_store_that_cannot_be_opened_is_told_on_the_page(connect: Connect, tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").write_text("this is no database")
    assert "cannot open the MLflow store" in connect().get("/runs/").text
