"""Who has which photo open: "continue" gives two people different photos.

A desk is one open editor; it has a random id, and the name of whoever sits there, as far as they said it. A desk holds
the photo that is open and the next few that it has loaded, until it moves on, leaves, or has not been heard of for ten
minutes. A lease keeps nobody from opening a photo by its address: it only decides what is handed out. The book is a
file beside the labels, since several servers may be at work on one set; losing it costs nothing but leases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import orjson
from pydantic import BaseModel, TypeAdapter, ValidationError

from harness.base.errors import ReferenceSetError
from harness.base.locks import file_lock

SECONDS = 600.0
_BOOK, _LOCK = ".leases.json", ".leases.lock"


class Desk(BaseModel):
    """What a desk holds, whose it is, and until when."""

    by: str = ""
    photos: list[str]
    until: float


_BOOKS = TypeAdapter(dict[str, Desk])


class Leases:
    """The leases on the photos of one set. `clock` tells the seconds."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self._root, self._clock = root, clock

    def others(self, desk: str = "") -> dict[str, str]:
        """The photos that other desks hold, each with the name of whoever sits there."""
        return _held(self._read(), desk)

    def take(self, desk: str, by: str, at: str | None, choose: Callable[[dict[str, str]], Iterable[str]]) -> None:
        """Hold the photo that is open and what `choose` picks, given the photos of others; and nothing else any more.
        A photo that another desk has stays theirs."""
        with self._alone():
            book = self._read()
            taken = _held(book, desk)
            photos = [photo for photo in ([at] if at else []) if photo not in taken]
            photos += [photo for photo in choose(taken) if photo not in taken]
            book[desk] = Desk(by=by, photos=photos, until=self._clock() + SECONDS)
            self._write(book)

    def leave(self, desk: str) -> None:
        """A desk is left: its photos are free."""
        with self._alone():
            book = self._read()
            if book.pop(desk, None):
                self._write(book)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with file_lock(self._root / _LOCK):
                yield
        except OSError as error:
            raise ReferenceSetError(f"{self._root}: cannot be written: {error.strerror or error}") from error

    def _read(self) -> dict[str, Desk]:
        """The desks that were heard of lately. A book that cannot be read holds nothing: the labels are not in it."""
        try:
            book = _BOOKS.validate_json((self._root / _BOOK).read_bytes())
        except (FileNotFoundError, ValidationError):
            return {}
        now = self._clock()
        return {desk: lease for desk, lease in book.items() if now < lease.until <= now + SECONDS}

    def _write(self, book: dict[str, Desk]) -> None:
        """Replace the book at once; it need not outlive a power cut."""
        beside = self._root / f"{_BOOK}.new"
        beside.write_bytes(orjson.dumps({desk: lease.model_dump() for desk, lease in book.items()}))
        beside.replace(self._root / _BOOK)


def _held(book: dict[str, Desk], desk: str) -> dict[str, str]:
    return {photo: lease.by for name, lease in book.items() if name != desk for photo in lease.photos}
