"""What a client may send: every field checked here, and a field that is not known refused."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from harness.references.fields import Index, Sha256
from harness.references.files import (
    BibLabels,
    BibPhotoTag,
    BibRecord,
    BoxRecord,
    FaceLabels,
    FacePhotoTag,
    FaceRecord,
    LinkPairs,
)
from harness.references.labels import Persons

MOST_BOXES = 500
MOST_TAGS = 20
#: Of a name.
MOST_LETTERS = 80
_PAST_THE_EDGE = 1e-6


def _plain(text: str) -> str:
    """Refuse what no name or tag needs and what could be taken for markup; pages escape everything all the same."""
    if not text.isprintable() or "<" in text or ">" in text or text != text.strip():
        raise ValueError("may not have control characters, < or >, nor blanks at its ends")
    return text


Number = Annotated[str, Field(pattern=r"^[0-9A-Za-z?-]{1,12}$")]
PersonName = Annotated[str, Field(min_length=1, max_length=MOST_LETTERS), AfterValidator(_plain)]
BoxTag = Annotated[str, Field(min_length=1, max_length=40), AfterValidator(_plain)]
FrozenName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]
Origin = Annotated[list[Index | None], Field(max_length=MOST_BOXES)]


class Request(BaseModel):
    """The body of a write."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class DrawnBox(BoxRecord):
    """A box that lies in the photo."""

    @model_validator(mode="after")
    def _inside(self) -> Self:
        if self.x + self.w > 1 + _PAST_THE_EDGE or self.y + self.h > 1 + _PAST_THE_EDGE:
            raise ValueError("the box reaches past the edge of the photo")
        return self


class BibBoxIn(DrawnBox, BibRecord):
    """One bib. Where it came from, and its id, the store finds out."""

    origin: None = None
    id: None = None
    number: Number | None = None
    tags: Annotated[list[BoxTag], Field(max_length=MOST_TAGS)] = Field(default_factory=list)


class FaceBoxIn(DrawnBox, FaceRecord):
    """One face. Where it came from, and its id, the store finds out."""

    origin: None = None
    id: None = None
    identity: PersonName | None = None


class SaveBibs(Request):
    """The bibs of a photo, all of them."""

    labeled: Annotated[bool, Field(strict=True)]
    boxes: Annotated[list[BibBoxIn], Field(max_length=MOST_BOXES)]
    tags: Annotated[list[BibPhotoTag], Field(max_length=MOST_TAGS)] = []
    origins: Origin

    def labels(self) -> BibLabels:
        """The labels as the store has them."""
        return BibLabels.model_validate(self.model_dump(exclude={"origins"}))


class SaveFaces(Request):
    """The faces of a photo, all of them."""

    labeled: Annotated[bool, Field(strict=True)]
    boxes: Annotated[list[FaceBoxIn], Field(max_length=MOST_BOXES)]
    tags: Annotated[list[FacePhotoTag], Field(max_length=MOST_TAGS)] = []
    origins: Origin

    def labels(self) -> FaceLabels:
        """The labels as the store has them."""
        return FaceLabels.model_validate(self.model_dump(exclude={"origins"}))


class SaveLinks(Request):
    """The links of a photo; null where nobody has looked after all. They are done unless `labeled` says otherwise."""

    links: Annotated[LinkPairs, Field(max_length=MOST_BOXES)] | None
    labeled: Annotated[bool, Field(strict=True)] = True


class SavePersons(Request):
    """All of a photo: bibs, faces, and links between these."""

    bibs: SaveBibs
    faces: SaveFaces
    links: Annotated[LinkPairs, Field(max_length=MOST_BOXES)]
    links_labeled: Annotated[bool, Field(strict=True)]

    def persons(self) -> Persons:
        """The labels as the store takes them."""
        return Persons(
            bibs=self.bibs.labels(),
            faces=self.faces.labels(),
            links=self.links,
            links_done=self.links_labeled,
            bib_origins=self.bibs.origins,
            face_origins=self.faces.origins,
        )


class SaveSplit(Request):
    """The split of a photo."""

    split: Literal["iteration", "holdout"]


class SaveBibTags(Request):
    """The photo's tags about bibs."""

    tags: Annotated[list[BibPhotoTag], Field(max_length=MOST_TAGS)]


class SaveFaceTags(Request):
    """The photo's tags about faces."""

    tags: Annotated[list[FacePhotoTag], Field(max_length=MOST_TAGS)]


class SaveIdentity(Request):
    """Whose face it is; null where nobody knows."""

    identity: PersonName | None


class AnswerGhosts(Request):
    """Positions of suggestions to accept and to reject."""

    accept: Annotated[list[Index], Field(max_length=MOST_BOXES)] = []
    reject: Annotated[list[Index], Field(max_length=MOST_BOXES)] = []


class Nothing(Request):
    """An empty object."""


DeskId = Annotated[str, Field(pattern=r"^[0-9a-zA-Z-]{8,64}$")]


class LeaveDesk(Request):
    """An editor that is left; a desk is one open editor, by an id of its own."""

    desk: DeskId


class TakePhotos(LeaveDesk):
    """An editor that is at work, and who sits there."""

    by: Annotated[str, Field(max_length=MOST_LETTERS), AfterValidator(_plain)] = ""


class Freeze(Request):
    """What to freeze, and under which name."""

    name: FrozenName
    description: Annotated[str, Field(max_length=500), AfterValidator(_plain)] = ""
    include_incomplete: Annotated[bool, Field(strict=True)] = False
    everything: Annotated[bool, Field(strict=True)] = False
    photos: Annotated[list[Sha256], Field(max_length=1_000_000)] | None = None
