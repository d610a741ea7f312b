"""What the text detector is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.config import build, compose
from harness.pipeline.bibs.engine import find_texts, in_whole_blocks, open_engine
from harness.pipeline.bibs.rapidocr import RapidOcr


@pytest.mark.parametrize(("size", "padded"), [((853, 1280), (864, 1280)), ((64, 32), (64, 32)), ((1, 33), (32, 64))])
def test_a_picture_is_padded_to_whole_blocks_and_never_stretched(
    size: tuple[int, int], padded: tuple[int, int]
) -> None:
    picture = np.arange(size[0] * size[1] * 3, dtype=np.uint32).astype(np.uint8).reshape(*size, 3)
    shown = in_whole_blocks(picture)
    assert shown.shape[:2] == padded
    assert (shown[: size[0], : size[1]] == picture).all()
    assert (shown[size[0] :, : size[1]] == picture[-1]).all()
    assert (shown[: size[0], size[1] :] == picture[:, -1:]).all()


def test_the_detector_sees_pictures_as_pp_ocr_normalises_them() -> None:
    backend = build(compose(["references=staging"])).photos.pipeline.bib
    assert isinstance(backend, RapidOcr)
    engine = open_engine(backend.detector, backend.recognizer, backend.read_width)
    grey = np.full((64, 96, 3), 128, np.uint8)
    shown = engine.text_det.get_preprocess()(grey)
    assert shown.shape == (1, 3, 64, 96)
    expected = [(128 / 255 - mean) / std for mean, std in ((0.485, 0.229), (0.456, 0.224), (0.406, 0.225))]
    assert shown[0, :, 0, 0] == pytest.approx(expected, abs=1e-5)


class _Engine:
    """Finds one text at the right edge that reaches into the padding, and one in the padding alone."""

    boxes: NDArray[np.int32] = np.array(
        [[[20, 10], [55, 10], [55, 20], [20, 20]], [[52, 10], [60, 10], [60, 20], [52, 20]]], np.int32
    )

    def __call__(self, picture: Any, use_det: bool, use_rec: bool) -> Any:
        assert picture.shape == (32, 64, 3)
        return self


def test_text_ends_where_the_picture_does_and_none_is_found_in_the_padding() -> None:
    found = find_texts(_Engine(), np.zeros((32, 50, 3), np.uint8))
    assert found.tolist() == [[[20, 10], [50, 10], [50, 20], [20, 20]]]
