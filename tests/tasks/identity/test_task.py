"""The task of identity in a run: what it tells, what it keeps to itself, and whose threshold a holdout uses."""

from __future__ import annotations

import base64
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import harness as harness_api
from harness.base.errors import ReferenceSetError
from harness.config import build, compose
from harness.pipeline.cache import FILE, decoded
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.strangers import stranger_similarity
from harness.references.constraints import FaceGroups
from harness.references.sets import ReferenceSet
from harness.runs.returns import RETURNS_FILE, read_returns
from harness.scoring.detection import Thresholds
from harness.scoring.people import Vectors
from harness.scoring.people_clusters import tally_clusters
from harness.tasks.identity.gathering import SeenPhoto, gather, match_faces
from harness.tasks.identity.grouping import REACHED_BY, Grouping
from harness.tasks.identity.roster import roster_of
from harness.tasks.identity.scores import Grouped
from harness.tasks.identity.task import IdentityTask
from tests.conftest import QUICK, Harness
from tests.tasks.identity.test_gathering import face_at, seen
from tests.tasks.identity.test_roster import photo

RULES = Clustering(neighbours=8, number_weight=0.0, time_weight=0.0, seconds_apart=60.0, threshold=0.5)


def grouped(
    photos: list[SeenPhoto], must: FaceGroups = (), cannot: FaceGroups = (), how: Clustering = RULES
) -> tuple[Grouped, float]:
    """Clusters under constraints between labelled faces, and their pairwise recall."""
    grouping = grouping_of(photos, must, cannot, how)
    found = grouping.at(grouping.point(search=0.7))
    card = tally_clusters(grouping.evidence, found.clusters, found.must, found.cannot, found.by_fold).counted()
    return found, card.value(card.declared.rates["pair_recall"])


def grouping_of(
    photos: list[SeenPhoto], must: FaceGroups = (), cannot: FaceGroups = (), how: Clustering = RULES
) -> Grouping:
    rules = Thresholds(0.5, 0.5)
    roster = roster_of([item.photo for item in photos], identities_labeled=False, grouped=False)
    evidence = gather(roster, photos, (), rules, identities_labeled=False)
    references = ReferenceSet("set", "full", (), "", must_link=must, cannot_link=cannot, root=Path("set"))
    return Grouping.of(evidence, photos, match_faces(photos, rules), references, how)


def apart(*names: str) -> list[SeenPhoto]:
    """Photos of Ada, one face each, whose vectors have nothing in common."""
    return [
        seen(photo(name, (face_at(place, "Ada"),), face_ids=(f"f{place}",)), [face_at(place)])
        for place, name in enumerate(names, start=1)
    ]


def test_a_must_link_between_two_photos_moves_the_scorecard_and_is_kept() -> None:
    photos = apart("a", "b")
    before, recall = grouped(photos)
    assert len(set(before.clusters.tolist())) == 2
    assert recall == 0
    after, recall = grouped(photos, must=((("a", "f1"), ("b", "f2")),))
    assert len(set(after.clusters.tolist())) == 1
    assert recall == 1


def test_a_cannot_link_keeps_equal_faces_apart() -> None:
    alike = [seen(photo(name, (face_at(1, "Ada"),), face_ids=("f",)), [face_at(1)]) for name in ("a", "b")]
    assert len(set(grouped(alike)[0].clusters.tolist())) == 1
    told = grouped(alike, cannot=((("a", "f"), ("b", "f")),))[0]
    assert len(set(told.clusters.tolist())) == 2


def test_constraints_that_contradict_each_other_are_told_with_the_file_and_the_faces() -> None:
    pair = ((("a", "f1"), ("b", "f2")),)
    with pytest.raises(
        ReferenceSetError, match=r"face_identities\.json: face a:f1 and face b:f2 are linked by must-links"
    ):
        grouped(apart("a", "b"), must=pair, cannot=pair)


def test_a_constraint_about_a_face_that_was_not_found_says_nothing() -> None:
    photos = [*apart("a", "b"), seen(photo("c", (face_at(5, "Ada"),), face_ids=("f5",)))]
    found, _ = grouped(photos, must=((("a", "f1"), ("c", "f5")),))
    assert found.must.tolist() == []


