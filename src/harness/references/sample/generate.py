"""Write the sample set: photos, index, labels, links, identities and selfies."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import cv2

from harness.base.disk import write_atomically
from harness.base.progress import track
from harness.references.files import (
    BibFaceLinks,
    BibGroundTruth,
    BibLabels,
    FaceGroundTruth,
    FaceIdentities,
    FaceLabels,
    PhotoIndex,
    PhotoRecord,
    Selfies,
    write_file,
)
from harness.references.photo_files import SELFIES
from harness.references.sample.compose import compose
from harness.references.sample.labels import SceneLabels, label
from harness.references.sample.runners import BYSTANDERS, RUNNERS
from harness.references.sample.scenes import SCENES, Scene
from harness.references.sample.selfies import STRANGERS, selfies
from harness.references.splitting import split_of

L = TypeVar("L", BibLabels, FaceLabels)

_ADDED_AT = "2024-05-12T00:00:00Z"
_QUALITY = 88
_README = """\
Sample reference set of the harness.

The photos are composed: synthetic persons from the package openpeople (MIT licence) wear drawn bibs, in the
parks of the same package and in drawn streets. Nobody in them exists. The labels follow from how each photo
was put together. The selfies are pictures of the same package; one person among them is in no photo.

The set is made to try the harness out, and not to judge a pipeline by: label photos of your own for that.
"""


def generate(root: Path, scenes: Sequence[Scene] = SCENES) -> None:
    """Write the set under `root`. The same environment gives the same bytes."""
    (root / "photos").mkdir(parents=True, exist_ok=True)
    (root / SELFIES).mkdir(exist_ok=True)
    index: dict[str, PhotoRecord] = {}
    bibs: dict[str, BibLabels] = {}
    faces: dict[str, FaceLabels] = {}
    links: dict[str, list[tuple[int, int]]] = {}
    for number in track(range(len(scenes)), "composing the sample set, once"):
        content, labels = render(scenes[number], number)
        sha256 = hashlib.sha256(content).hexdigest()
        write_atomically(root / "photos" / f"{sha256}.jpg", content)
        width, height = scenes[number].size
        index[sha256] = PhotoRecord(
            names=[f"sample_{number + 1:02d}.jpg"],
            width=width,
            height=height,
            bytes=len(content),
            added_at=_ADDED_AT,
            split=split_of(sha256),
        )
        bibs[sha256], faces[sha256], links[sha256] = _named(labels.bibs, "b"), _named(labels.faces, "f"), labels.links
    names = [runner.name for runner in RUNNERS.values()] + list(BYSTANDERS.values()) + list(STRANGERS.values())
    for sha256, _, content in selfies():
        write_atomically(root / SELFIES / f"{sha256}.jpg", content)
    write_atomically(root / "README.txt", _README.encode())
    write_file(root, FaceIdentities(names=names, identities_labeled=True))
    write_file(root, Selfies(photos={sha256: owner for sha256, owner, _ in selfies()}))
    write_file(root, BibGroundTruth(photos=bibs))
    write_file(root, FaceGroundTruth(photos=faces))
    write_file(root, BibFaceLinks(photos=links))
    write_file(root, PhotoIndex(photos=index))


def _named(labels: L, letter: str) -> L:
    """Labels whose boxes have ids by their places, the same ones each time."""
    boxes = [box.model_copy(update={"id": f"{letter}{place}"}) for place, box in enumerate(labels.boxes)]
    return labels.model_copy(update={"boxes": boxes})


def render(scene: Scene, seed: int) -> tuple[bytes, SceneLabels]:
    """One scene as the bytes of a JPEG, and its labels."""
    photo = compose(scene, seed)
    _, encoded = cv2.imencode(".jpg", photo.image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    return encoded.tobytes(), label(scene, photo)
