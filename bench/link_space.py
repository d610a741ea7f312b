"""Is there anything better in the space of `experiments/link_geometry.yaml`? Every point of it, on the sample set.

    python -m bench.link_space

Bibs and faces are those of the base, from the stage cache; only the links are made anew. Points that link alike are
scored once.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

from harness.building import instantiate
from harness.pipeline.links.geometric import GeometricLinker
from harness.scoring import tally_links
from harness.search.experiment import read_experiment
from harness.search.searchable import trial_config, trial_spec
from harness.search.space import points
from harness.tasks.photos.predicting import predict

FILE = Path(__file__).parents[1] / "experiments" / "link_geometry.yaml"


def main() -> None:
    """Walk the space and print how the points score."""
    experiment = read_experiment(FILE)
    spec = trial_spec(experiment, {})
    task = spec.photos
    evaluated, _ = predict(task.pipeline, task.references.photos, task.cache.open())
    labels = [photo.labels for photo in evaluated]
    aspects = [_aspect(photo.photo.path) for photo in evaluated]
    known: dict[object, float] = {}

    def score(linker: GeometricLinker) -> float:
        seen = [photo.prediction for photo in evaluated]
        links = tuple(linker.link(one.bibs, one.faces, aspect) for one, aspect in zip(seen, aspects, strict=True))
        key = tuple(tuple((link.bib_index, link.face_index) for link in own) for own in links)
        if key not in known:
            linked = [replace(one, links=own) for one, own in zip(seen, links, strict=True)]
            tally = tally_links(labels, linked, task.scoring.bib_iou, task.scoring.face_iou)
            known[key] = tally.scorecard().rate("link_f1")
        return known[key]

    linker: GeometricLinker = instantiate(trial_config(experiment, {}), "link")
    base, found = score(linker), Counter[float]()
    for point in points(experiment.space):
        values: dict[str, Any] = {key.removeprefix("link."): value for key, value in point.items()}
        found[score(replace(linker, **values))] += 1
    better = sum(count for value, count in found.items() if value > base)
    print(f"base link/f1 {base:.4f}; {found.total():,} points, {len(known)} different outcomes")
    print(f"better than the base: {better:,}; best {max(found):.4f}, reached by {found[max(found)]:,} points")


def _aspect(path: Path) -> float:
    with Image.open(path) as picture:
        width, height = ImageOps.exif_transpose(picture).size
    return width / height


if __name__ == "__main__":
    main()
