"""What MLflow's pages first show: the newest work, with the columns and charts that its runs declare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.runs.records import declared
from harness.runs.tags import DECLARED_TAG
from harness.scoring import FaceScorecard
from harness.scoring.table_card import TableScorecard
from harness.tracking.finding import find_run, list_runs
from harness.tracking.pages import view_tag
from harness.tracking.store import LocalStore, OpenStore
from harness.tracking.upkeep import mark_baselines
from harness.tracking.views import COMPARE_VIEW, MOST_COLUMNS, VIEW, start_pages
from tests.tracking.test_pages import asked, unpacked

TABLES = json.dumps(declared([TableScorecard.DECLARED]))
FACES = json.dumps(declared([FaceScorecard.DECLARED]))
DATA = {"data.digest": "d" * 64, "data.split": "iteration"}


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> OpenStore:
    return LocalStore(str(shutil.copytree(empty_store, tmp_path / "mlruns")), "harness").open()


def shown(store: OpenStore, view: str = VIEW) -> dict[str, Any]:
    """The state of the page that opens first."""
    assert f"viewStateShareKey={VIEW}" in start_pages(store).table
    return unpacked(store.client.get_experiment(store.runs_experiment).tags[view_tag(view)])


def add_run(store: OpenStore, start: int, name: str = "a run", gains: Any = None, **tags: str) -> str:
    """A run with gains over a baseline, if any; those beyond five points moved."""
    run_id = str(store.client.create_run(store.runs_experiment, start_time=start, run_name=name, tags=tags).info.run_id)
    for metric, gain in (gains or {}).items():
        store.client.log_metric(run_id, f"delta/{metric.replace('/', '_')}", gain)
        verdict = "NO WORSE" if abs(gain) < 0.05 else "REGRESSED" if gain < 0 else "IMPROVED"
        store.client.set_tag(run_id, f"verdict.{metric}", verdict)
    return run_id


def sections(state: dict[str, Any]) -> list[str]:
    return [section["name"] for section in state["compareRunSections"]]


def columns(state: dict[str, Any]) -> list[str]:
    return [name.partition(".")[2].strip("`") for name in state["selectedColumns"]]


def test_runs_of_tables_have_the_columns_of_tables_and_no_empty_section(store: OpenStore) -> None:
    add_run(store, 1, **{DECLARED_TAG: FACES})
    add_run(store, 2, **{DECLARED_TAG: TABLES})
    state = shown(store)
    assert columns(state)[:3] == ["verdict", "verdict.moved", "table/fuzzy_f1"]
    assert sections(state) == ["Headlines"], "without a baseline there are no gains"


def test_a_run_that_was_made_after_a_sweep_is_what_is_opened(store: OpenStore) -> None:
    base = add_run(store, 1, **DATA)
    job = add_run(store, 2, **DATA, **{DECLARED_TAG: FACES, "sweep_id": "s1"})
    store.client.create_run(store.sweeps_experiment, start_time=3, tags={"sweep_id": "s1"})
    assert shown(store)["searchFilter"] == "tags.sweep_id LIKE '%s1%'"
    add_run(store, 4, **DATA, **{DECLARED_TAG: FACES})
    assert shown(store)["searchFilter"] == "tags.`data.digest` LIKE 'dddddddddddd%'"
    # The same sweep again finds its runs, and makes no new one.
    store.client.create_run(store.sweeps_experiment, start_time=5, tags={"sweep_id": "s1"})
    assert shown(store)["searchFilter"] == "tags.sweep_id LIKE '%s1%'"
    store.client.set_tag(base, "baseline", "2026")
    assert shown(store)["searchFilter"] == f"attributes.run_id IN ('{job}', '{base}')", "with its baseline"


def test_a_sweep_and_a_study_under_way_are_opened_by_their_runs(store: OpenStore) -> None:
    add_run(store, 1, **{DECLARED_TAG: FACES, "sweep_id": "s1"})
    state = shown(store)
    assert state["searchFilter"] == "tags.sweep_id LIKE '%s1%'"
    assert "face/f1" in columns(state)
    assert sections(state) == ["Headlines", "Mistakes", "Over score threshold"]
    kinds = [card["imageKeys"] for card in state["compareRunCharts"] if card["type"] == "IMAGE"]
    assert kinds == [["missed_faces"], ["false_faces"]]
    add_run(store, 2, **{DECLARED_TAG: FACES, "study": "night", "study.worker": "w1"})
    assert shown(store)["searchFilter"] == "tags.study LIKE '%night%'"


def test_what_moved_most_comes_first_and_there_are_eight_metrics_at_most(store: OpenStore) -> None:
    gains = {"bib/f1": 0.2, "face/recall": -0.6, "link/f1": -0.1, "number/f1": 0.01}
    add_run(store, 1, gains=gains, **DATA, **{"verdict": "REGRESSED", "verdict.baseline": "b" * 32})
    state = shown(store)
    assert columns(state)[:5] == ["verdict", "verdict.moved", "delta/face_recall", "delta/link_f1", "delta/bib_f1"]
    assert len([name for name in state["selectedColumns"] if name.startswith("metrics.")]) == MOST_COLUMNS
    assert sections(state)[0] == "Gain over baseline"
    gained = [(card["metricKey"], card["dataAccessKey"]) for card in state["compareRunCharts"][:2]]
    assert gained == [("face/recall", "delta/face_recall"), ("link/f1", "delta/link_f1")], "what is read comes first"
    assert sum(state["columnWidths"][name] for name in state["columnOrder"][:5]) + 73 <= 1440 - 250, (
        "name, time, verdict, what moved and a gain stand on the first screen beside MLflow's menu"
    )


def test_the_compare_page_begins_with_the_metrics_that_moved(store: OpenStore) -> None:
    against = {"verdict": "REGRESSED", "verdict.baseline": "b" * 32}
    run = add_run(store, 1, gains={"face/recall": -0.6, "bib/f1": 0.0, "link/f1": -0.7}, **DATA, **against)
    state = shown(store, COMPARE_VIEW)
    assert state["searchFilter"] == f"attributes.run_id IN ('{run}', '{'b' * 32}')"
    assert sections(state)[:2] == ["Gain over baseline", "What moved"]
    gains, *others = [card for card in state["compareRunCharts"] if not card["deleted"]]
    assert gains["selectedMetricKeys"][:2] == ["delta/link_f1", "delta/face_recall"], (
        "in one chart, what lost most first"
    )
    assert [card["metricKey"] for card in others[:2]] == ["link/f1", "face/recall"]
    assert asked(start_pages(store).compare)["compareRunsMode"] == ["CHART"]


def test_gains_that_were_taken_back_are_none(store: OpenStore) -> None:
    run = add_run(store, 1, gains={"face/recall": -0.6}, **DATA, **{"verdict.baseline": "b" * 32})
    store.client.log_metric(run, "delta/face_recall", float("nan"))
    assert start_pages(store).compare == ""
    assert "delta/face_recall" not in columns(shown(store))


def test_runs_of_the_first_stage_which_declare_nothing_are_shown_as_they_were(store: OpenStore) -> None:
    add_run(store, 1)
    for metric in ("number/f1", "ocr/accuracy", "bib/f1", "face/f1", "link/f1"):
        assert metric in columns(shown(store))


def test_an_empty_store_opens_as_well(store: OpenStore) -> None:
    assert shown(store)["searchFilter"] == ""


def test_where_mlflow_does_not_take_a_view_a_plain_page_opens(
    store: OpenStore, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import PERMISSION_DENIED

    def refuse(*_: object, **__: object) -> None:
        raise MlflowException("no permission", PERMISSION_DENIED)

    add_run(store, 1, **DATA, gains={"face/recall": -0.6}, **{"verdict.baseline": "b" * 32})
    add_run(store, 2, **DATA, baseline="2026")
    for name in ("set_experiment_tag", "update_run"):
        monkeypatch.setattr(MlflowClient, name, refuse)
    pages = start_pages(store)
    assert asked(pages.table)["searchFilter"] == ["tags.`data.digest` LIKE 'dddddddddddd%'"]
    assert asked(pages.compare)["searchFilter"][0].startswith("attributes.run_id IN")
    assert "viewStateShareKey" not in asked(pages.charts)
    told = capsys.readouterr().err
    assert "MLflow's pages open without columns and charts of their own: no permission" in " ".join(told.split())
    assert "the names of baselines are not marked in MLflow: no permission" in " ".join(told.split())


def test_a_baseline_has_its_mark_in_mlflow_and_its_own_name_everywhere_else(store: OpenStore) -> None:
    run = add_run(store, 1, name="fast", baseline="2026", **DATA)
    mark_baselines(store)
    mark_baselines(store)
    assert store.client.get_run(run).info.run_name == "◆ baseline: fast"
    assert [entry.name for entry in list_runs(store)] == ["fast"]
    assert find_run(store, "fast").run_id == run
    newer = add_run(store, 2, name="fast", **DATA)
    assert find_run(store, "fast").run_id == newer, "the newest of that name"
