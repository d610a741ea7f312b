"""What came back for each runner, kept beside `run.json`: the rows that the find scorecard counts.

One row for each runner and photo that they want, and one for each photo of somebody else that came back for them. There
is no vector and no picture in it: names, hashes of photos, shares and similarities. The format is Parquet, which
anything that reads tables can open.

`both` is the share of the runner's searches by selfie and number that returned the photo; over the rows of a runner it
adds up to `both_found` of the scorecard and, over those of others, to `both_wrong`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.base.errors import HarnessError
from harness.scoring.boxes import Bools, Floats, Ints

RETURNS_FILE = "identity_returns.parquet"
_NAMES, _NUMBERS = ("person", "photo", "cause"), ("selfie", "number", "both", "score", "threshold")


@dataclass(frozen=True, slots=True)
class Return:
    """A row: a wanted photo, or one of somebody else (`wanted` is False) that came back. Shares are None where nothing
    asks; `score` is the best similarity, None where no face was compared, and `threshold` what it has to reach, None
    where there is none. `cause` is why a wanted photo does not always come back; "" where it does. `face` is the place
    of the face of somebody else among those that the run found in the photo."""

    person: str
    photo: str
    wanted: bool
    selfie: float | None = None
    number: float | None = None
    both: float | None = None
    score: float | None = None
    threshold: float | None = None
    cause: str = ""
    face: int | None = None


@dataclass(frozen=True)
class Returns:
    """The rows in columns. `person`, `photo` and `cause` are places in `people`, `photos` and `causes`; what is not
    there is NaN, and -1 for a place."""

    people: tuple[str, ...]
    numbers: tuple[tuple[str, ...], ...]
    photos: tuple[str, ...]
    causes: tuple[str, ...]
    person: Ints
    photo: Ints
    wanted: Bools
    selfie: Floats
    number: Floats
    both: Floats
    score: Floats
    threshold: Floats
    cause: Ints
    face: Ints

    def __len__(self) -> int:
        return len(self.person)

    @cached_property
    def _by_person(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.person, kind="stable")
        return order, np.searchsorted(self.person[order], np.arange(len(self.people) + 1))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each person is."""
        return {name: place for place, name in enumerate(self.people)}

    def of(self, person: str) -> list[Return]:
        """The rows of a person; none where nothing is known of them."""
        if (place := self.places.get(person)) is None:
            return []
        order, first = self._by_person
        return [self.row(row) for row in order[first[place] : first[place + 1]].tolist()]

    def row(self, row: int) -> Return:
        """One of them."""
        shares = {name: _known(getattr(self, name)[row]) for name in _NUMBERS}
        cause, face = int(self.cause[row]), int(self.face[row])
        return Return(
            person=self.people[self.person[row]],
            photo=self.photos[self.photo[row]],
            wanted=bool(self.wanted[row]),
            **shares,
            cause=self.causes[cause] if cause >= 0 else "",
            face=face if face >= 0 else None,
        )

    def missed(self) -> Iterator[tuple[str, str, str]]:
        """Photo, person and cause of each wanted photo that does not always come back."""
        for row in np.flatnonzero(self.wanted & (self.cause >= 0)).tolist():
            yield self.photos[self.photo[row]], self.people[self.person[row]], self.causes[self.cause[row]]


def _known(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)


def write_returns(path: Path, returns: Returns) -> None:
    """Write the rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def named(places: Ints, names: Sequence[str]) -> Any:
        codes = pa.array(places.astype(np.int32), mask=places < 0)
        return pa.DictionaryArray.from_arrays(codes, pa.array(names, pa.string()))

    columns = {
        "person": named(returns.person, returns.people),
        "numbers": named(returns.person, [json.dumps(own) for own in returns.numbers]),
        "photo": named(returns.photo, returns.photos),
        "wanted": pa.array(returns.wanted),
        **{name: pa.array(getattr(returns, name), from_pandas=True) for name in _NUMBERS},
        "cause": named(returns.cause, returns.causes),
        "face": pa.array(returns.face, mask=returns.face < 0),
    }
    pq.write_table(pa.table(columns), path, compression="zstd")


def read_returns(content: bytes, name: str = RETURNS_FILE) -> Returns:
    """Read what `write_returns` wrote. Raises a HarnessError that names the file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(content))
        named = {each: _named(table[each]) for each in _NAMES}
        worn, texts = _named(table["numbers"])
        plain = {each: table[each].to_numpy() for each in ("wanted", *_NUMBERS)}
        face = table["face"].fill_null(-1).to_numpy()
        person, people = named["person"]
        numbers: list[tuple[str, ...]] = [()] * len(people)
        for place, row in zip(*np.unique(person, return_index=True), strict=True):
            numbers[place] = tuple(json.loads(texts[worn[row]]))
    except (OSError, pa.ArrowException, KeyError, IndexError, TypeError, ValueError) as error:
        raise HarnessError(f"{name}: not what came back in a run: {str(error).splitlines()[0]}") from error
    return Returns(
        people=people,
        numbers=tuple(numbers),
        photos=named["photo"][1],
        causes=named["cause"][1],
        person=person,
        photo=named["photo"][0],
        cause=named["cause"][0],
        **plain,
        face=face,
    )


def _named(column: Any) -> tuple[Ints, tuple[str, ...]]:
    """A column of texts as places and the texts themselves; -1 where there is none."""
    encoded = column.combine_chunks().dictionary_encode()
    places = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return places, tuple(encoded.dictionary.to_pylist())
