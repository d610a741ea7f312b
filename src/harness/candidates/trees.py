"""A candidate's files as they are: taken out of git, or of a folder, by plumbing alone, and laid out as plain files.

Nothing of the candidate is run for it: no hook, no filter, no attribute. Files are those that git has, byte by byte.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.base.errors import ConfigError, HarnessError
from harness.base.texts import one_line

_MOST_FILES, _MOST_BYTES = 100_000, 2 << 30
#: How long git may take for one answer, in seconds.
_PATIENCE = 300
#: So much of a difference is kept.
MOST_DIFF = 200_000
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "protocol.allow=never",
)
_LINK, _SUBMODULE = "120000", "160000"
_ENTRY = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+)\t(.*)", re.DOTALL)


@dataclass(frozen=True)
class Tree:
    """Files that were laid out in a `folder`. `commit` is empty for files that no commit has; `name` is what the tree
    is called. `left_out` are submodules, which are not fetched."""

    folder: Path
    digest: str
    commit: str
    name: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What a candidate changes: the difference as text, cut at a size, and one line that counts it."""

    text: str
    counted: str


@dataclass(frozen=True)
class _File:
    path: str
    mode: str
    content: bytes


class Repository:
    """The repository of a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.top = Path(self._git("rev-parse", "--show-toplevel").decode().removesuffix("\n"))
        except HarnessError as error:
            raise ConfigError(f"{folder}: no git repository here: {error}") from error

    def commit(self, revision: str) -> str:
        """The full name of a commit."""
        try:
            words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
            return self._git(*words).decode().strip()
        except HarnessError as error:
            raise ConfigError(f"{one_line(revision)}: no commit of {self.top}, and no folder") from error

    def lay_out_commit(self, revision: str, folder: Path) -> Tree:
        """The files of a commit."""
        commit = self.commit(revision)
        files, left_out = self._committed(commit)
        return Tree(folder, _lay_out(files, folder), commit, commit[:12], left_out)

    def lay_out_worktree(self, folder: Path) -> Tree:
        """The files of this worktree as they are on the disk: those that git tracks, and those that it does not ignore.
        A file that is gone is gone."""
        names = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", ":/")
        paths = sorted({os.fsdecode(name) for name in names.split(b"\0") if name})
        places = [path for path in paths if not (self.top / path).is_dir() or (self.top / path).is_symlink()]
        left_out = tuple(one_line(path) for path in paths if path not in set(places))
        found = (_on_disk(self.top, path) for path in places)
        digest = _lay_out((file for file in found if file is not None), folder)
        return Tree(folder, digest, "", one_line(f"{self.top.name} as it is on disk"), left_out)

    def _committed(self, commit: str) -> tuple[Iterator[_File], tuple[str, ...]]:
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0")
        entries = [found.groups() for line in listed if (found := _ENTRY.fullmatch(line))]
        modules = tuple(one_line(os.fsdecode(path)) for mode, _, _, path in entries if mode.decode() == _SUBMODULE)
        blobs = [(mode.decode(), name, os.fsdecode(path)) for mode, kind, name, path in entries if kind == b"blob"]
        return self._contents(blobs), modules

    def _contents(self, blobs: Sequence[tuple[str, bytes, str]]) -> Iterator[_File]:
        asked = b"".join(name + b"\n" for _, name, _ in blobs)
        answer = memoryview(self._git("cat-file", "--batch", given=asked))
        place = 0
        for mode, name, path in blobs:
            end = bytes(answer[place : place + 200]).index(b"\n") + place
            words = bytes(answer[place:end]).split()
            if words[:2] != [name, b"blob"]:
                raise HarnessError(f"{one_line(path)}: git does not have its content; fetch the commit whole")
            place = end + 1 + int(words[2]) + 1
            yield _File(path, mode, bytes(answer[end + 1 : place - 1]))

    def _git(self, *words: str, given: bytes = b"") -> bytes:
        return run_git(self.folder, *words, given=given)


def run_git(folder: Path, *words: str, given: bytes = b"", accepted: Sequence[int] = (0,)) -> bytes:
    """What a command of git prints. No hook, pager, filter or helper that the repository names is run for it."""
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    command = ["git", "--no-pager", *settings, *words]
    try:
        done = subprocess.run(
            command, cwd=folder, input=given, capture_output=True, env=environment, check=False, timeout=_PATIENCE
        )
    except OSError as error:
        raise HarnessError(f"git cannot be started in {folder}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise HarnessError(f"git {words[0]}: no end within {_PATIENCE} seconds") from error
    if done.returncode not in accepted:
        raise HarnessError(f"git {words[0]}: {one_line(done.stderr.decode(errors='replace').strip()) or 'failed'}")
    return done.stdout


def change_between(base: Tree, candidate: Tree) -> Change:
    """What a candidate changes, as a difference of the two folders, which lie beside each other."""
    words = ("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=", "--dst-prefix=")
    names = (base.folder.name, candidate.folder.name)
    text = run_git(base.folder.parent, *words, *names, accepted=(0, 1)).decode(errors="replace")
    counts = run_git(base.folder.parent, *words, "--shortstat", *names, accepted=(0, 1)).decode().strip()
    more = f"\n... and {len(text) - MOST_DIFF:,} more characters" if len(text) > MOST_DIFF else ""
    return Change(text[:MOST_DIFF] + more, counts)


def _on_disk(top: Path, path: str) -> _File | None:
    place = top / path
    try:
        if place.is_symlink():
            return _File(path, _LINK, os.fsencode(place.readlink()))
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HarnessError(f"{place}: cannot be read: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        kind = os.fstat(handle)
        if not stat.S_ISREG(kind.st_mode):
            raise HarnessError(f"{place}: no plain file; expected files and links alone")
        if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(top)):
            raise HarnessError(f"{place}: a folder on the way to it is a link that leaves the tree")
        return _File(path, "100755" if kind.st_mode & stat.S_IXUSR else "100644", file.read(_MOST_BYTES))


def _lay_out(files: Iterator[_File], folder: Path) -> str:
    """Write files below a folder, links last of all; returns a digest over path, mode and content of each."""
    folder.mkdir(mode=0o755)
    links: list[_File] = []
    lines: list[str] = []
    total = 0
    for file in files:
        total += len(file.content)
        if len(lines) >= _MOST_FILES or total > _MOST_BYTES:
            raise HarnessError(
                f"too large to be judged: expected at most {_MOST_FILES:,} files and {_MOST_BYTES:,} bytes"
            )
        _check_name(file.path)
        lines.append(f"{file.path}\0{file.mode}\0{hashlib.sha256(file.content).hexdigest()}\n")
        if file.mode == _LINK:
            links.append(file)
        else:
            _write(folder / file.path, file)
    for link in links:
        _link(folder, link)
    return hashlib.sha256("".join(sorted(lines)).encode(errors="surrogateescape")).hexdigest()


def _check_name(path: str) -> None:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or not parts or any(part in (".", "..") or part.lower() == ".git" for part in parts):
        raise HarnessError(f"{one_line(path)}: no name for a file of a tree")


def _write(path: Path, file: _File) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, int(file.mode[-3:], 8))
    except OSError as error:
        raise HarnessError(f"{one_line(file.path)}: cannot be laid out: {error.strerror}") from error
    with os.fdopen(handle, "wb") as written:
        os.fchmod(handle, 0o755 if file.mode == "100755" else 0o644)
        written.write(file.content)


def _link(folder: Path, file: _File) -> None:
    text = os.fsdecode(file.content)
    target = os.path.normpath(PurePosixPath(file.path).parent / text)
    if not text or text.startswith("/") or target.split("/")[0] == "..":
        raise HarnessError(f"{one_line(file.path)}: a link to {one_line(text)}, which leaves the tree")
    try:
        (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.path).symlink_to(text)
    except OSError as error:
        raise HarnessError(f"{one_line(file.path)}: cannot be laid out: {error.strerror}") from error
