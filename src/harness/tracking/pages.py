"""The addresses of MLflow's pages, and the formats in which its pages keep what they show.

None of these formats is documented by MLflow: they were read off its pages (3.17), and all of them are kept here. Where
MLflow changes one, its pages still open, and show what they show by themselves; `tests/tracking/test_pages.py` has a
test for each.

- An address below `#/` takes `workflowType=machine_learning`, without which the pages for language models open.
- `searchFilter`, `orderByKey` and `orderByAsc` in an address filter and sort the runs; where one of them is there, a
  shared view is not loaded, so that a view brings its own.
- A shared view is a tag of the experiment, `mlflow.sharedViewState.<key>`, that `viewStateShareKey=<key>` names: JSON
  or, as here, `deflate;` and the compressed JSON in base64. It has no say in which runs are pinned.
- Columns of the table are known as ``metrics.`number/f1` `` and ``tags.`verdict` ``. `columnOrder` and `columnWidths`
  apply to those that are shown, the name and the time of a run included; but these two stand first whatever the order.
- A chart of bars is titled by its `metricKey`, whatever its `displayName`, and draws its `dataAccessKey` where it has
  one, or all of its `selectedMetricKeys`. A metric that is the `metricKey` of no chart gets a chart by itself, in a
  section of its own: a chart that is `deleted` keeps it away. A section has so many `columns`, three unless it says so.
- The compare page draws the first metric that all its runs have, in the order in which the first run has logged them.
- At a browser's first visit on the loopback interface the pages open an assistant beside themselves, on a third of the
  width, and note in the browser's storage that they have, under the key `mlflow.assistant...` below.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

_MODE = "workflowType=machine_learning"
#: More than this MLflow refuses to keep in a tag of an experiment.
MOST_OF_A_VIEW = 20_000
#: The columns that are always there, with a width that leaves room for the verdict and what moved at 1,024 pixels.
_FIXED = {"attributes.`Run Name`": 200, "runDateAndNestInfo": 100}
_RUNS_SHOWN = 20
#: The page that opens any other one without MLflow's assistant, where MLflow's server is started with it.
OPENING = "open/"
_ASSISTANT_WAS_OPENED = "mlflow.assistant.fab.autoOpenedOnFirstLoad_v1"


def opening_page() -> str:
    """A page that goes on to what stands behind its `#`, and first notes that MLflow has opened its assistant before.

    What the browser has noted already stays, and the assistant opens by its button as ever. A browser that keeps
    nothing, or an MLflow that reads another note, shows the same page with the assistant beside it.
    """
    note = json.dumps(_ASSISTANT_WAS_OPENED)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>MLflow</title>
<noscript>MLflow's pages need JavaScript.</noscript>
<script>
  try {{ if (localStorage.getItem({note}) === null) localStorage.setItem({note}, "true"); }}
  finally {{ location.replace("../" + location.hash); }}
</script>
</html>"""


def runs_page(experiment: str, search: str = "", chart: bool = False, view: str = "") -> str:
    """The address of the runs page in MLflow's UI, below the server's own; a shared `view` brings its own search."""
    mode = "&compareRunsMode=CHART" if chart else ""
    shared = f"&viewStateShareKey={view}" if view else ""
    filtered = f"&searchFilter={quote(search)}" if search else ""
    return f"#/experiments/{experiment}/runs?{_MODE}{mode}{shared}{filtered}"


def run_page(experiment: str, run_id: str) -> str:
    """The address of one run in MLflow's UI."""
    return f"#/experiments/{experiment}/runs/{run_id}?{_MODE}"


def compare_page(experiment: str, run_ids: Sequence[str]) -> str:
    """The address of MLflow's compare page with these runs, the first of which says what is drawn first."""
    runs, experiments = (quote(json.dumps(list(ids), separators=(",", ":"))) for ids in (run_ids, [experiment]))
    return f"#/compare-runs?runs={runs}&experiments={experiments}&{_MODE}"


def sweep_filter(sweep_id: str) -> str:
    """What MLflow's search finds the jobs of a sweep by; a job that is reused belongs to several."""
    return f"tags.sweep_id LIKE '%{sweep_id}%'"


