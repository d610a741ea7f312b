"""The pictures of newly broken photos that a report shows, as files and as Markdown for a comment on a pull request."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.texts import counted, markdown_table

_TITLE, _DATA = "Newly broken", "data:image/jpeg;base64,"


@dataclass(frozen=True)
class _Shown:
    told: str
    jpeg: bytes


class _Section(HTMLParser):
    """Collects the pictures between one heading and the next."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[_Shown] = []
        self._heading, self._inside = False, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("h2", "h3"):
            self._heading, self._inside = True, False
        given = dict(attrs)
        source = given.get("src") or ""
        if tag == "img" and self._inside and source.startswith(_DATA):
            self.found.append(_Shown(given.get("alt") or "", base64.b64decode(source.removeprefix(_DATA))))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("h2", "h3"):
            self._heading = False

    def handle_data(self, data: str) -> None:
        if self._heading and data.startswith(f"{_TITLE}:"):
            self._inside = True


def write_broken(report: str, folder: Path, address: str) -> str:
    """Write the pictures of a report's newly broken photos into a folder, the baseline's and the run's of each photo;
    returns Markdown that shows them side by side at `address`. "" where there are none."""
    section = _Section()
    section.feed(report)
    before, after = section.found[::2], section.found[1::2]
    if not before:
        return ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        rows = [
            [
                _written(old, folder / f"{place}-baseline.jpg", address),
                _written(new, folder / f"{place}-run.jpg", address),
            ]
            for place, (old, new) in enumerate(zip(before, after, strict=True), 1)
        ]
    except OSError as error:
        raise HarnessError(f"{folder}: pictures cannot be written: {error.strerror}") from error
    table = markdown_table(["baseline", "this run"], rows)
    return f"\n**{counted(len(rows), 'newly broken photo')} in pictures**\n\n{table}\n"


def _written(shown: _Shown, file: Path, address: str) -> str:
    """Write one picture, and show it by its address; the name of a photo may be anything, and is kept to one line."""
    file.write_bytes(shown.jpeg)
    told = re.sub(r"[\[\]<>|\\`\s]+", " ", shown.told)
    return f"![{told}]({address.replace('{name}', file.name)})"
