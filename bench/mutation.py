"""`scripts/mutate [TARGET ...]`: how many small changes of the code the tests notice.

A seeded sample of the mutants of each target runs against the tests that execute the changed line, the quickest first.
A mutant is killed when a test fails, times out when the tests take several times as long as they should, and survives
otherwise. Mutants that change nothing anyone could see are listed with the reason in `tests/mutants.txt`; they are
counted and replaced by others.

Vendors are imported once. Each mutant is a fork of this process, in which the changed module takes the place of the
one on disk, so that no file is ever changed.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import pickle
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Literal

import pytest
from hypothesis import Phase, settings

from bench.mutants import Mutant, compile_mutant, mutants_of

ROOT = Path(__file__).parents[1]
EQUIVALENT = ROOT / "tests" / "mutants.txt"
#: Tests that take longer are left out: they start servers, models or many processes. Recording a test takes two to
#: three times as long as running it.
SLOWEST_SECONDS = 15.0
#: How many times its usual time a test may take before its mutant has timed out.
PATIENCE = 5.0

HEAD = ("target", "mutants", "killed", "survived", "timed out", "noticed", "equivalent")

Outcome = Literal["killed", "survived", "timed out"]


@dataclass(frozen=True)
class Target:
    """Code whose wrongness would be silent, and where its tests are."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self) -> list[str]:
        """The source files."""
        found = [path for name in self.sources for path in _files(ROOT / "src" / "harness" / name)]
        return [path.relative_to(ROOT).as_posix() for path in found]


_QUALITY = "tasks/confidence/test_quality.py"
_REFERENCES = ("adding", "files", "freeze", "fuzz", "importing", "labels", "linking", "store")
TARGETS = {
    "scoring": Target(
        ("scoring",),
        ("scoring", "runs/test_archive.py", "runs/test_comparison.py", "grading/test_reports.py", _QUALITY),
    ),
    "gate": Target(("runs/gate.py",), ("runs",)),
    "references": Target(
        ("references/store.py", "references/files.py"),
        tuple(f"references/test_{name}.py" for name in _REFERENCES),
    ),
    "cache": Target(("pipeline/cache.py",), ("pipeline/test_cache.py",)),
}


@dataclass
class Clean:
    """What the tests do without a mutant: the lines that each executes and those that run on import, how long each
    test takes, and what they import."""

    lines: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    imported: set[tuple[str, int]] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    modules: list[str] = field(default_factory=list)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that execute the changed statement, the quickest first. What runs on import may show in every test
        file that executes anything of the module, or anywhere."""
        usable = [
            test for test, seconds in self.seconds.items() if test not in self.failed and seconds <= SLOWEST_SECONDS
        ]
        path = str(ROOT / mutant.path)
        changed = {(path, line) for line in range(mutant.first, mutant.last + 1)}
        if mutant.at_import or changed & self.imported:
            files = {_file_of(test) for test in usable if any(name == path for name, _ in self.lines[test])}
            tests = [test for test in usable if _file_of(test) in files or not files]
        else:
            tests = [test for test in usable if changed & self.lines[test]]
        return sorted(tests, key=lambda test: self.seconds[test])


class _Recorder:
    """A pytest plugin that fills in what is known of the tests."""

    def __init__(self, sources: set[str]) -> None:
        self.clean = Clean()
        self._sources, self._lines = sources, self.clean.imported

    def start(self) -> None:
        """Begin to record, in this thread and in those to come."""
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        if frame.f_code.co_filename not in self._sources:
            return None
        self._lines.add((frame.f_code.co_filename, frame.f_lineno))
        return self._trace

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._lines, begun = set(), time.perf_counter()
        result = yield
        self.clean.lines[item.nodeid] = self._lines
        self.clean.seconds[item.nodeid] = time.perf_counter() - begun
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self.clean.failed.add(report.nodeid)


class _Choice:
    """A pytest plugin that runs the given tests in the given order. Examples are few, and the same for every mutant."""

    def __init__(self, tests: Sequence[str] | None, examples: int) -> None:
        self._place = None if tests is None else {test: place for place, test in enumerate(tests)}
        self._examples = examples

    def pytest_configure(self) -> None:
        settings.register_profile(
            "mutation",
            deadline=None,
            derandomize=True,
            database=None,
            max_examples=self._examples,
            phases=(Phase.explicit, Phase.generate),
        )
        settings.load_profile("mutation")

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._place is not None:
            place = self._place
            items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])


class _Changed(MetaPathFinder, Loader):
    """Imports one module from the given code, and leaves all others alone."""

    def __init__(self, path: str, code: CodeType) -> None:
        self._name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self._path, self._code = str(ROOT / path), code

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        return spec_from_loader(name, self, origin=self._path) if name == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._path
        exec(self._code, module.__dict__)


def _run_pytest(files: Sequence[str], plugins: Sequence[object], folder: Path) -> int:
    arguments = ["-x", "--basetemp", str(folder / "pytest"), "-p", "no:xdist", *files]
    return int(pytest.main(arguments, plugins=list(plugins)))


def _forked(work: Callable[[], int], seconds: float) -> int | None:
    """The exit code of the work, done in silence by a process of its own; None where it took too long."""
    child = os.fork()
    if child == 0:
        os.setsid()
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silence, stream)
        code = 1
        try:
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def run_clean(target: Target, examples: int, folder: Path) -> Clean:
    """Run the tests of a target once without a mutant."""
    result = folder / "clean.pickle"
    files = [
        path.relative_to(ROOT).as_posix() for name in target.tests for path in _files(ROOT / "tests" / name, "test_")
    ]

    def work() -> int:
        recorder = _Recorder({str(ROOT / path) for path in target.paths()})
        recorder.start()
        code = _run_pytest(["--maxfail=1000", *files], [recorder, _Choice(None, examples)], folder)
        recorder.clean.modules = list(sys.modules)
        result.write_bytes(pickle.dumps(recorder.clean))
        return code

    _forked(work, 1800)
    clean = pickle.loads(result.read_bytes())
    assert isinstance(clean, Clean)
    return clean


def run_mutant(mutant: Mutant, clean: Clean, examples: int, folder: Path) -> Outcome:
    """Run the tests that execute the changed line, up to the first that fails."""
    tests = clean.tests_of(mutant)
    if not tests:
        return "survived"

    def work() -> int:
        sys.meta_path.insert(0, _Changed(mutant.path, compile_mutant(ROOT, mutant)))
        files = list(dict.fromkeys(map(_file_of, tests)))
        return _run_pytest(files, [_Choice(tests, examples)], folder)

    code = _forked(work, 10 + PATIENCE * sum(clean.seconds[test] for test in tests))
    return "timed out" if code is None else "killed" if code else "survived"


def preload(modules: Sequence[str]) -> None:
    """Import what the tests import, but for our own code, so that no mutant has to."""
    for name in modules:
        if name.split(".")[0] not in ("harness", "tests", "__main__", "bench", "conftest"):
            # What only its parent can import comes with it.
            with contextlib.suppress(Exception):
                importlib.import_module(name)
    gc.freeze()


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
    for mutant in mutants:
        if len(chosen) == size:
            break
        if mutant.key in known:
            equivalent += 1
        elif match in mutant.key:
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
        clean = run_clean(target, examples, Path(folder))
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


def _file_of(test: str) -> str:
    return test.split("::")[0]


def _files(path: Path, prefix: str = "") -> list[Path]:
    return sorted(path.glob(f"{prefix}*.py")) if path.is_dir() else [path]


if __name__ == "__main__":
    sys.exit(main())
