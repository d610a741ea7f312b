"""The wheel carries everything: the configs, the experiments, the data of the sample set, and the command."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

import harness
from harness.base.conf import conf_dir
from harness.base.extras import DISTRIBUTION, EXTRAS
from harness.cli.new import TEMPLATES

ROOT = Path(__file__).parents[1]


#: What happens to lie in a checkout beside what is shipped: the ledger of a study that somebody has begun.
BEGUN = "link_geometry/proposed_preset.yaml"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what a wheel installs, built from a copy of the checkout without any network."""
    source, built = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "conf", "experiments"):
        shutil.copytree(ROOT / folder, source / folder, ignore=ignored)
    for file in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / file, source / file)
    (source / "experiments" / BEGUN).parent.mkdir(exist_ok=True)
    (source / "experiments" / BEGUN).write_text("mine")
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(built)], cwd=source, check=True, capture_output=True)
    (wheel,) = built.glob("*.whl")
    assert wheel.name.startswith("mlflow_harness-")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(built / "installed")
    return built / "installed"


def run_installed(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`harness ...` from the wheel, in a folder."""
    # -S and -P keep the editable install of the checkout out; the packages it needs come from this environment.
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    path = f"import sys; sys.path[:0] = [{str(installed)!r}, {packages!r}]"
    code = "import harness; print(harness.__file__); from harness.__main__ import run; sys.exit(run(sys.argv[1:]))"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-S", "-P", "-c", f"{path}; {code}", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert str(installed) in done.stdout
    return done


def test_a_wheel_has_every_file_that_is_shipped_and_none_that_is_not(installed: Path) -> None:
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert {f"harness/conf/{path.relative_to(conf_dir())}" for path in conf_dir().rglob("*.yaml")} <= names
    assert {f"harness/experiments/{path.name}" for path in (ROOT / "experiments").glob("*.yaml")} <= names
    assert {f"harness/{path.relative_to(TEMPLATES.parent)}" for path in TEMPLATES.glob("*/*.*")} <= names
    assert "harness/py.typed" in names
    assert not [name for name in names if BEGUN in name]
    assert {name.partition("/")[0] for name in names} == {"harness", f"mlflow_harness-{harness.__version__}.dist-info"}


def test_its_metadata_has_every_extra_and_a_readme(installed: Path) -> None:
    (metadata,) = installed.glob("*.dist-info/METADATA")
    told = message_from_string(metadata.read_text())
    assert told["Name"] == DISTRIBUTION
    assert set(EXTRAS) | {"all"} <= set(told.get_all("Provides-Extra", []))
    assert told["Description-Content-Type"] == "text/markdown"
    assert told.get_payload() == (ROOT / "README.md").read_text()
    (commands,) = installed.glob("*.dist-info/entry_points.txt")
    assert "harness = harness.__main__:main" in commands.read_text()


def test_a_wheel_runs_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    shown = run_installed(installed, tmp_path, "--cfg", "job", "preset=best")
    assert shown.returncode == 0, shown.stderr
    assert "preset: best" in shown.stdout
    refused = run_installed(installed, tmp_path, "preset=nope")
    assert "balanced, best, fast" in refused.stderr
    helped = run_installed(installed, tmp_path, "--help")
    assert (helped.returncode, "preset       balanced, best, fast" in helped.stdout) == (0, True)


def test_a_shipped_experiment_is_found_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    described = run_installed(installed, tmp_path, "search", "describe", "link_geometry")
    assert described.returncode == 0, described.stderr
    assert "link.max_drop" in described.stdout
    assert list(tmp_path.iterdir()) == [], "only looking at it writes nothing"
