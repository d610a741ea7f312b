"""Raw objects and their bins, and where they stand among the tokens that a model generated.

- A bin is a whole number of up to four digits (`12`, or `12.0`) or its token, `<|coord_12|>`. The bins of an object are
  a flat list or a list of pairs. They come from the model's own output and never from pixels, which do not lead back.
- In a trace of coordinate tokens, a coordinate is exactly one token `<|coord_k|>`, k without leading zeros.
- In a trace of digits, a coordinate is a whole number in the text that the tokens make, outside of quoted strings; its
  tokens are those that hold its digits. A token with digits of two numbers leaves both unusable.
- An object stands where its bins are consecutive *among the coordinates*: other text may lie in between (brackets,
  commas), another coordinate may not.
- All raw objects are placed, in their order, each at its earliest place that shares no coordinate with one before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Any

_MOST = 9999
#: (Keys of one type only: twice as fast to look up as mixed ones.)
_BIN_OF = {f"<|coord_{k}|>": k for k in range(_MOST + 1)}
#: One character a coordinate: a search in a text of them is a search for consecutive ones.
_CHARACTERS = [chr(k) for k in range(_MOST + 1)]
_CHARACTER_OF = dict(zip(_BIN_OF, _CHARACTERS, strict=True))
#: Stands for a number that is no bin and for a coordinate that is taken: no bin is equal to it.
_NO_BIN = chr(_MOST + 1)
_SEPARATOR = "\0"
_COORDINATE = re.compile(r"\0(<\|coord_(?:0|[1-9][0-9]{0,3})\|>)(?=\0)")
#: A quoted string, which is passed over, or a number.
_NUMBER = re.compile(r'"(?:[^"\\]|\\.)*"|(-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)', re.DOTALL)
_WHOLE = re.compile(r"(0|[1-9][0-9]{0,3})(?:\.0+)?")
#: What gets a score, and the other geometries that a raw object may carry under their own name.
BOX = "bbox_2d"
POLYGON = "poly"
_OTHER_GEOMETRIES = frozenset((POLYGON, "line", "point"))

Bins = tuple[int, ...]
#: Kind (None where it names none), description (whatever stands there), bins (None where they cannot be used), and
#: whether it has a place: as many bins as its kind has. (A bare tuple, since there are very many of them.)
RawObject = tuple[str | None, Any, Bins | None, bool]
#: The coordinates of an object, as positions in a trace's log-probabilities, and how many other places were free.
Span = tuple[list[int], int]


class TraceForm(StrEnum):
    """How a model writes a coordinate: as a token of its own, or as the digits of a number."""

    COORD_TOKENS = "coord_tokens"
    DIGITS = "digits"


def read_objects(raw_output: Any) -> list[RawObject] | None:
    """The objects of a raw payload, `{"objects": [...]}`; None where it has no list. What is no object is left out."""
    objects = raw_output.get("objects") if isinstance(raw_output, dict) else None
    return [_read_object(raw) for raw in objects if type(raw) is dict] if isinstance(objects, list) else None


def _read_object(raw: dict[str, Any]) -> RawObject:
    """`{"bbox_2d": [...]}` or `{"type": "bbox_2d", "points": [...]}`, with `desc`.

    An object with several geometries has no place; its bins are those of all of them, one after the other.
    """
    desc = raw.get("desc", "")
    if BOX in raw and _OTHER_GEOMETRIES.isdisjoint(raw):
        bins = read_bins(raw[BOX])
        return BOX, desc, bins, bins is not None and len(bins) == 4
    named = {key: raw[key] for key in raw if (key == BOX or key in _OTHER_GEOMETRIES) and raw[key] is not None}
    if len(named) > 1:
        parts = [read_bins(values) for values in named.values()]
        return None, desc, None if None in parts else tuple(k for part in parts if part for k in part), False
    for kind, values in named.items():
        return _with_place(kind, desc, read_bins(values))
    named_type = raw.get("type")
    return _with_place(named_type if isinstance(named_type, str) else None, desc, read_bins(raw.get("points")))


def _with_place(kind: str | None, desc: Any, bins: Bins | None) -> RawObject:
    count = len(bins or ())
    right = count == 4 if kind == BOX else count % 2 == 0 and count >= (6 if kind == POLYGON else 2)
    return kind, desc, bins, right


def read_bins(values: Any) -> Bins | None:
    """A list of bins or coordinate tokens, flat or in pairs, as bins; None where any of it is something else."""
    if type(values) is not list:
        return None
    try:
        if len(values) == 4 and type(values[0]) is str:  # nearly always; written out since there are very many
            x1, y1, x2, y2 = values
            return _BIN_OF[x1], _BIN_OF[y1], _BIN_OF[x2], _BIN_OF[y2]
    except (KeyError, TypeError):
        pass  # not only tokens
    if values and all(type(pair) is list and len(pair) == 2 for pair in values):
        values = [value for pair in values for value in pair]
    bins = tuple(_read_bin(value) for value in values)
    return None if None in bins else bins  # type: ignore[return-value]


def _read_bin(value: Any) -> int | None:
    if type(value) is int or (type(value) is float and value.is_integer()):
        return int(value) if 0 <= value <= _MOST else None
    return _BIN_OF.get(value) if type(value) is str else None


class Coordinates:
    """The coordinate tokens of one trace, in order. Raises TypeError where a token is no string.

    A trace has hundreds of tokens and few of them are coordinates, so these are looked for in one text, at C speed.
    """

    __slots__ = ("_positions", "_text")

    def __init__(self, tokens: list[str]) -> None:
        found = _COORDINATE.findall(f"\0{_SEPARATOR.join(tokens)}\0")
        index, position = tokens.index, -1
        try:
            self._positions = [position := index(token, position + 1) for token in found]
        except ValueError:  # a token has a separator in it, and more was found than there is
            self._positions = [position for position, token in enumerate(tokens) if token in _BIN_OF]
            found = [tokens[position] for position in self._positions]
        self._text = "".join([_CHARACTER_OF[token] for token in found])

    @classmethod
    def of_numbers(cls, numbers: Sequence[int | None]) -> Coordinates:
        """Numbers as coordinates, each at its own position; None is one that no bin is equal to."""
        made = cls([])
        made._positions = list(range(len(numbers)))
        made._text = "".join([_NO_BIN if number is None else chr(number) for number in numbers])
        return made

    def place_all(self, raws: Sequence[RawObject]) -> list[Span | None]:
        """The places of all raw objects, in their order, each the earliest that shares no coordinate with one before:
        its positions, and how many other places were free. None for one without bins or without a place.
        """
        text, positions, spans = self._text, self._positions, list[Span | None]()
        done = 0  # up to here everything is taken: objects nearly always stand one after the other
        for _, _, bins, _ in raws:
            if bins is not None and len(bins) == 4:  # nearly always; written out since there are very many
                x1, y1, x2, y2 = bins
                wanted = f"{_CHARACTERS[x1]}{_CHARACTERS[y1]}{_CHARACTERS[x2]}{_CHARACTERS[y2]}"
            else:
                wanted = "".join(map(chr, bins or ()))
            first = text.find(wanted, done) if wanted else -1
            if first < 0:
                spans.append(None)
                continue
            others, other = 0, text.find(wanted, first + 1)
            while other >= 0:
                others += 1
                other = text.find(wanted, other + 1)
            end = first + len(wanted)
            if first == done:
                done = end
            else:
                text = f"{text[:first]}{_NO_BIN * len(wanted)}{text[end:]}"
            spans.append((positions[first:end], others))
        return spans


def numbers_in(tokens: list[str]) -> tuple[list[int | None], list[list[int]]]:
    """The numbers in the text that tokens make, outside of quoted strings, and the tokens that hold their digits.

    None is a number that cannot be a bin (negative, a fraction, too large), or that shares a token with another one.
    Raises TypeError where a token is no string.
    """
    ends = list(accumulate(map(len, tokens)))
    values: list[int | None] = []
    held: list[list[int]] = []
    for found in _NUMBER.finditer("".join(tokens)):
        if found[1] is None:
            continue
        whole = _WHOLE.fullmatch(found[1])
        value = int(whole[1]) if whole else None
        touched = range(bisect_right(ends, found.start()), bisect_right(ends, found.end() - 1) + 1)
        own = [index for index in touched if tokens[index]]
        if held and held[-1][-1] == own[0]:
            values[-1] = value = None
        values.append(value)
        held.append(own)
    return values, held
