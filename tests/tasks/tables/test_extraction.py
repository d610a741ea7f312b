"""Real extraction: what every method promises, and PDF files that are broken, locked, empty or huge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.base.errors import ConfigError, TableError
from harness.config import build, compose
from harness.runs.plan import Showing
from harness.tasks.tables.extracting import Extracted, extract_tables
from harness.tasks.tables.files import Extraction, write_ground_truth
from harness.tasks.tables.methods import Method, count_pages
from harness.tasks.tables.task import TableFiles, TableSample
from tests.tasks.tables.builders import LOCK, camelot, page_size, pdf, pdfplumber, ruled_table, table

LINES = [["name", "time", "km"], ["Ada", "41", "10"], ["Bo", "43", "10"], ["Cyn", "90", "21"], ["Dee", "95", "21"]]
PROSE = b"BT /F1 9 Tf 60 700 Td (Nothing but a line of prose.) Tj ET"
METHODS: list[Method] = [
    pdfplumber(),
    pdfplumber(vertical_strategy="text", horizontal_strategy="text"),
    *(camelot(flavor=flavor) for flavor in ("network", "stream", "lattice", "hybrid")),
]


@dataclass(frozen=True)
class Broken:
    """A method that fails on every file."""

    name: str = "broken"

    def extract(self, content: bytes, pages: Sequence[int]) -> list[Extraction]:
        raise ZeroDivisionError("by zero")


def extract(folder: Path, content: bytes, *methods: Method, page: int = 1) -> Extracted:
    (folder / "x.pdf").write_bytes(content)
    return extract_tables([table("t", LINES, pdf="x.pdf", page=page)], folder, methods or METHODS, 0.1)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: getattr(method, "flavor", method.name))
class TestEveryMethod:
    def test_extracts_a_plain_table(self, method: Method, tmp_path: Path) -> None:
        (item,) = extract(tmp_path, pdf(PROSE, ruled_table(LINES)), method, page=2).extractions
        assert (item.method, item.page, item.table_id) == (method.name, 2, "t")
        assert [list(line) for line in (item.headers, *item.rows) if any(line)] == LINES

    def test_says_where_it_is(self, method: Method, tmp_path: Path) -> None:
        (item,) = method.extract(pdf(ruled_table(LINES)), [1])
        assert item.bbox is not None
        left, top, right, bottom = item.bbox
        assert 39 <= left < right <= 221
        assert 39 <= top < bottom <= 121
        assert (right - left) * (bottom - top) > 0.5 * 180 * 80

    @pytest.mark.parametrize("content", [PROSE, b""], ids=["prose", "blank"])
    def test_a_page_without_tables_has_none(self, method: Method, content: bytes, tmp_path: Path) -> None:
        result = extract(tmp_path, pdf(content), method)
        assert result.failed == ()
        assert [item for item in result.extractions if len(item.grid.cells()) > 1] == []


class TestWhatCannotBeRead:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"no PDF at all", "not a PDF that can be read"),
            (b"", "not a PDF that can be read"),
            (pdf(ruled_table(LINES))[:300], "not a PDF that can be read"),
            (pdf(ruled_table(LINES), trailer=LOCK), "encrypted with a password; decrypt it first"),
        ],
        ids=["other", "empty", "cut", "encrypted"],
    )
    def test_fails_its_tables_with_a_reason(self, content: bytes, reason: str, tmp_path: Path) -> None:
        result = extract(tmp_path, content, pdfplumber())
        assert result.tables == ()
        assert [item.table.id for item in result.failed] == ["t"]
        assert result.failed[0].reason.startswith(f"x.pdf: {reason}")

    def test_a_page_that_is_not_there(self, tmp_path: Path) -> None:
        (failure,) = extract(tmp_path, pdf(PROSE), pdfplumber(), page=7).failed
        assert failure.reason == "x.pdf: table 't' is said to be on page 7 of 1"

    def test_a_method_that_raises_is_named_and_takes_nothing_from_the_others(self, tmp_path: Path) -> None:
        result = extract(tmp_path, pdf(ruled_table(LINES)), Broken(), pdfplumber())
        assert result.failed == ()
        assert [(item.method, item.table_id) for item in result.extractions] == [("pdfplumber", "t")]
        assert result.failures == {("t", "broken"): "x.pdf: broken failed: ZeroDivisionError: by zero"}

    def test_a_table_on_which_every_method_raises_is_not_evaluated(self, tmp_path: Path) -> None:
        result = extract(tmp_path, pdf(PROSE), Broken(), Broken("second"))
        assert (result.tables, result.failures) == ((), {})
        assert result.failed[0].reason == (
            "x.pdf: broken failed: ZeroDivisionError: by zero; second failed: ZeroDivisionError: by zero"
        )

    def test_others_are_evaluated_all_the_same(self, tmp_path: Path) -> None:
        (tmp_path / "good.pdf").write_bytes(pdf(ruled_table(LINES)))
        (tmp_path / "bad.pdf").write_bytes(b"?")
        tables = [table("good", LINES, pdf="good.pdf"), table("bad", LINES, pdf="bad.pdf")]
        result = extract_tables(tables, tmp_path, [pdfplumber()], 0.1)
        assert [item.id for item in result.tables] == ["good"]
        assert [item.table.id for item in result.failed] == ["bad"]

    def test_a_file_that_is_missing_or_not_named_stops_everything(self, tmp_path: Path) -> None:
        with pytest.raises(TableError, match=r"gone\.pdf: cannot be read: No such file"):
            extract_tables([table("t", LINES, pdf="gone.pdf")], tmp_path, METHODS, 0.1)
        with pytest.raises(TableError, match=r"table 't': names no `pdf`"):
            extract_tables([table("t", LINES)], tmp_path, METHODS, 0.1)


def test_pages_are_counted() -> None:
    assert count_pages(pdf(PROSE, PROSE, PROSE)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("method", [pdfplumber(), camelot()], ids=lambda method: str(method.name))
def test_a_table_of_5000_cells(method: Method, tmp_path: Path) -> None:
    lines = [[f"r{row}c{column}" for column in range(25)] for row in range(200)]
    size = page_size(lines)
    (item,) = method.extract(pdf(ruled_table(lines, size[1]), size=size), [1])
    assert [list(line) for line in (item.headers, *item.rows)] == lines


class TestInARun:
    def test_the_sample_shows_what_the_methods_and_their_combination_give(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
        result = sample().evaluate(folder(tmp_path), seed=0, quiet=True)
        kept = result.kept
        metrics = {**kept.metrics(), **result.metrics}
        assert 0 < metrics["table/win_rate_pdfplumber"] < metrics["table/win_rate_camelot"] < 1
        assert metrics["table/fuzzy_f1"] == metrics["table/fuzzy_f1_camelot"] > metrics["table/fuzzy_f1_pdfplumber"]
        assert metrics["table/combine_gain"] == 0
        assert metrics["table/teds"] > metrics["table/teds_camelot"] > metrics["table/teds_pdfplumber"]
        assert metrics["interval/table_fuzzy_f1_low"] < metrics["table/fuzzy_f1"]
        assert metrics["count/tables"] == 7
        assert len(kept.items) == 7
        assert kept.failed == ()
        assert kept.tally("table").total().counts == pytest.approx(kept.cards["table"].counts)
        assert "made-up sample" in kept.text
        assert result.show is not None
        assert "<section" in result.show(Showing(tmp_path)).html
        written = {path.name for path in folder(tmp_path).iterdir()}
        assert written == {"tables.html", "tables_debug.sqlite", "tables_extractions.jsonl"}

    def test_settings_change_what_comes_out(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
        alone = sample("tables.camelot.enabled=false")
        methods = [replace(alone.pdfplumber, snap_tolerance=float(snap)) for snap in (1, 3, 6)]
        tasks = [replace(alone, pdfplumber=method) for method in methods]
        found = [task.evaluate(folder(tmp_path), seed=0, quiet=True).kept.metrics() for task in tasks]
        one, three, six = (metrics["table/fuzzy_f1"] for metrics in found)
        assert one < three > six != one

    def test_the_sample_is_drawn_the_same_each_time(self, tmp_path: Path) -> None:
        from harness.tasks.tables.sample.draw import draw_sample

        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            draw_sample(tmp_path / name)
        for file in (tmp_path / "one").iterdir():
            assert file.read_bytes() == (tmp_path / "two" / file.name).read_bytes()

    def test_a_broken_pdf_is_a_failure_and_no_score(self, tmp_path: Path) -> None:
        (tmp_path / "x.pdf").write_bytes(b"?")
        write_ground_truth(tmp_path / "gt.json", [table("t", LINES, pdf="x.pdf")])
        task = TableFiles(0.1, pdfplumber(), camelot(), str(tmp_path / "gt.json"))
        result = task.evaluate(folder(tmp_path), seed=0, quiet=True)
        (failed,) = result.kept.failed
        assert f"{failed.name}: {failed.reason}".startswith("table t: x.pdf: not a PDF that can be read")
        assert not [name for name in result.kept.metrics() if name.startswith("table/")]
        assert result.metrics["count/tables_failed"] == 1

    def test_a_method_that_fails_scores_nothing_is_told_and_the_run_is_complete(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "x.pdf").write_bytes(pdf(ruled_table(LINES)))
        write_ground_truth(tmp_path / "gt.json", [table("t", LINES, pdf="x.pdf")])
        monkeypatch.setattr("harness.tasks.tables.camelot.Camelot.extract", Broken.extract)
        task = TableFiles(0.1, pdfplumber(), camelot(), str(tmp_path / "gt.json"))
        result = task.evaluate(folder(tmp_path), seed=0, quiet=True)
        metrics = {**result.kept.metrics(), **result.metrics}
        assert result.kept.failed == ()
        assert (metrics["table/fuzzy_f1"], metrics["table/fuzzy_f1_camelot"]) == (1.0, 0.0)
        assert (metrics["count/tables_failed"], metrics["count/tables_failed_camelot"]) == (0, 1)
        told = "scored as 0 on 1 table: x.pdf: camelot failed: ZeroDivisionError: by zero"
        assert told in result.kept.text
        assert result.show is not None
        assert told in result.show(Showing(tmp_path)).html

    def test_without_a_method_there_is_nothing_to_run(self) -> None:
        with pytest.raises(ConfigError, match="no method is enabled; expected one of pdfplumber, camelot"):
            sample("tables.camelot.enabled=false", "tables.pdfplumber.enabled=false")

    @pytest.mark.parametrize(
        ("override", "message"),
        [
            ("tables.pdfplumber.snap_tolerance=-1", "snap_tolerance: must be greater than or equal to 0"),
            ("tables.camelot.flavor=ml", "flavor: must be 'network', 'stream', 'lattice' or 'hybrid'"),
            ("tables.pdfplumber.snap=1", "tables.pdfplumber.snap: no such key"),
            ("tables.min_iou=0", "min_iou: must be greater than 0"),
        ],
    )
    def test_a_wrong_setting_is_named(self, override: str, message: str) -> None:
        with pytest.raises(ConfigError, match=message):
            sample(override)


def sample(*overrides: str) -> TableSample:
    (found,) = (item for item in build(compose(["tables=sample", *overrides])).tasks if isinstance(item, TableSample))
    return found


def folder(root: Path) -> Path:
    (root / "run").mkdir(exist_ok=True)
    return root / "run"
