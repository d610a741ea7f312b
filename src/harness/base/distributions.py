"""Which installed distributions modules belong to, and which others those use in turn.

A distribution stands for its modules by its name and version. One that was not installed from an index, but from a
folder, a file or a repository, counts with the hashes of its files, too: its version seldom changes. One that is
editable is none: its modules are hashed as those of the user.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, distributions
from pathlib import Path

from harness.base.cache import cache_dir

#: The package that is always hashed by content, installed or not.
OWN = __name__.partition(".")[0]
_STDLIB = tuple(Path(path).resolve() for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
#: Import statements of installed packages, at any depth. Good enough to tell which distributions they use.
_STATEMENT = re.compile(rb"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([^\n#;(]+))", re.M)
#: What the folders of installed distributions are called.
_SITES = ("site-packages", "dist-packages")
#: Files and folders of tests, which nobody imports who uses the code.
NOT_IN_USE = frozenset({"test", "tests", "conftest.py"})
#: The top-level modules in the list of files of a distribution, and the name in a requirement.
_RECORDED = re.compile(r"^\"?([^/,\"\n]+?)(?:\.[^/,\n]*)?(?:/[^\n]*?)?\.(?:py|so|pyd)\"?,", re.M)
_REQUIRED = re.compile(r"^[A-Za-z0-9._-]+")


def is_standard(name: str, spec: ModuleSpec) -> bool:
    """Whether a module is one of Python's standard library, and not one of the user's that is called so."""
    return name.partition(".")[0] in sys.stdlib_module_names and (not spec.has_location or _below(spec, _STDLIB))


def distributions_of(name: str, spec: ModuleSpec) -> list[str]:
    """The installed distributions that a module belongs to. One beside them that no distribution has put there belongs
    to none, and neither does a module of the user's that has the name of an installed one."""
    top = name.partition(".")[0]
    if top == OWN:
        return []
    return [item.name for item in _installed().by_module.get(top, ()) if _below(spec, [item.folder])]


def closure(names: Iterable[str]) -> dict[str, str]:
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


def _below(spec: ModuleSpec, folders: Iterable[Path]) -> bool:
    """Whether a module, or a folder of modules, lies in one of these folders."""
    places = [spec.origin] if spec.origin and spec.has_location else list(spec.submodule_search_locations or ())
    paths = [Path(place).resolve() for place in places]
    return any(path.is_relative_to(folder) for path in paths for folder in folders)


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
            if file.suffix != ".py" or NOT_IN_USE & set(file.parts):
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


def _content_of(record: str) -> str:
    """A digest of the modules and data of a distribution. One that was not installed from an index may come in many
    builds of one version."""
    lines = [line for line in record.splitlines() if "sha256=" in line and ".dist-info/" not in line]
    inside = sorted(line for line in lines if not line.startswith(".."))
    return hashlib.sha256("\n".join(inside).encode()).hexdigest()[:8]


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
