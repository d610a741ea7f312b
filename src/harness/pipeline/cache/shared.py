"""A stage cache that several machines use: the SQLite file of this machine in front of a shared store.

What the local file does not have is looked for in the store, and kept locally when it is found. What is computed goes
to both. An entry of the store is checked like a local one: where its checksum fails it counts as absent, is computed
anew and replaced. A store that cannot be reached is bypassed with one warning, and the local file goes on alone.

Vectors of faces are personal data. They stay on this machine unless the user says otherwise (`cache.faces=true`): what
a recogniser saw, and every other array of numbers, is not written to the store.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.cache import cache_dir
from harness.base.errors import HarnessError
from harness.base.progress import warn
from harness.pipeline.cache.local import CacheConfig, StageCache
from harness.pipeline.cache.stores import Store, open_store
from harness.pipeline.cache.values import PICTURE, Entry, checked, checksum, encoded

#: The stage whose answers say who somebody is: that of `pipeline/identity`.
PERSONAL = "identity"
#: What an entry begins with, then its checksum and how long its head is.
_MAGIC = b"harness answer 1\n"
_HEAD = struct.Struct(">32sI")
#: The folder of entries that are about no photo.
_NO_PHOTO = "0" * 64


def packed(key: str, stage: str, entry: Entry) -> bytes:
    """An entry as bytes that can be checked."""
    value, seconds = encoded(entry.value), float(entry.seconds)
    head = _head(stage, seconds)
    proof = checksum(key, stage.encode(), value, seconds)
    return _MAGIC + _HEAD.pack(proof, len(head)) + head + value


def unpacked(key: str, content: bytes) -> tuple[str, Entry] | None:
    """The stage and the entry, where the bytes are what was written under this key."""
    start = len(_MAGIC) + _HEAD.size
    if not content.startswith(_MAGIC) or len(content) < start:
        return None
    proof, length = _HEAD.unpack(content[len(_MAGIC) : start])
    head, value = content[start : start + length], content[start + length :]
    try:
        stage, written = json.loads(head)
        seconds = float.fromhex(written)
        entry = checked(key, stage.encode(), value, seconds, proof) if head == _head(stage, seconds) else None
    except (ValueError, TypeError, AttributeError, OverflowError):  # a damaged head may be anything
        return None
    return (stage, entry) if entry else None


def _head(stage: str, seconds: float) -> bytes:
    return json.dumps([stage, seconds.hex()]).encode()


@dataclass
class _Reach:
    """What can still be done with the store, and what was found in it."""

    readable: bool = True
    writable: bool = True
    warned: bool = False
    repaired: int = 0
    #: The photo that was asked about last, and the names that the store has of it.
    listed: tuple[str, set[str]] = ("", set())


@dataclass(frozen=True)
class SharedCache(StageCache):
    """The local cache, and a store behind it. `uri` is what the store is called."""

    uri: str = field(kw_only=True)
    store: Store = field(kw_only=True, repr=False)
    faces: bool = field(default=False, kw_only=True)
    _reach: _Reach = field(default_factory=_Reach, compare=False, repr=False, kw_only=True)

    @property
    def where(self) -> str:
        """Where it is, in words."""
        return f"{self.folder}, in front of {self.uri}"

    @property
    def repaired(self) -> int:
        """How many damaged entries were met, here and there."""
        return super().repaired + self._reach.repaired

    def get(self, key: str, stage: str = "", photo: str = "") -> Entry | None:
        """The entry of a key, from here or from there."""
        entry = super().get(key, stage, photo)
        if entry is not None or stage == PICTURE or (stage == PERSONAL and not self.faces):
            return entry
        content = self._fetch(key, photo)
        if content is None:
            return None
        found = unpacked(key, content)
        if found is None:
            self._reach.repaired += 1
            return None
        stage, entry = found
        super().put(key, stage, entry, photo)
        return entry

    def put(self, key: str, stage: str, entry: Entry, photo: str = "") -> None:
        """Keep an entry here and, unless it is personal, there."""
        super().put(key, stage, entry, photo)
        shared = stage != PICTURE and (self.faces or not _personal(stage, entry.value))
        if self._reach.writable and shared:
            folder = photo or _NO_PHOTO
            with self._bypassed_store(reading=False):
                self.store.write(folder, key, packed(key, stage, entry))
                if self._reach.listed[0] == folder:
                    self._reach.listed[1].add(key)

    def drop(self, key: str, photo: str = "") -> None:
        """Forget an entry."""
        super().drop(key, photo)
        if self._reach.writable:
            with self._bypassed_store(reading=False):
                self.store.delete(photo or _NO_PHOTO, frozenset({key}))

    def forget(self, photos: Iterable[str]) -> int:
        """Drop every entry about these photos, here and there; returns how many went. Raises HarnessError where that
        cannot be done. Other machines that have read them keep them in their own local cache."""
        photos = list(photos)
        return super().forget(photos) + self._delete_there(photos, "what it keeps of these photos cannot be wiped")

    def clear(self) -> int:
        """Drop everything, here and there, whoever has put it there; returns how many entries went."""
        try:
            folders = sorted(self.store.folders())
        except Exception as error:
            raise HarnessError(f"{self.uri}: cannot be cleared: {_reason(error)}") from error
        return super().clear() + self._delete_there(folders, "cannot be cleared")

    def _delete_there(self, folders: Iterable[str], what: str) -> int:
        gone = 0
        try:
            for folder in folders:
                names = self.store.names(folder)
                self.store.delete(folder, names)
                gone += len(names)
        except Exception as error:
            raise HarnessError(f"{self.uri}: {what}: {_reason(error)}") from error
        return gone

    def _fetch(self, key: str, photo: str) -> bytes | None:
        """What the store has under a key. It is asked once which names it has of a photo, so that a new photo costs one
        question and not one for each answer; what others add meanwhile is computed here, too."""
        folder = photo or _NO_PHOTO
        if self._reach.readable:
            with self._bypassed_store(reading=True):
                if self._reach.listed[0] != folder:
                    self._reach.listed = (folder, set(self.store.names(folder)))
                return self.store.read(folder, key) if key in self._reach.listed[1] else None
        return None

    @contextmanager
    def _bypassed_store(self, *, reading: bool) -> Iterator[None]:
        """Leave the store alone from now on where it fails: altogether, or only for writing."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - each kind of storage has errors of its own, and none fails a photo
            self._reach.writable = False
            self._reach.readable &= not reading
            if not self._reach.warned:
                self._reach.warned = True
                able = "reached" if reading else "written"
                what = "this run goes on without it" if reading else "this run adds nothing to it"
                warn(f"the shared cache at {self.uri} cannot be {able} ({_reason(error)}); {what}")


def _personal(stage: str, value: Any) -> bool:
    return stage == PERSONAL or isinstance(value, np.ndarray)


def _reason(error: Exception) -> str:
    text = (getattr(error, "strerror", None) or str(error)).strip()
    return text.splitlines()[0] if text else type(error).__name__


@dataclass(frozen=True)
class SharedCacheConfig(CacheConfig):
    """A local cache in front of the store at `uri`: a path, or an address that fsspec knows. `faces` says whether face
    vectors may go there."""

    uri: str = field(kw_only=True)
    faces: bool = field(default=False, kw_only=True)

    def open(self) -> SharedCache | None:
        """The cache, or None where it is switched off."""
        if not self.enabled:
            return None
        folder = Path(self.folder) if self.folder else cache_dir() / "stages"
        limit = self.limit_mb * 1_000_000
        return SharedCache(folder, limit, uri=self.uri, store=open_store(self.uri), faces=self.faces)
