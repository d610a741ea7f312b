"""Model packs of insightface that the user has installed, such as buffalo_l: `<root>/models/<pack>/*.onnx`.

insightface would download a pack that is not there. Here nothing is downloaded: a missing pack is an error that says
where it was looked for.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from harness.base.errors import WeightsError
from harness.pipeline.weights import OwnWeights

#: Where insightface itself keeps its packs.
DEFAULT_ROOT = "~/.insightface"
#: The packs that insightface publishes, all of them for research only.
_RESEARCH_ONLY = ("buffalo_l", "buffalo_m", "buffalo_s", "buffalo_sc", "antelopev2")


@lru_cache
def detector_of(pack: str, root: str | None) -> OwnWeights:
    """The face detector of a pack: the first of its files that insightface takes for one."""
    folder = Path(root or DEFAULT_ROOT).expanduser().absolute() / "models" / pack
    files = sorted(folder.glob("*.onnx"))
    if not files:
        raise WeightsError(
            f"face.pack={pack}: no *.onnx file in {folder}; unpack insightface's model pack {pack} there, or set "
            f"face.root to the folder that holds models/{pack}"
        )
    for file in files:
        if getattr(open_model(file), "taskname", None) == "detection":
            return OwnWeights(file, "research-only" if pack in _RESEARCH_ONLY else f"that of the pack {pack}")
    raise WeightsError(
        f"face.pack={pack}: none of {', '.join(file.name for file in files)} in {folder} is a face detector; a pack of "
        "insightface has one, such as det_10g.onnx in buffalo_l"
    )


def open_model(path: Path) -> Any:
    """A model through insightface's model zoo, on the processor; None where insightface does not know its kind."""
    try:
        from insightface import model_zoo
    except ImportError as error:
        raise WeightsError(
            f"face=scrfd needs the package insightface ({error}); install it with: pip install 'harness[insightface]'"
        ) from error
    try:
        return model_zoo.get_model(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base that can be imported without it
        raise WeightsError(f"{path}: not a model that insightface can open: {error}") from error
