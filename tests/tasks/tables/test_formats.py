"""Ground truth in public formats: what is read, and how a mistake is named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TypeAlias

import pytest

from harness.base.errors import TableError
from harness.tasks.tables.evaluation import evaluate_tables
from harness.tasks.tables.extracting import extract_tables
from harness.tasks.tables.files import GroundTruthTable, read_ground_truth
from tests.tasks.tables.builders import MARGIN, extracted, page_size, pdf, pdfplumber, ruled_table

LINES = [["name", "time"], ["Ada", "41"], ["Bo", "43"]]

MERGED_HTML = """
<html><body><p>Not a table.</p>
<table id="races"><caption>Times of <i>two</i>
 runners</caption>
 <thead><tr><th rowspan="2">name<th colspan="2">time</tr><tr><th>May</th><th>June</th></tr></thead>
 <tbody><tr><td>Ada &amp; Bo</td><td>41<br>07</td><td>&nbsp;</td></tr></tbody>
</table>
<table><tr><td>lap</td></tr></table></body></html>
"""

STRUCTURE = ["<thead>", "<tr>", "<td", ' colspan="2"', ">", "</td>", "</tr>", "</thead>", "<tbody>", "<tr>"]
STRUCTURE += ["<td>", "</td>", "<td>", "</td>", "</tr>", "</tbody>"]
PUBTABNET = {
    "filename": "PMC1_2.png",
    "split": "val",
    "imgid": 7,
    "html": {
        "structure": {"tokens": STRUCTURE},
        "cells": [
            {"tokens": ["<b>", "T", "i", "m", "e", "</b>"], "bbox": [1, 2, 3, 4]},
            {"tokens": ["p", " ", "<", " ", "5"], "bbox": [1, 2, 3, 4]},
            {"tokens": []},
        ],
    },
}

STR_XML = """<?xml version="1.0" encoding="UTF-8"?>
<document filename='race.pdf'><table id='1'>
 <region id='1' page='1' col-increment='0' row-increment='0'>
  <cell id='1' start-row='0' start-col='0' end-row='1'>
   <bounding-box x1='40' y1='60' x2='90' y2='70'/><content>name</content></cell>
  <cell id='2' start-row='0' start-col='1' end-col='2'><content>time</content></cell>
  <cell id='3' start-row='1' start-col='1'><content>May</content></cell>
  <cell id='4' start-row='1' start-col='2'><content>June</content></cell>
 </region>
 <region id='2' page='2' col-increment='0' row-increment='2'>
  <cell id='5' start-row='0' start-col='0'><content>Ada</content></cell>
 </region>
