"""No number of a run is stale: whatever happens to the stage cache, the scorecards are those of a cold run, and no
seconds of another hour are told as those of this one."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from mlflow.entities import Run

from harness.base.errors import ConfigError
from harness.config import build, compose
from harness.pipeline import Pipeline
from harness.pipeline.cache import FILE, PICTURE, checksum
from harness.pipeline.links.geometric import GeometricLinker
from harness.pipeline.looks import Look
from harness.pipeline.weights import Weights
from harness.runs.archive import BenchmarkRun
from harness.scoring.speed import CPU_SECONDS, PHOTOS_PER_SECOND, RUNTIME, SECONDS
from harness.search.experiment import Experiment
from harness.search.searchable import trial_spec
from harness.tasks.photos import timing
from harness.tasks.photos.audit import chosen, difference
from harness.tasks.photos.predicting import EvaluatedPhoto
from harness.tasks.photos.timing import MOST_PHOTOS, sampled, timing_pass
from harness.tracking.catalog import load_run, read_artifact
from harness.tracking.store import LocalStore
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction
from tests.conftest import Harness
from tests.mounts import full_disk, read_only
from tests.report.reports import photo_of
from tests.tasks.photos.scored import StubReader, evaluated, scored, task
from tests.test_command_line import staging, stored_runs

Change = Callable[[str, Any], Any]


def rewrite(folder: Path, change: Change, *, stage: str = "", seconds: float = 1.0, forged: bool = True) -> None:
    """Change what a cache holds of boxes and texts, in valid JSON; `forged` entries have a checksum that fits."""
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as file:
        rows = file.execute("SELECT key, stage, value, seconds, checksum FROM answers").fetchall()
        for key, its_stage, value, took, proof in rows:
            if its_stage == stage or (not stage and its_stage not in ("identity", PICTURE)):
                new = json.dumps(change(key, json.loads(value))).encode()
                proof = checksum(key, its_stage.encode(), new, took * seconds) if forged else proof
                values = (new, took * seconds, proof, key)
                file.execute("UPDATE answers SET value = ?, seconds = ?, checksum = ? WHERE key = ?", values)


def no_faces(_: str, value: list[Any]) -> list[Any]:
    return value[:0]


@pytest.fixture
def folder(tiny_set: Path, tmp_path: Path) -> Path:
    """A cache that has the answers of a run."""
    evaluated(tiny_set, tmp_path / "stages")
    return tmp_path / "stages"


@pytest.fixture
def cold(tiny_set: Path) -> Any:
    """What is scored without a cache."""
    return scored(evaluated(tiny_set, None))


def test_a_warm_run_scores_what_a_cold_one_does(tiny_set: Path, folder: Path, cold: Any) -> None:
    warm = evaluated(tiny_set, folder)
    assert scored(warm) == cold
    assert warm.metrics["cache/face_hits"] == 3
    assert "cache/repaired" not in warm.metrics


@pytest.mark.parametrize(
    ("change", "repaired"),
    [
        ("UPDATE answers SET value = substr(value, 1, length(value) / 2) WHERE stage = 'face'", 3),
        ("UPDATE answers SET value = CAST(replace(value, '0.', '9.') AS BLOB) WHERE stage = 'face'", 3),
        ("UPDATE answers SET value = CAST('[]' AS BLOB) WHERE stage = 'face'", 3),
        ("UPDATE answers SET value = x'00' WHERE stage IN ('text', 'size')", 6),
    ],
    ids=["cut short", "other bytes", "valid and wrong", "no JSON"],
)
def test_damaged_entries_are_computed_anew_and_counted(
    tiny_set: Path, folder: Path, cold: Any, change: str, repaired: int
) -> None:
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as file:
        file.execute(change)
    first, second = evaluated(tiny_set, folder), evaluated(tiny_set, folder)
    assert scored(first) == scored(second) == cold
    assert first.metrics["cache/repaired"] == repaired
    assert "cache/repaired" not in second.metrics, "they were replaced"


def test_a_truncated_file_is_bypassed_with_one_warning(
    tiny_set: Path, folder: Path, cold: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(folder / FILE)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = (folder / FILE).read_bytes()
    (folder / FILE).write_bytes(content[:8192])
    capsys.readouterr()
    assert scored(evaluated(tiny_set, folder)) == cold
    (warning,) = capsys.readouterr().err.splitlines()
    assert "computes everything anew" in warning


@pytest.mark.slow
@pytest.mark.parametrize(("disk", "warm"), [(read_only, True), (full_disk, False)], ids=["read-only", "full"])
def test_a_disk_that_takes_nothing_is_bypassed_with_one_warning(
    tiny_set: Path, tmp_path: Path, cold: Any, disk: Callable[..., Any], warm: bool
) -> None:
    folder = tmp_path / "stages"
    folder.mkdir()
    if warm:
        evaluated(tiny_set, folder)
    done = disk(folder, sys.executable, "-m", "tests.tasks.photos.scored", str(tiny_set), str(folder))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == cold
    (warning,) = [line for line in done.stderr.splitlines() if "stage cache" in line]
    assert "this run does not keep what it computes" in warning


def test_an_audit_finds_a_wrong_answer_whose_checksum_is_forged_and_drops_it(tiny_set: Path, folder: Path) -> None:
    rewrite(folder, no_faces, stage="face")
    wrong = evaluated(tiny_set, folder)
    assert wrong.metrics["cache/face_hits"] == 3
    assert wrong.kept.cards["face"].counts["detection_tp"] == 0, "the checksum does not help here"
    assert wrong.audit is not None
    found = wrong.audit()
    assert len(found.differences) == 3
    assert "P001.jpg: face: 0 values in the cache, 1 when computed anew" in found.differences
    assert found.words().startswith("FAILED: P001.jpg: face")
    mended = evaluated(tiny_set, folder)
    assert mended.metrics["cache/face_misses"] == 3
    assert mended.kept.cards["face"].counts["detection_tp"] == 3


@pytest.mark.parametrize(
    ("stage", "change", "told"),
    [
        ("face", lambda _, faces: [{**face, "score": face["score"] - 0.002} for face in faces], "[0].score: 0."),
        ("face", lambda _, faces: [{**face, "score": face["score"] - 0.0005} for face in faces], None),
        ("text", lambda _, seen: [f"{seen[0]}7", seen[1]], "[0]: '"),
        ("size", lambda _, size: [size[0] + 1, size[1]], "[0]: 481 in the cache, 480 when computed anew"),
    ],
    ids=["a score", "a score within tolerance", "a number", "the size of the photo"],
)
def test_an_audit_tells_numbers_that_are_near_from_others(
    tiny_set: Path, folder: Path, stage: str, change: Change, told: str | None
) -> None:
    rewrite(folder, change, stage=stage)
    check = evaluated(tiny_set, folder).audit
    assert check is not None
    found = check()
    assert (found.checked, found.answers) == (6, 6)
    assert len(found.differences) == (0 if told is None else 3)
    assert all(f"{stage}: {told}" in text for text in found.differences)


def test_a_backend_that_raises_where_the_cache_has_an_answer_fails_the_audit(
    tiny_set: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = evaluated(tiny_set, folder).audit
    assert check is not None

    def broken(*_: object) -> None:
        raise ValueError("no such number")

    monkeypatch.setattr(StubReader, "_see", broken)
    assert all("text: an answer in the cache, ValueError" in text for text in check().differences)


def test_an_audit_counts_no_answer_that_the_run_has_computed_itself(tiny_set: Path, folder: Path) -> None:
    """A stage that asks twice, with one answer in the cache: both are compared, and one came from there."""
    made = task(tiny_set, folder)
    twice = replace(made, pipeline=replace(made.pipeline, bib=TwoQuestions()))
    replace(twice, pipeline=replace(twice.pipeline, bib=TwoQuestions(questions=("a",)))).evaluate(
        tiny_set, seed=0, quiet=True
    )
    check = twice.evaluate(tiny_set, seed=0, quiet=True).audit
    assert check is not None
    found = check()
    assert (found.checked, found.answers) == (6, 6), "three faces, and three of six texts"


def test_where_nothing_can_come_from_the_cache_nothing_is_audited(tiny_set: Path, folder: Path) -> None:
    """Backends that ask the cache nothing: only the sizes of the photos are in it."""
    made = task(tiny_set, folder)
    blind = replace(made, pipeline=Pipeline(Unasking(), Unasking(), made.pipeline.link))
    assert blind.evaluate(tiny_set, seed=0, quiet=True).audit is None
    assert blind.evaluate(tiny_set, seed=0, quiet=True).audit is None


def test_a_cold_run_and_an_audit_of_nothing_have_nothing_to_do(tiny_set: Path, folder: Path, tmp_path: Path) -> None:
    assert evaluated(tiny_set, None).audit is None
    assert evaluated(tiny_set, tmp_path / "other").audit is None
    assert evaluated(tiny_set, folder, audit=0.0).audit is None


@pytest.mark.parametrize(
    ("cached", "fresh", "told"),
    [
        ({"a": [1.0, "x"]}, {"a": [1.0009, "x"]}, None),
        ({"a": [1.0, "x"]}, {"a": [1.0011, "x"]}, "a[0]: 1.0 in the cache, 1.0011 when computed anew"),
        ([1], [2], "[0]: 1 in the cache, 2 when computed anew"),
        ([True], [1], "[0]: True in the cache, 1 when computed anew"),
        ([1], [1.0], "[0]: 1 in the cache, 1.0 when computed anew"),
        ("1", "2", "'1' in the cache, '2' when computed anew"),
        ({"a": 1}, {"b": 1}, "{'a': 1} in the cache, {'b': 1} when computed anew"),
        ([None], [[]], "[0]: None in the cache, [] when computed anew"),
        ([float("nan")], [float("nan")], None),
        ([float("nan")], [0.0], "[0]: nan in the cache, 0.0 when computed anew"),
        ([1, 2], [1], "2 values in the cache, 1 when computed anew"),
    ],
)
def test_what_counts_as_a_difference(cached: Any, fresh: Any, told: str | None) -> None:
    assert difference(cached, fresh) == told


@dataclass(frozen=True)
class TwoQuestions(StubReader):
    """Asks several questions about a photo."""

    CHEAP: ClassVar[frozenset[str]] = frozenset({"questions"})
    questions: tuple[str, ...] = ("a", "b")

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        for question in self.questions:
            look.see("text", self, question, self._see)
        return ()


@dataclass(frozen=True)
class Unasking(StubReader):
    """Finds nothing, without a look."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        return ()

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        return ()


