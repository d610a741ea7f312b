"""Wheel and sdist, built from a clean checkout of the last commit and checked: python -m bench.release

Names, versions and metadata agree; each holds what it should and nothing else; the sdist makes the same wheel; and the
wheel is installed into a fresh environment, with the versions that are pinned, where the command and a run work.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from email import message_from_string
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
_BUILD = "import sys; from hatchling.build import build_{kind}; print(build_{kind}(sys.argv[1]))"
#: What never belongs into a release: what is made while working, and anything that could be a photo of somebody.
_STRAY = re.compile(
    r"(__pycache__|\.pyc$|\.db$|\.sqlite$|\.parquet$|\.log$|(^|/)(mlruns|\.venv|data/reference|outputs)/)"
)
_DATED = re.compile(r"^## (?P<version>\d+\.\d+\.\d+) \(\d{4}-\d{2}-\d{2}\)$", re.MULTILINE)
_MOST_BYTES = 20 * 1024 * 1024


class ReleaseError(Exception):
    """Something that keeps a release from being made."""


def main(arguments: list[str]) -> int:
    """Build, check, and say what is ready."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    parser.add_argument("--no-install", action="store_true", help="leave out the fresh environment")
    given = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory(prefix="harness-release-") as folder:
            wheel, sdist = build(ROOT, Path(folder))
            if not given.no_install:
                try_installed(wheel, Path(folder))
            shutil.rmtree(ROOT / "dist", ignore_errors=True)
            (ROOT / "dist").mkdir()
            for file in (wheel, sdist):
                shutil.copy(file, ROOT / "dist" / file.name)
                print(f"dist/{file.name}: {file.stat().st_size / 1e6:.1f} MB")
    except ReleaseError as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 1
    print("built and checked, but not installed" if given.no_install else "ready")
    return 0


