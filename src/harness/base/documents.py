"""JSON and XML from outside: read once, checked, with errors of the caller's kind that name the file and the place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from xml.etree import ElementTree

from pydantic import BaseModel, ValidationError

from harness.base.checks import first_error
from harness.base.errors import HarnessError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

M = TypeVar("M", bound=BaseModel)


def read_json(file: Path, error: type[HarnessError]) -> Any:
    """The value that a JSON file holds."""
    import orjson

    try:
        return orjson.loads(file.read_bytes())
    except OSError as cause:
        raise error(f"{file}: cannot be read: {cause.strerror}") from cause
    except orjson.JSONDecodeError as cause:
        raise error(f"{file}: not JSON: {cause}") from cause


def read_xml(file: Path, error: type[HarnessError]) -> Element:
    """The root of an XML file. One that declares entities is refused: no annotation needs them."""
    try:
        text = file.read_bytes()
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise error(f"{file}: declares a document type, which no annotation needs")
        return ElementTree.fromstring(text)
    except OSError as cause:
        raise error(f"{file}: cannot be read: {cause.strerror}") from cause
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
