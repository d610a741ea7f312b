"""One table cell against another: what counts as the same text, and what a near miss is worth.

Normalisation, in this order: strip; collapse white space; the ligatures ff, fi, fl, ffi and ffl to letters; every dash
and minus sign to `-`; `^{..}` and `_{..}` unwrapped, inner groups first; superscript and subscript digits and signs to
ASCII. Case is kept. Unwrapping can bare white space (`10^{ 2}`, `a _{}`); it is tidied by the first two rules, so that
normalising twice changes nothing and a cell without text is empty.

A cell is numeric if `float()` parses it after one trailing `%` is dropped. That is the whole rule: it also takes `nan`,
`inf`, `1e5`, `1_000` and digits of other scripts, and does not take `1,000` or `$5`. A numeric cell is right or wrong;
there is no partial credit for a number. A text cell is worth its longest common substring over the longer length.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

LIGATURES = {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl"}
#: Unicode's dash punctuation, the swung dash, and its minus signs.
DASHES = (
    "\u2010\u2011\u2012\u2013\u2014\u2015\u2053\u2212\u02d7\u2796\u058a\u05be\u1400\u1806\u2e17\u2e1a\u2e3a\u2e3b"
    "\u2e40\u2e5d\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\U00010d6e\U00010ead"
)
SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼", "0123456789+-=", strict=True))
SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌", "0123456789+-=", strict=True))

# None of these replaces a character that another rule looks for, so one pass does for all three.
_REPLACE = str.maketrans(LIGATURES | dict.fromkeys(DASHES, "-") | SUPERSCRIPTS | SUBSCRIPTS)
_GROUP = re.compile(r"[\^_]\{([^{}]*)\}")


def normalize_cell(text: str) -> str:
    """The text that a cell is compared by."""
    text = " ".join(text.split())
    if not text.isascii():
        text = text.translate(_REPLACE)
    if "{" in text:
        text = " ".join(_unwrap(text).split())
    return text


def _unwrap(text: str) -> str:
    while (flat := _GROUP.sub(r"\1", text)) != text:
        text = flat
    return text


def is_numeric_cell(text: str) -> bool:
    """Whether `float()` takes the stripped text without one trailing `%`."""
    try:
        float(text.strip().removesuffix("%"))
    except ValueError:
        return False
    return True


def longest_common_substring_len(a: str, b: str) -> int:
    """How many consecutive characters the two texts share at most."""
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size


def fuzzy_cell_score(a: str, b: str) -> float:
    """1.0 if equal; 0.0 if one is empty or either is a number; else longest common substring over longer length."""
    a, b = normalize_cell(a), normalize_cell(b)
    if a == b:
        return 1.0
    if not a or not b or is_numeric_cell(a) or is_numeric_cell(b):
        return 0.0
    return longest_common_substring_len(a, b) / max(len(a), len(b))
