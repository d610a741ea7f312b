"""Cross-checks: labels that are hard to believe together. They are for somebody to look at, and change nothing.

For example, where Ada wears 417 on thirty photos and 471 on one, that one photo is worth a look. What is told:

1. one identity on two faces of a photo; faces with the scope `exclude` do not count;
2. one identity with two complete numbers;
3. one complete number on two identities;
4. names that differ by case or blanks only, of faces or of people who are said to be in a photo;
5. a face with a name that is not among the people who are said to be in the photo;
6. one identity on two faces that `cannot_link` tells apart;
7. two names on faces that `must_link` says are one person, be it by way of others.

Links tie identities and numbers, by the same rule as they tie runners in groups. A name counts where a face has it: a
known name that no face has any more is no mistake.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from harness.base.garbage import no_collection
from harness.base.texts import counted, one_line
from harness.references.constraints import Face, people_of
from harness.references.contents import NO_FACES, Contents
from harness.references.files import FaceLabels, FaceRecord
from harness.references.groups import worn_numbers
from harness.references.reviews import check_id
from harness.types import FaceScope

Kind = Literal[
    "identity_on_two_faces",
    "identity_with_two_numbers",
    "number_on_two_identities",
    "names_alike",
    "face_not_among_people",
    "identity_told_apart",
    "names_linked",
]

#: How many numbers or names a sentence tells.
_VALUES_SHOWN = 3

#: The photos that each number or name is on, in the order of the photos.
_Places = dict[str, list[str]]


@dataclass(frozen=True)
class Finding:
    """Labels to look at, in a sentence, and the photos that they are on: hash -> name. The photos of the rarest number
    or name stand first, since the mistake is likely to be there; then they go by name and hash."""

    kind: Kind
    words: str
    photos: Mapping[str, str]
    #: Whom or what it is about, and the numbers, names or photo that are hard to believe together.
    subject: str = ""
    values: tuple[str, ...] = ()

    @property
    def check(self) -> str:
        """What an answer to it is remembered by; other values are another check."""
        return check_id(self.kind, self.subject, *sorted(self.values))


@dataclass
class _Seen:
    """What the photos show, gathered in one pass."""

    names: _Places = field(default_factory=dict)
    numbers_of: defaultdict[str, _Places] = field(default_factory=lambda: defaultdict(dict))
    #: Photo, identity and how many of the photo's faces have it.
    repeated: list[tuple[str, str, int]] = field(default_factory=list)
    #: Photo, and the names of faces that are not among the people who are said to be in it.
    unsaid: list[tuple[str, list[str]]] = field(default_factory=list)


def cross_check(contents: Contents) -> tuple[Finding, ...]:
    """What is worth a look on the photos of the index: by kind as above, then by identity, number or photo. The order
    of the files does not matter."""
    with no_collection():
        return tuple(_findings(contents))


def _findings(contents: Contents) -> Iterator[Finding]:
    file_names = {photo: record.names[0] for photo, record in contents.index.photos.items()}
    seen = _look(contents, sorted(file_names, key=lambda photo: (file_names[photo], photo)))
    for photo, identity, faces in seen.repeated:
        words = f"{_quoted(identity)} is on {faces} faces of one photo"
        yield Finding("identity_on_two_faces", words, {photo: file_names[photo]}, identity, (photo,))
    for identity, numbers in _several(seen.numbers_of):
        words = f"{_quoted(identity)} wears {len(numbers)} numbers: {_shown(numbers, one_line)}"
        yield Finding("identity_with_two_numbers", words, _rarest_first(numbers, file_names), identity, tuple(numbers))
    for number, wearers in _several(_turned(seen.numbers_of)):
        words = f"{one_line(number)} is worn by {len(wearers)} identities: {_shown(wearers, _quoted)}"
        yield Finding("number_on_two_identities", words, _rarest_first(wearers, file_names), number, tuple(wearers))
    for letters, spellings in _several(_alike(seen.names)):
        words = f"{len(spellings)} names differ by case or blanks only: {_shown(spellings, _quoted)}"
        yield Finding("names_alike", words, _rarest_first(spellings, file_names), letters, tuple(spellings))
    for photo, names in seen.unsaid:
        words = f"{' and '.join(map(_quoted, names))} on a face, but not among the people who are said to be there"
        yield Finding("face_not_among_people", words, {photo: file_names[photo]}, photo, tuple(names))
    yield from _against_links(contents, file_names)


def _against_links(contents: Contents, file_names: Mapping[str, str]) -> Iterator[Finding]:
    """Where names say something else than what is said about faces being one person or two."""
    must, cannot = (
        [[_face(name) for name in group] for group in groups]
        for groups in (contents.identities.must_link, contents.identities.cannot_link)
    )
    labels = contents.faces.photos
    named = {face: name for face in chain(*must, *cannot) if (name := _name_of(labels, face))}
    for group in cannot:
        for name, (first, *others) in _by_name(group, named):
            for other in others:
                words = f"{_quoted(name)} is on two faces that cannot_link tells apart"
                yield _about(first, other, file_names, "identity_told_apart", words, name)
    linked: defaultdict[Face, list[Face]] = defaultdict(list)
    for face, one in people_of(must).items():
        linked[one].append(face)
    for one in sorted(linked):
        names = _by_name(sorted(linked[one]), named)
        for rarer, faces in names[1:]:
            common, most = names[0]
            words = f"{_quoted(common)} and {_quoted(rarer)} are on faces that must_link says are one person"
            yield _about(most[0], faces[0], file_names, "names_linked", words, f"{common}, {rarer}")


def _about(first: Face, other: Face, file_names: Mapping[str, str], kind: Kind, words: str, subject: str) -> Finding:
    photos = {photo: file_names.get(photo, photo) for photo, _ in (first, other)}
    return Finding(kind, words, photos, subject, (":".join(first), ":".join(other)))


def _by_name(faces: Iterable[Face], named: Mapping[Face, str]) -> list[tuple[str, list[Face]]]:
    """The faces that have a name, by name; the name of most faces first."""
    found: defaultdict[str, list[Face]] = defaultdict(list)
    for face in faces:
        if face in named:
            found[named[face]].append(face)
    return sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))


def _face(name: str) -> Face:
    photo, _, box = name.partition(":")
    return photo, box


def _name_of(labels: Mapping[str, FaceLabels], face: Face) -> str | None:
    """The name on a face; one of scope exclude may show anybody."""
    boxes = labels.get(face[0], NO_FACES).boxes
    return next((box.identity for box in boxes if box.id == face[1] and box.scope != FaceScope.EXCLUDE), None)


def _look(contents: Contents, photos: list[str]) -> _Seen:
    seen = _Seen()
    for photo in photos:
        labels = contents.faces.photos.get(photo, NO_FACES)
        faces = labels.boxes
        named = [face.identity for face in faces if face.identity]
        for identity in (*named, *(labels.people or ())):
            _add(seen.names, identity, photo)
        if labels.people is not None and (left := _unsaid(labels)):
            seen.unsaid.append((photo, left))
        if len(set(named)) < len(named):
            seen.repeated += ((photo, identity, count) for identity, count in _repeated(faces))
        for number, identity in worn_numbers(contents, photo):
            _add(seen.numbers_of[identity], number, photo)
    return seen


def _unsaid(labels: FaceLabels) -> list[str]:
    """The names of faces that `people` does not have, though it names all who are there."""
    named = {face.identity for face in labels.boxes if face.identity and face.scope != FaceScope.EXCLUDE}
    return sorted(named - set(labels.people or ()))


def _repeated(faces: list[FaceRecord]) -> list[tuple[str, int]]:
    """The identities that several faces of a photo have, and how many."""
    counts = Counter(face.identity for face in faces if face.identity and face.scope != FaceScope.EXCLUDE)
    return sorted((identity, count) for identity, count in counts.items() if count > 1)


def _add(places: _Places, value: str, photo: str) -> None:
    """Note a photo, once; photos come one after the other."""
    if (photos := places.get(value)) is None:
        places[value] = [photo]
    elif photos[-1] != photo:
        photos.append(photo)


def _turned(numbers_of: Mapping[str, _Places]) -> dict[str, _Places]:
    """Wearers by number, from numbers by wearer."""
    found: defaultdict[str, _Places] = defaultdict(dict)
    for identity, numbers in numbers_of.items():
        for number, photos in numbers.items():
            found[number][identity] = photos
    return found


def _alike(names: _Places) -> dict[str, _Places]:
    """Names by what is left of them without case and blanks."""
    found: defaultdict[str, _Places] = defaultdict(dict)
    for name, photos in names.items():
        found["".join(name.split()).casefold()][name] = photos
    return found


def _several(found: Mapping[str, _Places]) -> Iterator[tuple[str, _Places]]:
    """What has two values or more; the values on most photos first."""
    for subject in sorted(subject for subject, places in found.items() if len(places) > 1):
        places = found[subject]
        yield subject, {value: places[value] for value in sorted(sorted(places), key=lambda value: -len(places[value]))}


def _shown(places: _Places, show: Callable[[str], str]) -> str:
    """As in `417 (30 photos), 471 (1 photo)`."""
    texts = [f"{show(value)} ({counted(len(places[value]), 'photo')})" for value in list(places)[:_VALUES_SHOWN]]
    more = f" and {len(places) - _VALUES_SHOWN:,} more" if len(places) > _VALUES_SHOWN else ""
    return ", ".join(texts) + more


def _rarest_first(places: _Places, file_names: Mapping[str, str]) -> dict[str, str]:
    return {photo: file_names[photo] for photos in reversed(places.values()) for photo in photos}


def _quoted(name: str) -> str:
    """In quotes, so that blanks at its ends can be seen."""
    return f'"{one_line(name)}"'
