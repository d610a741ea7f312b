"""What the scorecards declare. Users build on metric names, gates, rows and headlines: they change on purpose only."""

from __future__ import annotations

import pytest

from harness.scoring import (
    BibErrorScorecard,
    BibScorecard,
    FaceErrorScorecard,
    FaceScorecard,
    LinkScorecard,
    NumberScorecard,
    Scorecard,
)
from harness.scoring.cards import Declaration
from harness.scoring.confidence_card import ConfidenceScorecard
from harness.scoring.speed import SPEED
from harness.scoring.table_card import TableScorecard, declare_tables

DETECTION_NOTES = [("photos", True), ("unlabelled left out", False), ("ignored", True)]
CAUSES = ("bib missed", "face missed", "both missed", "not linked", "linked wrong")

#: Scorecard -> metric, label, headline and gate of each rate.
RATES: dict[type[Scorecard], list[tuple[str, str, str, str]]] = {
    NumberScorecard: [
        ("number/precision", "precision", "", "judged"),
        ("number/recall", "recall", "", "no"),
        ("number/f1", "F1", "numbers", "judged"),
        ("number/pass_rate", "photos PASS", "", "no"),
    ],
    BibScorecard: [
        ("bib/precision", "precision", "", "no"),
        ("bib/recall", "recall", "", "no"),
        ("bib/f1", "F1", "bibs", "judged"),
        ("bib/strict_precision", "strict precision", "", "no"),
        ("bib/strict_f1", "strict F1", "", "no"),
        ("ocr/accuracy", "accuracy", "reading", "judged"),
    ],
    FaceScorecard: [
        ("face/precision", "precision", "", "shown"),
        ("face/recall", "recall", "", "judged"),
        ("face/f1", "F1", "faces", "no"),
        ("face/strict_precision", "strict precision", "", "no"),
        ("face/strict_f1", "strict F1", "", "no"),
    ],
    LinkScorecard: [
        ("link/precision", "precision", "", "no"),
        ("link/recall", "recall", "", "no"),
        ("link/f1", "F1", "links", "judged"),
    ],
    ConfidenceScorecard: [("confidence/kept_fraction", "boxes kept", "boxes kept", "no")],
    TableScorecard: [
        ("table/fuzzy_f1", "fuzzy F1", "tables", "judged"),
        ("table/fuzzy_precision", "precision", "", "no"),
        ("table/fuzzy_recall", "recall", "", "no"),
        ("table/coverage", "", "", "no"),
        ("table/structural_coverage", "", "", "no"),
        ("table/cell_accuracy", "", "", "no"),
        ("table/teds", "TEDS", "", "no"),
        ("table/teds_struct", "", "", "no"),
        ("table/grits_content", "GriTS", "", "no"),
    ],
    BibErrorScorecard: [],
    FaceErrorScorecard: [],
}

#: Scorecard -> title of each section, and what is told beside it: the words, and whether a count of 0 is told.
SECTIONS: dict[type[Scorecard], dict[str, list[tuple[str, bool]]]] = {
    NumberScorecard: {
        "Numbers": [
            *DETECTION_NOTES[:2],
            ("PASS", True),
            ("PARTIAL", True),
            ("MISS", True),
            ("read in part and ignored", False),
        ]
    },
    BibScorecard: {"Bib detection": DETECTION_NOTES, "Bib reading (OCR)": [("partial labels left out", False)]},
    FaceScorecard: {"Face detection": DETECTION_NOTES},
    LinkScorecard: {"Bib-face links": [*DETECTION_NOTES[:2], *((cause, False) for cause in CAUSES)]},
    ConfidenceScorecard: {"Confidence": [("samples", True)]},
    TableScorecard: {"Tables": [("tables", True)]},
    BibErrorScorecard: {"Kinds of errors": []},
    FaceErrorScorecard: {"Kinds of errors": []},
}


def told(card: Declaration) -> list[tuple[str, str, str, str]]:
    return [(rate.metric, rate.label, rate.headline, rate.gate) for rate in card.rates.values()]


