"""Faces by SCRFD, through insightface's model zoo. The default weights are licensed for research only.

With `pack`, the detector of a model pack of insightface that the user has installed, such as buffalo_l, takes the place
of `weights`: `<root>/models/<pack>/*.onnx`. insightface would download a pack that is not there. Here nothing is
downloaded: a missing pack is an error that says where it was looked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from harness.base.checks import Pixels, Share
from harness.base.errors import WeightsError
from harness.base.extras import need
from harness.pipeline.faces.seen import FLOOR, SeenFaces, seen_faces, to_faces
from harness.pipeline.images import scale_to
from harness.pipeline.looks import Image, Look
from harness.pipeline.weights import Model, OwnWeights, Weights
from harness.types import FaceBox

_STRIDE = 32
#: Where insightface itself keeps its packs.
_DEFAULT_ROOT = "~/.insightface"
#: The packs that insightface publishes, all of them for research only.
_RESEARCH_ONLY = ("buffalo_l", "buffalo_m", "buffalo_s", "buffalo_sc", "antelopev2")


@dataclass(frozen=True)
class Scrfd:
    """insightface's SCRFD on the photo scaled to `long_side`."""

    CHEAP: ClassVar = frozenset({"threshold"})

    long_side: Pixels
    threshold: Share
    nms_iou: Share
    pack: str | None
    root: str | None
    weights: Weights

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""
        return (_detector_of(self.pack, self.root) if self.pack else self.weights,)

    def load(self) -> None:
        """Open the model."""
        _detector(*self.models)

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """Faces with a score of at least `threshold`, best first."""
        return to_faces(look.see("face", self, None, self._see), self.threshold)

    def _see(self, image: Image) -> SeenFaces:
        scaled, factor = scale_to(image, self.long_side)
        detector = _detector(*self.models)
        detector.det_thresh, detector.nms_thresh = FLOOR, self.nms_iou
        height, width = (math.ceil(side / _STRIDE) * _STRIDE for side in scaled.shape[:2])
        boxes, landmarks = detector.detect(scaled, input_size=(width, height))
        return seen_faces(boxes[:, :4] / factor, landmarks / factor, boxes[:, 4], image)


@lru_cache(maxsize=1)
def _detector(weights: Model) -> Any:
    detector = _open_model(weights.locate())
    detector.prepare(ctx_id=-1)
    return detector


@lru_cache
def _detector_of(pack: str, root: str | None) -> OwnWeights:
    """The face detector of a pack: the first of its files that insightface takes for one."""
    folder = Path(root or _DEFAULT_ROOT).expanduser().absolute() / "models" / pack
    files = sorted(folder.glob("*.onnx"))
    if not files:
        raise WeightsError(
            f"face.pack={pack}: no *.onnx file in {folder}; unpack insightface's model pack {pack} there, or set "
            f"face.root to the folder that holds models/{pack}"
        )
    for file in files:
        if getattr(_open_model(file), "taskname", None) == "detection":
            return OwnWeights(file, "research-only" if pack in _RESEARCH_ONLY else f"that of the pack {pack}")
    raise WeightsError(
        f"face.pack={pack}: none of {', '.join(file.name for file in files)} in {folder} is a face detector; a pack of "
        "insightface has one, such as det_10g.onnx in buffalo_l"
    )


def _open_model(path: Path) -> Any:
    """A model through insightface's model zoo, on the processor; None where insightface does not know its kind."""
    need("face=scrfd", "insightface")
    try:
        from insightface import model_zoo
    except ImportError as error:  # it is there, and something that it needs is not
        raise WeightsError(f"face=scrfd: insightface cannot be imported: {error}") from error
    try:
        return model_zoo.get_model(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base that can be imported without it
        raise WeightsError(f"{path}: not a model that insightface can open: {error}") from error
