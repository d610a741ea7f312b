"""Where labels are changed: every write is a transaction, whole or not at all, one process at a time.

An edit holds the lock on `.lock`, sees the files as they are, and is written when its block ends without an error. Each
changed file is replaced atomically, its revision one higher. Files that change together are written down in
`.journal.json` first; whoever opens the store after a crash finishes what the journal says, so that links never point
at boxes of another moment. What an `edit` block has returned from is on disk.

A file that has not changed since it was last read is not read again: a process that stays can save in milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.base.disk import sync_folder, write_atomically
from harness.base.errors import InvalidEditError, ReferenceSetError
from harness.base.locks import file_lock
from harness.references.audit_file import Audit
from harness.references.constraints import read_constraints
from harness.references.contents import (
    NO_BIBS,
    NO_FACES,
    Contents,
    check_links,
    check_photo_links,
    load_contents,
)
from harness.references.drafts import KINDS, Draft, Patch, decode_journal, encode_journal
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    Decode,
    F,
    FaceGroundTruth,
    FaceIdentities,
    LabelFile,
    PhotoFile,
    PhotoIndex,
    decode,
    encode_photos,
    encode_with,
)
from harness.references.reviews import PeopleReviews
from harness.references.start_list import StartList
from harness.references.suggestions import Suggestions

_JOURNAL = ".journal.json"
#: The first bytes of a file hold its revision; with them a reused inode in the same tick of the clock is noticed too.
_HEAD_BYTES = 64

#: The files that must agree with each other.
_LINKED = (BibGroundTruth, FaceGroundTruth, BibFaceLinks)
_CONSTRAINED = (FaceGroundTruth, FaceIdentities)

_FileKey = tuple[int, int, int, bytes]


@dataclass
class _Loaded:
    """A file in memory: which state of the disk it is, and its photos as they were written, once they were."""

    key: _FileKey | None
    content: LabelFile
    lines: dict[str, bytes] | None = None


class LabelStore:
    """The label files under one root. `decoded` is what reads them, where that is not the usual way."""

    def __init__(self, root: Path, decoded: Decode = decode) -> None:
        self.root, self._decoded = root, decoded
        self._loaded: dict[type[LabelFile], _Loaded] = {}
        self._agreed = False

    def contents(self) -> Contents:
        """All labels as of now."""
        if not (self.root / PhotoIndex.FILE_NAME).is_file() and not (self.root / _JOURNAL).is_file():
            raise ReferenceSetError(
                f"references.root: no reference set at {self.root} (expected a folder with {PhotoIndex.FILE_NAME}); "
                "harness prepare or harness import makes one"
            )
        with self._locked():
            return self._contents()

    def suggestions(self) -> Suggestions:
        """All suggestions as of now."""
        with self._locked():
            return self._load(Suggestions)

    def reviews(self) -> PeopleReviews:
        """What was looked at, and is to stay as it is, as of now."""
        with self._locked():
            return self._load(PeopleReviews)

    def start_list(self) -> StartList:
        """Who is expected in the photos, as of now."""
        with self._locked():
            return self._load(StartList)

    def audit(self) -> Audit:
        """The blind labels as of now."""
        with self._locked():
            return self._load(Audit)

    @contextmanager
    def edit(self) -> Iterator[Draft]:
        """A transaction: what the block puts into the draft is on disk when the block has ended, all of it or none."""
        self._make_writable()
        with self._locked():
            self._contents()
            draft = Draft(self._load)
            yield draft
            with self._explained():
                self._commit(draft)

    def _make_writable(self) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ReferenceSetError(f"{self.root}: cannot be made: {error.strerror}") from error
        if not os.access(self.root, os.W_OK):
            raise ReferenceSetError(f"{self.root}: may not be written")

    def _contents(self) -> Contents:
        contents = load_contents(self._load)
        if not self._agreed:
            check_links(self.root, contents)
            contents.constraints(self.root)
            self._agreed = True
        return contents

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock. A folder that cannot be written has no writer to wait for."""
        if not os.access(self.root, os.W_OK):
            yield
            return
        with file_lock(self.root / ".lock"):
            with self._explained():
                self._recover()
            yield

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """A full disk or a missing permission is the user's to mend."""
        try:
            yield
        except OSError as error:
            raise ReferenceSetError(f"{self.root}: cannot be written: {error.strerror or error}") from error

    def _recover(self) -> None:
        """Finish what a process that died had begun, and clear away what it left half written."""
        for name in (_JOURNAL, *(kind.FILE_NAME for kind in KINDS)):
            for beside in self.root.glob(f".{name}.*.new"):
                beside.unlink()
        journal = self.root / _JOURNAL
        if journal.is_file():
            self._apply(decode_journal(journal, journal.read_bytes()))
            self._remove_journal()

    def _commit(self, draft: Draft) -> None:
        patches = draft.patches()
        for photo in {photo for patch in patches if patch.kind in _LINKED for photo in patch.photos}:
            bibs, faces, pairs = (draft.record(kind, photo) for kind in _LINKED)
            check_photo_links(self.root, photo, bibs or NO_BIBS, faces or NO_FACES, pairs or [])
        if any(patch.kind in _CONSTRAINED for patch in patches):
            self._check_constraints(draft)
        if len(patches) < 2:
            self._apply(patches)
            return
        write_atomically(self.root / _JOURNAL, encode_journal(patches))
        try:
            self._apply(patches)
        except OSError:
            if not any(self._has(patch) for patch in patches):
                self._remove_journal()  # nothing has happened yet: the edit failed, and is not done later
            raise
        self._remove_journal()

    def _check_constraints(self, draft: Draft) -> None:
        """Refuse an edit after which constraints would name a face that is gone, or contradict each other."""
        try:
            read_constraints(
                self.root, draft.by_now(FaceIdentities), lambda photo: draft.record(FaceGroundTruth, photo)
            )
        except ReferenceSetError as error:
            raise InvalidEditError(str(error)) from error

    def _remove_journal(self) -> None:
        (self.root / _JOURNAL).unlink()
        sync_folder(self.root)

    def _apply(self, patches: list[Patch]) -> None:
        """Replace the files that do not have their patch yet."""
        for patch in patches:
            if self._has(patch):
                continue
            before = self._current(patch.kind)
            content = patch.applied_to(before.content)
            lines = _lines(before, patch, content)
            path = self.root / patch.kind.FILE_NAME
            write_atomically(path, encode_with(content, lines))
            self._loaded[patch.kind] = _Loaded(_key(path), content, lines)

    def _has(self, patch: Patch) -> bool:
        return self._current(patch.kind).content.revision >= patch.revision

    def _load(self, kind: type[F]) -> F:
        content = self._current(kind).content
        assert isinstance(content, kind)
        return content

    def _current(self, kind: type[LabelFile]) -> _Loaded:
        """A file as it is on disk, from memory where that is still true."""
        path = self.root / kind.FILE_NAME
        key, loaded = _key(path), self._loaded.get(kind)
        if loaded is None or loaded.key != key:
            loaded = _Loaded(key, self._decoded(path, path.read_bytes(), kind) if key else kind())
            self._loaded[kind] = loaded
            self._agreed = self._agreed and kind not in (*_LINKED, *_CONSTRAINED)
        return loaded


def _lines(before: _Loaded, patch: Patch, content: LabelFile) -> dict[str, bytes]:
    """The photos of a file as bytes, encoding only what the patch changed."""
    if not isinstance(content, PhotoFile):
        return {}
    kind = type(content)
    if before.lines is None:
        return encode_photos(kind, content.photos)
    kept = {photo: record for photo, record in patch.photos.items() if record is not None}
    lines = before.lines | encode_photos(kind, kept)
    for photo in patch.photos.keys() - kept.keys():
        lines.pop(photo, None)
    return lines


def _key(path: Path) -> _FileKey | None:
    """What tells one state of a file from another; None where there is no file."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            return (status.st_ino, status.st_mtime_ns, status.st_size, file.read(_HEAD_BYTES))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error.strerror}") from error
