"""The page of diffs: every cell with its state, escaped, self-contained, short where tables are long."""

from __future__ import annotations

import re

from harness.tasks.tables.evaluation import FailedTable, TableEvaluation, evaluate_tables
from harness.tasks.tables.html import MOST_ROWS, page, section
from harness.tasks.tables.rates import mean_rates, score_cards
from tests.tasks.tables.builders import extracted, table

LINES = [["name", "time"], ["efficient", "41:07"], ["Bo", "43.3"]]
EXTRACTED = [["name", "time"], ["effcient", "41:07"], ["new", "44.4"]]


def shown(evaluation: TableEvaluation) -> str:
    return page(evaluation, mean_rates(score_cards(evaluation)))


def states(html: str) -> list[tuple[str, str]]:
    """Class and text of each cell of the diffs."""
    diffs = html[html.index("<details") :]
    cells = re.findall(r'<td class="(\w+)"><span class="sign" title="\w+">.</span>([^<]*)', diffs)
    return [(state, text) for state, text in cells]


def test_each_cell_shows_what_became_of_it() -> None:
    html = shown(evaluate_tables([table("t", LINES)], [extracted("m", "t", EXTRACTED)], ["m"]))
    found = states(html)
    assert ("matched", "41:07") in found
    assert ("partial", "efficient") in found
    assert "came out as “effcient” (" in html
    assert {("missing", "43.3"), ("extra", "44.4"), ("missing", "Bo"), ("extra", "new")} <= set(found)
    assert "3 matched, 1 partial, 2 missing, 2 extra" in html


def test_a_state_is_told_without_its_colour() -> None:
    html = shown(evaluate_tables([table("t", LINES)], [extracted("m", "t", EXTRACTED)], ["m"]))
    for sign, state in (("=", "matched"), ("≈", "partial"), ("−", "missing"), ("+", "extra")):
        assert f'<span class="sign">{sign}</span>{state}' in html


def test_everything_from_outside_is_escaped() -> None:
    evil = "<script>alert(1)</script>"
    gt = [table(evil, [[evil, "b"]], caption=evil, pdf=f"{evil}.pdf")]
    failed = [FailedTable(table("f", LINES), evil)]
    html = shown(evaluate_tables(gt, [extracted("m", evil, [[f"{evil}!"]])], ["m"], failed))
    assert evil not in html
    assert "&lt;script&gt;" in html


def test_nothing_is_loaded_from_anywhere() -> None:
    html = shown(evaluate_tables([table("t", LINES)], [extracted("m", "t", EXTRACTED)], ["m"]))
    assert not re.search(r"src=|href=|@import|url\(|http", html)
    assert "prefers-color-scheme: dark" in html


def test_the_fragment_stands_inside_another_page() -> None:
    evaluation = evaluate_tables([table("t", LINES)], [extracted("m", "t", EXTRACTED)], ["m"])
    fragment = section(evaluation, mean_rates(score_cards(evaluation)))
    assert fragment.startswith('<section class="tables-report">')
    assert fragment.endswith("</section>")
    style = fragment[fragment.index("<style>") + 7 : fragment.index("</style>")]
    selectors = re.findall(r"^([.@][^{]*)\{", style, re.MULTILINE)
    assert selectors
    assert all(item.startswith((".tables-report", "@media")) for item in selectors)


def test_what_was_not_extracted_is_said() -> None:
    html = shown(evaluate_tables([table("t", LINES)], [extracted("a", "t", LINES)], ["a", "b"]))
    assert "No table was extracted here; every cell is missing." in html
    assert "none extracted" in html


def test_long_tables_show_what_differs() -> None:
    truth = [["n", "v"], *([f"row{n}", f"value{n}"] for n in range(800))]
    came = [list(line) for line in truth]
    came[300][1] = "lost"
    html = shown(evaluate_tables([table("t", truth)], [extracted("m", "t", came)], ["m"]))
    assert "299 rows matched" in html
    assert "500 rows matched" in html
    assert len(html) < 30_000


def test_a_long_table_that_is_all_wrong_ends_somewhere() -> None:
    truth = [["n", "v"], *([f"{n}", f"{n}.5"] for n in range(800))]
    came = [["n", "v"], *([f"{n}", f"{n}.5"] for n in range(3000, 3800))]
    html = shown(evaluate_tables([table("t", truth)], [extracted("m", "t", came)], ["m"]))
    assert html.count("tables_debug.sqlite has all") == 2
    assert html.count("<tr>") < 2 * MOST_ROWS + 50
