"""Importing: each format's own rules, nothing half imported, nothing overwritten, and COCO out and in again."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from harness.base.errors import ReferenceSetError
from harness.formats import import_labels
from harness.references.contents import Contents
from harness.references.exporting import export_coco
from harness.references.importing import workspace
from harness.references.labels import save_bib_tags, view
from harness.references.sets import ReferencePhoto, load_set
from harness.references.splitting import split_of
from harness.references.store import LabelStore

WIDTH, HEIGHT = 200, 100

#: An import that is killed once its photos are copied.
KILLED_IMPORT = """
import os, signal, sys
from pathlib import Path
from harness.formats import import_labels
from harness.references.store import LabelStore
LabelStore.edit = lambda _: os.kill(os.getpid(), signal.SIGKILL)
import_labels(LabelStore(Path(sys.argv[1])), "coco", Path(sys.argv[2]))
"""


def picture(path: Path, shade: int = 0, orientation: int | None = None) -> Path:
    """A picture of 200 x 100 pixels, or 100 x 200 once it is turned upright."""
    path.parent.mkdir(parents=True, exist_ok=True)
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    out = io.BytesIO()
    Image.new("RGB", (WIDTH, HEIGHT), (shade * 80, 90, 200)).save(out, "jpeg", exif=exif)
    path.write_bytes(out.getvalue())
    return path


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    return LabelStore(tmp_path / "imported")


def photos(store: LabelStore) -> dict[str, ReferencePhoto]:
    return {photo.name: photo for photo in load_set(store.root, "x", "full").photos}


def xywh(photo: ReferencePhoto) -> list[tuple[float, ...]]:
    return [tuple(round(value, 9) for value in box.xywh) for box in (*photo.bibs, *photo.faces)]


# RBNR


def rbnr(folder: Path) -> Path:
    one, two = picture(folder / "set1" / "a_01.JPG", 1), picture(folder / "set2" / "b_01.JPG", 2)
    mat = {"tagp": [[51, 60, 21, 40]], "facep": [[1, 10, 1, 20]], "number": [[3638]]}
    savemat(f"{one}.mat", {key: np.array(value, dtype=np.uint16) for key, value in mat.items()})
    rows = {"tagp": [[51, 60, 21, 40], [90, 120, 190, 201]], "facep": [[1, 10, 1, 20], [0, 5, 5, 9]]}
    savemat(f"{two}.mat", {**{key: np.array(value, dtype=float) for key, value in rows.items()}, "number": [[7], [80]]})
    (folder / "list.txt").write_text("not a photo")
    return folder


def test_rbnr_counts_pixels_from_one_cuts_at_the_border_and_links_by_row(tmp_path: Path, store: LabelStore) -> None:
    summary = import_labels(store, "rbnr", rbnr(tmp_path / "rbnr"))
    assert (summary.photos, summary.new_photos, summary.bibs, summary.faces, summary.links) == (2, 2, 3, 3, 3)
    found = photos(store)
    assert list(found) == ["a_01.JPG", "b_01.JPG"]
    assert xywh(found["a_01.JPG"]) == [(0.1, 0.5, 0.1, 0.1), (0.0, 0.0, 0.1, 0.1)]
    assert [bib.number for bib in found["b_01.JPG"].bibs] == ["7", "80"]
    assert xywh(found["b_01.JPG"])[1] == (0.945, 0.89, 0.055, 0.11)
    assert [(link.bib_index, link.face_index) for link in found["b_01.JPG"].links or ()] == [(0, 0), (1, 1)]
    assert all(photo.split == split_of(photo.sha256) for photo in found.values())


@pytest.mark.parametrize("given", [["M507", "0891"], np.array([["M507"], ["0891"]], dtype=object)])
def test_rbnr_numbers_that_are_texts_keep_their_letters_and_leading_zeros(
    tmp_path: Path, store: LabelStore, given: Any
) -> None:
    photo = picture(tmp_path / "rbnr" / "a_01.JPG", 1)
    boxes = [[51, 60, 21, 40], [61, 70, 21, 40]]
    savemat(f"{photo}.mat", {"tagp": boxes, "facep": boxes, "number": given})
    import_labels(store, "rbnr", tmp_path / "rbnr")
    assert [bib.number for bib in photos(store)["a_01.JPG"].bibs] == ["M507", "0891"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"tagp": [[1, 2, 1, 2]], "facep": [[1, 2, 1, 2]], "number": [[62.5]]},
            "number: 62.5: expected a whole number",
        ),
        ({"tagp": [[1, 2, 1, 2]], "facep": [[1, 2, 1, 2]]}, "number: not there"),
        ({"facep": [[1, 2, 1, 2]], "number": [[1]]}, "tagp: not there"),
        ({"tagp": [[1, 2, 3]], "facep": [[1, 2, 1, 2]], "number": [[1]]}, r"tagp: expected rows of 4 numbers"),
        ({"tagp": [[1, 2, 1, 2]], "facep": [[1, 2, 1, 2]], "number": [[1, 2]]}, "1 tagp, 1 facep and 2 number rows"),
        ({"tagp": [[9, 2, 9, 2]], "facep": [[1, 2, 1, 2]], "number": [[1]]}, "tagp row 1: not a box"),
        ({"tagp": [[1, 2, 1, np.nan]], "facep": [[1, 2, 1, 2]], "number": [[1]]}, "tagp: expected rows"),
        ({"tagp": [[1, 2, 900, 950]], "facep": [[1, 2, 1, 2]], "number": [[1]]}, "tagp row 1: the box .* sticks out"),
        ({"tagp": "hello", "facep": [[1, 2, 1, 2]], "number": [[1]]}, "tagp: not numbers"),
    ],
)
def test_a_broken_rbnr_file_is_named_and_nothing_is_imported(
    tmp_path: Path, store: LabelStore, content: dict[str, Any], message: str
) -> None:
    savemat(f"{rbnr(tmp_path / 'rbnr') / 'set1' / 'a_01.JPG'}.mat", content)
    with pytest.raises(ReferenceSetError, match=rf"a_01\.JPG\.mat: {message}"):
        import_labels(store, "rbnr", tmp_path / "rbnr")
    assert not store.root.exists()


def test_what_is_no_matlab_file_or_is_missing_is_named(tmp_path: Path, store: LabelStore) -> None:
    mat = rbnr(tmp_path / "rbnr") / "set1" / "a_01.JPG.mat"
    for content in (b"", b"junk" * 100, mat.read_bytes()[:150]):
        mat.write_bytes(content)
        with pytest.raises(ReferenceSetError, match=r"a_01\.JPG\.mat: "):
            import_labels(store, "rbnr", tmp_path / "rbnr")
    mat.unlink()
    with pytest.raises(ReferenceSetError, match=r"a_01\.JPG\.mat: not there"):
        import_labels(store, "rbnr", tmp_path / "rbnr")


def test_a_photo_that_cannot_be_read_stops_the_import_before_anything_is_entered(
    tmp_path: Path, store: LabelStore
) -> None:
    photo = rbnr(tmp_path / "rbnr") / "set2" / "b_01.JPG"
    photo.write_bytes(photo.read_bytes()[: photo.stat().st_size // 2])
    with pytest.raises(ReferenceSetError, match=r"b_01\.JPG\.mat: .*b_01.JPG: not a readable picture"):
        import_labels(store, "rbnr", tmp_path / "rbnr")
    assert not store.root.exists()


# COCO


def coco(folder: Path, **changes: Any) -> Path:
    picture(folder / "images" / "a.jpg", 1)
    picture(folder / "images" / "b.jpg", 2)
    content: dict[str, Any] = {
        "images": [{"id": 5, "file_name": "a.jpg", "width": WIDTH, "height": HEIGHT}, {"id": 6, "file_name": "b.jpg"}],
        "categories": [{"id": 1, "name": "Bib"}, {"id": 2, "name": "FACE"}, {"id": 3, "name": "person"}],
        "annotations": [
            {"id": 1, "image_id": 5, "category_id": 1, "bbox": [20, 50.5, 20, 10], "attributes": {"number": 417}},
            {
                "id": 2,
                "image_id": 5,
                "category_id": 2,
                "bbox": [-0.4, 0, 20.4, 10],
                "attributes": {"identity": "Ada", "scope": "unknown", "tags": ["tiny"], "occluded": False},
            },
        ],
    }
    (folder / "labels.json").write_text(json.dumps(content | changes))
    return folder


def test_coco_boxes_attributes_and_categories(tmp_path: Path, store: LabelStore) -> None:
    summary = import_labels(store, "coco", coco(tmp_path / "coco"))
    assert (summary.photos, summary.bibs, summary.faces, summary.links) == (2, 1, 1, 0)
    photo = photos(store)["a.jpg"]
    assert xywh(photo) == [(0.1, 0.505, 0.1, 0.1), (0.0, 0.0, 0.1, 0.1)]
    assert photo.bibs[0].number == "417"
    assert (photo.faces[0].identity, photo.faces[0].scope, photo.faces[0].tags) == ("Ada", "uncertain", ("tiny",))
    assert photo.links is None
    assert photos(store)["b.jpg"].labels.bibs == ()
    assert store.contents().identities.names == ["Ada"]


def test_coco_without_a_category_does_not_speak_about_it(tmp_path: Path, store: LabelStore) -> None:
    import_labels(store, "coco", coco(tmp_path / "coco", categories=[{"id": 1, "name": "bib"}], annotations=[]))
    labels = photos(store)["a.jpg"].labels
    assert (labels.bibs, labels.faces) == ((), None)


ANNOTATION: dict[str, Any] = {"image_id": 5, "category_id": 1, "bbox": [1, 1, 2, 2]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"annotations": [ANNOTATION | {"image_id": 9}]}, r"annotations\.0\.image_id: no image 9"),
        ({"annotations": [ANNOTATION | {"category_id": 9}]}, r"annotations\.0\.category_id: no category 9"),
        (
            {"annotations": [ANNOTATION | {"category_id": 3}]},
            r"annotations\.0\.category_id: 'person' is neither bib nor",
        ),
        ({"annotations": [ANNOTATION, ANNOTATION | {"bbox": [1, 2]}]}, r"annotations\.1\.bbox"),
        ({"annotations": [ANNOTATION | {"bbox": [1, 1, -2, 2]}]}, r"annotations\.0\.bbox: not a box"),
        ({"annotations": [ANNOTATION | {"bbox": [190, 1, 20, 2]}]}, r"annotations\.0\.bbox: the box .* sticks out"),
        ({"annotations": [ANNOTATION | {"attributes": {"scope": "bip"}}]}, r"annotations\.0: scope: must be"),
        ({"images": [{"id": 5, "file_name": "gone.jpg"}]}, r"images\.0: no photo gone.jpg in"),
        ({"images": [{"id": 5, "file_name": "a.jpg", "width": 100, "height": 200}]}, r"images\.0: says 100 x 200"),
        ({"images": [{"id": 5, "file_name": "a.jpg"}, {"id": 5, "file_name": "b.jpg"}]}, "images: two of them"),
        ({"images": None}, "images: must be a list"),
    ],
)
def test_a_broken_coco_file_is_named_with_its_record_and_nothing_is_imported(
    tmp_path: Path, store: LabelStore, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReferenceSetError, match=rf"labels\.json: {message}"):
        import_labels(store, "coco", coco(tmp_path / "coco", **changes))
    assert not store.root.exists()


def same_labels(left: Contents, right: Contents) -> bool:
    """Everything but revisions is equal; coordinates to 1e-6. A box of unknown origin counts as imported, and one
    without an id has got one."""
    known = {"taken_at": "", "camera": ""}
    index = {photo: record.model_copy(update=known) for photo, record in left.index.photos.items()}
    assert (index, left.links.photos) == (right.index.photos, right.links.photos)
    assert set(left.identities.names) <= set(right.identities.names)
    for kind in ("bibs", "faces"):
        mine, other = getattr(left, kind).photos, getattr(right, kind).photos
        assert mine.keys() == other.keys()
        for photo in mine:
            a, b = mine[photo].model_dump(), other[photo].model_dump()
            for box, twin in zip(a.pop("boxes"), b.pop("boxes"), strict=True):
                for side in "xywh":
                    assert box.pop(side) == pytest.approx(twin.pop(side), abs=1e-6)
                origin, now = box.pop("origin", None), twin.pop("origin", None)
                assert now == origin or (origin is None and now["how"] == "imported")
                id, new_id = box.pop("id", None), twin.pop("id", None)
                assert new_id
                assert id in (None, new_id)
                assert box == twin
            assert a == b
    return True


def test_export_and_import_again_gives_the_same_set(tmp_path: Path, tiny_set: Path, store: LabelStore) -> None:
    first = LabelStore(tiny_set)
    photo = next(iter(first.contents().index.photos))
    save_bib_tags(first, photo, ["dark_bib"], view(first, photo).revisions)
    counts = export_coco(first.contents(), first.root, tmp_path / "out")
    assert counts == {"photos": 3, "bibs": 2, "faces": 3, "links": 2}
    import_labels(store, "coco", tmp_path / "out")
    assert same_labels(first.contents(), store.contents())
    with pytest.raises(ReferenceSetError, match="is not an empty folder"):
        export_coco(first.contents(), first.root, tmp_path / "out")


def test_a_foreign_coco_file_keeps_its_boxes_through_import_and_export(tmp_path: Path, store: LabelStore) -> None:
    folder = coco(tmp_path / "coco")
    import_labels(store, "coco", folder)
    export_coco(store.contents(), store.root, tmp_path / "out")
    before = json.loads((folder / "labels.json").read_text())["annotations"]
    after = json.loads((tmp_path / "out" / "annotations.json").read_text())["annotations"]
    assert after[0]["bbox"] == pytest.approx(before[0]["bbox"], abs=1e-6)
    assert after[1]["bbox"] == pytest.approx([0, 0, 20, 10], abs=1e-6)
    assert after[0]["attributes"]["number"] == "417"


# Pascal VOC and YOLO


def voc(folder: Path, body: str) -> Path:
    picture(folder / "JPEGImages" / "a.jpg", 1)
    (folder / "Annotations").mkdir(parents=True)
    size = "<size><width>200</width><height>100</height><depth>3</depth></size>"
    text = f"<annotation><filename>a.jpg</filename>{size}{body}</annotation>"
    (folder / "Annotations" / "a.xml").write_text(text)
    return folder


BOX = "<bndbox><xmin>20</xmin><ymin>50</ymin><xmax>40</xmax><ymax>60</ymax></bndbox>"


def test_voc_objects(tmp_path: Path, store: LabelStore) -> None:
    number = "<attributes><attribute><name>number</name><value>12</value></attribute></attributes>"
    body = (
        f"<object><name>Bib</name>{BOX}{number}</object><object><name>face</name>{BOX}<identity>Ada</identity></object>"
    )
    summary = import_labels(store, "voc", voc(tmp_path / "voc", body))
    assert (summary.bibs, summary.faces) == (1, 1)
    photo = photos(store)["a.jpg"]
    assert xywh(photo) == [(0.1, 0.5, 0.1, 0.1)] * 2
    assert (photo.bibs[0].number, photo.faces[0].identity) == ("12", "Ada")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"<object><name>dog</name>{BOX}</object>", "'dog' is neither bib nor face"),
        ("<object><name>bib</name></object>", "object 1: bndbox/xmin: not there"),
        (
            f"<object><name>bib</name>{BOX.replace('20', 'x')}</object>",
            "object 1: bndbox/xmin: expected a number, got 'x'",
        ),
        (f"<object><name>bib</name>{BOX.replace('40', '400')}</object>", "object 1: bndbox: the box .* sticks out"),
        ("<object>", "not XML"),
    ],
)
def test_a_broken_voc_file_is_named(tmp_path: Path, store: LabelStore, body: str, message: str) -> None:
    with pytest.raises(ReferenceSetError, match=rf"a\.xml: {message}"):
        import_labels(store, "voc", voc(tmp_path / "voc", body))
    assert not store.root.exists()


def yolo(folder: Path, text: str | None, classes: str = "bib\nface\n") -> Path:
    picture(folder / "images" / "train" / "a.jpg", 1)
    (folder / "labels" / "train").mkdir(parents=True)
    if text is not None:
        (folder / "labels" / "train" / "a.txt").write_text(text)
    (folder / "classes.txt").write_text(classes)
    return folder


def test_yolo_lines(tmp_path: Path, store: LabelStore) -> None:
    import_labels(store, "yolo", yolo(tmp_path / "yolo", "0 0.15 0.55 0.1 0.1\n1 0.05 0.05 0.1 0.1\n\n"))
    assert xywh(photos(store)["a.jpg"]) == [(0.1, 0.5, 0.1, 0.1), (0.0, 0.0, 0.1, 0.1)]


def test_yolo_without_a_text_file_is_unlabelled_and_with_an_empty_one_it_is_empty(tmp_path: Path) -> None:
    for text, expected in ((None, None), ("", ())):
        store = LabelStore(tmp_path / f"set{text}")
        import_labels(store, "yolo", yolo(tmp_path / f"yolo{text}", text))
        assert photos(store)["a.jpg"].labels.bibs == expected


def test_yolo_classes_from_data_yaml(tmp_path: Path, store: LabelStore) -> None:
    folder = yolo(tmp_path / "yolo", "1 0.5 0.5 0.1 0.1")
    (folder / "classes.txt").unlink()
    (folder / "data.yaml").write_text("names:\n  0: bib\n  1: face\n")
    assert import_labels(store, "yolo", folder).faces == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 0.5 0.5 0.1", "line 1: expected class and four numbers"),
        ("0 0.5 0.5 0.1 0.1\nx 1 1 1 1", "line 2: expected class and four numbers"),
        ("7 0.5 0.5 0.1 0.1", "line 1: no class 7; there are 3"),
        ("2 0.5 0.5 0.1 0.1", "line 1: 'dog' is neither bib nor face"),
        ("0 0.99 0.5 0.1 0.1", "line 1: the box .* sticks out"),
        ("0 nan 0.5 0.1 0.1", "line 1: not a box"),
    ],
)
def test_a_broken_yolo_line_is_named(tmp_path: Path, store: LabelStore, text: str, message: str) -> None:
    with pytest.raises(ReferenceSetError, match=rf"a\.txt: {message}"):
        import_labels(store, "yolo", yolo(tmp_path / "yolo", text, "bib\nface\ndog\n"))


# bnr, and what holds for all


@pytest.mark.parametrize(
    ("version", "scopes"), [(3, ("exclude", "uncertain")), (2, ("ignore", "unknown")), (None, ("ignore", "keep"))]
)
def test_a_bnr_folder_written_by_hand_loads(
    tmp_path: Path, tiny_set: Path, store: LabelStore, version: int | None, scopes: tuple[str, str]
) -> None:
    for path in tiny_set.glob("*.json"):
        content = json.loads(path.read_text())
        del content["schema_version"], content["revision"]
        if path.name == "face_ground_truth.json":
            for photo, scope in zip(content["photos"].values(), scopes, strict=False):
                photo["boxes"][0]["scope"] = scope
        if version is not None:
            content["schema_version"] = version
        path.write_text(json.dumps(content, indent=4))
    for number, path in enumerate(sorted((tiny_set / "photos").iterdir())):
        path.rename(path.with_name(f"DSC_{number}.jpg"))
    summary = import_labels(store, "bnr", tiny_set)
    assert (summary.photos, summary.bibs, summary.faces, summary.links) == (3, 2, 3, 2)
    current = {"ignore": "exclude", "unknown": "uncertain"}
    found = [photo.boxes[0].scope for photo in store.contents().faces.photos.values()][:2]
    assert [str(scope) for scope in found] == [current.get(scope, scope) for scope in scopes]
    written = json.loads((store.root / "face_ground_truth.json").read_text())
    assert written["schema_version"] == 3


def test_labels_of_photos_that_bnr_does_not_have_are_refused(tiny_set: Path, store: LabelStore) -> None:
    path = tiny_set / "bib_ground_truth.json"
    content = json.loads(path.read_text())
    content["photos"]["f" * 64] = {"labeled": True}
    path.write_text(json.dumps(content))
    with pytest.raises(ReferenceSetError, match=r"bib_ground_truth.json: photos.f+: not in photo_index.json"):
        import_labels(store, "bnr", tiny_set)


def test_importing_again_changes_nothing_and_other_labels_are_refused(tiny_set: Path, store: LabelStore) -> None:
    import_labels(store, "bnr", tiny_set)
    files = {path.name: path.read_bytes() for path in store.root.glob("*.json")}
    assert import_labels(store, "bnr", tiny_set).new_photos == 0
    photo = next(iter(store.contents().index.photos))
    assert {path.name: path.read_bytes() for path in store.root.glob("*.json")} == files
    save_bib_tags(store, photo, ["dark_bib"], view(store, photo).revisions)
    with pytest.raises(ReferenceSetError, match=rf"{photo[:12]} .* has other labels in bib_ground_truth.json already"):
        import_labels(store, "bnr", tiny_set)
    assert view(store, photo).bibs.tags == ["dark_bib"]


def test_what_a_killed_import_left_goes_with_the_next_one_and_what_a_living_one_needs_stays(
    tmp_path: Path, store: LabelStore
) -> None:
    source = coco(tmp_path / "coco")
    command = [sys.executable, "-c", KILLED_IMPORT, str(store.root), str(source)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (left,) = store.root.glob(".import.*.new")
    assert len(list((left / "photos").iterdir())) == 2
    with workspace(store.root) as living:
        assert not left.exists()
        import_labels(store, "coco", source)
        assert list(store.root.glob(".import.*.new")) == [living]
    assert not list(store.root.glob(".import.*"))
    assert len(photos(store)) == 2


def test_a_turned_photo_takes_labels_of_its_upright_size(tmp_path: Path, store: LabelStore) -> None:
    images = [{"id": 5, "file_name": "a.jpg", "width": HEIGHT, "height": WIDTH}]
    folder = coco(tmp_path / "coco", images=images, annotations=[ANNOTATION | {"bbox": [50, 100, 25, 50]}])
    picture(folder / "images" / "a.jpg", 1, orientation=6)
    import_labels(store, "coco", folder)
    assert xywh(photos(store)["a.jpg"]) == [(0.5, 0.5, 0.25, 0.25)]
    record = next(iter(store.contents().index.photos.values()))
    assert (record.width, record.height) == (HEIGHT, WIDTH)
