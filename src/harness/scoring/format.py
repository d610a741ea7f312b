"""Scorecards as text, in one place: for the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.scoring.bibs import BibScorecard
from harness.scoring.cards import Ratio, Scorecard
from harness.scoring.error_types import BibErrorScorecard, ErrorScorecard, FaceErrorScorecard
from harness.scoring.faces import FaceScorecard
from harness.scoring.links import LinkScorecard
from harness.scoring.numbers import NumberScorecard
from harness.scoring.slices import Slice
from harness.scoring.uncertainty import Interval


@dataclass(frozen=True, slots=True)
class Row:
    """One rate as text: its value, interval and what it rests on."""

    label: str
    value: str
    interval: str
    basis: str


@dataclass(frozen=True, slots=True)
class Section:
    """One scorecard as text."""

    title: str
    rows: tuple[Row, ...]
    note: str


def format_scorecard(
    bib: BibScorecard | None = None,
    face: FaceScorecard | None = None,
    link: LinkScorecard | None = None,
    number: NumberScorecard | None = None,
    bib_errors: BibErrorScorecard | None = None,
    face_errors: FaceErrorScorecard | None = None,
    slices: Sequence[Slice] = (),
    intervals: Mapping[str, Interval] | None = None,
) -> str:
    """The scorecards as aligned text for a terminal; those that are absent are left out."""
    lines: list[str] = []
    for section in scorecard_sections(bib, face, link, number, bib_errors, face_errors, slices, intervals):
        lines += ["", f"{section.title}  ({section.note})"] if section.note else ["", section.title]
        lines += [f"  {row.label:<17} {row.value:>8}  {row.interval:<16}  {row.basis}".rstrip() for row in section.rows]
    return "\n".join(lines[1:])


def markdown_scorecard(sections: Iterable[Section]) -> str:
    """The scorecards as one Markdown table."""
    lines = ["| scorecard | rate | value | 95 % interval | n |", "| --- | --- | ---: | --- | --- |"]
    lines += [
        f"| {s.title} | {row.label} | {row.value} | {row.interval} | {row.basis} |" for s in sections for row in s.rows
    ]
    return "\n".join(lines)


def scorecard_sections(
    bib: BibScorecard | None = None,
    face: FaceScorecard | None = None,
    link: LinkScorecard | None = None,
    number: NumberScorecard | None = None,
    bib_errors: BibErrorScorecard | None = None,
    face_errors: FaceErrorScorecard | None = None,
    slices: Sequence[Slice] = (),
    intervals: Mapping[str, Interval] | None = None,
) -> Iterator[Section]:
    """The scorecards row by row, for whatever shows them."""
    intervals = intervals or {}
    detection = {
        "precision": "detection_precision",
        "recall": "detection_recall",
        "F1": "detection_f1",
        "strict precision": "strict_precision",
        "strict F1": "strict_f1",
    }
    if bib:
        yield _section("Bib detection", bib, detection, intervals, _photos(bib, ignored=bib.ignored))
        note = f"{bib.ocr_partial} partial labels left out" if bib.ocr_partial else ""
        yield _section("Bib reading (OCR)", bib, {"accuracy": "ocr_accuracy"}, intervals, note)
    if number:
        rates = {
            "precision": "number_precision",
            "recall": "number_recall",
            "F1": "number_f1",
            "photos PASS": "pass_rate",
        }
        note = _photos(number, PASS=number.passed, PARTIAL=number.partial, MISS=number.missed)
        yield _section("Numbers", number, rates, intervals, note)
    if face:
        yield _section("Face detection", face, detection, intervals, _photos(face, ignored=face.ignored))
    if link:
        rates = {"precision": "link_precision", "recall": "link_recall", "F1": "link_f1"}
        note = _photos(link, **{cause: count for cause, count in link.causes.items() if count})
        yield _section("Bib-face links", link, rates, intervals, note)
    if bib_errors or face_errors:
        kinds = {"bibs": bib_errors, "faces": face_errors}
        rows = tuple(_errors(what, card) for what, card in kinds.items() if card)
        yield Section("Kinds of errors", rows, "")
    if slices:
        rows = tuple(Row(f"{s.scorecard} {s.tag}", f"{s.recall:.1%}", "", f"{s.found} of {s.total}") for s in slices)
        yield Section("Recall by tag", rows, "")


def _section(
    title: str, card: Scorecard, rates: Mapping[str, str], intervals: Mapping[str, Interval], note: str
) -> Section:
    rows = (_row(card, label, card.RATIOS[name], name, intervals) for label, name in rates.items())
    return Section(title, tuple(rows), note)


def _row(card: Scorecard, label: str, ratio: Ratio, name: str, intervals: Mapping[str, Interval]) -> Row:
    below = card.denominator(name)
    if not below:
        return Row(label, "n/a", "", "no targets")
    value = card.rate(name)
    interval = intervals.get(ratio.metric)
    spread = f"[{interval.low:.1%}, {interval.high:.1%}]" if interval else ""
    above = round(value * below)
    halves = all(weight % 2 == 0 for weight in ratio.numerator.values())
    basis = f"{above // 2} found, {below - above} wrong or missed" if halves else f"{above} of {below}"
    return Row(label, f"{value:.1%}", spread, basis)


def _errors(what: str, card: ErrorScorecard) -> Row:
    """The errors of one kind of box in a line: what is false, then what is missed, then what is misread."""
    false = f"{card.background} background, {card.localisation} localisation, {card.duplicate} duplicate"
    missed = f"{card.missed} outright, {card.missed_by_localisation} by localisation"
    text = f"; {card.wrong_text} wrong text" if isinstance(card, BibErrorScorecard) else ""
    total = card.false_predictions + card.missed_targets + card.wrong_text
    return Row(what, str(total), "", f"false: {false}; missed: {missed}{text}")


def _photos(card: BibScorecard | FaceScorecard | LinkScorecard | NumberScorecard, **details: int) -> str:
    parts = [f"{card.photos} photos"]
    if card.unlabeled_photos:
        parts.append(f"{card.unlabeled_photos} unlabelled left out")
    return ", ".join(parts + [f"{count} {detail}" for detail, count in details.items()])