class TestTheThresholdOfClusters:
    """Its own, by the labels of the set; a search's, or a number, where somebody says so."""

    def test_it_is_the_search_s_or_a_number_where_the_config_says_so(self) -> None:
        photos = apart("a", "b")
        cases: tuple[tuple[Literal["search"] | float, float, str], ...] = (
            ("search", 0.7, "the threshold of a search"),
            (0.31, 0.31, "given"),
        )
        for how, whole, source in cases:
            found, _ = grouped(photos, how=replace(RULES, threshold=how))
            assert (found.point.whole, found.point.source) == (whole, source)
            assert set(found.point.thresholds) == {whole}

    def test_with_too_few_people_it_is_what_few_strangers_reach(self) -> None:
        six = [seen(photo(f"p{place}", (face_at(place, f"R{place}"),)), [face_at(place)]) for place in range(1, 7)]
        grouping = grouping_of(six, how=replace(RULES, threshold="calibrated"))
        point = grouping.point(search=0.7)
        assert point.source == "too few people with several labelled faces"
        assert point.whole == stranger_similarity(grouping.evidence.faces.vectors, REACHED_BY)
        assert point.people == 0

    def test_nobody_is_grouped_without_a_stranger_to_set_the_threshold_of_a_search(self) -> None:
        alike = [seen(photo(name, (face_at(1, "Ada"),)), [face_at(1)]) for name in ("a", "b")]
        grouping = grouping_of(alike, how=replace(RULES, threshold="search"))
        assert len(set(grouping.at(grouping.point(search=np.inf)).clusters.tolist())) == 2


@pytest.mark.slow
def test_a_run_has_the_headline_and_four_scorecards_and_no_vector_leaves_the_cache(
    harness: Harness, stored: None, tiny_set: Path, tmp_path: Path
) -> None:
    told = harness(f"references.root={tiny_set}", "references=staging", "preset=fast", *QUICK)
    assert told.code == 0, told.err
    assert "Of the 3 photos that 3 runners want, " in told.out
    for title in ("Runners find their photos", "Search by selfie", "Faces compared", "Clusters of faces"):
        assert title in told.out
    with sqlite3.connect(tmp_path / "cache" / "stages" / FILE) as database:
        rows = database.execute("SELECT value FROM answers WHERE stage = 'identity'").fetchall()
    vectors = [decoded(value) for (value,) in rows]
    assert [vector.dtype for vector in vectors] == [np.float32] * 3
    files = [path for path in (tmp_path / "mlruns").rglob("*") if path.is_file()]
    assert any(path.name == "run.json" for path in files)
    assert any(path.name == "report.html" for path in files)
    (returned,) = (read_returns(path.read_bytes()) for path in files if path.name == RETURNS_FILE)
    assert np.count_nonzero(returned.wanted) == 3
    signs = [sign for vector in vectors for sign in _signs(vector)]
    for path in files:
        content = path.read_bytes()
        assert not [sign for sign in signs if sign in content], path


@pytest.mark.slow
def test_embeddings_leave_the_cache_where_a_person_exports_them_and_score_as_the_run_did(
    harness: Harness, stored: None, tiny_set: Path, tmp_path: Path
) -> None:
    where = ("references=staging", f"references.root={tiny_set}")
    assert harness(*where, "preset=fast", "report.make=off", *QUICK).code == 0
    own = harness_api.load_run("latest")
    assert harness("export", "--format", "predictions", "latest", "without.jsonl").code == 0
    assert b"embedding" not in (tmp_path / "without.jsonl").read_bytes()
    told = harness("export", "--format", "predictions", "latest", "with.jsonl", "--embeddings")
    assert told.code == 0, told.err
    assert (
        "It has the embeddings of 3 faces and 0 selfies: whoever has the file can search for these people." in told.out
    )
    assert (tmp_path / "with.jsonl").stat().st_mode & 0o777 == 0o600
    predicts_the_same(harness, tiny_set, tmp_path)
    assert harness("score", "with.jsonl", *where, "report.make=off").code == 0
    given = harness_api.load_run("latest")
    compared = [
        name for name in own.metrics if name.startswith(("find/", "selfie/", "verify/", "cluster/", "identity/"))
    ]
    assert {"identity/threshold", "identity/cluster_threshold"} <= set(compared)
    assert {name: given.metrics.get(name) for name in compared} == {name: own.metrics[name] for name in compared}
    scored = harness("export", "--format", "predictions", "latest", "again.jsonl", "--embeddings")
    assert (scored.code, "it was scored from a file of predictions" in scored.err) == (2, True)
    assert not (tmp_path / "again.jsonl").exists()

    labels = tiny_set / "face_ground_truth.json"
    edited = json.loads(labels.read_text())
    next(iter(edited["photos"].values()))["boxes"][0]["identity"] = "Zoe"
    labels.write_text(json.dumps(edited))
    changed = harness("export", "--format", "predictions", own.id, "other.jsonl", "--embeddings")
    assert (changed.code, "have changed since, so that its embeddings cannot be made" in changed.err) == (1, True)
    assert not (tmp_path / "other.jsonl").exists()


