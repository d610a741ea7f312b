"""Look at, or empty, the cache of stage outputs.

Entries are keyed by content and never become outdated, and the size of the cache is limited, so that clearing it only
costs time. The pictures of photos that pages have shown are cleared with it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from harness.base.texts import counted
from harness.cli.terminal import add_json, add_overrides

NAME = "cache"
HELP = "show or clear the cache of the pipeline's stages"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "action", choices=["stats", "clear"], help="show what the cache holds (stats), or delete all of it (clear)"
    )
    add_json(parser)
    add_overrides(parser, "cache.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked."""
    from harness.base.errors import ConfigError
    from harness.building import instantiate
    from harness.config import compose
    from harness.references.renditions import clear_renditions

    cache = instantiate(compose(arguments.overrides), "cache").open()
    if cache is None:
        raise ConfigError("cache.enabled=false: there is no cache to look at")
    if arguments.action == "clear":
        gone = {"dropped": cache.clear(), "pictures": clear_renditions()}
        told = (
            f"dropped {gone['dropped']} entries from {cache.where}, and {counted(gone['pictures'], 'picture')} of pages"
        )
        print(json.dumps(gone) if arguments.json else told)
        return 0
    stats = cache.stats()
    if arguments.json:
        print(json.dumps({"folder": str(cache.folder), "stages": {name: asdict(use) for name, use in stats.items()}}))
        return 0
    print(f"{cache.where}, at most {cache.limit_bytes / 1e6:.0f} MB\n")
    print(f"{'stage':<8} {'entries':>9} {'MB':>8} {'seconds to compute':>20}")
    for name, use in stats.items():
        print(f"{name:<8} {use.entries:>9} {use.bytes / 1e6:>8.1f} {use.seconds:>20.1f}")
    return 0
