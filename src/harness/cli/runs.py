"""What the commands on stored runs share: which store they work on, and which words are overrides."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError, HarnessError
from harness.base.texts import COMMAND
from harness.cli.parsing import is_override

if TYPE_CHECKING:
    from harness.tracking.store import Store


def compose_runs(arguments: argparse.Namespace, *optional: str) -> Any:
    """The config of a command. An override in the place of an `optional` argument is taken for what it is: argparse
    cannot know. The name of a run has a space before its first `=`, which an override has not."""
    from harness.config import compose

    for name in optional:
        word = getattr(arguments, name)
        if word is not None and is_override(word):
            arguments.overrides.insert(0, word)
            setattr(arguments, name, None)
    strays = [word for word in arguments.overrides if not is_override(word)]
    if strays:
        raise ConfigError(f"{strays[0]}: expected an override such as tracking.root=FOLDER")
    return compose(arguments.overrides)


def existing_store(config: Any) -> Store:
    """The store of a composed config. One that has no runs is an error, and is not made by looking at it."""
    from harness.building import instantiate

    store: Store = instantiate(config, "tracking")
    if not store.exists:
        raise HarnessError(f"no runs in {store.place} yet; make one with: {COMMAND} preset=fast")
    return store
