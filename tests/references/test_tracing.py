"""Where boxes came from: told from what a person saw, kept through later edits, export and import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.formats import import_labels
from harness.references.exporting import export_coco
from harness.references.files import (
    BibGroundTruth,
    BibLabels,
    BibRecord,
    BoxOrigin,
    FaceLabels,
    FaceRecord,
    SuggestedBy,
)
from harness.references.freeze import freeze
from harness.references.labels import save_bib_tags, save_bibs, save_faces, save_identity, view
from harness.references.sets import digest, load_set
from harness.references.store import LabelStore
from harness.references.suggestions import (
    GhostBib,
    GhostFace,
    PhotoSuggestions,
    Provenance,
    StageProvenance,
    Suggestions,
)
from harness.types import BibScope, FaceScope
from tests.references.builders import make_store, photo_hash

PHOTO = photo_hash(0)
GHOST: dict[str, Any] = {"x": 0.1, "y": 0.5, "w": 0.1, "h": 0.1}
ELSEWHERE = GHOST | {"x": 0.7}
BY = SuggestedBy(backend="some.Backend", model="net aaaaaaaaaaaa", score=0.9)


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    """Photos without labels; the first has a suggested bib and a suggested face in the same place."""
    store = make_store(tmp_path / "set", boxes=0)
    stage = StageProvenance(backend="some.Backend", version="1", models={"net": "a" * 64}, config={})
    made_by = Provenance(bib=stage, face=stage, link=stage)
    with store.edit() as draft:
        draft.put_head(Suggestions, provenances={made_by.key: made_by})
        ghosts = {"bibs": [GhostBib(**GHOST, number="417", score=0.9)], "faces": [GhostFace(**GHOST, score=0.9)]}
        draft.put(Suggestions, PHOTO, PhotoSuggestions(provenance=made_by.key, links=[], **ghosts))  # type: ignore[arg-type]
    return store


def save(store: LabelStore, *boxes: BibRecord, origins: list[int | None] | None = None) -> list[BoxOrigin | None]:
    seen = view(store, PHOTO)
    save_bibs(store, PHOTO, BibLabels(boxes=list(boxes)), seen.revisions, origins or [None] * len(boxes))
    return [box.origin for box in view(store, PHOTO).bibs.boxes]


def hows(origins: list[BoxOrigin | None]) -> list[str | None]:
    return [origin.how if origin else None for origin in origins]


@pytest.mark.parametrize(
    ("box", "how"),
    [
        (BibRecord(**GHOST, number="417"), "accepted"),
        (BibRecord(**GHOST, number="417", tags=["folded"]), "accepted"),
        (BibRecord(**GHOST, number="411"), "edited"),
        (BibRecord(**GHOST | {"x": 0.11}, number="417"), "edited"),
        (BibRecord(**GHOST, number="417", scope=BibScope.BIB_CLIPPED), "edited"),
        (BibRecord(**GHOST, scope=BibScope.NOT_BIB), "edited"),
        (BibRecord(**ELSEWHERE, number="417"), "drawn"),
    ],
)
def test_a_new_bib_is_a_suggestion_taken_as_it_was_or_edited_or_drawn(
    store: LabelStore, box: BibRecord, how: str
) -> None:
    (origin,) = save(store, box)
    assert origin is not None
    assert (origin.how, origin.suggestion) == (how, None if how == "drawn" else BY)
    assert origin.at


@pytest.mark.parametrize(
    ("face", "how"),
    [
        (FaceRecord(**GHOST), "accepted"),
        (FaceRecord(**GHOST, identity="Ada"), "accepted"),
        (FaceRecord(**GHOST, scope=FaceScope.EXCLUDE), "edited"),
        (FaceRecord(**GHOST | {"w": 0.12}), "edited"),
        (FaceRecord(**ELSEWHERE), "drawn"),
    ],
)
def test_a_name_for_a_suggested_face_takes_nothing_back(store: LabelStore, face: FaceRecord, how: str) -> None:
    save_faces(store, PHOTO, FaceLabels(boxes=[face]), view(store, PHOTO).revisions, [None])
    (origin,) = [box.origin for box in view(store, PHOTO).faces.boxes]
    assert hows([origin]) == [how]


def test_a_box_keeps_its_history_through_other_edits_and_says_when_it_is_edited(store: LabelStore) -> None:
    taken, drawn = BibRecord(**GHOST, number="417"), BibRecord(**ELSEWHERE)
    first = save(store, taken, drawn)
    assert hows(first) == ["accepted", "drawn"]
    save_bib_tags(store, PHOTO, ["dark_bib"], view(store, PHOTO).revisions)
    assert [box.origin for box in view(store, PHOTO).bibs.boxes] == first
    assert save(store, drawn, taken, origins=[1, 0]) == first[::-1]
    moved = save(store, BibRecord(**ELSEWHERE | {"y": 0.4}), BibRecord(**GHOST, number="418"), origins=[0, 1])
    assert hows(moved) == ["drawn", "edited"]
    assert moved[1] is not None
    assert moved[1].suggestion == BY
    assert hows(save(store, drawn, taken, origins=[0, 1])) == ["drawn", "edited"]


def test_a_box_of_unknown_origin_stays_unknown(store: LabelStore) -> None:
    with store.edit() as draft:
        draft.put(BibGroundTruth, PHOTO, BibLabels(boxes=[BibRecord(**GHOST, number="417")]))
    assert save(store, BibRecord(**GHOST, number="418"), origins=[0]) == [None]


def test_naming_a_face_keeps_its_history(store: LabelStore) -> None:
    save_faces(store, PHOTO, FaceLabels(boxes=[FaceRecord(**GHOST)]), view(store, PHOTO).revisions, [None])
    for name, how in (("Ada", "accepted"), ("Bo", "edited")):
        save_identity(store, PHOTO, 0, name, view(store, PHOTO).revisions)
        assert hows([box.origin for box in view(store, PHOTO).faces.boxes]) == [how]


def test_a_save_that_is_sent_again_changes_nothing(store: LabelStore) -> None:
    seen, labels = view(store, PHOTO), BibLabels(boxes=[BibRecord(**GHOST, number="417")])
    save_bibs(store, PHOTO, labels, seen.revisions, [None])
    first = (store.root / "bib_ground_truth.json").read_bytes()
    save_bibs(store, PHOTO, labels, seen.revisions, [None])
    assert (store.root / "bib_ground_truth.json").read_bytes() == first


@pytest.mark.parametrize("form", ["coco", "bnr"])
def test_origins_and_groups_travel_with_our_own_files(tmp_path: Path, tiny_set: Path, form: str) -> None:
    store = LabelStore(tiny_set)
    known, unknown, _ = store.contents().index.photos
    origin = BoxOrigin(how="accepted", by="ada", at="2026-01-01T00:00:00Z", suggestion=BY)
    with store.edit() as draft:
        labels = draft.record(BibGroundTruth, known)
        boxes = [box.model_copy(update={"origin": origin}) for box in labels.boxes]
        draft.put(BibGroundTruth, known, labels.model_copy(update={"boxes": boxes}))
    source = store.root
    if form == "coco":
        export_coco(store.contents(), store.root, tmp_path / "out")
        source = tmp_path / "out"
    other = LabelStore(tmp_path / "other")
    import_labels(other, form, source)
    found = other.contents().bibs.photos
    assert [box.origin for box in found[known].boxes] == [origin]
    assert hows([box.origin for box in found[unknown].boxes]) == ["imported"]
    before = other.contents()
    import_labels(other, form, source)
    assert other.contents() == before


def test_where_boxes_came_from_is_no_part_of_the_digest(store: LabelStore, tmp_path: Path) -> None:
    save(store, BibRecord(**GHOST, number="417"))
    photos = load_set(store.root, "x", "full").photos
    with store.edit() as draft:
        draft.put(BibGroundTruth, PHOTO, draft.record(BibGroundTruth, PHOTO).bare())
    bare = load_set(store.root, "x", "full").photos
    assert [photo.bib_origins for photo in photos] != [photo.bib_origins for photo in bare]
    assert digest(photos) == digest(bare)


def test_a_frozen_set_keeps_where_boxes_came_from(tiny_set: Path) -> None:
    store = LabelStore(tiny_set)
    photo = next(iter(store.contents().index.photos))
    with store.edit() as draft:
        labels = draft.record(BibGroundTruth, photo)
        boxes = [box.model_copy(update={"origin": BoxOrigin(how="drawn")}) for box in labels.boxes]
        draft.put(BibGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))
    freeze(store, "v1")
    assert '"origin":{"how":"drawn"}' in (tiny_set / "frozen" / "v1" / "bib_ground_truth.json").read_text()
