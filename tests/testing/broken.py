"""Which rules of a contract something breaks. A contract is worth what it catches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def broken_rules(contract: Any, tmp_path: Path) -> Iterator[str]:
    """The rules that fail, all of them tried."""
    for rule in sorted(name for name in dir(contract) if name.startswith("test_")):
        test = getattr(contract, rule)
        names = test.__code__.co_varnames[1 : test.__code__.co_argcount]
        folder = tmp_path / rule
        folder.mkdir()
        given = {"tmp_path": folder, "name": "one pixel"}
        try:
            test(**{name: given[name] for name in names})
        except (Exception, pytest.fail.Exception):  # noqa: BLE001 - whatever ends a test
            yield rule
