"""The photos and labels that a stored run was evaluated on, as far as they are on this machine.

A run keeps what was predicted, not the pictures and not the labels. These are looked for where its config says, and are
shown as they are now; whether they are still those of the run is told beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.errors import HarnessError
from harness.references.contents import Contents, read_contents
from harness.references.frozen import FrozenSet, open_frozen
from harness.references.groups import groups_of
from harness.references.sample import SampleSet, made_sample
from harness.references.sets import ReferencePhoto, ReferenceSet, Selfie, StagingSet, digest_of, select
from harness.references.store import LabelStore
from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.types import Split


@dataclass(frozen=True)
class PhotoSet:
    """The photos of a run by their hashes. `problem` says why there are none; `changed` that photos or labels are no
    longer those that the run was evaluated on."""

    photos: Mapping[str, ReferencePhoto] = field(default_factory=dict)
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    root: Path | None = None
    name: str = ""
    problem: str = ""
    changed: bool = False
    selfies: tuple[Selfie, ...] = ()


def photo_set(run: BenchmarkRun) -> PhotoSet:
    """Find and read the set of a run. One that is not here is a sentence, and no error."""
    if PHOTOS not in run.tasks:
        return PhotoSet(problem="the run is not about photos")
    try:
        root, name, contents = _contents(run.metadata.config)
        found = select(contents, root, name, Split.FULL, groups_of(contents, root, "photo"))
    except HarnessError as error:
        return PhotoSet(problem=f"its photos and labels are not here: {error}")
    photos = {photo.sha256: photo for photo in found.photos}
    sizes = {sha256: (record.width, record.height) for sha256, record in contents.index.photos.items()}
    return PhotoSet(photos, sizes, root, name, changed=not _same(run, found, photos), selfies=found.selfies)


def label_stamp(run: BenchmarkRun) -> tuple[tuple[str, int], ...]:
    """What changes when somebody edits the labels of a run's set."""
    folder = _folder(run.metadata.config)
    if folder is None or not folder.is_dir():
        return ()
    return tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.glob("*.json")))


def _same(run: BenchmarkRun, found: ReferenceSet, photos: Mapping[str, ReferencePhoto]) -> bool:
    """Whether the run's photos have the labels, and the set the rules, that the run was evaluated with."""
    task = run.tasks[PHOTOS]
    evaluated = [*(item.id for item in task.items), *(item.id for item in task.failed)]
    if any(sha256 not in photos for sha256 in evaluated):
        return False
    return digest_of(found, [photos[sha256] for sha256 in evaluated]) == task.data.digest


def _target(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _contents(config: Mapping[str, str]) -> tuple[Path, str, Contents]:
    """Root, name and labels of the set that a run's config names. Only the harness's own kinds of sets are read: a
    stored config is no reason to import code."""
    folder, target = _folder(config), config.get("references._target_", "")
    if folder is None:
        what = (
            "the sample is not made yet" if target == _target(SampleSet) else f"{target or 'none'} is a set of its own"
        )
        raise HarnessError(what)
    if not folder.is_dir():
        raise HarnessError(f"there is no {folder}")
    root = Path(config.get("references.root") or "")
    if target == _target(FrozenSet):
        name = config["references.name"]
        return root, name, open_frozen(root, name)[1]
    if target == _target(StagingSet):
        return root, "staging", LabelStore(root).contents()
    return folder, "sample", read_contents(folder)


def _folder(config: Mapping[str, str]) -> Path | None:
    """The folder with the label files; None for a set of somebody else's, and for a sample that is not made."""
    root = config.get("references.root")
    match config.get("references._target_"):
        case kind if kind == _target(FrozenSet):
            return Path(root or "") / "frozen" / config.get("references.name", "")
        case kind if kind == _target(StagingSet):
            return Path(root or "")
        case kind if kind == _target(SampleSet):
            return made_sample() if root in (None, "None") else Path(root)
    return None


def people_in(photo: ReferencePhoto) -> Iterator[str]:
    """Everybody who is labelled in a photo."""
    yield from (box.identity for box in photo.faces if box.identity)
    yield from photo.people or ()


def tags_of(photo: ReferencePhoto) -> Iterator[str]:
    """The tags of a photo and of its boxes."""
    yield from (*photo.bib_tags, *photo.face_tags)
    yield from (tag for bib in photo.bibs for tag in bib.tags)
    yield from (tag for face in photo.faces for tag in face.tags)