</table></document>"""

REG_XML = """<document filename='race.pdf'><table id='1'>
 <region id='1' page='1'><bounding-box x1='40' y1='56' x2='160' y2='88'/></region></table></document>"""


#: Row, column, further attributes and content of the cells of a region.
IcdarCells: TypeAlias = Sequence[tuple[int, int, dict[str, int], str | None]]
TRUTH = Path(__file__).parents[2] / "data" / "tables_truth"


def icdar_xml(regions: Sequence[IcdarCells]) -> str:
    """A structure file as they are published: every cell has the id 1, and blank cells are left out."""
    parts = []
    for number, cells in enumerate(regions, start=1):
        parts.append(f"<region col-increment='0' id='{number}' page='1' row-increment='0'>")
        for row, column, further, content in cells:
            more = "".join(f" {name}='{value}'" for name, value in further.items())
            text = "" if content is None else f"<content>{escape(content)}</content><instruction instr-id='7'/>"
            parts.append(f"<cell id='1' start-row='{row}' start-col='{column}'{more}>{text}</cell>")
        parts.append("</region>")
    return f"<?xml version='1.0' encoding='UTF-8'?><document><table id='1'>{''.join(parts)}</table></document>"


def read(folder: Path, name: str, text: str) -> tuple[GroundTruthTable, ...]:
    (folder / name).write_text(text, encoding="utf-8")
    return read_ground_truth(folder / name)


def lines(table: GroundTruthTable) -> list[list[str | None]]:
    return [list(line) for line in (table.headers, *table.rows)]


class TestCsv:
    def test_a_file_is_a_table(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path, "may.csv", '\ufeffname,time\n"Ada, Jr.",41\n"Bo\nII",\n')
        assert (found.id, found.page, found.pdf) == ("may", 1, None)
        assert lines(found) == [["name", "time"], ["Ada, Jr.", "41"], ["Bo\nII", None]]

    def test_it_belongs_to_the_pdf_of_its_name_and_can_be_extracted(self, tmp_path: Path) -> None:
        (tmp_path / "may.pdf").write_bytes(pdf(ruled_table(LINES)))
        found = read(tmp_path, "may.csv", "\n".join(map(",".join, LINES)))
        extractions = extract_tables(found, tmp_path, [pdfplumber()], 0.1, quiet=True).extractions
        (scored,) = evaluate_tables(found, extractions, ["pdfplumber"]).tables
        assert scored.chosen.quality_score == 100


class TestHtml:
    def test_spans_captions_and_open_tags(self, tmp_path: Path) -> None:
        first, second = read(tmp_path, "page.html", MERGED_HTML)
        assert (first.id, first.caption, second.id) == ("races", "Times of two runners", "page-2")
        assert lines(first) == [["name", "time", None], [None, "May", "June"], ["Ada & Bo", "41 07", "\xa0"]]

    def test_the_only_table_has_the_name_of_its_file(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path, "page.htm", "<table><tr><td>a<td>b<tr><td rowspan=9>c</table>")
        assert (found.id, lines(found)) == ("page", [["a", "b"], ["c", None]])


class TestPubTabNet:
    def test_a_line_is_a_table(self, tmp_path: Path) -> None:
        (found,) = read(tmp_path, "val.jsonl", json.dumps(PUBTABNET) + "\n\n")
        assert (found.id, lines(found)) == ("PMC1_2", [["Time", None], ["p < 5", None]])


class TestIcdar:
    def test_a_region_is_a_table(self, tmp_path: Path) -> None:
        first, second = read(tmp_path, "race-str.xml", STR_XML)
        assert [(table.id, table.page, table.bbox, table.pdf) for table in (first, second)] == [
            ("race-1-1", 1, None, None),
            ("race-1-2", 2, None, None),
        ]
        assert lines(first) == [["name", "time", None], [None, "May", "June"]]
        assert lines(second) == [["Ada"]]

    def test_boxes_are_turned_where_the_pdf_tells_the_height(self, tmp_path: Path) -> None:
        size = page_size(LINES)
        (tmp_path / "race.pdf").write_bytes(pdf(ruled_table(LINES, size[1]), size=size))
        first, second = read(tmp_path, "race-str.xml", STR_XML)
        assert (first.pdf, first.bbox, second.bbox) == ("race.pdf", (40.0, size[1] - 70, 90.0, size[1] - 60), None)
        (tmp_path / "race-reg.xml").write_text(REG_XML)
        first, _ = read_ground_truth(tmp_path)
        assert first.bbox == (float(MARGIN), size[1] - 88, 160.0, size[1] - 56)

    @pytest.mark.parametrize("filename", ["bm_race-str.xml", "", "RACE.PDF", "elsewhere/race.pdf", "moved.pdf"])
    def test_the_pdf_of_its_own_name_stands_in_where_the_named_one_is_none(self, tmp_path: Path, filename: str) -> None:
        (tmp_path / "race.pdf").write_bytes(pdf(ruled_table(LINES)))
        first, _ = read(tmp_path, "race-str.xml", STR_XML.replace("race.pdf", filename))
        assert first.pdf == "race.pdf"

    def test_parts_of_a_document_with_one_name_are_different_tables(self, tmp_path: Path) -> None:
        for part in "ab":
            (tmp_path / f"eu-009{part}-str.xml").write_text(STR_XML.replace("race.pdf", "bm_eu-009-str.xml"))
        (tmp_path / "._eu-009a-str.xml").write_bytes(b"\x00\x05\x16\x07 of a Mac")
        ids = [table.id for table in read_ground_truth(tmp_path)]
        assert ids == ["eu-009a-1-1", "eu-009a-1-2", "eu-009b-1-1", "eu-009b-1-2"]

    @pytest.mark.parametrize(
        ("cells", "expected"),
        [
            ([(-1, 0, {}, "name"), (-1, 1, {}, "time"), (0, 0, {}, "Ada")], [["name", "time"], ["Ada", None]]),
            ([(0, 1, {"end-col": 0}, "time"), (1, 1, {}, "41")], [["time"], ["41"]]),
            ([(0, 0, {}, "a"), (0, 1, {}, "b"), (0, 1, {}, "c")], [["a", "b", "c"]]),
            ([(0, 0, {"end-col": 1, "end-row": 0}, "both"), (1, 1, {}, "41")], [["both", None], [None, "41"]]),
            ([(0, 0, {}, "Involvement \n at the"), (0, 1, {}, None)], [["Involvement \n at the", None]]),
            ([(0, 0, {}, "a"), (0, 1, {"end-col": 110}, "b"), (1, 0, {}, "c")], [["a", "b"], ["c", None]]),
        ],
        ids=["rows begin at -1", "ends before it begins", "two in one place", "a span", "no content", "ends too far"],
    )
    def test_oddities_of_the_published_files_lose_no_text(
        self, tmp_path: Path, cells: IcdarCells, expected: list[list[str | None]]
    ) -> None:
        (found,) = read(tmp_path, "odd-str.xml", icdar_xml([cells]))
        assert lines(found) == expected

    def test_regions_with_the_same_id_and_boxes_without_area(self, tmp_path: Path) -> None:
        (tmp_path / "odd.pdf").write_bytes(pdf(ruled_table(LINES)))
        text = icdar_xml([[(0, 0, {}, "a"), (1, 0, {}, "b")], [(0, 0, {}, "c")]]).replace("id='2'", "id='1'")
        first, second = read(
            tmp_path, "odd-str.xml", text.replace("</content>", "</content><bounding-box x1='9' y1='9' x2='9' y2='9'/>")
        )
        assert [(table.id, table.bbox) for table in (first, second)] == [("odd-1-1", None), ("odd-1-2", None)]

    @pytest.mark.parametrize("x1", ["", "35o", "nan", "inf"])
    def test_a_box_that_is_not_made_of_numbers_is_none_and_the_table_is_read(self, tmp_path: Path, x1: str) -> None:
        (tmp_path / "race.pdf").write_bytes(pdf(ruled_table(LINES)))
        first, _ = read(tmp_path, "race-str.xml", STR_XML.replace("x1='40'", f"x1='{x1}'"))
        assert (first.bbox, lines(first)) == (None, [["name", "time", None], [None, "May", "June"]])

    def test_a_region_file_as_it_was_published(self, tmp_path: Path) -> None:
        """The form of `eu-027-reg.xml`: its own name, with `bm_`, and the drawing instructions of each region."""
        size = page_size(LINES)
        (tmp_path / "race.pdf").write_bytes(pdf(ruled_table(LINES, size[1]), size=size))
        (tmp_path / "race-reg.xml").write_text(
            """<?xml version="1.0" encoding="UTF-8"?>
