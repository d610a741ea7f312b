"""Runs beside a baseline as a user meets them: pin, get worse, be caught; and the commands on stored runs.

In one process: what matters here is what is said and how the command ends. tests/test_command_line.py starts real ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageEnhance

from harness.references.contents import read_file
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, write_file
from tests.conftest import Harness
from tests.test_command_line import staging, stored_runs

#: Each photo in so many lights: enough photos for a verdict that is no accident.
LIGHTS = (0.95, 1.05)


@pytest.fixture
def store(empty_store: Path, tmp_path: Path) -> None:
    """A store without runs where the commands look for one."""
    shutil.copytree(empty_store, tmp_path / "mlruns")


@pytest.fixture
def lit_set(tiny_set: Path) -> Path:
    """Nine photos: those of the tiny set, each in three lights."""
    index, *labels = (read_file(tiny_set, kind) for kind in (PhotoIndex, BibGroundTruth, FaceGroundTruth, BibFaceLinks))
    for sha256, entry in list(index.photos.items()):
        picture = Image.open(tiny_set / "photos" / f"{sha256}.jpg")
        for light in LIGHTS:
            path = tiny_set / "photos" / "lit.jpg"
            ImageEnhance.Brightness(picture).enhance(light).save(path, quality=92)
            lit, size = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size
            path.rename(path.with_name(f"{lit}.jpg"))
            index.photos[lit] = entry.model_copy(update={"bytes": size, "names": [f"{light}_{entry.names[0]}"]})
            for file in labels:
                file.photos[lit] = file.photos[sha256]
    for file in (index, *labels):
        write_file(tiny_set, file)
    return tiny_set


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_a_change_for_the_worse_is_caught(harness: Harness, lit_set: Path, tmp_path: Path) -> None:
    first = harness(*staging(lit_set))
    assert (first.code, "Verdict: NO BASELINE" in first.out) == (0, True), first.err
    (base,) = stored_runs(tmp_path)
    assert f"To judge later runs against this one: harness baseline {base.info.run_id[:8]}" in first.out

    pinned = harness("baseline")
    assert pinned.code == 0
    assert pinned.out.startswith("Baseline of staging (iteration), data ")

    other_seed = harness(*staging(lit_set), "seed=1", "gate=strict")
    assert (other_seed.code, "Verdict: NO WORSE" in other_seed.out) == (0, True), other_seed.err

    worse = harness(*staging(lit_set), "face.threshold=0.99", "gate=strict")
    assert worse.code == 1
    assert worse.err.endswith("harness: gate=strict: REGRESSED\n")
    advisory = harness(*staging(lit_set), "face.threshold=0.99")
    assert advisory.code == 0
    assert "Nothing has changed since this run was made on" in advisory.out, "the gate's strictness changes no result"
    assert "Verdict: REGRESSED" in advisory.out
    stored = stored_runs(tmp_path)[0]
    assert stored.data.tags["verdict"] == "REGRESSED"
    assert stored.data.tags["verdict.face/recall"] == "REGRESSED"
    assert stored.data.metrics["delta/face_recall"] < -0.5
    assert "**Verdict: REGRESSED**" in stored.data.tags["mlflow.note.content"]
    assert {"run.json", "photos.json", "config.yaml"} <= {path.name for path in (tmp_path / "mlruns").rglob("*.*")}

    listed = harness("list").out.splitlines()
    assert [line.split("  ")[-1].strip() for line in listed[1:]] == ["REGRESSED", "NO WORSE", "BASELINE"]
    assert [row["verdict"] for row in json.loads(harness("list", "--json").out)] == [
        "REGRESSED",
        "NO WORSE",
        "BASELINE",
    ]

    lost = json.loads(harness("compare", "latest", "--json").out)
    assert lost["verdict"] == "REGRESSED"
    assert lost["totals"]["face"]["lost"] == 9
    assert {photo["name"] for photo in lost["photos"] if photo["scorecard"] == "face"} >= {"P001.jpg", "0.95_P005.jpg"}
    assert lost["config"] == [{"key": "face.threshold", "before": "0.7", "after": "0.99"}]
    comment = harness("compare", "--markdown", stored.info.run_id[:10], "gate=strict")
    assert comment.code == 1
    assert "### harness: REGRESSED" in comment.out
    assert "1 face lost" in comment.out

    relabelled = Path(shutil.copytree(lit_set, tmp_path / "relabelled"))
    bibs = read_file(relabelled, BibGroundTruth)
    boxes = next(labels.boxes for labels in bibs.photos.values() if labels.boxes)
    boxes[0] = boxes[0].model_copy(update={"number": "999"})
    write_file(relabelled, bibs)
    elsewhere = harness(*staging(relabelled), "gate=strict")
    assert elsewhere.code == 1
    assert "Verdict: INCOMPARABLE\n  data: the baseline is on staging (iteration)" in elsewhere.out

    broken = sorted((lit_set / "photos").iterdir())[0]
    broken.write_bytes(broken.read_bytes()[:3000])
    incomplete = harness(*staging(lit_set), "force=true")
    assert incomplete.code == 1
    assert "Verdict: INCOMPLETE\n  1 of 9 photos could not be evaluated" in incomplete.out
    assert stored_runs(tmp_path)[0].data.tags["verdict"] == "INCOMPLETE"
    assert "INCOMPLETE" in harness("compare", "latest").out


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_a_run_is_made_once_unless_it_is_forced(harness: Harness, tiny_set: Path, tmp_path: Path) -> None:
    first = harness(*staging(tiny_set))
    again = harness(*staging(tiny_set), f"tracking.root={os.path.relpath(tmp_path / 'mlruns')}")
    assert (first.code, again.code) == (0, 0)
    assert "force=true runs it again" in again.out
    assert "force=true" not in first.out
    (only,) = stored_runs(tmp_path)
    assert only.info.run_id in again.out
    assert only.data.tags["key"]

    assert harness(*staging(tiny_set), "force=true").code == 0
    assert harness(*staging(tiny_set), "note=the same with a note").code == 0
    assert len(stored_runs(tmp_path)) == 3

    swept = harness("-m", *staging(tiny_set), "seed=0,5")
    assert swept.code == 0, swept.err
    assert "2 runs" in swept.out
    assert len(stored_runs(tmp_path)) == 4, "one of the two was there"
    (overview,) = stored_runs(tmp_path, "sweeps")
    assert overview.data.metrics["jobs"] == 2


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_a_judgement_is_made_anew_when_a_baseline_is_pinned_and_when_a_run_is_found_again(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    def tags(run_id: str) -> dict[str, str]:
        return next(run for run in stored_runs(tmp_path) if run.info.run_id == run_id).data.tags

    def report(run_id: str) -> str:
        return next((tmp_path / "mlruns").rglob(f"{run_id}/artifacts/report.html")).read_text()

    assert harness(*staging(tiny_set)).code == 0
    assert harness(*staging(tiny_set), "seed=1").code == 0
    later, first = (run.info.run_id for run in stored_runs(tmp_path))
    assert tags(later)["verdict"] == "NO BASELINE"

    pinned = harness("baseline", first)
    assert "1 run on these data judged anew against it" in pinned.out
    assert (tags(later)["verdict"], tags(later)["verdict.baseline"]) == ("NO WORSE", first)
    assert "NO WORSE" in tags(later)["mlflow.note.content"]
    assert report(later).count('id="judged-anew"') == 1
    assert f"<code>{first}</code>. All below is about the earlier judgement." in report(later)
    assert tags(first)["verdict"] == "BASELINE", "a baseline is not judged against itself"
    assert "verdict.face/recall" not in tags(first)
    assert "**Verdict: BASELINE**" in tags(first)["mlflow.note.content"]
    assert "Pinned as the baseline. All below is about the earlier judgement." in report(first)
    found_again = harness(*staging(tiny_set), "gate=strict")
    assert (found_again.code, "Verdict: BASELINE" in found_again.out) == (0, True)

    again = harness(*staging(tiny_set), "seed=1")
    assert "Nothing has changed" in again.out
    assert "judged-anew" in report(later), "the judgement stands, and so does the report"
    stricter = harness(*staging(tiny_set), "seed=1", "gate.metrics.face.f1.absolute=0.5")
    assert "Nothing has changed" in stricter.out, "the rules of the gate change the judgement and not the run"
    assert "judged-anew" not in report(later), "the report is written anew with the judgement"
    assert "NO WORSE" in report(later)
    assert len(stored_runs(tmp_path)) == 2

    assert harness("baseline", "-f", later).code == 0
    assert tags(later)["verdict"] == "BASELINE"
    assert (tags(first)["verdict"], tags(first)["verdict.baseline"]) == ("NO WORSE", later), "judged like the others"
    assert harness("baseline", "-f", first).code == 0
    assert (tags(first)["verdict"], tags(later)["verdict"]) == ("BASELINE", "NO WORSE")


@pytest.mark.slow
@pytest.mark.usefixtures("store")
def test_baselines_are_replaced_and_runs_deleted_only_on_purpose(
    harness: Harness, tiny_set: Path, tmp_path: Path
) -> None:
    for seed in (0, 1, 2):
        assert harness(*staging(tiny_set), f"seed={seed}").code == 0
    newest, middle, oldest = (each.info.run_id for each in stored_runs(tmp_path))
    assert harness("baseline", oldest[:8]).code == 0
    assert harness("baseline", oldest).out.endswith("already\n")

    refused = harness("baseline", middle)
    assert refused.code == 2
    assert f"this would replace {oldest[:8]} (fast bib.long_side=640 face.long_side=640 seed=0)" in refused.err
    assert "add -f" in refused.err
    replaced = harness("baseline", "-f", middle)
    assert replaced.code == 0
    assert f"it replaces {oldest[:8]}" in replaced.out
    assert harness("baseline", "nope").code == 2

    asked = harness("clean", "--keep-latest", "1")
    assert asked.code == 2
    assert "this would delete 1 run in" in asked.err
    assert len(stored_runs(tmp_path)) == 3
    done = harness("clean", "--keep-latest", "1", "--keep-baseline", "-f")
    assert done.code == 0
    assert "stays: baseline of staging (iteration)" in done.out
    assert "stays: one of the latest" in done.out
    assert done.out.endswith("1 run: deleted for good, artifacts included\n")
    assert [each.info.run_id for each in stored_runs(tmp_path)] == [newest, middle]
    assert sorted(path.parents[1].name for path in (tmp_path / "mlruns").rglob("run.json")) == sorted([newest, middle])
    assert harness("clean", "-f").code == 0
    assert [each.info.run_id for each in stored_runs(tmp_path)] == [middle]
    assert "Nothing to delete." in harness("clean", "-f").out


@pytest.mark.parametrize("command", ["list", "baseline", "compare x", "clean"])
def test_commands_on_runs_make_no_store(harness: Harness, tmp_path: Path, command: str) -> None:
    told = harness(*command.split())
    assert told.code == 1
    assert "no runs in" in told.err
    assert "make one with: harness preset=fast" in told.err
    assert not (tmp_path / "mlruns").exists()


def test_words_that_are_no_overrides_are_refused(harness: Harness) -> None:
    assert "three: expected an override" in harness("compare", "one", "two", "three").err
