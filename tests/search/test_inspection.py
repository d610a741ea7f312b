"""What a run of a study is explained by: the numbers that it missed stand there one by one, with their causes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from harness.runs.comparison import compare
from harness.search import inspection
from harness.search.failures import missed_words
from harness.types import DroppedText
from tests.benchmark_runs import gate
from tests.report.reports import NOTHING, RIGHT, evaluation_of, run_of

SEEN = DroppedText(x=0.4, y=0.5, w=0.1, h=0.1, text="4I7", rule="min_char_score", value=0.46, limit=0.5)
WHY = '417: dropped by min_char_score 0.46 < 0.5, read "4I7"'


def test_each_missed_number_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(evaluation_of([NOTHING, RIGHT, replace(NOTHING, dropped=(SEEN,))], traced=True))
    monkeypatch.setattr(inspection, "run_of", lambda *_: run)
    monkeypatch.setattr(inspection, "comparison", lambda *_: inspection._compared(compare(gate(), run, run)))
    text = inspection.explanation(cast(Any, None), 0)
    assert f"\n\nMissed numbers\nphoto-0.jpg: 417: not seen\nphoto-2.jpg: {WHY}\n\n" in text
    assert [missed_words(item) for item in run.photos] == [["417: not seen"], [], [WHY]]


def test_a_long_list_of_missed_numbers_is_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(evaluation_of([NOTHING] * 3))
    monkeypatch.setattr(inspection, "run_of", lambda *_: run)
    monkeypatch.setattr(inspection, "comparison", lambda *_: inspection._compared(compare(gate(), run, run)))
    monkeypatch.setattr(inspection, "MOST_MISSED", 2)
    assert "... and 1 more" in inspection.explanation(cast(Any, None), 0)
