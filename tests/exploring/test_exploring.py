"""Stored runs photo by photo: rows, selections, layers, notes, and what is told where photos are not here."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import ConfigError, QueryError
from harness.exploring.layers import marks, photo_layers
from harness.exploring.notes import keep_note, notes_on
from harness.exploring.opened import OpenedRun, OpenedRuns, open_run
from harness.exploring.photo_sets import photo_set
from harness.exploring.rows import Row, differences
from harness.exploring.selection import Facets, Selection
from harness.report.comparisons import comparison_dict
from harness.runs.comparison import Change
from harness.runs.gate import Gate
from harness.tracking.catalog import load_run
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoPrediction
from tests.exploring.scored import Scored

LOST, MISREAD, FALSE = "P001.jpg", "P005.jpg", "P006.jpg"


def row(opened: OpenedRun, name: str) -> Row:
    return next(row for row in opened.rows if row.name == name)


def test_each_photo_says_what_is_wrong_and_why(opened: OpenedRun) -> None:
    assert row(opened, LOST).mistakes == {"missed_faces": 1, "missed_links": 1}
    assert row(opened, LOST).causes == {"link: face missed"}
    assert row(opened, LOST).words() == "1 face missed, 1 link missed"
    assert row(opened, MISREAD).mistakes == {"missed_numbers": 1, "false_numbers": 1, "misread_bibs": 1}
    assert row(opened, MISREAD).causes == {"number: misread"}
    assert row(opened, MISREAD).numbers == {"2085", "9"}
    assert row(opened, FALSE).mistakes == {"false_numbers": 1, "false_bibs": 1}
    assert row(opened, LOST).people == {"P001"}


def test_newly_broken_is_what_compare_and_the_report_call_so(opened: OpenedRun, scored: Scored) -> None:
    assert opened.comparison is not None
    told = comparison_dict(opened.comparison, scored.run, scored.base)["photos"]
    assert {photo["sha256"] for photo in told} == {row.sha256 for row in opened.rows if row.change}
    assert opened.facets.changes == {Change.BROKEN: 3}
    assert opened.base is not None
    assert opened.base.run_id == scored.base
    assert opened.comparison.run is opened.run, "it is read and held once"
    backwards = open_run(scored.store.open(), Gate(strict=False), scored.base, scored.run)
    assert backwards.facets.changes == {Change.FIXED: 3}


def test_a_selection_takes_what_fits_all_of_it_in_order(opened: OpenedRun) -> None:
    def names(**chosen: Any) -> list[str]:
        return [row.name for row in Selection(**chosen).among(opened.rows)]

    assert names(sort="name") == [LOST, MISREAD, FALSE]
    assert names(mistake="missed_links") == [LOST]
    assert names(mistake="any", number="77") == [FALSE]
    assert names(cause="number: misread") == [MISREAD]
    assert names(person="P001", name="p0") == [LOST]
    assert names(change="fixed") == []
    assert names(change="any", least=0.25, most=0.35) == [FALSE]
    assert names(least=0.85) == [LOST]
    assert names(differs=True, sort="name") == [LOST, MISREAD, FALSE]
    assert names(mistake="missed_links", cause="number: misread") == []


def test_worst_first_and_biggest_change_first() -> None:
    rows = [Row("a", "a", 1, {}), Row("b", "b", 3, {}), Row("c", "c", 2, {}, change=Change.FIXED, worse=-2)]
    rows.append(Row("d", "d", 0, {}, change=Change.BROKEN, worse=4))
    assert [each.name for each in Selection(sort="worst").among(rows)] == ["b", "c", "a", "d"]
    assert [each.name for each in Selection(sort="change").among(rows)][:2] == ["d", "c"]


def test_a_choice_that_no_photo_has_is_refused_and_a_selection_survives_its_address(opened: OpenedRun) -> None:
    with pytest.raises(QueryError, match=r"mistake=missed_lynx: no photo of this run has it; there: .*missed_links"):
        Selection(mistake="missed_lynx").check(opened.facets)
    Selection(mistake="any", cause="link: face missed").check(opened.facets)
    assert Selection(mistake="missed_links", sort="name").query == "?mistake=missed_links&sort=name"
    assert Selection().query == ""
    assert Facets(opened.rows).wrong == 3


def test_every_box_has_its_fate_by_the_rules_of_the_scorecards(opened: OpenedRun, scored: Scored) -> None:
    layers = photo_layers(opened, scored.photos[LOST].sha256)
    assert [(box["kind"], box["state"]) for box in layers["run"]["labels"]] == [("bib", "found"), ("face", "missed")]
    assert [(link["side"], link["state"], link["why"]) for link in layers["run"]["links"]] == [
        ("label", "missed", "face missed")
    ]
    assert [(link["side"], link["state"]) for link in layers["base"]["links"]] == [
        ("prediction", "right"),
        ("label", "found"),
    ]
    misread = photo_layers(opened, scored.photos[MISREAD].sha256)["run"]
    assert [(box["text"], box["state"], box["why"]) for box in misread["labels"] if box["kind"] == "bib"] == [
        ("2085", "misread", "read as 9")
    ]
    false = scored.photos[FALSE].sha256
    assert [(box["state"], box["score"]) for box in photo_layers(opened, false)["run"]["predictions"]] == [
        ("false", 0.3),
        ("right", 0.8),
    ]
    assert marks(opened, [false]) == {false: [("false", [0.1, 0.1, 0.1, 0.1])]}


def test_what_is_wrong_in_the_layers_adds_up_to_the_counts_of_the_run(opened: OpenedRun, scored: Scored) -> None:
    for photo in scored.photos.values():
        side, own = photo_layers(opened, photo.sha256)["run"], opened.by_hash[photo.sha256].mistakes
        for kind in ("bib", "face"):
            missed = sum(box["state"] == "missed" and box["kind"] == kind for box in side["labels"])
            false = sum(box["state"] == "false" and box["kind"] == kind for box in side["predictions"])
            assert (missed, false) == (own.get(f"missed_{kind}s", 0), own.get(f"false_{kind}s", 0))
        links = [link["state"] for link in side["links"]]
        assert (links.count("missed"), links.count("false")) == (own.get("missed_links", 0), own.get("false_links", 0))


def test_labels_that_have_changed_since_are_told(scored: Scored, tmp_path: Path) -> None:
    run = load_run(scored.store.open(), scored.run)
    moved = Path(shutil.copytree(scored.root, tmp_path / "set"))
    config = {**run.metadata.config, "references.root": str(moved)}
    run = replace(run, metadata=replace(run.metadata, config=config))
    assert (photo_set(run).changed, photo_set(run).problem) == (False, "")
    labels = moved / "bib_ground_truth.json"
    labels.write_text(labels.read_text().replace("2085", "2086"))
    assert photo_set(run).changed
    shutil.rmtree(moved)
    assert photo_set(run).problem == f"its photos and labels are not here: there is no {moved}"
    assert photo_set(run).photos == {}


def test_a_stored_config_is_no_reason_to_import_code(scored: Scored) -> None:
    run = load_run(scored.store.open(), scored.run)
    config = {**run.metadata.config, "references._target_": "antigravity.Set"}
    found = photo_set(replace(run, metadata=replace(run.metadata, config=config)))
    assert found.problem == "its photos and labels are not here: antigravity.Set is a set of its own"


def test_opened_runs_are_read_once_and_anew_when_labels_change(
    scored: Scored, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []

    def counting(store: Any, gate: Gate, run_id: str, *others: Any) -> OpenedRun:
        reads.append(run_id)
        return open_run(store, gate, run_id, *others)

    monkeypatch.setattr("harness.exploring.opened.open_run", counting)
    root = Path(shutil.copytree(scored.root, tmp_path / "set"))
    monkeypatch.setattr("harness.exploring.photo_sets._folder", lambda _: root)
    runs = OpenedRuns(scored.store, Gate(strict=False))
    first = runs.get(scored.run, wait=60)
    assert first is not None
    assert runs.get(scored.run) is first
    assert reads == [scored.run]
    labels = root / "bib_ground_truth.json"
    labels.write_text(labels.read_text().replace("2085", "2086"))
    while (second := runs.get(scored.run)) is first:
        assert second is not None  # the old one, until the new one is there
    keep_note(scored.store, scored.run, scored.photos[LOST].sha256, "seen")
    while (third := runs.get(scored.run)) is second:
        pass
    assert second is not None
    assert third is not None
    assert third.rows is second.rows  # what has not changed is not made anew
    assert "seen" in third.notes.values()
    with pytest.raises(ConfigError, match="nobody: no run has this id or name"):
        runs.get("nobody", wait=60)


def test_notes_are_kept_with_the_run_and_none_replaces_another(scored: Scored) -> None:
    photo = scored.photos[LOST].sha256
    keep_note(scored.store, scored.run, photo, "a helmet")
    notes = keep_note(scored.store, scored.run, photo, "and <b>rain</b>")
    assert [text for _, text in notes_on(notes, photo)][-2:] == ["a helmet", "and <b>rain</b>"]
    assert notes_on(notes, scored.photos[MISREAD].sha256) == []


UNIT = st.floats(0.05, 0.4)
BIBS = st.builds(BibBox, x=UNIT, y=UNIT, w=UNIT, h=UNIT, number=st.sampled_from(["1", "22", None]))
FACES = st.builds(FaceBox, x=UNIT, y=UNIT, w=UNIT, h=UNIT)


@st.composite
def predictions(draw: st.DrawFn) -> PhotoPrediction:
    bibs, faces = draw(st.lists(BIBS, max_size=3)), draw(st.lists(FACES, max_size=3))
    pairs = [BibFaceLink(bib, face) for bib in range(len(bibs)) for face in range(len(faces))]
    links = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=2)) if pairs else []
    return PhotoPrediction(tuple(bibs), tuple(faces), tuple(links))


@given(st.lists(predictions(), max_size=4), st.lists(predictions(), max_size=4))
def test_predictions_differ_from_others_and_not_from_themselves(
    some: list[PhotoPrediction], others: list[PhotoPrediction]
) -> None:
    assert differences(some, some) == [0] * len(some)
    length = min(len(some), len(others))
    alone = [len(each.bibs) + len(each.faces) + len(each.links) for each in some]
    assert differences(some, [PhotoPrediction()] * len(some)) == alone
    there, back = differences(some[:length], others[:length]), differences(others[:length], some[:length])
    assert [bool(each) for each in there] == [bool(each) for each in back]


def test_a_difference_is_a_box_a_number_or_a_link() -> None:
    bib, face = BibBox(x=0.1, y=0.1, w=0.2, h=0.2, number="7"), FaceBox(x=0.5, y=0.1, w=0.2, h=0.2)
    whole = PhotoPrediction((bib,), (face,), (BibFaceLink(0, 0),))
    near = replace(whole, bibs=(replace(bib, x=0.105),))
    assert differences([whole], [near]) == [0]
    assert differences([whole], [replace(whole, bibs=(replace(bib, number="8"),))]) == [1]
    assert differences([whole], [replace(whole, links=())]) == [1]
    assert differences([whole], [replace(whole, faces=(face, replace(face, x=0.8, w=0.1)))]) == [1]


def test_a_run_without_a_baseline_is_shown_alone(scored: Scored) -> None:
    alone = open_run(scored.store.open(), Gate(strict=False), scored.base)
    assert alone.comparison is None
    assert "itself the baseline" in alone.alone
    assert {row.change for row in alone.rows} == {None}
    assert json.dumps(photo_layers(alone, alone.rows[0].sha256)["run"])
