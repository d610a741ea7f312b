"""Groups: what joins photos, in which order, and where a tie is cut; checked by a plain reading of the rule, too."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from harness.references.adding import add_photos, scan
from harness.references.captures import Capture, read_capture
from harness.references.contents import Contents, read_file
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    BibRecord,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    FaceRecord,
    PhotoIndex,
    PhotoRecord,
    write_file,
)
from harness.references.groups import Groups, GroupSummary, captures_of, form_groups, groups_of, largest_group
from harness.references.store import LabelStore
from harness.types import BibScope, FaceScope
from tests.references.builders import photo_hash

START = datetime(2026, 5, 3, 10, 0, 0)


class Shot:
    """A photo in short: who is in it, when and by which camera it was taken, what it was imported with."""

    def __init__(
        self,
        numbers: tuple[str, ...] = (),
        names: tuple[str, ...] = (),
        at: float | None = None,
        camera: str = "A",
        group: str | None = None,
        links: tuple[tuple[int, int], ...] = (),
    ) -> None:
        self.numbers, self.names, self.at = numbers, names, at
        self.camera, self.group, self.links = camera, group, links

    @property
    def capture(self) -> Capture:
        if self.at is None:
            return Capture()
        return Capture((START + timedelta(seconds=self.at)).isoformat(), self.camera)


def box(place: int) -> dict[str, Any]:
    return {"x": place / 100, "y": 0.1, "w": 0.01, "h": 0.1}


def contents(shots: dict[str, Shot]) -> Contents:
    def record(shot: Shot) -> PhotoRecord:
        more: dict[str, Any] = {"group": shot.group, "taken_at": shot.capture.taken_at, "camera": shot.capture.camera}
        return PhotoRecord(names=["a"], width=9, height=9, bytes=1, added_at="", split="iteration", **more)

    return Contents(
        index=PhotoIndex(photos={photo: record(shot) for photo, shot in shots.items()}),
        bibs=BibGroundTruth(
            photos={
                photo: BibLabels(boxes=[BibRecord(**box(n), number=text) for n, text in enumerate(shot.numbers)])
                for photo, shot in shots.items()
            }
        ),
        faces=FaceGroundTruth(
            photos={
                photo: FaceLabels(boxes=[FaceRecord(**box(n), identity=name) for n, name in enumerate(shot.names)])
                for photo, shot in shots.items()
            }
        ),
        links=BibFaceLinks(photos={photo: list(shot.links) for photo, shot in shots.items() if shot.links}),
        identities=FaceIdentities(),
    )


def grouped(shots: dict[str, Shot]) -> Groups:
    return form_groups(contents(shots), {photo: shot.capture for photo, shot in shots.items()})


def named(*shots: Shot) -> dict[str, Shot]:
    """Shots under hashes whose order is that of the arguments."""
    return dict(zip(sorted(photo_hash(number) for number in range(len(shots))), shots, strict=True))


def partition(groups: Groups, shots: dict[str, Shot]) -> list[list[int]]:
    """The groups by the places of their photos, those of one photo left out."""
    places = {photo: place for place, photo in enumerate(sorted(shots))}
    found = [sorted(places[photo] for photo in photos) for photos in groups.members().values()]
    return sorted(group for group in found if len(group) > 1)


def test_photos_of_one_runner_are_one_group() -> None:
    shots = named(
        Shot(("417",)), Shot(("417", "9")), Shot(("62?",)), Shot(("62?",)), Shot((), ("Ada",)), Shot((), ("Ada",))
    )
    groups = grouped(shots)
    assert partition(groups, shots) == [[0, 1], [4, 5]]
    assert (groups.cut, groups.joined) == (0, {"imported": 0, "burst": 0, "runner": 2})
    first, second = sorted(shots)[:2]
    assert groups.of[first] == groups.of[second] == first[:16]


def test_letters_and_leading_zeros_are_part_of_a_number() -> None:
    shots = named(*(Shot((number,)) for number in ("M507", "507", "0507", "m507", "M507", "0507", "M50?", "M50?")))
    assert partition(grouped(shots), shots) == [[0, 4], [2, 5]]


def test_an_anonymous_person_is_a_runner_and_one_who_is_excluded_is_none() -> None:
    shots = named(Shot((), ("anonymous_1",)), Shot((), ("anonymous_1",)), Shot((), ("Bo",)), Shot((), ("Bo",)))
    found = contents(shots)
    for photo in sorted(shots)[2:]:
        boxes = [face.model_copy(update={"scope": FaceScope.EXCLUDE}) for face in found.faces.photos[photo].boxes]
        found.faces.photos[photo] = FaceLabels(boxes=boxes)
    assert partition(form_groups(found, {}), shots) == [[0, 1]]


def test_a_number_that_is_not_scored_ties_nothing() -> None:
    shots = named(Shot(("417",)), Shot(("417",)), Shot(("417",)))
    found = contents(shots)
    first = sorted(shots)[0]
    obscured = found.bibs.photos[first].boxes[0].model_copy(update={"scope": BibScope.BIB_OBSCURED})
    found.bibs.photos[first] = BibLabels(boxes=[obscured])
    assert partition(form_groups(found, {}), shots) == [[1, 2]]


def test_a_number_and_the_name_that_it_is_linked_to_are_one_runner() -> None:
    linked = Shot(("417",), ("Ada",), links=((0, 0),))
    shots = named(linked, Shot(("417",)), Shot((), ("Ada",)))
    assert partition(grouped(shots), shots) == [[0, 1, 2]]
    # Cas is linked to 417 too: the number is nobody's then, and ties photos as a number alone.
    shots = named(linked, Shot(("417",), ("Cas",), links=((0, 0),)), Shot((), ("Ada",)), Shot((), ("Cas",)))
    assert partition(grouped(shots), shots) == [[0, 1, 2, 3]]


def test_a_burst_ends_ten_seconds_after_its_first_photo_however_close_the_next_is() -> None:
    shots = named(*(Shot(at=second) for second in (0, 4, 8, 10, 10.001, 14, 20.001, 20.002)))
    assert partition(grouped(shots), shots) == [[0, 1, 2, 3], [4, 5, 6]]


def test_two_cameras_make_two_bursts_and_a_photo_without_a_time_is_in_none() -> None:
    shots = named(Shot(at=0), Shot(at=1, camera="B"), Shot(at=2), Shot(at=3, camera="B"), Shot(), Shot(at=1, camera=""))
    assert partition(grouped(shots), shots) == [[0, 2], [1, 3]]


def test_a_long_burst_is_cut_into_groups_of_the_largest_size() -> None:
    shots = named(*(Shot(at=number / 10) for number in range(10)))
    groups = grouped(shots)
    assert partition(groups, shots) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert groups.cut == 2


def test_the_pair_with_most_shared_runners_is_joined_first() -> None:
    # 0, 1, 2 share one runner, as 3 and 4 do; 2 and 3 share two. Groups have at most four photos.
    shots = named(Shot(("1",)), Shot(("1",)), Shot(("1", "2", "3")), Shot(("2", "3", "4")), Shot(("4",)))
    groups = grouped(shots)
    assert partition(groups, shots) == [[0, 1, 2, 3]]
    assert groups.cut == 1


def test_import_comes_first_then_bursts_then_runners() -> None:
    shots = named(
        Shot(group="x"), Shot(("7",), group="x"), Shot(("7",), at=0), Shot(("7", "8"), at=1), Shot(("7", "8"), at=90)
    )
    groups = grouped(shots)
    assert partition(groups, shots) == [[0, 1], [2, 3, 4]]
    assert groups.joined == {"imported": 1, "burst": 1, "runner": 1}
    assert groups.cut == 3  # photo 1 shares a runner with 2, 3 and 4


@pytest.mark.parametrize(("photos", "largest"), [(0, 4), (4, 4), (80, 4), (100, 5), (119, 5.95), (1000, 50)])
def test_how_large_a_group_may_be(photos: int, largest: float) -> None:
    assert largest_group(photos) == pytest.approx(largest)


def test_a_set_of_independent_photos_has_a_group_each() -> None:
    shots = named(*(Shot((str(number),)) for number in range(5)))
    assert len(grouped(shots).members()) == 5
    assert not grouped({}).of


def oracle(shots: dict[str, Shot]) -> tuple[list[set[str]], int]:
    """The rule as its page says it, pair by pair and without any cleverness."""
    groups = [{photo} for photo in sorted(shots)]
    cut = 0

    def tie(one: str, other: str) -> None:
        nonlocal cut
        first = next(group for group in groups if one in group)
        second = next(group for group in groups if other in group)
        if first is second:
            return
        if len(first) + len(second) > max(4, 0.05 * len(shots)):
            cut += 1
            return
        groups.remove(second)
        first |= second

    for one, other in _imported(shots):
        tie(one, other)
    for one, other in _burst(shots):
        tie(one, other)
    pairs = [(one, other) for one, other in combinations(sorted(shots), 2) if _common(shots[one], shots[other])]
    for one, other in sorted(pairs, key=lambda pair: (-_common(shots[pair[0]], shots[pair[1]]), pair)):
        tie(one, other)
    return groups, cut


def _common(one: Shot, other: Shot) -> int:
    numbers = {text for text in one.numbers if "?" not in text} & {text for text in other.numbers if "?" not in text}
    return len(numbers) + len(set(one.names) & set(other.names))


def _imported(shots: dict[str, Shot]) -> Iterator[tuple[str, str]]:
    last: dict[str, str] = {}
    for photo in sorted(shots):
        if group := shots[photo].group:
            if group in last:
                yield last[group], photo
            last[group] = photo


def _burst(shots: dict[str, Shot]) -> Iterator[tuple[str, str]]:
    first: dict[str, float] = {}
    last: dict[str, str] = {}
    taken = [(shot.camera, shot.at, photo) for photo, shot in shots.items() if shot.at is not None and shot.camera]
    for camera, at, photo in sorted(taken):
        if camera in first and at - first[camera] <= 10:
            yield last[camera], photo
        else:
            first[camera] = at
        last[camera] = photo


SHOTS = st.builds(
    Shot,
    numbers=st.lists(st.sampled_from(["1", "2", "3", "41", "5?"]), max_size=3, unique=True).map(tuple),
    names=st.lists(st.sampled_from(["Ada", "Bo", "anonymous_1"]), max_size=2, unique=True).map(tuple),
    at=st.none() | st.integers(0, 40).map(float),
    camera=st.sampled_from(["A", "B", ""]),
    group=st.sampled_from([None, None, "x", "y"]),
)


@given(st.lists(SHOTS, max_size=14), st.randoms(use_true_random=False))
def test_groups_are_those_of_the_plain_rule_in_whichever_order_photos_come(
    made: list[Shot], order: random.Random
) -> None:
    shots = {photo_hash(number): shot for number, shot in enumerate(made)}
    groups = grouped(shots)
    expected, cut = oracle(shots)
    assert sorted(map(sorted, groups.members().values())) == sorted(map(sorted, expected))
    assert groups.cut == cut
    assert sum(groups.joined.values()) == len(shots) - len(expected)
    assert groups.of.keys() == shots.keys()
    assert all(len(photos) <= largest_group(len(shots)) for photos in expected)
    assert all(name == min(photos)[:16] for name, photos in groups.members().items())
    shuffled = list(shots.items())
    order.shuffle(shuffled)
    assert grouped(dict(shuffled)) == groups


@given(st.lists(st.tuples(st.integers(0, 300), st.sampled_from("AB")), max_size=40))
def test_no_burst_reaches_further_than_ten_seconds_from_its_first(taken: list[tuple[int, str]]) -> None:
    shots = {photo_hash(n): Shot(at=tenths / 10, camera=camera) for n, (tenths, camera) in enumerate(taken)}
    for photos in grouped(shots).members().values():
        times = [shots[photo].at or 0 for photo in photos]
        assert max(times) - min(times) <= 10 + 1e-6, "tenths of a second are no binary fractions"
        assert len({shots[photo].camera for photo in photos}) == 1


def test_large_sets_follow_the_same_rule() -> None:
    chance = random.Random(3)
    shots = {
        photo_hash(n): Shot(tuple({str(chance.randrange(60)) for _ in range(2)}), at=chance.randrange(4000) / 2)
        for n in range(240)
    }
    groups, (expected, cut) = grouped(shots), oracle(shots)
    assert sorted(map(sorted, groups.members().values())) == sorted(map(sorted, expected))
    assert groups.cut == cut > 0


def test_each_photo_by_itself(tmp_path: Path) -> None:
    shots = named(Shot(("417",)), Shot(("417",)))
    alone = groups_of(contents(shots), tmp_path, "photo")
    assert len(set(alone.of.values())) == 2
    summary = GroupSummary.of(alone, shots, dict.fromkeys(shots, "iteration"))
    assert summary.words() == "2 photos, each a group of its own (references.groups=photo)."


def test_a_summary_tells_what_was_cut_and_what_the_split_breaks() -> None:
    shots = named(*(Shot(at=number / 10) for number in range(10)))
    first, *others = sorted(shots)
    splits = {first: "holdout"} | dict.fromkeys(others, "iteration")
    summary = GroupSummary.of(grouped(shots), others, splits)
    assert (summary.photos, summary.groups, summary.largest, summary.cut, summary.broken) == (9, 3, 4, 2, 1)
    assert summary.words() == "9 photos in 3 groups, the largest of 4; 2 ties between groups were cut."


def jpeg(path: Path, at: str = "", subseconds: str = "", make: str = "Nikon", serial: str = "", shade: int = 0) -> Path:
    """A picture with a camera's header."""
    header = Image.Exif()
    header[0x010F], header[0x0110] = make, "Z 9\0"
    details = header.get_ifd(0x8769)
    details |= {tag: text for tag, text in ((0x9003, at), (0x9291, subseconds), (0xA431, serial)) if text}
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (32, 24), (shade, 9, 9)).save(path, "jpeg", exif=header)
    return path


