"""What is said about faces of many photos at once: whole or not at all, with where labels came from, and undone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import InvalidEditError, StaleRevisionError
from harness.references.files import FaceIdentities, FaceLabels
from harness.references.labels import save_people, view
from harness.references.people import ANONYMOUS, Change, box_name, change_people, ghost_name, undo_people
from harness.references.reviews import CheckAnswer
from harness.references.store import LabelStore
from harness.references.suggestions import GhostFace, PhotoSuggestions, Suggestions
from harness.types import FaceScope
from tests.references.builders import make_store, photo_hash

A, B = photo_hash(0), photo_hash(1)
GHOST = GhostFace(x=0.7, y=0.1, w=0.05, h=0.05, score=0.8)


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    """Three photos with three labelled faces without names, and one suggested face each."""
    store = make_store(tmp_path / "set")
    photos = store.contents().index.photos
    with store.edit() as draft:
        for photo in photos:
            draft.put(Suggestions, photo, PhotoSuggestions(provenance="x", bibs=[], faces=[GHOST], links=[]))
    return store


def face(store: LabelStore, photo: str, position: int) -> str:
    return box_name(photo, view(store, photo).faces.boxes[position], position)


def names(store: LabelStore) -> dict[str, list[str | None]]:
    return {photo: [box.identity for box in labels.boxes] for photo, labels in store.contents().faces.photos.items()}


def state(store: LabelStore) -> object:
    contents, reviews = store.contents(), store.reviews()
    said = contents.identities
    return (
        contents.faces.photos,
        contents.links.photos,
        said.must_link,
        said.cannot_link,
        reviews.left_alone,
        reviews.answers,
    )


def test_a_name_over_two_photos_accepts_a_suggestion_with_where_it_came_from(store: LabelStore) -> None:
    change_people(store, Change({face(store, A, 1): None, ghost_name(B, GHOST): None}, name="Ada"))
    assert names(store)[A] == [None, "Ada", None]
    assert names(store)[B] == [None, None, None, "Ada"]
    new = view(store, B).faces.boxes[3]
    assert new.origin is not None
    assert (new.origin.how, new.origin.suggestion is not None, bool(new.id)) == ("accepted", True, True)
    assert store.contents().identities.names[-1] == "Ada"
    assert view(store, B).faces.labeled == make_labeled(store), "naming a face does not say that the photo is done"


def make_labeled(store: LabelStore) -> bool:
    return view(store, photo_hash(2)).faces.labeled


def test_all_of_it_is_refused_where_one_face_is_not_as_it_was_seen(store: LabelStore) -> None:
    change_people(store, Change({face(store, B, 0): None}, name="Bo"))
    before = state(store)
    with pytest.raises(StaleRevisionError, match="changed by somebody else meanwhile"):
        change_people(store, Change({face(store, A, 0): None, face(store, B, 0): None}, name="Ada"))
    assert state(store) == before


def test_a_suggestion_that_is_gone_is_told(store: LabelStore) -> None:
    with pytest.raises(StaleRevisionError):
        change_people(store, Change({f"{A}:~00000000": None}, name="Ada"))


def test_bystanders_get_different_names(store: LabelStore) -> None:
    one = change_people(store, Change({face(store, A, 0): None}, name=ANONYMOUS))
    other = change_people(store, Change({face(store, A, 1): None}, name=ANONYMOUS))
    assert (one.name, other.name) == ("anonymous_1", "anonymous_2")


def test_constraints_name_labels_and_contradictions_are_refused(store: LabelStore) -> None:
    one, ghost = face(store, A, 0), ghost_name(B, GHOST)
    change_people(store, Change({one: None, ghost: None}, same=[[one, ghost]]))
    (group,) = store.contents().identities.must_link
    assert [name.partition(":")[0] for name in group] == [A, B]
    before = state(store)
    with pytest.raises(InvalidEditError, match="one person by must_link"):
        change_people(store, Change(dict.fromkeys(group), apart=[(group[0], group[1])]))
    assert state(store) == before


def test_who_names_two_faces_alike_takes_back_that_they_are_two(store: LabelStore) -> None:
    one, other, third = face(store, A, 0), face(store, B, 0), face(store, B, 1)
    change_people(store, Change(dict.fromkeys((one, other, third)), apart=[(one, other), (one, third)]))
    named = change_people(store, Change({face(store, A, 0): None, face(store, B, 0): None}, name="Ada"))
    assert len(store.contents().identities.cannot_link) == 1, "what was said of the third face stays"
    undo_people(store, named)
    assert len(store.contents().identities.cannot_link) == 2


def test_a_person_is_renamed_everywhere_at_once(store: LabelStore) -> None:
    change_people(store, Change({face(store, A, 0): None, face(store, B, 1): None}, name="Ada"))
    change_people(store, Change({face(store, A, 1): None}, name="ada"))
    save_people(store, photo_hash(2), ["ada", "Bo"], view(store, photo_hash(2)).revisions)
    done = change_people(store, Change(rename=("ada", "Ada")))
    assert len(done.photos) == 2
    assert names(store)[A][:2] == ["Ada", "Ada"]
    assert view(store, photo_hash(2)).faces.people == ["Ada", "Bo"]
    assert "ada" not in store.contents().identities.names
    undo_people(store, done)
    assert names(store)[A][:2] == ["Ada", "ada"]
    with pytest.raises(InvalidEditError, match="nobody is called"):
        change_people(store, Change(rename=("Zoe", "Ada")))


def test_undo_is_refused_where_somebody_else_has_worked_on_the_photo(store: LabelStore) -> None:
    done = change_people(store, Change({face(store, A, 0): None}, name="Ada"))
    change_people(store, Change({face(store, A, 1): None}, name="Bo"))
    with pytest.raises(StaleRevisionError):
        undo_people(store, done)
    assert names(store)[A] == ["Ada", "Bo", None]


def test_what_is_no_face_has_no_name(store: LabelStore) -> None:
    change_people(store, Change({ghost_name(A, GHOST): None}, not_faces=True))
    assert view(store, A).faces.boxes[3].scope == FaceScope.EXCLUDE


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["name", "anonymous", "unname", "same", "apart", "leave", "answer", "rename", "not"]),
        st.integers(0, 11),
        st.integers(0, 11),
    ),
    max_size=6,
)


@settings(max_examples=30, deadline=None)
@given(steps=STEPS)
def test_undone_one_by_one_everything_is_as_before_and_as_after_again(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = make_store(tmp_path_factory.mktemp("undo") / "set", photos=4)
    photos = list(store.contents().index.photos)
    done, states = [], [state(store)]
    for what, one, other in steps:
        chosen = {}
        for place in {one, other}:
            box = view(store, photos[place // 3]).faces.boxes[place % 3]
            chosen[box_name(photos[place // 3], box, place % 3)] = box.identity
        faces = list(chosen)
        change = {
            "name": Change(chosen, name=f"P{one % 3}"),
            "anonymous": Change(chosen, name=ANONYMOUS),
            "unname": Change(chosen, name=None),
            "same": Change(chosen, same=[faces]),
            "apart": Change(chosen, apart=[(faces[0], faces[-1])]),
            "leave": Change(chosen, left_alone=faces),
            "answer": Change(answer=CheckAnswer(check=f"c{one}", answer="both", at="")),
            "rename": Change(rename=(f"P{one % 3}", f"P{other % 3}")),
            "not": Change(chosen, not_faces=True),
        }[what]
        try:
            done.append(change_people(store, change))
        except (InvalidEditError, StaleRevisionError):
            assert state(store) == states[-1], "what is refused changes nothing"
            continue
        states.append(state(store))
    redo = []
    for step, before in zip(reversed(done), reversed(states[:-1]), strict=True):
        redo.append(undo_people(store, step))
        assert _sorted(state(store)) == _sorted(before)
    for step, after in zip(reversed(redo), states[1:], strict=True):
        undo_people(store, step)
        assert _sorted(state(store)) == _sorted(after)


def _sorted(kept: object) -> object:
    """Constraints are a set: their order says nothing."""
    assert isinstance(kept, tuple)
    faces, links, must, cannot, alone, answers = kept
    return (
        {photo: labels for photo, labels in faces.items() if labels != FaceLabels()},
        links,
        sorted(must),
        sorted(cannot),
        sorted(alone),
        answers,
    )


def test_a_set_without_the_file_of_reviews_loads(tmp_path: Path) -> None:
    store = make_store(tmp_path / "set")
    assert store.reviews().left_alone == []
    assert not (tmp_path / "set" / "people_reviews.json").exists()
    assert isinstance(store.contents().identities, FaceIdentities)