def predicts_the_same(harness: Harness, tiny_set: Path, tmp_path: Path) -> None:
    """`predict` writes the embeddings that the run had, and those of selfies, only where a person asks for them."""
    photos, words = tiny_set / "photos", ("preset=fast", *(word for word in QUICK if not word.startswith("report")))
    told = harness("predict", str(photos), "made.jsonl", "--embeddings", "--selfies", str(photos), *words)
    assert told.code == 0, told.err
    assert "It has the embeddings of 3 faces and 3 selfies" in told.out
    assert (tmp_path / "made.jsonl").stat().st_mode & 0o777 == 0o600
    made = [json.loads(line) for line in (tmp_path / "made.jsonl").read_text().splitlines()]
    exported = {line["sha256"]: line for line in map(json.loads, (tmp_path / "with.jsonl").read_text().splitlines())}
    faces = {line["sha256"]: line["faces"] for line in made if "sha256" in line}
    assert faces == {sha256: line["faces"] for sha256, line in exported.items()}
    assert {line["selfie"]: line["embedding"] for line in made if "selfie" in line} == {
        sha256: own[0]["embedding"] for sha256, own in faces.items()
    }
    assert harness("predict", str(photos), "none.jsonl", *words).code == 0
    assert b"embedding" not in (tmp_path / "none.jsonl").read_bytes()
    for wrong, why in ((("--selfies", "."), "add --embeddings"), (("--embeddings", "identity=off"), "identity=off")):
        refused = harness("predict", str(photos), "no.jsonl", *wrong, *words)
        assert (refused.code, why in refused.err) == (2, True), refused.err


@pytest.mark.slow
def test_what_came_back_on_a_holdout_is_kept_nowhere(harness: Harness, tiny_set: Path, tmp_path: Path) -> None:
    index = json.loads((tiny_set / "photo_index.json").read_text())
    for sha256 in sorted(index["photos"])[:1]:
        index["photos"][sha256]["split"] = "holdout"
    (tiny_set / "photo_index.json").write_text(json.dumps(index))
    told = harness(
        f"references.root={tiny_set}", "references=staging", "references.split=holdout", "preset=fast", *QUICK
    )
    assert (told.code, "its scores are sealed" in told.out) == (0, True), told.out + told.err
    assert any(path.name == "config.yaml" for path in (tmp_path / "mlruns").rglob("*"))
    for place in (tmp_path, tiny_set):
        assert not list(place.rglob(RETURNS_FILE))


def _signs(vector: Vectors) -> list[bytes]:
    """What would stand in a file that has a vector: its bytes, in base64 at any of three places, or as text."""
    raw = vector.tobytes()[:24]
    texts = [f"{value:.5f}"[:-1].encode() for value in vector[:4].tolist() if abs(value) > 0.01]
    shifted = [base64.b64encode(bytes(shift) + raw)[8:-4] for shift in range(3)]
    joined = b", ".join(texts)
    return [raw, *shifted, joined, joined.replace(b", ", b",")]


@pytest.mark.slow
def test_a_run_on_the_holdout_takes_its_threshold_from_the_iteration_photos(tiny_set: Path, tmp_path: Path) -> None:
    index = json.loads((tiny_set / "photo_index.json").read_text())
    for sha256 in sorted(index["photos"])[:1]:
        index["photos"][sha256]["split"] = "holdout"
    (tiny_set / "photo_index.json").write_text(json.dumps(index))
    cache = f"cache.folder={tmp_path / 'cache'}"
    base = ["references=staging", f"references.root={tiny_set}", "preset=fast", cache, *QUICK]
    tasks = {}
    for split in ("iteration", "holdout"):
        found = build(compose([*base, f"references.split={split}"])).tasks
        (tasks[split],) = (task for task in found if isinstance(task, IdentityTask))
        tasks[split].photos.load()
    iteration, holdout = (tasks[split].evaluate(tmp_path, 0, quiet=True) for split in ("iteration", "holdout"))
    assert holdout.tags["identity.threshold.source"] == "set on the iteration photos"
    assert holdout.tags["identity.threshold"] == iteration.tags["identity.threshold"]
    assert iteration.tags["identity.threshold.source"] == "cross-fitted"
    assert holdout.tags["identity.cluster_threshold"] == iteration.tags["identity.cluster_threshold"]
    assert holdout.tags["identity.cluster_threshold.source"].startswith("set on the iteration photos")
