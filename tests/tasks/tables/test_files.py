"""Ground truth and extractions as files: what is read, and how a mistake is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import TableError
from harness.tasks.tables.files import read_extractions, read_ground_truth, write_extractions, write_ground_truth
from tests.tasks.tables.builders import extracted, table

GOOD: dict[str, Any] = {"id": "t1", "headers": ["a", None], "rows": [["1", "2"], ["3"]], "page": 2, "caption": "T"}
LINE: dict[str, Any] = {"table_id": "t1", "method": "m", "headers": ["a"], "rows": [["1"]]}


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def test_a_folder_has_one_table_a_file(tmp_path: Path) -> None:
    write(tmp_path / "b.json", GOOD | {"id": "b"})
    write(tmp_path / "a.json", GOOD | {"id": "a", "bbox": [1, 2, 3, 4], "pdf": "x.pdf"})
    tables = read_ground_truth(tmp_path)
    assert [item.id for item in tables] == ["a", "b"]
    assert tables[0].bbox == (1.0, 2.0, 3.0, 4.0)
    assert tables[1].rows == (("1", "2"), ("3",))


def test_a_file_has_one_table_or_a_list(tmp_path: Path) -> None:
    assert len(read_ground_truth(write(tmp_path / "one.json", GOOD))) == 1
    assert len(read_ground_truth(write(tmp_path / "two.json", [GOOD, GOOD | {"id": "t2"}]))) == 2


def test_what_is_written_is_read(tmp_path: Path) -> None:
    tables = [table("t1", [["a", "ﬁ"], ["−1", None]], bbox=(0.0, 1.0, 2.0, 3.0), pdf="x.pdf", page=3)]
    write_ground_truth(tmp_path / "gt.json", tables)
    assert read_ground_truth(tmp_path / "gt.json") == tuple(tables)
    items = [extracted("m", "t1", [["a", None]], page=1, bbox=(0.0, 1.0, 2.0, 3.0)), extracted("m", None, [])]
    write_extractions(tmp_path / "ext.jsonl", items)
    assert read_extractions(tmp_path / "ext.jsonl", ["t1"]) == tuple(items)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD | {"rows": [["1", 0.1]]}, r"rows.0.1: must be a string, got 0.1"),
        (GOOD | {"headers": "ab"}, r"headers: must be an? (array|tuple), got 'ab'"),
        (GOOD | {"page": 0}, r"page: must be greater than or equal to 1, got 0"),
        (GOOD | {"titel": "x"}, r"titel: .*"),
        ({"id": "t"}, r"headers: .*"),
        (GOOD | {"headers": [" "], "rows": []}, r"table 't1' has no cell with text"),
        (GOOD | {"bbox": [5, 0, 1, 9]}, r"bbox \[5.0, 0.0, 1.0, 9.0\]: expected left, top, right, bottom"),
        ([], r"no tables"),
        ([GOOD, GOOD], r"a second table with the id 't1'"),
    ],
)
def test_a_mistake_in_the_ground_truth_is_named_with_its_file(tmp_path: Path, content: object, message: str) -> None:
    with pytest.raises(TableError, match=rf"gt\.json: (the file: )?{message}"):
        read_ground_truth(write(tmp_path / "gt.json", content))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([json.dumps(LINE), "{"], r"line 2: .*JSON"),
        ([json.dumps(LINE | {"table_id": "t9"})], r"line 1: table_id 't9' is not in the ground truth"),
        ([json.dumps(LINE), "", json.dumps(LINE)], r"line 3: m has extracted 't1' already"),
        ([json.dumps(LINE | {"method": "a b"})], r"line 1: method: String should match pattern"),
        ([json.dumps(LINE | {"rows": [[1]]})], r"line 1: rows.0.0: must be a string"),
        ([""], r"no extractions"),
    ],
)
def test_a_mistake_in_the_extractions_is_named_with_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    (tmp_path / "ext.jsonl").write_text("\n".join(lines))
    with pytest.raises(TableError, match=message):
        read_extractions(tmp_path / "ext.jsonl", ["t1"])


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_a_path_without_tables_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(TableError, match=r"cannot be read|no tables"):
        read_ground_truth(tmp_path / name)