<document filename='bm_race-reg.xml'>
   <table id='1'>
      <region id='1' page='1'>
         <instruction instr-id='220'/>
         <instruction instr-id='226'/>
         <bounding-box x1='42' y1='50' x2='82' y2='86'/>
      </region>
   </table>
</document>
"""
        )
        first, second = read(tmp_path, "race-str.xml", STR_XML.replace("race.pdf", "bm_race-str.xml"))
        assert (first.bbox, second.bbox) == ((42.0, size[1] - 86, 82.0, size[1] - 50), None)

    def test_parts_that_name_one_pdf_which_is_not_there_are_different_tables(self, tmp_path: Path) -> None:
        for part in "ab":
            (tmp_path / f"us-035{part}-str.xml").write_text(STR_XML.replace("race.pdf", "us-035.pdf"))
        (tmp_path / "us-035a.pdf").write_bytes(pdf(ruled_table(LINES)))
        found = [(table.id, table.pdf) for table in read_ground_truth(tmp_path)]
        assert found[::2] == [("us-035a-1-1", "us-035a.pdf"), ("us-035b-1-1", None)]

    def test_the_typed_truth_comes_back_from_its_format(self, tmp_path: Path) -> None:
        tables = read_ground_truth(TRUTH)
        for table in tables:
            rows = enumerate((table.headers, *table.rows))
            cells: IcdarCells = [(i, j, {}, text) for i, row in rows for j, text in enumerate(row) if text]
            (tmp_path / f"{table.id}-str.xml").write_text(icdar_xml([cells]), encoding="utf-8")
        found = {table.id.removesuffix("-1"): table.grid for table in read_ground_truth(tmp_path)}
        assert found == {table.id: table.grid for table in tables}


def test_a_folder_is_read_in_one_format(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.csv").write_text("x,y\n1,2\n")
    (tmp_path / "extractions.jsonl").write_text("{}\n")
    assert [table.id for table in read_ground_truth(tmp_path)] == ["a", "b"]
    (tmp_path / "own.json").write_text('{"id": "own", "headers": ["a"], "rows": []}')
    assert [table.id for table in read_ground_truth(tmp_path)] == ["own"]


def test_what_was_read_is_scored_like_any_other(tmp_path: Path) -> None:
    tables = read(tmp_path, "may.csv", "\n".join(map(",".join, LINES)))
    (scored,) = evaluate_tables(tables, [extracted("m", "may", LINES)], ["m"]).tables
    assert scored.chosen.quality_score == scored.chosen.comparison.structural_coverage_pct == 100


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", 'a,b\n"x"y,1\n', r"t\.csv: line 2: ',' expected after '\"'"),
        ("t.csv", ",\n,\n", r"t\.csv: the table: .*no cell with text"),
        ("t.csv", "", r"t\.csv: the table: .*no cell with text"),
        ("t.html", "<p>nothing</p>", r"t\.html: no tables"),
        ("t.html", "<table></table>", r"t\.html: table 1: no cells"),
        ("t.html", "<table><tr><td colspan=x>a</table>", r't\.html: table 1: colspan="x"; expected a number from 1'),
        ("t.html", "<table><tr><td rowspan=0>a</table>", r't\.html: table 1: rowspan="0"; expected a number from 1'),
        ("t.html", "<table><tr><td><table></table>", r"t\.html: table 1: a table inside a table"),
        ("t.html", "<table id=a><tr><td>x</table><table id=a><tr><td>y</table>", r"a second table with the id 'a'"),
        ("t.jsonl", '{"filename": "a.png"}\n', r"t\.jsonl: line 1: expected `filename`.*KeyError: 'html'"),
        ("t.jsonl", "\n{", r"t\.jsonl: line 2: expected `filename`.*JSONDecodeError"),
        (
            "t.jsonl",
            json.dumps({"filename": "a", "html": {"structure": {"tokens": STRUCTURE}, "cells": []}}),
            r"line 1: .*0 cells for 3 places in the structure",
        ),
        ("t-str.xml", "<document", r"t-str\.xml: not valid XML: unclosed token"),
        ("t-str.xml", "<document/>", r"t-str\.xml: no tables"),
        ("t-str.xml", STR_XML.replace("page='2'", "page='two'"), r"table 1, region 2: page is 'two'; expected a whole"),
        ("t-str.xml", STR_XML.replace("page='2'", "page='0'"), r"table 1, region 2: page: must be greater"),
        ("t-reg.xml", REG_XML, r"t-reg\.xml: expected a structure file of ICDAR 2013"),
    ],
    ids=lambda value: None if len(value) < 60 else "",
)
def test_a_mistake_is_named_with_its_file_and_record(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(TableError, match=message):
        read(tmp_path, name, text)


def test_what_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,\xff\n")
    with pytest.raises(TableError, match=r"t\.csv: not UTF-8"):
        read_ground_truth(tmp_path / "t.csv")
