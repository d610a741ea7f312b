"""What the API answers with."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from harness.references.completeness import State
from harness.references.files import BibLabels, FaceLabels, LinkPairs
from harness.references.frozen import Manifest, Snapshots
from harness.references.suggestions import GhostBib, GhostFace
from harness.runs.suspects import Suspect
from harness.types import BibBox


class GhostBibOut(GhostBib):
    """A suggested bib, and whether a label answers it."""

    answered: bool


class GhostFaceOut(GhostFace):
    """A suggested face, and whether a label answers it."""

    answered: bool


class Ghosts(BaseModel):
    """The suggestions for a photo; what made them, or null where there are none."""

    bibs: list[GhostBibOut] = []
    faces: list[GhostFaceOut] = []
    #: Pairs of positions in the two lists, bib first.
    links: LinkPairs = []
    provenance: dict[str, str] | None = None


class Done(BaseModel):
    """Which dimensions of a photo are done."""

    bibs: bool
    faces: bool
    links: bool


class CompletenessOut(Done):
    """Which dimensions are done, what that comes to, and what is open where somebody has begun, in words."""

    state: State
    left_open: list[str]


class SuspectOut(BaseModel):
    """A box that the labels may have wrong, and what speaks for it."""

    dimension: Literal["bibs", "faces"]
    x: float
    y: float
    w: float
    h: float
    number: str | None
    runs: int
    witnesses: int
    ignored: bool
    reason: str

    @classmethod
    def of(cls, suspect: Suspect) -> SuspectOut:
        """A suspect as the API gives it."""
        box = suspect.box
        return cls(
            dimension="bibs" if suspect.kind == "bib" else "faces",
            x=box.x,
            y=box.y,
            w=box.w,
            h=box.h,
            number=box.number if isinstance(box, BibBox) else None,
            runs=suspect.runs,
            witnesses=suspect.witnesses,
            ignored=suspect.ignored,
            reason=suspect.reason,
        )


class Photo(BaseModel):
    """One photo with everything that an editor shows."""

    sha256: str
    name: str
    names: list[str]
    width: int
    height: int
    split: str
    revision: str
    bibs: BibLabels
    faces: FaceLabels
    links: LinkPairs | None
    links_labeled: bool
    suggested_links: LinkPairs
    ghosts: Ghosts
    completeness: CompletenessOut
    suspects: list[SuspectOut]
    #: Whose number it is, as far as linked faces elsewhere in the set say; of the numbers in this photo.
    names_by_number: dict[str, str]


class GhostsLeft(BaseModel):
    """Suggestions without an answer."""

    bibs: int
    faces: int


class PhotoSummary(BaseModel):
    """One photo in a list. `links` is null where nobody labelled them."""

    sha256: str
    name: str
    width: int
    height: int
    split: str
    bibs: int
    faces: int
    links: int | None
    ghosts_left: GhostsLeft
    done: Done
    state: State
    suspect: bool
    left_open: list[str]
    taken_at: str
    #: The part of the photo that a list shows, in pixels: x, y, w, h.
    heads: tuple[float, float, float, float]


class PhotoPage(BaseModel):
    """One page of a queue."""

    total: int
    page: int
    pages: int
    photos: list[PhotoSummary]


class Progress(BaseModel):
    """How far the set is labelled, in photos."""

    photos: int
    done: dict[str, int]
    states: dict[State, int]
    splits: dict[str, int]
    ghosts_left: GhostsLeft
    suspects: dict[str, int]


class KnownName(BaseModel):
    """A name in use or on the start list, on how many faces it is, and the number that its owner wears, if known."""

    name: str
    faces: int
    number: str | None
    #: Whether it is on the start list.
    listed: bool


class Names(BaseModel):
    """All names in use, the most frequent first, then those that are on the start list only."""

    names: list[KnownName]
    next_anonymous: str


class NewName(BaseModel):
    """A name that is taken from now on."""

    name: str


class FrozenOut(BaseModel):
    """A frozen set."""

    name: str
    description: str
    created_at: str
    photos: int
    digest: str
    states: dict[State, int]

    @classmethod
    def of(cls, manifest: Manifest) -> FrozenOut:
        """What a manifest says, in short."""
        return cls.model_validate(manifest.model_dump(include=set(cls.model_fields)))


class DamagedOut(BaseModel):
    """A frozen set that was touched, and what is wrong with it."""

    name: str
    problem: str


class FrozenSets(BaseModel):
    """All frozen sets, oldest first, and those that were touched."""

    sets: list[FrozenOut]
    damaged: list[DamagedOut]

    @classmethod
    def of(cls, found: Snapshots) -> FrozenSets:
        """What the manifests say, in short."""
        damaged = [DamagedOut(name=each.name, problem=each.problem) for each in found.damaged]
        return cls(sets=[FrozenOut.of(manifest) for manifest in found.sets], damaged=damaged)


class Frozen(FrozenOut):
    """A set that was just frozen; the warning counts photos that are not labelled completely."""

    warning: str | None


class Alive(BaseModel):
    """The server answers."""

    alive: bool = True


class WrongField(BaseModel):
    """One thing that is wrong with a request."""

    where: str
    message: str


class Refused(BaseModel):
    """Every answer to a request that is refused."""

    error: str
    message: str
    fields: list[WrongField] | None = None
    current: Photo | None = None
