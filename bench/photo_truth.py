"""What true labels say of a photo's runners, and how far saved labels agree with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.references.files import BoxRecord
from harness.references.importing import ImportedPhoto
from harness.references.labels import PhotoView
from harness.references.suggestions import same_place
from harness.types import BibScope, FaceScope

#: A bib box holds at least so much of the digits, and has at most so many times their area: a bib of short digits.
COVERED, LARGER = 0.75, 12.0

#: What is compared for each runner.
SAID = ("bibs", "numbers", "faces", "links", "names")


@dataclass(frozen=True)
class Person:
    """A runner of the true labels."""

    number: str
    bib: BoxRecord
    face: BoxRecord


def people_of(photo: ImportedPhoto) -> list[Person]:
    """The runners of a photo."""
    assert photo.bibs is not None
    assert photo.faces is not None
    return [
        Person(photo.bibs.boxes[bib].number or "", photo.bibs.boxes[bib], photo.faces.boxes[face])
        for bib, face in photo.links or []
    ]


def covered(box: BoxRecord, true: BoxRecord) -> float:
    """The share of a true box that another one holds."""
    across = min(box.x + box.w, true.x + true.w) - max(box.x, true.x)
    down = min(box.y + box.h, true.y + true.h) - max(box.y, true.y)
    return max(across, 0.0) * max(down, 0.0) / (true.w * true.h)


def fits_bib(box: BoxRecord, true: BoxRecord) -> bool:
    """Whether a box shows a true bib. True boxes are tight on the digits, others may be on the whole bib."""
    return covered(box, true) >= COVERED and box.w * box.h <= LARGER * true.w * true.h


def matched(
    boxes: Sequence[BoxRecord], true: Sequence[BoxRecord], fits: Callable[[BoxRecord, BoxRecord], bool]
) -> dict[int, int]:
    """The position of the box that shows each true one, by the position of that: one to one, the closest first."""
    fitting = [(at, i) for at, each in enumerate(true) for i, box in enumerate(boxes) if fits(box, each)]

    def apart(pair: tuple[int, int]) -> float:
        one, box = true[pair[0]], boxes[pair[1]]
        return abs(one.x + one.w / 2 - box.x - box.w / 2) + abs(one.y + one.h / 2 - box.y - box.h / 2)

    found: dict[int, int] = {}
    for at, i in sorted(fitting, key=apart):
        if at not in found and i not in found.values():
            found[at] = i
    return found


@dataclass
class Agreement:
    """How far saved labels agree with the true ones; `wrong` says in sentences where they do not."""

    found: Counter[str] = field(default_factory=Counter)
    more: Counter[str] = field(default_factory=Counter)
    runners: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, saved: PhotoView, complete: bool, people: Sequence[Person]) -> None:
        """Compare a photo; `complete` says whether nothing of it is left open."""
        name = saved.record.names[0]
        bibs = [(at, box) for at, box in enumerate(saved.bibs.boxes) if box.scope != BibScope.NOT_BIB]
        faces = [(at, box) for at, box in enumerate(saved.faces.boxes) if box.scope != FaceScope.EXCLUDE]
        links = set(saved.links or [])
        own_bibs = matched([box for _, box in bibs], [person.bib for person in people], fits_bib)
        own_faces = matched([box for _, box in faces], [person.face for person in people], same_place)
        self.runners += len(people)
        for at, person in enumerate(people):
            bib, face = own_bibs.get(at), own_faces.get(at)
            self._say(name, person, "bibs", bib is not None)
            self._say(name, person, "numbers", bib is not None and bibs[bib][1].number == person.number)
            self._say(name, person, "faces", face is not None)
            pair = None if bib is None or face is None else (bibs[bib][0], faces[face][0])
            self._say(name, person, "links", pair in links)
            links.discard(pair)
            self._say(name, person, "names", face is not None and faces[face][1].identity == person.number)
        others = [box for at, (_, box) in enumerate(faces) if at not in own_faces.values()]
        self.more["faces"] += len(others)  # bystanders, whom the true labels do not have
        beyond = {
            "bibs": len(bibs) - len(own_bibs),
            "links": len(links),
            "names": sum(box.identity is not None for box in others),
        }
        self.more.update(beyond)
        self.wrong += [] if complete else [f"{name}: not complete"]
        self.wrong += [f"{name}: {count} more {what} than are true" for what, count in beyond.items() if count]

    def _say(self, name: str, person: Person, what: str, right: bool) -> None:
        self.found[what] += right
        if not right:
            self.wrong.append(f"{name}: runner {person.number}: {what} differ")
