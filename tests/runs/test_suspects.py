"""Labels that may be wrong, by the testimony of several runs."""

from __future__ import annotations

from dataclasses import replace

from harness.runs.suspects import find_suspects
from harness.types import BibBox, BibScope, DroppedText, FaceBox, FaceScope, PhotoLabels, PhotoPrediction
from tests.report.reports import FACE, LABELS, RIGHT, THRESHOLDS, evaluation_of, run_of

STRANGER = FaceBox(x=0.7, y=0.2, w=0.1, h=0.15, score=0.8)
NEARLY = FaceBox(x=0.71, y=0.21, w=0.1, h=0.15, score=0.6)
SHA = f"{0:064x}"


def seeing(*faces: FaceBox, score: float = 0.9) -> PhotoPrediction:
    """The labelled face, seen with some score, and others."""
    return PhotoPrediction(faces=(replace(FACE, score=score), *faces))


def suspects(*predictions: PhotoPrediction, labels: PhotoLabels = LABELS) -> list[tuple[str, int, int, bool]]:
    runs = [run_of(evaluation_of([each], [labels])) for each in predictions]
    found = find_suspects({SHA: labels}, runs, THRESHOLDS)
    return [(item.kind, item.runs, item.witnesses, item.ignored) for item in found]


def test_what_most_runs_see_and_no_label_explains_is_suspect() -> None:
    assert suspects(seeing(STRANGER), seeing(NEARLY), seeing()) == [("face", 2, 3, False)]


def test_what_only_half_of_the_runs_see_is_a_mistake_of_theirs() -> None:
    assert suspects(seeing(STRANGER), seeing()) == []


def test_runs_that_predict_the_same_are_one_witness_and_one_is_none() -> None:
    assert suspects(seeing(STRANGER), seeing(STRANGER)) == []
    assert suspects(seeing(STRANGER), seeing(STRANGER), seeing(STRANGER, score=0.8)) == [("face", 2, 2, False)]
    text = DroppedText(x=0.1, y=0.1, w=0.1, h=0.1, text="RUN", rule="format")
    assert suspects(seeing(STRANGER), replace(seeing(STRANGER), dropped=(text,))) == []


def test_a_box_in_an_ignore_region_is_suspect_while_the_newest_run_sees_it() -> None:
    region = replace(LABELS, faces=(FACE, replace(STRANGER, scope=FaceScope.UNCERTAIN, score=None)))
    assert suspects(seeing(STRANGER), labels=region) == [("face", 1, 1, True)]
    assert suspects(seeing(), seeing(STRANGER), labels=region) == []
    obscured = PhotoLabels(bibs=(BibBox(x=0.1, y=0.1, w=0.2, h=0.2, scope=BibScope.BIB_OBSCURED),))
    bib = PhotoPrediction(bibs=(BibBox(x=0.1, y=0.1, w=0.2, h=0.2, number="7", score=0.9),))
    assert suspects(bib, labels=obscured) == [("bib", 1, 1, True)]
    part = PhotoPrediction(bibs=(replace(bib.bibs[0], number="7?"),))
    assert suspects(part, labels=obscured) == []  # it says what the label says


def test_what_a_person_called_no_face_is_settled() -> None:
    settled = replace(LABELS, faces=(FACE, replace(STRANGER, scope=FaceScope.EXCLUDE, score=None)))
    assert suspects(seeing(STRANGER), seeing(NEARLY), labels=settled) == []


def test_a_run_that_never_saw_the_photo_has_no_say() -> None:
    elsewhere = run_of(evaluation_of([seeing(), seeing(STRANGER)]))
    task = elsewhere.tasks["photos"]
    elsewhere = replace(elsewhere, tasks={"photos": replace(task, items=task.items[1:])})
    runs = [elsewhere, *(run_of(evaluation_of([each])) for each in (seeing(STRANGER), seeing(NEARLY)))]
    (found,) = find_suspects({SHA: LABELS}, runs, THRESHOLDS)
    assert (found.runs, found.witnesses) == (2, 2)


def test_runs_that_agree_on_the_photos_they_share_are_one_witness() -> None:
    runs = [run_of(evaluation_of(each)) for each in ([seeing(STRANGER)], [seeing(STRANGER), seeing()])]
    assert find_suspects({SHA: LABELS}, runs, THRESHOLDS) == ()


def test_a_photo_that_nobody_labelled_has_no_suspects() -> None:
    assert suspects(seeing(STRANGER), seeing(NEARLY), labels=PhotoLabels()) == []


def test_photos_that_are_not_asked_about_are_left_alone() -> None:
    runs = [run_of(evaluation_of([seeing(STRANGER)])), run_of(evaluation_of([seeing(NEARLY)]))]
    assert find_suspects({}, runs, THRESHOLDS) == ()


def test_the_box_is_that_of_the_newest_run_and_most_witnesses_come_first() -> None:
    second = FaceBox(x=0.1, y=0.6, w=0.1, h=0.15, score=0.99)
    predictions = [seeing(NEARLY, second), seeing(STRANGER, second), seeing(STRANGER), RIGHT]
    runs = [run_of(evaluation_of([each])) for each in predictions]
    (found,) = find_suspects({SHA: LABELS}, runs, THRESHOLDS)
    assert (found.box, found.reason) == (NEARLY, "no label there; seen by 3 of 4 runs")


def test_a_run_that_predicts_no_faces_is_no_witness() -> None:
    seen = [seeing(STRANGER), seeing(NEARLY), PhotoPrediction()]
    runs = [run_of(evaluation_of([each])) for each in seen]
    photos = replace(runs[2].tasks["photos"], absent=("faces", "links"))
    blind = replace(runs[2], tasks={"photos": photos})
    (found,) = find_suspects({SHA: LABELS}, [*runs[:2], blind], THRESHOLDS)
    assert (found.runs, found.witnesses) == (2, 2)
