"""Recognisers that are ONNX files: SFace (the default), ArcFace, and any file that the user has.

They differ in their file and in how it wants its pixels. Files are checked before a run begins: their digest, and that
they turn one picture into one vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from harness.base.checks import Pixels, Positive
from harness.base.errors import WeightsError
from harness.base.extras import need
from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image
from harness.pipeline.packs import model_of_pack
from harness.pipeline.weights import Model, OwnWeights, Weights, sha256_of


@dataclass(frozen=True, kw_only=True)
class OnnxRecogniser(Recogniser):
    """A model that takes one picture of `input_size` pixels a side, each pixel as (value - mean) / scale."""

    input_size: Pixels
    channels: Literal["rgb", "bgr"]
    mean: float
    scale: Positive

    @property
    def side(self) -> int:
        """The input of the model."""
        return self.input_size

    def find_models(self) -> None:
        """Find the model."""
        need("identity", "onnx", "onnxruntime")
        for model in self.models:
            model.locate()

    def load(self) -> None:
        """Open the model."""
        self.opened()

    def describe(self, face: Image) -> NDArray[np.float32]:
        """What the model answers."""
        session, name = self.opened()
        (found,) = session.run(None, {name: self.prepared(face)})
        return np.asarray(found[0], dtype=np.float32)

    def prepared(self, face: Image) -> NDArray[np.float32]:
        """An aligned face as the model takes it."""
        pixels = face[:, :, ::-1] if self.channels == "rgb" else face
        scaled = (pixels.astype(np.float32) - np.float32(self.mean)) / np.float32(self.scale)
        return np.ascontiguousarray(scaled.transpose(2, 0, 1)[None])

    def opened(self) -> tuple[Any, str]:
        """The model and the name of its input."""
        need("identity", "onnx", "onnxruntime")
        (model,) = self.models
        return _session(model.locate(), self.input_size)


@dataclass(frozen=True, kw_only=True)
class SFace(OnnxRecogniser):
    """OpenCV's SFace, whose weights may be used for anything."""

    weights: Weights

    @property
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""
        return (self.weights,)


@dataclass(frozen=True, kw_only=True)
class ArcFace(OnnxRecogniser):
    """ArcFace. With `pack`, the recogniser of a model pack of insightface that the user has takes the place of
    `weights`."""

    pack: str | None
    root: str | None
    weights: Weights

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The weights in use."""
        return (model_of_pack("identity", "recognition", self.pack, self.root) if self.pack else self.weights,)


@dataclass(frozen=True, kw_only=True)
class OnnxFile(OnnxRecogniser):
    """A file of the user's: where it is, what its bytes hash to, and what it may be used for."""

    path: str | None
    sha256: str | None
    licence: str

    def find_models(self) -> None:
        """Open the model at once: somebody's file may be anything."""
        self.load()

    @cached_property
    def models(self) -> tuple[Model, ...]:
        """The file, where it is the one that the config names."""
        if self.path is None or self.sha256 is None:
            raise WeightsError("identity=onnx: name the file: identity.path=FILE identity.sha256=DIGEST")
        path = Path(self.path).expanduser().absolute()
        if not path.is_file():
            raise WeightsError(f"identity.path: {path}: no such file")
        if (found := sha256_of(path)) != self.sha256:
            raise WeightsError(f"identity.path: {path}: SHA-256 is {found}, identity.sha256 expects {self.sha256}")
        return (OwnWeights(path, self.licence),)


@lru_cache(maxsize=2)
def _session(path: Path, side: int) -> tuple[Any, str]:
    """An open model and the name of its input. Raises WeightsError where it is no model of a picture of this size."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # it warns of every weight that it does not need
    # Threads that wait by spinning take the core from the one that computes, where cores are few.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(_without_stale_inputs(path), options, ["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base that can be imported without it
        raise WeightsError(f"{path}: not a model that ONNX Runtime can open: {error!s:.200}") from error
    inputs, outputs = session.get_inputs(), session.get_outputs()
    shapes = [(item.name, item.shape) for item in (*inputs, *outputs)]
    told = f"{path}: its inputs and outputs are {shapes}"
    if len(inputs) != 1 or len(outputs) != 1:
        raise WeightsError(f"{told}; expected one picture in and one vector out")
    if not _fits(inputs[0].shape, (1, 3, side, side)) or len(outputs[0].shape) != 2:
        raise WeightsError(f"{told}; expected a picture of 1 x 3 x {side} x {side} in and a vector of 1 x N out")
    return session, inputs[0].name


def _fits(shape: list[int | str | None], wanted: tuple[int, ...]) -> bool:
    """Whether a shape, in which names stand for any size, admits this one."""
    return len(shape) == len(wanted) and all(
        not isinstance(have, int) or have == want for have, want in zip(shape, wanted, strict=True)
    )


def _without_stale_inputs(path: Path) -> bytes:
    """The model without inputs that no node reads. SFace's file lists the weights from before they were made smaller
    as inputs, and no runtime opens it like that."""
    import onnx

    model = onnx.load(str(path))
    constant = {item.name for item in model.graph.initializer}
    read = {name for node in model.graph.node for name in node.input}
    kept = [item for item in model.graph.input if item.name in read and item.name not in constant]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    content: bytes = model.SerializeToString()
    return content
