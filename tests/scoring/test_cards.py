"""What a scorecard is made of: counts that add up, whole or fractional, and rates that are never vacuous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scoring.cards import UNLABELED, Counted, Declaration, Figure, ItemCounts, Rate, Scorecard, Tally


@dataclass(frozen=True)
class Mixed(Scorecard):
    """A sum of fractions, and a count."""

    overlap: float = 0.0
    found: int = 0

    DECLARED: ClassVar = Declaration(
        name="mixed",
        rates={"mean": Rate.of("mixed/mean", "overlap", "found", headline="fit")},
        counts={"found": "count/mixed"},
        figures=(Figure("mixed/peak"),),
    )

    @property
    def mean(self) -> float:
        """The mean of the fractions."""
        return self.rate("mean")


shares = st.floats(0, 1)


@given(st.lists(st.tuples(shares, st.integers(0, 5)), max_size=12))
def test_items_add_up_to_the_card_and_whole_counts_stay_whole(items: list[tuple[float, int]]) -> None:
    tally = Tally.of_cards(Mixed, [Mixed(*item) for item in items])
    total = tally.items().total()
    assert total.counts["overlap"] == pytest.approx(sum(overlap for overlap, _ in items))
    assert total.counts["found"] == sum(found for _, found in items)
    assert type(total.counts["found"]) is int
    rows = tally.items().by_item()
    assert rows == [{"overlap": overlap, "found": found} for overlap, found in items]
    assert all(type(row["found"]) is int and type(row["overlap"]) is float for row in rows)
    assert tally.scorecard() == Mixed.from_dict(total.counts)


def test_a_card_of_whole_counts_alone_is_kept_in_integers() -> None:
    @dataclass(frozen=True)
    class Whole(Scorecard):
        seen: int = 0

    assert Tally.of_cards(Whole, [Whole(2)]).counts.dtype == np.int64
    assert Tally.of_cards(Mixed, [Mixed(0.5)]).counts.dtype == np.float64


def test_a_rate_without_a_denominator_reads_0_and_is_not_logged() -> None:
    assert Mixed().mean == 0.0
    assert Mixed().metrics() == {"count/mixed": 0.0}
    assert Mixed(1.5, 2).metrics() == {"mixed/mean": 0.75, "count/mixed": 2.0}
    assert Mixed(1.5, 2).counted({"mixed/peak": 0.9}).metrics()["mixed/peak"] == 0.9


def test_a_dictionary_and_back() -> None:
    card = Mixed(1.5, 2)
    assert card.to_dict() == {"overlap": 1.5, "found": 2, "mean": 0.75, "scorer_version": 2}
    assert Mixed.from_dict(card.to_dict()) == card
    assert Mixed.from_dict({"found": 3}) == Mixed(found=3), "a count that an older file lacks keeps its default"


def test_what_is_declared() -> None:
    assert Mixed.DECLARED.metrics == ("mixed/mean", "mixed/peak")
    assert Mixed.DECLARED.headlines == {"mixed/mean": "fit"}


def test_shares_and_f1() -> None:
    counts = {"tp": 6, "fp": 2, "fn": 1}
    share, f1 = Rate.share("p", "tp", "fp"), Rate.f1("f", "tp", "fp", "fn")
    card = Counted(Declaration("x", {"p": share, "f": f1}), counts)
    assert (card.value(share), card.numerator(share), card.denominator(share)) == (0.75, 6, 8)
    assert (card.value(f1), card.denominator(f1)) == (12 / 15, 15)
    assert (share.is_f1, f1.is_f1) == (False, True)
    assert Counted(Declaration("x"), {}).value(share) == 0.0


def test_sides_are_the_rates_item_by_item_over_chosen_items() -> None:
    items = ItemCounts(Mixed.DECLARED, {"overlap": np.array([0.5, 0.25, 1.0]), "found": np.array([1, 1, 2])}, 3)
    above, below = items.sides(np.array([True, False, True]))["mixed/mean"]
    assert (above.tolist(), below.tolist()) == ([0.5, 1.0], [1.0, 2.0])
    assert items.weights({"absent": 1}).tolist() == [0, 0, 0], "a count that an item lacks is 0"


def test_items_that_nobody_labelled_are_not_scored() -> None:
    items = ItemCounts(Mixed.DECLARED, {UNLABELED: np.array([0, 1, 0])}, 3)
    assert items.scored().tolist() == [True, False, True]
    assert ItemCounts(Mixed.DECLARED, {}, 2).scored().tolist() == [True, True]


def test_one_card_serves_several_declarations() -> None:
    other = Declaration("other", {"mean": Rate.of("other/mean", "overlap", "found")})
    tally = Tally.of_cards(Mixed, [Mixed(0.5, 1)])
    assert tally.items(other).total().metrics() == {"other/mean": 0.5}
    assert tally.items().declared is Mixed.DECLARED


def test_counts_that_are_unknown_are_neither_logged_nor_zero() -> None:
    columns = {"overlap": np.array([0.5, 0.25]), "found": np.array([1, 1])}
    partly = ItemCounts(Mixed.DECLARED, columns, 2).without(["overlap"])
    assert partly.by_item() == [{"found": 1}, {"found": 1}]
    card = partly.total()
    assert (card.counts, card.unknown) == ({"found": 2}, ("overlap",))
    assert (card.knows("found"), card.knows("found", "overlap")) == (True, False)
    nothing = partly.without(["found"])
    assert nothing.by_item() == [{}, {}]
    assert nothing.total().metrics() == {}
