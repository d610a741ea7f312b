"""Whether the code that this process runs is what its files say.

Python loads a module once. A source that changes afterwards would be keyed as what it is now and answered by what it
was, so that it is refused. A module that was loaded before anybody asked is compared with its source: its functions,
its plain values and what Python has kept of it.
"""

from __future__ import annotations

import ast
import inspect
import marshal
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from harness.base.conf import user_conf
from harness.base.distributions import OWN
from harness.base.errors import StaleCodeError
from harness.base.imports import last_name

#: What each source file held when this process first looked at it. Python does not load a module twice, so a file that
#: has changed since is not the code that runs.
_FIRST_SEEN: dict[str, str] = {}
#: The modules that were loaded and found to be what their files say.
_FOUND_LOADED: dict[str, ModuleType] = {}
_STARTED = time.time()


def refuse_stale(name: str, path: Path, digest: str) -> None:
    """Raise StaleCodeError where a module's file, which has this digest now, is not the code that this process runs."""
    if _FIRST_SEEN.setdefault(str(path), digest) != digest or not _is_loaded(name, path):
        raise StaleCodeError(f"{path}: has changed since this process loaded it; restart the process")
    if (other := _beside_conf(name)) and other != path.resolve():
        raise StaleCodeError(f"{path}: this process has loaded it as {name}, and not {other}; restart the process")


def _is_loaded(name: str, path: Path) -> bool:
    """Whether a module, if it is loaded, is what its file says. Somebody may have imported it, and edited it, before we
    saw it first; and Python takes what it has compiled for the source where time and size are the same."""
    module = sys.modules.get(name)
    if module is None or _FOUND_LOADED.get(name) is module:
        return True
    plain = type(getattr(module, "__loader__", None)) is SourceFileLoader  # others may rewrite what they load
    if plain and (name.partition(".")[0] != OWN or path.stat().st_ctime > _STARTED):
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
    stored = Counter(last_name(node) for node in nodes if isinstance(node.ctx, ast.Store))
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
    conf = user_conf() if name in sys.modules and "." not in name and name != OWN else None
    found = PathFinder.find_spec(name, [str(conf.parent)]) if conf else None
    return Path(found.origin).resolve() if found and found.origin and found.has_location else None
