"""What a plain install can do, and what it says of the rest: one sentence that names the extra, and exit code 2."""

from __future__ import annotations

import ast
import importlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import harness as package
from harness.base.errors import MissingPackageError
from harness.base.extras import DISTRIBUTION, EXTRAS, load_all, need
from harness.cli import COMMANDS
from tests.conftest import ROOT, Harness, Told

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
#: Modules whose distribution has another name.
DISTRIBUTIONS = {
    "PIL": "pillow",
    "camelot": "camelot-py",
    "cv2": "opencv-python-headless",
    "hydra": "hydra-core",
    "hydra_plugins.hydra_ray_launcher": "hydra-ray-launcher",
    "hydra_plugins.hydra_submitit_launcher": "hydra-submitit-launcher",
    "psycopg2": "psycopg2-binary",
    "yaml": "pyyaml",
}
#: Modules that always come with a package that is declared: MLflow, FastAPI, and the launcher of joblib.
BROUGHT = {"alembic", "joblib", "sqlalchemy", "starlette"}
#: Only `harness.testing` and the tests that `harness new` writes import it: whoever runs tests has it.
FOR_TESTS = {"pytest"}

#: Runs commands in an interpreter that cannot find some modules, as if they were not installed.
WITHOUT = """
import contextlib, io, json, sys
from importlib.machinery import PathFinder

blocked, commands = json.loads(sys.argv[1])
real = PathFinder.find_spec

def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in blocked else real(name, path, target)

PathFinder.find_spec = find_spec
from harness.__main__ import run

answers = []
for command in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = run(command)
        except SystemExit as end:
            code = end.code
    answers.append([code, out.getvalue(), err.getvalue()])
print(json.dumps(answers))
"""

#: Writes the report of a run on photos, with its pictures.
REPORT = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path

real = PathFinder.find_spec
PathFinder.find_spec = lambda name, path=None, target=None: (
    None if name.partition(".")[0] in sys.argv[2].split(",") else real(name, path, target)
)
from tests.report.reports import NOTHING, RIGHT, evaluation_of, report_of

