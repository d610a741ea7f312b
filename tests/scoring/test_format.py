"""Scorecards as text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from harness.scoring import (
    BibScorecard,
    CountRow,
    Declaration,
    FaceScorecard,
    Figure,
    Interval,
    LinkScorecard,
    Note,
    NumberScorecard,
    Rate,
    Scorecard,
    Section,
    format_scorecard,
    markdown_sections,
    shown_sections,
)
from harness.scoring.error_types import BibErrorScorecard, FaceErrorScorecard
from harness.scoring.format import NOT_PREDICTED, Row, ShownSection, text_sections
from harness.scoring.slices import Slice

BIB = BibScorecard(3, 1, 2, ignored=1, photos=4, ocr_correct=2, ocr_total=3, ocr_partial=1)


def test_a_rate_is_shown_with_its_n_and_its_interval() -> None:
    text = format_scorecard(BIB, intervals={"bib/precision": Interval(0.5, 0.9)})
    assert "Bib detection  (4 photos, 1 ignored)" in text
    assert "precision            75.0%  [50.0%, 90.0%]    3 of 4" in text
    assert "F1                   66.7%                    3 found, 3 wrong or missed" in text
    assert "accuracy             66.7%                    2 of 3" in text
    assert "1 partial labels left out" in text


def test_beside_n_stands_the_effective_n_and_too_few_groups_are_told() -> None:
    known = {"bib/precision": Interval(0.5, 0.9, 3.456, 12), "bib/recall": Interval(0.2, 0.9, 1234.5, 900)}
    text = format_scorecard(BIB, intervals=known)
    assert "precision            75.0%  [50.0%, 90.0%]    3 of 4, effective n 3.5" in text
    assert "3 of 5, effective n 1234" in text
    assert "groups" not in text
    few = format_scorecard(BIB, intervals={"bib/precision": Interval(0.2, 1.0, 1.0, 1)})
    assert "3 of 4, effective n 1 of 1 group" in few
    assert "Bib detection  (4 photos, 1 ignored, fewer than five groups: the intervals take each for one target)" in few


def test_nothing_vacuous_is_shown() -> None:
    text = format_scorecard(FaceScorecard(0, 0, 0), LinkScorecard(0, 0, 0, 0))
    assert text == "Nothing to count for: Face detection, Bib-face links"


def test_sections_without_anything_to_count_are_named_beside_the_others() -> None:
    text = format_scorecard(BIB, FaceScorecard(0, 0, 0))
    assert text.startswith("Bib detection")
    assert text.endswith("\n\nNothing to count for: Face detection")


def test_a_count_above_zero_is_told_though_no_rate_can_be() -> None:
    rows = (Row("recall", "n/a", "", "nothing to count", "x/recall"), Row("broken", "2", "", "of 5"))
    assert "broken" in text_sections([ShownSection("Groups", rows, "")])


def test_what_is_not_predicted_is_told_apart_from_what_is_not_labelled() -> None:
    rows = (Row("recall", "n/a", "", NOT_PREDICTED, "x/recall"),)
    assert text_sections([ShownSection("Faces", rows, "")]) == "Not predicted: Faces"


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


def test_each_scorecard_shows_its_rates_by_name_and_errors_and_tags_their_counts() -> None:
    cards = [
        BIB,
        FaceScorecard(1, 0, 0),
        LinkScorecard(1, 0, 0, 1),
        NumberScorecard(1, 0, 0, passed=1, photos=1),
        BibErrorScorecard(1, 2, 3, 4, 5, wrong_text=6),
        FaceErrorScorecard(1, 0, 0, 0, 0),
    ]
    sections = shown_sections([card.counted() for card in cards], slices=[Slice("face", "tiny", 1, 4)])
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
    lines = markdown_sections(shown_sections([BIB.counted()])).splitlines()
    assert lines[2] == "| Bib detection | precision | 75.0% |  | 3 of 4 |"
    assert len(lines) == 2 + 6


@dataclass(frozen=True)
class Warmth(Scorecard):
    """A card with a count of each kind, a figure, and two sections of which one is shared."""

    warmth: float = 0.0
    days: int = 0
    lost: int = 0

    DECLARED: ClassVar = Declaration(
        name="warmth",
        rates={"mean": Rate.of("warmth/mean", "warmth", "days", label="mean")},
        figures=(
            Figure("warmth/peak", label="peak", basis=("days", "lost"), words="days in all"),
            Figure("warmth/bare", label="bare"),
        ),
        sections=(
            Section("Weather", ("warmth/peak", "warmth/mean", "warmth/bare"), (Note("lost", "days lost"),)),
            Section(
                "Rows",
                rows=(CountRow("always", ("lost",), "{lost} of {days}"), CountRow("seldom", ("lost",), "", False)),
            ),
        ),
    )


def test_a_mean_of_fractions_and_a_figure_say_what_they_rest_on() -> None:
    card = Warmth(1.5, 2).counted({"warmth/peak": 0.875, "warmth/bare": 0.25})
    (weather, rows) = shown_sections([card], intervals={"warmth/mean": Interval(0.5, 1)})
    assert [(row.label, row.value, row.interval, row.basis, row.metric) for row in weather.rows] == [
        ("peak", "87.5%", "", "2 days in all", "warmth/peak"),
        ("mean", "75.0%", "[50.0%, 100.0%]", "mean of 2", "warmth/mean"),
        ("bare", "25.0%", "", "", "warmth/bare"),
    ]
    assert weather.note == "", "a count of 0 is not told"
    assert [(row.label, row.value, row.basis) for row in rows.rows] == [("always", "0", "0 of 2")]


def test_a_figure_that_was_not_measured_has_no_row_and_a_mean_of_nothing_is_not_0() -> None:
    (weather, rows) = shown_sections([Warmth(lost=3).counted()])
    assert [(row.label, row.value, row.basis) for row in weather.rows] == [("mean", "n/a", "nothing to count")]
    assert weather.note == "3 days lost"
    assert [row.label for row in rows.rows] == ["always", "seldom"]


def bib_card(**counts: int) -> BibScorecard:
    return replace(BibScorecard(0, 0, 0), **counts)


@pytest.mark.parametrize(
    ("counts", "reasons"),
    [
        ({"detection_fn": 7}, {"precision": "no predictions", "strict precision": "no predictions"}),
        ({"detection_fp": 2}, {"recall": "no targets"}),
        (
            {},
            {
                "precision": "no predictions",
                "recall": "no targets",
                "F1": "no targets and no predictions",
                "strict precision": "no predictions",
                "strict F1": "no targets and no predictions",
            },
        ),
    ],
)
def test_a_rate_of_nothing_says_what_is_missing(counts: dict[str, int], reasons: dict[str, str]) -> None:
    detection, _ = shown_sections([bib_card(**counts).counted()])
    assert {row.label: row.basis for row in detection.rows if row.value == "n/a"} == reasons


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({}, "no targets"),
        ({"detection_fn": 7}, "nothing found"),
        ({"detection_tp": 7, "ocr_partial": 7}, "nothing to compare"),
    ],
)
def test_reading_says_why_no_number_could_be_compared(counts: dict[str, int], reason: str) -> None:
    _, reading = shown_sections([bib_card(**counts).counted()])
    assert [(row.value, row.basis) for row in reading.rows] == [("n/a", reason)]


def test_sections_of_one_title_are_one_with_both_notes_and_all_rows() -> None:
    first, second = Warmth(1.0, 1, 1).counted(), Warmth(1.0, 2, 2).counted()
    weather, rows = shown_sections([first, second])
    assert (weather.title, weather.note) == ("Weather", "1 days lost, 2 days lost")
    assert [row.basis for row in weather.rows] == ["mean of 1", "mean of 2"]
    assert len(rows.rows) == 4


def test_counts_are_written_out_however_large() -> None:
    text = format_scorecard(FaceScorecard(1234567, 65433, 0, photos=1300000))
    assert "1234567 of 1300000" in text
    assert "(1300000 photos, 0 ignored)" in text
    (weather, _) = shown_sections([Warmth(0.5, lost=2).counted(), Warmth(0.25, 1, 2).counted()])
    assert weather.rows[1].basis == "mean of 1"


def test_what_is_not_predicted_is_shown_as_such() -> None:
    card = Warmth(0.5, 1, 2).counted()
    (weather, rows) = shown_sections([replace(card, counts={}, unknown=tuple(card.counts))])
    assert [(row.label, row.value, row.basis) for row in weather.rows] == [("mean", "n/a", "not predicted")]
    assert weather.note == "not predicted"
    assert {(row.value, row.basis) for row in rows.rows} == {("n/a", "not predicted")}
