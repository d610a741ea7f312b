"""The mutants behind `scripts/mutate`: which changes are made, and what is left alone."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from bench.mutants import compile_mutant, mutants_of


def changes(folder: Path, source: str) -> list[str]:
    (folder / "module.py").write_text(source)
    return [mutant.change for mutant in mutants_of(folder, "module.py")]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = b < c", ["a = b < c => a = b <= c"]),
        ("a = b == c", ["a = b == c => a = b != c"]),
        ("a = b not in c", ["a = b not in c => a = b in c"]),
        ("a = b and c", ["a = b and c => a = b or c", "a = b and c => a = b", "a = b and c => a = c"]),
        ("a = not b", ["a = not b => a = b"]),
        ("a = b + c", ["a = b + c => a = b - c"]),
        ("a = b // c", ["a = b // c => a = b / c"]),
        ("a = -b", ["a = -b => a = b"]),
        ("a = 1", ["a = 1 => a = 0"]),
        ("a = 7", ["a = 7 => a = 8"]),
        ("a = True", ["a = True => a = False"]),
        ("a = any(b)", ["a = any(b) => a = all(b)"]),
        ("a = min(b, c)", ["a = min(b, c) => a = max(b, c)"]),
        ("a = b(c=d)", ["a = b(c=d) => a = b()"]),
        ("a = sorted(b)", ["a = sorted(b) => a = sorted(b, reverse=True)"]),
        ("a = {'b': c}", ["a = {'b': c} => a = {}"]),
        ("a = [b, c]", ["a = [b, c] => a = [c]", "a = [b, c] => a = [b]"]),
        ("f(a)", ["f(a) => pass"]),
        ("a += b", ["a += b => a -= b", "a += b => pass"]),
        (
            "if a:\n    b = c",
            ["if a: => if True:", "if a: => if False:"],
        ),
        (
            "def f(a, b):\n    return a[:b]",
            [
                "return a[:b] => return None",
                "return a[:b] => return a[1:b]",
                "return a[:b] => return a[:b + 1]",
            ],
        ),
    ],
)
def test_each_change_is_one_small_mistake(tmp_path: Path, source: str, expected: list[str]) -> None:
    assert changes(tmp_path, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A module with 1 docstring."""',
        "def f(a: Annotated[int, Field(ge=0)]) -> tuple[int, int]:\n    '''One.'''",
        "def f():\n    raise ValueError(f'{1 + 1} is wrong', 3)",
        "def f(a):\n    assert a > 0",
        "__all__ = ['a', 'b']",
        "@dataclass(frozen=True, slots=True)\nclass A:\n    b: int",
        "if TYPE_CHECKING:\n    a = 1",
        "Pair = tuple[int, str] | None",
        "a = f'{b + 1}'",
        "a, b = c, d",
        "a = zip(b, c, strict=True)",
    ],
)
def test_texts_and_declarations_are_left_alone(tmp_path: Path, source: str) -> None:
    assert changes(tmp_path, source) == []


def test_a_mutant_is_compiled_with_its_change_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("a = 1\nb = 2\n")
    values = []
    for mutant in mutants_of(tmp_path, "module.py"):
        module = ModuleType("module")
        exec(compile_mutant(tmp_path, mutant), module.__dict__)
        values.append((mutant.line, module.a, module.b))
    assert values == [(1, 0, 2), (2, 1, 3)]


def test_where_a_mutant_stands_is_said_without_its_line(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text("class A:\n    def f(self):\n        if self.a:\n            self.b(\n1)\n")
    mutant = mutants_of(tmp_path, "module.py")[-1]
    assert mutant.key == "module.py | A.f | self.b(1) => self.b(0)"
    assert (mutant.first, mutant.last, mutant.at_import) == (4, 5, False)
