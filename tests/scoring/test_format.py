"""Scorecards as text."""

from __future__ import annotations

from harness.scoring import (
    BibScorecard,
    FaceScorecard,
    Interval,
    LinkScorecard,
    NumberScorecard,
    format_scorecard,
    markdown_scorecard,
    scorecard_sections,
)
from harness.scoring.error_types import BibErrorScorecard, FaceErrorScorecard
from harness.scoring.slices import Slice

BIB = BibScorecard(3, 1, 2, ignored=1, photos=4, ocr_correct=2, ocr_total=3, ocr_partial=1)


def test_a_rate_is_shown_with_its_n_and_its_interval() -> None:
    text = format_scorecard(bib=BIB, intervals={"bib/precision": Interval(0.5, 0.9)})
    assert "Bib detection  (4 photos, 1 ignored)" in text
    assert "precision            75.0%  [50.0%, 90.0%]    3 of 4" in text
    assert "F1                   66.7%                    3 found, 3 wrong or missed" in text
    assert "accuracy             66.7%                    2 of 3" in text
    assert "1 partial labels left out" in text


def test_nothing_vacuous_is_shown() -> None:
    text = format_scorecard(face=FaceScorecard(0, 0, 0), link=LinkScorecard(0, 0, 0, 0))
    assert "%" not in text
    assert text.count("n/a") == 8


def test_absent_scorecards_are_left_out() -> None:
    assert format_scorecard() == ""
    assert "Face" not in format_scorecard(bib=BIB)


def test_link_causes_and_number_statuses_are_told() -> None:
    text = format_scorecard(
        link=LinkScorecard(1, 0, 3, 4, bib_missed=2, linked_wrong=1, photos=2, unlabeled_photos=1),
        number=NumberScorecard(1, 0, 1, passed=1, missed=1, photos=2),
    )
    assert "(2 photos, 1 unlabelled left out, 2 bib missed, 1 linked wrong)" in text
    assert "(2 photos, 1 PASS, 0 PARTIAL, 1 MISS)" in text


def test_each_scorecard_shows_its_rates_by_name_and_errors_and_tags_their_counts() -> None:
    sections = scorecard_sections(
        bib=BIB,
        face=FaceScorecard(1, 0, 0),
        link=LinkScorecard(1, 0, 0, 1),
        number=NumberScorecard(1, 0, 0, passed=1, photos=1),
        bib_errors=BibErrorScorecard(1, 2, 3, 4, 5, wrong_text=6),
        face_errors=FaceErrorScorecard(1, 0, 0, 0, 0),
        slices=[Slice("face", "tiny", 1, 4)],
    )
    detection = ["precision", "recall", "F1", "strict precision", "strict F1"]
    shown = {section.title: section.rows for section in sections}
    assert {title: [row.label for row in rows] for title, rows in shown.items()} == {
        "Bib detection": detection,
        "Bib reading (OCR)": ["accuracy"],
        "Numbers": ["precision", "recall", "F1", "photos PASS"],
        "Face detection": detection,
        "Bib-face links": ["precision", "recall", "F1"],
        "Kinds of errors": ["bibs", "faces"],
        "Recall by tag": ["face tiny"],
    }
    (tag,), (bibs, _) = shown["Recall by tag"], shown["Kinds of errors"]
    assert (tag.value, tag.basis) == ("25.0%", "1 of 4")
    false, missed = "3 background, 2 localisation, 1 duplicate", "5 outright, 4 by localisation"
    assert (bibs.value, bibs.basis) == ("21", f"false: {false}; missed: {missed}; 6 wrong text")


def test_markdown_has_a_row_a_rate() -> None:
    lines = markdown_scorecard(scorecard_sections(bib=BIB)).splitlines()
    assert lines[2] == "| Bib detection | precision | 75.0% |  | 3 of 4 |"
    assert len(lines) == 2 + 6
