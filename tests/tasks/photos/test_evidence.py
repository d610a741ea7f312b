"""What a run tells about its photos and labels: groups, a split that breaks them, labels that the judged model made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.pipeline.prepare import provenance_of
from harness.references.files import BoxOrigin, FaceGroundTruth, PhotoIndex, SuggestedBy
from harness.references.groups import GroupSummary
from harness.references.sets import StagingSet
from harness.references.store import LabelStore
from harness.tasks.photos import evidence
from harness.tasks.photos.evidence import Accepted
from harness.types import FaceScope, Split
from tests.tasks.photos.scored import evaluated, task

SUMMARY = GroupSummary("auto", photos=12, groups=5, largest=4, cut=1, broken=0)


def group_together(root: Path) -> None:
    """The first two photos belong together."""
    with LabelStore(root).edit() as draft:
        for photo, record in list(draft.file(PhotoIndex).photos.items())[:2]:
            draft.put(PhotoIndex, photo, record.model_copy(update={"group": "finish"}))


def take_faces(root: Path, origin: BoxOrigin | None, photos: int = 3) -> None:
    """Say where the faces of the first photos came from."""
    with LabelStore(root).edit() as draft:
        for photo, labels in list(draft.file(FaceGroundTruth).photos.items())[:photos]:
            boxes = [box.model_copy(update={"origin": origin}) for box in labels.boxes]
            draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))


def own_face(root: Path) -> BoxOrigin:
    """An accepted suggestion of the very detector that the task runs, as `prepare` names it."""
    stage = provenance_of(task(root, None).pipeline).face
    return BoxOrigin(how="accepted", suggestion=SuggestedBy(backend=stage.backend, model=stage.model, score=0.9))


@pytest.mark.slow
def test_a_run_carries_its_groups_and_tells_them(tiny_set: Path) -> None:
    group_together(tiny_set)
    result = evaluated(tiny_set, None)
    first, second, third = (item.group for item in result.kept.items)
    assert first == second != third
    assert result.kept.text == "3 photos in 2 groups, the largest of 2."
    assert (result.tags["groups"], result.tags["groups.cut"]) == ("2", "0")
    assert "groups.broken" not in result.tags


@pytest.mark.slow
def test_a_run_says_when_the_labels_are_its_own_answers(tiny_set: Path) -> None:
    take_faces(tiny_set, own_face(tiny_set), photos=2)
    result = evaluated(tiny_set, None)
    assert "67% of the labelled faces (2 of 3) are suggestions of this very model" in result.kept.text
    assert result.tags["labels.accepted_share.faces"] == "0.667"
    assert "labels.accepted_share.bibs" not in result.tags


def test_the_key_of_a_run_follows_groups_and_origins_though_the_digest_does_not(tiny_set: Path) -> None:
    def state() -> tuple[str, list[str]]:
        made = task(tiny_set, None)
        return made.data().digest, made.inputs()

    digest, before = state()
    assert state() == (digest, before)
    group_together(tiny_set)
    assert state()[0] == digest
    grouped = state()[1]
    assert grouped != before
    take_faces(tiny_set, own_face(tiny_set))
    assert state()[0] == digest
    assert state()[1] not in (before, grouped)


@pytest.mark.parametrize(
    "change",
    [{"how": "edited"}, {"how": "drawn", "suggestion": None}, {"suggestion": None}, "backend", "model", None],
)
def test_only_what_was_accepted_unedited_from_the_same_model_counts(tiny_set: Path, change: object) -> None:
    own = own_face(tiny_set)
    assert own.suggestion is not None
    assert "yunet" in own.suggestion.model
    origin: BoxOrigin | None = own
    if isinstance(change, dict):
        origin = own.model_copy(update=change)
    elif isinstance(change, str):
        origin = own.model_copy(update={"suggestion": own.suggestion.model_copy(update={change: "another"})})
    else:
        origin = None
    take_faces(tiny_set, origin)
    made = task(tiny_set, None)
    assert not made.accepted
    take_faces(tiny_set, own)
    assert task(tiny_set, None).accepted == {"faces": Accepted(3, 3)}


def test_labels_that_are_not_scored_are_no_targets(tiny_set: Path) -> None:
    take_faces(tiny_set, own_face(tiny_set))
    first, second, _ = LabelStore(tiny_set).contents().index.photos
    with LabelStore(tiny_set).edit() as draft:
        labels = draft.record(FaceGroundTruth, first)
        boxes = [box.model_copy(update={"scope": FaceScope.UNCERTAIN}) for box in labels.boxes]
        draft.put(FaceGroundTruth, first, labels.model_copy(update={"boxes": boxes}))
        draft.put(FaceGroundTruth, second, draft.record(FaceGroundTruth, second).model_copy(update={"labeled": False}))
    assert task(tiny_set, None).accepted == {"faces": Accepted(1, 1)}


def test_notes_speak_up_above_half_and_where_the_split_breaks_groups() -> None:
    assert list(evidence.notes(None, {})) == []
    assert list(evidence.notes(SUMMARY, {"bibs": Accepted(10, 5)})) == [
        "12 photos in 5 groups, the largest of 4; 1 tie between groups was cut."
    ]
    broken, faces = list(evidence.notes(replace(SUMMARY, broken=2), {"faces": Accepted(10, 6)}))[1:]
    assert broken.startswith("2 groups have photos in both splits")
    assert "split --by-group" in broken
    assert faces.startswith("60% of the labelled faces (6 of 10)")
    assert evidence.tags(replace(SUMMARY, broken=2), {}) == {"groups": "5", "groups.cut": "1", "groups.broken": "2"}


def test_each_photo_by_itself_is_said_too(tiny_set: Path) -> None:
    references = StagingSet(str(tiny_set), Split.ITERATION, "photo").load()
    assert references.groups is not None
    assert references.groups.words() == "3 photos, each a group of its own (references.groups=photo)."
