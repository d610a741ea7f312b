"""Average precision and calibration of a scored artifact: by COCO's own code, and by hand."""

from __future__ import annotations

import contextlib
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from harness.base.errors import ConfidenceError
from harness.tasks.confidence.postop import SCORED_FILE, run_postop
from harness.tasks.confidence.quality import judge
from harness.tasks.confidence.task import SAMPLE


def pycocotools_statistics(scored: Path, class_agnostic: bool) -> list[float]:
    """The same boxes, straight from the file, through the reference implementation."""
    records = [json.loads(line) for line in scored.read_text().splitlines()]
    names = sorted({item["desc"].strip() for record in records for item in record["gt"] + record["pred"]})
    targets: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for image, record in enumerate(records, start=1):
        for key, into in (("gt", targets), ("pred", results)):
            for item in record[key]:
                if item["type"] != "bbox_2d":
                    continue
                x1, y1, x2, y2 = item["points"]
                kind = 1 if class_agnostic else names.index(item["desc"].strip()) + 1
                box = {"image_id": image, "category_id": kind, "bbox": [x1, y1, x2 - x1, y2 - y1]}
                extra = {"score": item["score"]} if key == "pred" else {"area": (x2 - x1) * (y2 - y1), "iscrowd": 0}
                into.append(box | extra | {"id": len(into) + 1})
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        kinds = (
            [{"id": 1, "name": "all"}] if class_agnostic else [{"id": i + 1, "name": n} for i, n in enumerate(names)]
        )
        truth.dataset = {
            "images": [{"id": image} for image in range(1, len(records) + 1)],
            "annotations": targets,
            "categories": kinds,
        }
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return [float(value) for value in evaluation.stats]


def write_scored(path: Path, seed: int) -> Path:
    """Random boxes with scores, many of them near a target."""
    rng = random.Random(seed)
    lines = []
    for image in range(40):
        gt, pred = [], []
        for _ in range(rng.randint(0, 6)):
            x, y, w, h = rng.randrange(900), rng.randrange(900), rng.randrange(5, 300), rng.randrange(5, 300)
            kind = rng.choice(("cat", "dog ", "cow"))
            gt.append({"type": "bbox_2d", "points": [x, y, x + w, y + h], "desc": kind})
            for _ in range(rng.randint(0, 3)):
                moved = [
                    x + rng.randint(-8, 8),
                    y + rng.randint(-8, 8),
                    x + w + rng.randint(9, 16),
                    y + h + rng.randint(9, 16),
                ]
                score = rng.choice((0.25, 0.5, rng.random()))
                pred.append({"type": "bbox_2d", "points": moved, "desc": rng.choice((kind, "cow")), "score": score})
        lines.append(json.dumps({"image": f"{image}.jpg", "gt": gt, "pred": pred}) + "\n")
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("class_agnostic", [False, True])
@pytest.mark.parametrize("source", ["sample", 1, 2])
def test_average_precision_equals_pycocotools_on_the_same_boxes(
    tmp_path: Path, source: str | int, class_agnostic: bool
) -> None:
    if source == "sample":
        run_postop(SAMPLE / "gt_vs_pred.jsonl", SAMPLE / "pred_token_trace.jsonl", tmp_path)
        scored = tmp_path / SCORED_FILE
    else:
        scored = write_scored(tmp_path / "scored.jsonl", int(source))
    ours = judge(scored, class_agnostic=class_agnostic).ranked.statistics
    expected = pycocotools_statistics(scored, class_agnostic)
    assert [-1.0 if value is None else value for value in ours] == pytest.approx(expected, abs=1e-9)


def scored_file(path: Path, gt: list[Any], pred: list[Any]) -> Path:
    path.write_text(json.dumps({"image": "a.jpg", "gt": gt, "pred": pred}) + "\n")
    return path


def box(*points: float, desc: str = "cat", **fields: Any) -> dict[str, Any]:
    return {"type": "bbox_2d", "points": list(points), "desc": desc, **fields}


def test_ranking_gains_over_a_constant_score(tmp_path: Path) -> None:
    wrong_first = [box(500, 500, 600, 600, score=0.1), box(0, 0, 100, 100, score=0.9)]
    quality = judge(scored_file(tmp_path / "scored.jsonl", [box(0, 0, 100, 100)], wrong_first))
    metrics = quality.metrics()
    assert metrics["confidence/ap"] == pytest.approx(1.0)
    assert metrics["confidence/ap_constant"] == pytest.approx(0.5)
    assert metrics["confidence/ap_gain"] == pytest.approx(0.5)


def test_calibration_counts_a_box_as_right_only_within_its_class(tmp_path: Path) -> None:
    pred = [box(0, 0, 100, 100, desc="dog", score=0.9), box(0, 0, 100, 100, score=0.9)]
    path = scored_file(tmp_path / "scored.jsonl", [box(0, 0, 100, 100), box(300, 0, 400, 100, desc="dog")], pred)
    assert judge(path).calibration.ece == pytest.approx(0.4)
    assert judge(path).metrics()["confidence/ece_n"] == 2


def test_without_targets_nothing_is_logged_and_what_is_no_box_is_counted(tmp_path: Path) -> None:
    poly = {"type": "poly", "points": [0, 0, 1, 0, 1, 1], "desc": "cat"}
    path = scored_file(tmp_path / "scored.jsonl", [poly, box(5, 5, 5, 9)], [])
    metrics = judge(path).metrics()
    assert "confidence/ap" not in metrics
    assert "confidence/ece" not in metrics
    assert metrics["confidence/ap_targets_left_out"] == 2


@pytest.mark.parametrize(("gt", "message"), [(None, "gt: expected a list"), ([{"type": "bbox_2d"}], "gt.0: expected")])
def test_ground_truth_that_does_not_fit_is_named(tmp_path: Path, gt: Any, message: str) -> None:
    with pytest.raises(ConfidenceError, match=f"scored.jsonl, line 1: {message}"):
        judge(scored_file(tmp_path / "scored.jsonl", gt, []))
