"""Which installed distributions modules belong to, and which others those use in turn.

A distribution stands for its modules by its name and version. One that was not installed from an index, but from a
folder, a file or a repository, counts with the hashes of its files, too: its version seldom changes. One that is
editable is none: its modules are hashed as those of the user.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import NamedTuple

from harness.base.cache import cache_dir
from harness.base.kept import keep, read_kept

#: The package that is always hashed by content, installed or not.
OWN = __name__.partition(".")[0]
_STDLIB = tuple(Path(path).resolve() for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")})
#: Import statements of installed packages, at any depth. Good enough to tell which distributions they use.
_STATEMENT = re.compile(rb"^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)[\w.]*[ \t]+import\b|import[ \t]+([^\n#;(]+))", re.M)
#: What the folders of installed distributions are called.
_SITES = ("site-packages", "dist-packages")
#: What Ray calls the folder of packages that it carries for itself, and has on the path of its own processes.
_CARRIED = "thirdparty_files"
#: Files and folders of tests, which nobody imports who uses the code.
NOT_IN_USE = frozenset({"test", "tests", "conftest.py"})
#: The top-level modules in the list of files of a distribution, and the name in a requirement.
_RECORDED = re.compile(r"^\"?([^/,\"\n]+?)(?:\.[^/,\n]*)?(?:/[^\n]*?)?\.(?:py|so|pyd)\"?,", re.M)
_REQUIRED = re.compile(r"^[A-Za-z0-9._-]+")
#: The lines of a distribution's description that are of use here.
_HEADER = re.compile(r"^(Name|Version|Requires-Dist):[ \t]*(.*?)[ \t]*$", re.M)


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
    return dict(_installed().closure(frozenset(names)))


def _below(spec: ModuleSpec, folders: Iterable[Path]) -> bool:
    """Whether a module, or a folder of modules, lies in one of these folders."""
    places = [spec.origin] if spec.origin and spec.has_location else list(spec.submodule_search_locations or ())
    paths = [_resolved(place) for place in places]
    return any(path.is_relative_to(folder) for path in paths for folder in folders)


@cache
def _resolved(place: str) -> Path:
    return Path(place).resolve()


@dataclass(frozen=True)
class _Installed:
    """A distribution that is installed, and not editable."""

    name: str
    version: str
    folder: Path
    distribution: Distribution
    record: str
    requires: tuple[str, ...]

    @cached_property
    def imports(self) -> frozenset[str]:
        """The top-level modules that its own modules import; found once for each version, and kept."""
        known = hashlib.sha256(self.record.encode()).hexdigest()
        kept = cache_dir() / "imports" / f"{self.name}-{self.version}-{known[:12]}.json"
        found = read_kept(kept)
        if found is None:
            found = sorted(set(self._scan()))
            keep(kept, found)
        return frozenset(found)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """What it says that it requires, extras aside."""
        lines = [line for line in self.requires if "extra" not in line.partition(";")[2]]
        return tuple(_normal(match.group()) for line in lines if (match := _REQUIRED.match(line)))

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
    closures: dict[frozenset[str], dict[str, str]] = field(default_factory=dict)

    def closure(self, names: frozenset[str]) -> dict[str, str]:
        """What these use in turn; found once."""
        if names not in self.closures:
            self.closures[names] = self._closure(sorted(names))
        return self.closures[names]

    def _closure(self, todo: list[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        while todo:
            item = self.by_name.get(todo.pop())
            if item is None or item.name in found:
                continue
            found[item.name] = item.version
            tops = item.imports - sys.stdlib_module_names
            todo += [other.name for top in tops for other in self.by_module.get(top, ())]
            todo += item.required
        return found


class Described(NamedTuple):
    """What a distribution says of itself."""

    name: str
    version: str
    requires: tuple[str, ...]


def describe(item: Distribution) -> Described:
    """The same as the standard library says, whose parser of mails takes a tenth of a second for all of them."""
    text = item.read_text("METADATA")
    if text is None:
        return Described(item.metadata["Name"] or "", item.version or "", tuple(item.requires or ()))
    headers = _HEADER.findall(text.partition("\n\n")[0])
    first = dict(reversed(headers))
    requires = tuple(value for key, value in headers if key == "Requires-Dist")
    return Described(first.get("Name", ""), first.get("Version", ""), requires)


@cache
def _installed() -> _AllInstalled:
    """Everything that is installed. The one that is found first on the path counts."""
    by_name: dict[str, _Installed] = {}
    by_module: dict[str, tuple[_Installed, ...]] = {}
    for item in distributions():
        described = describe(item)
        name = _normal(described.name)
        record, folder = item.read_text("RECORD") or "", Path(str(item.locate_file(""))).resolve()
        # What a build leaves beside the sources names a distribution, and has installed nothing.
        beside_sources = (not record and folder.name not in _SITES) or folder.name == _CARRIED
        origin = json.loads(item.read_text("direct_url.json") or "{}")
        if not name or name in by_name or beside_sources or origin.get("dir_info", {}).get("editable"):
            continue
        version = f"{described.version} ({_content_of(record)})" if origin else described.version
        by_name[name] = found = _Installed(name, version, folder, item, record, described.requires)
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
