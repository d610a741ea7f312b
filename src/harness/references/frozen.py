"""Frozen sets as a run sees them: checked in full, or refused by the name of what was touched.

A snapshot is a folder `frozen/<name>/` with its own copies of index, labels, links, identities and selfies' owners, and
a manifest with the digest over photos and labels and the SHA-256 of every file. The photos lie in `photos/` and the
selfies in `selfies/`, as those of staging do.
"""

from __future__ import annotations

import hashlib
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import Field, ValidationError

from harness.base.checks import first_error
from harness.base.errors import ReferenceSetError
from harness.base.progress import track_stream
from harness.base.texts import COMMAND, nearest
from harness.references.completeness import DIMENSIONS, Dimension, State
from harness.references.contents import Contents, read_contents
from harness.references.fields import Index, Sha256
from harness.references.files import Record
from harness.references.groups import Grouping, Groups, groups_of
from harness.references.lines import decode_lines
from harness.references.sets import ReferenceSet, digest, select
from harness.types import Split

FOLDER = "frozen"
MANIFEST = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)


class SplitSummary(Record):
    """How many photos of a snapshot are in a split, and the digest that a run on them has."""

    photos: Index
    digest: Sha256


class FrozenGroups(Record):
    """The groups of a snapshot that have more than one photo, how many ties were cut, and how many joined photos."""

    cut: Index
    joined: dict[str, Index]
    members: dict[str, list[Sha256]]

    @classmethod
    def of(cls, groups: Groups) -> FrozenGroups:
        """Groups as a manifest keeps them."""
        members = {name: sorted(photos) for name, photos in groups.members().items() if len(photos) > 1}
        return cls(cut=groups.cut, joined=dict(groups.joined), members=members)

    def among(self, alone: Groups) -> Groups:
        """The groups of all photos, of which `alone` has each as its own."""
        of = {photo: name for name, photos in self.members.items() for photo in photos}
        return Groups({**alone.of, **of}, self.cut, self.joined)


class Manifest(Record):
    """What a snapshot says about itself. `checksum` is over all the rest.

    Snapshots of older versions do not say by which rule faces are done (boxes or tags were enough), which dimensions
    they are for, which photos belong together, and what their digest is over (the photos and their labels).
    """

    name: str = Field(pattern=r"^[A-Za-z0-9_-]+$")
    description: str
    created_at: str
    photos: Index
    states: dict[State, Index]
    digest: Sha256
    splits: dict[Split, SplitSummary]
    files: dict[str, Sha256]
    checksum: Sha256
    done_by: Literal["boxes", "person"] = "boxes"
    digest_of: Literal["photos", "set"] = "photos"
    dimensions: tuple[Dimension, ...] = DIMENSIONS
    groups: FrozenGroups | None = None
    #: What a blind audit of these photos had come to when they were frozen.
    audit: dict[str, Any] | None = None


#: By which rules a snapshot of this version was made.
RULES = {"done_by": "person", "digest_of": "set"}


@dataclass(frozen=True)
class FrozenSet:
    """A snapshot as a reference set; `split` selects which of its photos are evaluated, `groups` says whether photos
    that belong together count as one sample."""

    root: str
    name: str
    split: Split
    groups: Grouping = "auto"

    def load(self) -> ReferenceSet:
        """Check the snapshot and the photos that it selects."""
        return load_frozen(Path(self.root), self.name, self.split, self.groups)


@dataclass(frozen=True)
class DamagedSet:
    """A snapshot whose manifest was touched, and what is wrong with it."""

    name: str
    problem: str


@dataclass(frozen=True)
class Snapshots:
    """The snapshots under a root: the sound ones, oldest first, and the damaged ones by name."""

    sets: tuple[Manifest, ...]
    damaged: tuple[DamagedSet, ...]


def frozen_sets(root: Path) -> Snapshots:
    """Look at the manifests alone; one that was touched hides none of the others."""
    sets, damaged = [], []
    for folder in sorted((root / FOLDER).glob("*")):
        if not folder.is_dir() or folder.name[0] == ".":
            continue
        try:
            sets.append(read_manifest(folder))
        except ReferenceSetError as error:
            damaged.append(DamagedSet(folder.name, str(error)))
    return Snapshots(tuple(sorted(sets, key=lambda manifest: manifest.created_at)), tuple(damaged))


