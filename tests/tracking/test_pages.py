"""The formats of MLflow's pages, one test each. That the pages of the installed MLflow understand them is seen in a
browser: tests/browser/test_mlflow_ui.py."""

from __future__ import annotations

import base64
import json
import re
import zlib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import mlflow

from harness.tracking.pages import (
    MOST_OF_A_VIEW,
    OPENING,
    RunsView,
    Section,
    compare_page,
    ids_filter,
    metric_column,
    opening_page,
    packed,
    run_page,
    runs_page,
    sweep_filter,
    tag_column,
    view_tag,
)
from harness.tracking.server import app

VIEW = RunsView(
    "tags.x = 'y'",
    first="baseline",
    columns={tag_column("verdict"): 100, metric_column("number/f1"): 90},
    sections=[Section("a", "Bars", "BAR", ["number/f1"]), Section("b", "None", "BAR", [])],
)


def asked(address: str) -> dict[str, list[str]]:
    """What an address below `#/` asks for."""
    return parse_qs(urlsplit(address.removeprefix("#")).query)


def unpacked(value: str) -> dict[str, Any]:
    """A view as MLflow's page reads it."""
    kind, _, content = value.partition(";")
    assert kind == "deflate"
    state: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(content)))
    return state


def test_every_address_opens_the_pages_for_training_and_not_those_for_language_models() -> None:
    for address in (runs_page("1"), runs_page("1", "x", chart=True), run_page("1", "a"), compare_page("1", ["a", "b"])):
        assert asked(address)["workflowType"] == ["machine_learning"], address


def test_the_runs_page_takes_a_search_or_a_view() -> None:
    assert asked(runs_page("1", "tags.sweep_id LIKE '%s&1%'"))["searchFilter"] == ["tags.sweep_id LIKE '%s&1%'"]
    shared = asked(runs_page("1", chart=True, view="harness"))
    assert (shared["viewStateShareKey"], shared["compareRunsMode"]) == (["harness"], ["CHART"])
    assert "searchFilter" not in shared, "with one, MLflow does not load the view"


def test_the_compare_page_takes_lists_as_json() -> None:
    address = compare_page("7", ["aa", "bb"])
    assert address.startswith("#/compare-runs?")
    assert [json.loads(asked(address)[name][0]) for name in ("runs", "experiments")] == [["aa", "bb"], ["7"]]
    assert not set(' "()') & set(address), "it stands in a link of Markdown"


def test_searches_name_runs_and_sweeps() -> None:
    assert ids_filter(["aa", "bb"]) == "attributes.run_id IN ('aa', 'bb')"
    assert sweep_filter("s1") == "tags.sweep_id LIKE '%s1%'"


def test_the_opening_page_notes_what_mlflows_pages_read_once_and_goes_on() -> None:
    """MLflow's server finds it by an entry point; the pages read a key with its version."""
    (plugin,) = entry_points(group="mlflow.app", name="harness")
    assert plugin.load() is app
    shown = opening_page()
    (key,) = set(re.findall(r'"(mlflow\.[^"]+)_v1"', shown))
    built = Path(mlflow.__file__).parent / "server/js/build/static/js"
    assert any(f'key:"{key}",version:1' in script.read_text() for script in built.glob("main.*.js"))
    assert f'if (localStorage.getItem("{key}_v1") === null)' in shown, "what somebody has chosen stays"
    assert 'finally { location.replace("../" + location.hash); }' in shown
    assert re.fullmatch(r"\w+/", OPENING), "it goes on from below the server's root"


def test_a_view_is_compressed_and_named_by_a_tag() -> None:
    assert view_tag("harness") == "mlflow.sharedViewState.harness"
    assert unpacked(packed(VIEW)) == VIEW.state()


def test_columns_come_in_order_after_the_name_and_the_time_with_their_widths() -> None:
    state = VIEW.state()
    assert state["selectedColumns"] == ["tags.`verdict`", "metrics.`number/f1`"]
    assert state["columnOrder"] == ["attributes.`Run Name`", "runDateAndNestInfo", *state["selectedColumns"]]
    assert set(state["columnWidths"]) == set(state["columnOrder"])
    assert state["columnWidths"]["tags.`verdict`"] == 100


def test_runs_with_a_tag_are_sorted_to_the_top() -> None:
    assert (VIEW.state()["orderByKey"], VIEW.state()["orderByAsc"]) == ("tags.`baseline`", False)


def test_charts_belong_to_sections_and_an_empty_section_is_none() -> None:
    state = VIEW.state()
    assert [section["name"] for section in state["compareRunSections"]] == ["Bars"]
    (card,) = state["compareRunCharts"]
    assert (card["type"], card["metricKey"], card["metricSectionId"]) == ("BAR", "number/f1", "a")
    (image,) = Section("c", "Images", "IMAGE", ["missed_faces"]).cards()
    assert (image["type"], image["imageKeys"]) == ("IMAGE", ["missed_faces"])
    (line,) = Section("d", "Curves", "LINE", ["curve/bib_recall"]).cards()
    assert (line["xAxisKey"], line["metricKey"]) == ("step", "curve/bib_recall")


def test_bars_are_titled_apart_from_what_they_draw_and_mlflow_draws_no_metric_again() -> None:
    shown, kept_away = Section("a", "Gains", "BAR", ["delta/x_f1"], titles={"delta/x_f1": "x/f1"}).cards()
    assert (shown["metricKey"], shown["dataAccessKey"], shown["deleted"]) == ("x/f1", "delta/x_f1", False)
    assert (kept_away["metricKey"], kept_away["deleted"]) == ("delta/x_f1", True)
    assert shown["uuid"] != kept_away["uuid"]


def test_all_bars_of_a_section_can_be_in_one_chart() -> None:
    one, *others = Section("a", "Gains", "BAR", ["delta/a", "delta/b"], together=True).cards()
    assert (one["selectedMetricKeys"], one["deleted"]) == (["delta/a", "delta/b"], False)
    assert [(card["metricKey"], card["deleted"]) for card in others] == [("delta/a", True), ("delta/b", True)]
    assert Section("a", "Gains", "BAR", [], together=True).cards() == []


def test_a_section_says_how_many_charts_are_in_a_row() -> None:
    wide = RunsView(sections=[Section("a", "Bars", "BAR", ["number/f1"], columns=2)])
    assert [section["columns"] for section in wide.state()["compareRunSections"]] == [2]


def test_a_view_with_hundreds_of_charts_still_fits_into_a_tag() -> None:
    many = [Section(f"s{n}", f"Section {n}", "LINE", [f"card_{n}/rate_{m}" for m in range(20)]) for n in range(15)]
    assert len(packed(RunsView(sections=many))) < MOST_OF_A_VIEW
