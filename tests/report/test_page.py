"""The report of a run: complete with and without a baseline, self-contained, small, and safe to open."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.report.comparisons import comparison_dict, text_comparison
from harness.report.html import Inlined
from harness.runs.archive import PHOTOS
from harness.runs.plan import Drawing
from harness.tasks.photos import section
from harness.tasks.photos.predicting import FailedPhoto
from harness.types import DroppedText, FaceBox, PhotoLabels
from tests.report.reports import LABELS, NOTHING, RIGHT, Told, evaluation_of, photo_of, report_of, run_of

HOSTILE = "<script>alert(1)</script>\"'&$x$"
SECTIONS = ("scorecards", "worst", "errors", "curves", "suspects", "config", "provenance")


@pytest.fixture
def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Told], str]:
    """Makes the page without its figures, which take longest."""
    monkeypatch.setattr(section, "run_figures", lambda *_: ())
    return lambda told: told.page(Path(tempfile.mkdtemp(dir=tmp_path)))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of a run whose every name is hostile."""
    folder = tmp_path_factory.mktemp("run")
    tagged = replace(LABELS, bib_tags=(HOSTILE,), face_tags=(HOSTILE,))
    hostile = evaluation_of([NOTHING, RIGHT], [tagged, tagged], name=HOSTILE)
    told = report_of(hostile, evaluation_of([RIGHT, RIGHT], [tagged, tagged]), note=HOSTILE, data=HOSTILE)
    replace(told, report=replace(told.report, config_yaml=HOSTILE)).page(folder)
    return folder


def test_lost_faces_are_seen_beside_the_baseline(page_of: Callable[[Told], str]) -> None:
    lost = replace(RIGHT, faces=(), links=())
    page = page_of(report_of(evaluation_of([lost] * 12), evaluation_of([RIGHT] * 12)))
    assert "REGRESSED" in page
    assert "face/recall fell from 100.0% to 0.0%" in page
    assert "Newly broken: 12 photos" in page
    assert "1 face lost" in page
    assert page.count("<span>baseline</span>") == page.count("<span>this run</span>") == 6
    assert "the bib was found, its face was not" in page
    assert "Newly fixed: 0 photos" in page


def test_as_many_pictures_are_drawn_as_are_asked_for(page_of: Callable[[Told], str]) -> None:
    lost = replace(RIGHT, faces=(), links=())
    told = report_of(evaluation_of([lost] * 12), evaluation_of([RIGHT] * 12))
    for asked in (0, 2, 24):
        page = page_of(replace(told, report=replace(told.report, drawing=Drawing(asked))))
        assert page.count("<span>baseline</span>") == min(asked, 12)
        assert "Newly broken: 12 photos" in page, "the others are named"
        assert page.count('alt="this run on') == 2 * min(asked, 12), "of the changed photos and of the worst"


def test_a_caption_is_one_line_and_the_rest_is_folded(page_of: Callable[[Told], str]) -> None:
    page = page_of(report_of(evaluation_of([NOTHING]), evaluation_of([RIGHT])))
    line = re.search(
        r'<div class="told"><b>photo-0.jpg</b>: (.*?)</div><details><summary>all of it</summary>(.*?)</d', page
    )
    assert line is not None
    assert line[1] == "1 number lost; 1 bib lost; 1 face lost; 1 link lost"
    assert line[2].startswith("1 number lost (-417: no trace")


def test_photos_link_to_the_explorer_only_where_it_is_served(page_of: Callable[[Told], str]) -> None:
    told = report_of(evaluation_of([NOTHING]), evaluation_of([RIGHT]))
    served = replace(told.report, run_id="a" * 32, drawing=Drawing(explorer="http://127.0.0.1:8484"))
    address = f'<a href="http://127.0.0.1:8484/runs/{"a" * 32}/photos/{0:064x}">photo-0.jpg</a>'
    assert page_of(replace(told, report=served)).count(address) == 2
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page_of(told)) == []


def test_the_report_and_compare_count_the_same_newly_broken_photos(page_of: Callable[[Told], str]) -> None:
    """One photo lost its face, one lost a face while a false one is gone, one got better, one is as it was."""
    false = FaceBox(x=0.7, y=0.2, w=0.1, h=0.15, score=0.8)
    lost, more = replace(RIGHT, faces=(), links=()), replace(RIGHT, faces=(*RIGHT.faces, false))
    told = report_of(evaluation_of([lost, lost, RIGHT, RIGHT]), evaluation_of([RIGHT, more, lost, RIGHT]))
    assert told.report.comparison is not None
    page, text = page_of(told), text_comparison(told.report.comparison, "a", "b")
    data = comparison_dict(told.report.comparison, "a", "b")
    assert "Newly broken: 2 photos" in page
    assert "Newly broken (2 photos)" in text
    assert len(data["newly_broken"]) == len(told.report.comparison.newly_broken(PHOTOS)) == 2
    assert "Newly fixed: 1 photo<" in page
    assert "Newly fixed (1 photo)" in text


