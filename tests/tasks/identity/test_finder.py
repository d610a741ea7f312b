"""A search on real pictures: who is found by which picture, by the threshold of a run, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.errors import ConfigError, QueryError
from harness.base.progress import silent
from harness.building import build_finder
from harness.config import compose
from harness.references.files import FaceGroundTruth
from harness.references.store import LabelStore
from harness.scoring.answering import threshold_of
from harness.tasks.identity.finder import Finder, Gallery, Query, checked_number
from harness.tasks.identity.task import IdentityTask
from harness.tasks.identity.telling import as_json, notes, short, warnings
from tests.conftest import QUICK
from tests.selfies import answers_in, bad_pictures, jpeg, selfie, two_faces

pytestmark = pytest.mark.slow


def finder_of(root: Path, cache: Path, *overrides: str) -> Finder:
    root_and_cache = (f"references.root={root}", f"cache.folder={cache}")
    return build_finder(compose(["references=staging", "preset=fast", *root_and_cache, *QUICK, *overrides]))


@pytest.fixture(scope="module")
def finder(_tiny_set: Path, tmp_path_factory: pytest.TempPathFactory) -> Finder:
    made = finder_of(_tiny_set, tmp_path_factory.mktemp("finder"))
    made.load()
    return made


@pytest.fixture(scope="module")
def gallery(finder: Finder) -> Gallery:
    with silent():
        return finder.open()


def names(gallery: Gallery, query: Query) -> list[str]:
    found = gallery.answer(query)
    return [found.photo(each.photo).name for each in found.answer.photos]


def test_a_selfie_finds_its_person_and_a_stranger_finds_nobody(finder: Finder, gallery: Gallery) -> None:
    assert names(gallery, Query(finder.look("me", jpeg(selfie("P006"))), "me")) == ["P006.jpg"]
    assert names(gallery, Query(finder.look("me", jpeg(selfie("P005"))), "me")) == ["P005.jpg"]
    assert names(gallery, Query(finder.look("me", jpeg(selfie("P003"))), "me")) == []


def test_the_largest_of_several_faces_is_taken_and_that_is_said(finder: Finder, gallery: Gallery) -> None:
    found = gallery.answer(Query(finder.look("us.jpg", jpeg(two_faces("P005", "P001"))), "us.jpg"))
    assert [found.photo(each.photo).name for each in found.answer.photos] == ["P005.jpg"]
    assert notes(found)[0].startswith("2 faces in us.jpg; the largest is searched with, ")


def test_a_number_is_searched_as_it_is_typed(finder: Finder, gallery: Gallery) -> None:
    assert names(gallery, finder.query(None, " 2085 ")) == ["P005.jpg"]
    assert names(gallery, finder.query(None, "208")) == []
    for wrong in ("", "  ", "20?5"):
        with pytest.raises(QueryError, match="expected a whole number"):
            checked_number(wrong)
    with pytest.raises(QueryError, match="nothing to search with"):
        Query()


def test_both_find_what_each_finds(finder: Finder, gallery: Gallery) -> None:
    face = finder.look("me", jpeg(selfie("P006")))
    assert {"P005.jpg", "P006.jpg"} <= set(names(gallery, Query(face, "me", "2085")))


def test_the_threshold_is_that_of_a_run_on_the_same_photos(finder: Finder, gallery: Gallery, tmp_path: Path) -> None:
    photos = replace(finder.photos)
    result = IdentityTask(photos).evaluate(tmp_path, 0, quiet=True)
    assert gallery.references.split == "full"
    assert gallery.threshold.source == "labels"
    assert gallery.threshold.rests_on == 3
    assert result.metrics["identity/threshold"] == gallery.threshold.value


def test_nothing_of_the_picture_is_kept(finder: Finder, gallery: Gallery) -> None:
    cache = Path(finder.photos.cache.folder or "")
    before = answers_in(cache)
    assert {stage for _, stage, _ in before} >= {"face", "identity"}, "photos are kept there"
    face = finder.look("me", jpeg(selfie("P001")))
    found = gallery.answer(Query(face, "me"))
    assert answers_in(cache) == before
    assert face.vector is not None
    values = {round(float(value), 6) for value in face.vector}
    told = str(as_json(found, 0))
    assert not [value for value in values if f"{value}" in told and abs(value) > 1e-3]


@pytest.mark.parametrize("kind", ["corrupt", "empty", "text", "pixel", "blank", "small", "gif", "missing", "folder"])
def test_a_picture_that_cannot_be_searched_with_gets_a_sentence(finder: Finder, tmp_path: Path, kind: str) -> None:
    path, words = bad_pictures(tmp_path)[kind]
    with pytest.raises(QueryError) as told:
        finder.query(path, None)
    assert str(told.value).startswith(f"{path}: ")
    assert words in str(told.value)
    assert told.value.exit_code == 2


def test_a_picture_with_too_many_pixels_is_refused_before_it_is_decoded(
    finder: Finder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.tasks.identity.finder.MOST_PIXELS", 1000)
    with pytest.raises(QueryError, match=r"me: 320 x .* pixels; a picture to search with has at most"):
        finder.look("me", jpeg(selfie("P001")))


def test_without_recognition_there_is_no_search(tiny_set: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="identity=off: nobody is recognised"):
        finder_of(tiny_set, tmp_path, "identity=off")


def test_without_labels_there_is_no_threshold_and_the_nearest_are_listed(
    finder: Finder, gallery: Gallery, tiny_set: Path
) -> None:
    for name in ("bib_ground_truth.json", "face_ground_truth.json", "bib_face_links.json"):
        (tiny_set / name).unlink()
    cache = Path(finder.photos.cache.folder or "")
    with silent():
        bare = finder_of(tiny_set, cache).open()
    assert bare.threshold.source == "none"  # each photo shows one face
    found = bare.answer(Query(finder.look("me", jpeg(selfie("P001"))), "me"))
    assert found.answer.photos == ()
    assert found.photo(found.answer.nearest[0].photo).name == "P001.jpg"
    assert warnings(found)[0].startswith("There is no threshold: nobody is labelled")
    told = as_json(found, 2)
    assert (told["found"], told["threshold"]["value"], len(told["nearest"])) == (False, None, 2)
    # A number needs none.
    assert names(bare, Query(number="417")) == ["P001.jpg"]


def test_labels_that_change_are_seen_without_another_look_at_the_photos(
    finder: Finder, tiny_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = finder_of(tiny_set, Path(finder.photos.cache.folder or ""))
    with silent():
        before = again.open()
    monkeypatch.setattr(type(again.pipeline), "predict", lambda *_: pytest.fail("it has looked at this photo"))
    store = LabelStore(tiny_set)
    faces = store.contents().faces.photos
    with store.edit() as draft:
        for photo, labels in faces.items():
            boxes = [box.model_copy(update={"identity": None}) for box in labels.boxes]
            draft.put(FaceGroundTruth, photo, labels.model_copy(update={"boxes": boxes}))
    with silent():
        after = again.open()
    assert (before.threshold.rests_on, after.threshold.rests_on) == (3, 2)  # two have a linked number
    assert after.references.digest != before.references.digest
    assert after.threshold == threshold_of(after.search, 0.01)


def test_a_photo_that_cannot_be_read_is_told(finder: Finder, tiny_set: Path) -> None:
    gone = next(photo for photo in (tiny_set / "photos").iterdir())
    gone.write_bytes(b"broken")
    with silent():
        found = finder_of(tiny_set, Path(finder.photos.cache.folder or "")).open().answer(Query(number="1"))
    assert "1 photo could not be searched: " in warnings(found)[-1]
    assert len(found.gallery.photos) == 2


@pytest.mark.parametrize(
    ("value", "text"), [(0.714, ".71"), (1.0, "1.00"), (-0.05, "-.05"), (0.996, "1.00"), (0, ".00")]
)
def test_similarities_are_short(value: float, text: str) -> None:
    assert short(value) == text
