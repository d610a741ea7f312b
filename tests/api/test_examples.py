"""Every example of the docstrings, of docs/api.md and of the notebook runs, and the page lists what is public."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.api import results
from tests.api.notebook import run_cell

DOCS = Path(__file__).parents[2] / "docs"
EXTENDING = (DOCS / "extending.md").read_text()
TEMPLATES = Path(harness.__file__).parent / "templates"
PAGE = (DOCS / "api.md").read_text()
NOTEBOOK = json.loads((DOCS / "notebook.ipynb").read_text())
FUNCTIONS = [name for name in harness.__all__ if inspect.isfunction(getattr(harness, name))]
RESULTS = [name for name in harness.__all__ if hasattr(results, name)]
#: The modules that code outside may import.
MODULES = re.findall(r"^\| `(harness\.[a-z_.]+)` \|", PAGE.split("## What is public")[1], re.MULTILINE)

pytestmark = pytest.mark.xdist_group("api")  # one run of the pipeline serves all examples


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_each_function_runs(name: str, at_used_desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (example,) = doctest.DocTestFinder(recurse=False).find(getattr(harness, name), name, globs={})
    assert example.examples, "a public function without an example"
    told: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=told.append)
    assert outcome.failed == 0, "".join(told)


@pytest.mark.slow
def test_the_examples_of_the_page_run_in_a_row(at_used_desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        run_cell(block, names)
    assert names["run"].id != names["picky"].id
    assert capfd.readouterr() == ("", "")


def test_the_notebook_is_a_notebook_without_output() -> None:
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    assert NOTEBOOK.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    ids = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", each) for each in ids)
    for cell in NOTEBOOK["cells"]:
        assert isinstance(cell["metadata"], dict)
        assert all(isinstance(line, str) for line in cell["source"])
        if cell["cell_type"] == "code":
            assert cell.keys() == {"cell_type", "id", "metadata", "source", "execution_count", "outputs"}
            assert (cell["execution_count"], cell["outputs"]) == (None, [])
        else:
            assert cell["cell_type"] == "markdown"
            assert cell.keys() == {"cell_type", "id", "metadata", "source"}


@pytest.mark.slow
def test_the_notebook_runs_from_top_to_bottom_without_a_warning(at_used_desk: Path) -> None:
    """Cell after cell in one namespace of a new process, as a kernel does, where nothing is imported yet."""
    command = [sys.executable, "-m", "tests.api.notebook", str(DOCS / "notebook.ipynb")]
    environment = {**os.environ, "PYTHONPATH": str(DOCS.parent)}
    done = subprocess.run(command, cwd=at_used_desk, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    shown = json.loads(line)
    assert len(shown) == sum(cell["cell_type"] == "code" for cell in NOTEBOOK["cells"])
    assert "NO BASELINE" in shown[0]
    assert "sample_" in shown[1]
    assert "against" in shown[2]
    assert all(shown)


def test_the_page_lists_what_is_public_and_nothing_else() -> None:
    listed = set(re.findall(r"`harness\.([A-Za-z_]+)(?:`|\()", PAGE)) - {"types", "scoring", "formats", "testing"}
    assert listed == set(harness.__all__)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_page_has_the_arguments_of_each_function(name: str) -> None:
    shown = re.search(rf"`harness\.{name}\((.*?)\)`", PAGE)
    assert shown
    parameters = inspect.signature(getattr(harness, name)).parameters.values()
    expected = [
        f"*{each.name}"
        if each.kind is each.VAR_POSITIONAL
        else each.name + ("" if each.default is each.empty else f"={each.default!r}")
        for each in parameters
    ]
    assert shown[1].split(", ") == expected


@pytest.mark.parametrize("name", RESULTS)
def test_the_page_has_the_fields_of_each_result(name: str) -> None:
    kind = getattr(harness, name)
    fields = {each for each in (*kind.__dataclass_fields__, *vars(kind)) if not each.startswith("_")}
    section = PAGE.split("## Results")[1].split("## What is public")[0]
    part = next(part for part in re.split(r"\n\n(?=\| of|A `)", section) if f"`harness.{name}`" in part)
    named = {each for code in re.findall(r"`([^`]+)`", part) for each in re.findall(r"[a-z_]+", code)}
    assert fields - {"kept", "store", "judgement", "entries"} <= named


@pytest.mark.parametrize("name", MODULES)
def test_what_outside_code_imports_is_there_and_explained(name: str) -> None:
    assert importlib.import_module(name).__doc__


def test_the_modules_for_outside_code_are_these() -> None:
    pipeline = [f"pipeline.{name}" for name in ("stages", "looks", "images", "weights")]
    names = ("types", *pipeline, "pipeline.identity.recognising", "scoring", "formats", "runs.plan", "testing")
    assert [f"harness.{name}" for name in names] == MODULES


def imported_names(code: str) -> set[tuple[str, str]]:
    """Module and name of all that some code imports from the harness."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {(str(node.module), name.name) for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    found |= {(name.name, "") for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return {(module, name) for module, name in found if module.split(".")[0] == "harness"}


OUTSIDE = {str(path.relative_to(TEMPLATES)): path.read_text() for path in sorted(TEMPLATES.rglob("*my_*.py"))}
OUTSIDE |= dict(re.findall(r"^```python\n# (\S+)\n(.*?)^```", EXTENDING, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("file", OUTSIDE)
def test_templates_and_examples_import_only_what_is_public(file: str) -> None:
    names = imported_names(OUTSIDE[file])
    assert names, "nothing of the harness is used"
    for module, name in names:
        assert module in ("harness", *MODULES), f"{module} is not listed in docs/api.md"
        public = getattr(importlib.import_module(module), "__all__", None)
        assert public is None or name in public, f"{module} has {name} for its own use"


def test_both_pages_list_the_same_modules() -> None:
    told = EXTENDING.split("## What to import")[1]
    assert set(re.findall(r"`(harness\.[a-z_.]+)`", told)) == set(MODULES)
