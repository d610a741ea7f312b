"""`harness score` and `harness export --format predictions` as their user meets them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from mlflow.entities import Run

from harness.references.contents import read_file
from harness.references.files import PhotoIndex, write_file
from tests.conftest import BIB, HEIGHT, PEOPLE, WIDTH, Harness, unit
from tests.test_command_line import staging, stored_runs

NOWHERE = {"x": 0.05, "y": 0.9, "w": 0.05, "h": 0.05}
#: Nothing of this may leave the file.
SECRET = 0.87654321


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> None:
    """A store without runs where the commands look for one."""
    shutil.copytree(empty_store, tmp_path / "mlruns")


def face(person: str, **more: Any) -> dict[str, Any]:
    return {**unit(PEOPLE[person][1]), "score": 0.9, **more}


def bib(number: str | None, **more: Any) -> dict[str, Any]:
    return {**unit(BIB), "number": number, "score": 0.9, **more}


def write(path: Path, lines: Sequence[Mapping[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


#: 417 is right in all. 2085 is found and misread, and its face is not found. Where nobody wears a bib, one is invented.
GOLDEN: list[dict[str, Any]] = [
    {"photo": "P001.jpg", "bibs": [bib("417")], "faces": [face("P001", embedding=[SECRET, 1.0])], "links": [[0, 0]]},
    {"photo": "P005.jpg", "bibs": [bib("2086")], "faces": [], "links": []},
    {"photo": "P006.jpg", "bibs": [{**NOWHERE, "number": "9", "score": 0.5}], "faces": [face("P006")], "links": []},
]
#: Counted by hand from the above.
EXPECTED = {
    "count/number_tp": 1,  # 417
    "count/number_fp": 2,  # 2086 and 9
    "count/number_fn": 1,  # 2085
    "number/precision": 1 / 3,
    "number/recall": 1 / 2,
    "number/f1": 2 / 5,
    "number/pass_rate": 1 / 3,
    "bib/precision": 2 / 3,
    "bib/recall": 1.0,
    "ocr/accuracy": 1 / 2,
    "face/precision": 1.0,
    "face/recall": 2 / 3,
    "count/face_fn": 1,
    "link/precision": 1.0,
    "link/recall": 1 / 2,
    "count/link_fn_face_missed": 1,
    "error/bib_background": 1,
    "error/bib_wrong_text": 1,
    "runtime/ocr_seconds": 3.0,
    "runtime/pipeline_seconds": 4.5,
    "runtime/photos_per_second": 3 / 4.5,
    "count/evaluated": 3,
    "count/failed": 0,
}


def on(root: Path) -> tuple[str, ...]:
    return ("references=staging", f"references.root={root}", "references.groups=photo")


def comparable(run: Run) -> dict[str, float]:
    """The metrics of a run but for its cost and its distance from the baseline."""
    return {k: v for k, v in run.data.metrics.items() if not k.startswith(("runtime/", "cache/", "delta/"))}


@pytest.mark.usefixtures("store")
def test_predictions_of_a_file_are_scored_logged_judged_and_kept_like_any_run(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    lines = [line | {"seconds": {"ocr": 1.0, "faces": 0.5}} for line in GOLDEN]
    file = write(tmp_path / "mine.jsonl", lines)
    done = harness("score", file, *on(tiny_set), "note=detector 7")
    assert done.code == 0, done.err
    assert done.out.startswith("\nmine\n3 photos of staging (iteration)")
    assert ", pipeline 4.5 s" in done.out
    assert "  F1                   40.0%" in done.out
    (run,) = stored_runs(tmp_path)
    assert {name: run.data.metrics.get(name) for name in EXPECTED} == pytest.approx(EXPECTED)
    assert not [name for name in run.data.metrics if name.startswith("cache/")]
    params, tags = run.data.params, run.data.tags
    assert (params["pipeline"], params["predictions.file"]) == ("file", "mine.jsonl")
    assert len(params["predictions.sha256"]) == 64
    assert {name.split(".")[0] for name in params}.isdisjoint({"bib", "face", "link", "preset", "cache"})
    assert (run.info.run_name, tags["note"]) == ("mine", "detector 7")
    assert tags["runtime.measured"] == "given by the file"
    assert "preset" not in tags
    artifacts = next((tmp_path / "mlruns" / "artifacts").rglob("report.html")).parent
    assert {"run.json", "config.yaml", "photos.json", "worst_1.jpg"} <= {path.name for path in artifacts.iterdir()}
    assert "preset" not in (artifacts / "config.yaml").read_text()
    kept = [path for path in (tmp_path / "mlruns").rglob("*") if path.is_file()]
    assert not [path for path in kept if str(SECRET).encode() in path.read_bytes()], "an embedding left the file"

    again = harness("score", file, *on(tiny_set), "note=detector 7")
    assert "Nothing has changed since this run was made" in again.out
    assert harness("baseline").code == 0
    lines[1]["bibs"] = [bib("2085")]
    better = harness("score", write(tmp_path / "mine.jsonl", lines), *on(tiny_set), "note=detector 7")
    assert "number/f1" in better.out
    assert "Nothing has changed" not in better.out
    assert stored_runs(tmp_path)[0].data.metrics["ocr/accuracy"] == 1
    compared = harness("compare", "latest")
    assert "1 number found" in compared.out
    assert "predictions.sha256" in compared.out


@pytest.mark.usefixtures("store")
def test_where_nothing_is_labelled_a_run_tells_what_was_found_and_how_to_label(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    for file in (*tiny_set.glob("*_ground_truth.json"), tiny_set / "bib_face_links.json"):
        file.unlink()
    done = harness("score", write(tmp_path / "mine.jsonl", GOLDEN), *on(tiny_set))
    assert done.code == 0, done.err
    assert "Found in 3 photos: 3 bibs, 3 of them with a number, 2 faces and 1 link between the two." in done.out
    assert f"Label some photos, and run again:\n  harness ui references=staging references.root={tiny_set}" in done.out
    assert "n/a" not in done.out
    assert "Verdict" not in done.out


@pytest.mark.usefixtures("store")
def test_what_is_not_predicted_is_not_available_and_never_zero(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    assert harness("score", write(tmp_path / "all.jsonl", GOLDEN), *on(tiny_set)).code == 0
    assert harness("baseline").code == 0
    boxes = [{"photo": "P001.jpg", "bibs": [unit(BIB)]}, {"photo": "P005.jpg", "bibs": [unit(BIB)]}]
    file = write(tmp_path / "boxes.jsonl", boxes)
    done = harness("score", file, *on(tiny_set), "--missing-is-empty")
    assert done.code == 0, done.err
    assert "\nNot predicted: Numbers, Bib reading (OCR), Face detection, Bib-face links\n" in done.out
    assert "  recall              100.0%" in done.out, "the bibs themselves are scored"
    assert "n/a wrong text" in done.out
    assert "Not predicted by boxes.jsonl: faces, links, numbers." in done.out
    assert "1 of 3 photos has no line in boxes.jsonl and counts as none found." in done.out
    assert "Verdict: INCOMPLETE\n" in done.out
    assert "face/recall: nothing to measure it on in this run, while the baseline has it" in done.out

    run = stored_runs(tmp_path)[0]
    assert run.data.metrics["bib/f1"] == 1
    about = ("face/", "link/", "number/", "ocr/", "runtime/", "count/face", "count/link", "count/number", "count/ocr")
    more = ("error/face", "error/bib_wrong_text", "curve/face", "calibration/", "slice/face", "bib/ap", "interval/face")
    assert not [name for name in run.data.metrics if name.startswith((*about, *more))]
    assert run.data.tags["predictions.missing"] == "1 counted as none found"
    assert run.data.tags["predictions.absent"] == "faces, links, numbers"
    assert "runtime.measured" not in run.data.tags
    path = next((tmp_path / "mlruns" / "artifacts").rglob(f"{run.info.run_id}/artifacts"))
    assert "Not predicted by boxes.jsonl: faces, links, numbers." in (path / "report.html").read_text()
    assert '"face/recall":0' not in (path / "run.json").read_text()
    assert [row[1] for row in json.loads((path / "photos.json").read_text())["data"]] == ["n/a"] * 3
    compared = harness("compare", "latest").out
    assert "face" not in compared.split("Newly", 1)[-1]

    assert harness("export", "--format", "predictions", "latest", "again.jsonl").code == 0
    first, *_ = (json.loads(line) for line in (tmp_path / "again.jsonl").read_text().splitlines())
    assert first.keys() == {"photo", "sha256", "bibs"}
    assert first["bibs"][0].keys() == {"x", "y", "w", "h", "score"}


@pytest.mark.usefixtures("store")
def test_a_photo_without_a_line_makes_the_run_incomplete_and_has_none_when_exported(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    done = harness("score", write(tmp_path / "two.jsonl", GOLDEN[:2]), *on(tiny_set))
    assert done.code == 1
    assert done.err.endswith("INCOMPLETE: 1 of 3 photos could not be evaluated; the verdict names each\n")
    assert done.out.count("P006.jpg: no line in two.jsonl") == 1
    (run,) = stored_runs(tmp_path)
    assert (run.info.status, run.data.tags["outcome"]) == ("FAILED", "INCOMPLETE")
    exported = harness("export", "--format", "predictions", run.info.run_id[:8], "out.jsonl")
    assert exported.code == 0, exported.err
    assert f"Exported 2 photos of run {run.info.run_id[:8]} (two) to out.jsonl\n1 photo could not be" in exported.out
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 2
    taken = harness("export", "--format", "predictions", "latest", "out.jsonl")
    assert (taken.code, taken.err) == (2, "harness: out.jsonl: exists already; add -f to replace it\n")
    assert harness("export", "--format", "predictions", "latest", "out.jsonl", "-f").code == 0
    assert [path.name for path in tmp_path.glob(".out*")] == []
    assert harness("export", "--format", "predictions", "nope", "new.jsonl").code == 2
    lost = harness("export", "--format", "predictions", "latest", "no/folder.jsonl")
    assert (lost.code, "no/folder.jsonl: cannot be written: No such file" in lost.err) == (2, True)


@pytest.mark.usefixtures("store")
def test_lines_of_the_other_split_and_photos_that_cannot_be_shown_do_no_harm(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    index = read_file(tiny_set, PhotoIndex)
    for sha256, record in index.photos.items():
        if record.names == ["P006.jpg"]:
            index.photos[sha256] = record.model_copy(update={"split": "holdout"})
        if record.names == ["P005.jpg"]:
            (tiny_set / "photos" / f"{sha256}.jpg").unlink()
    write_file(tiny_set, index)
    done = harness("score", write(tmp_path / "mine.jsonl", GOLDEN), *on(tiny_set))
    assert done.code == 0, done.err
    assert "2 photos of staging (iteration)" in done.out
    assert "1 line is of the holdout split and was not used." in done.out


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_the_exported_predictions_of_a_run_have_its_scorecards_to_the_last_digit(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    assert harness(*staging(tiny_set), "identity=off").code == 0  # a file of boxes recognises nobody
    (run,) = stored_runs(tmp_path)
    assert harness("export", "--format", "predictions", run.info.run_name, "out.jsonl").code == 0
    scored = harness("score", "out.jsonl", *on(tiny_set))
    assert scored.code == 0, scored.err
    same = stored_runs(tmp_path)[0]
    assert same.info.run_id != run.info.run_id
    assert comparable(same) == comparable(run)
    assert same.data.tags["predictions.digest"] == run.data.tags["predictions.digest"]
    assert not [name for name in same.data.metrics if name.startswith(("runtime/", "cache/"))]
    kept = [path.read_bytes() for path in sorted((tmp_path / "mlruns").rglob("run.json"))]
    one, other = (json.loads(content)["tasks"]["photos"] for content in kept)
    for data in (one, other):
        data["cards"].pop("speed")
        data.pop("stage_keys")  # a file was made by other stages than ours
        for item in data["items"]:
            item["photo"].pop("seconds")
    assert one == other

    assert harness("export", "--format", "predictions", "latest", "twice.jsonl").code == 0
    assert (tmp_path / "twice.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.usefixtures("store")
def test_numbers_read_in_part_and_dropped_texts_are_scored_told_and_exported(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    seen = {**unit(BIB), "text": "4I7", "rule": "min_char_score", "value": 0.46, "limit": 0.5}
    lines = [
        {"photo": "P001.jpg", "bibs": [], "dropped": [seen]},
        {"photo": "P005.jpg", "bibs": [bib("20?")], "dropped": []},
        {"photo": "P006.jpg", "bibs": [{**NOWHERE, "number": "9?", "score": 0.5}], "dropped": []},
    ]
    done = harness("score", write(tmp_path / "mine.jsonl", lines), *on(tiny_set))
    assert done.code == 0, done.err
    assert "1 read in part and ignored" in done.out
    assert "0 not seen, 0 misread, 1 read in part, 1 dropped by a rule" in done.out
    metrics = stored_runs(tmp_path)[0].data.metrics
    expected = {"number/partial": 1, "count/number_tp": 0, "count/number_fp": 1, "count/number_fn": 2}
    expected |= {"ocr/accuracy": 0, "reading/partial": 1, "reading/dropped_by_rule": 1, "reading/no_trace": 0}
    assert {name: metrics[name] for name in expected} == expected
    report = next((tmp_path / "mlruns" / "artifacts").rglob("report.html")).read_text()
    assert "<td>417</td><td>dropped by min_char_score 0.46 &lt; 0.5, read &#34;4I7&#34;</td>" in report
    assert "<td>2085</td><td>read in part as &#34;20?&#34;</td>" in report

    assert harness("export", "--format", "predictions", "latest", "out.jsonl").code == 0
    assert harness("score", "out.jsonl", *on(tiny_set)).code == 0
    again, first = stored_runs(tmp_path)
    assert comparable(again) == comparable(first)
    assert harness("export", "--format", "predictions", "latest", "twice.jsonl").code == 0
    assert (tmp_path / "twice.jsonl").read_bytes() == (tmp_path / "out.jsonl").read_bytes()


@pytest.mark.usefixtures("store")
def test_coco_results_and_pixels_are_scored_alike(harness: Harness, tiny_set: Path, tmp_path: Path) -> None:
    names = [f"{person}.jpg" for person in PEOPLE]
    sizes = {"width": WIDTH, "height": HEIGHT}
    images = [{"id": number, "file_name": name, **sizes} for number, name in enumerate(names)]
    (tmp_path / "coco.json").write_text(
        json.dumps({"images": images, "categories": [{"id": 1, "name": "plate"}, {"id": 2, "name": "face"}]})
    )
    results = [{"image_id": 0, "category_id": 1, "bbox": BIB, "score": 0.9, "number": "417"}]
    results += [
        {"image_id": number, "category_id": 2, "bbox": box, "score": 0.9}
        for number, (_, box) in enumerate(PEOPLE.values())
    ]
    (tmp_path / "results.json").write_text(json.dumps(results))
    given = ("score", "results.json", "--images", "coco.json", *on(tiny_set))
    refused = harness(*given)
    assert (refused.code, "--category plate=bib" in refused.err) == (2, True)
    done = harness(*given, "--category", "plate=bib")
    assert done.code == 0, done.err
    run = stored_runs(tmp_path)[0]
    metrics = run.data.metrics
    assert (metrics["bib/recall"], metrics["face/f1"], metrics["number/f1"]) == (0.5, 1, 2 / 3)
    assert "link/f1" not in metrics
    assert run.data.params["predictions.categories"] == "plate=bib"

    corners = dict(zip("xywh", BIB, strict=True))
    faces = [dict(zip("xywh", box, strict=True)) | {"score": 0.9} for _, box in PEOPLE.values()]
    bibs = [[corners | {"number": "417", "score": 0.9}], [], []]
    lines = [
        {"photo": name, "unit": "px", "bibs": own, "faces": [seen]}
        for name, own, seen in zip(names, bibs, faces, strict=True)
    ]
    assert harness("score", write(tmp_path / "px.jsonl", lines), *on(tiny_set)).code == 0
    other = stored_runs(tmp_path)[0]
    assert comparable(other) == comparable(run)
    assert other.data.tags["predictions.digest"] == run.data.tags["predictions.digest"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set"], "harness: set: cannot be read: Is a directory"),
        (["bad.jsonl", "--category", "plate=bib"], "--category plate=bib: no file that has categories"),
        (
            ["bad.jsonl", "--images", "bad.jsonl"],
            "bad.jsonl: no COCO results; expected a JSON array of detections with",
        ),
        (["nowhere.jsonl"], "nowhere.jsonl: cannot be read: No such file or directory"),
        (["bad.jsonl"], "bad.jsonl:2: bibs.0.x: must be a finite number, got nan"),
        (["bad.jsonl", "bib.long_side=640"], "bib.long_side=640: the predictions come from a file"),
        (["bad.jsonl", "preset=fast"], "preset=fast: the predictions come from a file"),
        (["bad.jsonl", "references=off"], "references=off: predictions are for photos"),
        (["bad.jsonl", "scoring.nope=1"], "scoring.nope: no such key"),
        (["bad.jsonl", "--category", "shoe"], "--category shoe: expected NAME=bib, NAME=face or NAME=none"),
        (["bad.jsonl", "--images", "nowhere.json"], "nowhere.json: cannot be read"),
        (["bad.jsonl", "stray"], "stray: expected an override"),
    ],
)
def test_what_cannot_be_scored_ends_with_2_and_leaves_nothing_behind(
    harness: Harness, tiny_set: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    write(tmp_path / "bad.jsonl", [GOLDEN[1], GOLDEN[0] | {"bibs": [bib("417", x=float("nan"))]}])
    told = harness("score", *arguments, *([] if "references=off" in arguments else on(tiny_set)))
    assert (told.code, said in told.err) == (2, True), told.err
    assert not (tmp_path / "mlruns").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", ": no predictions; expected one JSON object a line"),
        (b"\r\n \n", ": no predictions; expected one JSON object a line"),
        (b"\x1f\x8b\x08\x00", ": packed by gzip; unpack it first"),
        (b'{"photo": "P\xe9001.jpg"}', ":1: not UTF-8: invalid continuation byte at byte 12; expected JSON in UTF-8"),
        (
            b'\n\n{"photo": "P001.jpg", "faces": [], "links": [[0, 5]]}',
            ":3: links.0: [0, 5] points past the 0 bibs and 0 fa",
        ),
        (
            b'{"photo": "P001.jpg", "faces": [], "links": [[0, 1e400]]}',
            ":1: links.0.1: must be a finite number",
        ),
        (b'{"photo": "' + b"x" * 50_000_000 + b'"}', ": 1 line is about a photo that staging does not have:"),
        (b"x" * 50_000_000, ":1: not JSON: expected value at column 1; expected one JSON object a line"),
    ],
    ids=["empty", "blank", "gzip", "latin-1", "link", "infinity", "50 MB of a name", "50 MB of nothing"],
)
def test_a_bad_file_is_told_in_a_few_words_and_leaves_nothing_behind(
    harness: Harness, tiny_set: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "bad.jsonl").write_bytes(content)
    told = harness("score", "bad.jsonl", *on(tiny_set))
    assert told.code == 2
    assert told.err.startswith(f"harness: bad.jsonl{said}")
    assert len(told.err) < 500
    assert not (tmp_path / "mlruns").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["predictions", "out.jsonl"], 2, "expected RUN and PATH, got out.jsonl"),
        (["predictions", "latest", "out.jsonl"], 1, "no runs in"),
        (["coco", "one", "two"], 2, "expected PATH, got one two"),
        (["coco", "one", "-f"], 2, "are for --format predictions"),
    ],
)
def test_words_that_do_not_fit_the_format_are_refused(
    harness: Harness, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    told = harness("export", "--format", *arguments)
    assert (told.code, said in told.err) == (code, True), told.err
    assert list(tmp_path.iterdir()) == []
