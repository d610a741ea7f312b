"""What is printed for mistakes that people make at the command line: `tests/data/mistakes.txt`, to be read by people.

`python -m tests.test_mistakes` writes the file anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import socket
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest

import harness
from harness.__main__ import run

#: Files that are not what somebody takes them for.
FILES = {"notes.txt": "hello\n", "broken.json": "{", "team.yaml": "ui:\n  prt: 8600\n"}
#: A store of an MLflow that is newer than the one installed.
NEWER = "CREATE TABLE alembic_version (version_num TEXT); INSERT INTO alembic_version VALUES ('ffffffffffff')"
GOLDEN = Path(__file__).parent / "data" / "mistakes.txt"
#: Each is typed in a folder with an empty folder of photos, two frozen sets in another one, and FILES. PORT is in use.
TYPED = (
    "--version",
    "basline",
    "lst",
    "mlfow",
    "run",
    "help compare",
    "version",
    "--verison",
    "--list",
    "preset=fast -v",
    "--preset fast",
    "preset = fast",
    "preset:fast",
    "PRESET=fast",
    "=fast",
    "preset=fast,best",
    "note=my note",
    "photos",
    "./photos",
    "./phots",
    "fast",
    "preset=fast compre latest",
    "tracking.root=nowhere list",
    "list",
    "compare",
    "compare latest",
    "compare a b c",
    "compare --markdwon",
    "report nobody",
    "baseline --lst",
    "preset=fats",
    "preset",
    "prset=fast",
    "face=yunnet",
    "bib.long_sid=1600",
    "threshold=0.9",
    "references=frozen name=club_v1",
    "bib.long_side=large",
    "face.threshold=high",
    "face.threshold=0,92",
    "face.threshold=2",
    "seed=abc",
    "references.split=holdut",
    "tracking.uri=http://localhost:5000",
    "tracking=server tracking.uri=localhost:5000",
    "references=stagging",
    "references=frozen",
    "references=frozen references.root=shared",
    "references=frozen references.root=shared references.name=club_v2",
    "references=staging",
    "references=off",
    "scoring.bib_iou=2",
    "-m preset=fast,bst",
    "gate=sctrict",
    "import photos",
    "import --format coco broken.json",
    "import --format xml .",
    "export --format coco",
    "freeze",
    "freeze --name a/b",
    "prepare",
    "prepare nowhere",
    "prepare photos --preset fast",
    "prepare photos",
    "prepare notes.txt",
    "start",
    "start nowhere",
    "start notes.txt",
    "start photos references=frozen",
    "score",
    "score nowhere.jsonl",
    "ui --prot 8700",
    "ui --port PORT references=staging references.root=photos",
    "mlflow --port PORT tracking.root=newer",
    "serve --port PORT",
    "serve team.yaml",
    "serve nowhere.yaml",
    "ui --port abc",
    "ui --host",
    "find",
    "find --number",
    "search",
    "search nothing",
    "search brib_reading",
    "cache",
    "list --limit x",
    "list --limit -3",
    "list -n",
    "--cfg jobs",
    "frozen_list",
    "list tracking.root=newer",
    "new detector mine",
    "log",
    "forget",
    "clean --older",
)


def told(typed: str) -> str:
    """What is printed, and the exit code."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = run(shlex.split(typed))
        except SystemExit as error:
            code = int(error.code or 0)
    printed = out.getvalue().replace(str(Path.cwd()), "FOLDER").replace(harness.__version__, "VERSION").strip()
    lines = "\n".join(f"    {line}".rstrip() for line in printed.splitlines())
    return f"$ harness {typed}\n{lines}\n    exit code {code}\n"


def all_told() -> str:
    """The whole file."""
    for folder in ("photos", "shared/frozen/club_v1", "shared/frozen/races_v1", "newer"):
        Path(folder).mkdir(parents=True)
    for name, content in FILES.items():
        Path(name).write_text(content)
    with contextlib.closing(sqlite3.connect("newer/mlflow.db")) as database:
        database.executescript(NEWER)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        return "\n".join(told(typed.replace("PORT", port)).replace(port, "PORT") for typed in TYPED)


def test_every_mistake_is_answered_by_what_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_CACHE", "cache")
    assert all_told() == GOLDEN.read_text()
    assert not (tmp_path / "mlruns" / "mlflow.db").exists(), "a mistake makes no store"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["HARNESS_CACHE"] = "cache"
        sys.stdout.flush()
        GOLDEN.write_text(all_told())
