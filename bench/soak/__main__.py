"""Runs under hard conditions, drawn from a seed: `scripts/soak agents|keeps|keys|kills|disks|large|server [--size N]`.

The exit code is 1 where something did not hold; each is told.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path


def _kills(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.kills import soak_kills

    return soak_kills(folder, size, seed)


def _disks(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.disks import soak_disks

    return soak_disks(folder, size, seed)


def _server(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.server import soak_server

    return soak_server(folder, size, seed, light=size <= _SLICE_SECONDS)


def _large(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.large import soak_large

    return soak_large(folder, size, seed)


def _keeps(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.keeps import soak_keeps

    return soak_keeps(folder, size, seed)


def _agents(folder: Path, size: int, seed: int, photos: Path | None = None) -> list[str]:
    from bench.soak.agents import references, soak_agents

    return soak_agents(folder, size, seed, references(folder.parent, photos))


def _keys(folder: Path, size: int, seed: int) -> list[str]:
    from bench.soak.keys import soak_keys

    return soak_keys(folder, size, seed)


#: An outage of up to so many seconds is a slice for the tests: its runs have no pipeline.
_SLICE_SECONDS = 10
#: Each with what its size counts, and the size of a whole soak.
SOAKS: dict[str, tuple[Callable[[Path, int, int], list[str]], str, int]] = {
    "agents": (_agents, "trials of a study that an agent drives", 30),
    "keys": (_keys, "presses of D at each latency", 100),
    "kills": (_kills, "kills by each of SIGKILL and SIGTERM", 50),
    "disks": (_disks, "rounds of every scenario", 5),
    "large": (_large, "photos of one run", 100_000),
    "server": (_server, "seconds without an MLflow server", 60),
    "keeps": (_keeps, "bases that twenty candidates each are judged beside", 1000),
}


def main() -> int:
    """Run one soak."""
    parser = argparse.ArgumentParser(prog="scripts/soak", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("soak", choices=sorted(SOAKS), help="; ".join(f"{k}: {v[1]}" for k, v in SOAKS.items()))
    parser.add_argument("--size", type=int, metavar="N", help="how much of it (default: a whole soak)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--photos", type=Path, metavar="DIR", help="agents: a folder of RBNR (default: the sample)")
    arguments = parser.parse_args()
    soak, _, whole = SOAKS[arguments.soak]
    started = time.monotonic()
    if arguments.soak == "agents":
        soak = partial(_agents, photos=arguments.photos)
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        wrong = soak(Path(name) / "desk", arguments.size or whole, arguments.seed)
    for text in wrong:
        print(f"WRONG: {text}", flush=True)
    print(f"{arguments.soak}: {len(wrong)} wrong, {time.monotonic() - started:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
