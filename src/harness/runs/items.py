"""The items of a task, and how a run of very many photos keeps them: in columns, beside a small `run.json`.

One row an item, one column a count: `number.tp`, empty where the item has no such count. What a photo has beyond its
counts stands in columns as well, its prediction and its missed numbers as JSON. The format is Parquet, which anything
that reads tables can open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from harness.base.errors import HarnessError
from harness.base.texts import counted
from harness.scoring import MissedNumber
from harness.scoring.cards import Count
from harness.types import PhotoPrediction

#: A task with more items than this keeps them in columns.
MOST_INLINE = 1000
#: So many items are written together.
TOGETHER = 2000
_WHO, _PHOTO = ("id", "name", "group"), ("status", "expected", "read", "seconds", "prediction", "missed")

#: Scorecard -> count -> how many.
Counts = Mapping[str, Mapping[str, Count]]


@dataclass(frozen=True, slots=True)
class PhotoDetail:
    """What a photo has beyond its counts: what was expected, read and predicted, and why numbers were missed. Without
    `seconds` they were not measured, because the cache has answered."""

    status: str
    expected: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    seconds: float | None = None
    prediction: PhotoPrediction = field(default_factory=PhotoPrediction)
    missed: tuple[MissedNumber, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was evaluated, a photo or a table or a sample, and what each scorecard counted on it. Items of
    one `group` belong together; an item without one is its own."""

    id: str
    name: str
    counts: Counts = field(default_factory=dict)
    group: str = ""
    photo: PhotoDetail | None = None


def found_words(predictions: Iterable[PhotoPrediction]) -> str:
    """How much was found in photos, without a word about what is right."""
    photos = bibs = read = faces = links = 0
    for found in predictions:
        photos, bibs, faces, links = (
            photos + 1,
            bibs + len(found.bibs),
            faces + len(found.faces),
            links + len(found.links),
        )
        read += sum(bib.number is not None for bib in found.bibs)
    return (
        f"Found in {counted(photos, 'photo')}: {counted(bibs, 'bib')}, {read:,} of them with a number, "
        f"{counted(faces, 'face')} and {counted(links, 'link')} between the two."
    )


@dataclass(frozen=True)
class FailedItem:
    """One that could not be evaluated, and why."""

    id: str
    name: str
    reason: str


def item_rows(items: Mapping[str, Sequence[Mapping[str, Count]]], count: int) -> Iterator[Counts]:
    """From each scorecard's counts item by item to each item's counts by scorecard, those without any left out. Items
    whose scorecards share their counts share the whole, too."""
    known: dict[tuple[int, ...], Counts] = {}
    for row in range(count):
        own = tuple(id(counts[row]) for counts in items.values())  # `items` keeps all of them alive
        if own not in known:
            known[own] = {name: counts[row] for name, counts in items.items() if counts[row]}
        yield known[own]


def file_of(task: str) -> str:
    """What the file with the items of a task is called."""
    return f"{task}_items.parquet"


def write_items(path: Path, items: Sequence[Item]) -> None:
    """Write the items of a task, some at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {**_own_kinds(), **_count_kinds(items)}
    with pq.ParquetWriter(path, pa.schema(kinds), compression="zstd") as writer:
        for first in range(0, len(items), TOGETHER):
            some = items[first : first + TOGETHER]
            columns = {**_own(some), **_counts(some, kinds)}
            writer.write_table(pa.table({name: pa.array(columns[name], kind) for name, kind in kinds.items()}))


def read_items(path: Path, counts: bool = True) -> tuple[Item, ...]:
    """Read what `write_items` wrote, or only what has no `counts`. Raises a HarnessError that names the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        columns = None if counts else [*_WHO, *_PHOTO]
        with pq.ParquetFile(path) as file:
            batches = file.iter_batches(TOGETHER, columns=columns)
            return tuple(item for batch in batches for item in _items(batch.to_pydict()))
    except (OSError, pa.ArrowException, KeyError, ValidationError) as error:
        raise HarnessError(f"{path}: not the items of a run: {str(error).splitlines()[0]}") from error


def _own_kinds() -> dict[str, Any]:
    """The columns that every file has, and what they hold."""
    import pyarrow as pa

    lists = dict.fromkeys(("expected", "read"), pa.list_(pa.string()))
    return {**dict.fromkeys((*_WHO, *_PHOTO), pa.string()), **lists, "seconds": pa.float64()}


def _count_kinds(items: Sequence[Item]) -> dict[str, Any]:
    """A column for each count of each scorecard: whole numbers where all of them are."""
    import pyarrow as pa

    fractional: dict[str, bool] = {}
    for shared in {id(item.counts): item.counts for item in items}.values():  # many items have the same
        for card, counts in shared.items():
            for name, count in counts.items():
                key = f"{card}.{name}"
                fractional[key] = fractional.get(key, False) or isinstance(count, float)
    return {name: pa.float64() if floats else pa.int64() for name, floats in fractional.items()}


def _own(items: Sequence[Item]) -> dict[str, list[Any]]:
    details = [item.photo for item in items]
    columns: dict[str, list[Any]] = {name: [getattr(item, name) for item in items] for name in _WHO}
    for name in ("status", "expected", "read", "seconds"):
        columns[name] = [getattr(each, name) if each else None for each in details]
    for name, adapter in (("prediction", _prediction()), ("missed", _missed())):
        columns[name] = [adapter.dump_json(getattr(each, name)).decode() if each else None for each in details]
    return columns


def _counts(items: Sequence[Item], kinds: Iterable[str]) -> dict[str, list[Any]]:
    columns = {}
    for key in kinds:
        card, _, name = key.partition(".")
        columns[key] = [item.counts.get(card, {}).get(name) for item in items]
    return {key: column for key, column in columns.items() if "." in key}


def _items(table: Mapping[str, list[Any]]) -> Iterator[Item]:
    cards: dict[str, dict[str, list[Any]]] = {}
    for key in table:
        card, dot, name = key.partition(".")
        if dot:
            cards.setdefault(card, {})[name] = table[key]
    counted = item_rows({card: _shared(columns) for card, columns in cards.items()}, len(table["id"]))
    for row, counts in enumerate(counted):
        yield Item(table["id"][row], table["name"][row], counts, table["group"][row], _photo(table, row))


def _shared(columns: Mapping[str, list[Any]]) -> list[dict[str, Count]]:
    """What a scorecard counts, item by item. Items that count the same, as most do, share one mapping."""
    rows = list(zip(*columns.values(), strict=True))
    known = {
        row: {name: count for name, count in zip(columns, row, strict=True) if count is not None} for row in set(rows)
    }
    return [known[row] for row in rows]


def _photo(table: Mapping[str, list[Any]], row: int) -> PhotoDetail | None:
    if table["status"][row] is None:
        return None
    return PhotoDetail(
        table["status"][row],
        tuple(table["expected"][row]),
        tuple(table["read"][row]),
        table["seconds"][row],
        _prediction().validate_json(table["prediction"][row]),
        _missed().validate_json(table["missed"][row]),
    )


@cache
def _prediction() -> TypeAdapter[PhotoPrediction]:
    return TypeAdapter(PhotoPrediction)


@cache
def _missed() -> TypeAdapter[tuple[MissedNumber, ...]]:
    return TypeAdapter(tuple[MissedNumber, ...])
