"""Which code an answer comes from: the digest that keys are made of, so that edited code never shows old numbers.

The code of a module is its own source and, transitively, that of every module that it imports, wherever the import
stands: the syntax tree is walked, nothing is imported. Modules of an installed distribution stand for themselves by
its name and version, and so does every distribution that it imports or requires in turn. All other modules are hashed
by content, whoever wrote them: the user's folder, an editable install and the harness itself.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import marshal
import os
import platform
import re
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property, lru_cache
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.metadata import Distribution, distributions
from importlib.resources import files
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from harness.base.cache import cache_dir
from harness.base.conf import user_conf
from harness.base.errors import StaleCodeError

#: The package that is always hashed by content, installed or not.
_OWN = __name__.partition(".")[0]
_STDLIB = tuple(Path(path).resolve() for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
#: Calls that import a module by its name.
_IMPORTERS = frozenset({"import_module", "__import__"})
#: What runs code that no name in the source tells.
_RUNNERS = frozenset({"exec", "exec_module", "load_module", "run_module", "run_path", "spec_from_file_location"})
#: What lists the modules that somebody is about to import.
_LISTERS = frozenset({"iter_modules", "walk_packages"})
#: What a module calls the package that it is in.
_OWN_NAME = frozenset({"__package__", "__name__"})
_BY_COMPUTATION = _IMPORTERS | _RUNNERS | _LISTERS
#: Import statements of installed packages, at any depth. Good enough to tell which distributions they use.
_STATEMENT = re.compile(rb"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([^\n#;(]+))", re.M)
#: What the folders of installed distributions are called.
_SITES = ("site-packages", "dist-packages")
_NOT_IN_USE = frozenset({"test", "tests", "conftest.py"})
_RECORDED = re.compile(r"^\"?([^/,\"\n]+?)(?:\.[^/,\n]*)?(?:/[^\n]*?)?\.(?:py|so|pyd)\"?,", re.M)
_REQUIRED = re.compile(r"^[A-Za-z0-9._-]+")

#: What each source file held when this process first looked at it. Python does not load a module twice, so a file that
#: has changed since is not the code that runs.
_FIRST_SEEN: dict[str, str] = {}
#: The modules that were loaded and found to be what their files say.
_FOUND_LOADED: dict[str, ModuleType] = {}
_STARTED = time.time()


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
        return {name: path for name, path in self.files.items() if name.partition(".")[0] != _OWN}


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
            found |= modules_of(*(getattr(value, item.name) for item in fields(value)))
        else:
            found.add(type(value).__module__)
    return frozenset(found - {"builtins"})


def code_of(*modules: str) -> Code:
    """The code of these modules. Raises StaleCodeError where a file has changed since this process first saw it."""
    walk = _Walk()
    walk.follow(modules)
    for name, path in walk.files.items():
        before = _FIRST_SEEN.setdefault(str(path), walk.sources[name])
        if before != walk.sources[name] or not _is_loaded(name, path):
            raise StaleCodeError(f"{path}: has changed since this process loaded it; start the process anew")
        if (other := _beside_conf(name)) and other != path.resolve():
            raise StaleCodeError(
                f"{path}: this process has loaded it as {name}, and not {other}; start the process anew"
            )
    return Code(walk.sources, _closure(walk.direct), frozenset(walk.direct), walk.files)


def _is_loaded(name: str, path: Path) -> bool:
    """Whether a module, if it is loaded, is what its file says. Somebody may have imported it, and edited it, before we
    saw it first; and Python takes what it has compiled for the source where time and size are the same."""
    module = sys.modules.get(name)
    if module is None or _FOUND_LOADED.get(name) is module:
        return True
    plain = type(getattr(module, "__loader__", None)) is SourceFileLoader  # others may rewrite what they load
    if plain and (name.partition(".")[0] != _OWN or path.stat().st_ctime > _STARTED):
        try:
            tree = ast.parse(content := path.read_bytes())
            written = compile(content, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
        if not set(_functions(module)) <= set(_all_code(written)) or not _has_constants(module, tree):
            return False
        if _compiled_before(module, path, written):
            return False
    _FOUND_LOADED[name] = module
    return True


def _functions(module: ModuleType, within: type | None = None) -> Iterator[CodeType]:
    """The code of the functions and methods that a module has defined."""
    for name, value in vars(within or module).items():
        if isinstance(value, type):
            place = f"{within.__qualname__}.{name}" if within else name
            if (value.__module__, value.__qualname__) == (module.__name__, place):
                yield from _functions(module, value)
            continue
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        inner = inner.fget if isinstance(inner, property) else inner
        inner = inspect.unwrap(inner) if isinstance(inner, FunctionType) else inner
        if isinstance(inner, FunctionType) and inner.__code__.co_filename == module.__file__:
            yield inner.__code__


def _all_code(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _all_code(constant)


def _has_constants(module: ModuleType, tree: ast.Module) -> bool:
    """Whether a module and its classes hold the plain values that their source gives them, once and for all."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)]
    stored = Counter(_called(node) for node in nodes if isinstance(node.ctx, ast.Store))
    classes = [(vars(module).get(node.name), node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    for owner, body in [(module, tree.body), *classes]:
        for node in body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            value = getattr(node, "value", None)
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and stored[target.id] == 1:
                held = getattr(owner, "__dict__", {}).get(target.id, value.value)
                if isinstance(held, int | float | str) and held != value.value:
                    return False
    return True


def _compiled_before(module: ModuleType, path: Path, written: CodeType) -> bool:
    """Whether Python, which keeps what it compiles, has compiled a module last before its source changed."""
    kept = Path(getattr(module, "__cached__", None) or "")
    if sys.dont_write_bytecode or not kept.is_file() or not os.access(kept.parent, os.W_OK):
        return False
    content, now = kept.read_bytes(), path.stat()
    flags, *then = (int.from_bytes(content[start : start + 4], "little") for start in (4, 8, 12))
    if flags or then == [int(now.st_mtime) & 0xFFFFFFFF, now.st_size & 0xFFFFFFFF]:
        return False
    return bool(marshal.loads(content[16:]) != written)


def _beside_conf(name: str) -> Path | None:
    """The file beside the user's conf folder that a module which is loaded would come from."""
    conf = user_conf() if name in sys.modules and "." not in name and name != _OWN else None
    found = PathFinder.find_spec(name, [str(conf.parent)]) if conf else None
    return Path(found.origin).resolve() if found and found.origin and found.has_location else None


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
        self._parsed: dict[str, tuple[_Import, ...]] = {}

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
            if spec is None or _is_standard(name, spec):
                continue
            if names := _distributions_of(name, spec):
                self.direct.update(names)
                continue
            todo += [(parent, False) for parent in _parents(name)]
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
        for item in self._parsed[name]:
            if item.late and not late:
                continue
            if item.module is None:
                yield from _anything(name, spec)
                continue
            named = tuple(item.names(name, spec))
            yield from named
            if item.whole:
                yield from self._inside(named[0])

    def _inside(self, package: str) -> Iterator[str]:
        """The modules of a package, where nobody has installed it."""
        spec = self._find(package)
        if spec is None or _is_standard(package, spec) or _distributions_of(package, spec):
            return
        for place in spec.submodule_search_locations or ():
            yield from _modules_below(Path(place), package)

    def _read(self, name: str, spec: ModuleSpec) -> tuple[_Import, ...]:
        """Hash a module's bytes and find its imports. A folder without `__init__.py` has no bytes of its own."""
        if spec.origin is None or not spec.has_location:
            return ()
        content = _content(spec)
        self.sources[name] = hashlib.sha256(content).hexdigest()
        self.files[name] = Path(spec.origin)
        return _parse(content) if spec.origin.endswith(".py") else ()


@dataclass(frozen=True)
class _Import:
    """One import as it is written, from `package` where it says so. Without a module it is one whose name is computed.
    With `whole` it may mean any module of the package that it names."""

    module: str | None
    attributes: tuple[str, ...] = ()
    level: int = 0
    late: bool = False
    whole: bool = False
    package: str = ""

    def names(self, importer: str, spec: ModuleSpec) -> Iterator[str]:
        """The modules that it may mean: `from a import b` means `a`, and `a.b` where that is a module."""
        own = importer if spec.submodule_search_locations is not None else importer.rpartition(".")[0]
        package = (self.package or own).split(".")
        above = package[: len(package) - self.level + 1] if self.level else []
        module = ".".join([*above, *filter(None, [self.module])])
        yield module
        yield from (f"{module}.{attribute}" for attribute in self.attributes)


@lru_cache(maxsize=4096)
def _parse(content: bytes) -> tuple[_Import, ...]:
    """The imports of a module. One that is no valid Python cannot be imported, and says so where somebody tries to."""
    try:
        return tuple(_statements(ast.parse(content)))
    except (SyntaxError, ValueError):
        return ()


def _statements(node: ast.AST, late: bool = False) -> Iterator[_Import]:
    """Every import below a node. What stands under `if TYPE_CHECKING` never runs."""
    for child in ast.iter_child_nodes(node):
        inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.Import):
            for alias in child.names:
                # `import a.b` gives the name `a` to whoever wants to use it.
                above = () if alias.asname else _parents(alias.name)
                yield from (_Import(name, late=inside) for name in (alias.name, *above))
        elif isinstance(child, ast.ImportFrom):
            attributes = tuple(alias.name for alias in child.names if alias.name != "*")
            yield _Import(child.module or "", attributes, child.level, inside, whole=not attributes)
            if any(alias.asname and alias.name in _BY_COMPUTATION for alias in child.names):
                yield _Import(None, late=inside)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            yield from _statements(ast.Module(child.orelse, []), inside)
        elif isinstance(child, ast.Call) and _called(child.func) in _IMPORTERS:
            yield _by_call(child, inside)
            yield from _statements(ast.Tuple([*child.args, *(item.value for item in child.keywords)]), inside)
        else:
            if isinstance(child, ast.Name | ast.Attribute) and _called(child) in _BY_COMPUTATION:
                yield _Import(None, late=inside)
            yield from _statements(child, inside)


def _by_call(call: ast.Call, late: bool) -> _Import:
    """An import by a call. Of a name that is computed, the package counts, if it begins with one."""
    given = {item.arg: item.value for item in call.keywords} | dict(zip(("name", "package"), call.args, strict=False))
    text = _beginning(given.get("name"))
    name = text.lstrip(".")
    level = len(text) - len(name)
    whole = _called(call.func) == "__import__" and len(call.args) + len(call.keywords) > 1
    if not isinstance(given.get("name"), ast.Constant):
        name, whole = name.rpartition(".")[0], True
    package = given.get("package") if level else None
    known = package is None or isinstance(package, ast.Constant) or _called(package) in _OWN_NAME
    if not known or not (name or level):
        return _Import(None, late=late)
    return _Import(name, (), level, late, whole, _beginning(package))


def _beginning(text: ast.expr | None) -> str:
    """What a text that is computed begins with, as far as it is written."""
    if isinstance(text, ast.Constant):
        return text.value if isinstance(text.value, str) else ""
    if isinstance(text, ast.JoinedStr):
        return _beginning(text.values[0]) if text.values else ""
    if isinstance(text, ast.BinOp):
        return _beginning(text.left).partition("%")[0]
    if isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr == "format":
        return _beginning(text.func.value).partition("{")[0]
    return ""


def _is_type_checking(test: ast.expr) -> bool:
    return _called(test) == "TYPE_CHECKING"


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _anything(importer: str, spec: ModuleSpec) -> Iterator[str]:
    """What a module may import that computes names: all of its package or, where it is in none, of its folder. Those of
    ours import what is beside them."""
    package = importer if spec.submodule_search_locations is not None else importer.rpartition(".")[0]
    top, file = importer.partition(".")[0], Path(spec.origin or "")
    if top == _OWN:
        return _modules_below(file.parent, package, deep=False)
    return _modules_below(file.parents[package.count(".")], top if package else "")


def _modules_below(folder: Path, package: str, deep: bool = True) -> Iterator[str]:
    """Every module in a folder and in those below it: not tests, and not what is installed in an environment."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:  # nobody can import from there either
        return
    for path in paths:
        stem = path.name.partition(".")[0]
        name = f"{package}.{stem}" if package else stem
        if not stem.isidentifier() or stem in _NOT_IN_USE or stem.startswith("test_"):
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


def _parents(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


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


def _is_standard(name: str, spec: ModuleSpec) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names and (not spec.has_location or _below(spec, _STDLIB))


def _below(spec: ModuleSpec, folders: Iterable[Path]) -> bool:
    """Whether a module, or a folder of modules, lies in one of these folders."""
    places = [spec.origin] if spec.origin and spec.has_location else list(spec.submodule_search_locations or ())
    paths = [Path(place).resolve() for place in places]
    return any(path.is_relative_to(folder) for path in paths for folder in folders)


def _distributions_of(name: str, spec: ModuleSpec) -> list[str]:
    """The installed distributions that a module belongs to. One beside them that no distribution has put there belongs
    to none, and neither does a module of the user's that has the name of an installed one."""
    top = name.partition(".")[0]
    if top == _OWN:
        return []
    return [item.name for item in _installed().by_module.get(top, ()) if _below(spec, [item.folder])]


@dataclass(frozen=True)
class _Installed:
    """A distribution that is installed, and not editable."""

    name: str
    version: str
    folder: Path
    distribution: Distribution
    record: str

    def imports(self) -> frozenset[str]:
        """The top-level modules that its own modules import; found once for each version, and kept."""
        known = hashlib.sha256(self.record.encode()).hexdigest()
        kept = cache_dir() / "imports" / f"{self.name}-{self.version}-{known[:12]}.json"
        found = _read_kept(kept)
        if found is None:
            found = frozenset(self._scan())
            _keep(kept, found)
        return found

    def required(self) -> Iterator[str]:
        """What it says that it requires, extras aside."""
        for line in self.distribution.requires or ():
            if "extra" not in line.partition(";")[2] and (match := _REQUIRED.match(line)):
                yield _normal(match.group())

    def _scan(self) -> Iterator[str]:
        for file in self.distribution.files or ():
            if file.suffix != ".py" or _NOT_IN_USE & set(file.parts):
                continue
            try:
                content = Path(str(self.distribution.locate_file(file))).read_bytes()
            except FileNotFoundError:  # recorded, and taken away since
                continue
            for origin, listed in _STATEMENT.findall(content):
                for part in [origin] if origin else listed.split(b","):
                    if words := part.split():
                        yield words[0].partition(b".")[0].decode(errors="replace")


@dataclass(frozen=True)
class _AllInstalled:
    by_name: Mapping[str, _Installed]
    by_module: Mapping[str, tuple[_Installed, ...]]


@cache
def _installed() -> _AllInstalled:
    """Everything that is installed. The one that is found first on the path counts."""
    by_name: dict[str, _Installed] = {}
    by_module: dict[str, tuple[_Installed, ...]] = {}
    for item in distributions():
        name = _normal(item.metadata["Name"] or "")
        record, folder = item.read_text("RECORD") or "", Path(str(item.locate_file(""))).resolve()
        # What a build leaves beside the sources names a distribution, and has installed nothing.
        beside_sources = not record and folder.name not in _SITES
        origin = json.loads(item.read_text("direct_url.json") or "{}")
        if not name or name in by_name or beside_sources or origin.get("dir_info", {}).get("editable"):
            continue
        version = f"{item.version} ({_content_of(record)})" if origin else item.version
        by_name[name] = found = _Installed(name, version, folder, item, record)
        tops = set(_RECORDED.findall(record)) or set((item.read_text("top_level.txt") or "").split())
        for top in tops:
            by_module[top] = (*by_module.get(top, ()), found)
    return _AllInstalled(by_name, by_module)


def _closure(names: Iterable[str]) -> dict[str, str]:
    """Distributions with their versions, and those that they import or require in turn."""
    installed, found, todo = _installed(), dict[str, str](), list(names)
    while todo:
        item = installed.by_name.get(todo.pop())
        if item is None or item.name in found:
            continue
        found[item.name] = item.version
        tops = item.imports() - sys.stdlib_module_names
        todo += [other.name for top in tops for other in installed.by_module.get(top, ())]
        todo += item.required()
    return found


def _content_of(record: str) -> str:
    """A digest of the modules and data of a distribution. One that was not installed from an index may come in many
    builds of one version."""
    lines = [line for line in record.splitlines() if "sha256=" in line and ".dist-info/" not in line]
    return hashlib.sha256("\n".join(sorted(line for line in lines if not line.startswith(".."))).encode()).hexdigest()[
        :8
    ]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _read_kept(path: Path) -> frozenset[str] | None:
    """What was found before; None where it was not, or where the file is not whole."""
    try:
        digest, _, text = path.read_text().partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return frozenset(json.loads(text)) if digest == hashlib.sha256(text.encode()).hexdigest() else None


def _keep(path: Path, found: frozenset[str]) -> None:
    """Keep what was found. Where it cannot be written it is found again next time, which costs a second."""
    text = json.dumps(sorted(found))
    beside = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}")
        beside.replace(path)
    except OSError:
        return
