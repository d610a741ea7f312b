"""`harness new ci`: the lines of the workflow are run as they stand, in a repository with an origin and no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from PIL import Image

import harness as package
from harness.report.broken_pictures import write_broken
from harness.tracking.finding import find_run
from harness.tracking.store import LocalStore
from harness.tracking.upkeep import pin
from tests.conftest import Harness
from tests.exploring.scored import right

#: Instead of a photo pipeline: numbers of a file of which a part of the repository says how they are read.
SETTINGS = "references=off task=gate_task"
GH = '#!/bin/sh\nwhile [ "$1" != --body-file ]; do shift; done\ncp "$2" "$COMMENTED"\n'


def git(folder: Path, *arguments: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@dataclass
class Pull:
    """A repository with the workflow, and what GitHub would tell its steps."""

    repository: Path
    base: str

    def run(self) -> tuple[dict[str, subprocess.CompletedProcess[str]], str]:
        """Run every step that has shell lines, but for the installation, up to the first that fails; returns what
        became of them, and the comment."""
        workflow = yaml.safe_load((self.repository / ".github" / "workflows" / "gate.yml").read_text())
        temporary, done = self.repository.parent, dict[str, subprocess.CompletedProcess[str]]()
        known = {
            "github.workspace": str(self.repository),
            "github.event.pull_request.base.sha": self.base,
            "github.event.pull_request.number": "7",
            "github.server_url": "https://forge.example",
            "github.repository": "team/race",
            "github.run_id": "42",
            "github.token": "",
            "runner.os": "Linux",
            "github.sha": "x",
        }
        (temporary / "bin").mkdir()
        (temporary / "bin" / "gh").write_text(GH)
        (temporary / "bin" / "gh").chmod(0o755)
        environment = {
            **os.environ,
            "PATH": f"{temporary / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(temporary),
            "GITHUB_OUTPUT": str(temporary / "output"),
            "GITHUB_STEP_SUMMARY": str(temporary / "summary.md"),
            "COMMENTED": str(temporary / "commented.md"),
            **filled(workflow["env"], known),
            "SETTINGS": SETTINGS,
            "HARNESS_CACHE": str(temporary / "cache"),
        }
        for step in workflow["jobs"]["gate"]["steps"]:
            if "run" not in step or step["name"] == "Install":
                continue
            given = {**environment, **filled(step.get("env", {}), known)}
            command = ["bash", "-eo", "pipefail", "-c", step["run"]]
            ended = subprocess.run(command, cwd=self.repository, env=given, capture_output=True, text=True)
            done[step["name"]] = ended
            if ended.returncode:
                break
            for line in (temporary / "output").read_text().splitlines() if (temporary / "output").exists() else []:
                name, _, value = line.partition("=")
                known[f"steps.{step.get('id', 'gate')}.outputs.{name}"] = value
        comment = temporary / "commented.md"
        return done, comment.read_text() if comment.exists() else ""


def filled(values: dict[str, Any], known: dict[str, str]) -> dict[str, str]:
    """Values with the expressions of GitHub in them; one that is not known fails."""
    return {
        name: re.sub(r"\$\{\{ (.*?) \}\}", lambda found: known[found[1]], str(value)) for name, value in values.items()
    }


@pytest.fixture
def pull(harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pull:
    repository = tmp_path / "repository"
    repository.mkdir()
    monkeypatch.chdir(repository)
    told = harness("new", "ci", "gate")
    assert (told.code, told.out.splitlines()[0]) == (0, "wrote .github/workflows/gate.yml"), told.err
    assert harness("new", "task", "gate_task").code == 0
    rows = "\n".join(f"n{number},{number},{number}" for number in range(60))
    (repository / "gate_task.csv").write_text(f"id,expected,predicted\n{rows}\n")
    git(tmp_path, "init", "-q", "--bare", "origin.git")
    git(repository, "init", "-q")
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "base")
    return Pull(repository, git(repository, "rev-parse", "HEAD"))


@pytest.mark.slow
def test_a_change_that_is_worse_fails_at_the_gate_and_is_told(pull: Pull) -> None:
    module = pull.repository / "gate_task.py"
    changed = module.read_text().replace('row["predicted"] == row["expected"]', 'row["id"] > "n4"')
    assert changed != module.read_text()
    module.write_text(changed)
    git(pull.repository, "commit", "-qam", "worse")
    steps, comment = pull.run()
    assert {name: done.returncode for name, done in steps.items() if done.returncode} == {"The gate": 1}, steps
    assert list(steps)[-2:] == ["Post the comment", "The gate"]
    assert "REGRESSED" in comment
    assert comment == (pull.repository.parent / "summary.md").read_text()
    assert "<html" in (pull.repository / "report.html").read_text()


@pytest.mark.slow
def test_a_change_that_changes_nothing_passes(pull: Pull, harness: Harness) -> None:
    """What the steps call, in one process: the change is made anew, and not found again as the baseline itself."""
    store = f"tracking.root={pull.repository / 'runs'}"
    settings = (*SETTINGS.split(), store)
    assert harness(*settings).code == 0
    assert harness("baseline", "latest", "-f", store).code == 0
    change = harness(*settings, "gate=strict", "force=true")
    assert change.code == 0, change.err
    compared = harness("compare", "latest", "--markdown", store)
    assert (compared.code, "NO WORSE" in compared.out) == (0, True), compared.out


def test_pictures_of_newly_broken_photos_are_shown_at_their_address(
    tiny_set: Path, tmp_path: Path, harness: Harness
) -> None:
    where = ("references=staging", f"references.root={tiny_set}", f"tracking.root={tmp_path / 'mlruns'}")
    photos = package.load_references(*where[:2]).photos
    from harness.references.sets import load_set

    good = [right(photo) for photo in load_set(tiny_set, "staging", "iteration").photos]
    assert len(good) == len(photos)
    store = LocalStore(str(tmp_path / "mlruns"), "harness").open()
    pin(store, find_run(store, package.score(good, *where, "report.make=off").id))
    bad = [{**prediction, "faces": [], "links": []} for prediction in good]
    package.score(bad, *where, "report.make=on")
    told = harness("report", "latest", "--pictures", "shown", "--address", "https://x/{name}?raw=true", where[-1])
    assert told.code == 0, told.err
    files = sorted(path.name for path in Path("shown").iterdir())
    assert len(files) == 2 * len(photos)
    assert f"**{len(photos)} newly broken photos in pictures**" in told.out
    for name in files:
        assert f"](https://x/{name}?raw=true)" in told.out
        assert Image.open(Path("shown") / name).format == "JPEG"
    assert (Path("shown") / "1-baseline.jpg").read_bytes() != (Path("shown") / "1-run.jpg").read_bytes()


def test_a_name_in_a_picture_breaks_no_markdown_and_other_sections_are_left_out(tmp_path: Path) -> None:
    image = '<img src="data:image/jpeg;base64,AAAA" alt="{}">'
    one = image.format("baseline on a](http://evil) | b") + image.format("run")
    report = f"<h3>Newly broken: 1 photo</h3>{one}<h3>Newly fixed: 1 photo</h3>{one}"
    told = write_broken(report, tmp_path / "x", "{name}")
    assert told.count("![") == 2
    assert "![baseline on a (http://evil) b](1-baseline.jpg)" in told
    assert write_broken("<h3>Newly broken: 0 photos</h3><p>None.</p>", tmp_path / "y", "{name}") == ""
    assert not (tmp_path / "y").exists()


def test_a_workflow_that_is_there_is_left_alone_and_a_bad_name_refused(harness: Harness, tmp_path: Path) -> None:
    assert harness("new", "ci", "gate").code == 0
    again = harness("new", "ci", "gate")
    assert (again.code, "exists already, and is left as it is" in again.err) == (1, True)
    assert "expected a name of letters" in harness("new", "ci", "../x").err
