"""Cut-outs of mistakes, laid down as MLflow's image grid expects them: a chart for each kind, a step for each picture.

MLflow takes its images one by one, with several calls to the server for each. The files that it would write are written
here instead, and go with all others of the run in one call.
"""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.tasks.photos.mistakes import Mistake
from harness.tasks.photos.pictures import with_caption
from harness.tasks.photos.shots import PhotoPictures, Shots

#: The tag by which MLflow's UI knows that a run has images.
IMAGES_TAG = "mlflow.loggedImages"
FOLDER = "images"
MOST_OF_A_KIND = 8
#: In which formats, as which files, and how hard they are pressed.
_FORMATS: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("PNG", ".png", {}),
    ("WEBP", "+compressed.webp", {"quality": 80}),
)


def pick_mistakes(found: Sequence[Mistake], kinds: Sequence[str]) -> list[Mistake]:
    """The first few of each of these kinds."""
    return [item for kind in kinds for item in [m for m in found if m.kind == kind][:MOST_OF_A_KIND]]


def write_grid(folder: Path, picked: Sequence[Mistake], pictures: PhotoPictures) -> dict[str, str]:
    """Write each mistake twice, as MLflow does: in full, and small. Returns the tag that announces them."""
    if not picked:
        return {}
    images = folder / FOLDER
    images.mkdir()
    now = int(time.time() * 1000)
    for kind in dict.fromkeys(item.kind for item in picked):
        for step, mistake in enumerate(item for item in picked if item.kind == kind):
            name = f"{kind}+step+{step}+timestamp+{now}+{uuid.uuid4()}"
            for file_format, end, options in _FORMATS:
                if (content := _captioned(mistake, pictures, file_format, options)) is not None:
                    (images / f"{name}{end}").write_bytes(content)
    return {IMAGES_TAG: "true"}


def _captioned(mistake: Mistake, pictures: PhotoPictures, file_format: str, options: Mapping[str, int]) -> bytes | None:
    lines = tuple(filter(None, (mistake.words, mistake.why, mistake.photo.name)))

    def draw(shots: Shots) -> bytes:
        content = io.BytesIO()
        with_caption(shots.parts[mistake.box], *lines).save(content, file_format, **options)
        return content.getvalue()

    return pictures.picture(mistake.photo.sha256, ("cut-out", mistake.box, lines, file_format, options), draw)
