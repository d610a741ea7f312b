"""Running tests against mutants: which tests execute a line, and whether one of them fails when it changes.

Vendors are imported once. Each mutant is a fork of this process, in which the changed module takes the place of the
one on disk, so that no file is ever changed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pickle
import signal
import sys
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

from bench.mutants import Mutant, compile_mutant

ROOT = Path(__file__).parents[1]
#: Tests that take longer are left out: they start servers, models or many processes. Recording a test takes two to
#: three times as long as running it.
SLOWEST_SECONDS = 15.0
#: How many times its usual time a test may take before its mutant has timed out.
PATIENCE = 5.0

Outcome = Literal["killed", "survived", "timed out"]

#: Tests of what modules declare: they look at what an import made, and execute nothing of the module itself.
OF_DECLARATIONS = ("tests/scoring/test_declared.py",)


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
            files |= {_file_of(test) for test in usable if _file_of(test) in OF_DECLARATIONS}
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


def run_clean(sources: Sequence[str], tests: Sequence[str], examples: int, folder: Path) -> Clean:
    """Run the test files once without a mutant, and record which lines of the sources each test executes."""
    result = folder / "clean.pickle"

    def work() -> int:
        recorder = _Recorder({str(ROOT / path) for path in sources})
        recorder.start()
        code = _run_pytest(["--maxfail=1000", *tests], [recorder, _Choice(None, examples)], folder)
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


def _file_of(test: str) -> str:
    return test.split("::")[0]
