"""JSON and XML from outside: read once, checked, with errors of the caller's kind that name the file and the place."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError

from harness.base.checks import first_error
from harness.base.errors import HarnessError
from harness.base.texts import one_line

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

M = TypeVar("M", bound=BaseModel)

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_json(file: Path, error: type[HarnessError]) -> Any:
    """The value that a JSON file holds. Of a key that stands twice in an object, the last one counts."""
    return _parsed(file, _content(file, error), error)


def read_json_once(file: Path, error: type[HarnessError], root: str = "") -> Any:
    """The same, where a key that stands twice in an object is an error; `root` is what the value is called in it."""
    text = _content(file, error)
    value = _parsed(file, text, error)
    try:
        twice = key_twice(text, root)
    except RecursionError as cause:
        raise error(f"{file}: lists and objects nested too deeply") from cause
    if twice:
        raise error(f"{file}: {twice}")
    return value


def _content(file: Path, error: type[HarnessError]) -> bytes:
    """What stands in a file, without the byte order mark that some programs put before it."""
    try:
        return file.read_bytes().removeprefix(BYTE_ORDER_MARK)
    except OSError as cause:
        raise error(f"{file}: cannot be read: {cause.strerror}") from cause


def _parsed(file: Path, text: bytes, error: type[HarnessError]) -> Any:
    import orjson

    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as cause:
        raise error(f"{file}: not JSON: {cause}") from cause


@dataclass(frozen=True)
class _Twice:
    """Stands for an object in which a key stands more than once."""

    key: str
    times: int


def key_twice(text: bytes, root: str = "") -> str | None:
    """Where in a JSON text an object has a key twice, in words; `root` is what the whole value is called.

    The parsers that are quick take the last of the two. For example:

        >>> key_twice(b'{"faces": [{"x": 0, "x": 1}]}')
        'faces.0.x: stands there 2 times; expected each key once'
    """
    found: list[_Twice] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Twice:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        found.append(_Twice(*Counter(key for key, _ in pairs).most_common(1)[0]))
        return found[-1]

    value = json.loads(text, object_pairs_hook=once, parse_int=str, parse_float=str)
    return _told_twice(value, root) if found else None


def _told_twice(value: Any, root: str) -> str:
    """Find the first object of this kind below a value that has one."""
    ahead: list[tuple[str, Any]] = [(root, value)]
    while not isinstance(ahead[-1][1], _Twice):
        place, value = ahead.pop()
        ahead += [(_joined(place, key), each) for key, each in _parts(value)][::-1]
    place, twice = ahead[-1]
    return f"{_joined(place, twice.key)}: stands there {twice.times} times; expected each key once"


def _parts(value: Any) -> Iterable[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _joined(place: str, key: str | int) -> str:
    return ".".join(filter(None, (place, one_line(str(key)))))


class _DocumentTypeError(Exception):
    """An XML file declares a document type."""


class _Plain(ElementTree.TreeBuilder):
    """Builds the tree of a document without a document type. The parser tells of one before it reads any entity, in
    whatever encoding the file is."""

    def doctype(self, *_: object) -> None:
        raise _DocumentTypeError


def read_xml(file: Path, error: type[HarnessError]) -> Element:
    """The root of an XML file. One that declares a document type, and so could declare entities, is refused: no
    annotation needs them."""
    try:
        return ElementTree.fromstring(file.read_bytes(), ElementTree.XMLParser(target=_Plain()))
    except OSError as cause:
        raise error(f"{file}: cannot be read: {cause.strerror}") from cause
    except _DocumentTypeError as cause:
        raise error(f"{file}: declares a document type, which no annotation needs") from cause
    except (ElementTree.ParseError, ValueError, LookupError) as cause:
        raise error(f"{file}: not XML: {cause}") from cause


def text_of(element: Element, name: str, where: str, error: type[HarnessError]) -> str:
    """The text of an element below this one."""
    text = (element.findtext(name) or "").strip()
    if not text:
        raise error(f"{where}: {name}: not there")
    return text


def number_of(element: Element, name: str, where: str, error: type[HarnessError]) -> float:
    """The number that an element below this one holds."""
    return number(text_of(element, name, where, error), f"{where}: {name}", error)


def number(text: str, where: str, error: type[HarnessError]) -> float:
    """Text as a number."""
    try:
        return float(text)
    except ValueError as cause:
        raise error(f"{where}: expected a number, got {text!r:.80}") from cause


def checked(model: type[M], data: Any, where: str, error: type[HarnessError]) -> M:
    """Data from outside as a model, or an error that names where it stands."""
    try:
        return model.model_validate(data)
    except ValidationError as cause:
        raise error(f"{where}: {first_error(cause)}") from cause
