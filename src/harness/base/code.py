"""Which code an answer comes from: the digest that keys are made of, so that edited code never shows old numbers.

The code of a module is its own source and, transitively, that of every module that it imports, wherever the import
stands: the syntax tree is walked, nothing is imported. Modules of an installed distribution stand for themselves by
its name and version, and so does every distribution that it imports or requires in turn. All other modules are hashed
by content, whoever wrote them: the user's folder, an editable install and the harness itself.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from importlib.machinery import ModuleSpec, PathFinder
from importlib.resources import files
from pathlib import Path
from types import FunctionType
from typing import Any

from harness.base.distributions import NOT_IN_USE, OWN, closure, distributions_of, is_standard
from harness.base.imports import Import, packages_above
from harness.base.loaded import refuse_stale
from harness.base.parsed import parsed_sources

_KEYED = "keyed"
#: The metadata of a field whose object changes no answer, whatever its code says: where answers are kept, and on which
#: machine they are computed.
UNKEYED: Mapping[str, bool] = {_KEYED: False}


@dataclass(frozen=True)
class Code:
    """The code behind one or more modules: hashes of sources by module, versions of distributions by name.

    `direct` are the distributions that the sources themselves import; `files` says where each source is.
    """

    sources: Mapping[str, str]
    distributions: Mapping[str, str]
    direct: frozenset[str] = frozenset()
    files: Mapping[str, Path] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """A digest of all of it. Python's own version stands for its standard library."""
        parts = [platform.python_version(), sorted(self.sources.items()), sorted(self.distributions.items())]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def outside(self) -> dict[str, Path]:
        """The sources that are not the harness's own."""
        return {name: path for name, path in self.files.items() if name.partition(".")[0] != OWN}


