"""What `python -m bench.photo_actions` says in the end of labels that were saved: it hides no mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.photo_truth import Agreement, Person

from harness.references.files import BibLabels, BibRecord, BoxRecord, FaceLabels, FaceRecord
from harness.references.labels import save_bibs, save_faces, save_links, view
from harness.references.store import LabelStore
from tests.references.builders import make_store, photo_hash

ADA = Person("417", BoxRecord(x=0.12, y=0.5, w=0.06, h=0.04), BoxRecord(x=0.1, y=0.2, w=0.1, h=0.1))
BO = Person("418", BoxRecord(x=0.62, y=0.5, w=0.06, h=0.04), BoxRecord(x=0.6, y=0.2, w=0.1, h=0.1))
BYSTANDER = FaceRecord(x=0.85, y=0.2, w=0.1, h=0.1)


def bib_of(person: Person, number: str) -> BibRecord:
    return BibRecord(x=person.bib.x - 0.02, y=person.bib.y - 0.02, w=0.1, h=0.08, number=number)


def face_of(person: Person, identity: str | None) -> FaceRecord:
    return FaceRecord(**person.face.model_dump(), identity=identity)


def told(root: Path, bibs: list[BibRecord], faces: list[FaceRecord], links: list[tuple[int, int]]) -> Agreement:
    store, photo = make_store(root / "set", photos=1, boxes=0), photo_hash(0)
    save_bibs(store, photo, BibLabels(labeled=True, boxes=bibs), view(store, photo).revisions, [None] * len(bibs))
    save_faces(store, photo, FaceLabels(labeled=True, boxes=faces), view(store, photo).revisions, [None] * len(faces))
    save_links(store, photo, links, view(store, photo).revisions)
    agreement = Agreement()
    agreement.add(view(LabelStore(root / "set"), photo), True, [ADA, BO])
    return agreement


def test_labels_as_they_are_agree(tmp_path: Path) -> None:
    faces = [BYSTANDER, face_of(BO, "418"), face_of(ADA, "417")]
    found = told(tmp_path, [bib_of(ADA, "417"), bib_of(BO, "418")], faces, [(0, 2), (1, 1)])
    assert found.wrong == []
    assert dict(found.found) == dict.fromkeys(("bibs", "numbers", "faces", "links", "names"), 2)
    assert found.more == {"faces": 1, "bibs": 0, "links": 0, "names": 0}


@pytest.mark.parametrize(
    ("bibs", "faces", "links", "wrong"),
    [
        (("417", "481"), ("417", "418"), [(0, 0), (1, 1)], ["runner 418: numbers differ"]),
        (("417", "418"), ("417", "418"), [(0, 0)], ["runner 418: links differ"]),
        (("417", "418"), ("417", "418"), [(0, 1), (1, 0)], ["417: links", "418: links", "2 more links"]),
        (("417", "418"), ("417", None), [(0, 0), (1, 1)], ["runner 418: names differ"]),
        (("417",), ("417", "418"), [(0, 0)], ["418: bibs", "418: numbers", "418: links"]),
        (("417", "418", "417"), ("417", "418"), [(0, 0), (1, 1)], ["1 more bibs"]),
    ],
)
def test_each_mistake_is_told(
    tmp_path: Path,
    bibs: tuple[str, ...],
    faces: tuple[str | None, ...],
    links: list[tuple[int, int]],
    wrong: list[str],
) -> None:
    boxes = [bib_of(person, number) for person, number in zip((ADA, BO, ADA), bibs, strict=False)]
    heads = [face_of(person, name) for person, name in zip((ADA, BO), faces, strict=True)]
    found = told(tmp_path, boxes, heads, links)
    assert len(found.wrong) == len(wrong)
    assert all(expected in text for expected, text in zip(wrong, found.wrong, strict=True))


def test_the_name_of_a_bystander_is_a_mistake(tmp_path: Path) -> None:
    faces = [face_of(ADA, "417"), face_of(BO, "418"), BYSTANDER.model_copy(update={"identity": "418"})]
    found = told(tmp_path, [bib_of(ADA, "417"), bib_of(BO, "418")], faces, [(0, 0), (1, 1)])
    assert found.wrong == ["a.jpg: 1 more names than are true"]
