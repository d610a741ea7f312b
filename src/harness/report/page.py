"""The report of a run: one page that says whether it is better, where it is not, and what it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from harness.report.canvas import Picture
from harness.report.content import RunReport
from harness.report.gallery import MOST_CHANGED, MOST_SUSPECTS, ChangedPhoto, Gallery
from harness.report.html import Inlined, render
from harness.report.mistakes import Shots, mistakes
from harness.report.pictures import draw_photo, jpeg
from harness.report.verdicts import MEANINGS, TONES, moved
from harness.results import EvaluatedPhoto
from harness.runs.gate import MetricVerdict
from harness.runs.suspects import Suspect
from harness.scoring import LinkScorecard
from harness.scoring.format import scorecard_sections
from harness.types import BibBox, PhotoPrediction

PICTURE_SIDE = 720
FOREST_WIDTH = 190
LEGEND = (
    "Green frame: found. Red: MISSED, or misread. Orange: FALSE. Grey: not scored. Broad green line: a labelled link; "
    "thin orange line: a proposed one."
)
#: The scorecards' headlines: section, row and title.
TILES = (
    ("Numbers", "F1", "Numbers, F1"),
    ("Bib reading (OCR)", "accuracy", "Bibs read exactly"),
    ("Bib detection", "F1", "Bibs found, F1"),
    ("Face detection", "F1", "Faces found, F1"),
    ("Bib-face links", "F1", "Links, F1"),
)
CAUSES = {
    "bib missed": "the face was found, its bib was not",
    "face missed": "the bib was found, its face was not",
    "both missed": "neither bib nor face was found",
    "not linked": "both were found, and left without a partner",
    "linked wrong": "both were found, and one of them linked elsewhere",
}


def run_page(report: RunReport, gallery: Gallery, figures: Sequence[Picture]) -> str:
    """The page."""
    run, comparison = report.run, report.comparison
    tone, sign = TONES[report.judgement.verdict]
    meaning = MEANINGS[report.judgement.verdict]
    drawn = _Drawn(report, gallery.shots)
    sections = list(scorecard_sections(**run.cards, intervals=run.intervals))
    return render(
        "run.html",
        run=run,
        data=run.metadata,
        photos=run.photos,
        judgement=replace(report.judgement, reasons=(*moved(report.judgement), *report.judgement.reasons)),
        verdict={"tone": tone, "sign": sign, "word": str(report.judgement.verdict), "meaning": meaning},
        deltas=list(_deltas(report.judgement.metrics)),
        baseline=comparison.base if comparison else None,
        baseline_id=report.baseline_id,
        compared=report.comparable is not None,
        tiles=[
            {"title": title, "value": row.value, "interval": row.interval, "basis": row.basis}
            for name, label, title in TILES
            for section in sections
            for row in section.rows
            if (section.title, row.label) == (name, label)
        ],
        sections=sections,
        extras=[
            {"name": extra.name, "text": extra.text, "html": Markup(extra.html)}  # escaped where it is made
            for extra in report.evaluation.extras
        ],
        legend=LEGEND,
        broken=list(drawn.changed(gallery.broken)),
        fixed=list(drawn.changed(gallery.fixed)),
        worst=[drawn.worst(photo) for photo in gallery.worst],
        causes=list(_causes(run.link_scorecard)),
        figures={figure.name: {"svg": Markup(figure.svg)} for figure in figures},  # made here, escaped by matplotlib
        suspects=list(drawn.suspects(report.suspects[:MOST_SUSPECTS])),
        suspects_left_out=max(0, len(report.suspects) - MOST_SUSPECTS),
        config_changes=comparison.config if comparison else (),
        config_yaml=report.config_yaml,
        provenance=list(_provenance(report)),
    )


class _Drawn:
    """Draws the photos of a report into its page."""

    def __init__(self, report: RunReport, shots: Mapping[str, Shots]) -> None:
        self.thresholds = report.evaluation.thresholds
        self.photos = {photo.sha256: photo for photo in report.evaluation.evaluated}
        base = report.comparison.base.photo_results if report.comparison else ()
        self.before = {photo.sha256: photo.prediction for photo in base}
        self.shots, self.inlined = shots, Inlined()

    def photo(self, photo: EvaluatedPhoto, prediction: PhotoPrediction) -> str | None:
        if photo.sha256 not in self.shots:
            return None
        seen = replace(photo, prediction=prediction)
        picture = draw_photo(seen, self.shots[photo.sha256].whole, self.thresholds, PICTURE_SIDE)
        return self.inlined.jpeg(picture)

    def worst(self, photo: EvaluatedPhoto) -> dict[str, Any]:
        words = ", ".join(mistake.words for mistake in mistakes([photo], self.thresholds)) or "links are wrong"
        return {"name": photo.name, "words": words, "after": self.photo(photo, photo.prediction)}

    def changed(self, photos: Iterable[ChangedPhoto]) -> Iterator[dict[str, Any]]:
        for place, changes in enumerate(photos):
            photo = self.photos[changes[0].sha256]
            before = self.photo(photo, self.before[photo.sha256]) if place < MOST_CHANGED else None
            after = self.photo(photo, photo.prediction) if before else None
            words = "; ".join(change.words() for change in changes)
            yield {"name": photo.name, "words": words, "before": before if after else None, "after": after}

    def suspects(self, suspects: Iterable[Suspect]) -> Iterator[dict[str, Any]]:
        for item in suspects:
            what = f"bib {item.box.number or ''}".strip() if isinstance(item.box, BibBox) else "face"
            image = self.inlined.jpeg(jpeg(self.shots[item.sha256].parts[item.box]))
            yield {"name": self.photos[item.sha256].name, "what": what, "reason": item.reason, "image": image}


def _deltas(metrics: Sequence[MetricVerdict]) -> Iterator[dict[str, Any]]:
    ends = [abs(end) for item in metrics for end in (item.low, item.high, item.gain) if end is not None and item.items]
    scale = (FOREST_WIDTH / 2 - 8) / max([*ends, 0.01])
    for item in metrics:
        row: dict[str, Any] = {
            "metric": item.metric,
            "verdict": str(item.verdict or "for information"),
            "tone": TONES[item.verdict][0] if item.verdict else "soft",
            "baseline": f"{item.baseline:.2f}",
            "candidate": f"{item.candidate:.2f}",
            "gain": f"{item.gain:+.2f}",
            "interval": "",
            "forest": None,
        }
        if item.items:
            row |= {"baseline": f"{item.baseline:.1%}", "candidate": f"{item.candidate:.1%}"}
            row["gain"] = f"{100 * item.gain:+.1f} points"
        if item.low is not None and item.high is not None:
            row["interval"] = f"{100 * item.low:+.1f} to {100 * item.high:+.1f}"
            places = {"low": item.low, "high": item.high, "gain": item.gain}
            row["forest"] = {name: f"{FOREST_WIDTH / 2 + scale * value:.1f}" for name, value in places.items()}
        yield row


def _causes(card: LinkScorecard | None) -> Iterator[dict[str, Any]]:
    if card is None or not card.link_fn:
        return
    for name, count in card.causes.items():
        yield {"name": name, "count": count, "share": f"{count / card.link_fn:.0%}", "meaning": CAUSES[name]}


def _provenance(report: RunReport) -> Iterator[tuple[str, str]]:
    data, tags = report.run.metadata, report.tags
    yield "code", data.git_commit + (" with changes since" if tags.get("git.dirty") == "true" else "")
    yield "data", f"{data.data_name} ({data.data_split}), digest {data.data_digest}"
    yield "scorer", f"version {data.scorer_version}, " + ", ".join(f"{k} {v}" for k, v in data.thresholds.items())
    for name in sorted(tags):
        if name.startswith("model.") and name != "model.licences":
            yield name.replace(".", " ", 1), tags[name]
    packages = {name.removeprefix("version."): tags[name] for name in sorted(tags) if name.startswith("version.")}
    yield "packages", ", ".join(f"{name} {version}" for name, version in packages.items())
    yield "time", ", ".join(f"{name.removeprefix('runtime/')} {value:.2f}" for name, value in data.runtime.items())
    yield "key", data.key
