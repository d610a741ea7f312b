"""Scorecards as text, in one place: for the terminal, as Markdown, and row by row for pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.scoring.cards import Count, Counted, CountRow, Figure, Rate, Scorecard, Section
from harness.scoring.slices import Slice
from harness.scoring.uncertainty import Interval

#: What is told where groups are too few to know how they scatter.
FEW_GROUPS = "fewer than five groups: the intervals take each for one target"
#: What stands in the place of a rate that has nothing to count.
NO_VALUE = "n/a"
#: What is told where the predictions say nothing about the counts.
NOT_PREDICTED = "not predicted"


@dataclass(frozen=True, slots=True)
class Row:
    """One rate as text: its value, interval and what it rests on. `metric` is empty for a row of counts."""

    label: str
    value: str
    interval: str
    basis: str
    metric: str = ""


@dataclass(frozen=True, slots=True)
class ShownSection:
    """One section as text: its title, rows, and what is told beside the title."""

    title: str
    rows: tuple[Row, ...]
    note: str

    @property
    def has_rates(self) -> bool:
        """Whether any of its rows is a rate."""
        return any(row.metric for row in self.rows)

    @property
    def says_nothing(self) -> bool:
        """Whether no rate has anything to count, and no count is above zero."""
        return all(row.value == NO_VALUE or (not row.metric and row.value == "0") for row in self.rows)


#: The section of slices.
BY_TAG = "Recall by tag"


def shown_sections(
    cards: Iterable[Counted], slices: Sequence[Slice] = (), intervals: Mapping[str, Interval] | None = None
) -> tuple[ShownSection, ...]:
    """The scorecards section by section; those of one title become one. Recall by tag comes last. Where a rate has too
    few groups for its interval to be more than rough, that is told beside the title."""
    shown: dict[str, ShownSection] = {}
    for card in cards:
        for section in card.declared.sections:
            rows, note = tuple(_rows(card, section, intervals or {})), _note(card, section, intervals or {})
            if known := shown.get(section.title):
                rows, note = (*known.rows, *rows), ", ".join(filter(None, (known.note, note)))
            shown[section.title] = ShownSection(section.title, rows, note)
    if slices:
        tags = (
            _row(f"{s.scorecard} {s.tag}", s.recall, s.interval, f"{_number(s.found)} of {s.total}", "") for s in slices
        )
        shown[BY_TAG] = ShownSection(BY_TAG, tuple(tags), "")
    return tuple(shown.values())


def format_scorecard(
    *cards: Counted | Scorecard, slices: Sequence[Slice] = (), intervals: Mapping[str, Interval] | None = None
) -> str:
    """Scorecards as aligned text for a terminal."""
    counted = [card.counted() if isinstance(card, Scorecard) else card for card in cards]
    return text_sections(shown_sections(counted, slices, intervals))


def text_sections(sections: Iterable[ShownSection]) -> str:
    """Sections as aligned text for a terminal. Those whose rates have nothing to count are named in a line at the end;
    where no rate has anything to count, counts of nothing are left out, too."""
    sections = [section for section in sections if section.rows]
    empty = [section for section in sections if section.has_rates and section.says_nothing]
    if empty and not any(section.has_rates for section in sections if section not in empty):
        sections = [section for section in sections if section in empty or not section.says_nothing]
    blocks = [_text_section(section) for section in sections if section not in empty]
    unpredicted = [each for each in empty if all(row.basis == NOT_PREDICTED for row in each.rows if row.metric)]
    uncounted = [each for each in empty if each not in unpredicted]
    for words, named in (("Not predicted", unpredicted), ("Nothing to count for", uncounted)):
        if named:
            blocks.append(f"{words}: {', '.join(section.title for section in named)}")
    return "\n\n".join(blocks)


def _text_section(section: ShownSection) -> str:
    """Rates that lack the same are named in one line, without a row for each."""
    lacking: dict[str, list[str]] = {}
    for row in section.rows:
        if row.metric and row.value == NO_VALUE:
            lacking.setdefault(row.basis, []).append(row.label)
    told = {basis: labels for basis, labels in lacking.items() if len(labels) > 1}
    rows = [row for row in section.rows if not (row.metric and row.value == NO_VALUE and row.basis in told)]
    width = max((len(row.label) for row in rows), default=0)
    lines = [f"{section.title}  ({section.note})" if section.note else section.title]
    lines += [text_row(row.label, row.value, row.interval, row.basis, width) for row in rows]
    lines += [f"  {basis} for: {', '.join(labels)}" for basis, labels in told.items()]
    return "\n".join(lines)


def text_row(label: str, value: str, interval: str, basis: str, width: int = 0) -> str:
    """One row for a terminal, in the columns that all sections share but for those with a label that is wider."""
    return f"  {label:<{max(width, 17)}} {value:>8}  {interval:<16}  {basis}".rstrip()


def markdown_sections(sections: Iterable[ShownSection]) -> str:
    """Sections as one Markdown table."""
    lines = ["| scorecard | rate | value | 95 % interval | n |", "| --- | --- | ---: | --- | --- |"]
    lines += [
        f"| {s.title} | {row.label} | {row.value} | {row.interval} | {row.basis} |" for s in sections for row in s.rows
    ]
    return "\n".join(lines)


def _rows(card: Counted, section: Section, intervals: Mapping[str, Interval]) -> Iterator[Row]:
    rates = {rate.metric: rate for rate in card.declared.rates.values()}
    figures = {figure.metric: figure for figure in card.declared.figures}
    for metric in section.metrics:
        if metric in rates:
            yield _rate_row(card, rates[metric], intervals.get(metric))
        elif metric in card.figures:
            yield _figure_row(card, figures[metric], intervals.get(metric))
    for row in section.rows:
        total = sum(card.counts.get(name, 0) for name in row.counts)
        if not set(row.counts) - set(card.unknown):
            yield Row(row.label, NO_VALUE, "", NOT_PREDICTED)
        elif total or row.always:
            yield Row(row.label, _number(total), "", _told(card, row))


def _figure_row(card: Counted, figure: Figure, interval: Interval | None) -> Row:
    total = sum(card.counts.get(name, 0) for name in figure.basis)
    basis = f"{_number(total)} {figure.words}" if figure.basis else ""
    return _row(figure.label, card.figures[figure.metric], interval, basis, figure.metric)


def _rate_row(card: Counted, rate: Rate, interval: Interval | None) -> Row:
    below = card.denominator(rate)
    if not card.knows(*rate.numerator, *rate.denominator):
        return Row(rate.label, NO_VALUE, "", NOT_PREDICTED, rate.metric)
    if not below:
        return Row(rate.label, NO_VALUE, "", _lacking(card, rate), rate.metric)
    return _row(rate.label, card.value(rate), interval, _basis(card, rate), rate.metric)


def _row(label: str, value: float, interval: Interval | None, basis: str, metric: str) -> Row:
    if interval is None:
        return Row(label, f"{value:.1%}", "", basis, metric)
    basis = ", ".join(filter(None, (basis, rests_on(interval))))
    return Row(label, f"{value:.1%}", interval_text(interval), basis, metric)


def interval_text(interval: Interval) -> str:
    """`[89.1%, 100.0%]`."""
    return f"[{interval.low:.1%}, {interval.high:.1%}]"


def rests_on(interval: Interval) -> str:
    """`effective n 31.5`, and `of 3 groups` where these are too few to know how they scatter; "" for an old run."""
    if interval.n_eff is None:
        return ""
    few = f" of {interval.groups} group{'' if interval.groups == 1 else 's'}" if interval.few_groups else ""
    return f"effective n {_number(round(interval.n_eff, 1 if interval.n_eff < 100 else None))}{few}"


def _lacking(card: Counted, rate: Rate) -> str:
    """Why a rate has nothing below the line, by the ledger that says which counts are of targets and of predictions."""
    ledger = card.declared.ledger
    if ledger is None:
        return "nothing to count"
    of_targets, of_predictions = ledger.missed in rate.denominator, ledger.invented in rate.denominator
    if of_predictions:
        return "no targets and no predictions" if of_targets else "no predictions"
    found = card.counts.get(ledger.found, 0)
    if of_targets or not found + card.counts.get(ledger.missed, 0):
        return "no targets"
    return "nothing to compare" if found else "nothing found"


def _basis(card: Counted, rate: Rate) -> str:
    """What a rate rests on: `37 of 38`, for an F1 `37 found, 1 wrong or missed`, for a mean of values `mean of 7`."""
    above, below = card.numerator(rate), card.denominator(rate)
    if any(isinstance(card.counts.get(name, 0), float) for name in rate.numerator):
        return f"mean of {_number(below)}"
    if rate.is_f1:
        return f"{_number(above / 2)} found, {_number(below - above)} wrong or missed"
    return f"{_number(above)} of {_number(below)}"


def _told(card: Counted, row: CountRow) -> str:
    unknown = dict.fromkeys(card.unknown, NO_VALUE)
    return row.text.format_map({name: _number(count) for name, count in card.counts.items()} | unknown)


def _note(card: Counted, section: Section, intervals: Mapping[str, Interval]) -> str:
    few = any(metric in intervals and intervals[metric].few_groups for metric in section.metrics)
    return ", ".join(filter(None, (_counts(card, section), FEW_GROUPS if few else "")))


def _counts(card: Counted, section: Section) -> str:
    known = [note for note in section.notes if card.knows(note.count)]
    if section.notes and not known:
        return NOT_PREDICTED
    told = [(note, card.counts.get(note.count, 0)) for note in known]
    return ", ".join(f"{_number(count)} {note.words}" for note, count in told if count or note.always)


def _number(count: Count) -> str:
    return f"{round(count, 2):g}" if count != int(count) else str(int(count))
