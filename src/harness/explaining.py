"""What is wrong with a config, in a sentence or two: which file says it, what was expected, and what is near."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, OmegaConfBaseException
from pydantic import ValidationError

from harness.base import conf
from harness.base.checks import first_error
from harness.base.comments import meanings_of
from harness.base.errors import ConfigError
from harness.base.hiding import is_secret
from harness.base.objects import class_named, field_names
from harness.base.texts import nearest
from harness.composition import file_values

#: The keys of the config that whoever composes it fills in; nobody types them.
FILLED_IN = ("chosen", "shadowed", "sweep_id", "tuned_for")
#: Keys that are no settings.
_HIDDEN = (*FILLED_IN, "hydra", "_target_")
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")


def explain(error: HydraException | OmegaConfBaseException) -> str:
    """A composition error in a sentence or two that list what exists."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options:
        group, _, choice = error.missing_cfg_file.rpartition("/")
        near = nearest(choice, error.options)
        told = f"{group}={choice}: no such choice; {group} is one of: {', '.join(sorted(error.options))}"
        return f"{told}. Did you mean {group}={near}?" if near else told
    if isinstance(error, OverrideParseException) and "=" not in error.override:
        return _no_override(error.override)
    if found := re.match(r"Ambiguous value for argument '(.*)'", str(error)):
        decimal = re.sub(r"=(\d+),(\d+)$", r"=\1.\2", found[1])
        point = f"; a decimal has a point: {decimal}" if decimal != found[1] else ""
        return f"{found[1]}: several values are a sweep, which begins with -m: harness -m {found[1]}{point}"
    if str(error).startswith("Could not override ''."):
        return "an override has a key before its =, as in preset=fast"
    if isinstance(error, OverrideParseException):
        key, _, value = error.override.partition("=")
        text = value.replace("\\", "\\\\").replace('"', '\\"')
        quoted = shlex.quote(f'{key}="{text}"')
        return f"{error.override}: not a valid override; a text with quotes or brackets is quoted, as in {quoted}"
    cause = error.__cause__ if isinstance(error, ConfigCompositionException) else error
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and isinstance(cause.parent_node, DictConfig):
        return _no_such_key(str(cause.full_key), cause.parent_node)
    if isinstance(cause, OmegaConfBaseException):
        return f"{cause.full_key}: {_wrong_kind(str(cause.msg or cause).splitlines()[0])}"
    first, *more = str(error).splitlines()
    if more and (found := re.match(r"In '(.*)': \w+ raised while composing config", first)):
        return _in_file(found[1], more[0].strip())
    return str(error)


def _no_override(word: str) -> str:
    """A word that is no command and has no `=`."""
    if Path(word).is_dir():
        return f"{word}: expected a command, or an override such as preset=fast; for its photos: harness start {word}"
    key, colon, value = word.partition(":")
    meant = f"; did you mean {key}={value}?" if colon and key.split(".")[0] in conf.groups() else ""
    return f"{word}: expected a command, or an override such as preset=fast{meant}"


def _wrong_kind(problem: str) -> str:
    """A value of the wrong type, in the words of every other value."""
    if found := re.match(r"Value '(.*)' of type '\w+' could not be converted to (Integer|Float)", problem):
        return f"must be a {'whole ' if found[2] == 'Integer' else ''}number, got '{found[1]}'"
    if found := re.match(r"Value '(.*)' is not a valid bool", problem):
        return f"must be true or false, got '{found[1]}'"
    return problem


def misfit(config: DictConfig, group: str, values: Mapping[str, Any], error: ValidationError) -> str:
    """Why values do not fit the class of a group, and the file that says so, where it was not typed."""
    first = error.errors(include_url=False)[0]
    where = [str(part) for part in first["loc"]]
    key, target = ".".join((group, *where)), str(values["_target_"])
    if first["type"] in _MISSING:
        return f"{place_of(config, group)}: {key}: expected a value, since {target} has no default for it"
    preset = str(OmegaConf.select(config, "preset", default=""))
    for file, said in ((("preset", preset), [group, *where]), ((group, choice_of(config, group)), where)):
        if _says(file, said, first["input"]):
            break
    else:
        file = ("", "")
    place = f"{conf.file_words(*file)}: " if all(file) else ""
    if first["type"] != "unexpected_keyword_argument":
        return f"{place}{first_error(error, group, any(map(is_secret, where)))}"
    known = field_names(class_named(values, group), where[:-1])
    told = f"{place}{key}: no such key of {target}{_which_has(known)}.{_near(where[-1], known, key)}"
    if file[0] == "preset":
        told += f" tuned_for in the preset names the choices of {group} that its values are for."
        told += "".join(f" Note that {line}." for line in _shadow(config, group))
    return told.removesuffix(".")


