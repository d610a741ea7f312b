"""What is printed for mistakes that people make at the command line: `tests/data/mistakes.txt`, to be read by people.

`python -m tests.test_mistakes` writes the file anew.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import tempfile
from pathlib import Path

import pytest

from harness.__main__ import run

GOLDEN = Path(__file__).parent / "data" / "mistakes.txt"
#: Each is typed in an empty folder.
TYPED = (
    "--version",
    "basline",
    "lst",
    "mlfow",
    "run",
    "fast",
    "preset=fast compre latest",
    "tracking.root=nowhere list",
    "list",
    "compare",
    "compare latest",
    "compare a b c",
    "report nobody",
    "baseline --lst",
    "preset=fats",
    "preset",
    "prset=fast",
    "face=yunnet",
    "bib.long_sid=1600",
    "bib.long_side=large",
    "face.threshold=high",
    "references=stagging",
    "references=frozen",
    "references=staging",
    "references=off",
    "scoring.bib_iou=2",
    "-m preset=fast,bst",
    "gate=sctrict",
    "import photos",
    "import --format xml .",
    "export --format coco",
    "freeze",
    "freeze --name a/b",
    "prepare",
    "prepare nowhere",
    "score",
    "score nowhere.jsonl",
    "ui --prot 8700",
    "ui --port abc",
    "ui --host",
    "find",
    "find --number",
    "search",
    "search nothing",
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
    printed = out.getvalue().replace(str(Path.cwd()), "FOLDER").strip()
    lines = "\n".join(f"    {line}".rstrip() for line in printed.splitlines())
    return f"$ harness {typed}\n{lines}\n    exit code {code}\n"


def all_told() -> str:
    """The whole file."""
    return "\n".join(told(typed) for typed in TYPED)


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
