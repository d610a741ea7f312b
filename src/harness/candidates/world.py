"""What of the disk a candidate sees: the system's programs, the interpreter, its own tree, the photos, and no more."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import harness
from harness.base.conf import conf_dir
from harness.base.errors import HarnessError
from harness.candidates.inside import UID
from harness.candidates.rules import OUT, PHOTOS, SELFIES, JudgeRules

#: Where things are in the sandbox.
TREE, PHOTO_FOLDER, SELFIE_FOLDER, OUT_FILE = "/candidate", "/photos", "/selfies", "/out/predictions.jsonl"
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
#: What of /etc programs need in order to start: where libraries are, the time zone, fonts. Nothing that tells of users.
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "fonts", "mime.types")
_FILES = (
    ("/etc/passwd", f"judge:x:{UID}:{UID}:judge:/tmp:/bin/sh\n"),
    ("/etc/group", f"judge:x:{UID}:\n"),
    ("/etc/hosts", "127.0.0.1 localhost\n"),
)
_MOST_LINKS = 40
#: Ids that nobody has, and how many of them are drawn from.
_HIGH, _DRAWN = 2_000_000_000, 1_000_000


@dataclass(frozen=True)
class Candidate:
    """What is run: the folder of its files, the folder of the photos, and the command. `hidden` is what it must not see
    even where it lies inside of what it needs, such as labels below the interpreter's folder. `selfies` is a folder,
    where it is shown any."""

    tree: Path
    photos: Path
    command: tuple[str, ...]
    rules: JudgeRules
    hidden: tuple[Path, ...]
    selfies: Path | None = None

    def plan(self, root: Path, protected: bool) -> dict[str, Any]:
        """All that the first process of the sandbox has to know; `root` is an empty folder."""
        places = {TREE: self.tree, PHOTO_FOLDER: self.photos, **({SELFIE_FOLDER: self.selfies} if self.selfies else {})}
        binds, links = _shown(self.tree) if protected else ([], [])
        binds += [(str(source), target) for target, source in places.items()] if protected else []
        at = {target: target if protected else str(source) for target, source in places.items()}
        folder, out = at[TREE], OUT_FILE if protected else str(root / "out")
        stands_for = {PHOTOS: at[PHOTO_FOLDER], OUT: out, SELFIES: at.get(SELFIE_FOLDER, "")}
        words = [_replaced(word, stands_for) for word in self.command]
        return {
            "protected": protected,
            "outer": outer_id() if os.geteuid() == 0 else None,
            "root": str(root),
            "binds": binds,
            "links": links,
            "files": _FILES,
            "hidden": covered(self.hidden, [source for source, _ in binds]),
            "room": self.rules.memory // 4,
            "output": self.rules.output,
            "out": out,
            "folder": folder,
            "command": words,
            "environment": _environment(self.tree, folder, protected),
            "limits": _limits(self.rules, protected),
        }


def _replaced(word: str, stands_for: Mapping[str, str]) -> str:
    for name, value in stands_for.items():
        word = word.replace(name, value)
    return word


def _environment(tree: Path, folder: str, protected: bool) -> dict[str, str]:
    """Nothing of the caller's. A harness of the candidate's own comes before the one that is installed."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }
    own = [f"{folder}/src"] if has_harness(tree) else [str(Path(harness.__file__).parents[1])]
    return environment | {"PYTHONPATH": ":".join(own)} | ({} if protected else {"HARNESS_UNPROTECTED": "1"})


def has_harness(tree: Path) -> bool:
    """Whether a tree is one of the harness itself."""
    return (tree / "src" / "harness" / "__init__.py").is_file()


def _limits(rules: JudgeRules, protected: bool) -> list[tuple[str, int]]:
    """Limits on each process; those on all of them together are kept from outside. Where the user is not one of the
    sandbox's own, the number of processes would count all that this user has."""
    own = [("RLIMIT_NPROC", rules.processes)] if protected else []
    return [
        *own,
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", max(rules.output, rules.memory // 4) if protected else rules.output),
        ("RLIMIT_DATA", 2 * rules.memory),
        ("RLIMIT_NOFILE", 1024),
        ("RLIMIT_MSGQUEUE", 0),
    ]


def _shown(tree: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """What of the system is bound, as source and target, and the links beside it, as path and text."""
    binds, links = [], []
    for name in _SYSTEM:
        if Path(name).is_symlink():
            links.append((name, str(Path(name).readlink())))
        elif Path(name).is_dir():
            binds.append((name, name))
    binds += [(f"/etc/{name}", f"/etc/{name}") for name in _ETC if Path("/etc", name).exists()]
    needed = [sys.prefix, sys.base_prefix, *([] if has_harness(tree) else _own_harness())]
    for place in dict.fromkeys(str(Path(one).absolute()) for one in needed):
        real = os.path.realpath(place)
        _refuse_wide(real)
        binds += [(real, target) for target in dict.fromkeys((real, place)) if not _within(target, binds)]
    for link in _links_to(Path(sys.executable)):
        if not _within(str(link), binds):
            links.append((str(link), str(link.readlink())))
    return binds, links


def _own_harness() -> list[str]:
    """The harness that judges, for a candidate that has none of its own."""
    return [str(Path(harness.__file__).parent), str(conf_dir())]


def _refuse_wide(place: str) -> None:
    home = os.path.realpath(Path.home())
    if place == "/" or home == place or home.startswith(f"{place}/"):
        raise HarnessError(f"{place}: Python is installed in a folder that holds more than Python; use one of its own")


def _within(path: str, binds: Iterable[tuple[str, str]]) -> bool:
    return any(path == target or path.startswith(f"{target}/") for _, target in binds)


def _links_to(path: Path) -> Iterable[Path]:
    """The links by which a program is found, one after the other."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return
        yield path
        path = Path(os.path.normpath(path.parent / path.readlink()))


def covered(hidden: Iterable[Path], shown: Iterable[str]) -> list[str]:
    """Those of the hidden places that lie inside of something that is shown."""
    places = dict.fromkeys(os.path.realpath(one) for one in hidden)
    shown = list(shown)
    if told := [place for place in places if place in shown]:
        raise HarnessError(f"{told[0]}: the candidate needs this folder and must not see it; keep the two apart")
    return [place for place in places if any(place.startswith(f"{each}/") for each in shown)]


def outer_id() -> int:
    """An id that no user has, for the candidate of somebody who is root: from the highest that this system maps."""
    mapped = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    top = min(max(int(first) + int(count) for first, _, count in mapped) - 2, _HIGH)
    return top - secrets.randbelow(min(_DRAWN, max(top // 2, 1)))
