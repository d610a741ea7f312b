"""Who is labelled where. Each case is a small set written out, and the people that follow from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.references.sets import ReferencePhoto
from harness.scoring.people import NOBODY, UNKNOWN, Person
from harness.tasks.identity.roster import Roster, Sighting, roster_of
from harness.types import BibBox, BibFaceLink, FaceBox


def bib(number: str | None, scope: str = "bib") -> BibBox:
    return BibBox(x=0.1, y=0.5, w=0.1, h=0.1, number=number, scope=scope)


def face(identity: str | None = None, scope: str = "keep") -> FaceBox:
    return FaceBox(x=0.1, y=0.1, w=0.1, h=0.1, identity=identity, scope=scope)


def photo(
    name: str,
    faces: tuple[FaceBox, ...] = (),
    bibs: tuple[BibBox, ...] = (),
    links: tuple[tuple[int, int], ...] = (),
    **more: Any,
) -> ReferencePhoto:
    values: dict[str, Any] = {
        "split": "iteration",
        "bib_labeled": True,
        "bibs": bibs,
        "bib_tags": (),
        "face_labeled": True,
        "faces": faces,
        "face_tags": (),
        "links": tuple(BibFaceLink(bib, face) for bib, face in links),
    }
    return ReferencePhoto(sha256=name, name=name, path=Path(name), **values | more)


def roster(
    *photos: ReferencePhoto, selfies: tuple[str, ...] = (), labeled: bool = False, grouped: bool = False
) -> Roster:
    return roster_of(photos, selfies, identities_labeled=labeled, grouped=grouped)


def names(found: Roster) -> list[str]:
    return [person.name for person in found.people]


def test_a_faces_person_is_its_identity_else_the_number_of_its_linked_bib() -> None:
    found = roster(photo("a", (face("Ada"), face()), (bib("17"), bib("23")), ((0, 0), (1, 1))))
    assert found.people == (Person("#23", numbers=("23",)), Person("Ada", numbers=("17",)))
    assert found.faces == ((1, 0),)
    assert found.sightings == (Sighting(0, 0, (1,), (1,)), Sighting(1, 0, (0,), (0,)))


def test_a_number_that_belongs_to_one_identity_is_theirs_everywhere_also_on_a_back() -> None:
    found = roster(
        photo("a", (face("Ada"),), (bib("17"),), ((0, 0),)),
        photo("b", (), (bib("17"),)),
        photo("c", (face(),), (bib("17"),), ((0, 0),)),
    )
    assert found.people == (Person("Ada", numbers=("17",)),)
    assert found.sightings == (Sighting(0, 0, (0,), (0,)), Sighting(0, 1, (), (0,)), Sighting(0, 2, (0,), (0,)))


def test_a_number_with_two_identities_is_neithers_where_no_link_says_so() -> None:
    found = roster(
        photo("a", (face("Ada"),), (bib("17"),), ((0, 0),)),
        photo("b", (face("Bo"),), (bib("17"),), ((0, 0),)),
        photo("c", (), (bib("17"),)),
    )
    assert names(found) == ["#17", "Ada", "Bo"]
    assert [(item.person, item.photo) for item in found.sightings] == [(1, 0), (2, 1), (0, 2)]


def test_partial_obscured_and_rejected_numbers_say_nobody() -> None:
    found = roster(photo("a", (), (bib("1?"), bib("17", "bib_obscured"), bib("18", "not_bib"), bib(None))))
    assert found.people == ()


def test_an_excluded_face_is_nobodys_and_an_uncertain_one_has_not_to_be_found() -> None:
    found = roster(photo("a", (face("Ada", "exclude"), face("Bo", "uncertain")), (bib("17"),), ((0, 0),)), labeled=True)
    assert names(found) == ["#17", "Bo"]
    assert found.faces == ((UNKNOWN, 1),)
    assert found.sightings == (Sighting(0, 0, (), (0,)), Sighting(1, 0, (), ()))


def test_a_face_without_a_name_is_a_distractor_only_where_the_set_says_that_it_was_looked_at() -> None:
    assert roster(photo("a", (face(),))).faces == ((UNKNOWN,),)
    assert roster(photo("a", (face(),)), labeled=True).faces == ((NOBODY,),)


def test_an_anonymous_person_wants_nothing_unless_they_wear_a_number() -> None:
    found = roster(photo("a", (face("anonymous_1"), face("anonymous_2")), (bib("17"),), ((0, 1),)))
    assert [person.runner for person in found.people] == [False, True]


def test_a_photo_may_say_who_is_in_it_without_saying_where() -> None:
    found = roster(photo("a", people=("Ada", "Bo")), photo("b", people=()))
    assert names(found) == ["Ada", "Bo"]
    assert found.sightings == (Sighting(0, 0, said=True), Sighting(1, 0, said=True))


def test_whoever_has_a_selfie_is_somebody_also_in_no_photo() -> None:
    found = roster(photo("a", (face("Ada"),)), selfies=("Zoe", "Ada"))
    assert names(found) == ["Ada", "Zoe"]
    assert [item.person for item in found.sightings] == [0]


def test_each_person_is_in_the_group_that_holds_most_of_their_photos() -> None:
    photos = [photo(name, (face("Ada"),), group=group) for name, group in (("a", "g2"), ("b", "g2"), ("c", "g1"))]
    photos.append(photo("d", (face("Bo"),), group="g3"))
    photos.append(photo("e", (face("Bo"),), group="g1"))
    grouped = roster(*photos, selfies=("Zoe",), grouped=True)
    assert [(person.name, person.group) for person in grouped.people] == [("Ada", "g2"), ("Bo", "g1"), ("Zoe", "")]
    assert {person.group for person in roster(*photos).people} == {""}
