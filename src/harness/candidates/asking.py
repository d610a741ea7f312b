"""Asking the second process: with our interpreter and our harness, and with nothing of the candidate or of the caller's
folder on its path."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

import harness
from harness.base.conf import VARIABLE
from harness.base.errors import ConfigError, HarnessError
from harness.base.scratch import scratch
from harness.base.texts import one_line
from harness.candidates.scorer import BASE_IS_SCORED, Question, Scored

#: How long scoring may take, in seconds: what a candidate wrote may be meant to be slow.
_MOST_SECONDS = 900
#: What of the caller's environment the scorer is given: where its caches and its stores are.
_KEPT = re.compile(r"HOME|PATH|LANG|TMPDIR|(HARNESS|MLFLOW|AWS)_.*")
_START = "import sys; sys.path.insert(0, {place!r}); from harness.candidates.scorer import main; main()"


@dataclass(frozen=True)
class Setting:
    """What candidates see, and must not see: the photos of the split and the selfies by hash, the digest of the data,
    and the folders of the reference set and of the store."""

    photos: dict[str, str]
    selfies: dict[str, str]
    digest: str
    root: str
    store: str
    split: str


def ask_setting(overrides: tuple[str, ...], metric: str, holdout: bool, people: bool) -> Setting:
    """Which photos candidates are judged on and, where they are judged by who finds their `people`, which selfies."""
    asked = {"about": "setting", "overrides": overrides, "metric": metric, "holdout": holdout, "people": people}
    done = _ask(asked)
    if done.returncode:
        raise ConfigError(_last(done))
    return Setting(**json.loads(done.stdout.splitlines()[-1]))


def ask_scores(question: Question) -> Scored:
    """How a candidate compares with the base. Whatever goes wrong before the base is scored is not the candidate's
    doing, and raises; what goes wrong after it is."""
    done = _ask({"about": "scores", **asdict(question)})
    lines = done.stdout.splitlines()
    if done.returncode == 0:
        return TypeAdapter(Scored).validate_json(lines[-1])
    if BASE_IS_SCORED not in lines:
        raise HarnessError(f"the base cannot be scored: {_last(done)}")
    return Scored("", "", bad=f"scoring them ended with {_last(done)}")


def _ask(asked: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    place = str(Path(harness.__file__).absolute().parents[1])
    command = [sys.executable, "-I", "-c", _START.format(place=place)]
    with scratch() as folder:
        environment = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}
        environment[VARIABLE] = os.environ.get(VARIABLE) or str(_empty(folder))
        try:
            return subprocess.run(
                command,
                input=json.dumps(asked),
                capture_output=True,
                text=True,
                env=environment,
                timeout=_MOST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            told = f"{error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ''}"
            return subprocess.CompletedProcess(command, 1, told, f"no answer within {_MOST_SECONDS} seconds")


def _empty(folder: Path) -> Path:
    """A conf folder without a file: that of the folder where the command is run may be the candidate's."""
    conf = folder / "conf"
    conf.mkdir()
    return conf


def _last(done: subprocess.CompletedProcess[str]) -> str:
    """What a process said in the end, as one line."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return one_line(lines[-1].removeprefix("harness: ")) if lines else f"exit code {done.returncode}"
