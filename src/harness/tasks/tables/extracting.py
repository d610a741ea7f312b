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
    """What came out of the PDF files: the tables that were tried, those that could not be, and digests by file.

    `failures` says, by table and method, why a method failed on a table that another one was tried on.
    """

    tables: tuple[GroundTruthTable, ...]
    extractions: tuple[Extraction, ...]
    failed: tuple[FailedTable, ...]
    digests: dict[str, str]
    failures: dict[tuple[str, str], str]


def extract_tables(
    tables: Sequence[GroundTruthTable], folder: Path, methods: Sequence[Method], min_iou: float, quiet: bool = False
) -> Extracted:
    """Run every method on every PDF that the ground truth names. Tables fail where the PDF or every method does."""
    contents = read_pdfs(tables, folder)
    done: list[GroundTruthTable] = []
    extractions: list[Extraction] = []
    failed: list[FailedTable] = []
    failures: dict[tuple[str, str], str] = {}
    pdfs = list(contents.items())
    for name, content in pdfs if quiet else track(pdfs, "table PDFs"):
        wanted = [table for table in tables if table.pdf == name]
        try:
            found, reasons = _extract(content, wanted, methods, min_iou)
        except TableError as error:
            failed += [FailedTable(table, f"{name}: {error}") for table in wanted]
        else:
            extractions += found
            done += wanted
            failures |= {(table.id, method): f"{name}: {why}" for method, why in reasons.items() for table in wanted}
    return Extracted(tuple(done), tuple(extractions), tuple(failed), digests(contents), failures)


def digests(contents: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of each PDF file."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def read_pdfs(tables: Sequence[GroundTruthTable], folder: Path) -> dict[str, bytes]:
    """The PDF files by name; each table must name one that is there."""
    contents: dict[str, bytes] = {}
    for table in tables:
        if table.pdf is None:
            raise TableError(
                f"{folder}, table {table.id!r}: names no `pdf`; to extract it, say which file it is in, or put a PDF "
                "of the same name beside its CSV or HTML file"
            )
        if table.pdf not in contents:
            try:
                contents[table.pdf] = (folder / table.pdf).read_bytes()
            except OSError as error:
                raise TableError(f"{folder / table.pdf}: cannot be read: {error.strerror}") from error
    return contents


def _extract(
    content: bytes, tables: Sequence[GroundTruthTable], methods: Sequence[Method], min_iou: float
) -> tuple[list[Extraction], dict[str, str]]:
    """What the methods extract, and why some fail. Raises TableError where nothing could be tried or all fail."""
    last = count_pages(content)
    for table in tables:
        if table.page > last:
            raise TableError(f"table {table.id!r} is said to be on page {table.page} of {last}")
    pages = sorted({table.page for table in tables})
    found: list[Extraction] = []
    failures: dict[str, str] = {}
    for method in methods:
        try:
            items = method.extract(content, pages)
        except Exception as error:  # noqa: BLE001 - a method is a library of others on a file of others
            failures[method.name] = f"{method.name} failed: {type(error).__name__}: {error}"
        else:
            found += match_tables(tables, items, min_iou)
    if len(failures) == len(methods):
        raise TableError("; ".join(failures.values()))
    return found, failures
