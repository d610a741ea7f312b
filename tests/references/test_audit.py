"""A blind audit finds planted mistakes, and tells accepted suggestions from boxes that people made."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import InvalidEditError, UnknownPhotoError
from harness.references.agreement import audit_report
from harness.references.audits import draw_audit, save_blind
from harness.references.files import BibLabels, BoxOrigin, FaceLabels
from harness.references.forgetting import forget
from harness.references.freeze import freeze
from harness.references.frozen import open_frozen
from harness.references.labels import reset_labels, save_bibs, save_faces, view
from harness.references.store import LabelStore
from harness.references.suggestions import GhostBib, PhotoSuggestions, Provenance, StageProvenance, Suggestions
from tests.references.builders import bib, face, make_store, photo_hash

PHOTOS = 8


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    """Each photo has an accepted bib at 0.1 and a drawn one at 0.5; two accepted numbers are wrong."""
    store = make_store(tmp_path / "set", photos=PHOTOS, boxes=0)
    stage = StageProvenance(backend="some.Backend", version="0", models={}, config={})
    made_by = Provenance(bib=stage, face=stage, link=stage)
    with store.edit() as draft:
        draft.put_head(Suggestions, provenances={made_by.key: made_by})
        for number in range(PHOTOS):
            box = bib(0.1, suggested(number))
            ghost = GhostBib(x=box.x, y=box.y, w=box.w, h=box.h, number=box.number, score=0.9)
            record = PhotoSuggestions(provenance=made_by.key, bibs=[ghost], faces=[], links=[])
            draft.put(Suggestions, photo_hash(number), record)
    for number in range(PHOTOS):
        photo = photo_hash(number)
        boxes = [bib(0.1, suggested(number)), bib(0.5, f"5{number}")]
        old = len(view(store, photo).bibs.boxes)
        assert old == 0
        save_bibs(store, photo, BibLabels(labeled=True, boxes=boxes), view(store, photo).revisions, [None, None], "Ada")
        save_faces(store, photo, FaceLabels(labeled=True), view(store, photo).revisions, [])
    return store


def suggested(number: int) -> str:
    """What the pipeline read: wrong on two photos."""
    return f"9{number}" if number in (2, 5) else f"1{number}"


def label_blind(store: LabelStore, photos: list[str]) -> None:
    """Somebody who sees what is there; on one photo a bib that nobody had labelled."""
    for photo in photos:
        number = next(n for n in range(PHOTOS) if photo_hash(n) == photo)
        boxes = [bib(0.11, f"1{number}"), bib(0.5, f"5{number}")]
        boxes += [bib(0.8, "777")] if number == 3 else []
        save_blind(store, photo, BibLabels(labeled=True, boxes=boxes), "Ben")


def test_planted_mistakes_are_found_and_bias_is_told(store: LabelStore) -> None:
    drawn = draw_audit(store, PHOTOS)
    label_blind(store, drawn)
    report = audit_report(store.contents(), store.audit())
    assert report is not None
    found = report.bibs
    assert (found.photos, found.confirmed.right, found.confirmed.n) == (8, 14, 16)
    assert (found.accepted.right, found.accepted.n) == (6, 8)
    assert (found.others.right, found.others.n) == (8, 8)
    assert (found.found.right, found.found.n) == (16, 17)
    assert found.accepted.low is not None
    assert found.accepted.low < 6 / 8 < (found.accepted.high or 0)
    assert found.others.low is not None
    assert found.others.low < 1, "eight of eight is not certain"
    assert len(report.disagreements) == 3
    told = " ".join(report.disagreements)
    assert "bib 92, accepted: seen blind as 12" in told
    assert "bib 95, accepted: seen blind as 15" in told
    assert "bib 777: seen blind, and not labelled" in told
    assert report.faces.photos == 0, "nobody has labelled faces blind yet"


def test_what_is_not_finished_does_not_count(store: LabelStore) -> None:
    (photo,) = draw_audit(store, 1)
    save_blind(store, photo, BibLabels(labeled=False, boxes=[bib(0.5, "1")]))
    report = audit_report(store.contents(), store.audit())
    assert report is not None
    assert (report.bibs.photos, report.bibs.confirmed.n, report.disagreements) == (0, 0, ())


def test_the_sample_is_drawn_once_from_complete_photos(store: LabelStore) -> None:
    first = draw_audit(store, 3, seed=1)
    second = draw_audit(store, 99, seed=1)
    assert len(first) == 3
    assert sorted(first + second) == sorted(photo_hash(n) for n in range(PHOTOS))
    with pytest.raises(InvalidEditError, match="nothing to draw"):
        draw_audit(store, 1)
    with pytest.raises(UnknownPhotoError):
        save_blind(store, "0" * 64, BibLabels())


def test_a_frozen_set_tells_the_audit_of_its_photos(store: LabelStore) -> None:
    (store.root / "photos").mkdir()
    for number in range(PHOTOS):
        (store.root / "photos" / f"{photo_hash(number)}.jpg").write_text(str(number))  # what the hash is of
    freeze(store, "before")
    assert open_frozen(store.root, "before")[0].audit is None
    label_blind(store, draw_audit(store, PHOTOS))
    manifest = freeze(store, "after")
    assert manifest.audit is not None
    assert manifest.audit["bibs"]["accepted"]["right"] == 6
    read = open_frozen(store.root, "after")[0].audit
    assert read is not None
    assert read["bibs"] == manifest.audit["bibs"]
    assert len(read["disagreements"]) == 3


def test_a_name_is_forgotten_and_a_reset_empties_the_sample(store: LabelStore) -> None:
    (photo,) = draw_audit(store, 1)
    save_blind(store, photo, FaceLabels(labeled=True, boxes=[face(0.1, "Ada")]), "Ben")
    origin = store.audit().photos[photo].faces.boxes[0].origin
    assert origin == BoxOrigin(how="drawn", by="Ben", at=origin.at if origin else None)
    forget(store, "Ada")
    assert store.audit().photos[photo].faces.boxes[0].identity is None
    reset_labels(store)
    assert store.audit().photos == {}
