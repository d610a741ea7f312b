"""Look at, or empty, the cache of stage outputs.

Entries are keyed by content and never go stale; the cache is bounded, so clearing it only costs time.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

NAME = "cache"
HELP = "show or clear what the pipeline's stages have kept"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=["stats", "clear"], help="show what is kept, or drop it all")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("overrides", nargs="*", metavar="OVERRIDE", help="config overrides that select the cache")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked."""
    from harness.base.errors import ConfigError
    from harness.building import instantiate
    from harness.config import compose

    cache = instantiate(compose(arguments.overrides), "cache").open()
    if cache is None:
        raise ConfigError("cache.enabled=false: there is no cache to look at")
    if arguments.action == "clear":
        dropped = cache.clear()
        print(json.dumps({"dropped": dropped}) if arguments.json else f"dropped {dropped} entries from {cache.where}")
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
