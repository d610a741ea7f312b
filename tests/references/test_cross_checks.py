"""Cross-checks: one example of each kind, sets that are clean, and a plain reading of the rules on random sets."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.references.contents import Contents
from harness.references.cross_checks import Finding, cross_check
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    PhotoIndex,
    PhotoRecord,
)
from harness.references.groups import Groups
from harness.references.stats import count
from harness.types import FaceScope
from tests.references.builders import bib, face, photo_hash

#: A photo in short: the numbers of its bibs, the names of its faces, its links.
Shot = tuple[tuple[str | None, ...], tuple[str | None, ...], tuple[tuple[int, int], ...]]


def wearing(number: str, name: str) -> Shot:
    """One runner, with the bib and the face linked."""
    return (number,), (name,), ((0, 0),)


def faces(*names: str | None) -> Shot:
    return (), names, ()


def contents(shots: dict[str, Shot], known: Iterable[str] = ()) -> Contents:
    """Photos by file name; the hash follows from the place."""
    photos = {photo_hash(place): shot for place, shot in enumerate(shots.values())}
    more: dict[str, Any] = {"width": 9, "height": 9, "bytes": 1, "added_at": "", "split": "iteration"}
    return Contents(
        index=PhotoIndex(photos={h: PhotoRecord(names=[name], **more) for h, name in zip(photos, shots, strict=True)}),
        bibs=BibGroundTruth(photos={h: BibLabels(boxes=[bib(0.1, text) for text in s[0]]) for h, s in photos.items()}),
        faces=FaceGroundTruth(
            photos={h: FaceLabels(boxes=[face(0.1, name) for name in s[1]]) for h, s in photos.items()}
        ),
        links=BibFaceLinks(photos={h: list(s[2]) for h, s in photos.items() if s[2]}),
        identities=FaceIdentities(names=list(known)),
    )


def found(shots: dict[str, Shot]) -> list[tuple[str, str, list[str]]]:
    return [(each.kind, each.words, list(each.photos.values())) for each in cross_check(contents(shots))]


def test_one_identity_on_two_faces_of_a_photo() -> None:
    shots = {"b.jpg": faces("Ada", "Bo", "Ada", None, None), "a.jpg": faces("Ada", "Bo", "Bo", "Bo")}
    assert found(shots) == [
        ("identity_on_two_faces", '"Bo" is on 3 faces of one photo', ["a.jpg"]),
        ("identity_on_two_faces", '"Ada" is on 2 faces of one photo', ["b.jpg"]),
    ]


def test_a_face_that_is_excluded_may_be_of_somebody_who_is_in_the_photo_already() -> None:
    twice = contents({"a.jpg": faces("Ada", "Ada")})
    first, second = twice.faces.photos[photo_hash(0)].boxes
    excluded = [first, second.model_copy(update={"scope": FaceScope.EXCLUDE})]
    twice.faces.photos[photo_hash(0)] = FaceLabels(boxes=excluded)
    assert cross_check(twice) == ()


def test_one_identity_with_two_complete_numbers_the_rarest_photo_first() -> None:
    shots = {
        "a.jpg": wearing("417", "Ada"),
        "b.jpg": wearing(" 417 ", "Ada"),
        "c.jpg": wearing("471", "Ada"),
        "d.jpg": wearing("4?7", "Ada"),
    }
    words = '"Ada" wears 2 numbers: 417 (2 photos), 471 (1 photo)'
    assert found(shots) == [("identity_with_two_numbers", words, ["c.jpg", "a.jpg", "b.jpg"])]


def test_one_number_on_two_identities() -> None:
    shots = {"a.jpg": wearing("417", "Bo"), "b.jpg": (("417",), ("Ada", "Ada L"), ((0, 0), (0, 1)))}
    words = '417 is worn by 3 identities: "Ada" (1 photo), "Ada L" (1 photo), "Bo" (1 photo)'
    assert found(shots) == [("number_on_two_identities", words, ["a.jpg", "b.jpg"])]


def test_names_that_differ_by_case_or_blanks_only() -> None:
    shots = {
        "a.jpg": faces("Ada Lovelace"),
        "b.jpg": faces("Ada Lovelace", "adalovelace "),
        "c.jpg": faces("Ada\u00a0Lovelace", "Ada Love"),
    }
    words = (
        "3 names differ by case or blanks only: "
        '"Ada Lovelace" (2 photos), "\'Ada\\xa0Lovelace\'" (1 photo), "adalovelace " (1 photo)'
    )
    assert found(shots) == [("names_alike", words, ["b.jpg", "c.jpg", "a.jpg"])]


def linked(shots: dict[str, Shot], **groups: list[list[tuple[int, int]]]) -> list[tuple[str, str, list[str]]]:
    """What is found where groups of faces, each by the place of its photo and its own, are said to be one or several
    people's."""
    given = contents(shots)
    boxes = given.faces.photos
    named = {
        photo: labels.model_copy(
            update={"boxes": [box.model_copy(update={"id": f"f{at}"}) for at, box in enumerate(labels.boxes)]}
        )
        for photo, labels in boxes.items()
    }
    hashes = list(boxes)
    said = {name: [[f"{hashes[p]}:f{at}" for p, at in group] for group in each] for name, each in groups.items()}
    given = replace(given, faces=FaceGroundTruth(photos=named), identities=given.identities.model_copy(update=said))
    return [(each.kind, each.words, list(each.photos.values())) for each in cross_check(given)]


