"""Very many objects in little memory: a sequence that keeps them pickled in blocks and opens one block at a time.

A photo with its labels and predictions takes 6 kB as objects, and a few hundred bytes like this. Opening it again costs
a third of what scoring it does, at each pass: few objects are therefore left as they are, and whoever needs several
things of very many takes them in one pass, by `blocks`. Taking single objects from all over the place is slow.
"""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any, TypeVar, overload

T = TypeVar("T")

#: So many objects are pickled together.
BLOCK = 500
#: Up to so many objects are kept as they are.
MOST_LOOSE = 20_000
_QUICK = 1


def packed(items: Iterable[T]) -> Sequence[T]:
    """The items in their order: as they are where there are few, packed where there are many."""
    rest = iter(items)
    first = tuple(islice(rest, MOST_LOOSE + 1))
    return Packed(chain(first, rest)) if len(first) > MOST_LOOSE else first


def blocks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """All items, some of them at a time. Few stay together."""
    if isinstance(items, Packed):
        yield from items.blocks()
    else:
        yield items


class Packed(Sequence[T]):
    """Objects that are pickled in blocks. What is taken out is a copy, which nobody is to change."""

    def __init__(self, items: Iterable[T]) -> None:
        self._blocks: list[bytes] = []
        self._size = 0
        #: The block that was opened last for a single object, and its number.
        self._open: tuple[int, list[T]] = (-1, [])
        rest = iter(items)
        while block := list(islice(rest, BLOCK)):
            self._blocks.append(_pack(block))
            self._size += len(block)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self.blocks())

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...

    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(self._size)))
        number, row = divmod(range(self._size)[place], BLOCK)
        if self._open[0] != number:
            self._open = (number, _unpack(self._blocks[number]))
        return self._open[1][row]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Packed | tuple):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._size:,} objects, packed>"

    def blocks(self) -> Iterator[list[T]]:
        """All objects, a block at a time."""
        return map(_unpack, self._blocks)


def _pack(block: Sequence[Any]) -> bytes:
    content = io.BytesIO()
    _Pickler(content, pickle.HIGHEST_PROTOCOL).dump(block)
    return zlib.compress(content.getvalue(), _QUICK)


def _unpack(block: bytes) -> list[Any]:
    objects: list[Any] = pickle.loads(zlib.decompress(block))
    return objects


class _Pickler(pickle.Pickler):
    """Takes dataclasses with slots apart by their fields, which is several times as quick as how they do it."""

    def reducer_override(self, obj: Any) -> Any:
        kind: Any = type(obj)
        if (take := _fields_of(kind)) is None:
            return NotImplemented
        return _restored, (kind, take(obj))


@cache
def _fields_of(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    """What takes the values of an object of this kind, if it is a dataclass with slots."""
    if not is_dataclass(kind) or "__slots__" not in vars(kind) or "__reduce__" in vars(kind):
        return None
    names = [field.name for field in fields(kind)]
    return attrgetter(*names) if len(names) > 1 else lambda obj: tuple(getattr(obj, name) for name in names)


@cache
def _setters(kind: Any) -> tuple[Callable[[Any, Any], None], ...]:
    """What sets each field of a dataclass with slots, a frozen one included."""
    return tuple(getattr(kind, field.name).__set__ for field in fields(kind))


def _restored(kind: Any, values: tuple[Any, ...]) -> Any:
    obj = object.__new__(kind)
    for put, value in zip(_setters(kind), values, strict=True):
        put(obj, value)
    return obj
