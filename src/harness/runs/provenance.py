"""Where a run comes from: commits, and the versions of what it runs on."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import harness
from harness.base.code import Code

#: The artifact of a run that has the record of its code.
CODE_FILE = "code.json"


def provenance(code: Code) -> dict[str, str]:
    """Tags that say which code and which packages made a run: the distributions are those that the code imports."""
    versions = {f"version.{name}": code.distributions[name] for name in sorted(code.direct)}
    return {
        "mlflow.source.name": "harness",
        "mlflow.source.type": "LOCAL",
        "code.digest": code.digest,
        **_own_commit(),
        **_user_commits(code.outside),
        **versions,
        "version.harness": harness.__version__,
        "version.python": platform.python_version(),
    }


def code_record(code: Code) -> dict[str, Mapping[str, str]]:
    """All of the code behind a run, as it is kept with it: a hash for each module, a version for each distribution.
    Python itself stands among the distributions, with its version."""
    versions = {"python": platform.python_version(), **code.distributions}
    return {"sources": dict(sorted(code.sources.items())), "distributions": dict(sorted(versions.items()))}


@cache
def _own_commit() -> dict[str, str]:
    """The commit of the checkout that the harness is run from, and whether it was changed; none when installed."""
    commit = _commit(Path(__file__).parent, [Path(__file__)])
    if commit is None or commit[2]:
        return {"git.commit": "not a checkout"}
    return {"git.commit": commit[0], "mlflow.source.git.commit": commit[0], "git.dirty": str(commit[1]).lower()}


def _user_commits(outside: Mapping[str, Path]) -> dict[str, str]:
    """The commits of the repositories that outside code lives in. One that holds changes, or of which a file in use was
    never committed, is dirty."""
    folders = {path.parent for path in outside.values()}
    found: dict[str, bool] = {}
    for folder in sorted(folders):
        commit = _commit(folder, [path for path in outside.values() if path.parent == folder])
        if commit is not None:
            found[commit[0]] = found.get(commit[0], False) or commit[1] or commit[2]
    if not found:
        return {"user.git.commit": "not a repository"} if outside else {}
    return {"user.git.commit": ", ".join(found), "user.git.dirty": str(any(found.values())).lower()}


def _commit(folder: Path, files: Iterable[Path]) -> tuple[str, bool, bool] | None:
    """The commit of a folder's repository, whether it has changes, and whether it lacks one of the files."""
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = bool(_git(folder, "status", "--porcelain", "--untracked-files=no"))
    lacking = any(_git(folder, "ls-files", "--error-unmatch", path.name) is None for path in files)
    return commit, changed, lacking


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
