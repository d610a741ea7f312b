"""What a process has met in the stage cache, held in its memory: asked again, it costs neither a read nor a checksum.

Values are held in a form that is copied as it is read, and arrays cannot be written to, so that a backend which changes
what it was given changes nothing for the next one. When they outgrow the limit, those that were asked for least lately
go; they are still in the cache behind.
"""

from __future__ import annotations

import marshal
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.pipeline.cache.local import CacheConfig, StageCache
from harness.pipeline.cache.values import Entry

#: How much is held at most. An observation of a photo takes a few hundred bytes, a vector of a face two kilobytes.
LIMIT_BYTES = 1_000_000_000


@dataclass
class _Held:
    """What is held, the least lately asked first."""

    entries: OrderedDict[str, tuple[Any, float]] = field(default_factory=OrderedDict)
    bytes: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class MemoryCache(StageCache):
    """Observations in memory, in front of another cache, if there is one. `limit_bytes` is for the memory alone."""

    folder: Path = Path()
    limit_bytes: int = LIMIT_BYTES
    behind: StageCache | None = None
    _held: _Held = field(default_factory=_Held, compare=False, repr=False)

    @property
    def where(self) -> str:
        """Where the cache behind is, in words."""
        return self.behind.where if self.behind else "memory"

    @property
    def repaired(self) -> int:
        """How many damaged entries were met in the cache behind."""
        return self.behind.repaired if self.behind else 0

    def get(self, key: str, stage: str = "", photo: str = "") -> Entry | None:
        """The entry of a key, from the memory or from the cache behind."""
        with self._held.lock:
            if (held := self._held.entries.get(key)) is not None:
                self._held.entries.move_to_end(key)
                return Entry(_thawed(held[0]), held[1])
        entry = self.behind.get(key, stage, photo) if self.behind else None
        if entry is not None:
            self._hold(key, entry)
        return entry

    def put(self, key: str, stage: str, entry: Entry, photo: str = "") -> None:
        """Keep an entry, in both."""
        self._hold(key, entry)
        if self.behind:
            self.behind.put(key, stage, entry, photo)

    def drop(self, key: str, photo: str = "") -> None:
        """Forget an entry, in both."""
        with self._held.lock:
            self._remove(key)
        if self.behind:
            self.behind.drop(key, photo)

    def prune(self) -> int:
        """Let the cache behind keep to its limit."""
        return self.behind.prune() if self.behind else 0

    def _hold(self, key: str, entry: Entry) -> None:
        frozen = _frozen(entry.value)
        with self._held.lock:
            self._remove(key)
            self._held.entries[key] = frozen, entry.seconds
            self._held.bytes += _size(frozen)
            while self._held.bytes > self.limit_bytes and len(self._held.entries) > 1:
                self._remove(next(iter(self._held.entries)))

    def _remove(self, key: str) -> None:
        if (gone := self._held.entries.pop(key, None)) is not None:
            self._held.bytes -= _size(gone[0])


#: The memory of this process, by the cache that it stands in front of.
_OPENED: dict[tuple[type[Any], str], MemoryCache] = {}


def remembered(config: CacheConfig) -> MemoryCache:
    """The memory of this process in front of the cache that a config names: one for all who name the same."""
    behind = config.open()
    key = type(behind), behind.where if behind else ""
    return _OPENED.setdefault(key, MemoryCache(behind=behind))


def _frozen(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return marshal.dumps(value)
    kept = value.copy()
    kept.flags.writeable = False
    return kept


def _thawed(frozen: Any) -> Any:
    return frozen if isinstance(frozen, np.ndarray) else marshal.loads(frozen)


def _size(frozen: Any) -> int:
    return int(frozen.nbytes) if isinstance(frozen, np.ndarray) else len(frozen)
