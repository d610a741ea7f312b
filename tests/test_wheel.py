"""The wheel carries everything: the configs, the data of the sample set, and the command."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from harness.config import conf_dir

ROOT = Path(__file__).parents[1]


def test_a_wheel_runs_without_the_checkout(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
        names = set(archive.namelist())
    assert {f"harness/conf/{path.relative_to(conf_dir())}" for path in conf_dir().rglob("*.yaml")} <= names
    assert any(name.endswith("entry_points.txt") for name in names)
    # -S and -P keep the editable install of the checkout out; the packages it needs come from this environment.
    packages = next(path for path in sys.path if path.endswith("site-packages"))
    path = f"import sys; sys.path[:0] = [{str(installed)!r}, {packages!r}]"
    code = "import harness; print(harness.__file__); from harness.__main__ import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-S", "-P", "-c", f"{path}; {code}"]
    shown = subprocess.run([*command, "--cfg", "job", "preset=best"], cwd=tmp_path, capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert str(installed) in shown.stdout
    assert "preset: best" in shown.stdout
    refused = subprocess.run([*command, "preset=nope"], cwd=tmp_path, capture_output=True, text=True)
    assert "balanced, best, fast" in refused.stderr
