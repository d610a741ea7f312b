"""JSON Lines, fast and forgiving of what Python writes: one record at a time, errors that name file and line.

orjson reads and writes. It refuses NaN, infinities and lone surrogates, and turns whole numbers beyond 64 bits into
floats; a line that has any of these goes through the standard library instead, in both directions, so that a copied
record keeps every value. Such a line is rare, and is no error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from harness.base.errors import ConfidenceError

#: Bytes that are read or written at a time.
BUFFER = 1 << 20
#: The shortest whole number that 64 bits may not hold has twenty digits (as may the decimals of a small float).
_HUGE = b"0" * 20
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")


class Record(NamedTuple):
    """One line: the object on it, and whether only the standard library can carry it."""

    fields: dict[str, Any]
    plain: bool


def count_lines(path: Path) -> int:
    """How many lines a file has, read in pieces; the last one may lack its line end."""
    lines, last = 0, b""
    try:
        with path.open("rb") as file:
            while piece := file.read(BUFFER):
                lines += piece.count(b"\n")
                last = piece
    except OSError as error:
        raise unreadable(path, error) from error
    return lines + (last[-1:] not in (b"", b"\n"))


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers, from 1."""
    try:
        with path.open("rb", buffering=BUFFER) as file:
            yield from enumerate(file, start=1)
    except OSError as error:
        raise unreadable(path, error) from error


def parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    """The object on one line. Whole numbers beyond 64 bits may have become floats."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:  # perhaps a NaN or a lone surrogate: the standard library decides
        fields = _parse_plain(path, number, line)
    if type(fields) is not dict:
        raise wrong(path, number, f"expected a JSON object, got {fields!r:.60}")
    return fields


def parse_exactly(path: Path, number: int, line: bytes) -> Record:
    """The object on one line, every value as it is, for a record to be copied."""
    if _HUGE not in line.translate(_DIGITS_TO_ZERO):
        try:
            fields, plain = orjson.loads(line), False
        except orjson.JSONDecodeError:
            fields, plain = _parse_plain(path, number, line), True
    else:
        fields, plain = _parse_plain(path, number, line), True
    if type(fields) is not dict:
        raise wrong(path, number, f"expected a JSON object, got {fields!r:.60}")
    return Record(fields, plain)


def dump(fields: dict[str, Any], *, plain: bool) -> bytes:
    """One line, its end included. `plain` is how the record was read."""
    if plain:
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def wrong(path: Path, number: int, what: str) -> ConfidenceError:
    """An error that names file and line."""
    return ConfidenceError(f"{path}, line {number}: {what}")


def unreadable(path: Path, error: OSError) -> ConfidenceError:
    """An error for a file that cannot be opened or read."""
    return ConfidenceError(f"{path}: cannot be read: {error.strerror}")


def _parse_plain(path: Path, number: int, line: bytes) -> Any:
    if not line.strip():
        raise wrong(path, number, "a blank line; every line is one JSON object")
    try:
        return json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise wrong(path, number, f"not JSON: {error}") from error
