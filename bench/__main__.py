"""`scripts/bench SUITE`: ratios against named peers, measured side by side in one run, as a table and as JSON.

Each module of a suite has `measure()`, which gives one entry a case: our seconds, the peer's, their ratio (how many
times faster we are) and the ratio that is asked for. A peer may be a limit in seconds; a case with a `unit` compares
something else than seconds, of which less is better. The exit code is 1 when a case
falls short.
`scripts/bench races FOLDER` and `scripts/bench people FOLDER` are about quality instead: see `bench/races.py` and
`bench/people.py`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

SUITES = {
    "pipeline": ("pipeline",),
    "scoring": ("matching", "fuzzy_tables", "table_similarity", "text", "clusters", "uncertainty"),
    "grading": ("grading",),
    "identity": ("identity", "identity_scale"),
    "reads": ("reads",),
    "references": ("references",),
    "large": ("large",),
    "confidence": ("confidence",),
    "tracking": ("tracking",),
    "warm": ("warm",),
    "labeling": ("labeling", "labeling_browser", "labeling_people"),
    "explorer": ("explorer", "run_pages"),
    "search": ("search", "replay"),
    "scale": ("scale",),
}


def main() -> int:
    """Measure one suite."""
    if sys.argv[1:2] in (["races"], ["people"]):
        quality: Callable[[list[str]], int] = importlib.import_module(f"bench.{sys.argv[1]}").main
        return quality(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write (default: bench-results/SUITE.json)")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'case':<58} {'ours':>10} {'peer':>10} {'ratio':>8} {'asked':>7}  peer")
    for module in SUITES[arguments.suite]:
        for row in importlib.import_module(f"bench.{module}").measure():
            rows.append(row)
            unit = row.get("unit", "s")
            short = "" if row["ratio"] >= row["required_ratio"] else "  TOO SLOW"
            print(
                f"{row['name']:<58} {row['ours_seconds']:>9.4f}{unit} {row['peer_seconds']:>9.4f}{unit} "
                f"{row['ratio']:>7.2f}x {row['required_ratio']:>6.2f}x  {row['peer_name']}{short}",
                flush=True,
            )
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "machine": platform.machine()}
    target = arguments.json or Path("bench-results") / f"{arguments.suite}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"suite": arguments.suite, **machine, "cases": rows}, indent=1))
    print(f"\nwritten to {target}")
    return int(any(row["ratio"] < row["required_ratio"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