def test_one_identity_on_faces_that_are_told_apart() -> None:
    shots = {"a.jpg": faces("Ada"), "b.jpg": faces("Bo", "Ada"), "c.jpg": faces(None)}
    words = '"Ada" is on two faces that cannot_link tells apart'
    group = [(0, 0), (1, 0), (1, 1), (2, 0)]
    assert linked(shots, cannot_link=[group]) == [("identity_told_apart", words, ["a.jpg", "b.jpg"])]
    assert linked(shots, cannot_link=[group[:2] + group[3:]]) == []


def test_two_names_on_faces_of_one_person_also_by_way_of_a_face_without_a_name() -> None:
    shots = {"a.jpg": faces("Ada"), "b.jpg": faces(None), "c.jpg": faces("Bo"), "d.jpg": faces("Ada")}
    words = '"Ada" and "Bo" are on faces that must_link says are one person'
    groups = [[(0, 0), (1, 0)], [(1, 0), (2, 0)]]
    assert linked(shots, must_link=groups) == [("names_linked", words, ["a.jpg", "c.jpg"])]
    assert linked(shots, must_link=[groups[0], [(1, 0), (3, 0)]]) == []


def test_a_long_list_of_numbers_is_cut_in_the_sentence_and_whole_in_the_photos() -> None:
    shots = {f"{number}.jpg": wearing(str(number), "Ada") for number in range(1, 6)}
    words = '"Ada" wears 5 numbers: 1 (1 photo), 2 (1 photo), 3 (1 photo) and 2 more'
    (finding,) = cross_check(contents(shots))
    assert finding.words == words
    assert sorted(finding.photos.values()) == sorted(shots)


def test_a_clean_set_says_nothing() -> None:
    shots = {
        "a.jpg": wearing("417", "Ada"),
        "b.jpg": wearing("417", "Ada"),
        "c.jpg": (("471", "12", None), ("Ada", "Bo", None), ((1, 1), (2, 0))),  # Ada stands beside 471
        "d.jpg": (("12?",), ("Ada",), ((0, 0),)),
        "e.jpg": ((), (), ()),
    }
    assert cross_check(contents(shots, known=["Ada", "ada", "ADA"])) == ()
    assert cross_check(contents({})) == ()


def test_labels_of_a_photo_that_is_not_in_the_index_do_not_count() -> None:
    whole = contents({"a.jpg": wearing("417", "Ada"), "b.jpg": wearing("471", "Ada")})
    assert len(cross_check(whole)) == 1
    del whole.index.photos[photo_hash(1)]
    assert cross_check(whole) == ()


