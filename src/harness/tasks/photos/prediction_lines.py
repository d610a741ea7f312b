"""The format of predictions: JSON Lines, one photo a line.

    {"photo": "a.jpg", "bibs": [{"x": 0.4, "y": 0.5, "w": 0.1, "h": 0.1, "number": "417", "score": 0.97}],
     "faces": [{"x": 0.4, "y": 0.2, "w": 0.1, "h": 0.15, "score": 0.9}], "links": [[0, 0]], "seconds": {"ocr": 0.4}}

A line may have `dropped`, the texts that a reader saw and gave no number for:

    "dropped": [{"x": 0.4, "y": 0.5, "w": 0.1, "h": 0.1, "text": "11B4", "rule": "format"}]

Boxes are shares of the upright photo, or its pixels on a line with `"unit": "px"`. Whether a key is there matters: a
key that no line has is something that the program does not predict. `line_of` and `prediction_of` are each other's
inverse, to the last digit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Annotated, Any, Literal, TypedDict

import numpy as np
import orjson
from numpy.typing import NDArray
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator

from harness.base.checks import Positive, Share, cut_at_border, first_error
from harness.base.documents import key_twice
from harness.base.texts import counted, one_line
from harness.tasks.photos.scores import BIBS, FACES, LINKS, NUMBERS
from harness.types import BibBox, BibFaceLink, Box, DroppedText, FaceBox, PhotoPrediction

#: The key of the texts that a reader dropped.
DROPPED = "dropped"
#: What a text is expected to be, by its key; a program may well have something else there.
_EXPECTED = {
    "number": 'a text such as "417", or null',
    "sha256": "the 64 hexadecimal digits of the hash of a photo's bytes",
}
_POSITION = re.compile(r" at line \d+ column (\d+)$")
_STAGE = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
#: A share beyond this is no slip at the border: it is a pixel.
_SURELY_PIXELS = 2

Finite = Annotated[float, Field(allow_inf_nan=False)]
Extent = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Landmarks = Annotated[list[tuple[Finite, Finite]], Field(min_length=5, max_length=5)]
#: Some tools write it in capitals.
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$", to_lower=True)]
#: The places of a bib and a face, and a score where there is one.
Link = list[Finite | None]
Size = tuple[int, int]
Vector = NDArray[np.float32]


class _UnitBox(TypedDict):
    x: float
    y: float
    w: float
    h: float


class LineError(ValueError):
    """What is wrong with a line, in words."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


def _has_length(vector: list[float]) -> list[float]:
    if not any(vector):
        raise ValueError("all numbers are 0; expected a vector that has a length")
    return vector


#: A vector that faces are compared by.
Embedding = Annotated[list[Finite], Field(min_length=1), AfterValidator(_has_length)]


class _PredictedBox(_Part):
    x: Finite
    y: Finite
    w: Positive
    h: Positive
    score: Share | None = None


class PredictedBib(_PredictedBox):
    """A bib; a number of null says that none could be read."""

    number: str | None = None
    char_scores: list[Share] = []


class PredictedFace(_PredictedBox):
    """A face, with its five landmarks and its embedding where the program has them."""

    landmarks: Landmarks | None = None
    embedding: Embedding | None = None


class Dropped(_Part):
    """A text that a reader saw and gave no number for; `rule` is what dropped it, and `value` and `limit` say why. Its
    box may be left out."""

    x: Finite = 0.0
    y: Finite = 0.0
    w: Extent = 0.0
    h: Extent = 0.0
    text: str = ""
    rule: str = ""
    value: Finite | None = None
    limit: Finite | None = None


class PredictionLine(_Part):
    """One line. A photo is known by its name, by its hash, or by both. A line with `selfie`, the hash of one, has its
    embedding: null where no face can be searched with. `found` says whether there is a face all the same, one that is
    too small to compare; without it there is none. Nothing else stands on such a line."""

    selfie: Sha256 | None = None
    embedding: Embedding | None = None
    found: bool | None = None
    photo: str | None = Field(default=None, min_length=1)
    sha256: Sha256 | None = None
    unit: Literal["share", "px"] = "share"
    bibs: list[PredictedBib] = []
    faces: list[PredictedFace] = []
    links: list[Link] = []
    dropped: list[Dropped] = []
    seconds: dict[str, Seconds] = {}

    @field_validator("seconds")
    @classmethod
    def _are_stages(cls, seconds: dict[str, float]) -> dict[str, float]:
        """A stage becomes part of a metric's name, and that of the sum is taken."""
        for stage in seconds:
            if not _STAGE.fullmatch(stage) or stage == "pipeline":
                expected = "expected the name of a stage, in letters, digits, - and _; pipeline is the sum of all"
                raise ValueError(f"{stage!r:.80}: {expected}")
        return seconds

    @field_validator("links")
    @classmethod
    def _are_pairs(cls, links: list[Link]) -> list[Link]:
        for place, link in enumerate(links):
            ends, scores = link[:2], link[2:]
            whole = len(ends) == 2 and all(end is not None and end >= 0 and end == int(end) for end in ends)
            if not whole or len(scores) > 1 or any(score is not None and not 0 <= score <= 1 for score in scores):
                expected = "expected [bib, face] or [bib, face, score], counted from 0"
                raise ValueError(f"link {place} is {_told_link(link)}; {expected}")
        return links


