"""The tables of a run as HTML: scores by table and method, and each cell with what became of it.

`section` is a fragment with its own style, to stand inside a report; `page` is a whole page around it;
`write_outputs` leaves that page in a folder, with the database of all comparisons beside it. Nothing is
loaded from anywhere, everything that comes from outside is escaped, and each state of a cell has a sign and a word
beside its colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path

from harness.base.errors import TableError
from harness.scoring.grids import HEADER_ROW, Cell, Grid
from harness.tasks.tables.debug_db import write_debug_db
from harness.tasks.tables.diffs import Diff, Status, cell_diffs, count
from harness.tasks.tables.evaluation import Attempt, ScoredTable, TableEvaluation
from harness.tasks.tables.files import Extraction
from harness.tasks.tables.rates import Means
from harness.tasks.tables.summary import attempt_score, failure_lines, method_lines, percent, totals

DEBUG_FILE = "tables_debug.sqlite"
PAGE_FILE = "tables.html"

#: Tables whose diffs are open when the page is; the worst ones.
OPEN = 3
#: A table with more rows than this shows the rows that differ.
LONG = 30
#: And no more of them than this.
MOST_ROWS = 200

SIGNS = {Status.MATCHED: "=", Status.PARTIAL: "≈", Status.MISSING: "−", Status.EXTRA: "+"}
MEANINGS = {
    Status.MATCHED: "the cell came out with exactly this text, wherever it landed",
    Status.PARTIAL: "a part of the text came out; the share that counts is given",
    Status.MISSING: "no extracted cell stands for it",
    Status.EXTRA: "extracted, but stands for no cell of the table",
}

COLUMNS = (
    "Means over tables. Coverage: tables for which something was extracted. Comparable: cells in a row and a column "
    "that could be aligned; of these right: those with the right text, over the tables that have any. TEDS and GriTS: "
    "similarity as trees and as grids, as papers report it. Wins: tables on which the method is the best, ties shared. "
    "Unmatched: extracted tables that stand for none. Best of each: what always knowing the best method would give."
)

STYLE = """
.tables-report { --ink: #1b1f24; --paper: #ffffff; --line: #c4cad1; --soft: #f3f5f7; --faint: #57606a;
  --matched: #e3f4e6; --partial: #fff3cd; --missing: #fbe0df; --extra: #e3e9fb;
  color: var(--ink); background: var(--paper); font: 15px/1.45 system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .tables-report { --ink: #e4e8ec; --paper: #14171a; --line: #454c54;
  --soft: #1f2429; --faint: #9aa4ae; --matched: #16351d; --partial: #46380c; --missing: #4b1f1e; --extra: #1f2d58; } }
.tables-report h2, .tables-report h3, .tables-report h4 { margin: 1.2em 0 .4em; line-height: 1.2; }
.tables-report p { margin: .4em 0; }
.tables-report table { border-collapse: collapse; margin: .5em 0; }
.tables-report th, .tables-report td { border: 1px solid var(--line); padding: .2em .5em; text-align: left;
  vertical-align: top; }
.tables-report th { background: var(--soft); font-weight: 600; }
.tables-report td.number { text-align: right; font-variant-numeric: tabular-nums; }
.tables-report .scroll { overflow-x: auto; }
.tables-report .grids { display: flex; flex-wrap: wrap; gap: 0 2em; }
.tables-report .grids > div { min-width: 0; max-width: 100%; }
.tables-report details { border: 1px solid var(--line); border-radius: 6px; padding: .4em .8em; margin: .5em 0; }
.tables-report summary { cursor: pointer; }
.tables-report .note { color: var(--faint); font-size: .9em; }
.tables-report .matched { background: var(--matched); }
.tables-report .partial { background: var(--partial); border-style: dashed; }
.tables-report .missing { background: var(--missing); border-style: double; border-width: 3px; }
.tables-report .extra { background: var(--extra); border-style: dotted; border-width: 2px; }
.tables-report .sign { font-weight: 700; margin-right: .35em; }
.tables-report .got { display: block; color: var(--faint); font-size: .9em; }
.tables-report .gap { text-align: center; color: var(--faint); font-style: italic; }
"""


def write_outputs(folder: Path, evaluation: TableEvaluation, extractions: Sequence[Extraction], means: Means) -> None:
    """Write the page and the database into a folder; those of an earlier call are replaced."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DEBUG_FILE).unlink(missing_ok=True)
        write_debug_db(folder / DEBUG_FILE, evaluation, [item for item in extractions if item.table_id is None])
        (folder / PAGE_FILE).write_text(page(evaluation, means))
    except OSError as error:
        raise TableError(f"{folder}: cannot be written: {error.strerror}") from error


def page(evaluation: TableEvaluation, means: Means, title: str = "Tables") -> str:
    """A page of its own."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>body {{ margin: 0; }} .tables-report {{ padding: 1em 2em; }}</style>"
        f"</head><body>\n{section(evaluation, means)}\n</body></html>\n"
    )


def section(evaluation: TableEvaluation, means: Means) -> str:
    """The fragment for a report."""
    worst = sorted(evaluation.tables, key=lambda table: table.chosen.quality_score)[:OPEN]
    opened = {table.table.id for table in worst if table.chosen.quality_score < 100}
    parts = [
        f'<section class="tables-report"><style>{STYLE}</style>',
        f'<h2 id="tables">Tables</h2><p>{escape(totals(evaluation))}</p>',
        _failures(evaluation),
        _methods(evaluation, means),
        _overview(evaluation),
        _legend(),
        *(_table(table, table.table.id in opened) for table in evaluation.tables),
        "</section>",
    ]
    return "\n".join(filter(None, parts))


def _failures(evaluation: TableEvaluation) -> str:
    parts = {
        "Not evaluated, and in no rate:": [f"{failed.table.id}: {failed.reason}" for failed in evaluation.failed],
        "Methods that failed where others did not:": failure_lines(evaluation),
    }
    return "".join(_listed(title, lines) for title, lines in parts.items() if lines)


def _listed(title: str, lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<p><strong>{title}</strong></p><ul>{items}</ul>"


def _methods(evaluation: TableEvaluation, means: Means) -> str:
    head, *lines = method_lines(evaluation, means)
    body = "".join(f"<tr><th>{escape(line[0])}</th>{_numbers(line[1:])}</tr>" for line in lines)
    return f'<div class="scroll"><table><tr>{_headings(head)}</tr>{body}</table></div><p class="note">{COLUMNS}</p>'


def _overview(evaluation: TableEvaluation) -> str:
    head = ("table", "caption", *(f"fuzzy F1, {method}" for method in evaluation.methods), "taken")
    rows = []
    for scored in evaluation.tables:
        cells = "".join(
            f'<td class="number">{_score(attempt)}{_winner(share)}</td>'
            for attempt, share in zip(scored.attempts, scored.wins, strict=True)
        )
        taken = scored.chosen.method if scored.chosen.extraction else "none"
        rows.append(
            f"<tr><th>{escape(scored.table.id)}</th><td>{escape(scored.table.caption)}</td>{cells}"
            f"<td>{escape(taken)}</td></tr>"
        )
    return f'<h3>By table</h3><div class="scroll"><table><tr>{_headings(head)}</tr>{"".join(rows)}</table></div>'


def _score(attempt: Attempt) -> str:
    return attempt_score(attempt, "none extracted")


def _winner(share: float) -> str:
    return "" if not share else " (best)" if share == 1 else " (tied)"


def _legend() -> str:
    items = "".join(
        f'<tr><td class="{status}"><span class="sign">{SIGNS[status]}</span>{status}</td><td>{meaning}</td></tr>'
        for status, meaning in MEANINGS.items()
    )
    note = "Texts are shown as they are compared: white space, ligatures, dashes and small digits are normalised."
    return f'<h3>Cell by cell</h3><table>{items}</table><p class="note">{note}</p>'


def _table(scored: ScoredTable, is_open: bool) -> str:
    table = scored.table
    place = ", ".join(filter(None, (table.pdf, f"page {table.page}")))
    scores = ", ".join(f"{attempt.method} {_score(attempt)}" for attempt in scored.attempts)
    name = f"<strong>{escape(table.id)}</strong> {escape(table.caption)} <span class='note'>({escape(place)})</span>"
    attempts = "".join(_attempt(attempt) for attempt in scored.attempts)
    return f"<details{' open' if is_open else ''}><summary>{name}: {escape(scores)}</summary>{attempts}</details>"


def _attempt(attempt: Attempt) -> str:
    title = f"<h4>{escape(attempt.method)}: {percent(attempt.quality_score)}</h4>"
    if attempt.extraction is None:
        why = f"The method failed: {escape(attempt.failure)}" if attempt.failure else "No table was extracted here"
        return f"{title}<p>{why}; every cell is missing.</p>"
    diffs = cell_diffs(attempt.assignment())
    found = ", ".join(f"{number} {status}" for status, number in count(diffs).items())
    result = attempt.comparison
    in_place = f"{percent(result.cell_accuracy_pct)} of {result.comparable_cells}" if result.comparable_cells else "n/a"
    facts = (
        f"Precision {percent(result.fuzzy_precision_pct)}, recall {percent(result.fuzzy_recall_pct)}; "
        f"cells: {found}; comparable cells in their place: {in_place}; {_shape('truth', result.gt_shape)}, "
        f"{_shape('extracted', result.ext_shape)}."
    )
    return f'{title}<p class="note">{facts}</p>{grids(attempt.table.grid, attempt.extraction.grid, diffs)}'


def grids(truth: Grid, extracted: Grid, diffs: Sequence[Diff]) -> str:
    """Both tables side by side, each cell with what became of it."""
    left = _grid("Ground truth", truth, {_key(diff.gt): diff for diff in diffs if diff.gt}, show_other=True)
    right = _grid("Extracted", extracted, {_key(diff.ext): diff for diff in diffs if diff.ext}, show_other=False)
    return f'<div class="grids">{left}{right}</div>'


def _grid(title: str, grid: Grid, diffs: Mapping[tuple[int, int], Diff], *, show_other: bool) -> str:
    rows = "".join(_rows(grid, diffs, show_other))
    scroll = f'<div class="scroll" tabindex="0" role="group" aria-label="{title}"><table>{rows}</table></div>'
    return f"<div><p><strong>{title}</strong></p>{scroll}</div>"


def _rows(grid: Grid, diffs: Mapping[tuple[int, int], Diff], show_other: bool) -> Iterator[str]:
    """The rows of a grid; of a long one, stretches without a difference and what is past the limit become a line."""
    lines = list(enumerate((grid.headers, *grid.rows), start=HEADER_ROW))
    shown, skipped = 0, 0
    for number, line in lines:
        states = {diffs[number, column].status for column, text in enumerate(line) if text}
        if len(lines) > LONG and (shown >= MOST_ROWS or (shown and states <= {Status.MATCHED})):
            skipped += 1
            continue
        if skipped:
            yield _gap(skipped, len(line), "matched")
            skipped = 0
        shown += 1
        yield f"<tr>{''.join(_cell(text, diffs.get((number, c)), show_other) for c, text in enumerate(line))}</tr>"
    if skipped:
        yield _gap(skipped, len(grid.headers), "matched" if shown < MOST_ROWS else "more; tables_debug.sqlite has all")


def _gap(rows: int, columns: int, what: str) -> str:
    return f'<tr><td class="gap" colspan="{max(columns, 1)}">{rows} rows {what}</td></tr>'


def _cell(text: str, diff: Diff | None, show_other: bool) -> str:
    if diff is None:
        return "<td></td>"
    sign = f'<span class="sign" title="{diff.status}">{SIGNS[diff.status]}</span>'
    other = ""
    if show_other and diff.status is Status.PARTIAL and diff.ext:
        other = f'<span class="got">came out as “{escape(diff.ext.text)}” ({diff.score:.0%})</span>'
    return f'<td class="{diff.status}">{sign}{escape(text)}{other}</td>'


def _headings(names: Sequence[str]) -> str:
    return "".join(f"<th>{escape(name)}</th>" for name in names)


def _numbers(values: Sequence[str]) -> str:
    return "".join(f'<td class="number">{escape(value)}</td>' for value in values)


def _shape(what: str, shape: tuple[int, int]) -> str:
    return f"{what} {shape[0]} × {shape[1]}"


def _key(cell: Cell | None) -> tuple[int, int]:
    assert cell is not None
    return cell.row, cell.column
