"""How files and overrides become one config: Hydra's loader, on our search path, with presets that fit.

Hydra composes every config of the harness through `Loader`: that of a run, of each job of a sweep, of a command, of a
trial, and what `--cfg` shows. The user's folder is searched first, then the harness's own, then those of packages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra._internal.sources_registry import SourcesRegistry
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import ConfigSearchPath, SearchPathQuery
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import setup_globals
from hydra.plugins.config_source import ConfigResult
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from yaml import YAMLError

from harness.base import conf
from harness.base.errors import ConfigError
from harness.base.objects import class_named, unknown_keys

_PRESET = "preset"


class GroupSource(FileConfigSource):
    """A folder of which only the groups that the harness has are read, and nothing at its top.

    It may be the folder of somebody's own Hydra program: its config.yaml and its other groups are not for us.
    """

    @staticmethod
    def scheme() -> str:
        """What the search path calls such folders."""
        return "harness-groups"

    def load_config(self, config_path: str) -> ConfigResult:
        """Read a file. Raises ConfigError where it is not a file of keys and values."""
        place = conf.shown_path(Path(self.path, self._normalize_file_name(config_path)))
        try:
            found = super().load_config(config_path)
        except YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f":{mark.line + 1}" if mark else ""
            raise ConfigError(f"{place}{line}: not valid YAML: {getattr(error, 'problem', None) or error}") from error
        except (OSError, ValueError) as error:
            raise ConfigError(f"{place}: cannot be read: {error}") from error
        if not isinstance(found.config, DictConfig):
            raise ConfigError(f"{place}: expected keys and values, got a list")
        return found

    def available(self) -> bool:
        """Whether the folder is there."""
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        """Whether it has a group of ours."""
        return config_path.split("/")[0] in conf.groups() and bool(super().is_group(config_path))

    def is_config(self, config_path: str) -> bool:
        """Whether it has a choice of such a group."""
        group, _, choice = config_path.partition("/")
        return bool(choice) and group in conf.groups() and bool(super().is_config(config_path))


class Loader(ConfigLoaderImpl):
    """Composes a config, without what its preset says about backends that it is not tuned for."""

    def __init__(self) -> None:
        version.setbase("1.3")
        setup_globals()
        super().__init__(_search_path())

    def load_configuration(
        self,
        config_name: str | None,
        overrides: list[str],
        run_mode: RunMode,
        from_shell: bool = True,
        validate_sweep_overrides: bool = True,
    ) -> DictConfig:
        """Compose; once more where some of the preset is left out, so that Hydra checks overrides against the rest."""
        rest = (config_name, overrides, run_mode, from_shell, validate_sweep_overrides)
        reading = _Pass(self.config_search_path)
        try:
            config = reading.load_configuration(*rest)
            if left_out := _left_out(config, reading):
                reading = _Pass(self.config_search_path, left_out)
                config = reading.load_configuration(*rest)
        except ValueError as error:  # Hydra's word for a defaults list that is none
            raise ConfigError(str(error)) from error
        with open_dict(config):
            if OmegaConf.is_missing(config, _PRESET):  # a preset need not say its name twice
                config[_PRESET] = str(config.hydra.runtime.choices.get(_PRESET))
            choices = config.hydra.runtime.choices
            config.chosen = {group: str(choices[group]) for group in sorted(choices) if group in conf.groups()}
            config.shadowed = conf.shadows(sorted(name for name in reading.read() if "/" in name))
        return config


class _Pass(ConfigLoaderImpl):
    """One composition. It knows which files it has read, and can leave out what presets say about some groups."""

    def __init__(
        self, search_path: ConfigSearchPath, left_out: Mapping[str, Collection[str]] = MappingProxyType({})
    ) -> None:
        super().__init__(search_path)
        self._repository = _Repository(self.repository, left_out)

    def read(self) -> list[str]:
        """The files, as `group/choice`."""
        cache = self._repository.cache
        return [key.removeprefix("config_path=") for key, found in cache.items() if found is not None]

    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """What each file of the preset says: its own, and those that it builds on."""
        return self._repository.presets

    def _parse_overrides_and_create_caching_repo(
        self, config_name: str | None, overrides: list[str]
    ) -> tuple[list[Any], CachingConfigRepository]:
        parsed = OverridesParser.create().parse_overrides(overrides=overrides)
        self._process_config_searchpath(config_name, parsed, self._repository)
        return parsed, self._repository


class _Repository(CachingConfigRepository):
    """Reads each file once, and presets without what they say about the groups that are left out."""

    def __init__(self, delegate: Any, left_out: Mapping[str, Collection[str]]) -> None:
        super().__init__(delegate)
        self._left_out = left_out
        #: What the files of presets say, as they are read: composing changes what is in the cache.
        self.presets: dict[str, dict[str, Any]] = {}

    def load_config(self, config_path: str) -> ConfigResult | None:
        known = f"config_path={config_path}" in self.cache
        found = super().load_config(config_path)
        if found is not None and not known and config_path.startswith(f"{_PRESET}/"):
            _check_header(config_path, found)
            self.presets[config_path] = _plain(found.config)
            for group in self._left_out.get(config_path, ()):
                assert isinstance(found.config, DictConfig)
                found.config.pop(group, None)
        return found


def _check_header(config_path: str, found: ConfigResult) -> None:
    """Refuse a preset that would not set the keys that it names: Hydra would put all of them below `preset`."""
    if found.header.get("package") != "_global_":
        place = conf.file_words(*config_path.split("/", 1))
        raise ConfigError(
            f"{place}: a preset needs the first line `# @package _global_`, and this one does not have it"
        )


def _search_path() -> ConfigSearchPath:
    SourcesRegistry.instance().register(GroupSource)
    path = create_config_search_path(str(conf.conf_dir()))
    ours, user = SearchPathQuery(provider="main", path=None), conf.user_conf()
    if user:
        path.prepend("user", f"{GroupSource.scheme()}://{user}", anchor=ours)
    for folder in reversed(conf.package_folders()):
        path.append(folder.owner, f"{GroupSource.scheme()}://{folder.path}", anchor=ours)
    return path


def _left_out(config: DictConfig, reading: _Pass) -> dict[str, frozenset[str]]:
    """For each file of the preset the groups that it is tuned for, but not for the backend that is chosen.

    A file that does not say what a group's values are for goes by what the file that it builds on says.
    """
    chosen = config.hydra.runtime.choices
    preset = str(chosen.get(_PRESET))
    over_all = _tuned_for(OmegaConf.to_container(config.tuned_for) if config.tuned_for else {}, preset)
    left_out: dict[str, frozenset[str]] = {}
    for name, values in reading.presets().items():
        tuned = over_all | _tuned_for(values.get("tuned_for") or {}, preset)
        misfits = [group for group, backends in tuned.items() if chosen.get(group) not in backends and group in values]
        for group in misfits:
            if isinstance(own := values[group], dict):
                _check_keys(preset, group, tuned[group], own)
        if misfits:
            left_out[name] = frozenset(misfits)
    return left_out


def _tuned_for(tuned: Any, preset: str) -> dict[str, list[str]]:
    """For which backends a preset is tuned. Raises ConfigError where it names what does not exist."""
    place, known = f"{_PRESET}={preset}: tuned_for", sorted(conf.groups() - {_PRESET})
    if not isinstance(tuned, dict):
        raise ConfigError(f"{place}: expected groups, each with a list of its choices, got {tuned!r}")
    for group, backends in tuned.items():
        if group not in known:
            raise ConfigError(f"{place}: {group}: no such group; there are: {', '.join(known)}")
        if not isinstance(backends, list) or not backends:
            raise ConfigError(f"{place}.{group}: expected a list of choices, got {backends!r}")
        if missing := [item for item in backends if conf.find_choice(group, str(item)) is None]:
            listed = ", ".join(conf.choices(group))
            raise ConfigError(f"{place}.{group}: {missing[0]}: no such choice; {group} is one of: {listed}")
    return {group: [str(item) for item in backends] for group, backends in tuned.items()}


def _check_keys(preset: str, group: str, backends: Iterable[str], values: Mapping[str, Any]) -> None:
    """Refuse a preset that sets a key which none of its backends has. One that cannot be checked may have it."""
    nowhere: set[str] | None = None
    for backend in backends:
        try:
            unknown = unknown_keys(values, class_named(file_values(group, backend), group), group)
        except ConfigError:
            return
        nowhere = unknown if nowhere is None else nowhere & unknown
    if nowhere:
        listed = " nor ".join(f"{group}={backend}" for backend in backends)
        raise ConfigError(f"{_PRESET}={preset}: {group}.{min(nowhere)}: no such key of {listed}")


def file_values(group: str, choice: str) -> dict[str, Any]:
    """What the file of a choice says, with that of the files of the same group that it builds on."""
    file = conf.find_choice(group, choice)
    values = _plain(OmegaConf.load(file)) if file else {}
    built_on: dict[str, Any] = {}
    for item in values.pop("defaults", None) or []:
        if isinstance(item, str) and item not in ("_self_", choice):
            built_on |= file_values(group, item)
    return {**built_on, **values}


def _plain(config: Any) -> dict[str, Any]:
    values = OmegaConf.to_container(config)
    return {str(key): value for key, value in values.items()} if isinstance(values, dict) else {}
