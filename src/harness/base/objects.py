"""Objects that configuration names by their dotted name, ours or anybody's: found, checked and made.

Whatever is wrong with one is told in a sentence: what asked for it, its name, and where it was looked for.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from harness.base.code import watch
from harness.base.conf import shown_path, user_conf
from harness.base.errors import ConfigError, HarnessError

#: The folder that `make_importable` has put on the path last.
_added: list[str] = []
#: Whether configuration is only described now, so that nothing that it names may be imported.
_DESCRIBING: ContextVar[bool] = ContextVar("describing", default=False)


@contextmanager
def described_only() -> Iterator[None]:
    """Refuse to import what configuration names while the block runs: whoever only describes a file runs no code of
    it."""
    token = _DESCRIBING.set(True)
    try:
        yield
    finally:
        _DESCRIBING.reset(token)


def make_importable() -> None:
    """Let modules beside the user's conf folder be imported, by whatever the process was started."""
    conf = user_conf()
    folder = str(conf.parent) if conf else None
    if _added and _added[0] != folder:
        if _added[0] in sys.path:
            sys.path.remove(_added[0])
        _added.clear()
    if folder and folder not in sys.path[:1]:
        _refuse_namesake(folder)
        sys.path.insert(0, folder)
        _added[:] = [folder]


def _refuse_namesake(folder: str) -> None:
    """Processes that this one starts would take a module of our name for the harness. Raises ConfigError."""
    name = __name__.partition(".")[0]
    found, own = PathFinder.find_spec(name, [folder]), sys.modules[name].__file__
    if found and found.origin and found.has_location and Path(found.origin).resolve() != Path(str(own)).resolve():
        raise ConfigError(f"{shown_path(Path(found.origin))}: it has the name of the harness itself; call it otherwise")


def import_named(name: str, where: str) -> Any:
    """The module, class or function of a dotted name. Raises ConfigError, which begins with `where`."""
    if _DESCRIBING.get():
        raise ConfigError(f"{where}: {name} is not imported while its file is only described")
    make_importable()
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        raise ConfigError(f"{where}: {name!r} is no dotted name; expected one such as my_faces.MyFaces")
    if parts[0] == "__main__":
        raise ConfigError(f"{where}: {name}: what Python was started with has no key; put it into a module of its own")
    found: Any = None
    for end, part in enumerate(parts, start=1):
        if found is not None and hasattr(found, part):
            found = getattr(found, part)
        elif found is None or inspect.ismodule(found):
            found = _import(".".join(parts[:end]), name, where)
        else:
            raise ConfigError(f"{where}: {name}: {'.'.join(parts[: end - 1])} has no {part}")
    return found


def _import(module: str, name: str, where: str) -> Any:
    if module not in sys.modules:
        watch(module)  # so that a file that is edited between this and the end of a run is noticed
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise ConfigError(f"{where}: {name}: importing {module} failed: {error}; {_searched()}") from error
        parent, _, last = module.rpartition(".")
        missing = f"{parent} has no {last}" if parent else f"there is no module {module}"
        raise ConfigError(f"{where}: {name}: {missing}; {_searched(parent)}") from error
    except HarnessError:
        raise
    except (Exception, SystemExit) as error:
        place = f"{where}: {name}: importing {module} raised"
        raise ConfigError(f"{place} {type(error).__name__}: {first_line(error)}; {_searched()}") from error


def _searched(parent: str = "") -> str:
    """Where a module was looked for: in its package, or in the folders that are not Python's own."""
    if parent:
        origin = getattr(sys.modules.get(parent), "__file__", None)
        return f"it is {origin}" if origin else f"{parent} has no file"
    own = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    folders = [Path(entry or ".").absolute() for entry in sys.path]
    others = dict.fromkeys(
        str(folder) for folder in folders if folder.is_dir() and not any(folder.is_relative_to(each) for each in own)
    )
    listed = [*list(others)[:3], sysconfig.get_path("purelib")]
    hint = "" if user_conf() else "; there is no conf folder here, whose neighbours would be found, too"
    return f"searched: {', '.join(listed)}{hint}"


def class_named(values: Mapping[str, Any], group: str) -> type[Any]:
    """The class that a group's `_target_` names."""
    name = values.get("_target_")
    if name is None:
        raise ConfigError(f"{group}: its file has no _target_; expected the dotted name of a class")
    if not isinstance(name, str):
        raise ConfigError(f"{group}._target_: expected the dotted name of a class, got {name!r}")
    found = import_named(name, group)
    if not inspect.isclass(found):
        kind = "a module" if inspect.ismodule(found) else f"a {type(found).__name__}"
        raise ConfigError(f"{group}: {name} is {kind}, not a class; it is in {_origin(found)}")
    if not _has_its_name(found):
        told = f"it calls itself {dotted_name(found)}, and there is no such class"
        raise ConfigError(f"{group}: {name} was made by a function: {told}; write it as a class in a module")
    return found