def place_of(config: DictConfig, group: str) -> str:
    """The file of a group's choice, in words; the group itself where it is not known."""
    choice = choice_of(config, group)
    return conf.file_words(group, choice) if choice and conf.find_choice(group, choice) else group


def choice_of(config: DictConfig, group: str) -> str:
    """Which choice of a group a composed config has; "" where it does not say."""
    return str((OmegaConf.select(config, "chosen", default=None) or {}).get(group, ""))


def _says(file: tuple[str, str], path: Sequence[str], value: Any) -> bool:
    """Whether the file of a choice has this value in this place."""
    if not file[1] or conf.find_choice(*file) is None:
        return False
    found: Any = file_values(*file)
    for part in path:
        if not isinstance(found, dict) or part not in found:
            return False
        found = found[part]
    return bool(found == value)


def _shadow(config: DictConfig, group: str) -> list[str]:
    mine = f"{group}/{choice_of(config, group)}@"
    shadowed = OmegaConf.select(config, "shadowed", default=None) or []
    return [conf.shadow_words(item) for item in shadowed if item.startswith(mine)]


def _no_such_key(full_key: str, parent_node: DictConfig) -> str:
    """An override of a key that is not there. A group has the keys of its class, whatever a preset says about it."""
    parent, _, key = full_key.rpartition(".")
    keys = [str(name) for name in parent_node if name not in _HIDDEN]
    if not parent and (inside := _keys_inside(parent_node, key)):
        return f"{full_key}: no such key. Did you mean {' or '.join(inside)}?"
    if known := _class_keys(full_key.split(".")[0], parent_node):
        if key in known:
            return f"{full_key}: the file that is chosen does not list it; add it there, or type +{full_key}=VALUE"
        keys = known
    near = _near(key, keys, full_key) or _choices_with(parent, key)
    return f"{full_key}: no such key; {parent or 'the config'} has: {', '.join(sorted(keys))}.{near}"


def _keys_inside(config: DictConfig, key: str) -> list[str]:
    """The groups that have a key of this name, as `face.threshold` for `threshold`."""
    groups = {str(name): value for name, value in config.items() if isinstance(value, DictConfig)}
    return [f"{name}.{key}" for name, value in sorted(groups.items()) if name not in _HIDDEN and key in value]


def _choices_with(group: str, key: str) -> str:
    """The choices of a group whose files have a key, as ` tracking=server has it.` for `tracking.uri`."""
    if group not in conf.groups():
        return ""
    found = [f"{group}={choice}" for choice, file in sorted(meanings_of(group).items()) if key in file.values]
    return f" {' and '.join(found)} {'has' if len(found) == 1 else 'have'} it." if found else ""


def _class_keys(group: str, node: DictConfig) -> list[str]:
    if not isinstance(node.get("_target_"), str):
        return []
    try:
        return field_names(class_named({"_target_": node["_target_"]}, group))
    except ConfigError:  # the class cannot be had, which is another mistake; the file's own keys are what is left
        return []


def _in_file(name: str, problem: str) -> str:
    """What Hydra says about one file, with the file's path."""
    group, _, choice = name.partition("/")
    place = conf.file_words(group, choice) if conf.find_choice(group, choice) else name
    if found := re.match(r"Key '(.*)' not in 'HarnessConfig'", problem):
        keys = [str(key) for key in ConfigStore.instance().load("schema.yaml").node if str(key) not in _HIDDEN]
        known = ", ".join(sorted([*keys, "tuned_for"]))
        return f"{place}: {found[1]}: no such key; the config has: {known}.{_near(found[1], keys, found[1])}"
    return f"{place}: {problem}"


def _which_has(known: Sequence[str]) -> str:
    return f", which has: {', '.join(sorted(known))}" if known else ""


def _near(key: str, known: Sequence[str], full_key: str) -> str:
    near = nearest(key, known)
    parent = full_key.rpartition(".")[0]
    return f" Did you mean {'.'.join(filter(None, (parent, near)))}?" if near else ""