#: The keys of a line that are there on every line or on none.
KEYS = (BIBS, FACES, LINKS, DROPPED, "seconds")
#: And those of a box, by the list that it stands in.
BOX_KEYS = ((BIBS, "number"), (BIBS, "score"), (FACES, "score"))


def parse_line(text: bytes) -> PredictionLine:
    """A line of the file, checked by itself."""
    try:
        line = PredictionLine.model_validate_json(text)
    except ValidationError as error:
        raise LineError(_wrong(error, text)) from error
    # The parser takes the last of two keys. A colon may also stand in a name.
    if text.count(b":") != _keys(line) and (twice := key_twice(text)):
        raise LineError(twice)
    if line.selfie is not None and line.model_fields_set - {"found"} != {"selfie", "embedding"}:
        raise LineError("a line of a selfie has selfie, its sha256, and embedding, which may be null; expected no more")
    if line.embedding is not None and line.found is False:
        raise LineError("found: false beside an embedding; expected true, or no such key")
    if line.selfie is None and (beyond := line.model_fields_set & {"embedding", "found"}):
        where = "in a face, or on a line with selfie" if "embedding" in beyond else "on a line with selfie"
        raise LineError(f"{min(beyond)}: expected it {where}")
    if line.selfie is None and line.photo is None and line.sha256 is None:
        raise LineError("no photo; expected photo, the name of one, or its sha256")
    return line


def _keys(line: PredictionLine) -> int:
    """How many keys a line has, those of its boxes included: as many colons as it needs."""
    boxes = sum(len(box.model_fields_set) for box in (*line.bibs, *line.faces, *line.dropped))
    return len(line.model_fields_set) + boxes + len(line.seconds)


def prediction_of(line: PredictionLine, size: Size | None = None) -> PhotoPrediction:
    """The prediction of a line; `size` is that of the upright photo where the line is in pixels."""
    scale = size or (1, 1)
    return PhotoPrediction(
        bibs=tuple(
            BibBox(
                **_placed(box, size, f"{BIBS}.{place}"),
                number=box.number,
                score=box.score,
                char_scores=tuple(box.char_scores),
            )
            for place, box in enumerate(line.bibs)
        ),
        faces=tuple(
            FaceBox(
                **_placed(box, size, f"{FACES}.{place}"),
                score=box.score,
                landmarks=tuple((x / scale[0], y / scale[1]) for x, y in box.landmarks or ()),
            )
            for place, box in enumerate(line.faces)
        ),
        links=_links(line),
        dropped=tuple(
            DroppedText(
                **(
                    _placed(seen, size, f"{DROPPED}.{place}")
                    if seen.w and seen.h
                    else _UnitBox(x=0.0, y=0.0, w=0.0, h=0.0)
                ),
                text=seen.text,
                rule=seen.rule,
                value=seen.value,
                limit=seen.limit,
            )
            for place, seen in enumerate(line.dropped)
        ),
    )


def line_of(
    sha256: str,
    name: str,
    prediction: PhotoPrediction,
    absent: Collection[str] = (),
    traced: bool = False,
    embeddings: Sequence[Vector | None] | None = None,
) -> bytes:
    """The line of a photo, its end included, without the keys that are not predicted. `traced` says that the reader
    tells what it dropped; `embeddings` are those of the faces, None for a face that cannot be compared. A photo without
    a name is known by its hash alone."""
    numbers = NUMBERS not in absent
    vectors = [None] * len(prediction.faces) if embeddings is None else embeddings
    parts: dict[str, list[Any]] = {
        BIBS: [_bib(box, numbers) for box in prediction.bibs],
        FACES: [_face(box) | _embedding(own) for box, own in zip(prediction.faces, vectors, strict=True)],
        LINKS: [_pair(link) for link in prediction.links],
    }
    known = {key: value for key, value in parts.items() if key not in absent}
    if traced:
        known[DROPPED] = [_dropped(seen) for seen in prediction.dropped]
    named = {"photo": name} if name else {}
    return orjson.dumps({**named, "sha256": sha256, **known}, option=orjson.OPT_APPEND_NEWLINE)


