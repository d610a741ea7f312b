"""Average precision by the rules of COCO, with pycocotools as the oracle."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from harness.scoring.average_precision import (
    ApPhoto,
    ApScorecard,
    average_precision,
    jackknife_precision,
    left_out_precision,
)
from harness.scoring.boxes import Floats

BOX = [10.0, 10.0, 50.0, 50.0]


def random_photos(seed: int) -> list[ApPhoto]:
    """Photos with few distinct boxes and scores, so that both tie; with crowds, own areas, and empty sides."""
    rng = np.random.default_rng(seed)
    many = seed % 5 == 0

    def boxes(n: int) -> Floats:
        return np.column_stack([rng.integers(0, 12, (n, 2)) * 10.0, rng.choice([8.0, 20.0, 40.0, 60.0, 120.0], (n, 2))])

    photos = []
    for _ in range(int(rng.integers(1, 8))):
        n_targets, n_predictions = int(rng.integers(0, 8)), int(rng.integers(0, 140 if many else 12))
        targets, predictions = boxes(n_targets), boxes(n_predictions)
        copied = min(n_targets, n_predictions)
        shift = rng.choice([0.0, 1.0, 2.0, 5.0], (copied, 4))
        predictions[:copied] = targets[:copied] + shift
        photos.append(
            ApPhoto(
                targets,
                predictions,
                scores=rng.integers(0, 6, n_predictions) / 5 if seed % 2 else rng.random(n_predictions),
                target_classes=rng.integers(0, 3, n_targets),
                prediction_classes=rng.integers(0, 4, n_predictions),
                crowd=rng.random(n_targets) < 0.25,
                area=targets[:, 2] * targets[:, 3] * rng.choice([0.3, 1.0], n_targets) if seed % 3 else None,
            )
        )
    return photos


def oracle(photos: list[ApPhoto], class_agnostic: bool = False) -> list[float]:
    """The twelve statistics of pycocotools."""
    annotations: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for n, photo in enumerate(photos):
        targets, crowd = np.reshape(photo.targets, (-1, 4)), np.ravel(photo.crowd if photo.crowd is not None else [])
        classes = np.ravel(photo.target_classes if photo.target_classes is not None else [])
        for i, box in enumerate(targets.tolist()):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": n + 1,
                    "category_id": 1 if class_agnostic or not len(classes) else int(classes[i]) + 1,
                    "bbox": box,
                    "area": float(np.ravel(photo.area)[i]) if photo.area is not None else box[2] * box[3],
                    "iscrowd": int(crowd[i]) if len(crowd) else 0,
                }
            )
        classes = np.ravel(photo.prediction_classes if photo.prediction_classes is not None else [])
        for i, box in enumerate(np.reshape(photo.predictions, (-1, 4)).tolist()):
            category = 1 if class_agnostic or not len(classes) else int(classes[i]) + 1
            score = float(np.ravel(photo.scores)[i])
            results.append({"image_id": n + 1, "category_id": category, "bbox": box, "score": score})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": n + 1} for n in range(len(photos))],
            "categories": [{"id": n + 1} for n in range(5)],
            "annotations": annotations,
        }
        truth.createIndex()
        if results:
            found = truth.loadRes(results)
        else:
            found = COCO()
            found.dataset = truth.dataset | {"annotations": []}
            found.createIndex()
        evaluation = COCOeval(truth, found, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats]


def with_sentinel(card: ApScorecard) -> list[float]:
    return [-1.0 if value is None else value for value in card.statistics]


class TestOracle:
    @pytest.mark.parametrize("seed", range(60))
    def test_all_twelve_statistics_equal_those_of_pycocotools(self, seed: int) -> None:
        photos = random_photos(seed)
        assert with_sentinel(average_precision(photos)) == pytest.approx(oracle(photos), abs=1e-9)

    @pytest.mark.parametrize("seed", range(20))
    def test_without_regard_to_classes(self, seed: int) -> None:
        photos = random_photos(seed)
        found = average_precision(photos, class_agnostic=True)
        assert with_sentinel(found) == pytest.approx(oracle(photos, class_agnostic=True), abs=1e-9)

    def test_the_oracle_sees_something(self) -> None:
        values = np.array([oracle(random_photos(seed)) for seed in range(20)])
        assert ((values > 0) & (values < 1)).any(axis=0).all()


class TestRules:
    def test_a_perfect_run_scores_one_where_there_are_targets(self) -> None:
        card = average_precision([ApPhoto([BOX], [BOX], [0.9])])
        assert (card.ap, card.ap_50, card.ap_medium, card.ar_1) == pytest.approx((1.0, 1.0, 1.0, 1.0))
        assert (card.ap_small, card.ap_large, card.ar_small, card.ar_large) == (None, None, None, None)

    def test_a_false_prediction_costs_only_what_it_outranks(self) -> None:
        wrong = [300.0, 300.0, 50.0, 50.0]
        above = average_precision([ApPhoto([BOX], [BOX, wrong], [0.5, 0.9])])
        below = average_precision([ApPhoto([BOX], [BOX, wrong], [0.9, 0.5])])
        assert above.ap == pytest.approx(0.5)
        assert below.ap == pytest.approx(1.0)

    def test_a_prediction_of_another_class_is_wrong_unless_classes_are_set_aside(self) -> None:
        photo = ApPhoto([BOX], [BOX], [0.9], target_classes=[2], prediction_classes=[7])
        assert average_precision([photo]).ap == 0.0
        assert average_precision([photo], class_agnostic=True).ap == pytest.approx(1.0)

    def test_what_lies_in_a_crowd_is_neither_right_nor_wrong(self) -> None:
        crowd = [200.0, 0.0, 200.0, 200.0]
        inside = [220.0, 20.0, 30.0, 30.0]
        card = average_precision([ApPhoto([BOX, crowd], [BOX, inside], [0.5, 0.9], crowd=[False, True])])
        assert card.ap == pytest.approx(1.0)
        assert (card.targets, card.crowds, card.predictions) == (1, 1, 2)

    def test_the_given_area_says_which_size_a_target_is(self) -> None:
        card = average_precision([ApPhoto([BOX], [BOX], [0.9], area=[100.0])])
        assert card.ap_small == pytest.approx(1.0)
        assert card.ap_medium is None

    def test_boxes_that_were_never_drawn_take_no_part(self) -> None:
        card = average_precision([ApPhoto([BOX, [0.0] * 4], [BOX, [0.0] * 4], [0.5, 0.9])])
        assert card.ap == pytest.approx(1.0)
        assert (card.targets, card.predictions) == (1, 1)

    def test_a_box_may_begin_outside_the_photo(self) -> None:
        box = [-3.0, -4.0, 40.0, 50.0]
        assert average_precision([ApPhoto([box], [box], [0.5])]).ap == pytest.approx(1.0)

    @pytest.mark.parametrize(("width", "height", "drawn"), [(0.5, 0.5, 1), (0.0, 5.0, 0), (5.0, 0.0, 0)])
    def test_a_box_is_drawn_when_it_has_a_width_and_a_height(self, width: float, height: float, drawn: int) -> None:
        box = [3.0, 4.0, width, height]
        card = average_precision([ApPhoto([box], [box], [0.5])])
        assert (card.targets, card.predictions) == (drawn, drawn)


class TestNothingVacuous:
    def test_without_predictions_targets_are_missed(self) -> None:
        card = average_precision([ApPhoto([BOX], [], [])])
        assert (card.ap, card.ar_100) == (0.0, 0.0)
        assert card.metrics("bib")["bib/ap"] == 0.0

    @pytest.mark.parametrize("photos", [[], [ApPhoto([], [], [])], [ApPhoto([], [BOX], [0.5])]])
    def test_without_targets_no_statistic_is_logged(self, photos: list[ApPhoto]) -> None:
        card = average_precision(photos)
        assert card.statistics == (None,) * 12
        assert set(card.metrics("bib")) == {"bib/ap_photos", "bib/ap_targets", "bib/ap_crowds", "bib/ap_predictions"}

    def test_it_prints_nothing(self, capfd: pytest.CaptureFixture[str]) -> None:
        average_precision(random_photos(1))
        assert capfd.readouterr() == ("", "")

    def test_the_card_reads_back_as_it_was_written(self) -> None:
        card = average_precision(random_photos(2))
        assert ApScorecard.from_dict(json.loads(json.dumps(card.to_dict()))) == card


class TestBadInput:
    @pytest.mark.parametrize(
        ("photo", "message"),
        [
            (ApPhoto([BOX], [BOX, [0, 0, float("nan"), 1]], [0.1, 0.2]), "prediction 1: its box is not finite"),
            (ApPhoto([[0, 0, -1, 1]], [], []), "target 0: its width or height is negative"),
            (ApPhoto([[0, 0, 1, -1]], [], []), "target 0: its width or height is negative"),
            (ApPhoto([], [BOX], [float("nan")]), "prediction 0: its score is no finite number"),
            (ApPhoto([], [BOX], []), "score has 0 values for 1 predictions"),
            (ApPhoto([BOX], [], [], crowd=[True, False]), "crowd has 2 values for 1 targets"),
            (ApPhoto([[0.0, 0.0, 1.0]], [], []), r"targets of shape \(1, 3\)"),
            (ApPhoto([BOX], [], [], area=[-1.0]), "target 0: its area is negative"),
            (ApPhoto([BOX], [], [], target_classes=[0.5]), "target 0: its class is no whole number"),
        ],
    )
    def test_it_is_refused_by_place(self, photo: ApPhoto, message: str) -> None:
        with pytest.raises(ValueError, match=f"photo 1.*{message}"):
            average_precision([ApPhoto([BOX], [BOX], [0.5]), photo])


class TestJackknife:
    @pytest.mark.parametrize("seed", range(12))
    def test_without_a_part_is_what_the_other_photos_come_to(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys.modules[left_out_precision.__module__], "_AT_ONCE", 2)
        photos = [photo for more in range(4) for photo in random_photos(100 * seed + more)]
        photos = [replace(photo, area=None) for photo in photos]
        parts = np.random.default_rng(seed).integers(0, 3, len(photos))
        parts[:3] = range(3)
        found = left_out_precision(photos, parts)
        for part in range(3):
            rest = average_precision([photo for photo, own in zip(photos, parts, strict=True) if own != part])
            for name in ("ap", "ap_50", "ap_75"):
                told = float(found[name][part])
                assert (None if np.isnan(told) else told) == pytest.approx(getattr(rest, name))

    def test_an_interval_holds_the_value_and_counts_groups(self) -> None:
        """Eight photos of four bursts: too few to know how they scatter, so that each burst is one target."""
        photos = [ApPhoto([BOX], [BOX], [0.9])] * 6 + [ApPhoto([BOX], [], [])] * 2
        items, card = [str(n) for n in range(8)], average_precision(photos)
        alone = jackknife_precision(photos, card, items, [""] * 8)["ap"]
        bursts = jackknife_precision(photos, card, items, [f"burst {n // 2}" for n in range(8)])["ap"]
        for found in (alone.interval, bursts.interval):
            assert card.ap is not None
            assert found.low < card.ap < found.high
        assert (bursts.interval.n_eff, bursts.interval.few_groups) == (4, True)
        assert bursts.interval.low < alone.interval.low
        assert alone.left_out is not None
        assert (alone.left_out.n, len(alone.left_out.without)) == (8, 8)

    def test_all_right_is_no_interval_of_zero_width(self) -> None:
        photos = [ApPhoto([BOX], [BOX], [0.9])] * 32
        card = average_precision(photos)
        found = jackknife_precision(photos, card, [str(n) for n in range(32)], [""] * 32)["ap"].interval
        assert card.ap == pytest.approx(1.0)
        assert (round(found.low, 3), found.high) == (0.891, 1.0)

    def test_what_no_other_photo_has_targets_for_has_no_pseudo_values(self) -> None:
        photos = [ApPhoto([BOX], [BOX], [0.9]), ApPhoto([], [BOX], [0.8])]
        found = jackknife_precision(photos, average_precision(photos), ["a", "b"], ["", ""])["ap"]
        assert found.left_out is None
        assert found.interval.few_groups
        assert 0 <= found.interval.low < found.interval.high <= 1

    def test_without_targets_there_is_nothing(self) -> None:
        photos = [ApPhoto([], [BOX], [0.8])]
        assert jackknife_precision(photos, average_precision(photos), ["a"], [""]) == {}
        assert jackknife_precision([], average_precision([]), [], []) == {}
