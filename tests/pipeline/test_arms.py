"""An arm over a bib: what is left of the number is a part of it, and the missed number is told as such."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

import harness
from harness.config import build, compose
from harness.pipeline.looks import Image, Look
from harness.references.files import BibLabels, FaceLabels
from harness.references.importing import ImportedPhoto, ImportedSet, import_set
from harness.references.store import LabelStore
from harness.scoring import missed_numbers
from harness.testing import Picture
from harness.types import BibBox, FaceBox, PhotoLabels, PhotoPrediction
from tests.conftest import BIB, PEOPLE, QUICK, person_picture, unit

pytestmark = pytest.mark.slow

#: The left arm in `person_picture("P001")`, in pixels, and its middle.
ARM = [(308, 268), (341, 268), (337, 340), (333, 420), (330, 462), (313, 462), (309, 400), (307, 330)]
MIDDLE = (322, 365)
FACE = FaceBox(**unit(PEOPLE["P001"][1]))  # type: ignore[arg-type]


def picture(number: str | None) -> Image:
    return np.ascontiguousarray(np.asarray(person_picture("P001", number))[:, :, ::-1])


def with_arm(number: str, x: int, tilt: float) -> Image:
    """The runner with their own arm once more, tilted, in front of the bib, with its middle at `x`."""
    bare, photo = picture(None), picture(number)
    mask = np.zeros(bare.shape[:2], np.float32)
    cv2.fillPoly(mask, [np.array(ARM, np.int32)], 1.0)
    move = cv2.getRotationMatrix2D(MIDDLE, tilt, 1.0)
    move[0, 2] += x - MIDDLE[0]
    move[1, 2] += BIB[1] + BIB[3] / 2 - MIDDLE[1]
    size = (bare.shape[1], bare.shape[0])
    arm = cv2.warpAffine(bare, move, size, flags=cv2.INTER_CUBIC)
    weight = cv2.warpAffine(cv2.GaussianBlur(mask, (0, 0), 0.8), move, size)[..., None]
    return np.asarray(photo * (1 - weight) + arm * weight, np.uint8)


def read(number: str, x: int) -> tuple[BibBox, ...]:
    reader = build(compose(["references=staging", *QUICK])).photos.pipeline.bib
    return reader.read(Look(Picture(with_arm(number, x, tilt=0))), (FACE,))


def test_a_number_of_which_an_arm_covers_half_a_digit_is_a_part_and_told_as_one() -> None:
    """As the arm moves across the last digit, there are places where the digit is seen and cannot be told."""
    found = [read("2856", x) for x in range(283, 289)]
    parts = [bibs for bibs in found if [bib.number for bib in bibs] == ["285?"]]
    assert parts
    labels = PhotoLabels(bibs=(replace(parts[0][0], number="2856"),))
    (missed,) = missed_numbers(labels, PhotoPrediction(bibs=parts[0]))
    assert (missed.cause, missed.words()) == ("partial", 'read in part as "285?"')


def test_beside_an_arm_that_covers_nothing_the_number_is_whole() -> None:
    assert [bib.number for bib in read("2856", 325)] == ["2856"]


def test_the_report_of_a_run_tells_the_part_with_its_picture(tmp_path: Path) -> None:
    """Six photos of a runner whose arm is before the last digit, some pixels further each time, all labelled 2856."""
    bibs = BibLabels.model_validate({"labeled": True, "boxes": [unit(BIB) | {"number": "2856"}]})
    faces = FaceLabels.model_validate({"labeled": True, "boxes": [unit(PEOPLE["P001"][1])]})
    photos = []
    for x in range(283, 289):
        path = tmp_path / f"arm_{x}.png"
        cv2.imwrite(str(path), with_arm("2856", x, tilt=0))
        photos.append(
            ImportedPhoto(path=path, where=path.name, bibs=bibs, faces=faces, links=[(0, 0)], split="iteration")
        )
    import_set(LabelStore(tmp_path / "set"), ImportedSet(tuple(photos)))
    run = harness.run(
        "references=staging",
        f"references.root={tmp_path / 'set'}",
        f"tracking.root={tmp_path / 'mlruns'}",
        f"cache.folder={tmp_path / 'cache'}",
        "identity=off",
        *QUICK,
    )
    found = {item.name: [bib.number for bib in item.photo.prediction.bibs] for item in run.items if item.photo}
    parts = [name for name, numbers in found.items() if numbers == ["285?"]]
    assert parts
    assert run.metrics["reading/partial"] == len(parts)
    whole = [number for numbers in found.values() for number in numbers if number != "285?"]
    assert run.metrics["count/number_fp"] == sum(number != "2856" for number in whole), (
        "no part counts as a wrong number"
    )
    (report,) = (tmp_path / "mlruns").rglob("report.html")
    for name in parts:
        assert re.search(rf"{name}(?s:.{{0,400}})read in part as (&#34;|&quot;|\")285\?", report.read_text())