report_of(evaluation_of([NOTHING, RIGHT]), evaluation_of([RIGHT, RIGHT])).page(Path(sys.argv[1]))
"""


def modules(*extras: str) -> list[str]:
    return [module for extra in extras for module in EXTRAS[extra]]


def without(blocked: Sequence[str], commands: Sequence[Sequence[str]], folder: Path) -> list[Told]:
    """How commands end in a folder where these modules are not installed."""
    environment = {**os.environ, "HARNESS_CACHE": str(folder / "cache")}
    given = json.dumps([blocked, commands])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, given], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return [Told(*answer) for answer in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.slow
def test_a_plain_install_does_what_it_can_and_names_the_extra_for_the_rest(
    tmp_path: Path, tiny_set: Path, empty_store: Path
) -> None:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    here = f"references.root={tiny_set}"
    staging = ("references=staging", here, "preset=fast")
    works: list[tuple[str, ...]] = [
        *((command.NAME, "--help") for command in COMMANDS),
        ("--help",),
        ("--cfg", "job"),
        ("references=off", "confidence=sample"),
        ("baseline",),
        ("list",),
        ("stats", here),
        ("scan", here),
        ("freeze", "--name", "v1", here),
        ("frozen-list", here),
        ("export", "--format", "coco", "out", here),
        ("cache", "stats"),
    ]
    refused: Mapping[tuple[str, ...], str] = {
        (): "or references=frozen; references=sample needs packages that are not installed (cv2, openpeople)|pipeline",
        staging: "bib=rapidocr and face=yunet and identity need packages that are not installed (rapidocr, |pipeline",
        ("prepare", str(tiny_set / "photos"), "references.root=new"): "(rapidocr, onnxruntime, cv2)|pipeline",
        ("references=off", "tables=sample"): "tables needs packages that are not installed (pypdfium2, |tables",
        ("search", "link_geometry"): "search needs packages that are not installed (optuna)|search",
        ("search", "status", "link_geometry"): "search needs packages that are not installed (optuna)|search",
        ("mcp",): "mcp needs packages that are not installed (mcp, optuna)|search",
    }
    # MLflow itself needs FastAPI and uvicorn, so that a plain install has them.
    plain = modules(*(extra for extra in EXTRAS if extra != "ui"))
    sweep = ("-m", "preset=fast,best", "references=staging", here)
    *answers, swept = without(plain, [*works, *refused, sweep], tmp_path)
    for command, told in zip(works, answers, strict=False):
        assert told.code == 0, (command, told.err)
    for (command, words), told in zip(refused.items(), answers[len(works) :], strict=True):
        sentence, extra = words.split("|")
        assert told.code == 2, (command, told)
        assert sentence in told.err
        assert told.err.endswith(f"; install them with: pip install 'mlflow-harness[{extra}]'\n")
        assert told.err.count("harness: ") == 1, told.err
        assert "Traceback" not in told.err
    assert not (tmp_path / "new").exists(), "prepare refuses before it copies anything"
    assert swept.code == 2
    assert swept.err.count("pip install 'mlflow-harness[pipeline]'") == 2, "each job of a sweep says so"
    assert "Traceback" not in swept.err


def test_the_labelling_pages_say_what_they_need(tmp_path: Path, tiny_set: Path) -> None:
    (told,) = without(["uvicorn"], [("ui", f"references.root={tiny_set}", "--no-browser")], tmp_path)
    assert told.code == 2
    sentence = "ui needs packages that are not installed (uvicorn); install them with: pip install 'mlflow-harness[ui]'"
    assert told.err == f"harness: {sentence}\n"


def test_scoring_and_its_pictures_need_no_extra(tmp_path: Path) -> None:
    blocked = ",".join(modules(*(extra for extra in EXTRAS if extra != "ui")))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    subprocess.run([sys.executable, "-c", REPORT, str(tmp_path), blocked], env=environment, check=True)
    assert {"report.html", "worst_1.jpg", "images"} <= {path.name for path in tmp_path.iterdir()}


def test_what_is_missing_is_named_with_each_extra_that_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.base.extras.find_spec", lambda name: None if name != "cv2" else find_spec("json"))
    words = r"x needs .* \(optuna, rapidocr\); .*'mlflow-harness\[pipeline,search\]'"
    with pytest.raises(MissingPackageError, match=words):
        need("x", "optuna", "cv2", "rapidocr")
    need("x", "cv2")


def test_what_several_lack_is_one_sentence_and_one_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.base.extras.find_spec", lambda _: None)
    loads = (lambda: need("bib=a", "cv2", "rapidocr")), (lambda: need("face=b", "insightface", "cv2"))
    words = (
        r"^bib=a and face=b need packages .* \(cv2, rapidocr, insightface\); .*'mlflow-harness\[insightface,pipeline\]'"
    )
    with pytest.raises(MissingPackageError, match=words) as caught:
        load_all(*loads)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value), (
        "jobs of a sweep tell it to another process"
    )


def test_a_module_that_comes_with_no_extra_cannot_be_asked_for() -> None:
    with pytest.raises(KeyError, match="nonsense"):
        need("x", "nonsense")


def test_a_module_that_is_somebodys_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, harness: Harness) -> None:
    """A misspelt import, also of a package that an extra has, is no missing extra."""

    def misspelt(*_: object) -> None:
        importlib.import_module("optuna.smaplers")

    monkeypatch.setattr("harness.cli.stats.run", misspelt)
    with pytest.raises(ModuleNotFoundError, match=r"optuna\.smaplers"):
        harness("stats")


def test_the_table_of_extras_is_that_of_the_project() -> None:
    declared = {
        extra: {one.name for line in lines if (one := Requirement(line)).name != DISTRIBUTION}
        for extra, lines in PROJECT["optional-dependencies"].items()
    }
    assert {extra: {distribution(module) for module in modules(extra)} for extra in EXTRAS} == {
        extra: names for extra, names in declared.items() if extra in EXTRAS
    }
    assert declared.keys() - EXTRAS.keys() == {"all", "checkout", "test"}


def test_all_is_what_anybody_may_use_for_anything() -> None:
    (line,) = PROJECT["optional-dependencies"]["all"]
    assert Requirement(line).extras == {"pipeline", "search", "tables", "ui"}


def test_the_project_and_the_code_agree_on_name_and_version() -> None:
    assert (PROJECT["name"], PROJECT["version"]) == (DISTRIBUTION, package.__version__)


def test_every_package_that_is_imported_is_declared() -> None:
    plain = {Requirement(line).name for line in PROJECT["dependencies"]}
    declared = plain | {distribution(module) for extra in EXTRAS for module in modules(extra)}
    used = {name for path in Path(package.__file__).parent.rglob("*.py") for name in imported(path)}
    outside = used - sys.stdlib_module_names - BROUGHT - FOR_TESTS - {"harness"}
    assert {distribution(module) for module in outside} <= declared


def distribution(module: str) -> str:
    return DISTRIBUTIONS.get(module, module.replace("_", "-"))


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
