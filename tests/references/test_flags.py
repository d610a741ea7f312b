"""Doubts about labels: kept for a person, answered by changing the labels, and changing nothing themselves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import ReferenceSetError
from harness.references import flags
from harness.references.flags import FILE, Flag, add_flag, labels_digest, open_flags, read_flags
from harness.types import BibBox, PhotoLabels

LABELS = PhotoLabels(bibs=(BibBox(x=0.1, y=0.2, w=0.3, h=0.1, number="417"),))


def flag(why: str = "it reads 471", **changes: object) -> Flag:
    told: dict[str, object] = {"photo": "a" * 64, "kind": "bib", "number": "417", "why": why, "by": "agent a"}
    return Flag.model_validate({**told, "study": "s", "at": "2026-01-01", "labels": labels_digest(LABELS), **changes})


def test_a_doubt_is_kept_once_and_stands_until_the_labels_change(tmp_path: Path) -> None:
    assert read_flags(tmp_path) == ()
    assert add_flag(tmp_path, flag())
    assert not add_flag(tmp_path, flag("once more"))
    assert add_flag(tmp_path, flag(x=0.5, w=0.1))
    kept = read_flags(tmp_path)
    assert [each.why for each in kept] == ["it reads 471", "it reads 471"]
    assert len(open_flags(kept, "a" * 64, LABELS)) == 2
    mended = replace(LABELS, bibs=(replace(LABELS.bibs[0], number="471"),) if LABELS.bibs else None)
    assert open_flags(kept, "a" * 64, mended) == []
    assert open_flags(kept, "b" * 64, LABELS) == []


def test_too_many_doubts_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flags, "MOST_OPEN", 2)
    for place in (0.1, 0.2):
        assert add_flag(tmp_path, flag(x=place))
    with pytest.raises(ReferenceSetError, match="2 doubts wait for a person"):
        add_flag(tmp_path, flag(x=0.3))


def test_a_line_that_is_none_is_told_with_its_place(tmp_path: Path) -> None:
    add_flag(tmp_path, flag())
    with (tmp_path / FILE).open("a") as file:
        file.write('{"photo": 3}\n')
    with pytest.raises(ReferenceSetError, match=r"flags.jsonl:2: no flag"):
        read_flags(tmp_path)