@pytest.mark.parametrize("card", RATES, ids=lambda card: str(card.DECLARED.name))
def test_rates_rows_and_notes(card: type[Scorecard]) -> None:
    declared = card.DECLARED
    assert told(declared) == RATES[card]
    assert {rate.better for rate in declared.rates.values()} <= {"higher"}
    assert {rate.tolerance for rate in declared.rates.values()} <= {0.005}
    assert {s.title: [(note.words, note.always) for note in s.notes] for s in declared.sections} == SECTIONS[card]
    labelled = [rate.metric for rate in declared.rates.values() if rate.label]
    assert [m for s in declared.sections for m in s.metrics if not m.endswith("/ap")] == labelled


def test_a_count_is_logged_under_a_name_of_its_own() -> None:
    cards = [card.DECLARED for card in RATES]
    names = [name for card in cards for name in (*card.counts.values(), *card.metrics)]
    assert len(names) == len(set(names))
    assert LinkScorecard.DECLARED.counts["bib_missed"] == "count/link_fn_bib_missed"
    assert BibScorecard.DECLARED.counts["ocr_partial"] == "count/ocr_partial"


def test_ledgers_are_of_what_a_person_looks_for_on_a_photo() -> None:
    cards = (NumberScorecard, BibScorecard, FaceScorecard, LinkScorecard)
    ledgers = {card.DECLARED.name: card.DECLARED.ledger for card in cards}
    assert {name: ledger and ledger.noun for name, ledger in ledgers.items()} == {
        name: name for name in ("number", "bib", "face", "link")
    }
    for ledger in ledgers.values():
        assert ledger is not None
        assert [name[-2:] for name in (ledger.found, ledger.invented, ledger.missed)] == ["tp", "fp", "fn"]
    assert BibErrorScorecard.DECLARED.ledger is None


def test_mistakes_that_have_pictures() -> None:
    assert BibScorecard.DECLARED.mistakes == ("missed_bibs", "false_bibs", "misread_bibs")
    assert FaceScorecard.DECLARED.mistakes == ("missed_faces", "false_faces")
    assert NumberScorecard.DECLARED.mistakes == LinkScorecard.DECLARED.mistakes == ()


def test_figures() -> None:
    assert [(f.metric, f.label, f.gate) for f in ConfidenceScorecard.DECLARED.figures] == [
        ("confidence/ap", "", "shown"),
        ("confidence/ap_50", "", "no"),
        ("confidence/ap_75", "", "no"),
    ]
    (ap,) = FaceScorecard.DECLARED.figures
    assert (ap.metric, ap.label, ap.gate, ap.basis, ap.words) == (
        "face/ap",
        "AP",
        "no",
        ("detection_tp", "detection_fn"),
        "targets",
    )
    speed = [(f.metric, f.better, f.gate, f.tolerance, f.relative) for f in SPEED.figures]
    assert speed == [
        ("runtime/photos_per_second", "higher", "shown", 0.0, 0.2),
        ("runtime/pipeline_seconds", "lower", "no", 0.005, 0.0),
    ]


def test_a_method_of_tables_is_logged_and_not_shown_and_only_rivals_can_win() -> None:
    method, several = declare_tables("camelot"), declare_tables(several=True)
    assert (method.name, method.sections, method.headlines, method.counts) == ("table_camelot", (), {}, {})
    assert [rate.gate for rate in method.rates.values()] == ["no"] * 10
    assert method.rates["win_rate"].metric == "table/win_rate_camelot"
    assert set(several.rates) - set(TableScorecard.DECLARED.rates) == {"oracle_f1"}
    assert several.counts == {"tables": "count/tables"}


def test_reasons_for_dropped_boxes_are_rows_where_they_occurred() -> None:
    (section,) = ConfidenceScorecard.DECLARED.sections
    assert all(row.label == "dropped" and row.counts == (row.text,) and not row.always for row in section.rows)
    assert len(section.rows) == 8
