"""The items of a run's other tasks: a list of them, the cells of one table, the boxes of a run and of one sample."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from harness.base.texts import plural
from harness.exploring.item_files import CONFIDENCE, TABLES, sample_of, table_of
from harness.exploring.items import ItemRow, ItemSelection, ItemTable
from harness.exploring.opened import OpenedRun
from harness.exploring.selection import BesideRun, Chosen
from harness.labeling.context import Context, PageNumber, Shared
from harness.labeling.opening import being_read, opened_run
from harness.labeling.refusals import Refusal
from harness.labeling.rendering import render
from harness.runs.comparison import Change
from harness.tasks.confidence.boxes import BoxTable
from harness.tasks.tables.debug_db import KeptAttempt, KeptTable
from harness.tasks.tables.diffs import Status
from harness.tasks.tables.html import MEANINGS, SIGNS, grids

ITEMS_PER_PAGE, BOXES_PER_PAGE = 100, 200
CHANGE_WORDS = {Change.BROKEN: "▼ newly broken", Change.FIXED: "▲ newly fixed"}
#: Of a task whose scorecards have no ledger: what is newly broken is told nowhere else, and is not told here.
RATE_WORDS = {Change.BROKEN: "▼ worse", Change.FIXED: "▲ better"}
#: Parts of the scores between 0 and 1 in the picture of boxes by score.
_BINS = 20

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


class ItemQuery(ItemSelection):
    """A selection of items, and the page of it."""

    page: PageNumber = 1


class BoxQuery(BesideRun):
    """Which boxes to see, the highest score first."""

    state: Chosen[Literal["right", "wrong"]] = None
    page: PageNumber = 1


@router.get("/runs/{run_id}/items")
def items(request: Request, context: Shared, run_id: str, query: Annotated[ItemQuery, Query()]) -> Response:
    """The items of a task, worst first."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="Items")
    table = _table(opened, query.task)
    names = {row.id: _name(opened, table.task, row) for row in table.rows}
    rows = query.among(table, lambda row: names[row.id])
    start = (query.page - 1) * ITEMS_PER_PAGE
    return render(
        request,
        "items.html",
        opened=opened,
        table=table,
        tasks=list(opened.items),
        query=query,
        rows=rows[start : start + ITEMS_PER_PAGE],
        names=names,
        states=_states(opened) if table.task == CONFIDENCE else {},
        total=len(rows),
        pages=max(1, -(-len(rows) // ITEMS_PER_PAGE)),
        change_words={str(change): words for change, words in _words(table).items()},
        linked=table.task in (TABLES, CONFIDENCE),
        quoted=lambda text: quote(text, safe=""),
    )


@router.get("/runs/{run_id}/items/boxes")
def boxes(request: Request, context: Shared, run_id: str, query: Annotated[BoxQuery, Query()]) -> Response:
    """All boxes of a run by their scores."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="Items")
    if (found := opened.boxes) is None:
        raise Refusal(404, "not_found", "this run scored no boxes")
    chosen = np.flatnonzero(_chosen(found, query.state))
    start = (query.page - 1) * BOXES_PER_PAGE
    return render(
        request,
        "boxes.html",
        opened=opened,
        boxes=found,
        rows=chosen[start : start + BOXES_PER_PAGE].tolist(),
        total=len(chosen),
        query=query,
        pages=max(1, -(-len(chosen) // BOXES_PER_PAGE)),
        bins=_bins(found),
    )


@router.get("/runs/{run_id}/items/tables/{table_id:path}")
def one_table(
    request: Request, context: Shared, run_id: str, table_id: str, query: Annotated[BesideRun, Query()]
) -> Response:
    """One table, cell by cell."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="Items")
    table = _table(opened, TABLES)
    kept = table_of(context.opened.store.open(), opened.entry.run_id, table_id)
    if kept is None or table_id not in table.by_id:
        raise Refusal(404, "not_found", f"run {opened.entry.short_id} has no table {table_id!r}")
    base = _base_table(context, opened, table_id)
    return render(
        request,
        "item_table.html",
        opened=opened,
        table=kept,
        attempts=sorted(kept.attempts, key=lambda attempt: not attempt.chosen),
        first=table.rates[0],
        counts=_cell_counts,
        earlier={attempt.method: attempt for attempt in base.attempts} if base else {},
        grids=_grids,
        legend=[(str(status), SIGNS[status], MEANINGS[status]) for status in Status],
        **_ways(table, table_id, query),
    )


@router.get("/runs/{run_id}/items/confidence/{place}")
def one_sample(
    request: Request, context: Shared, run_id: str, place: int, query: Annotated[BesideRun, Query()]
) -> Response:
    """One sample: its boxes by score."""
    if (opened := opened_run(context, run_id, query.against)) is None:
        return being_read(request, run_id)
    if opened.run is None:
        return render(request, "sealed.html", opened=opened, here="Items")
    table = _table(opened, CONFIDENCE)
    sample = sample_of(context.opened.store.open(), opened.entry.run_id, opened.run, place)
    if sample is None:
        raise Refusal(404, "not_found", f"run {opened.entry.short_id} has no sample {place}")
    ways = _ways(table, str(place), query)
    return render(request, "item_sample.html", opened=opened, sample=sample, place=place, **ways)


def _table(opened: OpenedRun, task: str | None) -> ItemTable:
    tables = opened.items
    if not tables or (task is not None and task not in tables):
        there = f"; it has {', '.join(tables)}" if tables else ""
        raise Refusal(404, "not_found", f"run {opened.entry.short_id} has no items of {task or 'other tasks'}{there}")
    return tables[task or next(iter(tables))]


def _words(table: ItemTable) -> dict[Change, str]:
    return CHANGE_WORDS if table.in_ledger else RATE_WORDS


def _name(opened: OpenedRun, task: str, row: ItemRow) -> str:
    if task == CONFIDENCE and opened.boxes and row.id.isdigit():
        return opened.boxes.images[int(row.id)] or row.name
    return row.name


def _states(opened: OpenedRun) -> dict[str, list[int]]:
    """By state of a box, how many each sample has."""
    return {str(state): counts.tolist() for state, counts in opened.boxes.counts.items()} if opened.boxes else {}


def _chosen(found: BoxTable, state: str | None) -> Any:
    return np.ones(len(found.right), dtype=bool) if state is None else found.right == (state == "right")


def _bins(found: BoxTable) -> list[tuple[int, int]]:
    """How many boxes are right and wrong in each part of the scores."""
    place = np.minimum((found.score * _BINS).astype(int), _BINS - 1)
    right = np.bincount(place[found.right], minlength=_BINS)
    wrong = np.bincount(place[~found.right], minlength=_BINS)
    return list(zip(right.tolist(), wrong.tolist(), strict=True))


def _base_table(context: Context, opened: OpenedRun, table_id: str) -> KeptTable | None:
    if opened.base is None or opened.comparison is None or TABLES not in opened.comparison.base.tasks:
        return None
    return table_of(context.opened.store.open(), opened.base.run_id, table_id)


def _cell_counts(attempt: KeptAttempt) -> str:
    """How many cells became what, in words."""
    found = Counter(diff.status for diff in attempt.diffs)
    return ", ".join(f"{found[status]} {status}" for status in Status)


def _grids(attempt: KeptAttempt) -> Markup:
    """Both tables side by side; the report makes and escapes them."""
    return Markup(grids(attempt.truth, attempt.extracted, attempt.diffs)) if attempt.extracted else Markup("")


def _ways(table: ItemTable, item: str, query: BesideRun) -> dict[str, Any]:
    """The items before and after one, worst first, and the way back to all of them."""
    order = [row.id for row in table.worst(table.rows) if not row.failed]
    place = order.index(item) if item in order else -1
    before, after = order[max(place - 1, 0) : place], order[place + 1 : place + 2] if place >= 0 else []
    return {
        "row": table.by_id.get(item),
        "task": table.task,
        "plural": plural(table.noun),
        "query": query,
        "position": place + 1,
        "count": len(order),
        "before": quote(before[0], safe="") if place > 0 else None,
        "after": quote(after[0], safe="") if after else None,
    }
