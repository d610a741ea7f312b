"""Link scorecard."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring import BibBox, BibFaceLink, FaceBox, LinkScorecard, score_links, tally_links
from harness.scoring.links import links_labeled
from harness.types import PhotoLabels, PhotoPrediction


def bib(x: float) -> BibBox:
    return BibBox(x=x, y=0.5, w=0.1, h=0.1)


def face(x: float) -> FaceBox:
    return FaceBox(x=x, y=0.1, w=0.1, h=0.1)


BIBS, FACES = [bib(0.1), bib(0.4), bib(0.7)], [face(0.1), face(0.4), face(0.7)]
LINKS = [BibFaceLink(0, 0), BibFaceLink(1, 1), BibFaceLink(2, 2)]


def test_score_links_empty_predictions() -> None:
    card = score_links([], BIBS, FACES, LINKS)
    assert (card.link_tp, card.link_fp, card.link_fn, card.gt_link_count) == (0, 0, 3, 3)


def test_score_links_empty_gt() -> None:
    card = score_links([(BIBS[0], FACES[0]), (BIBS[1], FACES[1])], BIBS, FACES, [])
    assert (card.link_tp, card.link_fp, card.link_fn, card.gt_link_count) == (0, 2, 0, 0)


def test_score_links_perfect_match() -> None:
    card = score_links(list(zip(BIBS, FACES, strict=True)), BIBS, FACES, LINKS)
    assert (card.link_tp, card.link_fp, card.link_fn) == (3, 0, 0)


def test_score_links_wrong_pair() -> None:
    card = score_links([(BIBS[0], FACES[1])], BIBS, FACES, LINKS[:2])
    assert (card.link_tp, card.link_fp, card.link_fn) == (0, 1, 2)


def test_score_links_iou_below_threshold() -> None:
    card = score_links([(bib(0.16), face(0.1))], BIBS[:1], FACES[:1], LINKS[:1])
    assert (card.link_tp, card.link_fp, card.link_fn) == (0, 1, 1)
    assert score_links([(bib(0.16), face(0.1))], BIBS[:1], FACES[:1], LINKS[:1], bib_iou_threshold=0.2).link_tp == 1
    assert score_links([(bib(0.1), face(0.16))], BIBS[:1], FACES[:1], LINKS[:1], bib_iou_threshold=0.2).link_tp == 0
    assert score_links([(bib(0.1), face(0.16))], BIBS[:1], FACES[:1], LINKS[:1], face_iou_threshold=0.2).link_tp == 1


def test_link_scorecard_properties() -> None:
    card = LinkScorecard(link_tp=3, link_fp=1, link_fn=2, gt_link_count=5)
    assert card.link_precision == 0.75
    assert card.link_recall == 0.6
    assert card.link_f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)
    assert LinkScorecard(0, 0, 0, 0).link_f1 == 0.0


def test_link_scorecard_to_dict() -> None:
    keys = {"link_tp", "link_fp", "link_fn", "link_f1", "link_precision", "link_recall", "gt_link_count"}
    assert keys <= set(LinkScorecard(1, 2, 3, 4).to_dict())


def test_link_scorecard_from_dict_roundtrip() -> None:
    card = LinkScorecard(1, 2, 3, 4, bib_missed=1, face_missed=2, photos=7)
    assert LinkScorecard.from_dict(card.to_dict()) == card


def test_links_are_matched_against_labels_of_every_scope() -> None:
    obscured = BibBox(x=0.1, y=0.5, w=0.1, h=0.1, scope="bib_obscured")
    assert score_links([(bib(0.1), face(0.1))], [obscured], FACES[:1], LINKS[:1]).link_tp == 1


@pytest.mark.parametrize(
    ("prediction", "cause"),
    [
        (PhotoPrediction(), "both_missed"),
        (PhotoPrediction(faces=(face(0.1),)), "bib_missed"),
        (PhotoPrediction(bibs=(bib(0.1),)), "face_missed"),
        (PhotoPrediction(bibs=(bib(0.1),), faces=(face(0.1),)), "not_linked"),
        (PhotoPrediction(bibs=(bib(0.1),), faces=(face(0.1), face(0.4)), links=(BibFaceLink(0, 1),)), "linked_wrong"),
        (PhotoPrediction(bibs=(bib(0.1), bib(0.4)), faces=(face(0.1),), links=(BibFaceLink(1, 0),)), "linked_wrong"),
    ],
)
def test_a_missed_link_has_one_cause(prediction: PhotoPrediction, cause: str) -> None:
    labels = PhotoLabels(bibs=tuple(BIBS[:2]), faces=tuple(FACES[:2]), links=tuple(LINKS[:1]))
    card = tally_links([labels], [prediction]).scorecard()
    assert card.link_fn == 1
    assert getattr(card, cause) == 1
    assert {words: count for words, count in card.causes.items() if count} == {cause.replace("_", " "): 1}


def test_causes_are_0_where_nothing_was_missed() -> None:
    card = LinkScorecard(link_tp=1, link_fp=0, link_fn=0, gt_link_count=1)
    assert card.causes == dict.fromkeys(("bib missed", "face missed", "both missed", "not linked", "linked wrong"), 0)
    assert (card.photos, card.unlabeled_photos) == (0, 0)


@pytest.mark.parametrize(
    ("bibs", "faces", "links", "labeled"),
    [
        ((bib(0.1),), (face(0.1),), (), True),
        ((bib(0.1),), (face(0.1),), None, False),
        ((), (face(0.1),), None, True),
        ((bib(0.1),), (), None, True),
        ((), (), None, True),
        (None, (face(0.1),), (), False),
        ((bib(0.1),), None, (), False),
        (None, (), None, False),
        ((), None, None, False),
    ],
)
def test_links_are_labelled_when_somebody_did_or_one_labelled_side_has_nothing_to_link(
    bibs: tuple[BibBox, ...] | None,
    faces: tuple[FaceBox, ...] | None,
    links: tuple[BibFaceLink, ...] | None,
    labeled: bool,
) -> None:
    assert links_labeled(PhotoLabels(bibs=bibs, faces=faces, links=links)) is labeled


def test_links_that_nobody_labelled_are_counted_and_not_scored() -> None:
    labels = [
        PhotoLabels(bibs=(bib(0.1),), faces=(face(0.1),), links=None),
        PhotoLabels(bibs=(), faces=(face(0.1),), links=None),
        PhotoLabels(bibs=None, faces=(face(0.1),), links=None),
        PhotoLabels(bibs=(bib(0.1),), faces=(face(0.1),), links=()),
    ]
    linked = PhotoPrediction(bibs=(bib(0.1),), faces=(face(0.1),), links=(BibFaceLink(0, 0),))
    card = tally_links(labels, [linked] * 4).scorecard()
    assert (card.photos, card.unlabeled_photos, card.link_fp) == (2, 2, 2)


@pytest.mark.parametrize("link", [BibFaceLink(3, 0), BibFaceLink(0, 3), BibFaceLink(-1, 0)])
def test_a_link_that_points_nowhere_is_refused(link: BibFaceLink) -> None:
    with pytest.raises(ValueError, match=r"photo 0: labelled link .* points outside its 3 bibs and 3 faces"):
        score_links([], BIBS, FACES, [link])


@pytest.mark.parametrize("link", [BibFaceLink(1, 0), BibFaceLink(0, 1), BibFaceLink(-1, 0), BibFaceLink(0, -1)])
def test_a_predicted_link_that_points_nowhere_is_refused(link: BibFaceLink) -> None:
    prediction = PhotoPrediction(bibs=(bib(0.1),), faces=(face(0.1),), links=(link,))
    labels = PhotoLabels(bibs=tuple(BIBS), faces=tuple(FACES), links=())
    with pytest.raises(ValueError, match=r"photo 1: predicted link .* points outside its 1 bibs and 1 faces"):
        tally_links([labels, labels], [PhotoPrediction(), prediction])


positions = st.lists(st.sampled_from([0.0, 0.02, 0.1, 0.3, 0.31, 0.5, 0.8]), max_size=5)


@st.composite
def photos(draw: st.DrawFn) -> tuple[PhotoLabels, PhotoPrediction]:
    def side() -> tuple[tuple[BibBox, ...], tuple[FaceBox, ...], tuple[BibFaceLink, ...]]:
        bibs, faces = tuple(map(bib, draw(positions))), tuple(map(face, draw(positions)))
        pairs = [BibFaceLink(b, f) for b in range(len(bibs)) for f in range(len(faces))]
        links = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
        return bibs, faces, tuple(links)

    return PhotoLabels(*side()), PhotoPrediction(*side())


@given(st.lists(photos(), max_size=6))
def test_counts_add_up_and_photos_are_independent(batch: list[tuple[PhotoLabels, PhotoPrediction]]) -> None:
    labels, predictions = [item[0] for item in batch], [item[1] for item in batch]
    tally = tally_links(labels, predictions)
    card = tally.scorecard()
    assert card.link_tp + card.link_fp == sum(len(p.links) for p in predictions)
    assert card.link_tp + card.link_fn == card.gt_link_count == sum(len(p.links or ()) for p in labels)
    causes = (card.bib_missed, card.face_missed, card.both_missed, card.not_linked, card.linked_wrong)
    assert sum(causes) == card.link_fn
    for row, (label, prediction) in enumerate(batch):
        assert (tally_links([label], [prediction]).counts == tally.counts[row]).all()


#: So far apart that boxes match where they stand at the same place, and nowhere else.
apart = st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8]), unique=True)


@st.composite
def photos_apart(draw: st.DrawFn) -> tuple[PhotoLabels, PhotoPrediction]:
    def side() -> tuple[tuple[BibBox, ...], tuple[FaceBox, ...], tuple[BibFaceLink, ...]]:
        bibs, faces = tuple(map(bib, draw(apart))), tuple(map(face, draw(apart)))
        order = draw(st.permutations(range(len(faces))))
        links = [BibFaceLink(b, f) for b, f in zip(range(len(bibs)), order, strict=False) if draw(st.booleans())]
        return bibs, faces, tuple(links)

    return PhotoLabels(*side()), PhotoPrediction(*side())


def outcomes(labels: PhotoLabels, prediction: PhotoPrediction) -> Counter[str]:
    """The rules, link by link; boxes are told apart by where they stand."""

    def places(photo: PhotoLabels | PhotoPrediction) -> set[tuple[float, float]]:
        bibs, faces = photo.bibs or (), photo.faces or ()
        return {(bibs[link.bib_index].x, faces[link.face_index].x) for link in photo.links or ()}

    labelled, linked = places(labels), places(prediction)
    bibs, faces = {box.x for box in prediction.bibs}, {box.x for box in prediction.faces}
    counts = Counter(link_tp=len(linked & labelled), link_fp=len(linked - labelled), link_fn=len(labelled - linked))
    for b, f in labelled - linked:
        if b in bibs and f in faces:
            taken = any(b == other or f == another for other, another in linked)
            counts["linked_wrong" if taken else "not_linked"] += 1
        else:
            counts["face_missed" if b in bibs else "bib_missed" if f in faces else "both_missed"] += 1
    return +counts


@settings(max_examples=50)
@given(st.lists(photos_apart(), min_size=1, max_size=4))
def test_each_link_is_judged_by_where_its_ends_stand(batch: list[tuple[PhotoLabels, PhotoPrediction]]) -> None:
    counts = tally_links([item[0] for item in batch], [item[1] for item in batch]).scorecard().to_dict()
    expected: Counter[str] = sum((outcomes(*item) for item in batch), Counter())
    assert {name: counts[name] for name in expected} == expected
    causes = ("linked_wrong", "not_linked", "face_missed", "bib_missed", "both_missed")
    assert sum(expected[cause] for cause in causes) == expected["link_fn"]
