"""Model packs of insightface that the user has installed, such as buffalo_l: `<root>/models/<pack>/*.onnx`.

insightface would download a pack that is not there. Here nothing is downloaded: a missing pack is an error that says
where it was looked for.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from harness.base.errors import WeightsError
from harness.base.extras import need
from harness.pipeline.weights import OwnWeights

#: Where insightface itself keeps its packs.
_DEFAULT_ROOT = "~/.insightface"
#: The packs that insightface publishes, all of them for research only.
_RESEARCH_ONLY = ("buffalo_l", "buffalo_m", "buffalo_s", "buffalo_sc", "antelopev2")
#: What insightface calls a kind of model, and what people do, with an example.
_KINDS = {
    "detection": ("a face detector", "det_10g.onnx in buffalo_l"),
    "recognition": ("a face recogniser", "w600k_r50.onnx in buffalo_l"),
}


@lru_cache
def model_of_pack(group: str, kind: Literal["detection", "recognition"], pack: str, root: str | None) -> OwnWeights:
    """The model of a kind in a pack: the first of its files that insightface takes for one. `group` is the config group
    that asks."""
    folder = Path(root or _DEFAULT_ROOT).expanduser().absolute() / "models" / pack
    files = sorted(folder.glob("*.onnx"))
    if not files:
        raise WeightsError(
            f"{group}.pack={pack}: no *.onnx file in {folder}; unpack insightface's model pack {pack} there, or set "
            f"{group}.root to the folder that holds models/{pack}"
        )
    for file in files:
        if getattr(open_model(group, file), "taskname", None) == kind:
            return OwnWeights(file, "research-only" if pack in _RESEARCH_ONLY else f"that of the pack {pack}")
    what, example = _KINDS[kind]
    raise WeightsError(
        f"{group}.pack={pack}: none of {', '.join(file.name for file in files)} in {folder} is {what}; a pack of "
        f"insightface has one, such as {example}"
    )


def open_model(who: str, path: Path) -> Any:
    """A model through insightface's model zoo, on the processor; None where insightface does not know its kind."""
    need(who, "insightface")
    try:
        from insightface import model_zoo
    except ImportError as error:  # it is there, and something that it needs is not
        raise WeightsError(f"{who}: insightface cannot be imported: {error}") from error
    try:
        return model_zoo.get_model(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common base that can be imported without it
        raise WeightsError(f"{path}: not a model that insightface can open: {error}") from error
