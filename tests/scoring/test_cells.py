"""Cell normalisation, numeric cells and the score of one cell against another."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.scoring.cells import (
    DASHES,
    fuzzy_cell_score,
    is_numeric_cell,
    longest_common_substring_len,
    normalize_cell,
)

cell_text = st.text(alphabet=st.one_of(st.sampled_from("ab1.% \t\u00a0^_{}-–−ﬁﬃ²₃⁻"), st.characters()), max_size=15)


class TestFuzzyCellScore:
    def test_exact_match(self) -> None:
        assert fuzzy_cell_score("hello", "hello") == 1.0

    def test_both_empty(self) -> None:
        assert fuzzy_cell_score("", "") == 1.0

    def test_nonempty_vs_empty(self) -> None:
        assert fuzzy_cell_score("hello", "") == 0.0

    def test_empty_vs_nonempty(self) -> None:
        assert fuzzy_cell_score("", "hello") == 0.0

    def test_numeric_exact_match(self) -> None:
        assert fuzzy_cell_score("0.047", "0.047") == 1.0

    def test_numeric_mismatch(self) -> None:
        assert fuzzy_cell_score("0.047", "0.47") == 0.0

    def test_decimal_displacement(self) -> None:
        assert fuzzy_cell_score("0.047", ".047") == 0.0

    def test_numeric_vs_text_mismatch(self) -> None:
        assert fuzzy_cell_score("0.047", "foo") == 0.0

    def test_text_partial_match(self) -> None:
        assert fuzzy_cell_score("efficiency", "effciency") == 0.6  # "ciency", 6 of 10
        assert 0.0 < fuzzy_cell_score("effciency", "efficiency") < 1.0

    def test_text_completely_different(self) -> None:
        assert fuzzy_cell_score("abc", "xyz") == 0.0

    def test_percentage_numeric(self) -> None:
        assert fuzzy_cell_score("45.2%", "45.3%") == 0.0

    def test_ligature_normalization(self) -> None:
        assert fuzzy_cell_score("e\ufb03ciency", "efficiency") == 1.0

    def test_numeric_vs_text_that_contains_it(self) -> None:
        assert fuzzy_cell_score("12", "12 mg") == 0.0
        assert fuzzy_cell_score("12 mg", "12") == 0.0

    def test_a_substring_and_not_a_subsequence(self) -> None:
        assert fuzzy_cell_score("abXcd", "abYcd") == 2 / 5

    def test_case_counts(self) -> None:
        assert fuzzy_cell_score("Mean", "mean") == 3 / 4

    def test_cells_empty_once_normalized_are_equal(self) -> None:
        assert fuzzy_cell_score(" \u00a0", "^{ }") == 1.0

    @given(cell_text, cell_text)
    def test_symmetric_and_bounded(self, a: str, b: str) -> None:
        score = fuzzy_cell_score(a, b)
        assert 0.0 <= score <= 1.0
        assert fuzzy_cell_score(b, a) == score
        assert (score == 1.0) == (normalize_cell(a) == normalize_cell(b))


class TestNormalizeCell:
    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("", ""),
            ("  hello \t\n world\u00a0 ", "hello world"),
            ("e\ufb00ect \ufb01t \ufb02at o\ufb03ce wa\ufb04e", "effect fit flat office waffle"),
            ("\u22120.5", "-0.5"),
            ("50\u201360 a\u2014b x\u2010y", "50-60 a-b x-y"),
            ("10^{3}", "103"),
            ("H_{2}O", "H2O"),
            ("x^{a_{b}}", "xab"),
            ("10^{\u22123}", "10-3"),
            ("10\u207b\u00b3", "10-3"),
            ("x₁² ₊₋₌⁺⁼", "x12 +-=+="),
            ("x^2 y_i {z} ^{ _{", "x^2 y_i {z} ^{ _{"),
            ("CaSe", "CaSe"),
        ],
    )
    def test_rules(self, raw: str, expected: str) -> None:
        assert normalize_cell(raw) == expected

    def test_every_dash_of_unicode(self) -> None:
        dashes = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) == "Pd"}
        minus = {c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.name(c, "").endswith("MINUS SIGN")}
        assert dashes - {"-"} <= set(DASHES)
        assert {"\u2212", "\u2796", "\u02d7"} <= minus & set(DASHES)
        assert normalize_cell(DASHES) == "-" * len(DASHES)

    def test_white_space_bared_by_unwrapping_is_tidied(self) -> None:
        assert normalize_cell("10^{ 2 } _{}") == "10 2"

    @given(cell_text)
    @example("^{ _{}")
    @example("^{ ^{} }")
    @example("_^{{}a}")
    def test_idempotent(self, text: str) -> None:
        once = normalize_cell(text)
        assert normalize_cell(once) == once
        assert once == once.strip()


class TestIsNumericCell:
    @pytest.mark.parametrize("text", ["0", "-1.5", " 3 ", "45.2%", "45 %", "1e-3", ".5", "5.", "+2"])
    def test_numbers(self, text: str) -> None:
        assert is_numeric_cell(text)

    @pytest.mark.parametrize("text", ["nan", "inf", "-Infinity", "1_000", "\u0663", "1e999"])
    def test_whatever_float_takes_is_numeric(self, text: str) -> None:
        assert is_numeric_cell(text)

    @pytest.mark.parametrize("text", ["", "%", "45%%", "%45", "1,000", "$5", "12 mg", "0x10", "1_", "p<0.05", "\ud800"])
    def test_text(self, text: str) -> None:
        assert not is_numeric_cell(text)

    def test_a_unicode_minus_is_numeric_only_once_normalized(self) -> None:
        assert not is_numeric_cell("\u22125")
        assert is_numeric_cell(normalize_cell("\u22125"))


def test_a_character_that_is_everywhere_in_a_long_text_counts_like_any_other() -> None:
    assert longest_common_substring_len("x" + "ab" * 150, "ab" * 150) == 300


@given(st.text("abc", max_size=12), st.text("abc", max_size=12))
def test_longest_common_substring_is_what_a_search_of_all_substrings_finds(a: str, b: str) -> None:
    pieces = {a[i:j] for i in range(len(a)) for j in range(i, len(a) + 1)}
    assert longest_common_substring_len(a, b) == max((len(piece) for piece in pieces if piece in b), default=0)
