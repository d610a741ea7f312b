"""`harness find`: what it prints, its JSON and its page, and a sentence for whatever is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import QUICK, Harness
from tests.selfies import bad_pictures, jpeg, selfie
from tests.test_command_line import HEAVY

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stage cache for all tests: the photos are looked at once."""
    return tmp_path_factory.mktemp("stages")


@pytest.fixture
def overrides(_tiny_set: Path, stages: Path) -> tuple[str, ...]:
    return (f"references.root={_tiny_set}", "preset=fast", f"cache.folder={stages}", *QUICK)


@pytest.fixture
def me(tmp_path: Path) -> Path:
    path = tmp_path / "me.jpg"
    path.write_bytes(jpeg(selfie("P006")))
    return path


def test_photos_with_their_reasons_and_the_threshold(harness: Harness, overrides: tuple[str, ...], me: Path) -> None:
    told = harness("find", "--selfie", str(me), *overrides)
    assert told.code == 0
    lines = told.out.splitlines()
    assert lines[0] == "Found in 1 of 3 photos of staging"
    assert lines[2].split() == ["PHOTO", "WHY"]
    assert lines[3].split(None, 2)[:2] == ["1", "P006.jpg"]
    assert lines[3].split(None, 2)[2].startswith("face .7")
    assert "One face in me.jpg is searched with, " in told.out
    assert re.search(r"Threshold \.\d\d, set by the labels of these photos", told.out)
    assert "It rests on 3 searches by such people; so few cannot show a share below 1/3." in told.out


def test_nobody_found_is_an_answer(harness: Harness, overrides: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "other.jpg").write_bytes(jpeg(selfie("P003")))
    told = harness("find", "--selfie", "other.jpg", *overrides)
    assert (told.code, told.out.splitlines()[0]) == (0, "Nobody found in 3 photos of staging")
    told = harness("find", "--number", "999", "--json", *overrides)
    answer = json.loads(told.out)
    assert (told.code, answer["found"], answer["total"], answer["photos"]) == (0, False, 0, [])
    assert "Number 999 was read in no photo." in answer["notes"]


def test_the_keys_of_the_json_stay_as_they_are(harness: Harness, overrides: tuple[str, ...], me: Path) -> None:
    answer = json.loads(harness("find", "--selfie", str(me), "--number", "2085", "--json", *overrides).out)
    assert list(answer) == [
        *("found", "total", "photos", "nearest", "query", "numbers", "threshold", "set", "notes", "warnings")
    ]
    assert list(answer["photos"][0]) == ["name", "sha256", "path", "face", "reasons", "words"]
    assert list(answer["query"]) == ["selfie", "number"]
    assert list(answer["query"]["selfie"]) == ["file", "faces", "height", "box"]
    assert list(answer["threshold"]) == ["value", "source", "rests_on", "fpir", "measurable"]
    assert list(answer["set"]) == ["name", "split", "root", "digest", "photos", "faces", "failed"]
    by_name = {photo["name"]: photo for photo in answer["photos"]}
    assert by_name["P006.jpg"]["reasons"][0]["kind"] == "face"
    assert {"kind": "number", "number": "2085"} in by_name["P005.jpg"]["reasons"]
    assert by_name["P005.jpg"]["words"].startswith("number read 2085; linked to 2085: ")
    assert answer["set"]["split"] == "full"
    assert Path(by_name["P006.jpg"]["path"]).is_file()


def test_at_most_so_many_are_shown(harness: Harness, overrides: tuple[str, ...], me: Path) -> None:
    told = harness("find", "--selfie", str(me), "--number", "2085", "--most", "1", *overrides)
    assert "... and " in told.out
    assert " more (--most 0 shows all)" in told.out
    assert told.out.count(".jpg  ") == 1
    every = harness("find", "--selfie", str(me), "--number", "2085", "--most", "0", *overrides)
    assert "(--most 0 shows all)" not in every.out


def test_the_page_needs_nothing_but_itself(
    harness: Harness, overrides: tuple[str, ...], me: Path, tmp_path: Path
) -> None:
    assert harness("find", "--selfie", str(me), "--html", "found.html", *overrides).code == 0
    page = (tmp_path / "found.html").read_text()
    assert "Found in 1 of 3 photos of staging" in page
    assert page.count('src="data:image/jpeg;base64,') == 1
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_a_bad_picture_is_told_before_photos_are_looked_at_and_nothing_is_written(
    harness: Harness, overrides: tuple[str, ...], tmp_path: Path
) -> None:
    for path, words in bad_pictures(tmp_path).values():
        told = harness("find", "--selfie", str(path), "--html", "found.html", *overrides)
        assert told.code == 2
        assert told.out == ""
        assert told.err.startswith("harness: ")
        assert told.err.count("\n") == 1
        assert words in told.err
        assert not (tmp_path / "found.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing to search with: give --selfie FILE, --number NUMBER or both"),
        (["--number", "4?7"], "'4?7': expected a whole number, as it stands on a bib"),
        (["--number", "  "], "expected a whole number"),
        (["--number", "4", "--html", "page.txt"], "--html page.txt: expected a name that ends in .html"),
        (["--number", "4", "--html", "none/page.html"], "expected a file in a folder that exists"),
        (["--number", "4", "identity=off"], "identity=off: nobody is recognised"),
        (["--number", "4", "references=off"], "references=off: there are no photos to search"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(
    harness: Harness, overrides: tuple[str, ...], arguments: list[str], words: str
) -> None:
    fits = overrides if "references=off" not in arguments else ("preset=fast",)
    told = harness("find", *arguments, *fits)
    assert told.code == 2
    assert words in told.err
    assert told.out == ""


def test_one_split_can_be_searched(harness: Harness, overrides: tuple[str, ...]) -> None:
    told = harness("find", "--number", "417", "references.split=holdout", *overrides)
    assert told.code == 1
    assert "no photo of" in told.err


def test_its_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom harness.__main__ import run\ntry:\n run(['find', '--help'])\n"
        "except SystemExit: pass\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--selfie FILE" in done.stdout
    assert not (HEAVY | {"numpy"}) & set(done.stdout.splitlines()[-1].split())
