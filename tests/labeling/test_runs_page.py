"""The page of runs: the words of the gate, the baseline, and links only to what is there."""

from __future__ import annotations

import re

import pytest

from harness.runs.gate import Verdict
from harness.runs.tags import BASELINE_TAG, SEALED_TAG
from harness.tracking.catalog import RECENT, recent_runs
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
    rows = re.findall(r"<tr class=\"[^\"]*\">.*?</tr>", page, re.DOTALL)
    assert len(rows) == 3 + len(Verdict)
    shown = [re.search(r'class="verdict (\w+)">(\S*) ([A-Z ]+)<', row) for row in rows]
    assert [found.groups() for found in shown if found] == [
        ("even", "◆", "BASELINE"),  # the pinned one, which is the oldest
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
    rows = {run: next(row for row in page.split("<tr ") if f'value="{run}"' in row) for run in (pinned, now, old)}
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


def test_runs_that_predict_what_is_known_are_not_read(photo: str, kept: LocalStore) -> None:
    store = kept.open()
    keep_run(store, photo, seen(STRANGER, 0.9), **{"predictions.digest": "other"})
    keep_run(store, photo, seen(STRANGER, 0.1), **{"predictions.digest": "own"})
    found = recent_runs(store, "data.name", "staging", but="own")
    assert [run.predictions()[photo].bibs[0].score for run in found] == [0.9]
    assert len(recent_runs(store, "data.name", "staging", but="neither")) == 2
    assert len(recent_runs(store, "data.name", "staging")) == 2


def test_a_store_that_cannot_be_opened_is_told_on_the_page(connect: Connect) -> None:
    page = connect(store=ServerStore(NOBODY, "harness")).get("/runs/").text
    assert f"no MLflow server answers at {NOBODY}" in page


@pytest.mark.slow
def test_gains_stand_beside_values_only_where_they_are_about_a_present_baseline(
    connect: Connect, photo: str, kept: LocalStore
) -> None:
    store, prediction = kept.open(), seen(STRANGER, 0.9)
    pinned = keep_run(store, photo, prediction, **{BASELINE_TAG: "2026-01-01"})
    verdicts = {"verdict": "REGRESSED", "verdict.number/f1": "REGRESSED", "verdict.unseen": "link/f1: any loss <could>"}
    now, old = (
        keep_run(store, photo, prediction, **verdicts, **{"verdict.baseline": base}) for base in (pinned, "0" * 32)
    )
    for run in (now, old):
        store.client.log_metric(run, "delta/number_f1", -0.278)
    page = connect(store=kept).get("/runs/").text
    rows = {run: next(row for row in page.split("<tr ") if f'value="{run}"' in row) for run in (now, old)}
    assert '<span class="delta bad" title="number/f1 is worse, by more than chance">▼−27.8</span>' in rows[now]
    assert "27.8</span>" not in rows[old]
    assert "number/f1 is worse by 27.8 points" in rows[now]
    assert "link/f1: any loss &lt;could&gt;" in rows[now]
    assert f"/runs/{now}/photos?change=broken" in rows[now]


@pytest.mark.slow
def test_the_list_is_chosen_by_its_address_and_what_no_run_has_is_refused(
    connect: Connect, photo: str, kept: LocalStore
) -> None:
    store, prediction = kept.open(), seen(STRANGER, 0.9)
    tags = ({"preset": "fast", "sweep_id": "s1"}, {"preset": "fast", "sweep_id": "s1"}, {"note": "the odd one"})
    swept, other, lone = (keep_run(store, photo, prediction, **each) for each in tags)
    client = connect(store=kept)

    def listed(query: str) -> list[str]:
        found = re.findall(r'name="run" value="(\w+)"', client.get(f"/runs/{query}").text)
        return sorted(found, key=[swept, other, lone].index)

    page = client.get("/runs/").text
    assert "3 runs, no baseline on these data yet</span>" in page
    assert "Sweep of 2 runs" in page
    assert page.count('<tr class="inside">') == 2
    assert listed("?preset=fast") == [swept, other]
    assert listed("?text=ODD") == listed(f"?text={lone}") == [lone]
    assert listed("?sweep=s1&sort=oldest") == [swept, other]
    assert listed("?verdict=FINISHED&data=&preset=") == [swept, other, lone]
    assert listed("?verdict=REGRESSED") == []
    for wrong, told in {
        "preset=slow": "preset=slow: no run that is listed has it; there: fast",
        "sort=best": "sort=best: no run that is listed has it",
        "page=0": "page: must be greater than or equal to 1",
        "colour=red": "colour: no such key",
    }.items():
        answer = client.get(f"/runs/?{wrong}")
        assert answer.status_code == 422
        assert answer.json()["message"].startswith(told)


@pytest.mark.slow
def test_two_runs_are_compared_the_newer_beside_the_older_or_beside_the_baseline(
    connect: Connect, photo: str, kept: LocalStore
) -> None:
    store, prediction = kept.open(), seen(STRANGER, 0.9)
    first, second = (keep_run(store, photo, prediction) for _ in range(2))
    pinned = keep_run(store, photo, prediction, **{BASELINE_TAG: "2026-01-01"})
    client = connect(store=kept)

    def chosen(*runs: str) -> str:
        answer = client.get("/runs/compare", params={"run": runs})
        assert answer.status_code == 303
        return str(answer.headers["location"])

    assert chosen(first, second) == chosen(second, first) == f"/runs/{second}?against={first}"
    assert chosen(pinned, first, pinned) == f"/runs/{first}?against={pinned}"
    for runs, words in (((), "none were"), ((first,), "1 were"), ((first, second, pinned), "3 were")):
        answer = client.get("/runs/compare", params={"run": runs})
        assert answer.status_code == 422
        assert answer.json()["message"] == f"two runs can be compared; {words} chosen"
    assert client.get("/runs/compare", params={"run": (first, "0" * 32)}).status_code == 404


@pytest.mark.slow
def test_a_baseline_older_than_all_that_is_listed_is_there(
    connect: Connect, photo: str, kept: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.labeling.history.RUNS_LISTED", 2)
    store, prediction = kept.open(), seen(STRANGER, 0.9)
    pinned = keep_run(store, photo, prediction, **{BASELINE_TAG: "2026-01-01"})
    runs = [keep_run(store, photo, prediction) for _ in range(3)]
    page = connect(store=kept).get("/runs/").text
    assert re.findall(r'name="run" value="(\w+)"', page) == [pinned, runs[2], runs[1]]
    assert "older ones are in <code>harness list -n 0</code>" in page
