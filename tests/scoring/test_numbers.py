"""Number scorecard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring import BibBox, NumberScorecard, number_status, tally_numbers
from harness.scoring.numbers import agree, read_numbers
from harness.types import PhotoLabels, PhotoPrediction


def labels(*numbers: str, scope: str = "bib") -> PhotoLabels:
    return PhotoLabels(bibs=tuple(BibBox(x=0, y=0, w=0, h=0, number=number, scope=scope) for number in numbers))


def reading(*numbers: str) -> PhotoPrediction:
    return PhotoPrediction(bibs=tuple(BibBox(x=0, y=0, w=0.1, h=0.1, number=number) for number in numbers))


@pytest.mark.parametrize(
    ("expected", "read", "status"),
    [
        (labels("1", "2"), reading("2", "1"), "PASS"),
        (labels("1", "2"), reading("1"), "PARTIAL"),
        (labels("1"), reading("1", "9"), "PARTIAL"),
        (labels("1"), reading("9"), "MISS"),
        (labels("1"), reading(), "MISS"),
        (labels(), reading(), "PASS"),
        (labels(), reading("9"), "PARTIAL"),
        (labels("62?"), reading(), "PASS"),
        (labels("1", scope="bib_obscured"), reading(), "PASS"),
        (PhotoLabels(), reading("1"), "UNLABELED"),
        (labels("331"), reading("33?"), "MISS"),
        (labels("331", "7"), reading("33?", "7"), "PARTIAL"),
        (labels("331", "7"), reading("331", "33?", "7"), "PASS"),
        (labels("33?"), reading("33?"), "PASS"),
        (labels("331", scope="bib_obscured"), reading("33?"), "PASS"),
        (labels("331", scope="not_bib"), reading("33?"), "PARTIAL"),
        (labels(), reading("33?"), "PARTIAL"),
    ],
)
def test_status_of_a_photo(expected: PhotoLabels, read: PhotoPrediction, status: str) -> None:
    assert number_status(expected, read) == status


def test_a_number_read_twice_counts_once() -> None:
    card = tally_numbers([labels("1", "1")], [reading("1", "1")]).scorecard()
    assert (card.number_tp, card.number_fp, card.number_fn) == (1, 0, 0)


def test_counts_over_photos() -> None:
    batch = [labels("1", "2"), labels("3"), labels(), PhotoLabels()]
    card = tally_numbers(batch, [reading("1", "8"), reading("3"), reading(), reading("5")]).scorecard()
    assert card == NumberScorecard(2, 1, 1, passed=2, partial=1, missed=0, photos=3, unlabeled_photos=1)
    assert card.number_precision == card.number_recall == pytest.approx(2 / 3)
    assert card.number_f1 == card.metrics()["number/f1"] == pytest.approx(2 / 3)
    assert card.pass_rate == card.metrics()["number/pass_rate"] == pytest.approx(2 / 3)
    assert NumberScorecard.from_dict(card.to_dict()) == card


def test_a_reading_of_blanks_is_no_number() -> None:
    seen = PhotoPrediction(bibs=(BibBox(x=0, y=0, w=1, h=1, number="  "), BibBox(x=0, y=0, w=1, h=1, number=" 417 ")))
    assert read_numbers(seen) == {"417"}


@pytest.mark.parametrize(
    ("label", "scope", "read", "counts"),
    [
        ("331", "bib", "33?", (0, 0, 1, 1)),  # its target stays missed
        ("33?", "bib", "33?", (0, 0, 0, 1)),
        ("33?", "bib_obscured", "3?1", (0, 0, 0, 1)),
        ("331", "bib_obscured", "33?", (0, 0, 0, 1)),
        ("331", "not_bib", "33?", (0, 1, 0, 0)),  # a known non-object
        ("331", "bib", "34?", (0, 1, 1, 0)),
        ("33", "bib", "33?", (0, 1, 1, 0)),  # it says that there is one character more
        ("?????", "bib_obscured", "33?", (0, 1, 0, 0)),  # says nothing that could agree
        ("331", "bib", "?", (0, 1, 1, 0)),
        ("M331", "bib", "?331", (0, 0, 1, 1)),  # a hand over the letter
        ("331", "bib", "?331", (0, 1, 1, 0)),
    ],
)
def test_a_number_read_in_part_is_never_found(label: str, scope: str, read: str, counts: tuple[int, ...]) -> None:
    card = tally_numbers([labels(label, scope=scope)], [reading(read)]).scorecard()
    assert (card.number_tp, card.number_fp, card.number_fn, card.number_partial) == counts
    assert card.metrics()["number/partial"] == counts[3]
    assert read_numbers(reading(read)) == frozenset()


def test_a_part_beside_the_whole_number_is_ignored_and_takes_nothing_from_it() -> None:
    card = tally_numbers([labels("331")], [reading("331", "33?", "33?", "?9")]).scorecard()
    assert (card.number_tp, card.number_fp, card.number_fn, card.number_partial) == (1, 1, 0, 1)


numbers = st.text("12A?", min_size=1, max_size=5)


def expansions(number: str, length: int) -> Iterator[str]:
    """All that a number can be in so many characters, with a `?` for each that nobody knows: those at an end may be
    more than there are."""
    core = number.strip("?")
    before, behind = len(number) - len(number.lstrip("?")), len(number) - len(number.rstrip("?"))
    for start in range(length - len(core) + 1):
        end = length - start - len(core)
        if (start >= before if before else start == 0) and (end >= behind if behind else end == 0):
            yield "?" * start + core + "?" * end


def can_be_the_same(one: str, other: str) -> bool:
    """The slow rule: write both out in all lengths, and look at them position by position."""
    return any(
        all(a == b or "?" in (a, b) for a, b in zip(first, second, strict=True))
        and any(a == b != "?" for a, b in zip(first, second, strict=True))
        for length in range(1, len(one) + len(other) + 1)
        for first in expansions(one, length)
        for second in expansions(other, length)
    )


@given(numbers, numbers)
def test_numbers_agree_by_the_slow_rule_and_both_ways(one: str, other: str) -> None:
    known = one.strip("?") and other.strip("?")
    assert agree(one, other) == agree(other, one) == bool(known and can_be_the_same(one, other))
    assert agree(f" {one} ", other) == agree(one, other)


@given(st.text("12A", min_size=1, max_size=5), st.data())
def test_a_number_agrees_with_what_is_left_of_it_when_characters_are_hidden(number: str, data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.integers(0, len(number) - 1), max_size=len(number) - 1))
    assert agree("".join("?" if place in hidden else c for place, c in enumerate(number)), number)
    cut = data.draw(st.integers(1, len(number)))
    assert agree(f"{number[:cut]}?", number) == (cut < len(number))
    assert agree(f"?{number[-cut:]}", number) == (cut < len(number))


bibs = st.lists(st.tuples(numbers, st.sampled_from(["bib", "bib_clipped", "bib_obscured", "not_bib"])), max_size=4)


@given(bibs, st.lists(st.one_of(st.none(), numbers), max_size=4))
def test_counts_are_those_of_the_plain_rule(known: list[tuple[str, str]], read: list[str | None]) -> None:
    photo = PhotoLabels(bibs=tuple(BibBox(x=0, y=0, w=0, h=0, number=n, scope=scope) for n, scope in known))
    found = PhotoPrediction(bibs=tuple(BibBox(x=0, y=0, w=0.1, h=0.1, number=number) for number in read))
    card = tally_numbers([photo], [found]).scorecard()

    expected = {number for number, scope in known if "?" not in number and scope in ("bib", "bib_clipped")}
    whole = {number for number in read if number and "?" not in number}
    parts = {number for number in read if number and "?" in number}
    bibs = {number for number, scope in known if scope != "not_bib"}
    ignored = {part for part in parts if any(agree(part, number) for number in bibs)}
    false = (whole - expected) | (parts - ignored)
    assert (card.number_tp, card.number_fp) == (len(whole & expected), len(false))
    assert (card.number_fn, card.number_partial) == (len(expected - whole), len(ignored))
    assert (card.passed == 1) == (not false and expected <= whole)
    assert card.passed + card.partial + card.missed == card.photos == 1