def selfie_line_of(sha256: str, found: bool, vector: Vector | None) -> bytes:
    """The line of a selfie, its end included; `found` says whether there is a face on it, also one too small."""
    line = {"selfie": sha256, "embedding": None if vector is None else vector.astype(float).tolist(), "found": found}
    return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)


def _wrong(error: ValidationError, text: bytes) -> str:
    """The first thing that is wrong with a line."""
    first = error.errors(include_url=False)[0]
    if first["type"] == "json_invalid":
        try:
            text.decode()
        except UnicodeDecodeError as cause:
            return f"not UTF-8: {cause.reason} at byte {cause.start}; expected JSON in UTF-8"
        reason = _POSITION.sub(r" at column \1", first["ctx"]["error"])  # the line is that of the file
        return f"not JSON: {reason}; expected one JSON object a line"
    if not first["loc"]:
        return "expected a JSON object with photo, bibs and faces"
    where, key = ".".join(one_line(str(key)) for key in first["loc"]), first["loc"][-1]
    if first["type"] == "extra_forbidden":
        return f"{where}: no such key; docs/predictions.md lists those that there are"
    if first["type"] in ("string_type", "string_pattern_mismatch") and key in _EXPECTED:
        return f"{where}: expected {_EXPECTED[str(key)]}, got {first['input']!r:.80}"
    return first_error(error)


def _placed(box: _PredictedBox | Dropped, size: Size | None, where: str) -> _UnitBox:
    width, height = size or (1, 1)
    try:
        x, w = cut_at_border(box.x, box.w, "xw", width)
        y, h = cut_at_border(box.y, box.h, "yh", height)
    except ValueError as error:
        raise LineError(f"{where}: {error}{_pixel_hint(box) if size is None else ''}") from error
    return {"x": x, "y": y, "w": w, "h": h}


def _pixel_hint(box: _PredictedBox | Dropped) -> str:
    """What to say about a box of shares that looks like one of pixels."""
    if max(map(abs, (box.x, box.y, box.w, box.h))) <= _SURELY_PIXELS:
        return ""
    return '; boxes are shares of the upright photo, and "unit": "px" on the line says that they are pixels'


def _links(line: PredictionLine) -> tuple[BibFaceLink, ...]:
    links = []
    for place, (bib, face, *score) in enumerate(line.links):
        if bib is None or face is None or bib >= len(line.bibs) or face >= len(line.faces):
            counts = f"{counted(len(line.bibs), 'bib')} and {counted(len(line.faces), 'face')}"
            raise LineError(f"{LINKS}.{place}: {_told_link([bib, face])} points past the {counts} of the line")
        links.append(BibFaceLink(int(bib), int(face), score[0] if score else None))
    if len(set(links)) != len(links):
        raise LineError(f"{LINKS}: one pair stands there twice; expected each once")
    return tuple(links)


def _told_link(link: Link) -> str:
    """A link as it stands in the file."""
    return f"[{', '.join('null' if part is None else f'{part:g}' for part in link)}]"


def _bib(box: BibBox, numbers: bool) -> dict[str, Any]:
    number = {"number": box.number} if numbers else {}
    chars = {"char_scores": box.char_scores} if box.char_scores else {}
    return {**_xywh(box), **number, "score": box.score, **chars}


def _face(box: FaceBox) -> dict[str, Any]:
    return {**_xywh(box), "score": box.score, **({"landmarks": box.landmarks} if box.landmarks else {})}


def _embedding(vector: Vector | None) -> dict[str, list[float]]:
    """Single precision as a decimal that is read back as the same number."""
    return {} if vector is None else {"embedding": vector.astype(float).tolist()}


def _dropped(seen: DroppedText) -> dict[str, Any]:
    """The text and what is known of the rule that dropped it."""
    reasons = {"text": seen.text, "rule": seen.rule, "value": seen.value, "limit": seen.limit}
    box = _xywh(seen) if seen.has_coords else {}
    return {**box, **{name: value for name, value in reasons.items() if value not in ("", None)}}


def _xywh(box: Box) -> dict[str, float]:
    return dict(zip("xywh", box.xywh, strict=True))


def _pair(link: BibFaceLink) -> list[float]:
    return [link.bib_index, link.face_index, *([] if link.score is None else [link.score])]
