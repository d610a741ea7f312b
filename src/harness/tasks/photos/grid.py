"""Cut-outs of mistakes, laid down as MLflow's image grid expects them: a chart for each kind, a step for each picture.

MLflow takes its images one by one, with several calls to the server for each. The files that it would write are written
here instead, and go with all others of the run in one call.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.tasks.photos.mistakes import Mistake, Shots
from harness.tasks.photos.pictures import with_caption

#: The tag by which MLflow's UI knows that a run has images.
IMAGES_TAG = "mlflow.loggedImages"
FOLDER = "images"
MOST_OF_A_KIND = 8


def pick_mistakes(found: Sequence[Mistake], kinds: Sequence[str]) -> list[Mistake]:
    """The first few of each of these kinds."""
    return [item for kind in kinds for item in [m for m in found if m.kind == kind][:MOST_OF_A_KIND]]


def write_grid(folder: Path, picked: Sequence[Mistake], shots: Mapping[str, Shots]) -> dict[str, str]:
    """Write each mistake twice, as MLflow does: in full, and small. Returns the tag that announces them."""
    if not picked:
        return {}
    images = folder / FOLDER
    images.mkdir()
    now = int(time.time() * 1000)
    for kind in dict.fromkeys(item.kind for item in picked):
        for step, mistake in enumerate(item for item in picked if item.kind == kind):
            lines = filter(None, (mistake.words, mistake.why, mistake.photo.name))
            picture = with_caption(shots[mistake.photo.sha256].parts[mistake.box], *lines)
            name = f"{kind}+step+{step}+timestamp+{now}+{uuid.uuid4()}"
            picture.save(images / f"{name}.png")
            picture.save(images / f"{name}+compressed.webp", quality=80)
    return {IMAGES_TAG: "true"}
