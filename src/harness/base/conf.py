"""The folders that configuration is read from: the user's, the harness's own, and those of installed packages.

Each has one folder a group, with one file a choice: `face/yunet.yaml` is what `face=yunet` chooses. A choice that more
than one of them has is taken from the first.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from harness.base.errors import ConfigError

#: The user's folder, for this command and for every process that it starts.
VARIABLE = "HARNESS_CONF"
#: What the user's folder is called where nobody names one.
DEFAULT = "conf"
#: The entry points by which an installed package offers a folder of groups.
ENTRY_POINTS = "harness.conf"
_OPTIONS = ("--config-dir", "-cd")


@dataclass(frozen=True)
class ConfFolder:
    """A folder of groups. `owner` is the package that it comes with; the user's has none."""

    path: Path
    owner: str = ""

    def file(self, group: str, choice: str) -> Path:
        """Where the folder has a choice, if it has it."""
        return self.path / group / f"{choice}.yaml"

    def words(self, group: str, choice: str) -> str:
        """What a file of the folder is called in messages."""
        if self.owner == "harness":
            return f"the harness's own {group}={choice}"
        if self.owner:
            return f"{group}={choice} of the package {self.owner}"
        return shown_path(self.file(group, choice))


def take_config_dir(arguments: Sequence[str]) -> list[str]:
    """The arguments without `--config-dir DIR`, which becomes the user's folder for this process and its children."""
    left: list[str] = []
    given = iter(arguments)
    for argument in given:
        option, sign, value = argument.partition("=")
        if option not in _OPTIONS:
            left.append(argument)
            continue
        folder = value if sign else next(given, "")
        if not folder:
            raise ConfigError(f"{option}: expected a folder of config groups")
        os.environ[VARIABLE] = str(Path(folder).absolute())
    user_conf()  # raises where it does not exist
    return left


def conf_dir() -> Path:
    """The harness's own folder: inside an installed wheel, or at the root of a checkout."""
    packaged = Path(__file__).parents[1] / "conf"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "conf"


def user_conf() -> Path | None:
    """The user's folder: the one that is named, else `conf` where the command is run.

    Raises ConfigError where a folder is named that does not exist. In a checkout, our own `conf` is not the user's.
    """
    named = os.environ.get(VARIABLE)
    folder = Path(named or DEFAULT).absolute()
    if not folder.is_dir():
        if named:
            raise ConfigError(f"{named}: no such folder; --config-dir and {VARIABLE} name a folder of config groups")
        return None
    return None if folder.samefile(conf_dir()) else folder


def conf_folders() -> tuple[ConfFolder, ...]:
    """All folders, in the order in which they are searched."""
    user = user_conf()
    return (*([ConfFolder(user)] if user else []), ConfFolder(conf_dir(), "harness"), *package_folders())


@cache
def package_folders() -> tuple[ConfFolder, ...]:
    """The folders of installed packages, by name. No package is imported to find its folder."""
    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: point.name)
    return tuple(ConfFolder(_package_folder(point.name, point.value), point.name) for point in points)


def _package_folder(name: str, value: str) -> Path:
    top, *below = value.split(".")
    spec = find_spec(top)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place, *below)
        if folder.is_dir():
            return folder
    raise ConfigError(f"the entry point {name} of {ENTRY_POINTS} names {value}, and there is no such folder")


@cache
def groups() -> frozenset[str]:
    """The groups that the harness has. Others in a user's folder belong to somebody else's program."""
    return frozenset(folder.name for folder in conf_dir().iterdir() if folder.is_dir())


def choices(group: str) -> list[str]:
    """What a group offers, from all folders."""
    return sorted({file.stem for folder in conf_folders() for file in (folder.path / group).glob("*.yaml")})


def override_meant(option: str) -> str:
    """`preset=CHOICE` for `--preset`; "" where no key of the config is called so."""
    key, _, value = option.lstrip("-").partition("=")
    if not option.startswith("--") or key.split(".")[0] not in groups():
        return ""
    return f"{key}={value or ('CHOICE' if key in groups() else 'VALUE')}"


def find_choice(group: str, choice: str) -> Path | None:
    """The file that a choice is read from; None where there is no such choice."""
    found = _offers(group, choice)
    return found[0].file(group, choice) if found else None


def file_words(group: str, choice: str) -> str:
    """The file that a choice is read from, in words: `conf/face/mine.yaml`, `the harness's own face=yunet`."""
    return _offers(group, choice)[0].words(group, choice)


def shadows(names: Sequence[str]) -> list[str]:
    """Those of the named files that more than one folder has, each with a digest of the one that is read.

    `face/yunet` becomes `face/yunet@ab12cd34`.
    """
    found = {name: offers for name in names if (offers := _offers(*_split(name)))}
    return [f"{name}@{_digest(first.file(*_split(name)))}" for name, (first, *others) in found.items() if others]


def shadow_words(shadow: str) -> str:
    """What an item of `shadows` means, in a sentence."""
    group, choice = _split(shadow.partition("@")[0])
    first, *others = (folder.words(group, choice) for folder in _offers(group, choice))
    return f"{first} replaces {' and '.join(others)}"


def shown_path(path: Path) -> str:
    """A path as a user would type it from where the command is run."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def _offers(group: str, choice: str) -> list[ConfFolder]:
    return [folder for folder in conf_folders() if folder.file(group, choice).is_file()]


def _split(name: str) -> tuple[str, str]:
    group, _, choice = name.partition("/")
    return group, choice


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:8]
