"""A reference set in memory: photos, their labels, and one digest over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.errors import ReferenceSetError
from harness.references.constraints import NO_CONSTRAINTS, Constraints, Face, FaceGroups
from harness.references.contents import NO_BIBS, NO_FACES, Contents, read_contents
from harness.references.files import BoxOrigin, Selfies
from harness.references.groups import Grouping, Groups, GroupSummary, groups_of
from harness.references.lines import decode_lines
from harness.references.photo_files import FOLDER, SELFIES, stored_photos
from harness.references.store import LabelStore
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, Split


@dataclass(frozen=True, slots=True)
class ReferencePhoto:
    """One photo and what people said about it. `links` is None where nobody labelled them. Photos of one `group` show
    the same runners or moments and are no independent samples; a photo without one is its own. Where its boxes came
    from stands beside them, None where nobody knows, and so do the ids of its faces, None for those of older files.
    `people` are those who are in the photo, where that is said without saying where."""

    sha256: str
    name: str
    path: Path
    split: str
    bib_labeled: bool
    bibs: tuple[BibBox, ...]
    bib_tags: tuple[str, ...]
    face_labeled: bool
    faces: tuple[FaceBox, ...]
    face_tags: tuple[str, ...]
    links: tuple[BibFaceLink, ...] | None
    group: str = ""
    bib_origins: tuple[BoxOrigin | None, ...] = ()
    face_origins: tuple[BoxOrigin | None, ...] = ()
    face_ids: tuple[str | None, ...] = ()
    people: tuple[str, ...] | None = None
    #: Width and height in pixels, upright, as the index has them.
    size: tuple[int, int] = (0, 0)

    @property
    def labels(self) -> PhotoLabels:
        """The labels in the form that scoring takes: None where a dimension was never labelled."""
        return PhotoLabels(
            bibs=self.bibs if self.bib_labeled else None,
            faces=self.faces if self.face_labeled else None,
            links=self.links,
            bib_tags=self.bib_tags,
            face_tags=self.face_tags,
            people=self.people,
        )


@dataclass(frozen=True, slots=True)
class Selfie:
    """A picture that somebody searches with. It is no photo of the set, and its person may be in none."""

    sha256: str
    path: Path
    identity: str


@dataclass(frozen=True, slots=True)
class KnownPhoto:
    """A photo that a set has, in whichever split, with all names that it was added under."""

    sha256: str
    names: tuple[str, ...]
    split: str


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """The photos that a run evaluates. The digest changes when a photo, a label or the selection changes.

    `known` are all photos of the set, those of other splits included; `groups` is None where each photo is its own;
    `root` is the folder that the set is in. `identities_labeled` says that faces without a name were looked at and are
    seen once. Faces of a group in `must_link` are one person, those of a group in `cannot_link` are all different ones;
    each is a photo's hash and a box's id. `selfies` are all that the set has, whichever photos are selected.
    """

    name: str
    split: str
    photos: tuple[ReferencePhoto, ...]
    digest: str
    known: tuple[KnownPhoto, ...] = ()
    groups: GroupSummary | None = None
    root: Path = Path()
    identities_labeled: bool = False
    must_link: FaceGroups = ()
    cannot_link: FaceGroups = ()
    selfies: tuple[Selfie, ...] = ()


@dataclass(frozen=True)
class StagingSet:
    """A folder of photos and labels as it is now; `split` selects which of its photos are evaluated, `groups` says
    whether photos that belong together count as one sample."""

    root: str
    split: Split
    groups: Grouping = "auto"

    def load(self) -> ReferenceSet:
        """Read and check the folder, between two edits of whoever is labelling."""
        root = Path(self.root)
        contents = LabelStore(root, decode_lines).contents()
        return select(contents, root, "staging", self.split, groups_of(contents, root, self.groups))


def load_set(root: Path, name: str, split: str, grouping: Grouping = "photo") -> ReferenceSet:
    """Load the photos of `split` with their labels from a folder that nobody is writing to."""
    if not (root / "photo_index.json").is_file():
        raise ReferenceSetError(
            f"references.root: no reference set at {root} (expected a folder with photo_index.json); "
            "harness prepare or harness import makes one"
        )
    contents = read_contents(root, decoded=decode_lines)
    return select(contents, root, name, split, groups_of(contents, root, grouping))


def select(contents: Contents, root: Path, name: str, split: str, groups: Groups) -> ReferenceSet:
    """The photos of `split` with their labels, in the order of their names; `root` is where the photos lie. `groups`
    are those of all photos of the set."""
    stored, index = stored_photos(root), contents.index.photos
    known = tuple(KnownPhoto(photo, tuple(record.names), record.split) for photo, record in index.items())
    chosen = sorted((photo.names[0], photo.sha256) for photo in known if split in (Split.FULL, photo.split))
    if not chosen:
        raise ReferenceSetError(f"references.split: no photo of {root} is in the split {split!r}")
    # One that is missing is found out when it is read, and fails that photo alone.
    photos = tuple(
        _reference_photo(contents, sha256, stored.get(sha256, root / FOLDER / sha256), groups.of[sha256])
        for _, sha256 in chosen
    )
    inside = {photo.sha256 for photo in photos}
    summary = GroupSummary.of(groups, inside, {photo.sha256: photo.split for photo in known})
    labeled = bool(contents.identities.identities_labeled)
    constraints = contents.constraints(root).within(inside)
    selfies = _selfies(contents, root)
    return ReferenceSet(
        name=name,
        split=split,
        photos=photos,
        digest=digest(photos, labeled, constraints, selfies),
        known=known,
        groups=summary,
        root=root,
        identities_labeled=labeled,
        must_link=constraints.must_link,
        cannot_link=constraints.cannot_link,
        selfies=selfies,
    )


def _selfies(contents: Contents, root: Path) -> tuple[Selfie, ...]:
    """The selfies in the order of their hashes. One that is a photo of the set would find itself."""
    if twice := contents.selfies.photos.keys() & contents.index.photos.keys():
        raise ReferenceSetError(
            f"{root / Selfies.FILE_NAME}: photos.{min(twice)}: is a photo of the set as well, and would find itself"
        )
    stored = stored_photos(root, SELFIES)
    return tuple(
        Selfie(sha256, stored.get(sha256, root / SELFIES / sha256), identity)
        for sha256, identity in sorted(contents.selfies.photos.items())
    )


def labels_of(contents: Contents, sha256: str) -> PhotoLabels:
    """The labels of one photo in the form that scoring takes."""
    return _reference_photo(contents, sha256, Path(sha256)).labels


def _reference_photo(contents: Contents, sha256: str, path: Path, group: str = "") -> ReferencePhoto:
    record = contents.index.photos[sha256]
    bib = contents.bibs.photos.get(sha256, NO_BIBS)
    face = contents.faces.photos.get(sha256, NO_FACES)
    return ReferencePhoto(
        sha256=sha256,
        name=record.names[0],
        path=path,
        split=record.split,
        bib_labeled=bib.labeled,
        bibs=tuple(box.box() for box in bib.boxes),
        bib_tags=tuple(bib.tags),
        face_labeled=face.labeled,
        faces=tuple(box.box() for box in face.boxes),
        face_tags=tuple(face.tags),
        links=contents.links.links(sha256) if contents.links_done(sha256) else None,
        group=group,
        bib_origins=tuple(box.origin for box in bib.boxes),
        face_origins=tuple(box.origin for box in face.boxes),
        face_ids=tuple(box.id for box in face.boxes),
        people=None if face.people is None else tuple(face.people),
        size=(record.width, record.height),
    )


def digest_of(references: ReferenceSet, photos: Sequence[ReferencePhoto]) -> str:
    """The digest that a set has where only these of its photos are selected."""
    constraints = Constraints(references.must_link, references.cannot_link)
    inside = constraints.within({photo.sha256 for photo in photos})
    return digest(photos, references.identities_labeled, inside, references.selfies)


def digest(
    photos: Iterable[ReferencePhoto],
    identities_labeled: bool = False,
    constraints: Constraints = NO_CONSTRAINTS,
    selfies: Iterable[Selfie] = (),
) -> str:
    """SHA-256 over every photo's hash and labels in hash order, whatever the files are called and wherever they lie;
    and over what is said of the set as a whole.

    The fields are named one by one: a frozen set must keep its digest when a class gets a new field. What a set of an
    older version does not say is left out, so that such a set keeps its digest, too. Ids of boxes are names, and count
    by the face that they name.
    """
    total, places = hashlib.sha256(), dict[Face, int]()
    named = {face for groups in vars(constraints).values() for group in groups for face in group}
    for photo in sorted(photos, key=lambda photo: photo.sha256):
        faces = ((photo.sha256, id or "") for id in photo.face_ids)
        places |= {face: place for place, face in enumerate(faces) if face in named}
        record = [
            photo.sha256,
            photo.split,
            photo.bib_labeled,
            [[*box.xywh, box.number, box.scope, list(box.tags)] for box in photo.bibs],
            list(photo.bib_tags),
            photo.face_labeled,
            [[*box.xywh, box.scope, box.identity, list(box.tags)] for box in photo.faces],
            list(photo.face_tags),
            None if photo.links is None else [[link.bib_index, link.face_index] for link in photo.links],
        ]
        said = [] if photo.people is None else [sorted(photo.people)]
        total.update(json.dumps(record + said).encode())
    whole = {
        "identities_labeled": identities_labeled,
        "selfies": sorted([selfie.sha256, selfie.identity] for selfie in selfies),
        **{
            name: sorted(sorted([face[0], places[face]] for face in group) for group in groups)
            for name, groups in vars(constraints).items()
        },
    }
    if any(whole.values()):
        total.update(json.dumps(whole, sort_keys=True).encode())
    return total.hexdigest()