def ids_filter(run_ids: Sequence[str]) -> str:
    """What MLflow's search finds these very runs by."""
    return f"attributes.run_id IN ({', '.join(repr(run_id) for run_id in run_ids)})"


def metric_column(metric: str) -> str:
    """What the table of runs knows a metric by."""
    return f"metrics.`{metric}`"


def tag_column(tag: str) -> str:
    """What the table of runs knows a tag by, in a column and to sort by."""
    return f"tags.`{tag}`"


@dataclass(frozen=True)
class Section:
    """Charts under a title: bars, lines over steps, or images with a slider, one for each key, so many in a row.

    `titles` are for bars whose metric is not called what they show; a narrow chart shows the first letters alone.
    `together` draws all bars in one chart.
    """

    key: str
    title: str
    kind: str
    metrics: Sequence[str]
    columns: int = 3
    titles: Mapping[str, str] = field(default_factory=dict)
    together: bool = False

    def cards(self) -> list[dict[str, Any]]:
        """The charts as MLflow's page keeps them, and deleted ones that keep MLflow from drawing a metric again."""
        if self.together:
            shown = [self._card(self.title) | {"selectedMetricKeys": list(self.metrics)}] if self.metrics else []
            return [*shown, *(self._card(name, deleted=True) for name in self.metrics)]
        titled = [name for name in self.metrics if name in self.titles]
        return [*map(self._titled, self.metrics), *(self._card(name, deleted=True) for name in titled)]

    def _titled(self, name: str) -> dict[str, Any]:
        if name not in self.titles:
            return self._card(name)
        return self._card(self.titles[name]) | {"dataAccessKey": name}

    def _card(self, name: str, deleted: bool = False) -> dict[str, Any]:
        card: dict[str, Any] = {
            "uuid": f"{self.key}-{name}",
            "type": self.kind,
            "metricSectionId": self.key,
            "runsCountToCompare": _RUNS_SHOWN,
            "deleted": deleted,
            "isGenerated": False,
        }
        if self.kind == "IMAGE":
            return card | {"imageKeys": [name], "step": 0, "showRunParams": False}
        if self.kind == "LINE":
            card |= {"xAxisKey": "step", "scaleType": "linear", "xAxisScaleType": "linear", "yAxisKey": "metric"}
            card |= {"lineSmoothness": 0, "range": {}, "yAxisExpressions": [], "selectedXAxisMetricKey": ""}
            card |= {"ignoreOutliers": False, "useGlobalXaxisKey": True, "useGlobalLineSmoothing": True}
        return card | {"metricKey": name, "displayName": name}


@dataclass(frozen=True)
class RunsView:
    """What the runs page shows: which runs, those with the tag `first` on top and the newest next, the columns with
    their widths, and the charts."""

    search: str = ""
    first: str = ""
    columns: Mapping[str, int] = field(default_factory=dict)
    sections: Sequence[Section] = ()

    def state(self) -> dict[str, Any]:
        """The view as MLflow's page keeps it."""
        charted = [section for section in self.sections if section.metrics]
        order = {"orderByKey": tag_column(self.first), "orderByAsc": False} if self.first else {}
        return {
            "searchFilter": self.search,
            **order,
            "selectedColumns": list(self.columns),
            "columnOrder": [*_FIXED, *self.columns],
            "columnWidths": {**_FIXED, **self.columns},
            "runsHiddenMode": f"FIRST_{_RUNS_SHOWN}_RUNS",
            "compareRunCharts": [card for section in charted for card in section.cards()],
            "compareRunSections": [
                {"uuid": each.key, "name": each.title, "display": True, "isReordered": True}
                | {"deleted": False, "isGenerated": False, "columns": each.columns}
                for each in charted
            ],
            "isAccordionReordered": True,
        }


def view_tag(key: str) -> str:
    """The tag of an experiment that has the view of this key."""
    return f"mlflow.sharedViewState.{key}"


def packed(view: RunsView) -> str:
    """A view as the value of its tag."""
    content = zlib.compress(json.dumps(view.state(), separators=(",", ":")).encode())
    return f"deflate;{base64.b64encode(content).decode()}"