def test_stats_have_them_all() -> None:
    twice = contents({"a.jpg": faces("Ada", "Ada")})
    words, photo = '"Ada" is on 2 faces of one photo', photo_hash(0)
    expected = Finding("identity_on_two_faces", words, {photo: "a.jpg"}, subject="Ada", values=(photo,))
    assert count(twice, Groups({photo_hash(0): "a"})).cross_checks == (expected,)


def oracle(given_contents: Contents) -> set[tuple[str, frozenset[str]]]:
    """Kinds and photos by comparing every two labels with each other."""
    named, worn = [], []
    for photo in given_contents.index.photos:
        bibs, boxes = given_contents.bibs.photos[photo].boxes, given_contents.faces.photos[photo].boxes
        named += [(photo, place, box.identity) for place, box in enumerate(boxes) if box.identity]
        for b, f in given_contents.links.photos.get(photo, []):
            number, name = bibs[b].number, boxes[f].identity
            if number and name and "?" not in number:
                worn.append((photo, number.strip(), name))
    pairs: set[tuple[str, str, str]] = set()  # kind, what is shared, photo
    for (photo, _, name), (other, _, second) in combinations(named, 2):
        if photo == other and name == second:
            pairs.add(("identity_on_two_faces", f"{photo} {name}", photo))
        shared = name.replace(" ", "").lower()
        if name != second and shared == second.replace(" ", "").lower():
            pairs |= {("names_alike", shared, photo), ("names_alike", shared, other)}
    for (photo, number, name), (other, another, second) in combinations(worn, 2):
        if name == second and number != another:
            pairs |= {("identity_with_two_numbers", name, each) for each in (photo, other)}
        if name != second and number == another:
            pairs |= {("number_on_two_identities", number, each) for each in (photo, other)}
    subjects = {(kind, subject) for kind, subject, _ in pairs}
    return {
        (f"{kind} {subject}", frozenset(photo for k, s, photo in pairs if (k, s) == (kind, subject)))
        for kind, subject in subjects
    }


@st.composite
def some_shot(draw: st.DrawFn) -> Shot:
    texts = st.sampled_from([None, "1", "2", " 2", "3?"])
    names = st.sampled_from([None, "Ada", "ada", "A da", "Bo", "anonymous_1"])
    numbers, people = draw(st.lists(texts, max_size=3)), draw(st.lists(names, max_size=3))
    places = [(b, f) for b in range(len(numbers)) for f in range(len(people))]
    links = draw(st.lists(st.sampled_from(places), unique=True, max_size=4)) if places else []
    return tuple(numbers), tuple(people), tuple(links)


@given(st.lists(some_shot(), max_size=6), st.randoms(use_true_random=False))
def test_findings_are_those_of_the_plain_rule_in_whichever_order_photos_come(
    shots: list[Shot], chance: random.Random
) -> None:
    whole = contents({f"{number}.jpg": shot for number, shot in enumerate(shots)})
    before = whole.faces.model_copy(deep=True)
    findings = cross_check(whole)
    expected = oracle(whole)
    assert sorted((each.kind, sorted(each.photos)) for each in findings) == sorted(
        (subject.split()[0], sorted(photos)) for subject, photos in expected
    )
    assert whole.faces == before
    order = list(whole.index.photos)
    chance.shuffle(order)
    shuffled = Contents(
        index=PhotoIndex(photos={photo: whole.index.photos[photo] for photo in order}),
        bibs=BibGroundTruth(photos={photo: whole.bibs.photos[photo] for photo in order}),
        faces=FaceGroundTruth(photos={photo: whole.faces.photos[photo] for photo in order}),
        links=BibFaceLinks(photos={p: whole.links.photos[p] for p in reversed(order) if p in whole.links.photos}),
        identities=whole.identities,
    )
    again = cross_check(shuffled)
    assert [(each, list(each.photos)) for each in again] == [(each, list(each.photos)) for each in findings]
