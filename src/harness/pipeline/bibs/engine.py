"""PP-OCR through RapidOCR: where text is in a picture, and what a line of it says, character by character.

RapidOCR gives one string a line. What else the recognizer took each character for, and where along the line it saw it,
is what voting and the look-alikes of a format need; so its answer is decoded here.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.base.extras import need
from harness.pipeline.bibs.texts import BLOCK
from harness.pipeline.looks import Image
from harness.pipeline.weights import Weights

#: RapidOCR scales pictures by rules of its own; the scale is ours to choose, so its limits are set out of reach.
_NO_LIMIT = 1 << 16
#: How PP-OCR's published configurations of text detectors normalise pictures. RapidOCR's own 0.5 shows them with half
#: the contrast, in which large digits come and go with a few pixels of the picture's size.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: What the recognizer scales the height of a text to.
_INPUT_HEIGHT = 48
#: What else a character may be is kept where the recognizer gives it at least this probability, and no more than so
#: many.
_SLIGHT, _ALTERNATIVES = 0.01, 3
_BLANK = 0

#: Where a character is along its line, from 0 to 1, and what it may be, each with a probability, the likeliest first.
SeenCharacter = tuple[float, list[tuple[str, float]]]


def check_engine(*models: Weights) -> None:
    """Find what an engine is made of. Raises a HarnessError where something is missing."""
    need("bib=rapidocr", "rapidocr", "onnxruntime", "cv2")
    for weights in models:
        weights.locate()


@lru_cache(maxsize=2)
def open_engine(detector: Weights, recognizer: Weights, read_width: int) -> Any:
    """Both models, opened once a process. The recognizer pads a text to `read_width` pixels."""
    check_engine(detector, recognizer)
    from rapidocr import RapidOCR

    engine = RapidOCR(
        params={
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.text_score": 0.0,
            "Global.max_side_len": _NO_LIMIT,
            "Det.limit_type": "max",
            "Det.limit_side_len": _NO_LIMIT,
            "Det.mean": list(_MEAN),
            "Det.std": list(_DEVIATION),
            "Rec.rec_img_shape": [3, _INPUT_HEIGHT, read_width],
        }
    )
    engine.cfg._set_flag("allow_objects", True)  # it takes sessions, but has no public way to hand them in
    engine.cfg.Det.session, engine.cfg.Rec.session = _session(detector), _session(recognizer)
    # RapidOCR opens both on first use, which must not count as work on the first photo.
    blank = np.full((64, 64, 3), 255, dtype=np.uint8)
    engine(blank, use_det=True, use_rec=False)
    engine(blank, use_det=False, use_rec=True)
    return engine


@lru_cache(maxsize=2)
def _session(weights: Weights) -> Any:
    """A model whose threads rest when it has answered: RapidOCR's own go on spinning, in the way of the next model."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.log_severity_level = 4
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return InferenceSession(str(weights.locate()), options, providers=["CPUExecutionProvider"])


def find_texts(engine: Any, picture: Image) -> NDArray[np.float64]:
    """The corners of each piece of text, clockwise from its top left, in pixels: n x 4 x 2."""
    found = engine(in_whole_blocks(picture), use_det=True, use_rec=False).boxes
    if found is None:
        return np.zeros((0, 4, 2))
    size = picture.shape[1::-1]
    within = [text for text in np.asarray(found, dtype=np.float64) if (text.min(axis=0) < size).all()]
    return np.array([np.minimum(text, size) for text in within]).reshape(-1, 4, 2)


def in_whole_blocks(picture: Image) -> Image:
    """The picture with its last row and column repeated until it consists of whole blocks: RapidOCR would stretch it,
    to one side more than to the other, and scale what has just been scaled."""
    import cv2

    height, width = picture.shape[:2]
    padded = cv2.copyMakeBorder(picture, 0, -height % BLOCK, 0, -width % BLOCK, cv2.BORDER_REPLICATE)
    return np.asarray(padded, dtype=np.uint8)


def read_line(engine: Any, line: Image) -> list[SeenCharacter]:
    """The characters of a line of text, without spaces."""
    recognizer = engine.text_rec
    ratio = max(line.shape[1] / line.shape[0], recognizer.rec_image_shape[2] / _INPUT_HEIGHT)
    padded = recognizer.resize_norm_img(line, ratio)
    steps = np.asarray(recognizer.session(padded[np.newaxis]))[0]
    used = math.ceil(_INPUT_HEIGHT * line.shape[1] / line.shape[0]) / padded.shape[2]
    return decode(steps, recognizer.postprocess_op.character, min(used, 1.0))


def decode(steps: NDArray[np.floating[Any]], alphabet: list[str], used: float = 1.0) -> list[SeenCharacter]:
    """From the probabilities of each step along a line to its characters: steps that agree in a row are one character,
    as sure as the surest of them. The line takes up the first `used` of the steps, the rest is padding."""
    best = steps.argmax(axis=1)
    ends = [*np.flatnonzero(np.diff(best)) + 1, len(best)]
    found: list[SeenCharacter] = []
    start = 0
    for end in ends:
        if best[start] != _BLANK and not alphabet[best[start]].isspace():
            peak = steps[start + int(steps[start:end, best[start]].argmax())]
            place = (start + end) / 2 / (len(steps) * used)
            found.append((round(min(float(place), 1.0), 4), _candidates(peak, alphabet)))
        start = end
    return found


def _candidates(step: NDArray[np.floating[Any]], alphabet: list[str]) -> list[tuple[str, float]]:
    likely = np.argsort(step)[: -_ALTERNATIVES - 2 : -1]
    kept = [int(index) for index in likely if index != _BLANK and step[index] >= _SLIGHT]
    return [(alphabet[index], round(float(step[index]), 4)) for index in kept[:_ALTERNATIVES]]
