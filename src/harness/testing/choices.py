"""What a YAML makes, for a test: the same composition and the same checks as in a run, for one choice of one group."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError
from harness.building import instantiate
from harness.config import compose_choice, value_at
from harness.formats import Format

if TYPE_CHECKING:
    from harness.tasks.photos.scores import ScorePhotos


def backend_from(group: str, choice: str, conf: Path | None = None, overrides: Sequence[str] = ()) -> Any:
    """The object that `conf/<group>/<choice>.yaml` describes; its module may lie beside the conf folder.

    Without a preset, so that it is what the YAML says. For example:

        >>> backend_from("link", "rule_of_thumb", overrides=["link.torso=2.5"]).torso
        2.5
    """
    return instantiate(_composed(group, choice, conf, overrides), group)


def keys_of(group: str, choice: str, conf: Path | None = None) -> frozenset[str]:
    """The keys that a YAML sets."""
    return frozenset(value_at(_composed(group, choice, conf, ()), group)) - {"_target_"}


def scorecard_from(choice: str, conf: Path | None = None) -> ScorePhotos:
    """The last function that `cards` of `conf/scoring/<choice>.yaml` names."""
    names = value_at(_composed("scoring", choice, conf, ()), "scoring").get("cards") or []
    if not names:
        raise ConfigError(f"scoring={choice}: no cards; expected a list such as cards: [{choice}.score]")
    module, _, function = names[-1].rpartition(".")
    found: ScorePhotos = getattr(import_module(module), function)
    return found


def format_from(choice: str, conf: Path) -> Format:
    """The `FORMAT` of the module that `conf/format/<choice>.yaml` names."""
    module = value_at(_composed("format", choice, conf, ()), "format")["_target_"]
    found: Format = import_module(module).FORMAT
    return found


def _composed(group: str, choice: str, conf: Path | None, overrides: Sequence[str]) -> Any:
    if conf is not None and str(conf.parent) not in sys.path:
        sys.path.insert(0, str(conf.parent))
    return compose_choice(group, choice, overrides, conf)
