"""The mutants of a source file: the same module with one small change that a test should notice.

What is text or a declaration is left out by construction: strings, f-strings, docstrings, `raise` and errors,
annotations and type aliases, decorators, `__all__`, `TYPE_CHECKING` blocks, `assert` and the `strict` of a `zip`,
which only guards against mistakes of ours.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CONTEXT = 32


@dataclass(frozen=True)
class Edit:
    """One change of a tree: `holder.field` becomes `value`. `header` is the statement that it shows in."""

    holder: ast.AST
    field: str
    value: Any
    header: ast.AST
    scope: tuple[str, ...]
    at_import: bool

    def swap(self) -> Edit:
        """Make the change; the edit that comes back undoes it."""
        before = getattr(self.holder, self.field)
        setattr(self.holder, self.field, self.value)
        return Edit(self.holder, self.field, before, self.header, self.scope, self.at_import)


@dataclass(frozen=True)
class Mutant:
    """One changed module. `number` counts the edits of its file; `first` to `last` are the lines of its statement, and
    a statement `at_import` belongs to no function."""

    path: str
    number: int
    line: int
    first: int
    last: int
    at_import: bool
    scope: str
    change: str

    @property
    def key(self) -> str:
        """How the list of equivalent mutants names it: without the line, which moves."""
        return f"{self.path} | {self.scope} | {self.change}"


def mutants_of(root: Path, path: str) -> list[Mutant]:
    """Every mutant of a file."""
    tree = ast.parse((root / path).read_text(encoding="utf-8"))
    result = []
    for number, edit in enumerate(list(_edits_of(tree))):
        before = _text(edit.header)
        undo = edit.swap()
        after = _text(edit.header)
        undo.swap()
        # A statement that is removed looks the same by itself.
        change = _shortened(before, after) if after != before else f"{before} => pass"
        first, last = _lines(edit.header)
        line = max(first, getattr(edit.holder, "lineno", first))
        scope = ".".join(edit.scope) or "module"
        result.append(Mutant(path, number, line, first, last, edit.at_import, scope, change))
    return result


def compile_mutant(root: Path, mutant: Mutant) -> CodeType:
    """The code of the changed module."""
    tree = ast.parse((root / mutant.path).read_text(encoding="utf-8"))
    list(_edits_of(tree))[mutant.number].swap()
    return compile(ast.fix_missing_locations(tree), str(root / mutant.path), "exec")


@dataclass(frozen=True)
class _Spot:
    """Where a node stands in the tree, and in what."""

    parent: ast.AST
    field: str
    index: int | None
    header: ast.AST
    scope: tuple[str, ...] = ()
    in_function: bool = False

    def edit(self, holder: ast.AST, field: str, value: Any) -> Edit:
        return Edit(holder, field, value, self.header, self.scope, not self.in_function)

    def replaced(self, new: ast.AST) -> Edit:
        if self.index is None:
            return self.edit(self.parent, self.field, new)
        siblings = list(getattr(self.parent, self.field))
        siblings[self.index] = new
        return self.edit(self.parent, self.field, siblings)


def _edits_of(tree: ast.Module) -> Iterator[Edit]:
    for index, statement in enumerate(tree.body):
        yield from _edits(statement, _Spot(tree, "body", index, statement))


def _edits(node: ast.AST, spot: _Spot) -> Iterator[Edit]:
    if _left_out(node, spot):
        return
    if not _unpacked(node, spot.parent):
        for field, value in _changes(node):
            yield spot.edit(node, field, value)
    for new in _replacements(node):
        yield spot.replaced(new)
    for field, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if isinstance(child, ast.AST):
                yield from _edits(child, _inside(node, field, index if isinstance(value, list) else None, child, spot))


def _inside(node: ast.AST, field: str, index: int | None, child: ast.AST, spot: _Spot) -> _Spot:
    named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and field == "body"
    scope = (*spot.scope, node.name) if named else spot.scope  # type: ignore[attr-defined]
    header = child if isinstance(child, ast.stmt | ast.ExceptHandler) else spot.header
    in_function = spot.in_function or (isinstance(node, _FUNCTIONS) and field == "body")
    return _Spot(node, field, index, header, scope, in_function)


def _left_out(node: ast.AST, spot: _Spot) -> bool:
    match node:
        case ast.JoinedStr() | ast.Raise() | ast.Assert() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Call(func=ast.Name(id=name)) if name.endswith("Error") or name in ("TypeVar", "cast"):
            return True
        case ast.Subscript() | ast.BinOp(op=ast.BitOr()) if not spot.in_function:
            return True  # a type alias
    return spot.field in ("annotation", "returns", "decorator_list", "bases")


def _unpacked(node: ast.AST, parent: ast.AST) -> bool:
    """Whether a tuple is taken apart at once, as in `a, b = x, y`: one element less could not go unnoticed."""
    return isinstance(node, ast.Tuple) and isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple)


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """The fields of a node that may become something else."""
    match node:
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                yield "ops", _with(ops, index, _COMPARED[type(op)]())
        case ast.BoolOp(op=op, values=values):
            yield "op", ast.Or() if isinstance(op, ast.And) else ast.And()
            if len(values) > 2:
                yield from (("values", _without(values, index)) for index in range(len(values)))
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _COMPUTED:
            yield "op", _COMPUTED[type(op)]()
        case ast.If() | ast.IfExp():
            yield from (("test", ast.Constant(value)) for value in (True, False))
        case ast.While():
            yield "test", ast.Constant(False)
        case ast.comprehension(ifs=ifs):
            for index in range(len(ifs)):
                yield from (("ifs", _with(ifs, index, ast.Constant(value))) for value in (True, False))
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant) or value.value is not None:
            yield "value", ast.Constant(None)
        case ast.Call(keywords=keywords):
            yield from _call_changes(node, keywords)
        case (
            ast.Tuple(elts=elements, ctx=ast.Load()) | ast.List(elts=elements, ctx=ast.Load()) | ast.Set(elts=elements)
        ):
            yield from (("elts", _without(elements, index)) for index in range(len(elements)))
        case ast.Slice(lower=lower, upper=upper):
            yield from _slice_changes(lower, upper)


def _assigned(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), ast.Store)


def _call_changes(node: ast.Call, keywords: list[ast.keyword]) -> Iterator[tuple[str, Any]]:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    for index, keyword in enumerate(keywords):
        if keyword.arg not in (None, "strict"):
            yield "keywords", _without(keywords, index)
    if name in ("sorted", "sort") and all(keyword.arg != "reverse" for keyword in keywords):
        yield "keywords", [*keywords, ast.keyword("reverse", ast.Constant(True))]
    if name in _NAMES and isinstance(node.func, ast.Name):
        yield "func", ast.Name(_NAMES[name], ast.Load())


def _slice_changes(lower: ast.expr | None, upper: ast.expr | None) -> Iterator[tuple[str, Any]]:
    """Numbers in a slice change as numbers do everywhere."""
    for field, end, absent in (("lower", lower, 1), ("upper", upper, -1)):
        if end is None:
            yield field, ast.Constant(absent)
        elif not isinstance(end, ast.Constant):
            yield field, ast.BinOp(end, ast.Add(), ast.Constant(1))


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield ast.Constant(0 if value == 1 else value + 1)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.BoolOp(values=[left, right]):
            yield from (left, right)
        case ast.Dict(keys=keys, values=values):
            for index in range(len(keys)):
                yield ast.Dict(_without(keys, index), _without(values, index))
        case ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield ast.Pass()


def _with(items: Sequence[Any], index: int, new: object) -> list[Any]:
    return [*items[:index], new, *items[index + 1 :]]


def _without(items: Sequence[Any], index: int) -> list[Any]:
    return [*items[:index], *items[index + 1 :]]


def _bare(header: ast.AST) -> ast.AST:
    """A statement without the statements inside it."""
    bare = copy.copy(header)
    for field, empty in (("body", [ast.Pass()]), ("orelse", []), ("finalbody", []), ("decorator_list", [])):
        if hasattr(bare, field):
            setattr(bare, field, empty)
    return bare


def _text(header: ast.AST) -> str:
    lines = ast.unparse(ast.fix_missing_locations(_bare(header))).splitlines()
    return " ".join(line.strip() for line in lines).removesuffix(" pass")


def _lines(header: ast.AST) -> tuple[int, int]:
    first: int = header.lineno  # type: ignore[attr-defined]
    body = getattr(header, "body", None)
    last: int = max(first, body[0].lineno - 1) if body else header.end_lineno  # type: ignore[attr-defined]
    return first, last


def _shortened(before: str, after: str) -> str:
    """Both texts around the place where they differ."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    left, right = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    both = (text[left : len(text) - right] for text in (before, after))
    return " => ".join(f"{'…' if left else ''}{text}{'…' if right else ''}" for text in both)


def _shared(left: str, right: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(left, right, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
