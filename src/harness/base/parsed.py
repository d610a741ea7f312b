"""The imports of sources that were parsed before: parsing all of the harness takes a third of a second.

They are known by the hash of the source, which is all that they depend on beside Python and the parser itself. Both
stand in the file; one of another parser is not read.
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import astuple
from functools import cache
from pathlib import Path
from typing import Any

from harness.base import imports
from harness.base.cache import cache_dir
from harness.base.imports import Import, imports_in
from harness.base.kept import keep, read_kept

#: How many sources are kept: those that were asked for first, then others that were known before.
_MOST = 4096


class ParsedSources:
    """The sources that a file knows, and those that were asked for since."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kept = read_kept(path)
        known = kept if isinstance(kept, dict) and kept.get("parser") == _parser() else {}
        self._before: dict[str, list[Any]] = known.get("sources", {})
        self._asked: dict[str, tuple[Import, ...]] = {}
        self._fresh = False

    def imports(self, digest: str, content: bytes) -> tuple[Import, ...]:
        """The imports of a source with this hash."""
        if digest not in self._asked:
            if digest in self._before:
                self._asked[digest] = tuple(_import(item) for item in self._before[digest])
            else:
                self._asked[digest], self._fresh = imports_in(content), True
        return self._asked[digest]

    def save(self) -> None:
        """Keep what was parsed since, if anything was."""
        if not self._fresh:
            return
        self._fresh = False
        asked = {digest: [astuple(item) for item in found] for digest, found in self._asked.items()}
        sources = dict(list({**asked, **{k: v for k, v in self._before.items() if k not in asked}}.items())[:_MOST])
        keep(self.path, {"parser": _parser(), "sources": sources})


def parsed_sources() -> ParsedSources:
    """Those of this user's cache folder."""
    return _opened(cache_dir() / "sources.json")


@cache
def _opened(path: Path) -> ParsedSources:
    return ParsedSources(path)


@cache
def _parser() -> str:
    own = Path(str(imports.__file__)).read_bytes()
    return f"{platform.python_version()} {hashlib.sha256(own).hexdigest()}"


def _import(item: list[Any]) -> Import:
    module, attributes, *rest = item
    return Import(module, tuple(attributes), *rest)
