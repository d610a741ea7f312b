"""What the numbers of a race look like, and what a reading is under that rule.

A number is a text: digits, letters, zeros that it starts with. A pattern says what is a number and what is a distance,
a word or a time. A character that looks like another (O and 0, B and 8) is read as the one that the pattern has in its
place. A start list is a prior: a reading that is in it, as it stands or with a look-alike, is preferred; what nobody
has read is never made of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from typing import ClassVar, Literal

from harness.pipeline.bibs.readings import Others, Reading

#: Letters that a print shows as a digit shows: nobody can tell them apart, and a digit is likelier on a bib.
_SAME = {"O": "0", "o": "0", "I": "1", "l": "1", "i": "1"}
#: What is taken for each other in print that is small or tilted.
_ALIKE = {"S": "5", "s": "5", "B": "8", "Z": "2", "z": "2", "G": "6", "Q": "0", "D": "0"}
#: What else a digit may have been: a prefix that was read as one.
_LETTERS = {"0": "OCDQ", "1": "I", "2": "Z", "5": "S", "6": "G", "8": "B"}
#: A text with more ways to be read than this is no bib number.
_MOST_WAYS = 512
_LONGEST = 12
#: What may stand where a number cannot be seen.
_HIDDEN = ("1", "11", "111", "A", "AA", "A1", "AA1")
_YEAR = re.compile(r"(19[89]|20[0-4])[0-9]")


@dataclass(frozen=True)
class BibFormat:
    """Which texts are numbers: those that fit `pattern` as a whole, and do not fit `refuse`.

    With `look_alikes`, a character is read as one that looks like it where the pattern asks for that. `case` says
    whether small letters are made capital ones before that. Zeros that a number starts with are kept, dropped (a
    search for 42 finds 0042) or a reason to refuse it. `entrants` is a file with the numbers that exist.
    """

    pattern: str
    refuse: str
    look_alikes: bool
    case: Literal["upper", "keep"]
    leading_zeros: Literal["keep", "drop", "refuse"]
    entrants: str | None
    #: A digest of the start list: part of the key of whatever is read with it.
    digest: str = field(init=False, default="")
    _listed: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        for name, value in (("pattern", self.pattern), ("refuse", self.refuse)):
            try:
                re.compile(value)
            except re.error as error:
                raise ValueError(f"{name}={value!r} is no regular expression: {error}") from error
        if not self.pattern:
            raise ValueError("pattern is empty; expected a regular expression such as [A-Z][0-9]{4}")
        if self.entrants is not None:
            numbers = _start_list(Path(self.entrants), self)
            object.__setattr__(self, "_listed", numbers)
            object.__setattr__(self, "digest", sha256("\n".join(sorted(numbers)).encode()).hexdigest())

    @cached_property
    def _plain(self) -> bool:
        """Whether a number may consist of digits alone: then a digit is a digit, and no letter that looks like it."""
        return any(re.fullmatch(self.pattern, "1" * length) for length in range(1, _LONGEST))

    def fits(self, text: str) -> bool:
        """Whether a text is a number as it stands."""
        if self.leading_zeros == "refuse" and text.startswith("0"):
            return False
        refused = bool(self.refuse) and re.fullmatch(self.refuse, text, re.IGNORECASE)
        return bool(re.fullmatch(self.pattern, text)) and not refused

    def may_be_part(self, text: str, side: str) -> bool:
        """Whether a text may be what is left of a number of which this side cannot be seen: up to three characters more
        make a number of it."""
        return any(self.fits(f"{more}{text}" if side == "left" else f"{text}{more}") for more in _HIDDEN)

    def number(self, reading: Reading) -> Reading | None:
        """A reading as a number, its look-alikes resolved; None where it is none."""
        if not 0 < len(reading.text) <= _LONGEST:
            return None
        ways = islice(product(*map(self._ways, reading.text, reading.others)), _MOST_WAYS)
        texts = [text for text in map("".join, ways) if self.fits(text) and _mostly_read(reading.text, text)]
        if not texts:
            return None
        best = min(texts, key=lambda text: (self._unlisted(text), self._changes(reading, text)))
        if (self._unlisted(best) or not self._listed) and self._invented(reading.text, best):
            return None
        return self._without_zeros(reading.as_text(best))

    def _ways(self, character: str, others: Others) -> list[str]:
        """What a character may be read as; of the look-alikes those first that the recognizer thought of, too."""
        chances = dict(others)
        own = character.upper() if self.case == "upper" else character
        if not self.look_alikes:
            return [own]
        same = [_SAME[character]] if character in _SAME else []
        alike = sorted(_ALIKE.get(character, "") + _LETTERS.get(character, ""), key=lambda c: -chances.get(c, 0.0))
        return list(dict.fromkeys([*same, own, *alike]))

    def _changes(self, reading: Reading, text: str) -> tuple[int, int]:
        """How far a text is from what was read: characters that became others, then their places among the ways."""
        ways = map(self._ways, reading.text, reading.others)
        ranks = [found.index(now) for found, now in zip(ways, text, strict=True)]
        same = (len(_SAME.get(was, "")) if self.look_alikes else 0 for was in reading.text)
        return sum(rank > free for rank, free in zip(ranks, same, strict=True)), sum(ranks)

    def _invented(self, read: str, text: str) -> bool:
        """Whether a digit became a letter although the race has numbers without one."""
        return self._plain and any(was.isdecimal() and not now.isdecimal() for was, now in zip(read, text, strict=True))

    def _unlisted(self, text: str) -> bool:
        return bool(self._listed) and text not in self._listed

    def prior(self, text: str) -> float:
        """How much of its score a number keeps: all, or less where there is a start list without it."""
        return _UNLISTED if self._unlisted(text) else 1.0

    def _without_zeros(self, reading: Reading) -> Reading | None:
        zeros = len(reading.text) - len(reading.text.lstrip("0")) if self.leading_zeros == "drop" else 0
        return reading.without(zeros) if zeros < len(reading.text) else None


#: A number that is on no start list is more often a misreading than somebody who is not on it.
_UNLISTED = 0.6


def _mostly_read(read: str, text: str) -> bool:
    """Whether most of a number's digits were read as digits: a word is no number, whatever it looks like."""
    digits = [was.isdecimal() for was, now in zip(read, text, strict=True) if now.isdecimal()]
    return sum(digits) > len(digits) / 2


def is_year(text: str) -> bool:
    """Whether a number may be the year on a banner."""
    return bool(_YEAR.fullmatch(text))


def _start_list(path: Path, rule: BibFormat) -> frozenset[str]:
    """The numbers of a file, one a line. A first line without any digit is a heading."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f"entrants={path}: cannot be read: {error}; expected a text file, one number a line"
        ) from error
    numbers = set()
    for place, line in enumerate(lines, start=1):
        text = re.split(r"[,;\t]", line)[0].strip().strip('"')
        heading = place == 1 and not any(map(str.isdecimal, text))
        if not text or heading:
            continue
        number = text.upper() if rule.case == "upper" else text
        if not re.fullmatch(rule.pattern, number):
            raise ValueError(f"entrants={path}: line {place}: {text!r:.40} does not fit the pattern {rule.pattern}")
        numbers.add(number)
    if not numbers:
        raise ValueError(f"entrants={path}: no number in it; expected one a line")
    return frozenset(numbers)
