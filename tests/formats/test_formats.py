"""The folder of formats is its own registry, and importing and grading read a file with the same reader."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import harness.formats
from harness.base.errors import GradingError, HarnessError, ReferenceSetError
from harness.cli import import_
from harness.formats import Format, formats, import_formats, import_labels, read_annotations
from harness.grading.submissions import read_submission, students
from harness.references.store import LabelStore
from harness.testing import FormatContract
from harness.testing.formats import Told
from tests.references.test_importing import picture

COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "a.jpg", "width": 200, "height": 100}],
    "categories": [{"id": 1, "name": "bib"}, {"id": 2, "name": "face"}],
    "annotations": [
        {"image_id": 1, "category_id": 1, "bbox": [20, 50, 30, 10], "attributes": {"number": "0417", "tags": "a, b"}},
        {"image_id": 1, "category_id": 2, "bbox": [10, 5, 20, 25], "attributes": {"identity": "Ada", "tags": "tiny"}},
    ],
}
VOC = """<annotation><filename>a.jpg</filename><size><width>200</width><height>100</height></size>
<object><name>bib</name><number>0417</number><tags>a, b</tags>
<bndbox><xmin>20</xmin><ymin>50</ymin><xmax>50</xmax><ymax>60</ymax></bndbox></object>
<object><name>face</name><identity>Ada</identity><tags>tiny</tags>
<bndbox><xmin>10</xmin><ymin>5</ymin><xmax>30</xmax><ymax>30</ymax></bndbox></object></annotation>"""
LABELS = "<meta><job><labels><label><name>bib</name></label><label><name>face</name></label></labels></job></meta>"
CVAT = f"""<annotations>{LABELS}<image name="a.jpg" width="200" height="100">
<box label="bib" xtl="20" ytl="50" xbr="50" ybr="60"><attribute name="number">0417</attribute>
<attribute name="tags">a, b</attribute></box>
<box label="face" xtl="10" ytl="5" xbr="30" ybr="30"><attribute name="identity">Ada</attribute>
<attribute name="tags">tiny</attribute></box></image></annotations>"""
FILES = {"coco": ("a.json", json.dumps(COCO)), "voc": ("a.xml", VOC), "cvat": ("a.xml", CVAT)}

#: A format in one module: each line of a file is a label and a box, on the one image that its first line names.
LINES = """
from pathlib import Path

from harness.formats import AnnotationFile, Format
from harness.formats.document import Box, Document, Image, Shape
from harness.formats.labels import find_photo, labels_of, placed_record
from harness.references.importing import ImportedPhoto, ImportedSet


def load(file, error):
    return file.read_text().splitlines()


def read(lines, file, error):
    shapes = []
    for place, line in enumerate(lines[1:], start=1):
        label, *box = line.split()
        where = f"{file}: line {place}"
        shapes.append(Shape(str(place), label, Box.of_size([float(side) for side in box], where, error), where))
    return Document((Image(lines[0], str(file), None, tuple(shapes)),))


def read_set(path, photos):
    (image,) = FILES.read_file(path, ValueError).images
    photo, size = find_photo(image, image.name, [path.parent])
    records = [placed_record(shape, size) for shape in image.shapes]
    return ImportedSet((ImportedPhoto(path=photo, where=image.where, **labels_of(records, {"bib"})),))


FILES = AnnotationFile(suffix=".lines", sign="lines", load=load, recognises=bool, read=read)
FORMAT = Format(name="lines", title="Lines", read_set=read_set, annotations=FILES)
"""


def source(folder: Path, name: str) -> Path:
    """The same two boxes on the same photo, in the named format."""
    picture(folder / "a.jpg", 1)
    file, text = FILES[name]
    (folder / file).write_text(text)
    return folder / file


@pytest.fixture
def dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules are in the folder of formats."""
    folder = tmp_path / "more_formats"
    folder.mkdir()
    monkeypatch.setattr(harness.formats, "__path__", [*harness.formats.__path__, str(folder)])
    harness.formats._formats.cache_clear()
    yield folder
    harness.formats._formats.cache_clear()
    for file in folder.glob("*.py"):
        if sys.modules.pop(f"harness.formats.{file.stem}", None):
            delattr(harness.formats, file.stem)


def choices() -> tuple[str, ...]:
    """What `harness import --format` offers."""
    parser = argparse.ArgumentParser()
    import_.configure(parser)
    (action,) = (action for action in parser._actions if action.dest == "format")
    return tuple(action.choices or ())