def build(repository: Path, folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of a repository's last commit, checked."""
    if told := _run(["git", "status", "--porcelain", "--untracked-files=no"], repository).strip():
        raise ReleaseError(f"there are changes that are in no commit:\n{told}")
    checkout = folder / "checkout"
    _run(["git", "clone", "--quiet", "--no-local", "--depth", "1", f"file://{repository}", str(checkout)], folder)
    version = check_versions(checkout)
    wheel, sdist = (built(checkout, kind, folder / kind) for kind in ("wheel", "sdist"))
    check_wheel(wheel, checkout, version)
    check_sdist(sdist, version)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    again = built(folder / sdist.name.removesuffix(".tar.gz"), "wheel", folder / "again")
    if differing := set(contents(wheel).items()) ^ set(contents(again).items()):
        raise ReleaseError(f"the sdist makes another wheel: {_some(name for name, _ in differing)} differ")
    return wheel, sdist


def built(source: Path, kind: str, target: Path) -> Path:
    """Build one of the two from a folder, without fetching anything."""
    target.mkdir()
    return target / _run([sys.executable, "-c", _BUILD.format(kind=kind), str(target)], source).split()[-1]


def check_versions(checkout: Path) -> str:
    """The version, where everything that names it agrees."""
    version = str(tomllib.loads((checkout / "pyproject.toml").read_text())["project"]["version"])
    code = re.search(r'^__version__ = "(.*)"$', (checkout / "src/harness/__init__.py").read_text(), re.MULTILINE)
    newest = _DATED.search((checkout / "CHANGELOG.md").read_text())
    named = {"src/harness/__init__.py": code and code[1], "CHANGELOG.md": newest and newest["version"]}
    if wrong := [f"{file} has {told}" for file, told in named.items() if told != version]:
        raise ReleaseError(f"pyproject.toml has version {version}, but {', '.join(wrong)}")
    return version


def contents(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums; what says how it was built is left out."""
    with zipfile.ZipFile(wheel) as archive:
        return {each.filename: each.CRC for each in archive.infolist() if not each.filename.endswith("/RECORD")}


def check_wheel(wheel: Path, checkout: Path, version: str) -> None:
    """Whether a wheel has every module, config and experiment, nothing else, and says what it is."""
    names = set(contents(wheel))
    check_names(names, wheel)
    expected = {f"harness/{path}" for path in _below(checkout / "src" / "harness")}
    expected |= {f"harness/conf/{path}" for path in _below(checkout / "conf")}
    expected |= {f"harness/experiments/{path.name}" for path in (checkout / "experiments").glob("*.yaml")}
    packed = {name for name in names if ".dist-info/" not in name}
    if packed != expected:
        raise ReleaseError(f"{wheel.name}: missing {_some(expected - packed)}; not expected {_some(packed - expected)}")
    with zipfile.ZipFile(wheel) as archive:
        told = message_from_string(archive.read(f"mlflow_harness-{version}.dist-info/METADATA").decode())
    for field in ("Summary", "License-Expression", "Requires-Python", "Description-Content-Type"):
        if not told[field]:
            raise ReleaseError(f"{wheel.name}: its metadata have no {field}")
    if f"mlflow_harness-{version}.dist-info/licenses/LICENSE" not in names:
        raise ReleaseError(f"{wheel.name}: has no LICENSE")


def check_sdist(sdist: Path, version: str) -> None:
    """Whether an sdist has what the wheel is made of, the documentation and the licence."""
    with tarfile.open(sdist) as archive:
        names = {each.removeprefix(f"mlflow_harness-{version}/") for each in archive.getnames()}
    check_names(names, sdist)
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "docs/index.md", "src/harness/__init__.py"}
    if missing := needed - names:
        raise ReleaseError(f"{sdist.name}: missing {_some(missing)}")


def check_names(names: Iterable[str], archive: Path) -> None:
    """Refuse what is made while working, and an archive that is far larger than it should be."""
    if stray := [name for name in names if _STRAY.search(name)]:
        raise ReleaseError(f"{archive.name}: not to be released: {_some(stray)}")
    if archive.stat().st_size > _MOST_BYTES:
        raise ReleaseError(f"{archive.name}: {archive.stat().st_size} bytes; expected at most {_MOST_BYTES}")


def try_installed(wheel: Path, folder: Path) -> None:
    """Install the wheel alone into a fresh environment, and score predictions there."""
    uv, fresh, work = ROOT / ".venv" / "bin" / "uv", folder / "fresh", folder / "work"
    _run([sys.executable, "-m", "venv", "--without-pip", str(fresh)], folder)
    pins = ["--constraint", str(ROOT / "requirements" / "run.txt")]
    _run([str(uv), "pip", "install", "--quiet", "--python", str(fresh / "bin" / "python"), *pins, str(wheel)], folder)
    work.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(work), "HARNESS_CACHE": str(work / "cache")}
    harness = str(fresh / "bin" / "harness")
    if _run([harness, "--version"], work, environment).strip() != f"harness {wheel.name.split('-')[1]}":
        raise ReleaseError("the installed command names another version")
    _write_set(work)
    _run([harness, "import", "--format", "coco", "labels.json", "--photos", "."], work, environment)
    scored = [harness, "score", "predictions.jsonl", "references=staging", "references.split=full"]
    told = _run(scored, work, environment)
    if not re.search(r"recall +100\.0%", told):
        raise ReleaseError(f"a run that scores right predictions did not say so:\n{told}")


def _write_set(folder: Path) -> None:
    """Three grey photos with a bib each, as COCO, and predictions that are right."""
    images, boxes, lines = [], [], []
    for number in (1, 2, 3):
        Image.new("RGB", (200, 100), (60 * number,) * 3).save(folder / f"{number}.png")
        images.append({"id": number, "file_name": f"{number}.png", "width": 200, "height": 100})
        bib = {"id": number, "image_id": number, "category_id": 1, "bbox": [50, 25, 60, 40]}
        boxes.append({**bib, "attributes": {"number": f"41{number}"}})
        box = {"x": 0.25, "y": 0.25, "w": 0.3, "h": 0.4, "number": f"41{number}", "score": 0.9}
        lines.append(json.dumps({"photo": f"{number}.png", "bibs": [box]}))
    coco = {"images": images, "annotations": boxes, "categories": [{"id": 1, "name": "bib"}]}
    (folder / "labels.json").write_text(json.dumps(coco))
    (folder / "predictions.jsonl").write_text("\n".join(lines))


def _below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _some(names: Iterable[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return f"{', '.join(listed[:5])}{more}" if listed else "nothing"


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command[:4])} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
