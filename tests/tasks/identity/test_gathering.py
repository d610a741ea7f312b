"""From labels and predictions to evidence: who each found face is, what was found of each person, what is searched
with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.pipeline.identity.recognising import FaceVectors
from harness.references.sets import ReferencePhoto
from harness.scoring.detection import Thresholds
from harness.scoring.people import NOBODY, UNKNOWN, Evidence
from harness.scoring.searching import Search
from harness.tasks.identity import gathering
from harness.tasks.identity.gathering import SeenPhoto, SeenSelfie, gather, thinned
from harness.tasks.identity.roster import roster_of
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction
from tests.tasks.identity.test_roster import photo

HEIGHT = 1000


def face_at(place: int, identity: str | None = None, scope: str = "keep", height: float = 0.1) -> FaceBox:
    return FaceBox(x=place / 10, y=0.1, w=0.08, h=height, identity=identity, scope=scope)


def bib_at(place: int, number: str | None) -> BibBox:
    return BibBox(x=place / 10, y=0.5, w=0.08, h=0.1, number=number)


def vector(number: int) -> list[float]:
    return [float(place == number) for place in range(8)]


def seen(
    labels: ReferencePhoto,
    faces: Sequence[FaceBox] = (),
    bibs: Sequence[BibBox] = (),
    links: Sequence[tuple[int, int]] = (),
    least: float = 20,
) -> SeenPhoto:
    """A photo in which these were found; the vector of each face follows from its place."""
    heights = np.array([face.h * HEIGHT for face in faces])
    rows = [vector(round(face.x * 10) % 8) if face.h * HEIGHT >= least else vector(0) for face in faces]
    vectors = np.array(rows, dtype=np.float32).reshape(len(faces), 8) * (heights >= least)[:, None].astype(np.float32)
    prediction = PhotoPrediction(tuple(bibs), tuple(faces), tuple(BibFaceLink(b, f) for b, f in links))
    return SeenPhoto(labels, prediction, FaceVectors(vectors, heights >= least, heights), HEIGHT)


def gathered(*photos: SeenPhoto, selfies: Sequence[SeenSelfie] = (), labeled: bool = False) -> Evidence:
    people = roster_of(
        [item.photo for item in photos],
        [selfie.person for selfie in selfies],
        identities_labeled=labeled,
        grouped=False,
    )
    return gather(people, photos, selfies, Thresholds(0.5, 0.5), identities_labeled=labeled)


def test_found_faces_are_whoever_they_overlap() -> None:
    labels = photo("a", (face_at(1, "Ada"), face_at(3), face_at(5, "Bo")))
    found = [face_at(5), face_at(1), face_at(3), face_at(8)]
    assert gathered(seen(labels, found)).faces.person.tolist() == [1, 0, UNKNOWN, UNKNOWN]
    assert gathered(seen(labels, found), labeled=True).faces.person.tolist() == [1, 0, NOBODY, UNKNOWN]


def test_numbers_that_are_read_in_part_are_not_searched_and_lead_nowhere() -> None:
    labels = photo("a", (face_at(1, "Ada"), face_at(3, "Bo")))
    evidence = gathered(
        seen(labels, [face_at(1), face_at(3)], [bib_at(1, "17"), bib_at(3, "2?"), bib_at(5, None)], [(0, 0), (1, 1)])
    )
    assert evidence.photos.read == (frozenset({"17"}),)
    assert evidence.faces.linked.tolist() == [True, True]
    assert evidence.faces.numbers == ("17", None)


def test_what_was_found_of_each_person() -> None:
    labels = photo(
        "a",
        (face_at(1, "Ada"), face_at(3, "Bo", height=0.05)),
        (bib_at(1, "17"), bib_at(3, "18"), bib_at(5, "19")),
        ((0, 0), (1, 1)),
    )
    seen_photo = seen(labels, [face_at(1)], [bib_at(1, "17"), bib_at(3, "13")])
    found = gathered(seen_photo, seen(photo("b", people=("Zoe",)))).appearances
    rows = {
        name: (int(found.face[i]), bool(found.face_labeled[i]), bool(found.bib_found[i]), bool(found.bib_read[i]))
        for i, name in enumerate(["#19", "Ada", "Bo", "Zoe"])
    }
    assert rows == {
        "#19": (-1, False, False, False),
        "Ada": (0, True, True, True),
        "Bo": (-1, True, True, False),
        "Zoe": (-1, False, False, False),
    }
    assert found.photo_alone.tolist() == [False, False, False, True]
    assert found.bib_labeled.tolist() == [True, True, True, False]
    assert found.height[1:3].tolist() == [100, 50]
    assert np.isnan(found.height[[0, 3]]).all()


def test_people_search_with_selfies_and_others_with_each_of_their_faces() -> None:
    photos = [
        seen(photo("a", (face_at(1, "Ada"), face_at(3, "Bo"))), [face_at(1), face_at(3)]),
        seen(photo("b", (face_at(1, "Bo"), face_at(3, "Ada"))), [face_at(1, height=0.01), face_at(3)], least=20),
        seen(photo("c", (face_at(2, "Bo", height=0.01),)), [face_at(2, height=0.01)]),
    ]
    selfies = [
        SeenSelfie("Ada", True, np.array(vector(7), dtype=np.float32)),
        SeenSelfie("Zoe", False, None),
        SeenSelfie("Zoe", True, None),
    ]
    queries = gathered(*photos, selfies=selfies).queries
    assert queries.person.tolist() == [0, 1]
    assert queries.photo.tolist() == [-1, 0]
    assert queries.face.tolist() == [-1, 1]
    assert queries.vectors.tolist() == [vector(7), vector(3)]
    assert queries.not_found.tolist() == [0, 1, 1]
    assert queries.not_enrolled.tolist() == [0, 1, 1]


def test_where_a_photo_says_that_one_person_is_in_it_the_largest_face_searches() -> None:
    alone = photo("a", people=("Ada",), face_labeled=False)
    evidence = gathered(
        seen(alone, [face_at(1, height=0.05), face_at(4, height=0.2)]),
        seen(photo("b", people=("Ada", "Bo")), [face_at(1)]),
        seen(photo("c", people=("Bo",)), [face_at(6)]),
        seen(photo("d", people=("Bo",))),
    )
    assert evidence.queries.face.tolist() == [1, 3]
    assert evidence.queries.person.tolist() == [0, 1]
    assert evidence.queries.not_found.tolist() == [0, 1]
    # Of a single face in a photo of a single person it is known whose it is; of two it is not.
    assert evidence.faces.person.tolist() == [UNKNOWN, UNKNOWN, UNKNOWN, 1]
    assert evidence.photos.people_said.tolist() == [True, True, True, True]


def test_a_photo_in_which_nobody_is_enrolled_has_vectors_as_long_as_the_others() -> None:
    evidence = gathered(
        seen(photo("a", (face_at(1, "Ada"),))),
        SeenPhoto(
            photo("b"),
            PhotoPrediction(faces=(face_at(1, height=0.01),)),
            FaceVectors(np.zeros((1, 0), dtype=np.float32), np.zeros(1, dtype=bool), np.array([10.0])),
            HEIGHT,
        ),
        seen(photo("c", (face_at(2, "Bo"),)), [face_at(2)]),
    )
    assert evidence.faces.vectors.shape == (2, 8)
    assert evidence.faces.photo.tolist() == [1, 2]
    assert evidence.faces.enrolled.tolist() == [False, True]


def test_photos_of_nobody_known_have_no_queries_and_can_be_searched() -> None:
    evidence = gathered(seen(photo("a"), [face_at(1)]), seen(photo("b")))
    assert evidence.queries.vectors.shape == (0, 8)
    assert len(evidence.people) == 0
    assert Search(evidence).stranger_scores().tolist() == []


def test_selfies_can_search_photos_in_which_nobody_is_enrolled() -> None:
    nobody = FaceVectors(np.zeros((1, 0), dtype=np.float32), np.zeros(1, dtype=bool), np.array([10.0]))
    small = SeenPhoto(photo("a"), PhotoPrediction(faces=(face_at(1, height=0.01),)), nobody, HEIGHT)
    evidence = gathered(small, selfies=[SeenSelfie("Ada", True, np.array(vector(1), dtype=np.float32))])
    assert evidence.faces.vectors.shape == (1, 8)
    assert Search(evidence).stranger_scores().tolist() == [-np.inf]


@given(st.lists(st.integers(0, 9), max_size=60), st.integers(1, 70))
def test_people_with_very_many_faces_search_by_some_of_them(person: list[int], most: int) -> None:
    whose = np.array(person, dtype=np.int64)
    kept = thinned(whose, most)
    before, after = (np.bincount(each, minlength=10) for each in (whose, whose[kept]))
    each = after.max()
    assert after.tolist() == np.minimum(before, each).tolist(), "everybody has as many as anybody, or all of theirs"
    if len(person) <= most:
        assert len(kept) == len(person)
    else:
        assert len(kept) <= most or each == 1
        assert np.minimum(before, each + 1).sum() > most, "one more of each would be too many"


def test_faces_that_do_not_search_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_PAIRS", 3 * 5)  # five faces are searched
    photos = [seen(photo(name, (face_at(n, "Ada"),)), [face_at(n)]) for n, name in enumerate("abcde")]
    evidence = gathered(*photos)
    assert len(evidence.queries) == 3
    assert evidence.queries.left_out == 2
    assert len(evidence.appearances) == 5, "all of them are still wanted"
