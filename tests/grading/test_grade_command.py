"""`harness grade` as its user meets it, and what it leaves in MLflow."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from mlflow.entities import Run

from harness.tracking.store import LocalStore
from tests.conftest import Harness, RunHarness
from tests.grading.streets import COHORT, OVERRIDES, RULES, TRUTH


def stored(work: Path) -> tuple[list[Run], list[Run]]:
    """The runs of the students, and the overviews. Nothing of either is among the runs and sweeps."""
    store = LocalStore(str(work / "mlruns"), "harness").open()
    assert not store.client.search_runs([store.runs_experiment, store.sweeps_experiment])
    found = store.client.search_runs([store.grades_experiment()])
    return [run for run in found if "student" in run.data.tags], [
        run for run in found if "student" not in run.data.tags
    ]


def test_one_student_is_shown_image_by_image(run_harness: RunHarness, work: Path) -> None:
    done = run_harness("grade", str(TRUTH), str(COHORT / "carla.xml"), "--rules", str(RULES), "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "street-4.jpg        0       3      0       n/a    n/a" in done.stdout
    assert "9 matches" in done.stdout
    assert "3 missed, 3 extra" in done.stdout
    assert {path.name for path in (work / "out").iterdir()} == {"grade.json", "grade.csv", "report.html"}
    assert not (work / "mlruns").exists()


def test_json_is_json(run_harness: RunHarness) -> None:
    done = run_harness("grade", str(TRUTH), str(COHORT), "--rules", str(RULES), "--json")
    assert [row["student"] for row in json.loads(done.stdout)["students"]] == ["anna", "ben", "carla"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nope.json", str(COHORT)], 2, "nope.json: no such file or folder"),
        ([str(TRUTH), str(COHORT), "--rules", "nope.yaml"], 2, "nope.yaml: cannot be read"),
        ([str(TRUTH), str(COHORT), "tracking.root=x"], 2, "--log, which is not given"),
        ([str(TRUTH), str(COHORT), "--cohort", "it's"], 2, "expected letters, digits"),
        ([str(TRUTH), str(COHORT), "--images", "."], 1, "none of the images"),
    ],
)
def test_a_mistake_is_told_briefly(run_harness: RunHarness, arguments: list[str], code: int, message: str) -> None:
    done = run_harness("grade", *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert message in done.stderr


@pytest.mark.slow
def test_a_cohort_is_one_run_a_student_and_an_overview(run_harness: RunHarness, work: Path, empty_store: Path) -> None:
    shutil.copytree(empty_store, work / "mlruns")
    given = ("--rules", str(RULES), "--overrides", str(OVERRIDES), "--log", "--cohort", "spring")
    done = run_harness("grade", str(TRUTH), str(COHORT), *given)
    assert done.returncode == 0, done.stderr
    runs, (overview,) = stored(work)
    assert {run.data.tags["student"] for run in runs} == {"anna", "ben", "carla"}
    assert {run.data.tags["cohort"] for run in runs} == {"spring"} == {overview.data.tags["cohort"]}
    assert len({run.data.tags["grading_id"] for run in [*runs, overview]}) == 1
    (ben,) = [run for run in runs if run.data.tags["student"] == "ben"]
    assert ben.data.metrics["grade/overall"] == pytest.approx(89.17, abs=0.01)
    assert ben.data.metrics["grade/overridden"] == 1
    assert ben.data.params["grading.match_key"] == "no"
    description = overview.data.tags["mlflow.note.content"]
    assert "| anna | 98.3 |" in description
    assert "best at completeness: **ben**" in description
    assert overview.data.metrics["students"] == 3
    artifacts = Path(overview.info.artifact_uri.removeprefix("file://"))
    assert {path.name for path in artifacts.iterdir()} == {"cohort.json", "cohort.html"}


@pytest.mark.slow
def test_a_student_who_cannot_be_read_makes_the_cohort_incomplete(
    run_harness: RunHarness, work: Path, tmp_path: Path, empty_store: Path
) -> None:
    shutil.copytree(empty_store, work / "mlruns")
    folder = Path(shutil.copytree(COHORT, tmp_path / "cohort"))
    (folder / "dan.json").write_text("{")
    done = run_harness("grade", str(TRUTH), str(folder), "--log")
    assert done.returncode == 1
    assert "1 of 4 students could not be graded" in done.stderr
    assert "dan" in done.stdout
    runs, (overview,) = stored(work)
    assert (len(runs), overview.info.status) == (3, "FAILED")


@pytest.mark.slow
def test_grades_are_in_the_way_of_neither_baseline_nor_list_nor_clean(
    harness: Harness, tmp_path: Path, empty_store: Path
) -> None:
    shutil.copytree(empty_store, tmp_path / "mlruns")
    assert harness("references=off", "confidence=sample").code == 0
    assert harness("grade", str(TRUTH), str(COHORT), "--log", "--cohort", "spring").code == 0
    pinned = harness("baseline")
    assert (pinned.code, "confidence=sample" in pinned.out) == (0, True), pinned.err
    assert "grade" not in harness("list").out
    plan = harness("clean", "--keep-latest", "1")
    assert plan.code == 0, plan.err
    assert "Nothing to delete." in plan.out
    assert not [word for word in ("grade", "cohort", "anna") if word in plan.out]
