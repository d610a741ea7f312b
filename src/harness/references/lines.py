"""The label files of a large set as a run reads them: every record is checked once, and kept as its line of JSON.

A record as an object takes five times as much memory as its line, and a run needs each a few times, one after the
other. A file that is not laid out as the harness writes it, one photo a line, or in which anything is wrong, is read
whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from harness.base.garbage import no_collection
from harness.references.files import F, FaceGroundTruth, PhotoFile, decode, says_labeled

#: Files with fewer lines are read whole: objects are quicker.
FEWEST = 2000
#: So many lines are checked together.
_TOGETHER = 500
_BEGIN, _END = b'"photos":{\n', b"\n}"
#: Where in a line the hash ends, and the record begins.
_HASH, _RECORD = 65, 67


class Lines(Mapping[str, Any]):
    """Records by photo, each made of its line whenever it is asked for."""

    def __init__(self, lines: Mapping[str, bytes], record: Callable[[bytes], Any]) -> None:
        self._lines, self._record = lines, record

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __contains__(self, photo: object) -> bool:
        return photo in self._lines

    def __getitem__(self, photo: str) -> Any:
        return self._record(self._lines[photo])


class _OtherLayoutError(Exception):
    """A file has not one photo a line."""


def decode_lines(path: Path, text: bytes, kind: type[F]) -> F:
    """The content of a label file, as `decode` has it; that of a large one by lines."""
    begin = text.find(_BEGIN) + len(_BEGIN)
    end = text.find(_END, begin)
    small = not issubclass(kind, PhotoFile) or text.count(b"\n") < FEWEST
    if small or begin < len(_BEGIN) or end < 0 or (issubclass(kind, FaceGroundTruth) and not says_labeled(text)):
        return decode(path, text, kind)
    try:
        content = kind.model_validate_json(text[: begin - 1] + text[end + 1 :])
        lines = _checked(kind, text[begin:end])
    except (ValidationError, _OtherLayoutError):
        return decode(path, text, kind)  # which says what is wrong, if anything is
    return content.model_copy(update={"photos": Lines(lines, _adapter(kind).validate_json)})


def _checked(kind: type[Any], body: bytes) -> dict[str, bytes]:
    """Each photo's record as JSON. Raises a ValidationError where one is wrong."""
    found: dict[str, bytes] = {}
    rest = iter(body.split(b"\n"))
    while some := [line.removesuffix(b",") for line in islice(rest, _TOGETHER)]:
        with no_collection():
            photos = kind.model_validate_json(b'{"photos":{' + b",".join(some) + b"}}").photos
        if [b'"%s":' % photo.encode() for photo in photos] != [line[:_RECORD] for line in some]:
            raise _OtherLayoutError
        found |= zip(photos, (line[_RECORD:] for line in some), strict=True)
    return found


@cache
def _adapter(kind: type[PhotoFile]) -> TypeAdapter[Any]:
    """What reads one record of a file."""
    _, record = get_args(kind.model_fields["photos"].annotation)
    return TypeAdapter(record)
