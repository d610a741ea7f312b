"""The photos' part of a report: what is newly broken and fixed, the worst photos, errors, curves and label suspects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from harness.base.texts import COMMAND, counted
from harness.pipeline.cache import StageCache
from harness.references.sets import ReferencePhoto
from harness.report.canvas import Picture, write_pictures
from harness.report.html import MOST_PICTURE_BYTES, Inlined, render
from harness.runs.comparison import Changed
from harness.runs.items import found_words
from harness.runs.plan import Showing, Shown, Table
from harness.runs.suspects import Suspect
from harness.scoring import (
    BibErrorScorecard,
    Cause,
    FaceErrorScorecard,
    LinkScorecard,
    MissedNumber,
    NumberScorecard,
)
from harness.scoring.cards import Counted
from harness.scoring.detection import Thresholds
from harness.scoring.links import CAUSES
from harness.scoring.numbers import expected_numbers, read_numbers
from harness.scoring.speed import pipeline_seconds
from harness.tasks.photos.figures import run_figures
from harness.tasks.photos.gallery import MOST_SUSPECTS, Gallery, make_gallery
from harness.tasks.photos.grid import write_grid
from harness.tasks.photos.mistakes import mistakes
from harness.tasks.photos.pictures import LONG_SIDE, draw_found, draw_photo
from harness.tasks.photos.predicting import EvaluatedPhoto, FailedPhoto
from harness.tasks.photos.scores import Scores
from harness.tasks.photos.shots import ReadPhoto, Shots
from harness.types import BibBox, PhotoPrediction

PICTURE_SIDE = 720
#: How many of the worst photos are files of the run, whatever the report draws.
WORST_FILES = 6
#: Missed numbers that are listed in the report; `photos.json` has all.
MOST_MISSED = 1000
LEGEND = (
    "Green frame: found. Red: MISSED, or misread. Orange: FALSE. Grey: not scored. Broad green line: a labelled link; "
    "thin orange line: a proposed one."
)
FOUND_LEGEND = (
    "Blue frame: a bib with the number that was read, or a face. Thin orange line: a bib with its face. "
    "Which of them are right is for labels to tell."
)
MEANINGS = {
    "bib_missed": "the face was found, its bib was not",
    "face_missed": "the bib was found, its face was not",
    "both_missed": "neither bib nor face was found",
    "not_linked": "both were found, and left without a partner",
    "linked_wrong": "both were found, and one of them linked elsewhere",
}

NUMBER_MEANINGS = {
    Cause.NOT_SEEN: "the reader saw no text where the number is",
    Cause.MISREAD: "another number was predicted there",
    Cause.PARTIAL: "a part of it was read, as in 33?",
    Cause.DROPPED: "it was seen, and a rule of the reader dropped what was read",
    Cause.UNREAD: "the bib was found, and no number predicted for it",
    Cause.NO_TRACE: "the reader does not tell what it saw and dropped",
}


def show_photos(
    showing: Showing,
    photos: Sequence[EvaluatedPhoto],
    scores: Scores,
    thresholds: Thresholds,
    suspects: Sequence[Suspect],
    read_photo: ReadPhoto,
    notes: Sequence[str] = (),
    kept: StageCache | None = None,
) -> Shown:
    """Write pictures and figures into the folder, and make the photos' part of the report, `notes` first. `kept` is
    where pictures that were made before are found."""
    folder, comparison = showing.folder, showing.comparison
    gallery = make_gallery(
        photos, scores.cards, comparison, suspects, thresholds, read_photo, scores.missed, showing.pictures, kept
    )
    drawn = _Drawn(scores, thresholds, gallery, showing)
    worst = [photo for photo in gallery.worst if photo.sha256 in gallery.pictures]
    for rank, photo in enumerate(worst[:WORST_FILES], start=1):
        if picture := drawn.whole(photo, photo.prediction, LONG_SIDE):
            (folder / f"worst_{rank}.jpg").write_bytes(picture)
    tags = write_grid(folder, gallery.mistakes, gallery.pictures)
    cards = scores.counted()
    errors = {
        what: kind.from_dict(cards[kind.DECLARED.name].counts)
        for what, kind in (("bib", BibErrorScorecard), ("face", FaceErrorScorecard))
        if kind.DECLARED.name in cards and cards[kind.DECLARED.name].counts
    }
    figures = run_figures(scores.behaviours, scores.slices, errors)
    write_pictures(folder, figures)
    left_out = max(0, len(suspects) - MOST_SUSPECTS)
    return Shown(_html(photos, scores, cards, drawn, figures, left_out, notes), tags)


def _html(
    photos: Sequence[EvaluatedPhoto],
    scores: Scores,
    cards: Mapping[str, Counted],
    drawn: _Drawn,
    figures: Sequence[Picture],
    suspects_left_out: int,
    notes: Sequence[str],
) -> str:
    gallery = drawn.gallery
    numbers = cards.get(NumberScorecard.DECLARED.name)
    missed = [(photo.name, each) for photo in photos for each in scores.missed.get(photo.sha256, ())]
    links = cards.get(LinkScorecard.DECLARED.name)
    return render(
        "photos.html",
        legend=LEGEND,
        notes=notes,
        unlabelled=gallery.unlabelled,
        command=COMMAND,
        found_words=found_words(photo.prediction for photo in photos) if gallery.unlabelled else "",
        found_legend=FOUND_LEGEND,
        found=[drawn.found(photo) for photo in gallery.found],
        found_left_out=len(photos) - len(gallery.found),
        compared=drawn.showing.comparison is not None,
        broken=list(drawn.changed(gallery.broken)),
        fixed=list(drawn.changed(gallery.fixed)),
        worst=[drawn.worst(photo) for photo in gallery.worst],
        linked=links is not None and bool(links.counts),
        causes=list(_causes(links)) if links else [],
        numbered=numbers is not None and bool(numbers.counts),
        number_causes=list(_number_causes([each for _, each in missed])),
        missed=[{"name": name, "number": each.number, "words": each.words()} for name, each in missed[:MOST_MISSED]],
        missed_left_out=max(0, len(missed) - MOST_MISSED),
        figures={figure.name: {"svg": Markup(figure.svg)} for figure in figures},  # made and escaped here
        suspects=list(drawn.suspects()),
        suspects_left_out=suspects_left_out,
    )


class _Drawn:
    """Draws the photos of a report into its page."""

    def __init__(
        self,
        scores: Scores,
        thresholds: Thresholds,
        gallery: Gallery,
        showing: Showing,
    ) -> None:
        self.thresholds, self.missed, self.showing = thresholds, scores.missed, showing
        self.photos = gallery.shown
        self.before = showing.comparison.base.predictions() if showing.comparison else {}
        self.gallery = gallery
        # A page stays below 10 MB, unless more pictures are asked for than it has by itself.
        self.inlined = Inlined(MOST_PICTURE_BYTES * max(showing.pictures, WORST_FILES) // WORST_FILES)

    def told(self, photo: EvaluatedPhoto, line: str, words: str) -> dict[str, Any]:
        """The caption of a photo: a line, all of it where that says more, and the address of its page if it has one."""
        pages = self.showing.photo_pages
        page = f"{pages}{photo.sha256}" if pages else None
        return {"name": photo.name, "line": line, "words": words if words != line else "", "page": page}

    def whole(self, photo: EvaluatedPhoto, found: PhotoPrediction, side: int) -> bytes | None:
        """A photo with what was found drawn on it, as JPEG."""
        shown = photo.name, photo.labels, replace(found, dropped=()), self.thresholds.bib_iou, self.thresholds.face_iou

        def draw(shots: Shots) -> bytes:
            return draw_photo(photo.photo, found, shots.whole, self.thresholds, side)

        return self.gallery.pictures.picture(photo.sha256, ("whole", side, shown), draw)

    def found(self, photo: EvaluatedPhoto) -> dict[str, Any]:
        """A photo without labels, with what was found on it."""
        seen = replace(photo.prediction, dropped=())
        what = ("found", PICTURE_SIDE, seen)
        picture = self.gallery.pictures.picture(
            photo.sha256, what, lambda shots: draw_found(seen, shots.whole, PICTURE_SIDE)
        )
        numbers = " ".join(sorted(read_numbers(seen))) or "no number"
        line = f"{numbers}, {counted(len(seen.bibs), 'bib')}, {counted(len(seen.faces), 'face')}"
        return self.told(photo, line, line) | {"after": self.inlined.jpeg(picture) if picture else None}

    def photo(self, photo: EvaluatedPhoto, found: PhotoPrediction) -> str | None:
        if photo.sha256 not in self.gallery.pictures:
            return None
        picture = self.whole(photo, found, PICTURE_SIDE)
        return self.inlined.jpeg(picture) if picture else None

    def worst(self, photo: EvaluatedPhoto) -> dict[str, Any]:
        wrong = list(mistakes([photo], self.thresholds, self.missed))
        kinds = Counter(mistake.kind for mistake in wrong)
        line = ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.items()) or "links are wrong"
        words = ", ".join(mistake.told for mistake in wrong)
        return self.told(photo, line, words or line) | {"after": self.photo(photo, photo.prediction)}

    def changed(self, photos: Iterable[Changed]) -> Iterator[dict[str, Any]]:
        for place, changes in enumerate(photos):
            photo = self.photos[changes[0].id]
            before = self.photo(photo, self.before[photo.sha256]) if place < self.showing.pictures else None
            after = self.photo(photo, photo.prediction) if before else None
            line, words = (
                "; ".join(texts) for texts in ([each.counts() for each in changes], [each.words() for each in changes])
            )
            yield self.told(photo, line, words) | {"before": before if after else None, "after": after}

    def suspects(self) -> Iterator[dict[str, Any]]:
        for item in self.gallery.suspects:
            what = f"bib {item.box.number or ''}".strip() if isinstance(item.box, BibBox) else "face"
            part = self.gallery.pictures.part(item.sha256, item.box)
            image = self.inlined.jpeg(part) if part else None
            yield {"name": self.photos[item.sha256].name, "what": what, "reason": item.reason, "image": image}


def _causes(links: Counted) -> Iterator[dict[str, Any]]:
    missed = links.counts.get("link_fn", 0)
    for cause in CAUSES if missed else ():
        count = links.counts.get(cause, 0)
        share, meaning = f"{count / missed:.0%}", MEANINGS[cause]
        yield {"name": cause.replace("_", " "), "count": count, "share": share, "meaning": meaning}


def _number_causes(missed: Sequence[MissedNumber]) -> Iterator[dict[str, Any]]:
    """The causes of missed numbers, most frequent first; those of rules each by its rule."""
    counts = Counter((each.cause, each.rule if each.cause is Cause.DROPPED else "") for each in missed)
    for (cause, rule), count in counts.most_common():
        name = f"dropped by {rule}" if rule else cause.replace("_", " ")
        yield {"name": name, "count": count, "share": f"{count / len(missed):.0%}", "meaning": NUMBER_MEANINGS[cause]}


def photo_table(photos: Sequence[EvaluatedPhoto], failed: Sequence[FailedPhoto], scores: Scores) -> Table:
    """One row a photo: what was expected, what was read, what went wrong. Failed photos stand last."""
    gap: list[Any] = [None] * len(failed)
    clock = scores.costs.timed
    rows = [_row(item, scores, clock) for item in photos]
    rows += [(item.photo.name, "FAILED", _expected(item.photo), None, None, None, item.photo.sha256) for item in failed]
    names = ("photo", "status", "expected", "read", "missed", "seconds", "sha256")
    found = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    table: dict[str, list[Any]] = {name: found[name] for name in names[:5]}
    for name, card in scores.cards.items():
        if (ledger := card.declared.ledger) is not None and ledger.found in card.columns:
            for short, count in (("tp", ledger.found), ("fp", ledger.invented), ("fn", ledger.missed)):
                table[f"{name}_{short}"] = [*card.columns[count].tolist(), *gap]
    errors = [None] * len(photos) + [item.reason for item in failed]
    return {**table, "seconds": found["seconds"], "error": errors, "sha256": found["sha256"]}


def _row(item: EvaluatedPhoto, scores: Scores, clock: bool) -> tuple[Any, ...]:
    missed = "; ".join(f"{each.number}: {each.words()}" for each in scores.missed.get(item.sha256, ()))
    read = " ".join(sorted(read_numbers(item.prediction)))
    seconds = round(pipeline_seconds(item.seconds), 3) if clock else None
    return item.name, scores.status(item), _expected(item.photo), read, missed, seconds, item.sha256


def _expected(photo: ReferencePhoto) -> str:
    return " ".join(sorted(expected_numbers(photo.labels)))
