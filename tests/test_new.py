"""`harness new`: what it writes works as it is, and it never touches what is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.new import KINDS, TEMPLATES
from harness.formats import _formats
from harness.testing import draw_runners, write_photo
from tests.conftest import ROOT, Harness

NAMES = {kind: f"our_{kind}" for kind in KINDS}


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_it_writes_a_module_its_yaml_and_a_test_and_says_what_to_do_next(harness: Harness, tmp_path: Path) -> None:
    done = harness("new", "face", "our_faces")
    assert done.code == 0, done.err
    assert written(tmp_path) == {"our_faces.py", "conf/face/our_faces.yaml", "test_our_faces.py"}
    assert "class OurFaces:" in (tmp_path / "our_faces.py").read_text()
    assert "_target_: our_faces.OurFaces\n" in (tmp_path / "conf" / "face" / "our_faces.yaml").read_text()
    for line in ("wrote conf/face/our_faces.yaml", "  harness face=our_faces", "  python -m pytest test_our_faces.py"):
        assert line in done.out.splitlines()


def test_of_every_kind_the_contract_test_passes_untouched(harness: Harness, tmp_path: Path) -> None:
    """From another folder, so that nothing depends on where pytest is started."""
    for kind, name in NAMES.items():
        assert harness("new", kind, name).code == 0
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tests = [f"../test_{name}.py" for name in NAMES.values()]
    done = run_python(elsewhere, "pytest", "-q", "-rA", "-p", "no:cacheprovider", *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in NAMES.values():
        assert f"test_{name}.py" in done.stdout
    assert not {word for word in ("skipped", "xfailed", "warnings") if word in done.stdout.splitlines()[-1]}


@pytest.mark.slow
def test_what_is_written_is_what_the_commands_use(harness: Harness, tmp_path: Path, empty_store: Path) -> None:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    for kind, name in NAMES.items():
        assert harness("new", kind, name).code == 0
    lines = ["photo,x,y,w,h,number"]
    for seed in range(4):
        scene = draw_runners(["417"], seed=seed)
        write_photo(tmp_path / f"{seed}.png", scene)
        (bib,) = scene.labels.bibs or ()
        x, y, w, h = bib.xywh
        lines.append(f"{seed}.png,{x * 320},{y * 480},{w * 320},{h * 480},417")
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    _formats.cache_clear()  # a new process, as every command is, has nothing to forget
    imported = harness("import", "--format", NAMES["format"], "labels.csv")
    assert "Imported 4 photos, 4 bibs" in imported.out, imported.err
    chosen = [f"{stage}={NAMES[stage]}" for stage in ("bib", "face", "link", "identity")]
    on = ("references=staging", "references.split=full", f"scoring={NAMES['scorecard']}")
    run = harness(*on, *chosen, f"task={NAMES['task']}")
    assert run.code == 0, run.err
    assert "4 photos of staging (full) and " in run.out
    assert " and 6 numbers of our_task" in run.out
    assert "  F1                  100.0%" in run.out, run.out  # of bib detection: every plate is found
    assert "Faces found, by company" in run.out
    assert "  accuracy             66.7%" in run.out


def test_the_command_that_a_new_format_suggests_works_as_it_stands(harness: Harness, tmp_path: Path) -> None:
    told = harness("new", "format", "our_labels").out
    (command,) = [line.split() for line in told.splitlines() if "harness import" in line]
    assert {"our_labels.csv", "our_labels.jpg"} <= written(tmp_path)
    _formats.cache_clear()  # a new process, as every command is, has nothing to forget
    imported = harness(*command[1:])
    assert imported.code == 0, imported.err
    assert "Imported 1 photo, 1 bib" in imported.out


def test_what_is_written_is_formatted_and_clean(harness: Harness, tmp_path: Path) -> None:
    for kind, name in NAMES.items():
        assert harness("new", kind, name).code == 0
    # Where imports belong depends on the folder: in the user's, the harness is a package like others.
    settings = ("--config", str(ROOT / "pyproject.toml"), "--no-cache", ".")
    for command in (("check", "--ignore", "D1,I"), ("format", "--check")):
        done = run_python(tmp_path, "ruff", *command, *settings)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_of_the_templates_own_names_is_left(kind: str, harness: Harness, tmp_path: Path) -> None:
    harness("new", kind, "x_1")
    assert len(written(tmp_path)) == len([path for path in (TEMPLATES / kind).iterdir() if path.is_file()])
    for name in written(tmp_path):
        text = (tmp_path / name).read_bytes().decode(errors="replace")
        for own in (KINDS[kind].example, KINDS[kind].example.title().replace("_", "")):
            assert own not in text


@pytest.mark.parametrize("taken", ["our_faces.py", "conf/face/our_faces.yaml", "test_our_faces.py"])
def test_a_file_that_is_there_is_named_and_nothing_is_written(taken: str, harness: Harness, tmp_path: Path) -> None:
    (tmp_path / taken).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / taken).write_text("mine")
    done = harness("new", "face", "our_faces")
    assert done.code == 1
    assert done.err == f"harness: {taken}: exists already, and is left as it is; nothing was written\n"
    assert written(tmp_path) == {taken}
    assert (tmp_path / taken).read_text() == "mine"


def test_where_one_file_cannot_be_written_none_is(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "face").write_text("a file, not a folder")
    done = harness("new", "face", "our_faces")
    assert done.code == 1
    assert "conf/face/our_faces.yaml: cannot be written" in done.err
    assert written(tmp_path) == {"conf/face"}


def test_a_write_that_fails_half_way_takes_new_folders_along(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Path.open

    def full(self: Path, *arguments: object, **more: object) -> object:
        if self.is_relative_to(tmp_path) and self.name.startswith("test_"):
            raise OSError(28, "No space left on device")
        return real(self, *arguments, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", full)
    done = harness("new", "link", "our_links")
    assert done.code == 1
    assert "test_our_links.py: cannot be written: No space left on device; nothing was written" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("face", "my-faces", "my-faces: not a name that Python can import; expected letters, digits and _"),
        ("face", "class", "class: not a name that Python can import"),
        ("face", "1st", "1st: not a name that Python can import"),
        ("face", "gesichter_ä", "not a name that Python can import"),
        ("face", "_x", "_x: not a name that Python can import"),
        ("face", "null", "null: not a name that Python can import"),
        ("face", "../x", "../x: not a name that Python can import"),
        ("face", "json", "json: there is a Python module of this name, which yours would hide"),
        ("face", "numpy", "numpy: there is a Python module of this name"),
        ("face", "harness", "harness: there is a Python module of this name"),
        ("link", "test_x", "test_x: pytest would take it for a test; choose a name that does not begin with test_"),
        ("face", "yunet", "yunet: there is a face of this name already; choose one other than scrfd, yunet"),
        ("link", "geometric", "geometric: there is a link of this name already"),
        ("format", "coco", "coco: there is a format of this name already"),
        ("scorecard", "standard", "standard: there is a scorecard of this name already"),
        ("scorecard", "face", "face: there is a scorecard of this name already"),
        ("task", "tables", "tables: there is a task of this name already"),
        ("face", "face_box", "face_box: its class would be FaceBox, a name that the code uses"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_in_a_sentence(
    kind: str, name: str, told: str, harness: Harness, tmp_path: Path
) -> None:
    done = harness("new", kind, name)
    assert done.code == 2
    assert told in done.err
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_is_refused_with_those_that_exist(harness: Harness) -> None:
    told = harness("new", "nose", "our_noses")
    assert told.code == 2
    assert "KIND nose: expected one of bib, face, link, identity, scorecard, format, task, ci" in told.err


def test_a_named_conf_folder_gets_the_files_and_the_test_knows_its_name(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "project" / "settings"
    settings.mkdir(parents=True)
    monkeypatch.setenv("HARNESS_CONF", str(settings))
    done = harness("new", "link", "our_links")
    assert done.code == 0, done.err
    assert written(tmp_path) == {
        "project/our_links.py",
        "project/settings/link/our_links.yaml",
        "project/test_our_links.py",
    }
    assert 'Path(__file__).parent / "settings"' in (tmp_path / "project" / "test_our_links.py").read_text()
    assert "cd project && harness link=our_links" in done.out


def test_the_harness_own_folder_is_left_alone(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = harness("new", "face", "our_faces")
    assert done.code == 2
    assert "this is the harness's own" in done.err
    assert not (ROOT / "our_faces.py").exists()
