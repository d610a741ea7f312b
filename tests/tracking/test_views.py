"""How MLflow's pages first show the runs: with the columns and charts that the runs themselves declare."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.runs.records import DECLARED_TAG, declared
from harness.scoring import FaceScorecard
from harness.scoring.table_card import TableScorecard
from harness.tracking.store import LocalStore, OpenStore
from harness.tracking.views import VIEW, start_page

TABLES = json.dumps(declared([TableScorecard.DECLARED]))
FACES = json.dumps(declared([FaceScorecard.DECLARED]))


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> OpenStore:
    return LocalStore(str(shutil.copytree(empty_store, tmp_path / "mlruns")), "harness").open()


def shown(store: OpenStore) -> dict[str, Any]:
    """The state of the page that opens first."""
    assert f"viewStateShareKey={VIEW}" in start_page(store)
    tags = store.client.get_experiment(store.runs_experiment).tags
    state: dict[str, Any] = json.loads(tags[f"mlflow.sharedViewState.{VIEW}"])
    return state


def add_run(store: OpenStore, start: int, **tags: str) -> None:
    store.client.create_run(store.runs_experiment, start_time=start, tags=tags)


def sections(state: dict[str, Any]) -> list[str]:
    return [section["name"] for section in state["compareRunSections"]]


def test_runs_of_tables_have_the_columns_of_tables_and_no_empty_section(store: OpenStore) -> None:
    add_run(store, 1, **{DECLARED_TAG: FACES})
    add_run(store, 2, **{DECLARED_TAG: TABLES})
    state = shown(store)
    assert state["selectedColumns"][:3] == ["tags.`verdict`", "tags.`baseline`", "metrics.`table/fuzzy_f1`"]
    assert sections(state) == ["Headlines", "Gain over baseline"]
    assert "delta/table_fuzzy_f1" in [card.get("metricKey") for card in state["compareRunCharts"]]


def test_a_sweep_is_shown_by_what_its_own_runs_declare(store: OpenStore) -> None:
    add_run(store, 1, **{DECLARED_TAG: FACES, "sweep_id": "s1"})
    add_run(store, 2, **{DECLARED_TAG: TABLES})
    store.client.create_run(store.sweeps_experiment, tags={"sweep_id": "s1"})
    state = shown(store)
    assert state["searchFilter"] == "tags.sweep_id LIKE '%s1%'"
    assert "metrics.`face/f1`" in state["selectedColumns"]
    assert sections(state) == ["Headlines", "Gain over baseline", "Mistakes", "Over score threshold"]
    kinds = [card["imageKeys"] for card in state["compareRunCharts"] if card["type"] == "IMAGE"]
    assert kinds == [["missed_faces"], ["false_faces"]]


def test_runs_of_the_first_stage_which_declare_nothing_are_shown_as_they_were(store: OpenStore) -> None:
    add_run(store, 1)
    columns = shown(store)["selectedColumns"]
    for metric in ("number/f1", "ocr/accuracy", "bib/f1", "face/f1", "link/f1", "runtime/pipeline_seconds"):
        assert f"metrics.`{metric}`" in columns
