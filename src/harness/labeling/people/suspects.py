"""Cross-checks as a queue: labels that are hard to believe together, two pictures each, for somebody to say what is
right. They come from labels (`references/cross_checks.py`) and from vectors: near-identical faces with two names.
Nothing is changed before somebody answers, and an answer is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field

from harness.base.errors import InvalidEditError
from harness.base.texts import one_line
from harness.labeling.people.alike import Alike
from harness.labeling.people.faces import Face, FaceIndex
from harness.labeling.requests import PersonName, Request
from harness.references.cross_checks import Finding
from harness.references.people import Change
from harness.references.reviews import CheckAnswer, check_id

Answer = Literal["left", "right", "both", "merge", "rename"]
_TWO_NAMES: dict[Answer, str] = {
    "left": "Both faces are {0}",
    "right": "Both faces are {1}",
    "merge": "{1} is {0}, everywhere",
    "rename": "{1} has another name, everywhere",
}
#: What each answer comes to, in words, by the kind of check; the rest can be only called right, or be opened.
_MEANS: dict[str, dict[Answer, str]] = {
    "identity_on_two_faces": {"left": "Only the left face is {0}", "right": "Only the right face is {0}"},
    "identity_with_two_numbers": {"left": "Only the left face is {0}", "right": "Only the right face is {0}"},
    "identity_told_apart": {"left": "Only the left face is {0}", "right": "Only the right face is {0}"},
    "number_on_two_identities": _TWO_NAMES,
    "names_alike": {
        "left": "It is {0}, everywhere",
        "right": "It is {1}, everywhere",
        "rename": "{1} has another name, everywhere",
    },
    "faces_alike": _TWO_NAMES,
    "names_linked": _TWO_NAMES,
}


@dataclass(frozen=True)
class Side:
    """One of the two: the name in question, and a face that has it, where one has."""

    name: str
    face: Face | None


@dataclass(frozen=True)
class Suspect:
    """A cross-check to answer. `check` is what its answer is remembered by."""

    check: str
    kind: str
    words: str
    left: Side
    right: Side
    photos: Sequence[str]

    @property
    def answers(self) -> dict[Answer, str]:
        """What can be said, each in words."""
        means: dict[Answer, str] = {}
        if self.left.name and self.right.name:
            means = {
                key: text.format(self.left.name, self.right.name) for key, text in _MEANS.get(self.kind, {}).items()
            }
        return {**means, "both": "Both are right"}

    def change(self, answer: Answer, name: str | None) -> Change:
        """What an answer means for the labels."""
        if answer not in self.answers:
            raise InvalidEditError(f"{answer!r} is no answer to this check; expected {', '.join(self.answers)}")
        kept = CheckAnswer(check=self.check, answer=answer, at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
        left, right = self.left, self.right
        if answer == "both":
            return Change(answer=kept)
        if answer == "rename":
            if name is None:
                raise InvalidEditError("rename needs a name")
            return Change(rename=(right.name, name), answer=kept)
        if answer == "merge" or self.kind == "names_alike":
            return Change(rename=(left.name, right.name) if answer == "right" else (right.name, left.name), answer=kept)
        keeps, loses = (left, right) if answer == "left" else (right, left)
        if loses.face is None:
            raise InvalidEditError("this is said of a photo, and not of a face; open it in the editor")
        given = None if self.kind.startswith("identity_") else keeps.name
        return Change({loses.face.name: loses.face.identity}, name=given, answer=kept)


class AnswerSuspect(Request):
    """The answer to a check."""

    check: Annotated[str, Field(pattern=r"^[0-9a-f]{20}$")]
    answer: Answer
    name: PersonName | None = None


def suspects_of(
    findings: Iterable[Finding], alike: Iterable[Alike], index: FaceIndex, settled: frozenset[str]
) -> list[Suspect]:
    """All that has no answer yet: what the labels say, then what the pictures say."""
    found = [*_from_labels(findings, index), *_from_pictures(alike, index)]
    return [suspect for suspect in found if suspect.check not in settled]


def _from_labels(findings: Iterable[Finding], index: FaceIndex) -> Iterator[Suspect]:
    for finding in findings:
        left, right = _sides(finding, index)
        yield Suspect(finding.check, finding.kind, finding.words, left, right, list(finding.photos))


def _sides(finding: Finding, index: FaceIndex) -> tuple[Side, Side]:
    """The most frequent number or name on the left, the rarest on the right: the mistake is likely to be there."""
    people, subject, values = index.people, finding.subject, finding.values
    match finding.kind:
        case "identity_on_two_faces":
            faces = [face for face in people.get(subject, ()) if face.photo == values[0]]
            first, last = (faces[0], faces[-1]) if len(faces) > 1 else (None, None)
            return Side(subject, first), Side(subject, last)
        case "identity_with_two_numbers":
            wearing = {face.number: face for face in reversed(people.get(subject, ()))}
            return Side(subject, wearing.get(values[0])), Side(subject, wearing.get(values[-1]))
        case "number_on_two_identities":
            return _wearing(people.get(values[0], ()), values[0], subject), _wearing(
                people.get(values[-1], ()), values[-1], subject
            )
        case "names_alike":
            first, last = (next(iter(people.get(name, ())), None) for name in (values[0], values[-1]))
            return Side(values[0], first), Side(values[-1], last)
        case "identity_told_apart" | "names_linked":
            return _named(index.by_name.get(values[0])), _named(index.by_name.get(values[1]))
        case _:
            there = [face for face in people.get(values[0], ()) if face.photo == subject]
            return Side(values[0], there[0] if there else None), Side("", None)


def _named(face: Face | None) -> Side:
    return Side((face and face.identity) or "", face)


def _wearing(faces: Sequence[Face], name: str, number: str) -> Side:
    return Side(name, next((face for face in faces if face.number == number), next(iter(faces), None)))


def _from_pictures(alike: Iterable[Alike], index: FaceIndex) -> Iterator[Suspect]:
    for each in alike:
        face, other = index.by_name.get(each.face.name), index.by_name.get(each.other.name)
        if not (face and other and face.identity and other.identity and face.identity != other.identity):
            continue  # somebody has named one of them meanwhile
        counts = [len(index.people[str(one.identity)]) for one in (face, other)]
        left, right = (face, other) if counts[0] > counts[1] else (other, face)
        names = f'"{one_line(str(left.identity))}" and "{one_line(str(right.identity))}"'
        yield Suspect(
            check_id("faces_alike", *sorted((face.name, other.name)), *sorted((face.identity, other.identity))),
            "faces_alike",
            f"near-identical faces ({each.similarity:.2f}) with the names {names}",
            Side(str(left.identity), left),
            Side(str(right.identity), right),
            [left.photo, right.photo],
        )
