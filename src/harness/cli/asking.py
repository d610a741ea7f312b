"""Asking before something is lost."""

from __future__ import annotations

import sys

from harness.base.errors import ConfigError


def confirm(force: bool, question: str, refusal: str) -> None:
    """Go on only after a yes, or with -f; where nobody can be asked, refuse with what would happen."""
    if force:
        return
    if not sys.stdin.isatty():
        raise ConfigError(f"{refusal}; say -f where nobody can be asked")
    if input(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
        raise ConfigError("nothing was changed")
