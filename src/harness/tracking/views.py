"""How MLflow's pages first show the runs: with headline columns in the table, and charts in an order that answers.

MLflow lets a view be shared by its address: the state of the page stands in a tag of the experiment, and the address
names the tag. Left to itself it shows no metric in the table of runs, and a chart for every metric by the alphabet.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.scoring.speed import PHOTOS_PER_SECOND, SECONDS
from harness.tracking.catalog import FIRST_DECLARED, declared_by
from harness.tracking.store import OpenStore
from harness.tracking.sweeps import last_sweep, runs_page, sweep_filter

VIEW = "harness"
_TAG = f"mlflow.sharedViewState.{VIEW}"
_CURVES = tuple(f"curve/{what}_{rate}" for what in ("bib", "face") for rate in ("precision", "recall"))
_RUNS_SHOWN = 20


def start_page(store: OpenStore) -> str:
    """The chart of the last sweep, or the table of all runs where there was none; keeps the view that it shows."""
    sweep_id = last_sweep(store)
    search = sweep_filter(sweep_id) if sweep_id else ""
    state = _state(search, _declared(store, search))
    store.client.set_experiment_tag(store.runs_experiment, _TAG, json.dumps(state, separators=(",", ":")))
    return runs_page(store.runs_experiment, chart=bool(sweep_id), view=VIEW)


def _declared(store: OpenStore, search: str) -> dict[str, Any]:
    """What the scorecards of the newest of the runs that are shown declare."""
    newest = store.client.search_runs([store.runs_experiment], search, max_results=1, order_by=["start_time DESC"])
    return declared_by(newest[0].data.tags) if newest else dict(FIRST_DECLARED)


def _state(search: str, declared: dict[str, Any]) -> dict[str, Any]:
    headlines = [*declared["headlines"], SECONDS]
    gains = [f"delta/{metric.replace('/', '_')}" for metric in declared["gated"]]
    mistakes = declared["mistakes"]
    charts = [
        *_charts("headlines", "BAR", headlines),
        *_charts("gains", "BAR", gains),
        *(_card("mistakes", "IMAGE", kind, imageKeys=[kind], step=0, showRunParams=False) for kind in mistakes),
        *_charts("curves", "LINE", _CURVES if mistakes else ()),
    ]
    sections = {
        "headlines": "Headlines",
        "gains": "Gain over baseline",
        "mistakes": "Mistakes",
        "curves": "Over score threshold",
    }
    columns = ["tags.`verdict`", "tags.`baseline`"]
    columns += [f"metrics.`{name}`" for name in (*headlines, PHOTOS_PER_SECOND)]
    return {
        "searchFilter": search,
        "selectedColumns": columns,
        "runsHiddenMode": f"FIRST_{_RUNS_SHOWN}_RUNS",
        "compareRunCharts": charts,
        "compareRunSections": [
            {"uuid": key, "name": name, "display": True, "isReordered": True, "deleted": False, "isGenerated": False}
            for key, name in sections.items()
            if any(card["metricSectionId"] == key for card in charts)
        ],
        "isAccordionReordered": True,
    }


def _charts(section: str, kind: str, metrics: Sequence[str]) -> list[dict[str, Any]]:
    return [_card(section, kind, name, metricKey=name, displayName=name) for name in metrics]


def _card(section: str, kind: str, name: str, **more: Any) -> dict[str, Any]:
    card = {"uuid": f"{section}-{name}", "type": kind, "metricSectionId": section, "runsCountToCompare": _RUNS_SHOWN}
    if kind == "LINE":
        card |= {"xAxisKey": "step", "scaleType": "linear", "xAxisScaleType": "linear", "yAxisKey": "metric"}
        card |= {"lineSmoothness": 0, "range": {}, "yAxisExpressions": [], "selectedXAxisMetricKey": ""}
        card |= {"ignoreOutliers": False, "useGlobalXaxisKey": True, "useGlobalLineSmoothing": True}
    return card | {"deleted": False, "isGenerated": False} | more
