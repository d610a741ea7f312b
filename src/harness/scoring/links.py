"""Link scorecard: is each bib linked to the face of its wearer?

A predicted pair is right when its bib matches a labelled bib, its face matches a labelled face, and those two are
linked in the labels. Matching is against all labelled boxes of the photo, scored or not, since links point at label
positions. Every missed link has exactly one cause, and the causes add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from harness.scoring.boxes import Bools, Boxes, Ints, offsets_of, same_photos
from harness.scoring.cards import Declaration, Ledger, Note, Rate, Scorecard, Section, Tally
from harness.scoring.detection import PHOTOS
from harness.scoring.matching import match_greedy
from harness.types import BibBox, BibFaceLink, FaceBox, PhotoLabels, PhotoPrediction

#: Why a link was missed; a missed link has one cause.
CAUSES = ("bib_missed", "face_missed", "both_missed", "not_linked", "linked_wrong")


@dataclass(frozen=True)
class LinkScorecard(Scorecard):
    """Links found, invented and missed, and why they were missed."""

    link_tp: int
    link_fp: int
    link_fn: int
    gt_link_count: int
    bib_missed: int = 0
    face_missed: int = 0
    both_missed: int = 0
    not_linked: int = 0
    linked_wrong: int = 0
    photos: int = 0
    unlabeled_photos: int = 0

    DECLARED: ClassVar = Declaration(
        name="link",
        rates={
            "link_precision": Rate.share("link/precision", "link_tp", "link_fp", label="precision"),
            "link_recall": Rate.share("link/recall", "link_tp", "link_fn", label="recall"),
            "link_f1": Rate.f1("link/f1", "link_tp", "link_fp", "link_fn", label="F1", headline="links", gate="judged"),
        },
        counts={
            "link_tp": "count/link_tp",
            "link_fp": "count/link_fp",
            "link_fn": "count/link_fn",
            "gt_link_count": "count/link_gt_links",
            **{cause: f"count/link_fn_{cause}" for cause in CAUSES},
            "photos": "count/link_photos",
            "unlabeled_photos": "count/link_unlabeled_photos",
        },
        sections=(
            Section(
                "Bib-face links",
                ("link/precision", "link/recall", "link/f1"),
                (*PHOTOS, *(Note(cause, cause.replace("_", " ")) for cause in CAUSES)),
            ),
        ),
        ledger=Ledger("link", "link_tp", "link_fp", "link_fn"),
    )

    @property
    def link_precision(self) -> float:
        """Share of proposed links that are right."""
        return self.rate("link_precision")

    @property
    def link_recall(self) -> float:
        """Share of labelled links that were proposed."""
        return self.rate("link_recall")

    @property
    def link_f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return self.rate("link_f1")

    @property
    def causes(self) -> dict[str, int]:
        """Why links were missed, in words; the counts add up to `link_fn`."""
        return {cause.replace("_", " "): getattr(self, cause) for cause in CAUSES}


def score_links(
    predicted_pairs: Sequence[tuple[BibBox, FaceBox]],
    gt_bib_boxes: Sequence[BibBox],
    gt_face_boxes: Sequence[FaceBox],
    gt_links: Sequence[BibFaceLink],
    bib_iou_threshold: float = 0.5,
    face_iou_threshold: float = 0.5,
) -> LinkScorecard:
    """Score the links of one photo. Boxes that stand in no predicted pair count as not found."""
    prediction = PhotoPrediction(
        bibs=tuple(bib for bib, _ in predicted_pairs),
        faces=tuple(face for _, face in predicted_pairs),
        links=tuple(BibFaceLink(i, i) for i in range(len(predicted_pairs))),
    )
    labels = PhotoLabels(bibs=tuple(gt_bib_boxes), faces=tuple(gt_face_boxes), links=tuple(gt_links))
    return tally_links([labels], [prediction], bib_iou_threshold, face_iou_threshold).scorecard()


def links_labeled(labels: PhotoLabels) -> bool:
    """Whether a photo's links can be scored: somebody labelled them, or a side has no box to link."""
    if labels.bibs is None or labels.faces is None:
        return False
    return labels.links is not None or not labels.bibs or not labels.faces


def tally_links(
    labels: Sequence[PhotoLabels],
    predictions: Sequence[PhotoPrediction],
    bib_iou_threshold: float = 0.5,
    face_iou_threshold: float = 0.5,
) -> Tally[LinkScorecard]:
    """Score the links of many photos at once; a photo whose links nobody labelled is counted and not scored."""
    same_photos(labels, predictions)
    scored = np.array([links_labeled(photo) for photo in labels], dtype=bool)
    linked = judge_links(labels, predictions, bib_iou_threshold, face_iou_threshold)

    def per_photo(photo: Ints, chosen: Bools) -> Ints:
        return np.bincount(photo[chosen], minlength=len(labels))

    columns = {
        "link_tp": per_photo(linked.proposed_in, linked.right),
        "link_fp": per_photo(linked.proposed_in, ~linked.right),
        "link_fn": per_photo(linked.labelled_in, linked.missed),
        "gt_link_count": per_photo(linked.labelled_in, np.ones_like(linked.missed)),
        **{cause: per_photo(linked.labelled_in, chosen) for cause, chosen in linked.causes.items()},
        "photos": scored.astype(np.int64),
        "unlabeled_photos": (~scored).astype(np.int64),
    }
    return Tally.of(LinkScorecard, columns, len(labels))


