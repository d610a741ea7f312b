"""Scorecards as text."""

from __future__ import annotations

from harness.scoring import (
    BibScorecard,
    FaceScorecard,
    Interval,
    LinkScorecard,
    NumberScorecard,
    format_scorecard,
    markdown_sections,
    shown_sections,
)

BIB = BibScorecard(3, 1, 2, ignored=1, photos=4, ocr_correct=2, ocr_total=3, ocr_partial=1)


def test_a_rate_is_shown_with_its_n_and_its_interval() -> None:
    text = format_scorecard(BIB, intervals={"bib/precision": Interval(0.5, 0.9)})
    assert "Bib detection  (4 photos, 1 ignored)" in text
    assert "precision            75.0%  [50.0%, 90.0%]    3 of 4" in text
    assert "F1                   66.7%                    3 found, 3 wrong or missed" in text
    assert "accuracy             66.7%                    2 of 3" in text
    assert "1 partial labels left out" in text


def test_nothing_vacuous_is_shown() -> None:
    text = format_scorecard(FaceScorecard(0, 0, 0), LinkScorecard(0, 0, 0, 0))
    assert "%" not in text
    assert text.count("n/a") == 8


def test_absent_scorecards_are_left_out() -> None:
    assert format_scorecard() == ""
    assert "Face" not in format_scorecard(BIB)


def test_link_causes_and_number_statuses_are_told() -> None:
    text = format_scorecard(
        LinkScorecard(1, 0, 3, 4, bib_missed=2, linked_wrong=1, photos=2, unlabeled_photos=1),
        NumberScorecard(1, 0, 1, passed=1, missed=1, photos=2),
    )
    assert "(2 photos, 1 unlabelled left out, 2 bib missed, 1 linked wrong)" in text
    assert "(2 photos, 1 PASS, 0 PARTIAL, 1 MISS)" in text


def test_markdown_has_a_row_a_rate() -> None:
    lines = markdown_sections(shown_sections([BIB.counted()])).splitlines()
    assert lines[2] == "| Bib detection | precision | 75.0% |  | 3 of 4 |"
    assert len(lines) == 2 + 6
