"""The items of a run's other tasks: tables cell by cell as the report shows them, boxes by score as calibration counts
them, worst first, beside another run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import harness
from harness.exploring.item_files import boxes_of, table_of
from harness.exploring.items import ItemSelection, item_table
from harness.exploring.opened import OpenedRun, open_run
from harness.runs.comparison import Change
from harness.runs.gate import Gate
from harness.tasks.tables.html import grids
from harness.tracking.store import LocalStore
from tests.labeling.conftest import Connect

RUN = ("references=off", "tables=sample", "confidence=sample", "timing=off")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> tuple[LocalStore, str, str]:
    """A run on tables and boxes, and one whose method finds fewer tables."""
    folder = tmp_path_factory.mktemp("items")
    shutil.copytree(empty_store, folder / "mlruns")
    where = (f"tracking.root={folder / 'mlruns'}", "tables.camelot.enabled=false")
    base = harness.run(*RUN, *where)
    run = harness.run(*RUN, *where, "tables.pdfplumber.snap_tolerance=0.1")
    return LocalStore(str(folder / "mlruns"), "harness"), run.id, base.id


def read(client: TestClient, address: str) -> Any:
    """A page of a run, once that has been read."""
    while "is being read" in (answer := client.get(address)).text:
        pass
    return answer


@pytest.fixture
def opened(runs: tuple[LocalStore, str, str]) -> OpenedRun:
    store, run, base = runs
    return open_run(store.open(), Gate(strict=False), run, base)


@pytest.mark.slow
def test_items_are_worst_first_and_changes_are_those_of_their_rate(opened: OpenedRun) -> None:
    assert opened.run is not None
    table = item_table(opened.run, opened.comparison, "tables")
    metric = "table/fuzzy_f1"
    order = table.worst(table.rows)
    values = [row.rates[metric] for row in order]
    assert values == sorted(values, key=lambda value: value or 0)
    assert sum(value or 0 for value in values) / len(values) == pytest.approx(opened.run.metrics[metric])
    for row in table.rows:
        now, was = row.rates[metric] or 0, row.was[metric] or 0
        assert row.change == (Change.BROKEN if now < was else Change.FIXED if now > was else None)
    assert table.changes[Change.BROKEN] > 0
    assert not table.in_ledger
    worse = ItemSelection(change="broken", sort="change").among(table, lambda row: row.name)
    assert len(worse) == table.changes[Change.BROKEN]
    assert ItemSelection(name="nothing is called this").among(table, lambda row: row.name) == []


@pytest.mark.slow
def test_a_table_shows_the_cells_of_the_report(
    runs: tuple[LocalStore, str, str], opened: OpenedRun, connect: Connect
) -> None:
    store, run, base = runs
    assert opened.run is not None
    report = (store.open().reader.folder(run) or Path()) / "tables.html"
    for item in opened.run.tasks["tables"].items:
        kept = table_of(store.open(), run, item.id)
        assert kept is not None
        for attempt in kept.attempts:
            assert item.counts["table"]["fuzzy_f1"] == pytest.approx(attempt.score / 100)
            if attempt.extracted:
                assert grids(attempt.truth, attempt.extracted, attempt.diffs) in report.read_text()
    assert table_of(store.open(), run, "no such table") is None
    client = connect(store=store)
    table = item_table(opened.run, opened.comparison, "tables")
    name = next(row.id for row in table.rows if row.change is Change.BROKEN)
    page = read(client, f"/runs/{run}/items/tables/{name}?against={base}")
    assert page.status_code == 200
    assert "▼ was" in page.text
    assert "▼ it was" in page.text
    lost = next(row.id for row in table.rows if not row.rates["table/fuzzy_f1"])
    for id, taken in ((lost, 0), (next(row.id for row in table.rows if row.rates["table/fuzzy_f1"]), 1)):
        assert read(client, f"/runs/{run}/items/tables/{id}").text.count(">taken<") == taken
    assert read(client, f"/runs/{run}/items/tables/none").status_code == 404


@pytest.mark.slow
def test_boxes_by_score_are_those_of_the_calibration(runs: tuple[LocalStore, str, str], opened: OpenedRun) -> None:
    store, run, _ = runs
    boxes, kept = opened.boxes, opened.run
    assert boxes is not None
    assert kept is not None
    assert boxes.score.tolist() == sorted(boxes.score.tolist(), reverse=True)
    quality = json.loads(((store.open().reader.folder(run) or Path()) / "confidence_quality.json").read_text())
    bins = quality["calibration"]["bins"]
    assert len(boxes.score) == quality["calibration"]["n"]
    assert boxes.right.sum() == pytest.approx(sum(each["n"] * (each["accuracy"] or 0) for each in bins))
    card = kept.tasks["confidence"].cards["confidence"].counts
    assert boxes.counts["right"].sum() + boxes.counts["wrong"].sum() == card["kept"]
    dropped = sum(count for name, count in card.items() if name not in ("kept", "samples"))
    assert boxes.counts["dropped"].sum() == dropped
    assert boxes.counts["right"].sum() + boxes.counts["missed"].sum() == quality["ranked"]["targets"]
    assert boxes_of(store.open(), run, kept) is not None


@pytest.mark.slow
def test_the_pages(runs: tuple[LocalStore, str, str], opened: OpenedRun, connect: Connect) -> None:
    store, run, base = runs
    client, boxes = connect(store=store), opened.boxes
    assert boxes is not None
    page = read(client, f"/runs/{run}/items?against={base}").text
    assert "▼ worse" in page
    titles = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', page)
    assert len(titles) == len(set(titles)) == 7, "no two columns are called the same"
    assert "newly broken" not in page
    listed = read(client, f"/runs/{run}/items?task=confidence").text
    rows = re.findall(r'<a href="[^"]*/items/confidence/(\d+)">', listed)
    wrong = boxes.counts["wrong"] + boxes.counts["missed"] + boxes.counts["dropped"]
    assert len(rows) == len(boxes.images)
    assert [wrong[int(row)] for row in rows] == sorted(wrong.tolist(), reverse=True)
    shown = read(client, f"/runs/{run}/items/boxes?state=wrong").text
    assert shown.count("✗ wrong</b></td>") == (~boxes.right).sum()
    assert "✓ right</b></td>" not in shown
    sample = read(client, f"/runs/{run}/items/confidence/{rows[0]}")
    assert (sample.status_code, boxes.images[int(rows[0])] in sample.text) == (200, True)
    for address, status in (
        ("items?task=photos", 404),
        ("items/confidence/9999", 404),
        ("items?colour=red", 422),
        ("people", 404),
    ):
        assert read(client, f"/runs/{run}/{address}").status_code == status, address