class TestRegistry:
    def test_the_formats_are_the_modules_of_the_folder(self) -> None:
        assert list(formats()) == [
            "bnr",
            "coco",
            "cvat",
            "labelme",
            "names",
            "people",
            "rbnr",
            "selfies",
            "voc",
            "yolo",
        ]
        assert {name for name, format in formats().items() if format.annotations} == {"coco", "cvat", "labelme", "voc"}

    def test_the_command_offers_every_format_that_can_be_imported(self) -> None:
        offered = ("bnr", "coco", "cvat", "names", "people", "rbnr", "selfies", "voc", "yolo")
        assert choices() == tuple(import_formats()) == offered

    def test_the_page_of_commands_has_a_row_for_every_format(self) -> None:
        page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
        for name in import_formats():
            assert f"\n| `{name}` |" in page

    def test_a_module_that_is_dropped_into_the_folder_can_be_imported_and_graded(
        self, tmp_path: Path, dropped: Path
    ) -> None:
        (dropped / "lines.py").write_text(LINES)
        assert "lines" in choices()
        picture(tmp_path / "a.jpg")
        file = tmp_path / "a.lines"
        file.write_text("a.jpg\nbib 20 50 20 10\n")
        store = LabelStore(tmp_path / "set")
        assert import_labels(store, "lines", file).bibs == 1
        (annotation,) = read_submission(file).annotations["a.jpg"]
        assert (annotation.label, annotation.box) == ("bib", (20, 50, 20, 10))
        (tmp_path / "cohort").mkdir()
        file.rename(tmp_path / "cohort" / "anna.lines")
        assert list(students(tmp_path / "cohort") or ()) == ["anna"]

    def test_a_format_may_be_for_grading_alone(self, tmp_path: Path, dropped: Path) -> None:
        (dropped / "lines.py").write_text(LINES.replace("read_set=read_set, ", ""))
        assert "lines" in formats()
        assert "lines" not in choices()
        with pytest.raises(ReferenceSetError, match="lines: this format can be graded, but not imported"):
            import_labels(LabelStore(tmp_path / "set"), "lines", tmp_path)

    def test_a_module_without_a_format_is_a_helper(self, dropped: Path) -> None:
        (dropped / "helper.py").write_text("x = 1\n")
        assert "helper" not in formats()


