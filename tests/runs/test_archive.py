"""`run.json`: what is written is what is read, older files are read too, and what was never made is not there."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.results import Extra, ItemRates
from harness.runs.archive import BenchmarkRun, FailedResult, PhotoResult, RunMetadata, read_run, write_run
from harness.scoring import Interval, Slice
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction
from tests.benchmark_runs import benchmark_run

finite = st.floats(allow_nan=False, allow_infinity=False)
share = st.floats(0, 1)
text = st.text(max_size=8)
texts = st.lists(text, max_size=3).map(tuple)
counts = st.dictionaries(
    st.sampled_from(["face", "bib"]), st.dictionaries(text, st.integers(0, 9), max_size=3), max_size=2
)
box = {"x": share, "y": share, "w": share, "h": share, "score": st.none() | share}


def cards() -> dict[str, st.SearchStrategy[Any]]:
    """Each scorecard, or none."""
    integers = st.integers(0, 99)
    return {
        f"{name}_scorecard": st.none() | st.builds(card, **{item.name: integers for item in fields(card)})
        for name, card in BenchmarkRun.CARDS.items()
    }


def tuples(of: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(of, max_size=2).map(tuple)


predictions = st.builds(
    PhotoPrediction,
    bibs=tuples(st.builds(BibBox, **box, number=st.none() | text, char_scores=tuples(share))),
    faces=tuples(st.builds(FaceBox, **box, identity=st.none() | text, landmarks=tuples(st.tuples(share, share)))),
    links=tuples(st.builds(BibFaceLink, st.integers(0, 3), st.integers(0, 3))),
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
    photo_results=tuples(
        st.builds(PhotoResult, text, text, text, texts, texts, finite, prediction=predictions, counts=counts)
    ),
    failed_photos=tuples(st.builds(FailedResult, text, text, text)),
    slices=tuples(st.builds(Slice, *[text] * 2, *[st.integers(0, 9)] * 2)),
    intervals=st.dictionaries(text, st.builds(Interval, finite, finite), max_size=2),
    extras=tuples(
        st.builds(
            Extra,
            text,
            st.dictionaries(text, finite, max_size=2),
            st.dictionaries(text, text, max_size=2),
            text,
            st.none() | st.builds(ItemRates, texts, st.dictionaries(text, st.tuples(tuples(finite), tuples(finite)))),
        )
    ),
    idle_steps=texts,
    **cards(),
)


@given(runs)
def test_to_dict_and_from_dict_are_each_others_inverse(run: BenchmarkRun) -> None:
    assert BenchmarkRun.from_dict(run.to_dict()) == run
    assert BenchmarkRun.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_a_scorecard_that_was_not_made_is_left_out() -> None:
    run = benchmark_run([(1, 0, 0)])
    data = run.to_dict()
    assert {name for name in data if name.endswith("_scorecard")} == {"face_scorecard"}
    assert data["face_scorecard"]["detection_recall"] == 1.0
    assert set(BenchmarkRun.from_dict(data).cards) == {"face"}


def test_a_file_of_an_older_harness_is_read() -> None:
    older = {
        "metadata": {"timestamp": "2025-01-01T00:00:00Z", "git_commit": "abc", "config": {"seed": "0"}, "runtime": {}},
        "metrics": {"face/recall": 0.5},
        "photo_results": [{"name": "a.jpg", "sha256": "0" * 64, "status": "PASS"}],
        "face_scorecard": {"detection_tp": 1, "detection_fp": 0, "detection_fn": 1},
    }
    run = BenchmarkRun.from_dict(older)
    assert (run.metadata.note, run.metadata.data_digest, run.idle_steps, run.extras) == ("", "", (), ())
    assert run.photo_results[0].prediction == PhotoPrediction()
    assert run.face_scorecard is not None
    assert (run.face_scorecard.detection_recall, run.face_scorecard.ignored) == (0.5, 0)
    assert run.link_scorecard is None


def test_what_a_newer_harness_added_is_passed_over() -> None:
    data = benchmark_run([(1, 0, 0)]).to_dict() | {"mood": "bright"}
    assert BenchmarkRun.from_dict(data) == benchmark_run([(1, 0, 0)])


def test_a_tally_from_the_archive_sums_to_its_scorecard() -> None:
    run = benchmark_run([(2, 1, 0), (0, 0, 3)])
    assert run.tally("face").scorecard() == run.face_scorecard


def test_a_file_that_cannot_be_used_says_where_and_why(tmp_path: Path) -> None:
    write_run(tmp_path, benchmark_run([(1, 0, 0)]))
    path = tmp_path / "run.json"
    assert read_run(path) == benchmark_run([(1, 0, 0)])
    data = json.loads(path.read_text())
    data["photo_results"][0]["seconds"] = "long"
    path.write_text(json.dumps(data))
    with pytest.raises(HarnessError, match=r"run.json.photo_results.0.seconds: Input should be a valid number"):
        read_run(path)
    path.write_text("{")
    with pytest.raises(HarnessError, match=r"run.json"):
        read_run(path)
    with pytest.raises(HarnessError, match=r"cannot be read: No such file"):
        read_run(tmp_path / "other.json")
