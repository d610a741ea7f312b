"""Asking git, and nothing else that a repository names: no hook, pager, filter, helper or transport of it is run.

What it answers is bounded in size and in time, because a small tree may list billions of files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.texts import one_line

#: How long git may take for one answer, in seconds, and how long that may be, in bytes.
_PATIENCE, MOST_ANSWER = 300, 64 << 20
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
)
#: Git fetches an object that is not there, by a program that the repository may name: no way to fetch is allowed,
#: whatever its config says. Newer versions do not even try.
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def home_of(folder: Path) -> Path:
    """The folder with `.git` that is nearest to a folder: a repository may say that its files are in another one."""
    absolute = Path(os.path.realpath(folder))
    return next((place for place in (absolute, *absolute.parents) if (place / ".git").exists()), absolute)


def run_git(
    folder: Path,
    *words: str,
    given: bytes = b"",
    accepted: Sequence[int] = (0,),
    most: int = MOST_ANSWER,
    cut: bool = False,
) -> bytes:
    """What a command of git prints: at most so many bytes, beyond which it is `cut` off or an error."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
    command = ["git", "--no-pager", *settings, *words]
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as said:
        asked.write(given)
        asked.seek(0)
        try:
            process = subprocess.Popen(
                command, cwd=folder, stdin=asked, stdout=subprocess.PIPE, stderr=said, env=environment
            )
        except OSError as error:
            raise HarnessError(f"git cannot be started in {folder}: {error.strerror}") from error
        answer = _answer(process, most)
        if len(answer) > most:
            if cut:
                return answer[:most]
            raise HarnessError(
                f"git {words[0]}: answers with more than {most:,} bytes, which is too large to be judged"
            )
        if process.returncode not in accepted:
            said.seek(0)
            text = said.read(1 << 16).decode(errors="replace").strip()
            late = f"no end within {_PATIENCE} seconds" if process.returncode == -signal.SIGKILL else ""
            raise HarnessError(f"git {words[0]}: {late or one_line(text) or 'failed'}")
        return answer


def _answer(process: subprocess.Popen[bytes], most: int) -> bytes:
    """What a process prints, at most one byte more than it should. It is ended where it takes too long."""
    late = threading.Timer(_PATIENCE, process.kill)
    late.start()
    assert process.stdout is not None
    try:
        with process:
            answer = process.stdout.read(most + 1)
            if len(answer) > most:
                process.kill()
    finally:
        late.cancel()
    return answer