def _has_its_name(target: type[Any]) -> bool:
    """Whether a class is what its own name says. Keys are made of it: those that a function makes all have the same."""
    found: Any = sys.modules.get(target.__module__)
    for part in target.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is target


def make_object(values: Mapping[str, Any], group: str) -> Any:
    """Make the object that a group describes, after checking every value against the fields of its class.

    Raises pydantic's ValidationError where a value does not fit, and ConfigError where the class is of no use.
    """
    target = class_named(values, group)
    check = _checker(target, group)
    try:
        return check.validate_python(_parts(values, group), extra="forbid")
    except (ValidationError, HarnessError):
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {first_line(error)}"
        raise ConfigError(f"{group}: {dotted_name(target)} of {_origin(target)} could not be made: {told}") from error


def _parts(values: Mapping[str, Any], group: str) -> dict[str, Any]:
    """The values for the fields of a class. One that names a class itself, as a group inside a group does, is made of
    it."""
    nested = {key for key, value in values.items() if isinstance(value, Mapping) and value.get("_target_") is not None}
    return {
        key: make_object(value, f"{group}.{key}") if key in nested else value
        for key, value in values.items()
        if key != "_target_"
    }


def unknown_keys(values: Mapping[str, Any], target: type[Any], group: str) -> set[str]:
    """The dotted keys among some values that a class has no field for."""
    try:
        _checker(target, group).validate_python(values, extra="forbid")
    except ValidationError as error:
        return {_key(item["loc"]) for item in error.errors() if item["type"] == "unexpected_keyword_argument"}
    return set()


def field_names(target: type[Any], path: Sequence[str] = ()) -> list[str]:
    """The fields of a dataclass, or of the one that is in its field of this path; none where it is no dataclass."""
    found: Any = target
    for name in path:
        try:
            found = get_type_hints(found).get(name)
        except (NameError, TypeError):  # a hint that only a type checker can resolve
            return []
    return [item.name for item in fields(found) if item.init] if is_dataclass(found) else []


def check_interface(thing: Any, group: str, what: str, attributes: Iterable[str]) -> None:
    """Refuse an object that lacks part of an interface. Raises ConfigError."""
    # Statically: a property such as `models` may look for files, and it is not the time for that.
    if missing := [name for name in attributes if inspect.getattr_static(thing, name, None) is None]:
        place = f"{dotted_name(type(thing))} of {_origin(type(thing))}"
        cheap = (
            "; CHEAP is a frozenset of the fields that do not change what the model sees" if "CHEAP" in missing else ""
        )
        raise ConfigError(f"{group}: {place} is no {what}: it has no {', '.join(missing)}{cheap}")


def check_frozen(thing: Any, group: str) -> None:
    """Refuse an object that can be changed or cannot be hashed: keys are made of its fields. Raises ConfigError."""
    target = type(thing)
    place = f"{group}: {dotted_name(target)} of {_origin(target)}"
    params = getattr(target, "__dataclass_params__", None)
    if params is None or not params.frozen:
        raise ConfigError(f"{place} can be changed; expected a frozen dataclass: @dataclass(frozen=True)")
    known = {item.name for item in fields(thing)}
    if unkept := [name for name in inspect.signature(target).parameters if name not in known]:
        raise ConfigError(f"{place} takes {unkept[0]} and does not keep it as a field; keys are made of fields")
    try:
        hash(thing)
    except TypeError as error:
        hint = "expected fields that can be, such as tuples in place of lists"
        raise ConfigError(f"{place} cannot be hashed: {first_line(error)}; {hint}") from error


def _checker(target: Any, group: str) -> TypeAdapter[Any]:
    try:
        return _adapter(target)
    except Exception as error:
        place = f"{group}: {dotted_name(target)} of {_origin(target)} cannot be checked"
        if not is_dataclass(target):
            raise ConfigError(f"{place}: it is no dataclass; write @dataclass(frozen=True) above it") from error
        expected = "expected a frozen dataclass whose fields have types that pydantic knows"
        raise ConfigError(f"{place}; {expected}: {first_line(error).partition('. ')[0]}") from error


@cache
def _adapter(target: type[Any]) -> TypeAdapter[Any]:
    return TypeAdapter(target)


def _key(location: tuple[str | int, ...]) -> str:
    return ".".join(map(str, location))


def dotted_name(target: type[Any]) -> str:
    """The name of a class by which a `_target_` would name it."""
    return f"{target.__module__}.{target.__qualname__}"


def _origin(thing: Any) -> str:
    """The file of a class, function or module."""
    module = thing if inspect.ismodule(thing) else inspect.getmodule(thing)
    return str(getattr(module, "__file__", None) or "Python itself")


def first_line(error: BaseException) -> str:
    """What an error says, without the lines that some of them add."""
    return next(iter(str(error).splitlines()), "without a message")
