"""What the stage cache keeps: keys, values as bytes, and the checksum that each entry has to show for itself.

A value is JSON, or an array of numbers, which is kept as bytes: text would make it four times as large.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

#: What pictures for reports are kept as: no stage, and nothing that leaves this machine.
PICTURE = "picture"
#: What an array in NumPy's own format begins with; no JSON does.
_ARRAY = b"\x93NUMPY"


@dataclass(frozen=True)
class Entry:
    """A stage's answer and the seconds that it took."""

    value: Any
    seconds: float


def key_of(*parts: object) -> str:
    """A digest over parts; what JSON does not know, such as a path, counts as it is written in Python."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=repr).encode()).hexdigest()


def encoded(value: Any) -> bytes:
    """A value as it is kept: JSON, or an array in NumPy's format."""
    if not isinstance(value, np.ndarray):
        return json.dumps(value, separators=(",", ":")).encode()
    file = io.BytesIO()
    np.save(file, value, allow_pickle=False)
    return file.getvalue()


def decoded(content: bytes) -> Any:
    """The value that was encoded. Raises ValueError where the content is neither."""
    return np.load(io.BytesIO(content), allow_pickle=False) if content.startswith(_ARRAY) else json.loads(content)


def checksum(key: str, stage: bytes, value: bytes, seconds: float) -> bytes:
    """What an entry has to show for itself. The parts are counted, so that none can run over into the next."""
    total = hashlib.sha256()
    for part in (key.encode(), stage, value, seconds.hex().encode()):
        total.update(len(part).to_bytes(8) + part)
    return total.digest()


def checked(key: str, stage: Any, value: Any, seconds: Any, proof: Any) -> Entry | None:
    """The entry, where it is what was written. Whatever is damaged may have another type as well."""
    if not (isinstance(stage, bytes) and isinstance(value, bytes) and isinstance(seconds, float)):
        return None
    if checksum(key, stage, value, seconds) != proof:
        return None
    try:
        return Entry(decoded(value), seconds)
    except ValueError:
        return None