def modules_of(*values: Any) -> frozenset[str]:
    """The modules that objects come from: their classes' and functions', and those of what their fields hold.

    An object whose fields only name code, by its dotted name, tells the modules as `named_modules`.
    """
    found: set[str] = set()
    for value in values:
        if isinstance(value, type | FunctionType):
            found.add(value.__module__)
        elif isinstance(value, Mapping):
            found |= modules_of(*value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            found |= modules_of(*value)
        elif is_dataclass(value):
            found |= set(getattr(value, "named_modules", ()))
            found |= {kind.__module__ for kind in inspect.getmro(type(value))}
            keyed = (item for item in fields(value) if item.metadata.get(_KEYED, True))
            found |= modules_of(*(getattr(value, item.name) for item in keyed))
        else:
            found.add(type(value).__module__)
    return frozenset(found - {"builtins"})


def code_of(*modules: str) -> Code:
    """The code of these modules. Raises StaleCodeError where a file has changed since this process first saw it."""
    walk = _walked(modules)
    return Code(walk.sources, closure(walk.direct), frozenset(walk.direct), walk.files)


def watch(module: str) -> None:
    """Remember what the files of a module, and of all that it imports, hold now: whoever asks for its code later is
    told where one of them has changed since. Raises as `code_of` does."""
    _walked([module])


def _walked(modules: Iterable[str]) -> _Walk:
    walk = _Walk()
    walk.follow(modules)
    parsed_sources().save()
    for name, path in walk.files.items():
        refuse_stale(name, path, walk.sources[name])
    return walk


def source_key(package: str) -> str:
    """A short digest over a package's own files (.py and .json) and the distributions that they import."""
    total = hashlib.sha256()
    names = [package]
    for file in sorted(files(package).iterdir(), key=lambda file: file.name):
        if file.name.endswith((".py", ".json")):
            total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
            names.append(f"{package}.{file.name.removesuffix('.py')}")
    code = code_of(*names)
    for name in sorted(code.direct):
        total.update(f"{name}=={code.distributions[name]}\n".encode())
    return total.hexdigest()[:12]


class _Walk:
    """From modules to all that they import."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.files: dict[str, Path] = {}
        self.direct: set[str] = set()
        self._specs: dict[str, ModuleSpec | None] = {}
        self._parsed: dict[str, tuple[Import, ...]] = {}
        self._known = parsed_sources()

    def follow(self, modules: Iterable[str]) -> None:
        """Visit modules and all that they import. What a package imports late, inside its functions, matters only
        where the package itself is imported by name, and not where it is passed on the way to a module in it."""
        seen: set[tuple[str, bool]] = set()
        todo = [(name, True) for name in modules]
        while todo:
            name, by_name = todo.pop()
            if (name, by_name) in seen or (name, True) in seen:
                continue
            seen.add((name, by_name))
            spec = self._find(name)
            if spec is None or is_standard(name, spec):
                continue
            if names := distributions_of(name, spec):
                self.direct.update(names)
                continue
            todo += [(parent, False) for parent in packages_above(name)]
            todo += [(other, True) for other in self._imports(name, spec, late=by_name) if other != name]

    def _find(self, name: str) -> ModuleSpec | None:
        """Where a module is, without importing anything; None where there is no such module."""
        if name not in self._specs:
            parent, _, _ = name.rpartition(".")
            if not parent:
                self._specs[name] = _top_level(name)
            else:
                above = self._find(parent)
                inside = above.submodule_search_locations if above else None
                self._specs[name] = _below_package(name, list(inside)) if inside else None
        return self._specs[name]

    def _imports(self, name: str, spec: ModuleSpec, late: bool) -> Iterator[str]:
        if name not in self._parsed:
            self._parsed[name] = self._read(name, spec)
        package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
        for item in self._parsed[name]:
            if item.late and not late:
                continue
            if item.module is None:
                yield from _anything(package, self.files[name])
                continue
            named = tuple(item.names(package))
            yield from named
            if item.whole:
                yield from self._inside(named[0])

    def _inside(self, package: str) -> Iterator[str]:
        """The modules of a package, where nobody has installed it."""
        spec = self._find(package)
        if spec is None or is_standard(package, spec) or distributions_of(package, spec):
            return
        for place in spec.submodule_search_locations or ():
            yield from _modules_below(Path(place), package)

    def _read(self, name: str, spec: ModuleSpec) -> tuple[Import, ...]:
        """Hash a module's bytes and find its imports. A folder without `__init__.py` has no bytes of its own."""
        if spec.origin is None or not spec.has_location:
            return ()
        content = _content(spec)
        self.sources[name] = hashlib.sha256(content).hexdigest()
        self.files[name] = Path(spec.origin)
        return self._known.imports(self.sources[name], content) if spec.origin.endswith(".py") else ()


def _anything(package: str, file: Path) -> Iterator[str]:
    """What a module may import that computes names: all of its package or, where it is in none, of its folder. Those of
    ours import what is beside them."""
    top = package.partition(".")[0]
    if top == OWN:
        return _modules_below(file.parent, package, deep=False)
    return _modules_below(file.parents[package.count(".")], top)


def _modules_below(folder: Path, package: str, deep: bool = True) -> Iterator[str]:
    """Every module in a folder and in those below it: not tests, and not what is installed in an environment."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:  # nobody can import from there either
        return
    for path in paths:
        stem = path.name.partition(".")[0]
        name = f"{package}.{stem}" if package else stem
        if not stem.isidentifier() or stem in NOT_IN_USE or stem.startswith("test_"):
            continue
        if path.suffix in (".py", ".so", ".pyd") and stem not in ("__init__", "__main__", "conftest"):
            yield name
        elif deep and path.name == stem and path.is_dir() and not (path / "pyvenv.cfg").exists():
            up = folder.resolve().is_relative_to(path.resolve())  # a link to what it is in
            yield from () if up else _modules_below(path, name)


def _content(spec: ModuleSpec) -> bytes:
    origin = str(spec.origin)
    get_data = getattr(spec.loader, "get_data", None)
    return bytes(get_data(origin)) if get_data else Path(origin).read_bytes()


def _top_level(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module that was made by hand and has no spec
        return None


def _below_package(name: str, inside: list[str]) -> ModuleSpec | None:
    """Where a module of a package is, of which the folders are known."""
    try:
        return PathFinder.find_spec(name, inside)
    except KeyError:  # a folder without `__init__.py`, in a package that is not loaded
        found, last = ModuleSpec(name, None, is_package=True), name.rpartition(".")[2]
        found.submodule_search_locations = [str(Path(place, last)) for place in inside if Path(place, last).is_dir()]
        return found
