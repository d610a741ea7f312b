"""`scripts/mutate [TARGET ...]`: how many small changes of the code the tests notice.

A seeded sample of the mutants of each target runs against the tests that execute the changed line, the quickest first.
A mutant is killed when a test fails, times out when the tests take several times as long as they should, and survives
otherwise. Mutants that change nothing anyone could see are listed with the reason in `tests/mutants.txt`; they are
counted and replaced by others.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.mutant_runs import ROOT, Outcome, preload, run_clean, run_mutant
from bench.mutants import Mutant, mutants_of

EQUIVALENT = ROOT / "tests" / "mutants.txt"
HEAD = ("target", "mutants", "killed", "survived", "timed out", "noticed", "equivalent")


@dataclass(frozen=True)
class Target:
    """Code whose wrongness would be silent, and where its tests are."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self) -> list[str]:
        """The source files."""
        return [path for name in self.sources for path in _files(ROOT / "src" / "harness" / name)]

    def test_files(self) -> list[str]:
        """The test files."""
        return [path for name in self.tests for path in _files(ROOT / "tests" / name, "test_")]


_CONFIDENCE = ("tasks/confidence/test_quality.py", "tasks/confidence/test_standardizer.py")
_REFERENCES = ("adding", "files", "freeze", "fuzz", "importing", "labels", "linking", "store")
TARGETS = {
    "scoring": Target(
        ("scoring",),
        ("scoring", "runs/test_archive.py", "runs/test_comparison.py", "grading/test_reports.py", *_CONFIDENCE),
    ),
    "gate": Target(("runs/gate.py", "runs/judge.py"), ("runs",)),
    "references": Target(
        ("references/store.py", "references/files.py"),
        tuple(f"references/test_{name}.py" for name in _REFERENCES),
    ),
    "cache": Target(("pipeline/cache/local.py", "pipeline/cache/values.py"), ("pipeline/test_cache.py",)),
}


def known_equivalent() -> dict[str, str]:
    """The mutants that nobody could notice, and why."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.is_file() else []
    entries = (line.rpartition(" | ") for line in lines if line and not line.startswith("#"))
    return {key: reason for key, _, reason in entries}


def sample(target: Target, size: int, seed: int, match: str) -> tuple[list[Mutant], int]:
    """Mutants of a target by chance, and how many equivalent ones were passed over. A mutant that is declared
    equivalent makes room for one more and moves no other."""
    mutants = [mutant for path in target.paths() for mutant in mutants_of(ROOT, path)]
    _name_the_gone(target, mutants)
    random.Random(seed).shuffle(mutants)
    chosen: list[Mutant] = []
    equivalent, known = 0, known_equivalent()
    for mutant in (mutant for mutant in mutants if match in mutant.key):
        if len(chosen) == size:
            break
        if mutant.key in known:
            equivalent += 1
        else:
            chosen.append(mutant)
    return chosen, equivalent


def _name_the_gone(target: Target, mutants: Sequence[Mutant]) -> None:
    """Say which lines of the list of equivalent mutants no longer fit the code."""
    keys = {mutant.key for mutant in mutants}
    for key in known_equivalent():
        if key.split(" | ")[0] in target.paths() and key not in keys:
            print(f"{EQUIVALENT.name} lists a mutant that is gone: {key}", file=sys.stderr)


def measure(name: str, size: int, seed: int, match: str, examples: int) -> list[str]:
    """Run a sample of a target's mutants; returns the row of the table, and prints the survivors as they come."""
    target = TARGETS[name]
    chosen, equivalent = sample(target, size, seed, match)
    outcomes: dict[Outcome, int] = {"killed": 0, "survived": 0, "timed out": 0}
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        begun = time.monotonic()
        clean = run_clean(target.paths(), target.test_files(), examples, Path(folder))
        preload(clean.modules)
        for test in sorted(clean.failed):
            print(f"left out, since it fails or skips without a mutant: {test}", file=sys.stderr)
        seconds = time.monotonic() - begun
        print(f"{name}: {len(clean.seconds)} tests in {seconds:.0f} s; {len(chosen)} mutants", flush=True)
        for mutant in chosen:
            outcome = run_mutant(mutant, clean, examples, Path(folder))
            outcomes[outcome] += 1
            if outcome == "survived":
                unseen = "" if clean.tests_of(mutant) else "  (no test executes it)"
                print(f"{mutant.path}:{mutant.line} | {mutant.scope} | {mutant.change}{unseen}", flush=True)
    _print_row(HEAD)
    share = 1 - outcomes["survived"] / len(chosen) if chosen else 1.0
    return [name, str(len(chosen)), *(str(count) for count in outcomes.values()), f"{share:.1%}", str(equivalent)]


def _print_row(row: Sequence[str]) -> None:
    print("".join(f"{cell:>12}" for cell in row), flush=True)


def main() -> int:
    """Measure the named targets."""
    parser = argparse.ArgumentParser(prog="scripts/mutate", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (default: all)")
    parser.add_argument("--sample", type=int, default=300, metavar="N", help="mutants of each target (default: 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (default: 0)")
    parser.add_argument("--examples", type=int, default=25, help="of each property-based test (default: 25)")
    parser.add_argument("--match", default="", metavar="TEXT", help="only mutants whose path, scope or change has it")
    parser.add_argument("--list", action="store_true", help="print the sample and run nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - TARGETS.keys():
        parser.error(f"unknown target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    rows = []
    for name in arguments.targets or TARGETS:
        if arguments.list:
            for mutant in sample(TARGETS[name], arguments.sample, arguments.seed, arguments.match)[0]:
                print(f"{mutant.path}:{mutant.line} | {mutant.scope} | {mutant.change}")
        else:
            rows.append(measure(name, arguments.sample, arguments.seed, arguments.match, arguments.examples))
            _print_row(rows[-1])
    if len(rows) > 1:
        for row in (HEAD, *rows):
            _print_row(row)
    return 0


def _files(path: Path, prefix: str = "") -> list[str]:
    found = sorted(path.glob(f"{prefix}*.py")) if path.is_dir() else [path]
    return [file.relative_to(ROOT).as_posix() for file in found]


if __name__ == "__main__":
    sys.exit(main())
