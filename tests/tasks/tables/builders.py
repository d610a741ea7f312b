"""PDF files and tables for tests, written by hand: nothing between the test and what it means."""

from __future__ import annotations

from collections.abc import Sequence

from harness.tasks.tables.camelot import Camelot
from harness.tasks.tables.files import Extraction, GroundTruthTable
from harness.tasks.tables.pdfplumber import Pdfplumber

CELL_WIDTH, CELL_HEIGHT, MARGIN = 60, 16, 40

#: No password opens it: the key of the empty password does not fit.
LOCK = (
    b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >> "
    b"/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
)


def pdf(*pages: bytes, size: tuple[int, int] = (595, 842), trailer: bytes = b"") -> bytes:
    """A PDF whose pages have the given content streams; `/F1` is Helvetica."""
    numbers = [4 + 2 * number for number in range(len(pages))]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, content in zip(numbers, pages, strict=True):
        resources = b"/Resources << /Font << /F1 3 0 R >> >>"
        box = b"/MediaBox [0 0 %d %d]" % size
        objects.append(b"<< /Type /Page /Parent 2 0 R %s %s /Contents %d 0 R >>" % (box, resources, number + 1))
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table) + end


def page_size(lines: Sequence[Sequence[str]]) -> tuple[int, int]:
    """A page that the table fits on."""
    return 2 * MARGIN + CELL_WIDTH * len(lines[0]), 2 * MARGIN + CELL_HEIGHT * len(lines)


def ruled_table(lines: Sequence[Sequence[str]], height: int = 842) -> bytes:
    """A page with a framed table; what its cells say must be plain letters and digits."""
    rows, columns = len(lines), max(map(len, lines))
    top, right = height - MARGIN, MARGIN + columns * CELL_WIDTH
    parts = []
    for row in range(rows + 1):
        y = top - row * CELL_HEIGHT
        parts.append(f"{MARGIN} {y} m {right} {y} l S")
    for column in range(columns + 1):
        x = MARGIN + column * CELL_WIDTH
        parts.append(f"{x} {top} m {x} {top - rows * CELL_HEIGHT} l S")
    for row, line in enumerate(lines):
        for column, text in enumerate(line):
            x, y = MARGIN + column * CELL_WIDTH + 3, top - (row + 1) * CELL_HEIGHT + 4
            parts.append(f"BT /F1 8 Tf {x} {y} Td ({text}) Tj ET")
    return "\n".join(["0.5 w", *parts]).encode()


def table(table_id: str, lines: Sequence[Sequence[str | None]], **fields: object) -> GroundTruthTable:
    """A table of the ground truth from its lines."""
    first, *rest = (tuple(line) for line in lines)
    return GroundTruthTable(id=table_id, headers=first, rows=tuple(rest), **fields)  # type: ignore[arg-type]


def extracted(method: str, table_id: str | None, lines: Sequence[Sequence[str | None]], **fields: object) -> Extraction:
    """An extraction from its lines; no lines is an empty table."""
    first, *rest = (tuple(line) for line in lines) if lines else [()]
    return Extraction(method=method, table_id=table_id, headers=first, rows=tuple(rest), **fields)  # type: ignore[arg-type]


def pdfplumber(**settings: object) -> Pdfplumber:
    """The method as the config has it."""
    tolerances = dict.fromkeys(
        (
            "snap_tolerance",
            "join_tolerance",
            "intersection_tolerance",
            "edge_min_length",
            "text_x_tolerance",
            "text_y_tolerance",
        ),
        3.0,
    )
    words = {"min_words_vertical": 3, "min_words_horizontal": 1}
    strategies = {"vertical_strategy": "lines", "horizontal_strategy": "lines"}
    return Pdfplumber(**{"enabled": True, **strategies, **tolerances, **words, **settings})  # type: ignore[arg-type]


def camelot(**settings: object) -> Camelot:
    """The method as the config has it."""
    text = {"flavor": "network", "edge_tol": None, "row_tol": 2, "column_tol": 0, "split_text": False}
    lines = {"line_scale": 15, "line_tol": 2, "joint_tol": 2}
    return Camelot(**{"enabled": True, **text, **lines, **settings})  # type: ignore[arg-type]
