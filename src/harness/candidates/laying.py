"""A candidate's files on the disk: read from a worktree without following a link, and laid out as plain files."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.base.errors import HarnessError
from harness.base.texts import one_line

_MOST_FILES, _MOST_BYTES = 100_000, 2 << 30
LINK = "120000"
#: What opening a folder says where there is none, or a link or a file in its place.
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


@dataclass(frozen=True)
class File:
    """A file of a tree, with its mode as git writes it; the content of a link is what it points to."""

    path: str
    mode: str
    content: bytes


def check_size(files: int, size: int) -> None:
    """Raise HarnessError where there are too many files, or bytes, to be judged."""
    if files > _MOST_FILES or size > _MOST_BYTES:
        raise HarnessError(f"too large to be judged: expected at most {_MOST_FILES:,} files and {_MOST_BYTES:,} bytes")


def read_file(top: Path, path: str) -> File | None:
    """A file below a folder; none where it is gone, or where a folder on the way to it is a link by now: git calls such
    a file deleted."""
    *folders, name = PurePosixPath(path).parts
    try:
        with _folder(top, folders) as place:
            kind = os.stat(name, dir_fd=place, follow_symlinks=False).st_mode
            if stat.S_ISLNK(kind):
                return File(path, LINK, os.fsencode(os.readlink(name, dir_fd=place)))
            handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place)
    except OSError as error:
        if error.errno in _NO_FOLDER:
            return None
        raise HarnessError(f"{top / path}: cannot be read: {error.strerror}") from error
    with os.fdopen(handle, "rb") as file:
        kind = os.fstat(handle).st_mode
        if not stat.S_ISREG(kind):
            raise HarnessError(f"{top / path}: no plain file; expected files and links alone")
        return File(path, "100755" if kind & stat.S_IXUSR else "100644", file.read(_MOST_BYTES + 1))


@contextmanager
def _folder(top: Path, folders: list[str]) -> Iterator[int]:
    """A folder below another one, opened step by step, so that no link is followed whenever it is put there."""
    handle = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for name in folders:
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = below
        yield handle
    finally:
        os.close(handle)


def lay_out(files: Iterator[File], folder: Path) -> str:
    """Write files below a folder, links last of all; returns a digest over path, mode and content of each."""
    folder.mkdir(mode=0o755)
    links: list[File] = []
    lines: list[str] = []
    total = 0
    for file in files:
        total += len(file.content)
        check_size(len(lines) + 1, total)
        _check_name(file.path)
        lines.append(f"{file.path}\0{file.mode}\0{hashlib.sha256(file.content).hexdigest()}\n")
        if file.mode == LINK:
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            links.append(file)
        else:
            _write(folder / file.path, file)
    for link in links:
        _link(folder, link)
    for link in links:
        _check_target(folder, link)
    return hashlib.sha256("".join(sorted(lines)).encode(errors="surrogateescape")).hexdigest()


def _check_name(path: str) -> None:
    parts = PurePosixPath(path).parts
    if path.startswith("/") or not parts or any(part in (".", "..") or part.lower() == ".git" for part in parts):
        raise HarnessError(f"{one_line(path)}: no name for a file of a tree")


def _write(path: Path, file: File) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, int(file.mode[-3:], 8))
    except OSError as error:
        raise HarnessError(f"{one_line(file.path)}: cannot be laid out: {error.strerror}") from error
    with os.fdopen(handle, "wb") as written:
        os.fchmod(handle, 0o755 if file.mode == "100755" else 0o644)
        written.write(file.content)


def _link(folder: Path, file: File) -> None:
    """Make a link, in a folder that is there already: a link of the same tree may stand where its folder should be."""
    text = os.fsdecode(file.content)
    if not text or text.startswith("/"):
        raise _leaves(file)
    try:
        (folder / file.path).symlink_to(text)
    except OSError as error:
        raise HarnessError(f"{one_line(file.path)}: cannot be laid out: {error.strerror}") from error


def _check_target(folder: Path, file: File) -> None:
    """Where a link leads to, through all others, is inside of the tree."""
    if not Path(os.path.realpath(folder / file.path)).is_relative_to(os.path.realpath(folder)):
        raise _leaves(file)


def _leaves(file: File) -> HarnessError:
    return HarnessError(
        f"{one_line(file.path)}: a link to {one_line(os.fsdecode(file.content))}, which leaves the tree"
    )
