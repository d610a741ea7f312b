"""The architecture holds: imports point down, and each heavy vendor has one owner."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import harness

SOURCE = Path(harness.__file__).parent

#: From the top down. A part imports from rows below its own, never from its own row.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("__main__", "api"),
    ("app", "cli"),
    ("showing",),
    ("search", "labeling", "serving", "testing"),
    ("candidates", "exploring"),
    ("evaluate", "sweeping"),
    ("remaking",),
    ("judging",),
    ("config",),
    ("building",),
    ("spec",),
    ("explaining",),
    ("composition",),
    ("grading", "tasks"),
    ("formats", "report", "tracking", "pipeline"),
    ("references",),
    ("runs",),
    ("scoring",),
    ("base", "types"),
)

#: The parts that may import a vendor; vendors that are not listed are free for all.
OWNERS = {
    "mlflow": {"tracking"},
    "optuna": {"search"},
    "mcp": {"search"},
    "fastapi": {"labeling"},
    "starlette": {"labeling"},
    "uvicorn": {"labeling"},
    "hydra": {"app", "composition", "config", "explaining"},
    "omegaconf": {"app", "building", "composition", "config", "explaining"},
    "pytest": {"testing"},
    "ray": {"tasks"},
    "fsspec": {"pipeline"},
    "joblib": {"tasks"},
    "cv2": {"pipeline", "references", "testing"},
    "PIL": {"formats", "grading", "references", "tasks"},
    "jinja2": {"grading", "labeling", "report"},
    "matplotlib": {"references", "tasks"},
    "pdfplumber": {"tasks"},
    "camelot": {"tasks"},
    "pypdfium2": {"tasks"},
    "openpeople": {"references"},
    "onnxruntime": {"pipeline"},
    "rapidocr": {"pipeline"},
    "insightface": {"pipeline"},
    "hotcoco": {"scoring"},
    "shapely": {"scoring"},
}

#: Scoring is pure: nothing else of the outside may come in.
SCORING_MAY_IMPORT = {"numpy", "scipy", "rapidfuzz", "hotcoco", "shapely"}


def part_of(module: str) -> str:
    """The first name below the package: `harness.scoring.bibs` -> `scoring`."""
    return module.split(".")[1] if "." in module else ""


def imports(root: Path) -> Iterator[tuple[str, str]]:
    """Every (importing module, imported module) of the source tree, at whatever depth the import stands.

    Templates are no part of the tree: `harness new` copies them into a user's folder, where they stand above all.
    """
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] == "templates":
            continue
        name = ".".join(("harness", *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                yield from ((name, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{name}: relative import"
                module = str(node.module)
                yield from ((name, f"{module}.{a.name}" if module == "harness" else module) for a in node.names)


def violations(root: Path) -> list[str]:
    """Arrows that point the wrong way, and vendors outside their owner."""
    rank = {part: row for row, parts in enumerate(LAYERS) for part in parts}
    wrong = []
    for importer, imported in imports(root):
        here, there = part_of(importer), imported.split(".")[0]
        if there == "harness":
            target = part_of(imported)
            if here and target and target != here and rank[target] <= rank[here]:
                wrong.append(f"{importer} imports {imported}")
        elif here not in OWNERS.get(there, {here}) or (here == "scoring" and not _pure(there)):
            wrong.append(f"{importer} imports {imported}")
    return wrong


def _pure(vendor: str) -> bool:
    import sys

    return vendor in SCORING_MAY_IMPORT or (vendor in sys.stdlib_module_names and vendor not in {"os", "pathlib", "io"})


def test_every_part_has_a_layer() -> None:
    parts = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts - {"__init__"} <= {part for row in LAYERS for part in row}


def test_imports_point_down_and_vendors_stay_with_their_owner() -> None:
    assert violations(SOURCE) == []


def test_templates_are_imported_by_nobody() -> None:
    assert not [pair for pair in imports(SOURCE) if pair[1].startswith("harness.templates")]


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("scoring/extra.py", "from harness.tracking.store import LocalStore"),
        ("references/extra.py", "def late():\n    from harness.pipeline import Pipeline"),
        ("references/extra.py", "from harness.formats import import_labels"),
        ("formats/extra.py", "from harness.grading.rules import read_rules"),
        ("scoring/extra.py", "import cv2"),
        ("scoring/extra.py", "from pathlib import Path"),
        ("evaluate_extra.py", "import mlflow"),
        ("config.py", "from harness import evaluate"),
    ],
)
def test_a_turned_arrow_is_found(tmp_path: Path, module: str, line: str) -> None:
    path = tmp_path / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(line)
    assert len(violations(tmp_path)) == 1
