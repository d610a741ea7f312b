"""The ledger of tries: one line a judged candidate, appended and never changed.

Each line has the digest of the line before it, and a small file beside the ledger has that of the last one, so that a
line that was changed, removed or cut off is noticed. Nothing is judged by a ledger that was tampered with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.disk import sync_folder, write_atomically
from harness.base.errors import ConflictError
from harness.base.locks import file_lock

_FILE, _HEAD, _LOCK = "judged.jsonl", "judged.head", ".judge.lock"
_NOTHING = "0" * 64


class Answer(StrEnum):
    """What a judge says of a candidate."""

    KEEP = "KEEP"
    DISCARD = "DISCARD"
    CANNOT_TELL = "CANNOT TELL"


@dataclass(frozen=True)
class Cost:
    """What a candidate cost, as the kernel has counted it: seconds by the clock and of processors, bytes at most."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory: int = 0


@dataclass(frozen=True)
class Try:
    """One judged candidate. `tree` is the digest of its files, and `parent` that of the base's; `candidate` and `base`
    are what they are called. `sides` are those of the first objective, item by item, and `base_sides` those of the
    base: candidates beside equal ones are counted together. A try on the holdout has its verdict alone."""

    number: int
    at: str
    key: str
    tree: str
    parent: str
    candidate: str
    base: str
    answer: Answer
    reason: str
    hypothesis: str = ""
    split: str = "iteration"
    protected: bool = True
    limit: str = ""
    metrics: tuple[Mapping[str, Any], ...] = ()
    standing: str = ""
    tries: int = 0
    level: float = 0.05
    cost: Cost = field(default_factory=Cost)
    changed: str = ""
    look: str = ""
    notes: tuple[str, ...] = ()
    #: The digest of the file of predictions that is kept beside the ledger, if one is.
    predictions: str = ""
    sides: tuple[Sequence[float], Sequence[float]] | None = None
    base_sides: tuple[Sequence[float], Sequence[float]] | None = None

    def shown(self) -> dict[str, Any]:
        """For whoever asked: all but what stands for single photos."""
        return {name: value for name, value in asdict(self).items() if name not in ("sides", "base_sides")}

    @property
    def objective(self) -> Mapping[str, Any] | None:
        """The first objective beside the base, where it was compared."""
        return self.metrics[0] if self.metrics else None


class Tries:
    """The ledger in the folder of a study."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path, self._head = folder / _FILE, folder / _HEAD

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else judges in this study meanwhile."""
        with file_lock(self.folder / _LOCK):
            yield

    def read(self) -> list[Try]:
        """All tries, in their order. Raises ConflictError where the ledger is not as it was written."""
        found, last = [], _NOTHING
        for number, line in enumerate(self._lines(), start=1):
            where = f"{self._path}:{number}"
            try:
                data = orjson.loads(line)
                previous = data.pop("previous")
                found.append(TypeAdapter(Try).validate_python(data))
            except (orjson.JSONDecodeError, KeyError, AttributeError, TypeError) as error:
                raise ConflictError(f"{where}: no line of this ledger: {error}; it was changed") from error
            except ValidationError as error:
                raise ConflictError(f"{where}: {first_error(error)}; the ledger was changed") from error
            if previous != last:
                raise ConflictError(f"{where}: does not follow from the line before it: the ledger was changed")
            last = _digest(line)
        self._check_head(len(found), last)
        return found

    def find(self, key: str) -> Try | None:
        """What was said of the same candidate under the same terms."""
        return next((each for each in self.read() if each.key == key), None)

    def append(self, new: Try) -> None:
        """Add a line, which lasts before this returns. Whoever calls is `alone`."""
        self.read()
        lines = self._lines()
        line = orjson.dumps({"previous": _digest(lines[-1]) if lines else _NOTHING, **asdict(new)})
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._path.open("r+b" if self._path.exists() else "xb") as file:
            file.truncate(sum(len(each) + 1 for each in lines))  # a line that a crash has cut short goes
            file.seek(0, os.SEEK_END)
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.folder)
        write_atomically(self._head, f"{len(lines) + 1} {_digest(line)}\n".encode())

    def _lines(self) -> list[bytes]:
        """The lines that are whole."""
        return self._path.read_bytes().split(b"\n")[:-1] if self._path.is_file() else []

    def _check_head(self, count: int, last: str) -> None:
        """The last line is the one that was written last. A crash may have come between a line and the note of it."""
        text = self._head.read_text() if self._head.is_file() else f"0 {_NOTHING}\n"
        known, _, digest = text.strip().partition(" ")
        lines = self._lines()
        before = _digest(lines[-2]) if len(lines) > 1 else _NOTHING
        if (known, digest) not in ((str(count), last), (str(count - 1), before)):
            raise ConflictError(
                f"{self._path}: has {count} lines where {known} were written, or another last one: it was changed"
            )


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()
