"""The scorer on files that candidates wrote to harm it; and `harness predict`, whose files it takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ConfigError
from harness.candidates.asking import ask_scores
from harness.candidates.deciding import decide
from harness.candidates.rules import JudgeRules, default_command
from harness.candidates.scorer import Question, _compared, _setting
from harness.candidates.tries import Answer
from tests.candidates.desk import HOLDOUT, ITERATION, Desk, make_desk
from tests.conftest import Harness

pytestmark = pytest.mark.slow
Line = dict[str, Any]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return make_desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture
def lines(desk: Desk) -> list[Line]:
    """What somebody predicts who finds one bib in each photo and reads none."""
    index = json.loads((desk.data / "photo_index.json").read_text())["photos"]
    photos = [sha256 for sha256, record in index.items() if record["split"] == "iteration"]
    box = {"x": 0.275, "y": 0.42, "w": 0.45, "h": 0.22, "score": 0.9, "number": None}
    return [{"sha256": sha256, "bibs": [dict(box)]} for sha256 in photos]


def question(desk: Desk, tmp_path: Path, base: list[Line], candidate: bytes) -> Question:
    (tmp_path / "base.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in base))
    (tmp_path / "candidate.jsonl").write_bytes(candidate)
    overrides = ("references=staging", f"references.root={desk.data}")
    files = (str(tmp_path / "base.jsonl"), str(tmp_path / "candidate.jsonl"))
    return Question(overrides, "number/f1", 1, *files)


def _with(change: Callable[[Line], Any]) -> Callable[[list[Line]], bytes]:
    """The same lines, of which the first is changed."""

    def made(lines: list[Line]) -> bytes:
        changed = change(lines[0])
        first = changed if isinstance(changed, str) else json.dumps(changed)
        return "\n".join([first, *map(json.dumps, lines[1:])]).encode()

    return made


HOSTILE: dict[str, tuple[Callable[[list[Line]], bytes], str]] = {
    "not a number": (_with(lambda line: line | {"bibs": [line["bibs"][0] | {"x": float("nan")}]}), "predictions:1"),
    "infinite": (_with(lambda line: json.dumps(line).replace("0.275", "1e999")), "predictions:1"),
    "huge": (_with(lambda line: json.dumps(line).replace("0.275", "9" * 5000)), "predictions:1"),
    "deep": (_with(lambda _: "[" * 200_000), "predictions"),
    "deep in a line": (_with(lambda _: '{"bibs":' * 100_000), "predictions:1"),
    "a key twice": (_with(lambda line: json.dumps(line).replace('"bibs"', '"bibs": [], "bibs"', 1)), "stands there 2"),
    "unknown photo": (_with(lambda line: line | {"sha256": "0" * 64}), "0000"),
    "a photo twice": (
        lambda lines: b"\n".join(json.dumps(line).encode() for line in [*lines, lines[0]]),
        "predictions",
    ),
    "no text": (lambda _: b"\xff\xfe\x00\x01", "UTF-16"),
    "nothing": (lambda _: b"", "no predictions"),
    "a list": (lambda _: b"[]", "predictions"),
    "another format": (
        lambda _: b'[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1}]',
        "predictions",
    ),
}


@pytest.mark.parametrize(("made", "told"), HOSTILE.values(), ids=HOSTILE)
def test_a_file_that_is_meant_to_harm_is_told_and_discarded(
    desk: Desk, tmp_path: Path, lines: list[Line], made: Callable[[list[Line]], bytes], told: str
) -> None:
    found = _compared(question(desk, tmp_path, lines, made(lines)))
    answer, reason = decide("number/f1", found, [])
    assert answer is Answer.DISCARD
    assert told in reason
    assert "\n" not in reason
    assert len(reason) < 1000
    assert str(tmp_path) not in reason


def test_lines_about_photos_of_the_holdout_have_no_effect(desk: Desk, tmp_path: Path, lines: list[Line]) -> None:
    index = json.loads((desk.data / "photo_index.json").read_text())["photos"]
    others = [{"sha256": sha256, "bibs": []} for sha256, record in index.items() if record["split"] == "holdout"]
    assert len(others) == HOLDOUT
    more = "\n".join(map(json.dumps, [*lines, *others])).encode()
    found = _compared(question(desk, tmp_path, lines, more))
    assert found.metrics
    assert all(item["gain"] == 0 for item in found.metrics)


def test_whatever_breaks_the_scorer_after_the_base_is_the_candidates_doing(
    desk: Desk, tmp_path: Path, lines: list[Line], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = question(desk, tmp_path, lines, "\n".join(map(json.dumps, lines)).encode())
    found = ask_scores(asked)
    assert found.metrics
    assert not found.bad
    assert found.sides is not None
    assert len(found.sides[0]) == ITERATION
    monkeypatch.setattr("harness.candidates.asking._START", "print('base'); raise MemoryError")
    assert ask_scores(asked).bad == "scoring them ended with MemoryError"
    monkeypatch.setattr("harness.candidates.asking._START", "raise SystemExit('harness: no set there')")
    with pytest.raises(Exception, match="the base cannot be scored: no set there"):
        ask_scores(asked)


def test_the_setting_has_the_photos_of_the_split_alone(desk: Desk) -> None:
    overrides = ("references=staging", f"references.root={desk.data}")
    assert len(_setting(overrides, "number/f1", False)["photos"]) == ITERATION
    assert len(_setting(overrides, "number/f1", True)["photos"]) == HOLDOUT
    for metric in ("runtime/photos_per_second", "number/f2"):
        with pytest.raises(ConfigError, match="cannot be judged by it"):
            _setting(overrides, metric, False)
    for wrong in ("references.split=holdout", "references.split=full"):
        with pytest.raises(ConfigError, match="judged on the iteration split"):
            _setting((*overrides, wrong), "number/f1", False)


def test_the_default_command_has_the_pipeline_of_the_base_alone() -> None:
    base = ("preset=fast", "bib.long_side=640", "references=staging", "gate=strict", "scoring.bib_iou=0.3")
    assert default_command(base)[4:] == ("{photos}", "{out}", "preset=fast", "bib.long_side=640", "cache=off")
    with pytest.raises(ValueError, match=r"a word with \{out\}"):
        JudgeRules(command=("python", "{photos}"))


class TestPredict:
    def test_its_file_is_scored_as_it_is(
        self, desk: Desk, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(desk.folder)
        chosen = ("bib=mine", "face=mine", "identity=off", "cache=off")
        out = tmp_path / "out.jsonl"
        told = harness("predict", str(desk.data / "photos"), str(out), *chosen)
        assert told.code == 0, told.err
        assert told.out.startswith("64 photos predicted: ")
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert all("photo" not in line and len(line["bibs"]) == 1 for line in found)
        data = ("references=staging", f"references.root={desk.data}", f"tracking.root={tmp_path / 'mlruns'}")
        scored = harness("score", str(out), *data)
        assert scored.code == 0, scored.err

    def test_photos_have_their_names_and_those_that_fail_are_told(
        self, desk: Desk, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(desk.folder)
        folder = tmp_path / "photos"
        folder.mkdir()
        photo = next((desk.data / "photos").iterdir())
        (folder / "start.png").write_bytes(photo.read_bytes())
        (folder / "broken.png").write_bytes(b"no picture")
        out = tmp_path / "out.jsonl"
        told = harness("predict", str(folder), str(out), "bib=mine", "face=mine", "identity=off", "cache=off")
        assert told.code == 1
        assert "1 photo failed and has no line" in told.err
        assert "broken.png" in told.err
        assert [json.loads(line)["photo"] for line in out.read_text().splitlines()] == ["start.png"]
        assert harness("predict", str(tmp_path / "none"), str(out)).code == 2
