"""The imports of a module, read out of its source: nothing is imported.

Every import counts, wherever it stands: inside a function, by a call, in a branch. What stands under
`if TYPE_CHECKING` never runs and does not count. One whose name is computed counts as the package that the name begins
with, else as anything, and so does what runs files or texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

#: Calls that import a module by its name.
_IMPORTERS = frozenset({"import_module", "__import__"})
#: What runs code that no name in the source tells.
_RUNNERS = frozenset({"exec", "exec_module", "load_module", "run_module", "run_path", "spec_from_file_location"})
#: What lists the modules that somebody is about to import.
_LISTERS = frozenset({"iter_modules", "walk_packages"})
#: What a module calls the package that it is in.
_OWN_NAME = frozenset({"__package__", "__name__"})
_BY_COMPUTATION = _IMPORTERS | _RUNNERS | _LISTERS


@dataclass(frozen=True)
class Import:
    """One import as it is written, from `package` where it says so. Without a module it is one whose name is computed.
    With `whole` it may mean any module of the package that it names."""

    module: str | None
    attributes: tuple[str, ...] = ()
    level: int = 0
    late: bool = False
    whole: bool = False
    package: str = ""

    def names(self, own: str) -> Iterator[str]:
        """The modules that it may mean in a module whose package is `own`: `from a import b` means `a`, and `a.b` where
        that is a module."""
        package = (self.package or own).split(".")
        above = package[: len(package) - self.level + 1] if self.level else []
        module = ".".join([*above, *filter(None, [self.module])])
        yield module
        yield from (f"{module}.{attribute}" for attribute in self.attributes)


def imports_in(content: bytes) -> tuple[Import, ...]:
    """The imports of a module. One that is no valid Python cannot be imported, and says so where somebody tries to."""
    try:
        return tuple(_statements(ast.parse(content)))
    except (SyntaxError, ValueError):
        return ()


def _statements(node: ast.AST, late: bool = False) -> Iterator[Import]:
    """Every import below a node. What stands under `if TYPE_CHECKING` never runs."""
    for child in ast.iter_child_nodes(node):
        inside = late or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        if isinstance(child, ast.Import):
            for alias in child.names:
                # `import a.b` gives the name `a` to whoever wants to use it.
                above = () if alias.asname else packages_above(alias.name)
                yield from (Import(name, late=inside) for name in (alias.name, *above))
        elif isinstance(child, ast.ImportFrom):
            attributes = tuple(alias.name for alias in child.names if alias.name != "*")
            yield Import(child.module or "", attributes, child.level, inside, whole=not attributes)
            if any(alias.asname and alias.name in _BY_COMPUTATION for alias in child.names):
                yield Import(None, late=inside)
        elif isinstance(child, ast.If) and last_name(child.test) == "TYPE_CHECKING":
            yield from _statements(ast.Module(child.orelse, []), inside)
        elif isinstance(child, ast.Call) and last_name(child.func) in _IMPORTERS:
            yield _by_call(child, inside)
            yield from _statements(ast.Tuple([*child.args, *(item.value for item in child.keywords)]), inside)
        else:
            if isinstance(child, ast.Name | ast.Attribute) and last_name(child) in _BY_COMPUTATION:
                yield Import(None, late=inside)
            yield from _statements(child, inside)


def _by_call(call: ast.Call, late: bool) -> Import:
    """An import by a call. Of a name that is computed, the package counts, if it begins with one."""
    given = {item.arg: item.value for item in call.keywords} | dict(zip(("name", "package"), call.args, strict=False))
    text = _beginning(given.get("name"))
    name = text.lstrip(".")
    level = len(text) - len(name)
    whole = last_name(call.func) == "__import__" and len(call.args) + len(call.keywords) > 1
    if not isinstance(given.get("name"), ast.Constant):
        name, whole = name.rpartition(".")[0], True
    package = given.get("package") if level else None
    known = package is None or isinstance(package, ast.Constant) or last_name(package) in _OWN_NAME
    if not known or not (name or level):
        return Import(None, late=late)
    return Import(name, (), level, late, whole, _beginning(package))


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


def last_name(node: ast.expr) -> str:
    """What a name or an attribute is called, `b` for `a.b`; empty for any other expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def packages_above(name: str) -> Iterator[str]:
    """The packages that a module is in, from the inside out."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
