"""`run.json`: what is written is what is read, older files are read too, and what was never made is not there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.runs import archive
from harness.runs.archive import BenchmarkRun, RunMetadata, TaskData, TaskRun, combined_digest, read_run, write_run
from harness.runs.gate import THE_BASELINE, Judgement, Verdict
from harness.runs.items import FailedItem, Item, PhotoDetail, item_rows
from harness.runs.records import MOST_DESCRIBED, describe, judgement_tags
from harness.scoring import (
    BibScorecard,
    Cause,
    Counted,
    CountRow,
    Declaration,
    FaceScorecard,
    Figure,
    Interval,
    Ledger,
    LinkScorecard,
    MissedNumber,
    Note,
    Rate,
    Section,
    Slice,
)
from harness.types import BibBox, BibFaceLink, DroppedText, FaceBox, PhotoPrediction
from tests.benchmark_runs import benchmark_run

finite = st.floats(allow_nan=False, allow_infinity=False)
share = st.floats(0, 1)
text = st.text(max_size=8)
count = st.integers(0, 9) | finite
weights = st.dictionaries(text, st.integers(1, 2) | finite, max_size=2)
counts = st.dictionaries(st.sampled_from(["face", "bib"]), st.dictionaries(text, count, max_size=3), max_size=2)
place = {"x": share, "y": share, "w": share, "h": share}
box = {**place, "score": st.none() | share}


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=2).map(tuple)


texts = tuples(text)
rates = st.builds(Rate, text, weights, weights, text, text, st.sampled_from(["higher", "lower"]))
declarations = st.builds(
    Declaration,
    name=text,
    rates=st.dictionaries(text, rates, max_size=2),
    counts=st.dictionaries(text, text, max_size=2),
    figures=tuples(st.builds(Figure, text, text, texts, text)),
    sections=tuples(
        st.builds(
            Section, text, texts, tuples(st.builds(Note, text, text)), tuples(st.builds(CountRow, text, texts, text))
        )
    ),
    ledger=st.none() | st.builds(Ledger, text, text, text, text),
    mistakes=texts,
)
cards = st.dictionaries(
    text,
    st.builds(
        Counted, declarations, st.dictionaries(text, count, max_size=2), st.dictionaries(text, finite, max_size=2)
    ),
    max_size=2,
)
predictions = st.builds(
    PhotoPrediction,
    bibs=tuples(st.builds(BibBox, **box, number=st.none() | text, char_scores=tuples(share))),
    faces=tuples(st.builds(FaceBox, **box, identity=st.none() | text, landmarks=tuples(st.tuples(share, share)))),
    links=tuples(st.builds(BibFaceLink, st.integers(0, 3), st.integers(0, 3))),
    dropped=tuples(st.builds(DroppedText, **place, text=text, rule=text, value=st.none() | finite)),
)
missed = tuples(st.builds(MissedNumber, text, st.sampled_from(Cause), text, text, st.none() | finite))
details = st.builds(PhotoDetail, text, texts, texts, finite, predictions, missed)
tasks = st.builds(
    TaskRun,
    data=st.builds(TaskData, text, text, text),
    noun=text,
    items=tuples(st.builds(Item, text, text, counts, text, st.none() | details)),
    failed=tuples(st.builds(FailedItem, text, text, text)),
    cards=cards,
    intervals=st.dictionaries(text, st.builds(Interval, finite, finite), max_size=2),
    slices=tuples(st.builds(Slice, *[text] * 2, *[st.integers(0, 9)] * 2)),
    text=text,
    traced=st.booleans(),
)
runs = st.builds(
    BenchmarkRun,
    metadata=st.builds(
        RunMetadata,
        timestamp=text,
        git_commit=text,
        config=st.dictionaries(text, text, max_size=3),
        runtime=st.dictionaries(text, finite, max_size=3),
        note=text,
        thresholds=st.dictionaries(text, share, max_size=2),
        scorer_version=st.integers(0, 9),
    ),
    metrics=st.dictionaries(text, finite, max_size=3),
    tasks=st.dictionaries(text, tasks, max_size=2),
    idle_steps=texts,
)


@given(runs)
def test_to_dict_and_from_dict_are_each_others_inverse(run: BenchmarkRun) -> None:
    assert BenchmarkRun.from_dict(run.to_dict()) == run
    assert BenchmarkRun.from_dict(json.loads(json.dumps(run.to_dict()))) == run


@given(runs)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_a_run_with_very_many_items_keeps_them_in_columns_and_is_read_as_it_was(
    tmp_path: Path, run: BenchmarkRun
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    # A task is called like a file, and an item has no scorecard that counts nothing.
    run = replace(run, tasks={f"task{place}": _filled(task) for place, task in enumerate(run.tasks.values())})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "MOST_INLINE", 0)
        write_run(tmp_path, run)
    kept = json.loads((tmp_path / "run.json").read_bytes())
    assert all(not task["items"] for task in kept["tasks"].values())
    assert read_run(tmp_path / "run.json") == run


@pytest.mark.parametrize("most_inline", [0, 1000], ids=["in columns", "inline"])
@given(run=runs)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_predictions_are_read_alone_and_are_those_of_the_run(
    tmp_path: Path, most_inline: int, run: BenchmarkRun
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    names = (archive.PHOTOS, "identity", "tables")
    run = replace(run, tasks={name: _filled(task) for name, task in zip(names, run.tasks.values(), strict=False)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "MOST_INLINE", most_inline)
        write_run(tmp_path, run)
    alone = read_run(tmp_path / "run.json", predictions_alone=True)
    assert (alone.predictions(), alone.absent, alone.metadata) == (run.predictions(), run.absent, run.metadata)
    assert [item.id for item in alone.photos] == [item.id for item in run.photos]
    assert (alone.cards, set(alone.tasks) - {archive.PHOTOS}) == ({}, set())
    assert not any(item.counts for item in alone.photos)


def _filled(task: TaskRun) -> TaskRun:
    filled = [
        replace(item, counts={card: counts for card, counts in item.counts.items() if counts}) for item in task.items
    ]
    return replace(task, items=tuple(filled))


def test_items_that_are_damaged_or_gone_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_INLINE", 0)
    write_run(tmp_path, benchmark_run([(1, 0, 0)]))
    file = tmp_path / "photos_items.parquet"
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(HarnessError, match=r"photos_items\.parquet: not the items of a run"):
        read_run(tmp_path / "run.json")
    file.unlink()
    with pytest.raises(HarnessError, match=r"photos_items\.parquet: not the items of a run"):
        read_run(tmp_path / "run.json")


def test_a_run_has_the_scorecards_that_were_made() -> None:
    run = benchmark_run([(1, 0, 0)])
    data = run.to_dict()
    assert set(data["tasks"]["photos"]["cards"]) == {"face"}
    assert data["tasks"]["photos"]["cards"]["face"]["rates"]["face/recall"] == 1.0
    assert run.card(FaceScorecard) == FaceScorecard(1, 0, 0, photos=1)
    assert (run.card(BibScorecard), run.card(LinkScorecard)) == (None, None)


def test_a_file_of_the_first_format_is_read() -> None:
    older = {
        "metadata": {"timestamp": "2025-01-01T00:00:00Z", "git_commit": "abc", "config": {"seed": "0"}, "runtime": {}},
        "metrics": {"face/recall": 0.5},
        "photo_results": [{"name": "a.jpg", "sha256": "0" * 64, "status": "PASS"}],
        "face_scorecard": {"detection_tp": 1, "detection_fp": 0, "detection_fn": 1},
    }
    run = BenchmarkRun.from_dict(older)
    assert (run.metadata.note, run.metadata.data_digest, run.idle_steps, set(run.tasks)) == ("", "", (), {"photos"})
    assert run.predictions() == {"0" * 64: PhotoPrediction()}
    face = run.card(FaceScorecard)
    assert face is not None
    assert (face.detection_recall, face.ignored) == (0.5, 0)
    assert run.card(LinkScorecard) is None


def test_the_digest_of_photos_alone_is_the_photos_own() -> None:
    photos, tables = TaskData("races", "iteration", "p" * 64), TaskData("sample", "", "t" * 64)
    assert combined_digest({"photos": photos}) == photos.digest
    both = combined_digest({"photos": photos, "tables": tables})
    assert both == combined_digest({"tables": tables, "photos": photos})
    others = [{"tables": tables}, {"photos": tables, "tables": photos}, {"photos": photos, "confidence": tables}]
    assert len({both, photos.digest, *(combined_digest(other) for other in others)}) == 5


def test_what_a_newer_harness_added_is_passed_over() -> None:
    data = benchmark_run([(1, 0, 0)]).to_dict() | {"mood": "bright"}
    assert BenchmarkRun.from_dict(data) == benchmark_run([(1, 0, 0)])


def test_a_tally_from_the_archive_sums_to_its_scorecard() -> None:
    run = benchmark_run([(2, 1, 0), (0, 0, 3)])
    assert run.tasks["photos"].tally("face").total().counts == run.cards["face"].counts


def test_a_file_that_cannot_be_used_says_where_and_why(tmp_path: Path) -> None:
    write_run(tmp_path, benchmark_run([(1, 0, 0)]))
    path = tmp_path / "run.json"
    assert read_run(path) == benchmark_run([(1, 0, 0)])
    data = json.loads(path.read_text())
    data["tasks"]["photos"]["items"][0]["photo"]["seconds"] = "long"
    path.write_text(json.dumps(data))
    with pytest.raises(HarnessError, match=r"run.json.tasks.photos.items.0.photo.seconds: must be a num"):
        read_run(path)
    path.write_text("[]")
    with pytest.raises(HarnessError, match=r"run.json: expected an object with the fields of a run"):
        read_run(path)
    path.write_text("{")
    with pytest.raises(HarnessError, match=r"run.json"):
        read_run(path)
    with pytest.raises(HarnessError, match=r"cannot be read: No such file"):
        read_run(tmp_path / "other.json")


def test_a_description_fits_into_mlflow_and_leaves_recall_by_tag_out_first() -> None:
    run = benchmark_run([(1, 0, 0)])
    few, many, too_many = (
        describe(with_slices(run, number, note), THE_BASELINE)
        for number, note in ((3, ""), (200, ""), (200, "x\n" * 4500))
    )
    assert "tag 2" in few
    assert "The report has more" not in few
    assert "tag 2" not in many
    assert "Face detection" in many
    assert many.endswith("The report has more.")
    assert len(too_many) <= MOST_DESCRIBED
    assert too_many.endswith("x\n\nThe report has more.")


def test_reasons_that_are_too_long_for_a_tag_are_cut() -> None:
    judgement = Judgement(Verdict.INCOMPLETE, tuple(f"photo {n} could not be read" for n in range(1000)))
    reasons = judgement_tags(judgement, "key", None)["verdict.reasons"]
    assert len(reasons) == MOST_DESCRIBED
    assert reasons.startswith("photo 0 could not be read; photo 1 ")
    assert reasons.endswith(" ...")


def with_slices(run: BenchmarkRun, number: int, note: str) -> BenchmarkRun:
    slices = tuple(Slice("bib", f"tag {n}", 1, 2) for n in range(number))
    tasks = {name: replace(task, slices=slices) for name, task in run.tasks.items()}
    return replace(run, tasks=tasks, metadata=replace(run.metadata, note=note))


def test_items_that_count_the_same_share_their_counts_and_others_do_not() -> None:
    one, other, nothing = {"tp": 1}, {"tp": 2}, dict[str, int]()
    rows = list(item_rows({"a": [one, one, other, one], "b": [nothing, nothing, nothing, other]}, 4))
    assert rows == [{"a": one}, {"a": one}, {"a": other}, {"a": one, "b": other}]
    assert rows[0] is rows[1]
    equal = list(item_rows({"a": [{"tp": 1}, {"tp": 1}]}, 2))  # equal, and not shared
    assert equal == [{"a": one}, {"a": one}]