class TestOneReader:
    @pytest.mark.parametrize("name", FILES)
    def test_the_same_file_is_imported_and_graded(self, tmp_path: Path, name: str) -> None:
        file = source(tmp_path / "source", name)
        submission = read_submission(file)
        bib, face = submission.annotations["a.jpg"]
        assert (bib.label, bib.box, bib.attributes["number"]) == ("bib", (20, 50, 30, 10), "0417")
        assert (face.label, face.box, face.attributes["identity"]) == ("face", (10, 5, 20, 25), "Ada")
        store = LabelStore(tmp_path / "set")
        import_labels(store, name, file)
        (bibs,), (faces,) = store.contents().bibs.photos.values(), store.contents().faces.photos.values()
        ((number, tags),) = ((box.number, box.tags) for box in bibs.boxes)
        assert (number, tags, bibs.labeled, faces.labeled) == ("0417", ["a", "b"], True, True)
        assert [(box.identity, box.tags) for box in faces.boxes] == [("Ada", ["tiny"])]
        imported = (bibs.boxes[0], faces.boxes[0])
        for box, drawn in zip(imported, (bib, face), strict=True):
            assert (box.x * 200, box.y * 100, box.w * 200, box.h * 100) == pytest.approx(drawn.box)

    @pytest.mark.parametrize(
        ("name", "change", "message"),
        [
            ("coco", ('"image_id": 1', '"image_id": 9'), "annotations.0.image_id: no image 9"),
            ("coco", ('"category_id": 2', '"category_id": 9'), "annotations.1.category_id: no category 9"),
            ("coco", ("[20, 50, 30, 10]", "[20, 50, 30, -1]"), "annotations.0.bbox: not a box: left 20"),
            ("coco", ("[20, 50, 30, 10]", "[20, 50, 30]"), "annotations.0.bbox"),
            ("voc", ("<xmax>50", "<xmax>10"), "object 1: bndbox: not a box: left 20"),
            ("voc", ("<ymax>30", "<ymax>nan"), "object 2: bndbox: not a box: left 10"),
            ("voc", ("<xmin>20", "<xmin>x"), "object 1: bndbox/xmin: expected a number, got 'x'"),
            ("cvat", ('xbr="50"', 'xbr="5"'), "image 1, box 1: not a box: left 20"),
            ("cvat", ('label="face" ', ""), "image 1, box 2: label: not there"),
            ("cvat", ("<meta>", "<track/><meta>"), "<track>: this is CVAT for video"),
            ("cvat", ("</image>", '<mask label="bib"/></image>'), "image 1, mask 3: left: not there"),
            (
                "cvat",
                ("</image>", '<cuboid label="bib"/></image>'),
                "image 1, cuboid 3: a <cuboid> cannot be graded or",
            ),
        ],
    )
    def test_what_is_wrong_is_said_in_the_same_words_with_each_callers_own_error(
        self, tmp_path: Path, name: str, change: tuple[str, str], message: str
    ) -> None:
        file = source(tmp_path / "source", name)
        assert change[0] in file.read_text()
        file.write_text(file.read_text().replace(*change, 1))
        uses: list[tuple[type[HarnessError], Callable[[], Any]]] = [
            (ReferenceSetError, lambda: import_labels(LabelStore(tmp_path / "set"), name, file)),
            (GradingError, lambda: read_submission(file, strict=True)),
        ]
        said = []
        for error, use in uses:
            with pytest.raises(error) as caught:
                use()
            said.append(str(caught.value))
        assert said[0] == said[1]
        assert said[0].startswith(f"{file}: {message}")

    @pytest.mark.parametrize(
        ("name", "text", "message"),
        [
            ("a.xml", "<dataset/>", r"<dataset>: neither Pascal VOC \(<annotation>\) nor CVAT \(<annotations>\)"),
            ("a.cvat", "<dataset/>", "<dataset>: neither Pascal VOC"),
            (
                "a.json",
                "[]",
                r"neither COCO \(an object with images, categories and annotations\) nor LabelMe \(an object with",
            ),
            ("a.json", '{"images": []}', "categories: Field required"),
        ],
    )
    def test_a_file_of_no_format_is_said_to_be_none(self, tmp_path: Path, name: str, text: str, message: str) -> None:
        (tmp_path / name).write_text(text)
        with pytest.raises(GradingError, match=rf"{name}: {message}"):
            read_annotations(tmp_path / name, GradingError)

    def test_content_decides_not_the_suffix_of_an_xml_file(self, tmp_path: Path) -> None:
        (tmp_path / "anna.cvat").write_text(CVAT)
        assert list(read_submission(tmp_path / "anna.cvat").images) == ["a.jpg"]

    def test_the_harness_field_of_another_tool_does_not_disturb_grading(self, tmp_path: Path) -> None:
        image = COCO["images"][0] | {"harness": "climbing"}
        (tmp_path / "a.json").write_text(json.dumps(COCO | {"images": [image]}))
        assert len(read_submission(tmp_path / "a.json").annotations["a.jpg"]) == 2
        picture(tmp_path / "a.jpg")
        with pytest.raises(ReferenceSetError, match=r"a\.json: images\.0\.harness: "):
            import_labels(LabelStore(tmp_path / "set"), "coco", tmp_path / "a.json")


class OwnFormat(FormatContract):
    """The formats that come with the harness keep the contract that it ships."""

    def make(self) -> Format:
        return formats()[self.choice]

    def write(self, folder: Path) -> Path:
        return source(folder, self.choice)

    def expected(self) -> dict[str, tuple[list[Told] | None, list[Told] | None]]:
        return {"a.jpg": ([((20, 50, 30, 10), "0417")], [((10, 5, 20, 25), "Ada")])}


class TestCocoContract(OwnFormat):
    choice = "coco"
    broken: ClassVar = {
        "not JSON": ("{", ""),
        "outside of the photo": ("[20, 50", "[190, 50"),
        "a dog": ("face", "dog"),
    }


class TestVocContract(OwnFormat):
    choice = "voc"
    broken: ClassVar = {"not XML": ("<annotation>", ""), "outside of the photo": ("<xmax>50", "<xmax>500")}


class TestCvatContract(OwnFormat):
    choice = "cvat"
    broken: ClassVar = {"not XML": ("<annotations>", ""), "outside of the photo": ('xbr="50"', 'xbr="500"')}


