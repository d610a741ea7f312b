"""A candidate's files as they are: taken out of git, or of a folder, by plumbing alone, and laid out as plain files.

Nothing of the candidate is run for it: no hook, no filter, no attribute. Files are those that git has, byte by byte.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ConfigError, HarnessError
from harness.base.texts import one_line
from harness.candidates.git import MOST_ANSWER, home_of, run_git
from harness.candidates.laying import File, check_size, lay_out, read_file

#: So much of a difference is kept.
MOST_DIFF = 200_000
_SUBMODULE = "160000"
_LIST = ("ls-tree", "-r", "-l", "-z", "--full-tree")
_ENTRY = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+) +(\S+)\t(.*)", re.DOTALL)


@dataclass(frozen=True)
class _Blob:
    """A file that git has, or a submodule, which has no size."""

    path: str
    mode: str
    name: bytes
    size: int


@dataclass(frozen=True)
class Tree:
    """Files that were laid out in a `folder`, from the worktree of `source`. `commit` is empty for files that no commit
    has; `name` is what the tree is called. `left_out` are submodules, which are not fetched; `sealed` is what it has
    and no candidate may see."""

    folder: Path
    source: Path
    digest: str
    commit: str
    name: str
    left_out: tuple[str, ...] = ()
    sealed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Change:
    """What a candidate changes: the difference as text, cut at a size, and one line that counts it."""

    text: str
    counted: str


class Repository:
    """The repository of a folder. What lies below one of the `sealed` paths of its tree, such as labels that are
    tracked, is not laid out."""

    def __init__(self, folder: Path, sealed: Sequence[str] = ()) -> None:
        self.folder, self._sealed = folder, sealed
        try:
            self.top = Path(self._git("rev-parse", "--show-toplevel").decode().removesuffix("\n"))
        except HarnessError as error:
            raise ConfigError(f"{folder}: no git repository here: {error}") from error
        if not self.top.samefile(home_of(folder)):
            raise ConfigError(f"{folder}: its repository says that its files are in {self.top}; expected them here")

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
        entries = [_entry(line) for line in self._git(*_LIST, commit).split(b"\0") if line]
        modules = tuple(one_line(entry.path) for entry in entries if entry.mode == _SUBMODULE)
        blobs = [entry for entry in entries if entry.mode != _SUBMODULE]
        chosen = [blob for blob in blobs if not self._seal_of(blob.path)]
        check_size(len(chosen), sum(blob.size for blob in chosen))
        digest = lay_out(self._contents(chosen), folder)
        return Tree(folder, self.top, digest, commit, commit[:12], modules, self._seals(blob.path for blob in blobs))

    def lay_out_worktree(self, folder: Path) -> Tree:
        """The files of this worktree as they are on the disk: those that git tracks, and those that it does not ignore.
        A file that is gone is gone."""
        names = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name", ":/")
        paths = sorted({os.fsdecode(name) for name in names.split(b"\0") if name})
        folders = {path for path in paths if (self.top / path).is_dir() and not (self.top / path).is_symlink()}
        chosen = [path for path in paths if path not in folders and not self._seal_of(path)]
        found = (read_file(self.top, path) for path in chosen)
        digest = lay_out((file for file in found if file is not None), folder)
        name = one_line(f"{self.top.name} as it is on disk")
        return Tree(folder, self.top, digest, "", name, tuple(map(one_line, sorted(folders))), self._seals(paths))

    def _seal_of(self, path: str) -> str:
        """The sealed path that a path is, or lies below."""
        return next((seal for seal in self._sealed if f"{path}/".startswith(f"{seal}/")), "")

    def _seals(self, paths: Iterable[str]) -> tuple[str, ...]:
        """The sealed paths at which a tree has something."""
        return tuple(sorted({seal for path in paths if (seal := self._seal_of(path))}))

    def _contents(self, blobs: Sequence[_Blob]) -> Iterator[File]:
        asked = b"".join(blob.name + b"\n" for blob in blobs)
        most = MOST_ANSWER + sum(blob.size for blob in blobs)
        answer = memoryview(self._git("cat-file", "--batch", given=asked, most=most))
        place = 0
        for blob in blobs:
            end = bytes(answer[place : place + 200]).index(b"\n") + place
            words = bytes(answer[place:end]).split()
            if words[:2] != [blob.name, b"blob"]:
                raise HarnessError(f"{one_line(blob.path)}: git does not have its content; fetch the commit whole")
            place = end + 1 + int(words[2]) + 1
            yield File(blob.path, blob.mode, bytes(answer[end + 1 : place - 1]))

    def _git(self, *words: str, given: bytes = b"", most: int = MOST_ANSWER) -> bytes:
        return run_git(self.folder, *words, given=given, most=most)


def _entry(line: bytes) -> _Blob:
    """One line of `ls-tree -l`."""
    mode, _, name, size, path = found.groups() if (found := _ENTRY.fullmatch(line)) else (b"",) * 5
    place = os.fsdecode(path)
    if size.isdigit() or mode.decode() == _SUBMODULE:
        return _Blob(place, mode.decode(), name, int(size) if size.isdigit() else 0)
    raise HarnessError(f"{one_line(place)}: git does not have its content; fetch the commit whole")


def change_between(base: Tree, candidate: Tree) -> Change:
    """What a candidate changes, as a difference of the two folders, which lie beside each other."""
    words = ("diff", "--no-index", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=", "--dst-prefix=")
    names = (base.folder.name, candidate.folder.name)
    content = run_git(base.folder.parent, *words, *names, accepted=(0, 1), most=MOST_DIFF, cut=True)
    counts = run_git(base.folder.parent, *words, "--shortstat", *names, accepted=(0, 1)).decode().strip()
    more = "\n... and more" if len(content) == MOST_DIFF else ""
    return Change(content.decode(errors="replace") + more, counts)
