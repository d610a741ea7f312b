"""From PDF files to extractions: every method on every page that has a table."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import TableError
from harness.base.progress import track
from harness.tasks.tables.evaluation import FailedTable
from harness.tasks.tables.files import Extraction, GroundTruthTable
from harness.tasks.tables.matching import match_tables
from harness.tasks.tables.methods import Method, count_pages


@dataclass(frozen=True)
class Extracted:
    """What came out of the PDF files: the tables that were tried, those that could not be, and digests by file."""

    tables: tuple[GroundTruthTable, ...]
    extractions: tuple[Extraction, ...]
    failed: tuple[FailedTable, ...]
    digests: dict[str, str]


def extract_tables(
    tables: Sequence[GroundTruthTable], folder: Path, methods: Sequence[Method], min_iou: float, quiet: bool = False
) -> Extracted:
    """Run every method on every PDF that the ground truth names. A PDF on which one fails takes its tables along."""
    contents = read_pdfs(tables, folder)
    done: list[GroundTruthTable] = []
    extractions: list[Extraction] = []
    failed: list[FailedTable] = []
    pdfs = list(contents.items())
    for name, content in pdfs if quiet else track(pdfs, "table PDFs"):
        wanted = [table for table in tables if table.pdf == name]
        try:
            found = _extract(content, wanted, methods, min_iou)
        except TableError as error:
            failed += [FailedTable(table, f"{name}: {error}") for table in wanted]
        else:
            extractions += found
            done += wanted
    return Extracted(tuple(done), tuple(extractions), tuple(failed), digests(contents))


def digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each PDF file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def read_pdfs(tables: Sequence[GroundTruthTable], folder: Path) -> dict[str, bytes]:
    """The PDF files by name; each table must name one that is there."""
    contents: dict[str, bytes] = {}
    for table in tables:
        if table.pdf is None:
            raise TableError(f"{folder}, table {table.id!r}: names no `pdf`; to extract it, say which file it is in")
        if table.pdf not in contents:
            try:
                contents[table.pdf] = (folder / table.pdf).read_bytes()
            except OSError as error:
                raise TableError(f"{folder / table.pdf}: cannot be read: {error.strerror}") from error
    return contents


def _extract(
    content: bytes, tables: Sequence[GroundTruthTable], methods: Sequence[Method], min_iou: float
) -> list[Extraction]:
    last = count_pages(content)
    for table in tables:
        if table.page > last:
            raise TableError(f"table {table.id!r} is said to be on page {table.page} of {last}")
    pages = sorted({table.page for table in tables})
    found = []
    for method in methods:
        try:
            items = method.extract(content, pages)
        except TableError:
            raise
        except Exception as error:
            raise TableError(f"{method.name} failed: {type(error).__name__}: {error}") from error
        found += match_tables(tables, items, min_iou)
    return found
