"""Freezing: the labels of chosen photos at one moment, under a name, for good.

By default the photos that are labelled completely are taken: in bibs, faces and links, or in what `dimensions` names.
Labels of other dimensions stay out, so that their scorecards are n/a. The snapshot is written beside, read-only, and
renamed, so it is there whole or not at all; a name that is taken is refused. Later edits go to staging: a correction is
frozen under a new name.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from harness.base.disk import sync_folder
from harness.base.errors import InvalidEditError, NameTakenError, ReferenceSetError, UnknownPhotoError
from harness.references.agreement import audit_report
from harness.references.completeness import DIMENSIONS, Dimension, State, check_dimensions, completeness
from harness.references.constraints import NO_CONSTRAINTS
from harness.references.contents import Contents
from harness.references.files import BibFaceLinks, BibGroundTruth, F, FaceGroundTruth, FaceLabels, PhotoFile, encode
from harness.references.frozen import (
    FOLDER,
    MANIFEST,
    RULES,
    FrozenGroups,
    Manifest,
    check_name,
    checksum,
    verify_pictures,
)
from harness.references.groups import groups_of
from harness.references.sets import ReferenceSet, digest_of, select
from harness.references.store import LabelStore
from harness.types import Split


def choose(
    contents: Contents, *, include_incomplete: bool, everything: bool, dimensions: Sequence[Dimension] = DIMENSIONS
) -> dict[str, State]:
    """The photos to freeze and how far each is labelled: complete ones, partly labelled ones too, or all."""
    wanted = {State.COMPLETE, State.KNOWN_NEGATIVE}
    if include_incomplete or everything:
        wanted.add(State.PARTIAL)
    if everything:
        wanted.add(State.UNTOUCHED)
    states = {photo: completeness(contents, photo, dimensions).state for photo in contents.index.photos}
    return {photo: state for photo, state in states.items() if state in wanted}


def freeze(
    store: LabelStore,
    name: str,
    *,
    description: str = "",
    include_incomplete: bool = False,
    everything: bool = False,
    photos: Collection[str] | None = None,
    dimensions: Sequence[str] = DIMENSIONS,
) -> Manifest:
    """Make a snapshot of the labels as they are now; `photos` narrows the choice down to these."""
    check_name(name)
    named = check_dimensions(dimensions)
    target = store.root / FOLDER / name
    if target.exists():
        raise NameTakenError(_taken(target))
    contents = store.contents()
    chosen = choose(contents, include_incomplete=include_incomplete, everything=everything, dimensions=named)
    if photos is not None:
        wanted = set(photos)
        if unknown := wanted - contents.index.photos.keys():
            raise UnknownPhotoError(f"{store.root}: no photo {min(unknown)} in the index")
        chosen = {photo: state for photo, state in chosen.items() if photo in wanted}
    if not chosen:
        raise InvalidEditError(
            f"{store.root}: no photo is labelled completely{'' if named == DIMENSIONS else f' in {_spoken(named)}'}; "
            "--include-incomplete takes partly labelled ones too, --all takes every photo"
        )
    frozen = _restricted(contents, store.root, chosen.keys())
    groups = groups_of(frozen, store.root, "auto")  # of all labels: numbers tie photos in a set of faces, too
    frozen = _without_others(frozen, named)
    inside = select(frozen, store.root, name, Split.FULL, groups)
    verify_pictures(inside)
    files = {content.FILE_NAME: encode(content) for content in vars(frozen).values()}
    more: dict[str, Any] = {"dimensions": named, "groups": FrozenGroups.of(groups).model_dump(mode="json"), **RULES}
    report = audit_report(contents, store.audit(), chosen.keys())
    more["audit"] = asdict(report) if report else None
    manifest = _manifest(name, description, inside, chosen.values(), files, more)
    described = orjson.dumps(manifest.model_dump(mode="json"), option=orjson.OPT_INDENT_2)
    try:
        _write(target, {**files, MANIFEST: described})
    except OSError as error:
        raise ReferenceSetError(f"{target}: cannot be written: {error.strerror or error}; nothing is frozen") from error
    return manifest


def _restricted(contents: Contents, root: Path, photos: Iterable[str]) -> Contents:
    """The labels of some photos alone, without the history of their edits; and all selfies, strangers' too."""
    wanted = set(photos)
    constraints = contents.constraints(root).within(wanted)

    def cut(content: F) -> F:
        update: dict[str, Any] = {"changed": {}}
        if isinstance(content, PhotoFile):
            update["photos"] = {photo: record for photo, record in content.photos.items() if photo in wanted}
        return content.model_copy(update=update)

    return Contents(
        index=cut(contents.index),
        bibs=cut(contents.bibs),
        faces=cut(contents.faces),
        links=cut(contents.links),
        identities=cut(contents.identities).model_copy(update=constraints.as_text()),
        selfies=contents.selfies.model_copy(update={"changed": {}}),
    )


def _without_others(contents: Contents, dimensions: Sequence[Dimension]) -> Contents:
    """The labels of these dimensions alone; nobody has labelled the others. Names and constraints of faces, and who is
    in a photo, stay with the faces."""
    kept = replace(
        contents,
        bibs=contents.bibs if "bibs" in dimensions else BibGroundTruth(),
        links=contents.links if "links" in dimensions else BibFaceLinks(),
    )
    if "faces" in dimensions:
        return kept
    said = {photo: labels for photo, labels in contents.faces.photos.items() if labels.people is not None}
    people = {photo: FaceLabels(people=labels.people) for photo, labels in said.items() if "people" in dimensions}
    unlinked = contents.identities.model_copy(update=NO_CONSTRAINTS.as_text())
    return replace(kept, faces=FaceGroundTruth(photos=people), identities=unlinked)


def _manifest(
    name: str,
    description: str,
    inside: ReferenceSet,
    states: Iterable[State],
    files: dict[str, bytes],
    more: dict[str, Any],
) -> Manifest:
    splits: dict[str, dict[str, Any]] = {}
    for split in (Split.ITERATION, Split.HOLDOUT):
        photos = [photo for photo in inside.photos if photo.split == split]
        splits[split.value] = {"photos": len(photos), "digest": digest_of(inside, photos)}
    data: dict[str, Any] = {
        "name": name,
        "description": description,
        "created_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "photos": len(inside.photos),
        "states": {state.value: count for state, count in sorted(Counter(states).items())},
        "digest": inside.digest,
        "splits": splits,
        "files": {file: hashlib.sha256(content).hexdigest() for file, content in files.items()},
        **more,
    }
    return Manifest.model_validate(data | {"checksum": checksum(data)})


def _write(target: Path, files: dict[str, bytes]) -> None:
    """Write the files beside, read-only, and give the folder its name once all of them are on disk."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    beside.mkdir(parents=True)
    try:
        for name, content in files.items():
            with (beside / name).open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            (beside / name).chmod(0o444)
        sync_folder(beside)
        try:
            beside.rename(target)
        except OSError as error:
            if target.exists():
                raise NameTakenError(_taken(target)) from error
            raise
        sync_folder(target.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _taken(target: Path) -> str:
    return f"{target}: this name is taken; a frozen set never changes, so freeze under a new name"


def _spoken(dimensions: Sequence[Dimension]) -> str:
    return " and ".join(filter(None, (", ".join(dimensions[:-1]), dimensions[-1])))