class TestShapesAreNotImported:
    """A reference set has upright boxes alone: what grading takes as a shape is refused, or its box is taken."""

    @pytest.mark.parametrize(
        ("element", "message"),
        [
            (
                '<box label="bib" xtl="1" ytl="1" xbr="9" ybr="9" rotation="30"/>',
                "box 3: only upright boxes can be imported",
            ),
            ('<polygon label="bib" points="1,1;9,1;9,9"/>', "polygon 3: only upright boxes can be imported"),
            (
                '<mask label="bib" rle="0, 4" left="1" top="1" width="2" height="2"/>',
                "mask 3: only upright boxes can be imported",
            ),
            ('<points label="bib" points="1,1"/>', "points 3: only upright boxes can be imported"),
        ],
    )
    def test_cvat_refuses_them_by_name(self, tmp_path: Path, element: str, message: str) -> None:
        file = source(tmp_path / "source", "cvat")
        file.write_text(CVAT.replace("</image>", f"{element}</image>"))
        with pytest.raises(ReferenceSetError, match=f"image 1, {message}"):
            import_labels(LabelStore(tmp_path / "set"), "cvat", file)

    def test_cvat_passes_over_tags_as_before(self, tmp_path: Path) -> None:
        file = source(tmp_path / "source", "cvat")
        file.write_text(CVAT.replace("</image>", '<tag label="rain"/></image>'))
        assert import_labels(LabelStore(tmp_path / "set"), "cvat", file).bibs == 1

    @pytest.mark.parametrize("segmentation", [[[1, 1, 9, 1, 9, 9]], "whatever", {"size": [1, 1], "counts": [7]}])
    def test_coco_takes_the_box_whatever_the_segmentation_says(self, tmp_path: Path, segmentation: Any) -> None:
        file = source(tmp_path / "source", "coco")
        first, second = COCO["annotations"]
        file.write_text(json.dumps(COCO | {"annotations": [first | {"segmentation": segmentation}, second]}))
        store = LabelStore(tmp_path / "set")
        import_labels(store, "coco", file)
        (bibs,) = store.contents().bibs.photos.values()
        assert [(box.x * 200, box.y * 100) for box in bibs.boxes] == [pytest.approx((20, 50))]

    def test_coco_takes_a_turned_box_as_upright_as_before(self, tmp_path: Path) -> None:
        file = source(tmp_path / "source", "coco")
        turned = COCO["annotations"][0] | {"attributes": {"rotation": 30.0}}
        file.write_text(json.dumps(COCO | {"annotations": [turned]}))
        assert import_labels(LabelStore(tmp_path / "set"), "coco", file).bibs == 1

    def test_coco_needs_a_box(self, tmp_path: Path) -> None:
        file = source(tmp_path / "source", "coco")
        shape = {"image_id": 1, "category_id": 1, "segmentation": [[1, 1, 9, 1, 9, 9]]}
        file.write_text(json.dumps(COCO | {"annotations": [shape]}))
        with pytest.raises(ReferenceSetError, match=r"annotations\.0\.bbox: not there"):
            import_labels(LabelStore(tmp_path / "set"), "coco", file)


class TestCvat:
    def test_a_folder_with_one_file_and_images_beside_it(self, tmp_path: Path) -> None:
        picture(tmp_path / "export" / "images" / "start" / "a.jpg")
        text = CVAT.replace('name="a.jpg"', 'name="start/a.jpg"')
        (tmp_path / "export" / "annotations.xml").write_text(text)
        store = LabelStore(tmp_path / "set")
        assert import_labels(store, "cvat", tmp_path / "export").bibs == 1
        (record,) = store.contents().index.photos.values()
        assert record.names == ["a.jpg"]

    @pytest.mark.parametrize(
        ("declared", "has_faces"), [(LABELS, True), (LABELS.replace("face", "dog"), False), ("", False)]
    )
    def test_an_image_is_labelled_for_what_the_task_declares_or_uses(
        self, tmp_path: Path, declared: str, has_faces: bool
    ) -> None:
        file = source(tmp_path / "source", "cvat")
        first, rest = CVAT.split('<box label="face"')
        file.write_text(first.replace(LABELS, declared) + rest[rest.index("</image>") :])
        store = LabelStore(tmp_path / "set")
        import_labels(store, "cvat", file)
        assert bool(store.contents().faces.photos) == has_faces
        assert len(store.contents().bibs.photos) == 1

    def test_two_files_in_a_folder_are_refused(self, tmp_path: Path) -> None:
        source(tmp_path, "cvat")
        (tmp_path / "b.xml").write_text(CVAT)
        with pytest.raises(ReferenceSetError, match="expected one CVAT file here, found 2"):
            import_labels(LabelStore(tmp_path / "set"), "cvat", tmp_path)

    def test_another_label_is_named(self, tmp_path: Path) -> None:
        file = source(tmp_path, "cvat")
        file.write_text(CVAT.replace('label="face"', 'label="dog"'))
        with pytest.raises(ReferenceSetError, match="image 1, box 2: label: 'dog' is neither bib nor face"):
            import_labels(LabelStore(tmp_path / "set"), "cvat", file)
