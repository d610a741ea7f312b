"""The sample set: what it promises to hold, that it is the same each time, and that making it is safe."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from harness.base.errors import ReferenceSetError
from harness.references.contents import read_file
from harness.references.files import BibFaceLinks, FaceIdentities, PhotoIndex
from harness.references.photos import read_photo
from harness.references.sample import SampleSet
from harness.references.sets import ReferenceSet
from harness.references.splitting import split_of
from harness.scoring.bibs import SCORED
from harness.types import BibScope, FaceScope, Split

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def root(sample_root: Path) -> Path:
    return sample_root


@pytest.fixture(scope="session")
def sample(root: Path) -> ReferenceSet:
    return SampleSet(root=str(root), split=Split.FULL).load()


def test_processes_that_ask_at_once_get_one_set_and_leave_nothing_beside_it(root: Path) -> None:
    assert sorted(path.name for path in root.parent.glob("*sample*")) == [root.name, f"{root.name}.lock"]


def test_it_has_24_photos_of_2000_pixels_named_by_their_content(root: Path, sample: ReferenceSet) -> None:
    index = read_file(root, PhotoIndex).photos
    assert len(sample.photos) == len(index) == 24
    assert len(list((root / "photos").iterdir())) == 24
    for photo in sample.photos:
        record = index[photo.sha256]
        assert read_photo(photo.path, photo.sha256).shape == (record.height, record.width, 3)
        assert max(record.width, record.height) == 2000
        assert photo.path.stat().st_size == record.bytes
    assert len({record.width > record.height for record in index.values()}) == 2


def test_every_photo_is_labelled_in_full(sample: ReferenceSet) -> None:
    for photo in sample.photos:
        assert photo.bib_labeled
        assert photo.face_labeled
        assert photo.links is not None


def test_boxes_lie_inside_the_photo(sample: ReferenceSet) -> None:
    for photo in sample.photos:
        for box in (*photo.bibs, *photo.faces):
            assert box.has_coords
            assert 0 <= box.x <= box.x + box.w <= 1 + 1e-5
            assert 0 <= box.y <= box.y + box.h <= 1 + 1e-5


def test_there_are_enough_labels_of_every_kind(sample: ReferenceSet) -> None:
    bibs = [bib for photo in sample.photos for bib in photo.bibs]
    faces = [face for photo in sample.photos for face in photo.faces]
    assert 40 <= sum(bib.scope in (BibScope.BIB, BibScope.BIB_CLIPPED) for bib in bibs) <= 60
    assert 55 <= sum(face.scope == FaceScope.KEEP for face in faces) <= 80
    assert {bib.scope for bib in bibs} == set(BibScope)
    assert {face.scope for face in faces} == set(FaceScope)
    assert {len(bib.number) for bib in bibs if bib.number} == {1, 2, 3, 4, 5}


def test_about_a_third_of_the_bibs_have_letters_a_leading_zero_or_a_single_digit(sample: ReferenceSet) -> None:
    scored = [str(bib.number) for photo in sample.photos for bib in photo.bibs if bib.scope in SCORED]
    odd = [number for number in scored if not re.fullmatch(r"[1-9][0-9]{1,4}", number)]
    assert 0.28 <= len(odd) / len(scored) <= 0.4
    for rule in (r"[A-Z][0-9]+", r"[0-9]+[A-Z]", r"[A-Z]?0[0-9]+", r"[0-9]"):
        assert sum(re.fullmatch(rule, number) is not None for number in odd) >= 4


def test_a_question_mark_stands_for_a_hidden_digit_and_only_obscured_bibs_have_one(
    sample: ReferenceSet,
) -> None:
    for photo in sample.photos:
        for bib in photo.bibs:
            if bib.scope == BibScope.NOT_BIB:
                assert bib.number is None
            else:
                assert bib.number is not None
                assert ("?" in bib.number) == (bib.scope == BibScope.BIB_OBSCURED)
                assert re.fullmatch(r"[0-9A-Z?]+", bib.number)


def test_some_obscured_bibs_can_be_read_in_part(sample: ReferenceSet) -> None:
    obscured = {bib.number for photo in sample.photos for bib in photo.bibs if bib.scope == BibScope.BIB_OBSCURED}
    assert any(number and set(number) != {"?"} for number in obscured)


def test_photos_without_anybody_with_bystanders_only_and_with_banners_are_among_them(
    sample: ReferenceSet,
) -> None:
    nobody = [photo for photo in sample.photos if "no_faces" in photo.face_tags]
    assert len(nobody) >= 2
    assert all(not photo.faces and "no_bib" in photo.bib_tags for photo in nobody)
    assert {"other_banners" in photo.bib_tags for photo in nobody} == {True, False}
    bystanders = [photo for photo in sample.photos if photo.faces and "no_bib" in photo.bib_tags]
    assert len(bystanders) >= 2
    assert sum("other_banners" in photo.bib_tags for photo in sample.photos) >= 4


def test_every_photo_tag_is_used(sample: ReferenceSet) -> None:
    tags = {tag for photo in sample.photos for tag in (*photo.bib_tags, *photo.face_tags)}
    assert tags == {
        "obscured_bib", "dark_bib", "no_bib", "blurry_bib", "partial_bib", "light_bib", "other_banners",
        "no_faces", "light_faces",
    }  # fmt: skip


def test_a_runner_wears_one_number_everywhere(sample: ReferenceSet) -> None:
    worn: dict[str, set[str]] = defaultdict(set)
    for photo in sample.photos:
        for link in photo.links or ():
            bib, face = photo.bibs[link.bib_index], photo.faces[link.face_index]
            assert face.identity is not None
            if bib.scope != BibScope.BIB_OBSCURED:
                worn[face.identity].add(bib.number or "")
    assert len(worn) == 8
    assert all(len(numbers) == 1 for numbers in worn.values())
    assert len(set.union(*worn.values())) == 8


def test_links_join_each_labelled_bib_to_at_most_one_face_below_which_it_hangs(sample: ReferenceSet) -> None:
    for photo in sample.photos:
        links = photo.links or ()
        assert len({link.bib_index for link in links}) == len({link.face_index for link in links}) == len(links)
        for link in links:
            bib, face = photo.bibs[link.bib_index], photo.faces[link.face_index]
            assert bib.scope != BibScope.NOT_BIB
            assert bib.y > face.y + face.h


def test_everybody_is_seen_in_several_photos_and_known_by_a_listed_name(root: Path, sample: ReferenceSet) -> None:
    seen: dict[str, set[str]] = defaultdict(set)
    for photo in sample.photos:
        for face in photo.faces:
            if face.scope != FaceScope.EXCLUDE:
                seen[face.identity or ""].add(photo.sha256)
    assert {*seen, "Zara"} == set(read_file(root, FaceIdentities).names)
    assert len(seen) == 9
    assert min(len(photos) for photos in seen.values()) >= 3


def test_runners_and_a_stranger_have_selfies_that_no_photo_shows(root: Path, sample: ReferenceSet) -> None:
    owners = Counter(selfie.identity for selfie in sample.selfies)
    runners = {photo.faces[link.face_index].identity or "" for photo in sample.photos for link in photo.links or ()}
    assert owners == {**dict.fromkeys(runners, 1), "Zara": 2}
    assert len(runners) == 8
    for selfie in sample.selfies:
        assert hashlib.sha256(selfie.path.read_bytes()).hexdigest() == selfie.sha256
    assert sample.identities_labeled
    assert all(None not in photo.face_ids for photo in sample.photos)


def test_runners_are_in_photos_that_do_not_show_their_number(sample: ReferenceSet) -> None:
    """Those that only a face can find: the bib is hidden, or not there."""
    hidden, shown = defaultdict[str, int](int), defaultdict[str, int](int)
    for photo in sample.photos:
        worn = {
            link.face_index: photo.bibs[link.bib_index].number or "?"
            for link in photo.links or ()
            if photo.bibs[link.bib_index].scope in (BibScope.BIB, BibScope.BIB_CLIPPED)
        }
        for place, face in enumerate(photo.faces):
            if face.scope == FaceScope.KEEP and face.identity and not face.identity.startswith("anonymous"):
                (shown if place in worn else hidden)[face.identity] += 1
    assert len(shown) == 8
    assert len(hidden) >= 4
    assert sum(hidden.values()) >= 10


def test_both_splits_have_photos_and_follow_the_hash(root: Path, sample: ReferenceSet) -> None:
    for split in (Split.ITERATION, Split.HOLDOUT):
        part = SampleSet(root=str(root), split=split).load()
        assert part.photos
        assert all(photo.split == split == split_of(photo.sha256) for photo in part.photos)


def test_the_links_file_lists_every_photo(root: Path, sample: ReferenceSet) -> None:
    assert set(read_file(root, BibFaceLinks).photos) == {photo.sha256 for photo in sample.photos}


def test_a_readme_says_what_the_set_is_not_for(root: Path) -> None:
    text = (root / "README.txt").read_text()
    assert "openpeople" in text
    assert "not to judge a pipeline by" in text


@pytest.mark.parametrize("number", [2, 6, 11])
def test_a_scene_composed_again_has_the_same_bytes_and_labels(number: int, root: Path, sample: ReferenceSet) -> None:
    from harness.references.sample.generate import render
    from harness.references.sample.scenes import SCENES

    content, labels = render(SCENES[number], number)
    photo = next(photo for photo in sample.photos if photo.name == f"sample_{number + 1:02d}.jpg")
    assert hashlib.sha256(content).hexdigest() == photo.sha256
    assert tuple(box.box() for box in labels.bibs.boxes) == photo.bibs
    assert tuple(box.box() for box in labels.faces.boxes) == photo.faces


def test_it_is_made_in_the_cache_folder_and_only_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_CACHE", str(root.parent))
    start = time.monotonic()
    loaded = SampleSet(split=Split.FULL).load()
    assert time.monotonic() - start < 5
    assert all(photo.path.is_relative_to(root) for photo in loaded.photos)


def test_an_interrupted_generation_leaves_no_half_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.references.sample import ensure_sample, generate

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path))
    monkeypatch.setattr(generate, "render", interrupt)
    with pytest.raises(KeyboardInterrupt):
        ensure_sample()
    assert [path.suffix for path in tmp_path.glob("*sample*")] == [".lock"]


def test_a_picture_of_another_openpeople_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.references.sample import people

    file = tmp_path / "P001" / "assets" / "studio_posture.jpg"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"another picture")
    monkeypatch.setattr(people, "_folder", lambda: tmp_path)
    with pytest.raises(ReferenceSetError, match=r"studio_posture\.jpg has SHA-256 .* expected .* openpeople 0\.1\.2"):
        people.picture("P001", people.STUDIO).read()


def test_naming_the_sample_imports_nothing_heavy() -> None:
    code = (
        "import sys; import harness.references.sample;"
        "print([name for name in ('cv2', 'PIL', 'matplotlib', 'openpeople') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
