"""Draw the sample: a PDF of two pages and its ground truth. The same environment gives the same bytes."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.cache import made_once
from harness.base.code import source_key
from harness.tasks.tables.files import GroundTruthTable, write_ground_truth
from harness.tasks.tables.sample.contents import REMARKS, TABLES, SampleTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PDF = "sample.pdf"
GROUND_TRUTH = "tables.json"
WIDTH, HEIGHT = 595.0, 842.0
_INCH = 72.0
_PADDING = 4.0
#: How far the vertical rules of a `shifted` table stand beside each other, row by row.
_SHIFTS = (0.0, 2.5)


def ensure_sample() -> Path:
    """The ground truth of the sample, with its PDF beside it, made now if it is not there yet."""
    return made_once(f"tables-{source_key(__package__)}", draw_sample) / GROUND_TRUTH


def draw_sample(folder: Path) -> None:
    """Write the PDF and the ground truth."""
    import matplotlib
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    # Type 42 keeps text as text; the name of the font is all that depends on the machine otherwise.
    with (
        matplotlib.rc_context({"pdf.fonttype": 42, "font.family": "DejaVu Sans", "pdf.compression": 6}),
        PdfPages(folder / PDF, metadata={"CreationDate": None, "Title": "Sample tables"}) as pdf,
    ):
        for page in sorted({table.page for table in TABLES}):
            figure = Figure(figsize=(WIDTH / _INCH, HEIGHT / _INCH))
            _draw_page(figure, page)
            pdf.savefig(figure)
    write_ground_truth(folder / GROUND_TRUTH, [ground_truth(table) for table in TABLES])


def ground_truth(table: SampleTable) -> GroundTruthTable:
    """The table as it should come out."""
    first, *rest = table.lines
    return GroundTruthTable(
        id=table.id,
        headers=first,
        rows=tuple(rest),
        page=table.page,
        caption=table.caption,
        bbox=(table.left, table.top, table.left + sum(table.widths), table.top + sum(table.heights)),
        pdf=PDF,
    )


def _draw_page(figure: Figure, page: int) -> None:
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(HEIGHT, 0))
    axes.axis("off")
    axes.text(60, 70, f"Sample report, page {page}", fontsize=14)
    for table in TABLES:
        if table.page == page:
            axes.text(table.left, table.top - 8, table.caption, fontsize=min(9, table.size + 3), style="italic")
            _draw_text(axes, table)
            _draw_rules(axes, table)
    for number, left, top, width, text in REMARKS:
        if number == page:
            _draw_remark(axes, left, top, left + width, text)


def _draw_remark(axes: Any, left: float, top: float, right: float, text: str) -> None:
    bottom, cut = top + 28, left + 40
    _rule(axes, (left, right, right, left, left), (top, top, bottom, bottom, top))
    _rule(axes, (cut, cut), (top, bottom))
    for x, part in ((left, "Note"), (cut, text)):
        axes.text(x + 8, (top + bottom) / 2, part, fontsize=8, va="center")


def _draw_text(axes: Any, table: SampleTable) -> None:
    lefts, tops = _edges(table)
    for row, line in enumerate(table.lines):
        for column, cell in enumerate(line):
            if cell:
                x, y = lefts[column] + _PADDING, (tops[row] + tops[row + 1]) / 2
                axes.text(x, y, cell, fontsize=table.size, va="center_baseline", linespacing=1.25, parse_math=False)


def _draw_rules(axes: Any, table: SampleTable) -> None:
    lefts, tops = _edges(table)
    ends = (lefts[0], lefts[-1])
    if table.rules == "horizontal":
        for y in (tops[0], tops[1], tops[-1]):
            _rule(axes, ends, (y, y))
    elif table.rules != "none":
        for y in tops:
            _rule(axes, ends, (y, y))
        for row in range(len(table.lines)):
            shift = _SHIFTS[row % len(_SHIFTS)] if table.rules == "shifted" else 0.0
            for column, x in enumerate(lefts):
                if not _inside_span(table, row, column):
                    _rule(axes, (x + shift, x + shift), (tops[row], tops[row + 1]))


def _inside_span(table: SampleTable, row: int, column: int) -> bool:
    """Whether the rule left of a column would cut a merged cell."""
    return any(at == row and start < column < start + columns for (at, start), columns in table.spans.items())


def _edges(table: SampleTable) -> tuple[list[float], list[float]]:
    """The left edge of each column and the top of each row, and after them the far ends."""
    return list(accumulate(table.widths, initial=table.left)), list(accumulate(table.heights, initial=table.top))


def _rule(axes: Any, x: tuple[float, ...], y: tuple[float, ...]) -> None:
    axes.plot(x, y, color="black", linewidth=0.5, solid_capstyle="butt")
