"""GriTS, by hand and against the rules of the paper written out plainly."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.grids import Grid
from harness.scoring.grits import grits_content

Lines = list[list[str]]

GT: Lines = [["name", "time"], ["Ada", "41"], ["Bo", "43"]]


def grits(gt: Lines, ext: Lines) -> float:
    tables = (Grid.of("t", lines[0] if lines else [], lines[1:]) for lines in (gt, ext))
    return grits_content(*tables)


@pytest.mark.parametrize(
    ("ext", "expected"),
    [
        (GT, 1.0),
        ([["name", "time"], ["Ada", "41"], ["Bo", "48"]], 2 * 5.5 / 12),
        ([["name", "time"], ["Bo", "43"]], 2 * 4 / 10),
        ([["Table 1", ""], *GT], 2 * 6 / 14),
        ([["name", "", "time"], ["Ada", "", "41"], ["Bo", "", "43"]], 2 * 6 / 15),
        ([], 0.0),
        ([["#", "?"], ["!", "+"]], 0.0),
    ],
    ids=["itself", "one digit", "a row is missing", "caption", "empty column", "nothing", "nothing in common"],
)
def test_worked_by_hand(ext: Lines, expected: float) -> None:
    assert grits(GT, ext) == pytest.approx(expected)


def likeness(a: str, b: str) -> float:
    @cache
    def longest(i: int, j: int) -> int:
        if not i or not j:
            return 0
        return longest(i - 1, j - 1) + 1 if a[i - 1] == b[j - 1] else max(longest(i - 1, j), longest(i, j - 1))

    return 2 * longest(len(a), len(b)) / (len(a) + len(b)) if a or b else 1.0


def sequence(worth: list[list[float]]) -> float:
    """The greatest total of any alignment in order."""

    @cache
    def best(i: int, j: int) -> float:
        if not i or not j:
            return 0.0
        return max(best(i - 1, j), best(i, j - 1), best(i - 1, j - 1) + worth[i - 1][j - 1])

    return best(len(worth), len(worth[0]))


def plain_upper_bound(gt: Lines, ext: Lines) -> float:
    """The lesser total of the two alignments: no choice of rows and columns can be worth more."""

    def total(a: Lines, b: Lines) -> float:
        return sequence([[sequence([[likeness(x, y) for y in other] for x in line]) for other in b] for line in a])

    turned = [[list(column) for column in zip(*lines, strict=True)] for lines in (gt, ext)]
    return 2 * min(total(gt, ext), total(*turned)) / (len(gt) * len(gt[0]) + len(ext) * len(ext[0]))


tables = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(st.text("abc", max_size=3), min_size=width, max_size=width), min_size=1, max_size=4
    ).filter(lambda lines: any(lines[0]))
)


@settings(max_examples=200, deadline=None)
@given(tables, tables)
def test_never_above_the_bound_of_the_paper(gt: Lines, ext: Lines) -> None:
    assert 0.0 <= grits(gt, ext) <= plain_upper_bound(gt, ext) + 1e-9


@given(tables)
def test_a_table_equals_itself(table: Lines) -> None:
    assert grits(table, table) == pytest.approx(1.0)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text("abc", max_size=3), min_size=1, max_size=5),
    st.lists(st.text("abc", max_size=3), min_size=1, max_size=5),
)
def test_of_one_row_it_is_the_plain_alignment(gt: list[str], ext: list[str]) -> None:
    assert grits([[], gt], [[], ext]) == pytest.approx(plain_upper_bound([gt], [ext]))
