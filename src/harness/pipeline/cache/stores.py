"""Where a shared cache keeps its entries: a folder that several machines mount, or object storage through fsspec.

An entry has a folder, which is its photo's hash, and a name, which is its key. It is there whole or not at all: in a
folder it is written beside and renamed, on object storage it is one PUT.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOENT
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from harness.base.errors import ConfigError
from harness.base.extras import need

#: Below what the user names, so that nothing else there is ever touched.
ANSWERS = "harness-answers"
#: Where files are written before they are renamed, and how old one is that nobody will rename any more.
_BESIDE, _ABANDONED_SECONDS = "unfinished", 24 * 3600.0
#: How long an S3 server may be silent, so that one that is gone costs seconds and not minutes.
_S3: Mapping[str, Any] = {
    "config_kwargs": {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2, "mode": "standard"}}
}


class Store(Protocol):
    """Small files by folder and name. Whatever is wrong with it is raised, but for what is not there."""

    def read(self, folder: str, name: str) -> bytes | None:
        """What is there, if anything."""

    def write(self, folder: str, name: str, content: bytes) -> None:
        """Put it there, or replace it: whole or not at all."""

    def names(self, folder: str) -> frozenset[str]:
        """What a folder has."""

    def delete(self, folder: str, names: frozenset[str]) -> None:
        """Take these away; what is not there stays away."""

    def folders(self) -> frozenset[str]:
        """The folders that have something, or had."""


def open_store(uri: str) -> Store:
    """The store of a URI or of a path. Raises ConfigError for one that would show a password wherever it is logged, and
    MissingPackageError where its packages are not installed."""
    parts = urlsplit(uri)
    if not parts.scheme:
        return FolderStore(Path(uri).expanduser().absolute())
    if parts.scheme == "file":
        return FolderStore(Path(parts.path))
    if parts.password:
        raise ConfigError("cache.uri: it has a password, which would be logged; name credentials in the environment")
    need(f"cache.uri={parts.scheme}://", "fsspec", *(["s3fs"] if parts.scheme == "s3" else []))
    return ObjectStore(uri)


@dataclass(frozen=True)
class FolderStore:
    """A folder, such as an NFS mount."""

    root: Path

    def read(self, folder: str, name: str) -> bytes | None:
        """What is there, if anything."""
        try:
            return (self._place(folder) / name).read_bytes()
        except FileNotFoundError:
            return None

    def write(self, folder: str, name: str, content: bytes) -> None:
        """Written beside and renamed. A crash of the whole machine may leave a short file, which its checksum tells."""
        beside = self._beside / f"{secrets.token_hex(8)}-{name}"
        try:
            beside.write_bytes(content)
            self._place(folder).mkdir(parents=True, exist_ok=True)
            beside.replace(self._place(folder) / name)
        except OSError:
            beside.unlink(missing_ok=True)
            raise

    def names(self, folder: str) -> frozenset[str]:
        """What a folder has. A root that is not there is no empty one: it may be a mount that is gone."""
        try:
            return frozenset(path.name for path in self._place(folder).iterdir())
        except FileNotFoundError:
            self._check_root()
            return frozenset()

    def delete(self, folder: str, names: frozenset[str]) -> None:
        """Take these away."""
        for name in names:
            (self._place(folder) / name).unlink(missing_ok=True)
        with suppress(OSError):  # it has others, or is gone
            self._place(folder).rmdir()

    def folders(self) -> frozenset[str]:
        """The folders that have something, or had."""
        self._check_root()
        return frozenset(path.name for path in (self.root / ANSWERS).glob("??/*"))

    def _place(self, folder: str) -> Path:
        return self.root / ANSWERS / folder[:2] / folder

    def _check_root(self) -> None:
        """It is never made here: under a mount that is gone, this would fill the disk of the machine."""
        if not self.root.is_dir():
            raise FileNotFoundError(ENOENT, "there is no such folder", str(self.root))

    @cached_property
    def _beside(self) -> Path:
        """Made when it is first needed; what a killed process has left there goes after a day."""
        made = self.root / ANSWERS / _BESIDE
        self._check_root()
        made.mkdir(parents=True, exist_ok=True)
        for path in made.iterdir():
            with suppress(OSError):  # another process clears up as well
                if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    path.unlink()
        return made


@dataclass(frozen=True)
class ObjectStore:
    """Whatever fsspec reaches. Credentials, regions and endpoints come from the environment (`AWS_...` for S3)."""

    uri: str

    def read(self, folder: str, name: str) -> bytes | None:
        """What is there, if anything."""
        try:
            return bytes(self._files.cat_file(f"{self._place(folder)}/{name}"))
        except FileNotFoundError:
            return None

    def write(self, folder: str, name: str, content: bytes) -> None:
        """One PUT."""
        self._files.pipe_file(f"{self._place(folder)}/{name}", content)

    def names(self, folder: str) -> frozenset[str]:
        """What a folder has."""
        return self._names(self._place(folder))

    def delete(self, folder: str, names: frozenset[str]) -> None:
        """Take these away."""
        for name in names:
            with suppress(FileNotFoundError):
                self._files.rm_file(f"{self._place(folder)}/{name}")

    def folders(self) -> frozenset[str]:
        """The folders that have something."""
        root = self._root
        return frozenset(name for start in self._names(root) for name in self._names(f"{root}/{start}"))

    def _names(self, place: str) -> frozenset[str]:
        try:
            listed = self._files.ls(place, detail=False)
        except FileNotFoundError:
            return frozenset()
        inside = (str(path).rstrip("/") for path in listed)  # some servers list an empty folder as what is in it
        return frozenset(path.rpartition("/")[2] for path in inside if path.strip("/") != place.strip("/"))

    def _place(self, folder: str) -> str:
        return f"{self._root}/{folder[:2]}/{folder}"

    @property
    def _root(self) -> str:
        return f"{self._opened[1].rstrip('/')}/{ANSWERS}"

    @property
    def _files(self) -> Any:
        return self._opened[0]

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        """The file system and the path on it. Nothing that it lists is remembered: others write, too."""
        from fsspec.core import url_to_fs

        options = _S3 if urlsplit(self.uri).scheme == "s3" else {}
        files, path = url_to_fs(self.uri, use_listings_cache=False, skip_instance_cache=True, **options)
        return files, str(path)