@pytest.mark.parametrize(
    ("at", "subseconds", "taken_at"),
    [
        ("2026:05:03 10:00:07", "25", "2026-05-03T10:00:07.25"),
        ("2026:05:03 10:00:07", "", "2026-05-03T10:00:07"),
        ("2026:05:03 10:00:07", "x", "2026-05-03T10:00:07"),
        ("2026:05:03 10:00:07", "123456789", "2026-05-03T10:00:07.123456"),
        ("0000:00:00 00:00:00", "", ""),
        ("", "", ""),
    ],
)
def test_time_and_camera_come_from_the_header(tmp_path: Path, at: str, subseconds: str, taken_at: str) -> None:
    path = jpeg(tmp_path / "a.jpg", at, subseconds, serial="12")
    assert read_capture(path) == read_capture(io.BytesIO(path.read_bytes())) == Capture(taken_at, "Nikon Z 9 12")


def test_a_photo_that_says_nothing_or_cannot_be_read_has_no_capture(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "plain.png")
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe1\x00\x10Exif\x00\x00garbage")
    for name in ("plain.png", "broken.jpg", "gone.jpg"):
        assert read_capture(tmp_path / name) == Capture()


def test_a_burst_is_found_when_photos_are_added_and_when_an_older_index_has_no_times(tmp_path: Path) -> None:
    source = [jpeg(tmp_path / f"{n}.jpg", f"2026:05:03 10:00:0{n}", shade=50 * n) for n in range(3)]
    store = LabelStore(tmp_path / "set")
    add_photos(store, source)
    known = store.contents()
    assert {record.taken_at for record in known.index.photos.values()} == {f"2026-05-03T10:00:0{n}" for n in range(3)}
    assert len(groups_of(known, store.root, "auto").members()) == 1
    older = {
        photo: record.model_copy(update={"taken_at": None, "camera": None})
        for photo, record in known.index.photos.items()
    }
    write_file(store.root, PhotoIndex(photos=older))
    bare = store.contents()
    assert captures_of(bare, store.root) == captures_of(known, store.root)
    assert groups_of(bare, store.root, "auto") == groups_of(known, store.root, "auto")
    assert len(groups_of(bare, tmp_path / "elsewhere", "auto").members()) == 3  # its photos are not there
    scan(store)
    assert read_file(store.root, PhotoIndex).photos == known.index.photos