def load_frozen(root: Path, name: str, split: Split, grouping: Grouping = "auto") -> ReferenceSet:
    """Load a snapshot; whatever was touched since it was made is refused by name."""
    manifest, contents = open_frozen(root, name)
    alone = groups_of(contents, root, "photo")
    whole = select(contents, root, name, Split.FULL, alone)
    if manifest.digest != (whole.digest if manifest.digest_of == "set" else digest(whole.photos)):
        raise ReferenceSetError(f"{root / FOLDER / name}: {_touched(name)}: its digest is not {manifest.digest[:12]}")
    kept = manifest.groups.among(alone) if manifest.groups else groups_of(contents, root, "auto")
    references = select(contents, root, name, split, alone if grouping == "photo" else kept)
    verify_pictures(references)
    return references


def open_frozen(root: Path, name: str) -> tuple[Manifest, Contents]:
    """The manifest and the labels of a snapshot whose files are as they were made."""
    check_name(name)
    folder = root / FOLDER / name
    if not folder.is_dir():
        names = sorted(path.name for path in (root / FOLDER).glob("*") if path.name[0] != ".")
        chosen = f"references.name={nearest(name, names) or [*names, 'NAME'][0]}"
        made = f"there are: {', '.join(names)}; choose one, as in {chosen}"
        made = made if names else f"none is frozen yet; {COMMAND} freeze --name {name} makes it"
        raise ReferenceSetError(f"references.name: no frozen set {name} in {root / FOLDER}; {made}")
    manifest = read_manifest(folder)
    for file, expected in manifest.files.items():
        found = _sha256(folder / file)
        if found != expected:
            raise ReferenceSetError(f"{folder / file}: {_touched(name)}: SHA-256 {found[:12]}, not {expected[:12]}")
    # Where the digest is not over constraints, boxes had no ids that they could have named.
    contents = read_contents(folder, constrained=manifest.digest_of == "set", decoded=decode_lines)
    if manifest.done_by == "boxes":
        contents = replace(contents, faces=contents.faces.done_where_begun())
    return manifest, contents


def verify_pictures(references: ReferenceSet) -> None:
    """Refuse photos and selfies whose bytes are not those that their hash names; they are read side by side."""
    photos = [(photo.sha256, photo.path, photo.name) for photo in references.photos]
    selfies = [(selfie.sha256, selfie.path, selfie.identity) for selfie in references.selfies]
    for kind, pictures in (("photos", photos), ("selfies", selfies)):
        with ThreadPoolExecutor(min(8, (os.cpu_count() or 1) + 2)) as pool:
            read = pool.map(_sha256, (path for _, path, _ in pictures))
            hashes = list(track_stream(read, f"checking {kind}", len(pictures), lines=False))
        wrong = [
            f"  {name}: {path}" for (sha256, path, name), found in zip(pictures, hashes, strict=True) if found != sha256
        ]
        if wrong:
            listed = "\n".join(wrong)
            raise ReferenceSetError(
                f"frozen set {references.name}: {len(wrong)} of {len(pictures)} {kind} are missing or changed:\n"
                f"{listed}"
            )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a snapshot, checked against its own checksum."""
    path = folder / MANIFEST
    try:
        data = orjson.loads(path.read_bytes())
        manifest = Manifest.model_validate(data)
    except OSError as error:
        raise ReferenceSetError(f"{path}: cannot be read: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise ReferenceSetError(f"{path}: not JSON: {error}") from error
    except ValidationError as error:
        raise ReferenceSetError(f"{path}: {first_error(error)}") from error
    if checksum(data) != manifest.checksum or manifest.name != folder.name:
        raise ReferenceSetError(f"{path}: {_touched(folder.name)}: it does not fit its checksum")
    return manifest


def check_name(name: str) -> None:
    """Refuse what cannot name a snapshot."""
    if not _NAME.fullmatch(name):
        raise ReferenceSetError(f"{name!r} cannot name a frozen set: use letters, digits, - and _")


def checksum(data: dict[str, Any]) -> str:
    """What the checksum of a manifest with these fields has to be."""
    rest = {key: value for key, value in data.items() if key != "checksum"}
    return hashlib.sha256(orjson.dumps(rest, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _sha256(path: Path) -> str:
    """The digest of a file, or nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return "(missing)"


def _touched(name: str) -> str:
    return f"frozen set {name} was changed after it was made"