def test_each_missed_number_is_told_with_its_cause_and_each_rule_with_its_count(page_of: Callable[[Told], str]) -> None:
    seen = DroppedText(x=0.4, y=0.5, w=0.1, h=0.1, text="4<7", rule="min_char_score", value=0.46, limit=0.5)
    photos = [replace(NOTHING, dropped=(seen,)), NOTHING, replace(NOTHING, dropped=(seen,)), RIGHT]
    page = page_of(report_of(evaluation_of(photos, traced=True)))
    assert '<th>dropped by min_char_score</th><td class="number">2</td>' in page
    assert '<th>not seen</th><td class="number">1</td>' in page
    words = "dropped by min_char_score 0.46 &lt; 0.5, read &#34;4&lt;7&#34;"
    assert page.count(f"<td>417</td><td>{words}</td>") == 2
    assert f"missed bib 417 ({words})" in page, "the caption of a photo says it as well"
    assert "1 not seen, 0 misread, 0 read in part, 2 dropped by a rule" in page
    untraced = page_of(report_of(evaluation_of(photos[1:2])))
    assert "<td>no trace: the reader does not tell what it saw</td>" in untraced
    assert "not seen</th>" not in untraced
    assert "No number was missed." in page_of(report_of(evaluation_of([RIGHT])))


def test_without_a_baseline_the_report_is_complete_and_says_so(page_of: Callable[[Told], str]) -> None:
    page = page_of(report_of(evaluation_of([RIGHT, NOTHING])))
    assert "NO BASELINE" in page
    assert "There is no baseline to compare with" in page
    assert [name for name in SECTIONS if f'id="{name}"' not in page] == []
    assert "Newly broken" not in page


def test_failed_photos_are_named_with_their_reasons(page_of: Callable[[Told], str]) -> None:
    failed = FailedPhoto(replace(photo_of(15, LABELS), name="torn.jpg"), "truncated file")
    page = page_of(report_of(evaluation_of([RIGHT], failed=[failed])))
    assert "INCOMPLETE" in page
    assert re.search(r"<th>torn\.jpg</th><td[^>]*>truncated file</td>", page)


def test_a_run_that_predicts_nothing_and_an_empty_set_are_told_too(page_of: Callable[[Told], str]) -> None:
    for predictions in ([NOTHING], []):
        assert "Nothing was predicted with a score." in page_of(report_of(evaluation_of(predictions)))


def test_names_cannot_break_out_of_the_page(written: Path) -> None:
    page = (written / "report.html").read_text()
    assert page.count("alert(1)") > 5
    assert "<script" not in page
    figures = re.findall(r"<svg role.*?</svg>", page, re.DOTALL)
    assert len(figures) == 4
    for svg in figures:
        ElementTree.fromstring(svg)


def test_the_page_needs_nothing_but_itself(written: Path) -> None:
    page = (written / "report.html").read_text()
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page) == []
    assert "url(http" not in page
    assert len(page) < 10_000_000


def test_pictures_stop_where_the_page_would_grow_too_large() -> None:
    inlined = Inlined(room=100)
    assert inlined.jpeg(b"x" * 40) is not None
    assert inlined.jpeg(b"x" * 40) is None


def test_suspects_are_shown_with_their_witnesses(page_of: Callable[[Told], str]) -> None:
    unlabelled = FaceBox(x=0.7, y=0.2, w=0.1, h=0.15, score=0.8)
    seen = evaluation_of([replace(RIGHT, faces=(*RIGHT.faces, unlabelled))])
    other = run_of(evaluation_of([replace(RIGHT, faces=(unlabelled,), links=())]))
    page = page_of(report_of(seen, witnesses=[other]))
    assert re.search(r"<b>face</b> on photo-0\.jpg<br>no label there; seen by 2 of 2 runs", page)


def test_figures_lie_at_the_root_for_mlflows_compare_page(written: Path) -> None:
    for name in ("precision_recall", "reliability", "error_types", "slices"):
        drawn = ElementTree.fromstring((written / f"{name}.svg").read_text())
        assert drawn.get("color") == "#1f2329", "by itself it has an ink and a ground of its own"
        assert drawn[0].get("fill") == "#ffffff"
        assert int(drawn.get("width", 0)) > 900, "MLflow shows nothing of a file without a size"


def test_a_run_without_labels_shows_what_was_found_and_claims_nothing(page_of: Callable[[Told], str]) -> None:
    page = page_of(report_of(evaluation_of([NOTHING, *[RIGHT] * 15], [PhotoLabels()] * 16)))
    assert "Found in 16 photos: 15 bibs, 15 of them with a number, 15 faces and 15 links between the two." in page
    pictures = re.findall(r'alt="found on ([^"]+)"', page)
    assert pictures == [f"photo-{number}.jpg" for number in range(1, 13)], "a dozen, of those with anything on them"
    assert "417, 1 bib, 1 face" in page
    assert "4 more photos can be seen in <code>harness ui</code>" in page
    assert "harness start FOLDER" in page
    for claim in (
        "Worst photos",
        "No photo has an error",
        "MISSED",
        "FALSE",
        "No number was missed",
        "Label suspects",
        "n/a",
    ):
        assert claim not in page


def test_of_a_run_without_labels_no_more_is_drawn_than_is_asked_for(page_of: Callable[[Told], str]) -> None:
    told = report_of(evaluation_of([RIGHT] * 20, [PhotoLabels()] * 20))
    for asked, drawn in ((0, 0), (2, 12), (15, 15)):
        page = page_of(replace(told, report=replace(told.report, drawing=Drawing(asked))))
        assert page.count('alt="found on ') == drawn


def test_one_label_is_enough_for_a_report_of_errors(page_of: Callable[[Told], str]) -> None:
    page = page_of(report_of(evaluation_of([RIGHT, RIGHT], [PhotoLabels(), PhotoLabels(faces=())])))
    assert "What was found" not in page
    assert "Worst photos" in page
