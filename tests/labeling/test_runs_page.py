"""The page of runs: the words of the gate, the baseline, and links only to what is there."""

from __future__ import annotations

import re

import pytest

from harness.runs.gate import Verdict
from harness.runs.records import SEALED_TAG
from harness.tracking.catalog import BASELINE_TAG, RECENT, recent_runs
from harness.tracking.remote import ServerStore
from harness.tracking.store import LocalStore
from tests.labeling.conftest import Connect
from tests.labeling.runs import STRANGER, keep_run, seen

NOBODY = "http://127.0.0.1:9"


@pytest.mark.slow
def test_verdicts_baseline_and_reports(connect: Connect, photo: str, kept: LocalStore) -> None:
    store = kept.open()
    prediction = seen(STRANGER, 0.9)
    pinned = keep_run(store, photo, prediction, **{BASELINE_TAG: "2026-01-01", "verdict": Verdict.NO_BASELINE})
    reported = keep_run(store, photo, prediction, "<h1>Report</h1>", verdict=Verdict.REGRESSED, note="<b>note</b>")
    for verdict in (*Verdict, "WITHIN NOISE"):  # the last is what an older harness called some of them
        keep_run(store, photo, prediction, verdict=verdict)

    client = connect(store=kept)
    page = client.get("/runs/").text
    rows = re.findall(r"<tr>\s*<th scope=\"row\">.*?</tr>", page, re.DOTALL)
    assert len(rows) == 3 + len(Verdict)
    shown = [re.search(r'class="verdict (\w+)">(\S*) ([A-Z ]+)<', row) for row in rows]
    assert [found.groups() for found in shown if found] == [
        ("even", "", "WITHIN NOISE"),
        ("even", "◆", "BASELINE"),
        ("even", "–", "NO BASELINE"),
        ("warn", "!", "INCOMPLETE"),
        ("warn", "≠", "INCOMPARABLE"),
        ("bad", "▼", "REGRESSED"),
        ("warn", "?", "CANNOT TELL"),
        ("even", "≈", "NO WORSE"),
        ("good", "▲", "IMPROVED"),
        ("bad", "▼", "REGRESSED"),
        ("even", "◆", "BASELINE"),
    ]
    assert [pinned[:8] in row for row in rows if "★ baseline" in row] == [True]
    assert re.findall(r"/runs/(\w+)/report", page) == [reported]
    assert "50.0%" in page
    assert "<b>note</b>" not in page
    assert "#/experiments" not in page
    assert "harness ui --mlflow-url" in page

    report = client.get(f"/runs/{reported}/report")
    assert report.text == "<h1>Report</h1>"
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts; default-src 'none'")
    for absent in (pinned, "0" * 32):
        assert client.get(f"/runs/{absent}/report").status_code == 404

    page = connect(store=kept, mlflow_url="http://127.0.0.1:5000/").get("/runs/").text
    assert f"http://127.0.0.1:5000/#/experiments/{store.runs_experiment}/runs/{reported}" in page


@pytest.mark.slow
def test_a_verdict_beside_a_baseline_of_old_says_so_and_a_mark_changes_no_tone(
    connect: Connect, photo: str, kept: LocalStore
) -> None:
    store, prediction = kept.open(), seen(STRANGER, 0.9)
    pinned = keep_run(store, photo, prediction, **{BASELINE_TAG: "2026-01-01"})
    now = keep_run(store, photo, prediction, verdict="IMPROVED", **{"verdict.baseline": pinned})
    old = keep_run(store, photo, prediction, verdict="REGRESSED, UNPROTECTED", **{"verdict.baseline": "0" * 32})
    page = connect(store=kept).get("/runs/").text
    rows = {run: next(row for row in page.split("<tr>") if run[:8] in row) for run in (pinned, now, old)}
    assert [("earlier baseline" in rows[run]) for run in (pinned, now, old)] == [False, False, True]
    assert '<span class="verdict bad">▼ REGRESSED, UNPROTECTED</span>' in rows[old]


@pytest.mark.slow
def test_runs_on_a_holdout_speak_against_no_label_and_take_nobodys_place(photo: str, kept: LocalStore) -> None:
    store = kept.open()
    keep_run(store, photo, seen(STRANGER, 0.9), **{"predictions.digest": "open"})
    for number in range(RECENT):
        keep_run(store, photo, seen(STRANGER, 0.1), **{"predictions.digest": str(number), SEALED_TAG: "set"})
    (found,) = recent_runs(store, "data.name", "staging")
    assert found.predictions()[photo].bibs[0].score == 0.9


def test_a_store_that_cannot_be_opened_is_told_on_the_page(connect: Connect) -> None:
    page = connect(store=ServerStore(NOBODY, "harness")).get("/runs/").text
    assert f"no MLflow server answers at {NOBODY}" in page
