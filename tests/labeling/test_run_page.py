"""The page of one run: the same verdict and counts as the report, and what can be done with a run there."""

from __future__ import annotations

import html
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from harness.exploring.opened import open_run
from harness.labeling.run_view import FIGURES
from harness.runs.gate import Gate
from harness.runs.tags import BASELINE_TAG, SEALED_TAG
from harness.tracking.finding import find_run, list_runs
from harness.tracking.store import LocalStore
from tests.conftest import Harness
from tests.labeling.conftest import HERE, Connect
from tests.labeling.runs import STRANGER, keep_run, seen
from tests.labeling.scored import copied, scored_runs

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def scored(_tiny_set: Path, empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with scored_runs(tmp_path_factory.mktemp("scored"), _tiny_set, empty_store) as folder:
        yield folder


@pytest.fixture
def store(scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    monkeypatch.setenv("HARNESS_CACHE", str(scored / "cache"))
    return copied(scored, tmp_path)


def ids(store: LocalStore) -> tuple[str, str]:
    """The run that lost somebody, and the baseline."""
    fewer, base = list_runs(store.open())
    return fewer.run_id, base.run_id


def until_idle(client: TestClient, address: str) -> str:
    """The page once nothing is being done aside."""
    while 'http-equiv="refresh"' in (page := client.get(address).text):
        time.sleep(0.05)
    return page


@pytest.mark.slow
def test_counts_and_verdict_are_those_of_the_comparison_and_lead_to_the_photos(
    connect: Connect, store: LocalStore
) -> None:
    fewer, base = ids(store)
    opened = open_run(store.open(), Gate(strict=False), fewer)
    assert opened.comparison is not None
    client = connect(store=store)
    page = until_idle(client, f"/runs/{fewer}")
    text = html.unescape(page)
    assert f"</span> {opened.comparison.judgement.said} " in page
    chips = dict(re.findall(r'change=(\w+)&sort=change">.*? <b>(\d+)</b>', text))
    broken, fixed = opened.comparison.newly_broken("photos"), opened.comparison.newly_fixed("photos")
    assert chips == {"broken": str(len(broken)), "fixed": str(len(fixed))}
    assert len(broken) == 1
    assert re.search(rf'/runs/{fewer}/photos\?mistake=missed_faces">Missed faces <b>1</b>', text)
    assert re.search(r'photos\?cause=number%3A\+[\w+]+">number: [\w ]+ <b>1</b>', text)
    for metric in opened.comparison.judgement.metrics:
        assert f"<th>{metric.metric}</th>" in page
    assert 'class="forest"' in page
    assert "fewer &lt;people&gt;" in page
    assert "<code>note</code>" not in page

    same = until_idle(client, f"/runs/{fewer}?against={base}")
    assert f"against={base}" in html.unescape(same)
    turned = html.unescape(until_idle(client, f"/runs/{base}?against={fewer}"))
    assert re.search(r'change=fixed.*?">.*?Newly fixed photos <b>1</b>', turned)
    assert "The run was logged as BASELINE" in turned
    assert "baseline" not in turned[turned.index('id="metrics"') : turned.index('id="scorecards"')], "it is no baseline"


@pytest.mark.slow
def test_the_baseline_alone_says_so_and_shows_its_figures_from_a_fixed_list(
    connect: Connect, store: LocalStore
) -> None:
    fewer, base = ids(store)
    client = connect(store=store)
    page = until_idle(client, f"/runs/{base}")
    assert "is itself the baseline" in page
    assert "change=broken" not in page
    shown = re.findall(rf'<img src="(/runs/{base}/figures/[\w.]+)"', page)
    assert shown
    for address in shown:
        figure = client.get(address)
        assert figure.content.startswith(b"<svg ")
        assert figure.headers["content-type"].startswith("image/svg+xml")
        assert "default-src 'none'" in figure.headers["content-security-policy"], "opened by itself it runs nothing"
    for absent in (f"{base}/figures/run.json", f"{fewer}/figures/{next(iter(FIGURES))}", "nobody/figures/slices.png"):
        assert client.get(f"/runs/{absent}").status_code == 404
    assert "They are drawn with the report" in until_idle(client, f"/runs/{fewer}")
    for wrong in ("/runs/nobody", f"/runs/{fewer}?against=nobody"):
        answer = client.get(wrong)
        assert answer.status_code == 404
        assert answer.json()["message"] == "nobody: no run has this id or name"


@pytest.mark.slow
def test_another_baseline_is_set_after_a_question_and_the_others_are_judged_anew(
    connect: Connect, store: LocalStore
) -> None:
    fewer, base = ids(store)
    client = connect(store=store)
    before = find_run(store.open(), base)
    question = client.get(f"/runs/{fewer}/baseline").text
    assert f"in the place of {before.name}" in question
    assert find_run(store.open(), base).pinned, "a question changes nothing"

    assert client.post(f"/runs/{fewer}/baseline", headers=FORM).status_code == 403
    foreign = {**FORM, "Origin": "http://elsewhere.example"}
    assert client.post(f"/runs/{fewer}/baseline", headers=foreign).status_code == 403
    assert client.post("/api/freeze", headers={**FORM, "Origin": HERE}).status_code == 415
    assert find_run(store.open(), base).pinned

    answer = client.post(f"/runs/{fewer}/baseline", headers={**FORM, "Origin": HERE})
    assert answer.status_code == 303
    page = until_idle(client, answer.headers["location"])
    assert "is the baseline of staging" in page
    assert "1 run judged anew" in page
    now, then = find_run(store.open(), fewer), find_run(store.open(), base)
    assert (bool(now.pinned), bool(then.pinned)) == (True, False)
    assert then.judged_against == fewer
    assert re.search(rf'value="{fewer}".*?★ baseline', page, re.DOTALL), "and the list knows it at once"
    assert "is itself the baseline" in until_idle(client, f"/runs/{fewer}")


@pytest.mark.slow
def test_a_report_is_made_aside_and_linked_or_it_is_told_why_not(
    connect: Connect, store: LocalStore, harness: Harness
) -> None:
    fewer, _ = ids(store)
    client = connect(store=store)
    assert "Make the report" in until_idle(client, f"/runs/{fewer}")
    posted = client.post(f"/runs/{fewer}/report", headers={**FORM, "Origin": HERE})
    assert posted.headers["location"] == f"/runs/{fewer}#report"
    page = until_idle(client, f"/runs/{fewer}")
    why = "it was scored from a file of predictions, which is not kept; score the file again"
    assert f"No report was made: {why}" in page
    assert "Make the report" in page, "to try again"

    assert harness("references=off", "confidence=sample", "report.make=off").code == 0
    other = list_runs(store.open())[0].run_id
    assert client.get(f"/runs/{other}/report").status_code == 404
    assert client.post(f"/runs/{other}/report", headers={**FORM, "Origin": HERE}).status_code == 303
    page = until_idle(client, f"/runs/{other}")
    assert "Make the report" not in page
    assert f'href="/runs/{other}/report"' in page
    assert "<h1>" in client.get(f"/runs/{other}/report").text
    assert f"/runs/{other}/report" in client.get("/runs/").text, "and the list knows it at once"


@pytest.mark.slow
def test_a_run_that_is_sealed_or_did_not_finish_is_no_baseline_and_has_no_report(
    connect: Connect, photo: str, kept: LocalStore
) -> None:
    store = kept.open()
    sealed = keep_run(store, photo, seen(STRANGER, 0.9), verdict="NO WORSE", **{SEALED_TAG: "set"})
    shutil.rmtree(Path(find_run(store, sealed).artifacts.removeprefix("file://")))
    failed = keep_run(store, photo, seen(STRANGER, 0.9))
    store.client.set_terminated(failed, "FAILED")
    client = connect(store=kept)
    listed = client.get("/runs/").text
    for run, why in ((sealed, "sealed"), (failed, "FAILED")):
        assert f"/runs/{run}/baseline" not in listed
        assert f'name="run" value="{run}"' not in listed
        for action in ("baseline", "report"):
            answer = client.post(f"/runs/{run}/{action}", json={}, headers={"Origin": HERE})
            assert answer.status_code == 409
            assert why in answer.json()["message"]
        assert client.get(f"/runs/{run}/baseline").status_code == 409
    assert not any(run.pinned for run in list_runs(store)), BASELINE_TAG
    begun = store.client.create_run(store.runs_experiment, run_name="begun").info.run_id
    answer = client.get(f"/runs/{begun}")
    assert (answer.status_code, answer.json()["message"]) == (
        404,
        f"run {begun[:8]} (begun) is RUNNING, and has no scores to show",
    )
    page = until_idle(client, f"/runs/{sealed}")
    assert "NO WORSE" in page
    assert "its scores are sealed" in page
    for score in ("Scorecards", "Each metric", "Make the report", "Set as baseline"):
        assert score not in page