@dataclass(frozen=True, slots=True)
class LinkOutcomes:
    """Each proposed link and each distinct labelled one, in the order of their photos and, in these, as proposed and
    sorted: the photo that it is in, whether it is right or missed, and by which of `CAUSES` it is missed. Links of
    photos whose links nobody labelled are left out."""

    proposed_in: Ints
    right: Bools
    labelled_in: Ints
    missed: Bools
    causes: Mapping[str, Bools]


def judge_links(
    labels: Sequence[PhotoLabels],
    predictions: Sequence[PhotoPrediction],
    bib_iou_threshold: float,
    face_iou_threshold: float,
) -> LinkOutcomes:
    """What became of each link."""
    scored = [links_labeled(photo) for photo in labels]
    expected = [photo if ok else PhotoLabels() for photo, ok in zip(labels, scored, strict=True)]
    proposed = [p if ok else PhotoPrediction() for p, ok in zip(predictions, scored, strict=True)]
    for number, p in enumerate(proposed):
        _check(number, "predicted link", p.links, len(p.bibs), len(p.faces))
    pairs = [
        PhotoPrediction(
            bibs=tuple(p.bibs[link.bib_index] for link in p.links),
            faces=tuple(p.faces[link.face_index] for link in p.links),
            links=p.links,
        )
        for p in proposed
    ]

    truth = _Truth.of(expected)
    linked_bib = truth.match_bibs([p.bibs for p in pairs], bib_iou_threshold)
    linked_face = truth.match_faces([p.faces for p in pairs], face_iou_threshold)
    right = (linked_bib >= 0) & (linked_face >= 0) & np.isin(truth.key(linked_bib, linked_face), truth.keys)
    missed = ~np.isin(truth.keys, truth.key(linked_bib, linked_face)[right])

    bib_found = np.isin(truth.bib, truth.match_bibs([p.bibs for p in proposed], bib_iou_threshold))
    face_found = np.isin(truth.face, truth.match_faces([p.faces for p in proposed], face_iou_threshold))
    elsewhere = np.isin(truth.bib, linked_bib) | np.isin(truth.face, linked_face)
    causes = {
        "bib_missed": missed & ~bib_found & face_found,
        "face_missed": missed & bib_found & ~face_found,
        "both_missed": missed & ~bib_found & ~face_found,
        "not_linked": missed & bib_found & face_found & ~elsewhere,
        "linked_wrong": missed & bib_found & face_found & elsewhere,
    }
    photo_of_pair = np.repeat(np.arange(len(pairs)), [len(p.links) for p in pairs])
    return LinkOutcomes(photo_of_pair, right, truth.photo, missed, causes)


@dataclass(frozen=True, slots=True)
class _Truth:
    """The labelled boxes of a batch, and its distinct links as rows of them."""

    bibs: Boxes
    faces: Boxes
    photo: Ints
    bib: Ints
    face: Ints

    @classmethod
    def of(cls, labels: Sequence[PhotoLabels]) -> _Truth:
        bibs = Boxes.of([photo.bibs or () for photo in labels], "bib label")
        faces = Boxes.of([photo.faces or () for photo in labels], "face label")
        links = [sorted(set(photo.links or ())) for photo in labels]
        for number, photo in enumerate(labels):
            _check(number, "labelled link", links[number], len(photo.bibs or ()), len(photo.faces or ()))
        photo_of = np.repeat(np.arange(len(labels)), np.diff(offsets_of(links)))
        ends = np.array([(link.bib_index, link.face_index) for link in chain.from_iterable(links)], dtype=np.int64)
        ends = ends.reshape(-1, 2)
        return cls(bibs, faces, photo_of, bibs.offsets[photo_of] + ends[:, 0], faces.offsets[photo_of] + ends[:, 1])

    def key(self, bib: Ints, face: Ints) -> Ints:
        return bib * (len(self.faces) + 1) + face

    @property
    def keys(self) -> Ints:
        return self.key(self.bib, self.face)

    def match_bibs(self, predicted: Sequence[Sequence[BibBox]], threshold: float) -> Ints:
        return match_greedy(Boxes.of(predicted, "predicted bib"), self.bibs, threshold).target_of

    def match_faces(self, predicted: Sequence[Sequence[FaceBox]], threshold: float) -> Ints:
        return match_greedy(Boxes.of(predicted, "predicted face"), self.faces, threshold).target_of


def _check(photo: int, what: str, links: Sequence[BibFaceLink], bibs: int, faces: int) -> None:
    for link in links:
        if not (0 <= link.bib_index < bibs and 0 <= link.face_index < faces):
            raise ValueError(
                f"photo {photo}: {what} [{link.bib_index}, {link.face_index}] points outside its "
                f"{bibs} bibs and {faces} faces"
            )
