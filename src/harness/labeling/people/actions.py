"""What a page may ask for: one action on faces, checked, and as the change of labels that it means."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from harness.base.errors import InvalidEditError
from harness.labeling.people.faces import FaceIndex
from harness.labeling.requests import PersonName, Request
from harness.references.people import ANONYMOUS, Change

MOST_FACES = 5000
#: A face by its name, and the identity that the person saw; null for none.
Seen = Annotated[
    dict[Annotated[str, Field(pattern=r"^[0-9a-f]{64}:[#~]?[0-9a-zA-Z_-]{1,40}$")], str | None],
    Field(max_length=MOST_FACES),
]

Do = Literal["name", "anonymous", "unname", "not_faces", "same", "not_person", "split", "move", "leave", "rename"]
#: What each action needs beside `faces`.
_NEEDS: dict[Do, tuple[str, ...]] = {
    "name": ("name",),
    "not_person": ("name",),
    "rename": ("old", "name"),
    "move": ("to",),
}


class Action(Request):
    """One action.

    `name`: the faces are this person's. `anonymous`: somebody whom nobody can name. `unname`: nobody's after all.
    `not_faces`: they are none. `same`: all of them are one person. `not_person`: they are not the person `name`.
    `split`: they are somebody else than the `rest` of their group. `move`: they are the person of the faces `to`, and
    not that of the `rest`. `leave`: they need no name. `rename`: whoever is called `old` is called `name`, everywhere.
    """

    do: Do
    faces: Seen = Field(default_factory=dict)
    rest: Seen = Field(default_factory=dict)
    to: Seen = Field(default_factory=dict)
    name: PersonName | None = None
    old: str | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        missing = [field for field in _NEEDS.get(self.do, ()) if not getattr(self, field)]
        if self.do != "rename" and not self.faces:
            missing.append("faces")
        if missing:
            raise ValueError(f"{self.do} needs {' and '.join(missing)}")
        return self

    def change(self, index: FaceIndex) -> Change:
        """What it means for the labels."""
        faces, first = list(self.faces), next(iter(self.faces), "")
        match self.do:
            case "name":
                return Change(self.faces, name=self.name)
            case "anonymous":
                return Change(self.faces, name=ANONYMOUS)
            case "unname":
                return Change(self.faces, name=None)
            case "not_faces":
                return Change(self.faces, not_faces=True)
            case "leave":
                return Change(self.faces, left_alone=faces)
            case "same":
                return Change(self.faces, same=[faces])
            case "split":
                return Change(self.faces | self.rest, same=[faces], apart=[(first, other) for other in self.rest])
            case "move":
                apart = [(first, other) for other in self.rest]
                return Change(self.faces | self.rest | self.to, same=[[*faces, *self.to]], apart=apart)
            case "not_person":
                known = index.people.get(str(self.name))
                if not known:
                    raise InvalidEditError(f"nobody is called {self.name!r}")
                person = known[0]
                return Change(
                    self.faces | {person.name: person.identity}, apart=[(face, person.name) for face in faces]
                )
            case "rename":
                return Change(rename=(str(self.old), str(self.name)))


class Undo(Request):
    """What to undo."""

    undo: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]