def photos(count: int, *hits: dict[str, int]) -> list[EvaluatedPhoto]:
    """So many photos, which the cache has answered in turn as given."""
    return [
        EvaluatedPhoto(photo_of(n, PhotoLabels()), PhotoPrediction(), {}, hits[n % len(hits)], {}, {})
        for n in range(count)
    ]


def test_an_audit_takes_its_share_of_the_photos_and_at_least_one_for_each_stage() -> None:
    answered = photos(300, {"face": 1}, {})
    assert len(chosen(answered, 0.01)) == 2
    assert all(item.hits for item in chosen(answered, 1.0))
    assert len(chosen(answered, 1.0)) == 150
    rare = [*photos(300, {"face": 1}), *photos(1, {"read": 1})]
    assert any("read" in item.hits for item in chosen(rare, 0.01))
    assert len({chosen(answered, 0.01)[0].name for _ in range(50)}) > 1, "nobody can foresee it"


def test_the_photos_that_are_timed_are_always_the_same_few() -> None:
    references = [item.photo for item in photos(30, {})]
    assert sampled(references) == sampled(references[::-1])
    assert len(sampled(references)) == MOST_PHOTOS
    assert len(sampled(references[:3])) == 3


@dataclass(frozen=True)
class TwoFaces:
    """Sees two faces, of which some are sure enough."""

    CHEAP: ClassVar[frozenset[str]] = frozenset({"threshold"})
    threshold: float = 0.1
    size: int = 640
    models: tuple[Weights, ...] = ()

    def load(self) -> None:
        """It has no models."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """One face or two."""
        seen = look.see("face", self, None, lambda _: [0.3, 0.6])
        return tuple(FaceBox(x=score, y=0.1, w=0.1, h=0.1, score=score) for score in seen if score >= self.threshold)


@dataclass(frozen=True)
class TorsoReader(StubReader):
    """Looks at the torso below each face."""

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        """No bib."""
        for face in faces:
            look.see("text", self, face.x, lambda _: [])
        return ()


def test_a_timing_pass_is_one_for_all_settings_that_compute_the_same(tiny_set: Path, tmp_path: Path) -> None:
    def key(reader: StubReader, faces: TwoFaces, half_width: float = 1.5) -> str:
        pipeline = task(tiny_set, None).pipeline
        assert isinstance(pipeline.link, GeometricLinker)
        link = replace(pipeline.link, half_width=half_width)
        made = replace(task(tiny_set, tmp_path / "stages"), pipeline=Pipeline(reader, faces, link))
        replace(made).evaluate(tmp_path, 0, quiet=True)
        found = made.evaluate(tmp_path, 0, quiet=True).timing
        assert found is not None
        return found.key

    known = key(TorsoReader(), TwoFaces())
    assert key(TorsoReader(), TwoFaces()) == known
    assert key(TorsoReader(), TwoFaces(), half_width=2.5) == known, "links are not timed"
    assert key(TorsoReader(), TwoFaces(threshold=0.2)) == known, "the same torsos are looked at"
    others = {key(TorsoReader(), TwoFaces(threshold=0.5)), key(TorsoReader(), TwoFaces(size=320))}
    assert len({known, *others, key(StubReader(), TwoFaces())}) == 4


def test_a_timing_pass_is_for_so_many_photos_on_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = build(compose()).photos.pipeline
    asked = [replace(item, asked=b"a") for item in photos(MOST_PHOTOS, {"face": 1})]
    other = [*asked[:-1], replace(asked[-1], asked=b"b")]
    keys = {timing_pass(pipeline, some).key for some in (asked, other, asked[:-1])}
    monkeypatch.setattr(timing, "machine", lambda: ("another", 2, "Linux"))
    assert len({*keys, timing_pass(pipeline, asked).key}) == 4


def test_a_timing_pass_measures_what_a_cold_run_takes(tiny_set: Path, folder: Path) -> None:
    made = evaluated(tiny_set, folder)
    assert made.timing is not None
    found = made.timing.measure()
    assert set(found) == {SECONDS, CPU_SECONDS, PHOTOS_PER_SECOND, "runtime/face_seconds", "runtime/text_seconds"}
    assert found[PHOTOS_PER_SECOND] == pytest.approx(3 / found[SECONDS])
    # A median of sums is no sum of medians, but it is near.
    assert found[SECONDS] == pytest.approx(found["runtime/face_seconds"] + found["runtime/text_seconds"], rel=0.5)
    assert found[CPU_SECONDS] > 0


@pytest.mark.parametrize(
    ("overrides", "needed"),
    [
        ([], False),
        (["timing=on"], True),
        (["sweep_id=x"], True),
        (["sweep_id=x", "timing=off"], False),
        (["gate.metrics.runtime.photos_per_second.informational=false"], True),
        (["gate.metrics.runtime.pipeline_seconds.better=lower"], True),
        (["gate.metrics.runtime.photos_per_second.relative=0.5"], False),
        (["timing=on", "references=off", "tables=sample"], False),
    ],
)
def test_seconds_are_measured_for_whoever_asks_for_them(overrides: list[str], needed: bool) -> None:
    assert build(compose(overrides)).needs_seconds is needed


def test_timing_has_three_choices() -> None:
    with pytest.raises(ConfigError, match="timing=maybe: expected one of auto, on, off"):
        build(compose(["timing=maybe"]))


@pytest.mark.parametrize("part", ["objectives", "constraints"])
def test_the_trials_of_a_search_for_speed_are_timed_and_others_are_not(part: str) -> None:
    given: dict[str, Any] = {
        "study": "s",
        "space": {"face.threshold": [0.6, 0.7]},
        "objectives": {"face/f1": "maximize"},
        "constraints": {},
        "budget": {"trials": 1, "minutes": 1},
    }
    assert trial_spec(Experiment.model_validate(given), {}).timing == "auto"
    given[part] |= {SECONDS: "minimize" if part == "objectives" else {"at_most": 3.0}}
    assert trial_spec(Experiment.model_validate(given), {}).timing == "on"


def newest(folder: Path) -> tuple[Run, BenchmarkRun]:
    run = stored_runs(folder)[0]
    return run, load_run(LocalStore(str(folder / "mlruns"), "harness").open(), run.info.run_id)


def runtime(run: Run) -> dict[str, float]:
    return {name: value for name, value in run.data.metrics.items() if name.startswith(RUNTIME)}


@pytest.fixture
def given(tiny_set: Path, tmp_path: Path, empty_store: Path) -> tuple[str, ...]:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    return staging(tiny_set)


@pytest.mark.slow
def test_the_seconds_of_a_busy_hour_never_show(harness: Harness, given: tuple[str, ...], tmp_path: Path) -> None:
    first = harness(*given)
    assert first.code == 0, first.err
    run, kept = newest(tmp_path)
    assert run.data.tags["runtime.measured"] == "in this run"
    assert {SECONDS, PHOTOS_PER_SECOND, "runtime/face_seconds"} <= runtime(run).keys()
    told = [item.photo.seconds or 0.0 for item in kept.photos if item.photo]
    assert sum(told) == pytest.approx(run.data.metrics[SECONDS])

    # The cache was filled in an hour in which everything took a thousand times as long.
    rewrite(tmp_path / "cache" / "stages", lambda _, value: value, seconds=1000.0)
    warm = harness(*given, "seed=1")
    assert warm.code == 0, warm.err
    run, kept = newest(tmp_path)
    assert runtime(run) == {}
    assert not any(name.startswith("delta/runtime") for name in run.data.metrics)
    assert "runtime.measured" not in run.data.tags
    assert [item.photo.seconds for item in kept.photos if item.photo] == [None] * 3
    assert kept.metadata.runtime == {}
    assert "pipeline" not in warm.out.partition("data ")[2].splitlines()[0]
    store = LocalStore(str(tmp_path / "mlruns"), "harness").open()
    assert "not measured" in read_artifact(store, run.info.run_id, "report.html").decode()
    assert run.data.tags["audit"].startswith("passed: ")
    assert "Audit passed: " in warm.out

    timed = harness(*given, "seed=1", "timing=on")
    assert "Nothing has changed" not in timed.out, "the run before has no seconds"
    run, _ = newest(tmp_path)
    measured = runtime(run)
    assert 0 < measured[SECONDS] < 60
    assert measured[CPU_SECONDS] > 0
    assert run.data.tags["runtime.measured"] == "timing pass: 3 photos, 3 times"
    assert "timing pass: 3 photos" in read_artifact(store, run.info.run_id, "report.html").decode()
    assert "Nothing has changed" in harness(*given, "seed=1", "timing=on").out

    assert harness("-m", *given, "seed=2").code == 0
    (swept,) = stored_runs(tmp_path)[:1]
    assert runtime(swept) == measured
    assert swept.data.tags["runtime.measured"] == f"timing pass of run {run.info.run_id[:8]}"
    assert "audit" not in swept.data.tags


@pytest.mark.slow
def test_an_audit_that_fails_ends_the_command_and_spoils_the_run(
    harness: Harness, given: tuple[str, ...], tmp_path: Path
) -> None:
    stages = tmp_path / "cache" / "stages"
    assert harness(*given).code == 0
    rewrite(stages, no_faces, stage="face", forged=False)
    repaired = harness(*given, "seed=1", "cache.audit=0")
    assert "cache: 3 damaged entries were computed anew" in repaired.out
    run, _ = newest(tmp_path)
    assert (run.data.metrics["cache/repaired"], run.data.metrics["face/recall"]) == (3, 1.0)
    assert "audit" not in run.data.tags

    rewrite(stages, no_faces, stage="face")
    audited = harness(*given, "seed=2", "cache.audit=1")
    assert audited.code == 6
    assert "Verdict: " in audited.out, "the result is shown before"
    assert "P001.jpg: face: 0 values in the cache, 1 when computed anew" in audited.err
    run, _ = newest(tmp_path)
    assert run.info.status == "FAILED"
    assert run.data.tags["audit"].startswith("FAILED: ")

    again = harness(*given, "seed=2", "cache.audit=1")
    assert (again.code, "Nothing has changed" in again.out) == (0, False), again.err
    assert newest(tmp_path)[0].data.metrics["face/recall"] == 1.0
