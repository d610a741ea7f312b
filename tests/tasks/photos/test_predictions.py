"""Files of predictions: what a line says, whose photo it is about, and everything that can be wrong with one."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from harness.base.errors import PredictionsError
from harness.references.sets import KnownPhoto, ReferenceSet, StagingSet
from harness.tasks.photos.gathering import Predictions
from harness.tasks.photos.prediction_files import PredictionsFile, read_predictions
from harness.tasks.photos.prediction_lines import line_of, parse_line, prediction_of
from harness.types import BibBox, BibFaceLink, DroppedText, FaceBox, PhotoLabels, PhotoPrediction, Split
from tests.report.reports import photo_of

HASHES = [f"{number:064x}" for number in range(4)]
BOX: dict[str, Any] = {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4}
BIB: dict[str, Any] = {**BOX, "number": "417", "score": 0.9}
FACE: dict[str, Any] = {**BOX, "score": 0.8}
FULL: dict[str, Any] = {"photo": "a.jpg", "bibs": [BIB], "faces": [FACE], "links": [[0, 0]]}


def the_set(folder: Path | None = None, **names: str) -> ReferenceSet:
    """Four photos, a.jpg to d.jpg; the last one is of the other split."""
    photos = [photo_of(number, PhotoLabels(bibs=(), faces=(), links=())) for number in range(3)]
    photos = [replace(photo, path=(folder or Path("nowhere")) / f"{photo.sha256}.jpg") for photo in photos]
    called = ["a.jpg", "b.jpg", "c.jpg", "d.jpg"]
    known = [KnownPhoto(HASHES[n], (names.get(f"photo{n}", called[n]), f"old_{n}.jpg"), "iteration") for n in range(3)]
    known.append(KnownPhoto(HASHES[3], ("d.jpg",), "holdout"))
    return ReferenceSet("races", "iteration", tuple(photos), "d" * 64, tuple(known))


def written(folder: Path, lines: Sequence[Mapping[str, Any] | bytes]) -> PredictionsFile:
    path = folder / "predictions.jsonl"
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return PredictionsFile.of(path)


def read(folder: Path, *lines: Mapping[str, Any] | bytes, references: ReferenceSet | None = None) -> Predictions:
    return read_predictions(written(folder, lines), references or the_set())


def refused(folder: Path, *lines: Mapping[str, Any] | bytes, references: ReferenceSet | None = None) -> str:
    """What is said about lines that cannot be scored, without the folder."""
    with pytest.raises(PredictionsError) as caught:
        read(folder, *lines, references=references)
    return str(caught.value).replace(f"{folder}/", "")


shares = st.floats(0, 1)
points = st.tuples(st.floats(-1, 2), st.floats(-1, 2))


@st.composite
def coordinates(draw: st.DrawFn) -> dict[str, Any]:
    x, y = draw(st.floats(0, 0.999)), draw(st.floats(0, 0.999))
    w, h = (draw(st.floats(1e-9, 1 - start)) for start in (x, y))
    return {"x": x, "y": y, "w": w, "h": h}


@st.composite
def predictions(draw: st.DrawFn) -> PhotoPrediction:
    score = st.none() | shares
    bibs = [
        BibBox(
            **draw(coordinates()),
            number=draw(st.none() | st.sampled_from(["33?", "?12", "S0780", "0891", "7"]) | st.text(max_size=5)),
            score=draw(score),
            char_scores=tuple(draw(st.lists(shares, max_size=3))),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    faces = [
        FaceBox(
            **draw(coordinates()),
            score=draw(score),
            landmarks=tuple(draw(st.just([]) | st.lists(points, min_size=5, max_size=5))),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    pairs = [(bib, face) for bib in range(len(bibs)) for face in range(len(faces))]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    links = [BibFaceLink(*pair, draw(score)) for pair in chosen]
    amounts = st.none() | st.floats(-9, 9)
    dropped = [
        DroppedText(
            **draw(coordinates() | st.just({"x": 0.0, "y": 0.0, "w": 0.0, "h": 0.0})),
            text=draw(st.text(max_size=5)),
            rule=draw(st.sampled_from(["", "format", "min_char_score"])),
            value=draw(amounts),
            limit=draw(amounts),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return PhotoPrediction(tuple(bibs), tuple(faces), tuple(links), tuple(dropped))


@given(predictions())
def test_a_prediction_comes_back_from_its_line_to_the_last_digit(prediction: PhotoPrediction) -> None:
    line = parse_line(line_of(HASHES[0], "a.jpg", prediction, traced=True))
    again = prediction_of(line)
    assert (line.photo, line.sha256) == ("a.jpg", HASHES[0])
    assert repr(again) == repr(prediction)
    assert [link.score for link in again.links] == [link.score for link in prediction.links]


def test_texts_that_were_dropped_are_on_every_line_or_on_none(tmp_path: Path) -> None:
    text = {**BOX, "text": "41?", "rule": "min_char_score", "value": 0.46, "limit": 0.5}
    lines: list[dict[str, Any]] = [
        {"photo": "a.jpg", "bibs": [], "dropped": [text, {"text": "5B"}]},
        {"photo": "b.jpg", "bibs": []},
    ]
    assert "predictions.jsonl:2: no dropped, which line 1 has" in refused(tmp_path, *lines)
    found = read(tmp_path, lines[0], lines[1] | {"dropped": []})
    assert found.traced
    seen = DroppedText(**BOX, text="41?", rule="min_char_score", value=0.46, limit=0.5)
    assert found.found[HASHES[0]].dropped == (seen, DroppedText(x=0, y=0, w=0, h=0, text="5B"))
    assert not read(tmp_path, lines[1]).traced
    (line,) = [json.loads(line_of(HASHES[0], "a.jpg", found.found[HASHES[0]]))]
    assert "dropped" not in line, "of a reader that does not tell it"
    wrong = refused(tmp_path, {"photo": "a.jpg", "bibs": [], "dropped": [text | {"x": 0.9}]})
    assert "dropped.0: x 0.9 and w 0.3 stick out of the photo" in wrong


def test_what_a_run_did_not_predict_is_not_in_its_lines() -> None:
    seen = PhotoPrediction(bibs=(BibBox(**BOX),))
    line = json.loads(line_of(HASHES[0], "a.jpg", seen, ("faces", "links", "numbers")))
    assert line.keys() == {"photo", "sha256", "bibs"}
    assert line["bibs"] == [{**BOX, "score": None}]


def test_a_photo_is_known_by_any_of_its_names_or_by_its_hash(tmp_path: Path) -> None:
    both = {"photo": "c.jpg", "sha256": HASHES[2], "bibs": []}
    found = read(tmp_path, {"photo": "old_0.jpg", "bibs": [BIB]}, {"sha256": HASHES[1], "bibs": []}, both)
    assert list(found.found) == HASHES[:3]
    assert found.found[HASHES[0]].bibs == (BibBox(**BOX, number="417", score=0.9),)


def test_a_hash_in_capitals_is_the_same_hash(tmp_path: Path) -> None:
    own = "abcdef" + 58 * "0"
    some = the_set()
    photo = replace(some.photos[0], sha256=own)
    references = replace(some, photos=(photo,), known=(KnownPhoto(own, ("a.jpg",), "iteration"),))
    found = read(tmp_path, {"photo": "a.jpg", "sha256": own.upper(), "bibs": []}, references=references)
    assert list(found.found) == [own]


def test_a_line_has_links_with_or_without_a_score_and_seconds(tmp_path: Path) -> None:
    line = FULL | {"links": [[0, 0, 0.25]], "seconds": {"ocr": 0.5, "faces": 1}}
    found = read(tmp_path, line)
    assert [(link.bib_index, link.face_index, link.score) for link in found.found[HASHES[0]].links] == [(0, 0, 0.25)]
    assert found.seconds == {HASHES[0]: {"ocr": 0.5, "faces": 1.0}}
    assert read(tmp_path, FULL).found[HASHES[0]].links[0].score is None


@pytest.mark.parametrize(
    ("lines", "absent"),
    [
        ([FULL], set()),
        ([{"photo": "a.jpg", "bibs": [BIB]}, {"photo": "b.jpg", "bibs": []}], {"faces", "links"}),
        ([{"photo": "a.jpg", "faces": [FACE]}], {"bibs", "links"}),
        ([{"photo": "a.jpg", "bibs": [BOX]}], {"faces", "links", "numbers"}),
        ([{"photo": "a.jpg", "bibs": [{**BOX, "number": None}]}], {"faces", "links"}),
        ([{"photo": "a.jpg", "bibs": [], "faces": []}], {"links"}),
        ([{"photo": "a.jpg", "bibs": [], "faces": [], "links": []}], set()),
    ],
)
def test_what_no_line_has_is_not_predicted_and_an_empty_list_is(
    tmp_path: Path, lines: list[dict[str, Any]], absent: set[str]
) -> None:
    assert read(tmp_path, *lines).absent == absent


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"{", "not JSON: EOF while parsing an object at column 1; expected one JSON object a line"),
        (b'{"photo": "a.jpg", "bibs": []} trailing', "not JSON: trailing characters at column 32; expected one"),
        (b'{"photo": "a.jpg", "bibs": [],', "not JSON: EOF while parsing"),
        (b"{'photo': 'a.jpg'}", "not JSON: key must be a string at column 2"),
        (b'{"photo": "\xff"}', "not UTF-8"),
        (b"3", "expected a JSON object"),
        ({"bibs": []}, "no photo; expected photo"),
        ({"photo": "", "bibs": []}, "photo: String should have at least 1 character"),
        (
            {"sha256": "ab", "bibs": []},
            "sha256: expected the 64 hexadecimal digits of the hash of a photo's bytes, got 'ab'",
        ),
        ({"sha256": f"{HASHES[0]}.jpg", "bibs": []}, "sha256: expected the 64 hexadecimal digits"),
        (FULL | {"bib": []}, "bib: no such key"),
        (FULL | {"bibs": [BIB | {"nmber": "4"}]}, "bibs.0.nmber: no such key"),
        (FULL | {"bibs": None}, "bibs: must be an array"),
        (FULL | {"unit": "cm"}, "unit: must be 'share' or 'px'"),
        (FULL | {"bibs": [BIB | {"number": 417}]}, 'bibs.0.number: expected a text such as "417", or null, got 417'),
        (FULL | {"faces": [FACE | {"x": float("nan")}]}, "faces.0.x: must be a finite number, got nan"),
        (FULL | {"faces": [FACE | {"y": float("inf")}]}, "faces.0.y: must be a finite number, got inf"),
        (FULL | {"faces": [FACE | {"x": "0.1"}]}, "faces.0.x: must be a number"),
        (FULL | {"faces": [FACE | {"w": 0}]}, "faces.0.w: must be greater than 0"),
        (FULL | {"faces": [FACE | {"h": -0.1}]}, "faces.0.h: must be greater than 0"),
        (
            FULL | {"faces": [FACE | {"x": 0.8}]},
            "faces.0: x 0.8 and w 0.3 stick out of the photo; expected a box from 0 to",
        ),
        (FULL | {"bibs": [BIB | {"y": -0.1}]}, "bibs.0: y -0.1 and h 0.4 stick out"),
        (FULL | {"bibs": [BIB | {"score": "0.9"}]}, "bibs.0.score: must be a number, got '0.9'"),
        (FULL | {"bibs": [BIB | {"score": True}]}, "bibs.0.score: must be a number, got True"),
        (FULL | {"bibs": [BIB | {"score": float("nan")}]}, "bibs.0.score: must be a finite number, got nan"),
        (FULL | {"bibs": [BIB | {"score": 1.5}]}, "bibs.0.score: must be less than or equal to 1"),
        (FULL | {"faces": [FACE | {"landmarks": [[0.1, 0.1]] * 4}]}, "faces.0.landmarks: List should have at least 5"),
        (FULL | {"faces": [FACE | {"embedding": []}]}, "faces.0.embedding: List should have at least 1"),
        (FULL | {"faces": [FACE | {"embedding": [float("nan")]}]}, "faces.0.embedding.0: must be a finite"),
        (FULL | {"links": [[0, 1]]}, "links.0: [0, 1] points past the 1 bib and 1 face of the line"),
        (FULL | {"links": [[0]]}, "links: link 0 is [0]; expected [bib, face] or [bib, face, score]"),
        (FULL | {"links": [[None, 0]]}, "links: link 0 is [null, 0]; expected [bib, face]"),
        (FULL | {"links": [[0, -1]]}, "expected [bib, face]"),
        (FULL | {"links": [[0, 0.5]]}, "expected [bib, face]"),
        (FULL | {"links": [[0, 0, 2]]}, "expected [bib, face]"),
        (FULL | {"links": [[0, 10**400]]}, "links.0.1: must be a finite number"),
        (FULL | {"links": [[0, float("inf")]]}, "links.0.1: must be a finite number, got inf"),
        (FULL | {"links": [[0, 0, float("nan")]]}, "links.0.2: must be a finite number, got nan"),
        (FULL | {"links": [["0", 0]]}, "links.0.0: must be a number, got '0'"),
        (FULL | {"links": [[True, 0]]}, "links.0.0: must be a number, got True"),
        (FULL | {"links": [0, 0]}, "links.0: must be an array, got 0"),
        (FULL | {"links": [[0, 0], [0, 0]]}, "links: one pair stands there twice"),
        (FULL | {"links": [[0, 0, 0.5], [0, 0, 0.25]]}, "links: one pair stands there twice"),
        (FULL | {"seconds": {"ocr": -1}}, "seconds.ocr: must be greater than or equal to 0"),
        (FULL | {"seconds": {"a/b": 1}}, "seconds: 'a/b': expected the name of a stage"),
        (FULL | {"seconds": {"pipeline": 1}}, "pipeline is the sum of all"),
        (FULL | {"sha256": HASHES[1]}, "photo a.jpg and sha256 are two photos; the one of this sha256 is b.jpg"),
        ({"photo": "b.jpg", "bibs": []}, "b.jpg is there already, as line 1; expected each photo once"),
        ({"sha256": HASHES[1], "bibs": []}, "b.jpg is there already, as line 1; expected each photo once"),
        ({"photo": "old_1.jpg", "bibs": []}, "b.jpg is there already, as line 1; expected each photo once"),
    ],
)
def test_a_bad_line_is_refused_by_its_place(tmp_path: Path, line: dict[str, Any] | bytes, said: str) -> None:
    told = refused(tmp_path, {"photo": "b.jpg", "bibs": []}, line)
    first = next(part for part in told.splitlines() if said in part)
    assert first.startswith("predictions.jsonl:2: "), told


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([b""], "no predictions; expected one JSON object a line"),
        ([b"", b"  "], "no predictions; expected one JSON object a line"),
        ([b'[{"image_id": 1}]'], "a JSON array, as COCO results are; expected --images COCO.json with it"),
        ([{"photo": "a.jpg"}], "no line has bibs or faces"),
    ],
)
def test_a_file_that_says_nothing_is_refused(tmp_path: Path, lines: list[Any], said: str) -> None:
    assert said in refused(tmp_path, *lines)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([FULL, {"photo": "b.jpg", "bibs": [], "links": []}], "predictions.jsonl:2: no faces, which line 1 has"),
        ([{"photo": "b.jpg", "faces": []}, FULL], "predictions.jsonl:1: no bibs, which line 2 has"),
        ([FULL, FULL | {"photo": "b.jpg", "seconds": {}}], "predictions.jsonl:1: no seconds, which line 2 has"),
        (
            [FULL, FULL | {"photo": "b.jpg", "bibs": [{**BOX, "score": 0.5}]}],
            "predictions.jsonl:2: a bib without number, which one of line 1 has; expected it for every bib or for none",
        ),
        (
            [FULL, FULL | {"photo": "b.jpg", "faces": [BOX]}],
            "predictions.jsonl:2: a face without score, which one of line 1",
        ),
    ],
)
def test_a_lost_list_is_not_none_found(tmp_path: Path, lines: list[dict[str, Any]], said: str) -> None:
    assert said in refused(tmp_path, *lines)


def test_a_column_is_that_of_the_line(tmp_path: Path) -> None:
    told = "predictions.jsonl:1: not JSON: EOF while parsing a value at column 18; expected one JSON object a line"
    assert refused(tmp_path, b'{"photo": "a.jpg", \r', FULL | {"photo": "b.jpg"}) == told


def test_the_first_bad_lines_are_told_at_once(tmp_path: Path) -> None:
    told = refused(tmp_path, *[b"x"] * 7).splitlines()
    assert [line.split(": ")[0] for line in told[:5]] == [f"predictions.jsonl:{number}" for number in range(1, 6)]
    assert told[5:] == ["... and 2 bad lines more"]


def test_photos_that_the_set_does_not_have_are_listed(tmp_path: Path) -> None:
    unknown = [{"photo": f"x{number}.jpg", "bibs": []} for number in range(11)]
    told = refused(tmp_path, {"photo": "images/a.jpg", "bibs": []}, *unknown)
    assert told.startswith("predictions.jsonl: 12 lines are about photos that races does not have:\n")
    assert "predictions.jsonl:1: images/a.jpg (the set has a.jpg)\n" in told
    assert told.endswith("predictions.jsonl:10: x8.jpg\n  ... and 2 more")
    assert "1 line is about a photo" in refused(tmp_path, {"sha256": "f" * 64, "bibs": []})


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ({"photo": "shots\\a.jpg"}, "shots\\a.jpg (the set has a.jpg)"),
        ({"photo": HASHES[1]}, f'{HASHES[1]} (the name of a stored file: give its hash as "sha256")'),
        (
            {"photo": f"photos/{HASHES[1]}.jpg"},
            f'{HASHES[1]}.jpg (the name of a stored file: give its hash as "sha256")',
        ),
        ({"photo": "a.jpg", "sha256": "f" * 64}, "a.jpg (the set has a photo of this name, with another sha256)"),
        ({"photo": "z.jpg", "sha256": "f" * 64}, "z.jpg"),
        ({"photo": "a\n\x1b[31m.jpg"}, r"'a\n\x1b[31m.jpg'"),
        ({"photo": "x" * 1_000_000}, f"{'x' * 255}..."),
    ],
)
def test_a_photo_that_the_set_does_not_have_is_told_with_what_it_has(
    tmp_path: Path, line: dict[str, Any], shown: str
) -> None:
    told = refused(tmp_path, line | {"bibs": []})
    assert told.endswith(shown)
    assert len(told.splitlines()) == 2


def test_whoever_forgets_to_choose_a_set_is_reminded(tmp_path: Path) -> None:
    told = refused(tmp_path, {"photo": "x.jpg", "bibs": []}, references=replace(the_set(), name="sample"))
    assert "that sample does not have (references=staging chooses photos of your own):\n" in told


def test_a_name_of_two_photos_needs_a_hash(tmp_path: Path) -> None:
    same = the_set(photo1="a.jpg")
    told = refused(tmp_path, {"photo": "a.jpg", "bibs": []}, references=same)
    assert told == "predictions.jsonl:1: 2 photos of the set are called a.jpg; expected sha256 as well"
    found = read(tmp_path, {"photo": "a.jpg", "sha256": HASHES[1], "bibs": []}, references=same)
    assert list(found.found) == [HASHES[1]]


def test_lines_of_another_split_are_counted_and_not_used(tmp_path: Path) -> None:
    found = read(tmp_path, {"photo": "a.jpg", "bibs": []}, {"photo": "d.jpg", "bibs": [BIB]})
    assert list(found.found) == HASHES[:1]
    assert found.elsewhere == {"holdout": 1}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"bibs": [BIB | {"x": 0.9}]}, "bibs.0: x 0.9 and w 0.3 stick out of the photo; expected a box from 0 to 1"),
        ({"links": [[0, 3]]}, "links.0: [0, 3] points past the 1 bib and 1 face of the line"),
    ],
)
def test_lines_of_another_split_are_checked_like_others(tmp_path: Path, wrong: dict[str, Any], message: str) -> None:
    assert refused(tmp_path, FULL, FULL | {"photo": "d.jpg"} | wrong) == f"predictions.jsonl:2: {message}"


def test_pixels_of_another_split_are_checked_where_the_photo_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for sha256 in (HASHES[0], HASHES[3]):
        Image.new("RGB", (40, 20)).save(tmp_path / "photos" / f"{sha256}.jpg")
    face = {"x": 30, "y": 0, "w": 10, "h": 20, "score": 1}
    lines = [{"photo": name, "unit": "px", "faces": [face]} for name in ("a.jpg", "d.jpg")]
    assert read(tmp_path, *lines, references=the_set(tmp_path / "photos")).elsewhere == {"holdout": 1}
    lines[1]["faces"] = [face | {"x": 31}]
    told = "predictions.jsonl:2: faces.0: x 31 and w 10 stick out of the photo; expected a box from 0 to 40"
    assert refused(tmp_path, *lines, references=the_set(tmp_path / "photos")) == told
    (tmp_path / "photos" / f"{HASHES[3]}.jpg").unlink()
    assert read(tmp_path, *lines, references=the_set(tmp_path / "photos")).elsewhere == {"holdout": 1}


@pytest.mark.parametrize(
    ("box", "hinted"),
    [
        ({"x": 185, "y": 260, "w": 110, "h": 90}, True),
        ({"x": 0.1, "y": 260, "w": 0.1, "h": 0.1}, True),
        ({"x": -12, "y": 0.1, "w": 0.1, "h": 0.1}, True),
        ({"x": 0.9, "y": 0.1, "w": 0.3, "h": 0.1}, False),
        ({"x": -0.1, "y": 0.1, "w": 2, "h": 0.1}, False),
    ],
)
@pytest.mark.parametrize("kind", ["bibs", "faces"])
def test_shares_that_look_like_pixels_get_a_hint(
    tmp_path: Path, kind: str, box: dict[str, float], hinted: bool
) -> None:
    told = refused(tmp_path, {"photo": "a.jpg", kind: [box]})
    hint = '; boxes are shares of the upright photo, and "unit": "px" on the line says that they are pixels'
    assert told.startswith(f"predictions.jsonl:1: {kind}.0: ")
    assert told.endswith(f"expected a box from 0 to 1{hint if hinted else ''}")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        (b'{"photo": "a.jpg", "faces": [{"x": 0, "y": 0, "w": 1, "h": 1}], "faces": []}', "faces"),
        (b'{"photo": "a.jpg", "faces": [], "f\\u0061ces": []}', "faces"),
        (b'{"photo": "b.jpg", "photo": "a.jpg", "faces": []}', "photo"),
        (b'{"photo": "a.jpg", "faces": [{"x": 0, "x": 0.5, "y": 0, "w": 0.5, "h": 1}]}', "faces.0.x"),
        (b'{"photo": "a.jpg", "faces": [], "seconds": {"ocr": 1, "ocr": 2}}', "seconds.ocr"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, line: bytes, key: str) -> None:
    told = f"predictions.jsonl:1: {key}: stands there 2 times; expected each key once"
    assert refused(tmp_path, line) == told


def test_a_colon_in_a_name_is_no_key(tmp_path: Path) -> None:
    found = read(tmp_path, FULL | {"photo": "a:b:.jpg"}, references=the_set(photo0="a:b:.jpg"))
    assert list(found.found) == HASHES[:1]


def test_a_box_at_the_border_is_cut_and_a_rounded_sum_stays(tmp_path: Path) -> None:
    over = {"x": -5e-7, "y": 0.5, "w": 0.5, "h": 0.5 + 5e-7, "score": 1}
    rounded = {"x": 0.9, "y": 0.7, "w": 0.1, "h": 0.30000000000000004, "score": 1}
    cut, kept = read(tmp_path, {"photo": "a.jpg", "faces": [over, rounded]}).found[HASHES[0]].faces
    assert cut.xywh == (0.0, 0.5, 0.5 - 5e-7, 0.5)
    assert kept.xywh == (0.9, 0.7, 0.1, 0.30000000000000004)


def lying_photo(path: Path) -> None:
    """A picture of 40 x 20 that is to be shown standing."""
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(path, exif=exif)


def test_pixels_are_those_of_the_upright_photo(tmp_path: Path) -> None:
    references = the_set(tmp_path)
    lying_photo(references.photos[0].path)
    marks = [[1, 1]] * 4 + [[20, 40]]
    face = {"x": 5, "y": 10, "w": 15, "h": 30, "score": 1, "landmarks": marks}
    line = {"photo": "a.jpg", "unit": "px", "faces": [face]}
    (found,) = read(tmp_path, line, references=references).found[HASHES[0]].faces
    assert found.xywh == (0.25, 0.25, 0.75, 0.75)
    assert found.landmarks[4] == (1.0, 1.0)
    beyond = line | {"faces": [face | {"w": 16}]}
    said = "predictions.jsonl:1: faces.0: x 5 and w 16 stick out of the photo; expected a box from 0 to 20"
    assert refused(tmp_path, beyond, references=references) == said


def test_shares_that_are_said_to_be_pixels_are_refused(tmp_path: Path) -> None:
    references = the_set(tmp_path)
    for photo in references.photos:
        lying_photo(photo.path)
    lines = [FULL | {"photo": f"{name}.jpg", "unit": "px"} for name in "ab"]
    told = "predictions.jsonl: every box lies within the first pixel of its photo, as shares would; expected pixels, as"
    assert refused(tmp_path, *lines, references=references) == f'{told} "unit": "px" says'
    lines[1] = lines[1] | {"faces": [FACE | {"w": 10}]}
    assert list(read(tmp_path, *lines, references=references).found) == HASHES[:2], "one box of the first pixel may be"
    with pytest.raises(PredictionsError, match="as shares would; expected pixels, as COCO has them"):
        read_coco(tmp_path, [RESULT | {"bbox": [0.25, 0.25, 0.5, 0.5]}])


def test_a_photo_whose_size_cannot_be_read_fails_alone(tmp_path: Path) -> None:
    references = the_set(tmp_path)
    lying_photo(references.photos[0].path)
    references.photos[1].path.write_bytes(b"no picture")
    lines = [{"photo": f"{name}.jpg", "unit": "px", "faces": []} for name in "abc"]
    found = read(tmp_path, *lines, references=references)
    assert list(found.found) == HASHES[:1]
    assert "not a readable picture" in found.unreadable[HASHES[1]]
    assert "No such file" in found.unreadable[HASHES[2]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"selfie": "f" * 64, "embedding": [1.0], "photo": "a.jpg"}, "a line of a selfie has selfie, its sha256, and"),
        ({"selfie": "f" * 64}, "a line of a selfie has selfie, its sha256, and embedding, which may be null"),
        (
            {"selfie": "f" * 64, "embedding": [0.0, 0.0]},
            "embedding: all numbers are 0; expected a vector that has a length",
        ),
        ({"selfie": "f" * 64, "embedding": [1.0]}, f"selfie {'f' * 64}"),
        (FULL | {"embedding": [1.0]}, "embedding: expected it in a face, or on a line with selfie"),
        (FULL | {"found": True}, "found: expected it on a line with selfie"),
        ({"selfie": "f" * 64, "embedding": [1.0], "found": False}, "found: false beside an embedding; expected true"),
    ],
)
def test_a_line_of_a_selfie_has_its_hash_and_its_embedding(tmp_path: Path, line: Any, told: str) -> None:
    assert told in refused(tmp_path, line)


def test_embeddings_are_checked_and_kept_apart_from_predictions(tmp_path: Path) -> None:
    line = FULL | {"faces": [FACE | {"embedding": [0.5, -2.0]}, FACE | {"embedding": None}]}
    found = read(tmp_path, line)
    own, none = found.embeddings[HASHES[0]]
    assert own is not None
    assert own.tolist() == [0.5, -2.0]
    assert own.dtype == np.float32
    assert none is None
    assert "embedding" not in repr(found.found)
    other = FULL | {"photo": "b.jpg", "faces": [FACE | {"embedding": [0.5]}]}
    assert "predictions.jsonl:2: faces.0.embedding: 1 numbers; expected 2, as on line 1" in refused(
        tmp_path, line, other
    )


def test_a_byte_order_mark_and_blank_lines_say_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, b"\xef\xbb\xbf" + json.dumps(FULL).encode() + b"\r", b"", b"")
    assert list(found.found) == HASHES[:1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"{}", mtime=0), "packed by gzip; unpack it first"),
        (b"PK\x03\x04\x14\x00", "packed by zip; unpack it first"),
        ("{}".encode("utf-16"), "text in UTF-16; expected UTF-8"),
    ],
)
def test_a_file_of_another_kind_is_told_in_one_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "other").write_bytes(content)
    written(tmp_path, [FULL])
    for path, images in (("other", None), ("predictions.jsonl", tmp_path / "other")):
        with pytest.raises(PredictionsError) as caught:
            PredictionsFile.of(tmp_path / path, images=images)
        assert str(caught.value) == f"{tmp_path / 'other'}: {said}"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PredictionsError, match="pipe: a pipe, which can be read only once"):
        PredictionsFile.of(tmp_path / "pipe")


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, [FULL])
    file.path.write_text(json.dumps(FULL | {"bibs": [], "links": []}))
    with pytest.raises(PredictionsError, match="changed while it was read"):
        read_predictions(file, the_set())


@pytest.mark.slow
def test_a_hundred_thousand_lines_take_seconds(tmp_path: Path) -> None:
    count = 100_000
    known = tuple(KnownPhoto(f"{number:064x}", (f"{number}.jpg",), "holdout") for number in range(count))
    some = the_set()
    line = json.dumps({key: value for key, value in FULL.items() if key != "photo"})[1:]
    (tmp_path / "many.jsonl").write_text("".join(f'{{"photo": "{number}.jpg", {line}\n' for number in range(count)))
    start = time.perf_counter()
    found = read_predictions(PredictionsFile.of(tmp_path / "many.jsonl"), replace(some, known=known))
    assert len(found.found) + sum(found.elsewhere.values()) == count
    assert time.perf_counter() - start < 30


def test_the_program_of_the_documentation_writes_such_a_file(
    tiny_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "predictions.md").read_text()
    program = page.split("```python\n")[1].split("```")[0]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "reference").symlink_to(tiny_set)
    monkeypatch.chdir(tmp_path)
    finders = {
        "find_bibs": lambda _: [(48, 86, 240, 43, "417", 0.9)],
        "find_faces": lambda _: [(0, 0, 480, 860, 0.5)],
    }
    exec(program, finders)
    references = StagingSet(str(tiny_set), Split.ITERATION).load()
    found = read_predictions(PredictionsFile.of(tmp_path / "predictions.jsonl"), references)
    assert found.absent == {"links"}
    assert list(found.found.values()) == 3 * [
        PhotoPrediction(
            bibs=(BibBox(x=0.1, y=0.1, w=0.5, h=0.05, number="417", score=0.9),),
            faces=(FaceBox(x=0, y=0, w=1, h=1, score=0.5),),
        )
    ]


# COCO results


IMAGES: dict[str, Any] = {
    "images": [
        {"id": 7, "file_name": "images/a.jpg", "width": 20, "height": 40},
        {"id": 8, "file_name": "b.jpg"},
        {"id": 9, "file_name": "elsewhere.jpg"},
    ],
    "categories": [{"id": 1, "name": "bib"}, {"id": 2, "name": "Face"}, {"id": 3, "name": "shoe"}],
}
RESULT: dict[str, Any] = {"image_id": 7, "category_id": 1, "bbox": [5, 10, 10, 20], "score": 0.9}


def read_coco(folder: Path, results: Any, images: Any = IMAGES, **categories: str) -> Predictions:
    """What comes of COCO results and the file of their images, given as values or as they stand in the files."""
    references = the_set(folder)
    for photo in references.photos:
        lying_photo(photo.path)
    for name, content in (("results.json", results), ("images.json", images)):
        (folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    file = PredictionsFile.of(folder / "results.json", images=folder / "images.json", categories=categories)
    return read_predictions(file, references)


def test_coco_results_are_predictions(tmp_path: Path) -> None:
    numbered = RESULT | {"attributes": {"number": 417}, "segmentation": []}
    found = read_coco(tmp_path, [numbered, RESULT | {"category_id": 2}])
    assert found.found[HASHES[0]] == PhotoPrediction(
        bibs=(BibBox(x=0.25, y=0.25, w=0.5, h=0.5, number="417", score=0.9),),
        faces=(FaceBox(x=0.25, y=0.25, w=0.5, h=0.5, score=0.9),),
    )
    assert found.found[HASHES[1]] == PhotoPrediction(), "an image without a result has none found"
    assert HASHES[2] not in found.found, "the COCO file does not have this photo"
    assert found.absent == {"links"}
    assert read_coco(tmp_path, [RESULT]).absent == {"faces", "links", "numbers"}


def test_a_category_of_another_name_is_what_the_user_says(tmp_path: Path) -> None:
    shoe = RESULT | {"category_id": 3}
    with pytest.raises(
        PredictionsError, match="neither bib nor face: shoe; say what each is, as in --category shoe=bib"
    ):
        read_coco(tmp_path, [RESULT, shoe])
    assert len(read_coco(tmp_path, [RESULT, shoe], shoe="bib").found[HASHES[0]].bibs) == 2
    assert len(read_coco(tmp_path, [RESULT, shoe], shoe="none").found[HASHES[0]].bibs) == 1


@pytest.mark.parametrize(
    ("images", "said"),
    [
        ([IMAGES], "images.json: the file: must be a dictionary, got ["),
        ({"images": []}, "images.json: categories: Field required"),
        (IMAGES | {"images": IMAGES["images"] * 2}, "images.json: images: two of them have the same id"),
        (IMAGES | {"categories": IMAGES["categories"] * 2}, "images.json: categories: two of them have the same id"),
        (b"", "images.json: not JSON"),
    ],
)
def test_a_file_of_images_that_cannot_be_used_is_refused(tmp_path: Path, images: Any, said: str) -> None:
    with pytest.raises(PredictionsError) as caught:
        read_coco(tmp_path, [RESULT], images)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "number", [{"number": 417}, {"number": "417"}, {"attributes": {"number": 417, "occluded": True}}]
)
def test_a_number_of_a_result_is_text_also_where_a_tool_has_guessed(tmp_path: Path, number: dict[str, Any]) -> None:
    mark = b"\xef\xbb\xbf"
    results, images = (mark + json.dumps(value).encode() for value in ([RESULT | number], IMAGES))
    (bib,) = read_coco(tmp_path, results, images).found[HASHES[0]].bibs
    assert bib.number == "417"


@pytest.mark.parametrize("number", ["33?", "?12", "S0780", "0891"])
def test_a_number_of_a_result_keeps_what_is_hidden_letters_and_leading_zeros(tmp_path: Path, number: str) -> None:
    for result in ({"number": number}, {"attributes": {"number": number}}):
        (bib,) = read_coco(tmp_path, [RESULT | result]).found[HASHES[0]].bibs
        assert bib.number == number


def test_categories_need_a_file_that_has_them(tmp_path: Path) -> None:
    path = written(tmp_path, [FULL]).path
    with pytest.raises(PredictionsError, match="--category plate=bib: no file that has categories; expected --images"):
        PredictionsFile.of(path, categories={"plate": "bib"})


@pytest.mark.parametrize("name", ["images\\a.jpg", f"{HASHES[0]}.jpg", f"photos/{HASHES[0].upper()}.JPG"])
def test_an_image_is_a_photo_of_the_set_by_its_name_or_by_its_hash(tmp_path: Path, name: str) -> None:
    found = read_coco(tmp_path, [RESULT], IMAGES | {"images": [{"id": 7, "file_name": name}]})
    assert list(found.found) == HASHES[:1]


def test_errors_of_coco_results_name_images_and_not_lines(tmp_path: Path) -> None:
    images = [{"id": 7, "file_name": "a.jpg"}, {"id": 8, "file_name": "b.jpg"}]
    bare = {key: value for key, value in RESULT.items() if key != "score"} | {"image_id": 8}
    with pytest.raises(PredictionsError, match=r"image b\.jpg: a bib without score, which one of image a\.jpg has"):
        read_coco(tmp_path, [RESULT, bare], IMAGES | {"images": images})
    images[1]["file_name"] = "old_0.jpg"
    with pytest.raises(PredictionsError, match=r"image old_0\.jpg: a\.jpg is there already, as image a\.jpg; exp"):
        read_coco(tmp_path, [RESULT], IMAGES | {"images": images})


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], "no COCO results; expected a JSON array"),
        (b"", "no COCO results; expected a JSON array of detections with --images, or one JSON object a line without"),
        ({"photo": "a.jpg"}, "no COCO results; expected a JSON array"),
        (IMAGES | {"annotations": [RESULT]}, "no COCO results; expected a JSON array"),
        (b'[{"score": NaN}]', "results.json: not JSON: unexpected character"),
        ([3], "results.0: must be a dictionary, got 3"),
        ([RESULT | {"image_id": 70}], "results.0.image_id: no image 70"),
        ([RESULT | {"category_id": 70}], "category_id 70: no such category"),
        ([RESULT | {"category_id": 3}], "neither bib nor face: shoe"),
        ([RESULT, RESULT | {"bbox": [1, 1, 0, 2]}], "results.1.bbox.2: must be greater than 0"),
        ([RESULT | {"bbox": [1, 1, -3, 2]}], "results.0.bbox.2: must be greater than 0, got -3"),
        ([RESULT | {"score": "0.9"}], "results.0.score: must be a number, got '0.9'"),
        ([RESULT | {"score": True}], "results.0.score: must be a number, got True"),
        ([RESULT | {"number": 41.7}], 'results.0.number: expected a text such as "417", or null, got 41.7'),
        ([RESULT | {"attributes": {"number": [4]}}], "results.0.attributes.number: expected a text"),
        ([RESULT | {"attributes": {"number": True}}], "results.0.attributes.number: expected a text"),
        ([RESULT | {"score": 3}], "results.0.score: must be less than or equal to 1"),
        ([RESULT | {"bbox": [15, 10, 10, 20]}], "image images/a.jpg: bibs.0: x 15 and w 10 stick out"),
        ([RESULT | {"image_id": 9}], "1 image is about a photo that races does not have:\n"),
    ],
)
def test_coco_results_that_cannot_be_scored_are_refused(tmp_path: Path, results: Any, said: str) -> None:
    with pytest.raises(PredictionsError) as caught:
        read_coco(tmp_path, results)
    assert said in str(caught.value)


def edited(value: Any, before: bytes, after: bytes) -> bytes:
    """A value as JSON, with a change that no value could have."""
    text = json.dumps(value).encode()
    assert text.count(before) == 1
    return text.replace(before, after)


@pytest.mark.parametrize(
    ("results", "images", "said"),
    [
        (
            edited([RESULT, RESULT | {"score": 0.8}], b"0.8}", b'0.8, "score": 0.1}'),
            IMAGES,
            "results.json: results.1.score",
        ),
        (
            edited([RESULT | {"attributes": {"number": "4"}}], b'"4"', b'"4", "number": "5"'),
            IMAGES,
            "results.json: results.0.attributes.number",
        ),
        ([RESULT], edited(IMAGES, b'"id": 8', b'"id": 7, "id": 8'), "images.json: images.1.id"),
        ([RESULT], edited(IMAGES, b'"Face"', b'"bib", "n\\u0061me": "face"'), "images.json: categories.1.name"),
        ([RESULT], edited(IMAGES, b'"categories"', b'"images": [], "categories"'), "images.json: images"),
    ],
)
def test_a_key_that_stands_twice_in_coco_is_refused(tmp_path: Path, results: Any, images: Any, said: str) -> None:
    with pytest.raises(PredictionsError) as caught:
        read_coco(tmp_path, results, images)
    assert str(caught.value) == f"{tmp_path}/{said}: stands there 2 times; expected each key once"


def test_coco_results_that_are_nested_too_deeply_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PredictionsError, match=r"results\.json: (lists and objects nested|results\.0: Input)"):
        read_coco(tmp_path, b"[" * 1024 + b"]" * 1024)


def test_a_coco_file_that_takes_a_photo_to_be_of_another_size_is_refused(tmp_path: Path) -> None:
    lying = json.loads(json.dumps(IMAGES))
    lying["images"][0] |= {"width": 40, "height": 20}
    with pytest.raises(PredictionsError, match="taken to be 40 x 20; expected 20 x 40, which the photo is upright"):
        read_coco(tmp_path, [RESULT], lying)
