"""Who is in a photo, without saying where; and selfies: files, edits, import, freezing, export, and the digest."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from harness.base.errors import InvalidEditError, ReferenceSetError
from harness.formats import import_labels
from harness.references.adding import add_photos
from harness.references.completeness import State, completeness
from harness.references.cross_checks import cross_check
from harness.references.exporting import export_coco
from harness.references.files import FaceGroundTruth, FaceIdentities, FaceLabels, Selfies, decode, encode
from harness.references.freeze import freeze
from harness.references.frozen import load_frozen
from harness.references.groups import groups_of
from harness.references.labels import save_face_tags, save_faces, save_people, view
from harness.references.sets import ReferenceSet, StagingSet
from harness.references.stats import count
from harness.references.store import LabelStore
from harness.types import Split
from tests.references.builders import face, make_store, photo_hash

PHOTO = photo_hash(0)


def picture(path: Path, shade: int, size: tuple[int, int] = (64, 48)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (shade, shade, 90)).save(path)
    return path


def staging(root: Path) -> ReferenceSet:
    return StagingSet(str(root), Split.FULL).load()


@pytest.fixture
def club(tmp_path: Path) -> Path:
    """Two photos of Ada, one of Bea, and one of both."""
    for place, name in enumerate(("Ada/1.png", "Ada/day two/2.png", "Bea/3.png")):
        picture(tmp_path / "club" / name, 20 * place)
    for name in ("Ada/both.png", "Bea/again.png"):
        picture(tmp_path / "club" / name, 200)
    return tmp_path / "club"


@pytest.fixture
def selfies(tmp_path: Path) -> Path:
    """Two of Ada, one of a stranger."""
    folder = tmp_path / "me"
    picture(folder / "Ada" / "left.png", 100)
    picture(folder / "Ada" / "right.png", 101)
    picture(folder / "Zoe.png", 102)
    return folder


@pytest.fixture
def store(tmp_path: Path, club: Path, selfies: Path) -> LabelStore:
    store = LabelStore(tmp_path / "set")
    import_labels(store, "people", club)
    import_labels(store, "selfies", selfies)
    return store


def said(store: LabelStore) -> dict[str, list[str] | None]:
    contents = store.contents()
    return {record.names[0]: contents.faces.photos[photo].people for photo, record in contents.index.photos.items()}


class TestPeople:
    def test_a_folder_names_who_is_in_its_photos_and_two_folders_name_both(self, store: LabelStore) -> None:
        assert said(store) == {"1.png": ["Ada"], "2.png": ["Ada"], "3.png": ["Bea"], "both.png": ["Ada", "Bea"]}
        assert store.contents().identities.names == ["Ada", "Bea", "Zoe"]
        names = {tuple(record.names) for record in store.contents().index.photos.values()}
        assert ("both.png", "again.png") in names

    def test_it_says_nothing_about_faces(self, store: LabelStore) -> None:
        for item in staging(store.root).photos:
            assert item.labels.faces is None
            assert item.labels.people == item.people is not None
        for photo in store.contents().index.photos:
            done = completeness(store.contents(), photo)
            assert (done.faces, done.people, done.state) == (False, True, State.PARTIAL)

    def test_the_same_again_is_fine_and_other_people_are_refused(self, store: LabelStore, club: Path) -> None:
        import_labels(store, "people", club)
        before = said(store)
        shutil.move(club / "Ada" / "1.png", club / "Bea" / "1.png")
        with pytest.raises(ReferenceSetError, match=r"1.png\) says already that other people are in it: Ada; nothing"):
            import_labels(store, "people", club)
        assert said(store) == before

    @pytest.mark.parametrize(
        ("break_it", "told"),
        [
            (
                lambda club: picture(club / "loose.png", 7),
                "loose.png: lies in no person's folder; expected club/PERSON",
            ),
            (lambda club: (club / "Ada" / "broken.jpg").write_bytes(b"x"), "broken.jpg: not a readable picture"),
        ],
    )
    def test_what_does_not_fit_is_refused_and_nothing_is_imported(
        self, tmp_path: Path, club: Path, break_it: object, told: str
    ) -> None:
        assert callable(break_it)
        break_it(club)
        with pytest.raises(ReferenceSetError, match=told):
            import_labels(LabelStore(tmp_path / "other"), "people", club)
        assert not (tmp_path / "other").exists()

    def test_saves_of_faces_and_tags_keep_what_is_said(self, tmp_path: Path) -> None:
        store = make_store(tmp_path / "set")
        save_people(store, PHOTO, ["Ada"], view(store, PHOTO).revisions)
        assert "Ada" in store.contents().identities.names
        labels = FaceLabels(labeled=True, boxes=[face(0.4, "Bea")])
        save_faces(store, PHOTO, labels, view(store, PHOTO).revisions, [None])
        save_face_tags(store, PHOTO, ["light_faces"], view(store, PHOTO).revisions)
        assert view(store, PHOTO).faces.people == ["Ada"]
        save_people(store, PHOTO, [], view(store, PHOTO).revisions)
        assert view(store, PHOTO).faces.people == []
        save_people(store, PHOTO, None, view(store, PHOTO).revisions)
        assert view(store, PHOTO).faces.people is None
        with pytest.raises(InvalidEditError, match="somebody is named twice"):
            save_people(store, PHOTO, ["Ada", "Ada"], view(store, PHOTO).revisions)

    def test_a_save_of_faces_that_is_sent_again_is_no_conflict(self, tmp_path: Path) -> None:
        store = make_store(tmp_path / "set")
        save_people(store, PHOTO, ["Ada"], view(store, PHOTO).revisions)
        seen, labels = view(store, PHOTO).revisions, FaceLabels(labeled=True, boxes=[face(0.4, "Bea")])
        save_faces(store, PHOTO, labels, seen, [None])
        once = view(store, PHOTO)
        save_faces(store, PHOTO, labels, seen, [None])
        assert view(store, PHOTO) == once

    def test_a_file_that_only_says_who_is_there_does_not_say_that_nobody_has_a_face(self, tmp_path: Path) -> None:
        """An old file has no `labeled` anywhere, and boxes or tags made its faces done; people are neither."""
        text = json.dumps({"schema_version": 3, "photos": {PHOTO: {"people": ["Ada"]}}}).encode()
        assert not decode(tmp_path, text, FaceGroundTruth).photos[PHOTO].labeled

    def test_photos_of_one_person_are_one_group_with_or_without_boxes(self, tmp_path: Path) -> None:
        store = make_store(tmp_path / "set", photos=3, boxes=0)
        contents = store.contents()
        assert len(groups_of(contents, store.root, "auto").members()) == 3
        save_people(store, PHOTO, ["Ada", "Bea"], view(store, PHOTO).revisions)
        save_faces(
            store,
            photo_hash(1),
            FaceLabels(labeled=True, boxes=[face(0.1, "Bea")]),
            view(store, photo_hash(1)).revisions,
            [None],
        )
        assert len(groups_of(store.contents(), store.root, "auto").members()) == 2

    def test_a_face_of_somebody_who_is_said_not_to_be_there_is_worth_a_look(self, tmp_path: Path) -> None:
        store = make_store(tmp_path / "set", photos=1, boxes=0)
        save_people(store, PHOTO, ["Ada", "ada"], view(store, PHOTO).revisions)
        save_faces(
            store, PHOTO, FaceLabels(labeled=True, boxes=[face(0.1, "Bea")]), view(store, PHOTO).revisions, [None]
        )
        found = {finding.kind: finding.words for finding in cross_check(store.contents())}
        assert '"Bea" on a face' in found["face_not_among_people"]
        assert '"Ada" (1 photo), "ada" (1 photo)' in found["names_alike"]


class TestSelfies:
    def test_a_folder_or_a_file_name_says_whose_they_are(self, store: LabelStore, selfies: Path) -> None:
        found = staging(store.root).selfies
        assert sorted(selfie.identity for selfie in found) == ["Ada", "Ada", "Zoe"]
        assert all(selfie.path == store.root / "selfies" / f"{selfie.sha256}.png" for selfie in found)
        assert {selfie.path.read_bytes() for selfie in found} == {path.read_bytes() for path in selfies.rglob("*.png")}
        assert len(staging(store.root).photos) == 4

    @pytest.mark.parametrize(
        ("name", "content", "told"),
        [
            ("Bo.jpg", b"no picture", r"Bo.jpg: .*not a readable picture"),
            ("Bo.png", None, r"Bo.png is 1 x 1 pixels; a selfie needs at least 32 on each side"),
        ],
    )
    def test_what_shows_no_face_is_refused_by_name_and_nothing_is_lost(
        self, store: LabelStore, selfies: Path, name: str, content: bytes | None, told: str
    ) -> None:
        before = files(store.root)
        if content is None:
            picture(selfies / name, 1, size=(1, 1))
        else:
            (selfies / name).write_bytes(content)
        picture(selfies / "Cleo.png", 33)
        with pytest.raises(ReferenceSetError, match=told):
            import_labels(store, "selfies", selfies)
        assert files(store.root) == before

    def test_the_same_again_is_fine_and_another_owner_is_refused(self, store: LabelStore, selfies: Path) -> None:
        import_labels(store, "selfies", selfies)
        shutil.copy(selfies / "Zoe.png", selfies / "Bea.png")
        with pytest.raises(ReferenceSetError, match=r"Bea.png is a selfie of Zoe already, not of Bea; nothing"):
            import_labels(store, "selfies", selfies)
        assert sorted(selfie.identity for selfie in staging(store.root).selfies) == ["Ada", "Ada", "Zoe"]

    def test_two_owners_of_one_picture_in_one_source_are_refused(self, tmp_path: Path, selfies: Path) -> None:
        shutil.copy(selfies / "Zoe.png", selfies / "Bea.png")
        with pytest.raises(ReferenceSetError, match=r"Zoe.png is a selfie of Bea already, not of Zoe"):
            import_labels(LabelStore(tmp_path / "other"), "selfies", selfies)

    def test_a_photo_cannot_be_a_selfie_since_it_would_find_itself(
        self, store: LabelStore, club: Path, selfies: Path
    ) -> None:
        before = files(store.root)
        with pytest.raises(ReferenceSetError, match=r"is a photo of the set, and as a selfie of .+ would find itself"):
            import_labels(store, "selfies", club / "Ada")
        shutil.copytree(selfies, club / "selfies")
        with pytest.raises(ReferenceSetError, match="is a photo of the set, and as a selfie of"):
            import_labels(store, "people", club)
        assert files(store.root) == before
        added = add_photos(store, [selfies / "Zoe.png"])
        assert "is a selfie of this set already" in added.unreadable[selfies / "Zoe.png"]
        with store.edit() as draft:
            draft.put(Selfies, min(draft.file(FaceGroundTruth).photos), "Ada")
        with pytest.raises(ReferenceSetError, match=r"selfies.json: photos.*: is a photo of the set as well"):
            staging(store.root)

    def test_stats_count_people_and_strangers(self, store: LabelStore) -> None:
        contents = store.contents()
        stats = count(contents, groups_of(contents, store.root, "auto"))
        assert stats.people == {"Ada": 3, "Bea": 2}
        assert stats.selfies == {"Ada": 2, "Zoe": 1}
        assert stats.done["people"] == 4


def files(root: Path) -> dict[str, bytes]:
    """All that a set holds."""
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


class TestFreezing:
    def test_a_set_of_people_and_its_selfies_can_be_frozen_and_is_checked(self, store: LabelStore) -> None:
        with pytest.raises(InvalidEditError, match="no photo is labelled completely"):
            freeze(store, "v1")
        manifest = freeze(store, "v1", dimensions=["people"])
        frozen = load_frozen(store.root, "v1", Split.FULL)
        assert (frozen.digest, manifest.states) == (staging(store.root).digest, {State.COMPLETE: 4})
        assert frozen.selfies == staging(store.root).selfies
        assert {photo.name: photo.people for photo in frozen.photos}["both.png"] == ("Ada", "Bea")
        for split, summary in manifest.splits.items():
            if summary.photos:
                assert load_frozen(store.root, "v1", split).digest == summary.digest
        frozen.selfies[0].path.write_bytes(b"other")
        with pytest.raises(ReferenceSetError, match=r"v1: 1 of 3 selfies are missing or changed:\n  (Ada|Zoe): "):
            load_frozen(store.root, "v1", Split.FULL)

    def test_a_touched_or_added_owner_is_refused(self, store: LabelStore) -> None:
        freeze(store, "v1", dimensions=["people"])
        path = store.root / "frozen" / "v1" / "selfies.json"
        path.chmod(0o644)
        path.write_text(path.read_text().replace("Zoe", "Eve"))
        with pytest.raises(ReferenceSetError, match=r"selfies.json: frozen set v1 was changed"):
            load_frozen(store.root, "v1", Split.FULL)

    def test_boxes_stay_out_of_a_set_for_people_and_people_stay_with_faces(self, tiny_set: Path) -> None:
        store = LabelStore(tiny_set)
        photo = next(iter(store.contents().index.photos))
        save_people(store, photo, ["P001"], view(store, photo).revisions)
        assert freeze(store, "people", dimensions=["people"]).photos == 1
        (only,) = load_frozen(tiny_set, "people", Split.FULL).photos
        assert (only.people, only.faces, only.face_labeled, only.bib_labeled) == (("P001",), (), False, False)
        freeze(store, "faces", dimensions=["faces"])
        both = {item.sha256: item for item in load_frozen(tiny_set, "faces", Split.FULL).photos}[photo]
        assert (both.people, len(both.faces)) == (("P001",), 1)

    def test_nobody_there_is_a_known_negative(self, tmp_path: Path) -> None:
        store = make_store(tmp_path / "set", boxes=0)
        save_people(store, PHOTO, [], view(store, PHOTO).revisions)
        assert completeness(store.contents(), PHOTO, ["people"]).state == State.KNOWN_NEGATIVE
        assert completeness(store.contents(), photo_hash(1), ["people"]).state == State.UNTOUCHED


class TestTravelling:
    @pytest.mark.parametrize("form", ["coco", "bnr"])
    def test_export_and_import_give_the_same_set(self, tmp_path: Path, store: LabelStore, form: str) -> None:
        with store.edit() as draft:
            draft.put_head(FaceIdentities, identities_labeled=True)
        source = tmp_path / "out" if form == "coco" else store.root
        if form == "coco":
            assert export_coco(store.contents(), store.root, source)["selfies"] == 3
        other = LabelStore(tmp_path / "other")
        import_labels(other, form, source)
        assert staging(other.root).digest == staging(store.root).digest
        assert {selfie.sha256: selfie.identity for selfie in staging(other.root).selfies} == {
            selfie.sha256: selfie.identity for selfie in staging(store.root).selfies
        }

    def test_a_missing_selfie_is_told(self, tmp_path: Path, store: LabelStore) -> None:
        next((store.root / "selfies").iterdir()).unlink()
        with pytest.raises(ReferenceSetError, match="1 of the selfies are not in selfies/"):
            export_coco(store.contents(), store.root, tmp_path / "out")
        with pytest.raises(ReferenceSetError, match=r"selfies.json: photos\.\w+: no picture of this name in"):
            import_labels(LabelStore(tmp_path / "other"), "bnr", store.root)

    def test_a_file_elsewhere_is_no_selfie(self, tmp_path: Path, store: LabelStore) -> None:
        export_coco(store.contents(), store.root, tmp_path / "out")
        path = tmp_path / "out" / "annotations.json"
        content = json.loads(path.read_text())
        content["harness"]["selfies"] = {"../../me/Zoe.png": "Zoe"}
        path.write_text(json.dumps(content))
        with pytest.raises(ReferenceSetError, match=r"annotations.json: harness: selfies"):
            import_labels(LabelStore(tmp_path / "other"), "coco", tmp_path / "out")


NAMES = st.text(min_size=1, max_size=6)


@given(st.none() | st.lists(NAMES, unique=True, max_size=3), st.dictionaries(st.just("a" * 64), NAMES))
def test_files_come_back_as_they_were(people: list[str] | None, owners: dict[str, str]) -> None:
    faces = FaceGroundTruth(photos={PHOTO: FaceLabels(people=people)})
    assert decode(Path("f"), encode(faces), FaceGroundTruth) == faces
    assert (b'"people"' in encode(faces)) == (people is not None)
    selfies = Selfies(photos=owners)
    assert decode(Path("s"), encode(selfies), Selfies) == selfies


def _changes(store: LabelStore) -> Iterator[None]:
    """Everything that people can say about who is who, one after the other."""
    photos = list(store.contents().index.photos)
    yield
    save_people(store, photos[0], ["Zoe"], view(store, photos[0]).revisions)
    yield
    save_people(store, photos[0], [], view(store, photos[0]).revisions)
    yield
    save_people(store, photos[0], None, view(store, photos[0]).revisions)
    yield
    with store.edit() as draft:
        draft.put(Selfies, min(draft.file(Selfies).photos), "Eve")
    yield
    with store.edit() as draft:
        draft.put(Selfies, min(draft.file(Selfies).photos), None)
    yield
    with store.edit() as draft:
        draft.put_head(FaceIdentities, identities_labeled=True)
    yield


def test_the_digest_follows_everything_that_is_said_about_people(store: LabelStore) -> None:
    digests = [staging(store.root).digest for _ in _changes(store)]
    assert len(set(digests)) == len(digests)


def test_without_people_selfies_and_constraints_the_digest_is_the_older_one(tiny_set: Path) -> None:
    """As the version before has computed it, of the same labels."""
    assert staging(tiny_set).digest == digest_of_the_version_before(tiny_set)


def digest_of_the_version_before(root: Path) -> str:
    total = hashlib.sha256()
    for photo in sorted(staging(root).photos, key=lambda photo: photo.sha256):
        record = [
            photo.sha256,
            photo.split,
            photo.bib_labeled,
            [[*box.xywh, box.number, box.scope, list(box.tags)] for box in photo.bibs],
            list(photo.bib_tags),
            photo.face_labeled,
            [[*box.xywh, box.scope, box.identity, list(box.tags)] for box in photo.faces],
            list(photo.face_tags),
            None if photo.links is None else [[link.bib_index, link.face_index] for link in photo.links],
        ]
        total.update(json.dumps(record).encode())
    return total.hexdigest()
