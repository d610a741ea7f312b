"""Looks at a holdout: photos that nobody tunes on, which confirm a claim as long as they are asked rarely.

Every judgement of a candidate on photos of a holdout is a look, whichever command asks for it. A holdout has `MOST`
looks, and only the verdict of each is shown: what was scored is sealed in a file that the gate alone reads. Looks are
told by the hashes of their photos, so that a set has used the looks of every other set that shares a photo with it. The
same judgement again is no new look. Whoever asks for the scores gets them, and the holdout is unprotected from then on.

Looks stand in `looks.jsonl` in the folder of the reference set, and once more in the tracking store, so that deleting a
study, a store or a frozen set resets nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from harness.base.checks import first_error
from harness.base.disk import write_atomically
from harness.base.errors import HarnessError, SealedError
from harness.base.locks import file_lock
from harness.runs.archive import BenchmarkRun, read_run, run_bytes

#: How many looks a holdout has.
MOST = 10
#: A gain, or that nothing got worse, is claimed at this level, so that the claims of all looks together err at 5 %.
LEVEL = 0.05 / MOST
UNPROTECTED = "UNPROTECTED"
#: What is said of a judgement on a holdout whose scores are there for everybody.
SHOWN = f"{UNPROTECTED}: the scores of this holdout were shown"
#: What is said where there are no scores to be seen, and no look that says why.
SEALED = (
    "these photos are a holdout, and its scores are sealed; holdout.show=true shows them, and leaves it unprotected"
)

_FILE, _LOCK, _SEALED = "looks.jsonl", ".looks.lock", "sealed"


@dataclass(frozen=True)
class Holdout:
    """The photos of a holdout that a run evaluates, by their hashes, and the folder of their reference set. Where they
    are not `alone`, the run was asked for all photos of the set."""

    root: Path
    photos: frozenset[str]
    alone: bool


@dataclass(frozen=True)
class Look:
    """One look: when, at which photos, and the key of the judgement. Without a key, it is that the scores were shown.
    `run` says what was judged."""

    at: str
    photos: tuple[str, ...]
    judgement: str = ""
    run: str = ""

    @property
    def shown(self) -> bool:
        """Whether the scores were shown."""
        return not self.judgement

    @classmethod
    def now(cls, holdout: Holdout, before: Iterable[Look], judgement: str = "", run: str = "") -> Look:
        """A look that is made now. It is later than those made `before`, also where the clock was set back: they are
        counted in the order of their times."""
        last = max((datetime.fromisoformat(look.at) for look in before), default=None)
        at = datetime.now(UTC) if last is None else max(datetime.now(UTC), last + timedelta(microseconds=1))
        return cls(at.isoformat(timespec="microseconds"), tuple(sorted(holdout.photos)), judgement, run)


@dataclass(frozen=True)
class Protection:
    """What a judgement on a holdout is worth: which look it is, and when the scores were shown before it, if ever."""

    number: int
    shown_at: str = ""

    @property
    def holds(self) -> bool:
        """Whether the error of all looks together is still bounded."""
        return self.number <= MOST and not self.shown_at

    def words(self) -> str:
        """In a line."""
        if self.shown_at:
            return f"{UNPROTECTED}: the scores of this holdout were shown on {self.shown_at[:10]}"
        if not self.holds:
            return f"{UNPROTECTED}: look {self.number} at a holdout that has {MOST}; new photos would protect it again"
        return f"look {self.number} of {MOST} at this holdout; its scores are sealed"


def protection(looks: Iterable[Look], holdout: Holdout, judgement: str) -> Protection:
    """What a judgement that is among the looks is worth. What came after it does not count."""
    keys: list[str] = []
    for look in _at_photos(looks, holdout):
        if look.shown:
            return Protection(len(keys) + 1, look.at)
        if look.judgement not in keys:
            keys.append(look.judgement)
        if look.judgement == judgement:
            break
    return Protection(len(keys))


def was_shown(looks: Iterable[Look], holdout: Holdout) -> bool:
    """Whether the scores of all these photos have been shown."""
    seen = {photo for look in looks if look.shown for photo in look.photos}
    return holdout.photos <= seen


def _at_photos(looks: Iterable[Look], holdout: Holdout) -> Iterator[Look]:
    ordered = sorted(looks, key=lambda look: look.at)
    return (look for look in ordered if not holdout.photos.isdisjoint(look.photos))


@contextmanager
def looking(root: Path) -> Iterator[None]:
    """Nobody else looks meanwhile. Raises where the folder cannot be written: what is not counted is not shown."""
    with _kept_in(root), file_lock(root / _LOCK):
        yield


@contextmanager
def _kept_in(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise SealedError(
            f"{root}: cannot be written ({error.strerror}), so that no look at its holdout can be counted or made"
        ) from error


def read_looks(root: Path) -> list[Look]:
    """The looks at photos of a reference set."""
    path = root / _FILE
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return [parse_look(line, f"{path}:{number}") for number, line in enumerate(lines, start=1)]


def parse_look(line: bytes, where: str) -> Look:
    """A look as it is kept."""
    try:
        look = TypeAdapter(Look).validate_python(orjson.loads(line))
    except ValidationError as error:
        raise HarnessError(f"{where}: {first_error(error)}") from error
    except orjson.JSONDecodeError as error:
        raise HarnessError(f"{where}: not JSON: {error}") from error
    try:
        known = datetime.fromisoformat(look.at).tzinfo is not None
    except ValueError:
        known = False
    if not known:
        raise HarnessError(f"{where}: at: {look.at!r} is no time with a zone")
    return look


def look_line(look: Look) -> bytes:
    """A look as it is kept, in one line."""
    return orjson.dumps(asdict(look))


def write_looks(root: Path, looks: Sequence[Look]) -> None:
    """Put the looks in the place of those that the file has, whole or not at all."""
    content = b"".join(look_line(look) + b"\n" for look in sorted(looks, key=lambda look: look.at))
    write_atomically(root / _FILE, content)


def seal(root: Path, run: BenchmarkRun) -> None:
    """Keep what was scored on a holdout where the gate alone reads it."""
    with _kept_in(root):
        (root / _SEALED).mkdir(mode=0o700, exist_ok=True)
        write_atomically(_place(root, run.metadata.key), run_bytes(run), mode=0o600)


def is_sealed(root: Path, key: str) -> bool:
    """Whether the scores of a run with this key are kept here."""
    return _place(root, key).is_file()


def unseal(root: Path, key: str) -> BenchmarkRun:
    """What was scored, for the gate alone: nothing of it may be shown but the verdict."""
    return read_run(_place(root, key))


def _place(root: Path, key: str) -> Path:
    return root / _SEALED / f"{key}.json"
