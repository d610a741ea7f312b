"""Forget a person: take their name, their selfies and cached face vectors out of the staging set.

IDENTITY is the name as it is in the labels. You see what would be removed, and are asked first. No backup is made.
Photos stay, and so do the numbers on bibs; frozen sets never change, and those that still hold something are named.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError
from harness.base.texts import counted
from harness.cli.sets import compose_staging, open_store
from harness.cli.terminal import add_overrides, confirm

if TYPE_CHECKING:
    from harness.references.forgetting import Held, Remembered

NAME = "forget"
HELP = "remove a person's labels, selfies and cached vectors"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("identity", metavar="IDENTITY", help="the person's name, as the labels have it")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Show what is there, ask, and remove it: cached vectors first, so that a crash leaves names to go on by."""
    from harness.references.forgetting import clear_selfies, forget, loose_selfies, remembered
    from harness.references.renditions import forget_renditions

    config = compose_staging(arguments.overrides)
    store, identity = open_store(config), arguments.identity
    found = remembered(store, identity)
    held = {"staging": found.staging, **{f"backups/{name}": each for name, each in found.backups.items()}}
    shown = [f"  {name}: {_words(each)}" for name, each in held.items() if each]
    if loose := len(loose_selfies(store)):
        shown.append(f"  {counted(loose, 'file')} in selfies/ that no label names")
    if not shown and not found.frozen:
        raise ConfigError(f"{store.root}: nobody is called {identity!r} there; nothing was changed")
    if shown:
        print(f"{store.root} holds of {identity}:\n" + "\n".join(shown), flush=True)
        question = f"Remove it for good? No backup is made of {identity}."
        confirm(arguments.yes, question, f"this would remove {identity} from {store.root}", switch="--yes")
    dropped, pictures = _forget_vectors(config, found), forget_renditions(found.pictures)
    forget(store, identity)
    print(
        f"Forgotten: {identity}; {counted(clear_selfies(store), 'selfie file')} deleted, "
        f"{counted(dropped, 'cached answer')} about pictures of them dropped, "
        f"{counted(pictures, 'picture')} of pages deleted"
    )
    _tell_what_stays(found)
    return 0


def _forget_vectors(config: Any, found: Remembered) -> int:
    """Drop what the stage cache has of the photos and selfies, whether or not runs use it now."""
    from dataclasses import replace

    from harness.building import instantiate

    cache = replace(instantiate(config, "cache"), enabled=True).open()
    return int(cache.forget(sorted(found.pictures))) if cache else 0


def _words(held: Held) -> str:
    told = [
        counted(held.faces, "face") if held.faces else "",
        f"said to be in {counted(held.said, 'photo')}" if held.said else "",
        f"in {counted(held.blind, 'blind label')}" if held.blind else "",
        counted(held.called, "file name") if held.called else "",
        counted(len(held.selfies), "selfie") if held.selfies else "",
        counted(held.suggested, "suggested face") if held.suggested else "",
        "the name" if held.known else "",
    ]
    return ", ".join(filter(None, told))


def _tell_what_stays(found: Remembered) -> None:
    if found.frozen:
        print("Frozen sets never change, and still hold:")
        print("\n".join(f"  {name}: {_words(each)}" for name, each in found.frozen.items()))
        print("Delete their folders in frozen/ and call forget once more, which removes their selfies, too.")
    if found.damaged:
        print(f"These frozen sets cannot be read, and may hold more: {', '.join(found.damaged)}; all selfies stay.")
    print("Photos, bib numbers, runs in MLflow and reports stay: docs/privacy.md says how to remove them.")
