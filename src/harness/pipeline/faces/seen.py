"""What a face detector sees, as it is kept: everything above a low floor, so that a threshold costs nothing."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from harness.pipeline.images import to_unit
from harness.pipeline.looks import Image
from harness.types import FaceBox

#: Detections below this score are not kept; a threshold below it would find no more.
FLOOR = 0.3


class SeenFace(TypedDict):
    """One detection in normalised coordinates."""

    box: tuple[float, float, float, float]
    score: float
    landmarks: list[list[float]]


SeenFaces = list[SeenFace]


def seen_faces(edges: Any, points: Any, scores: Any, image: Image) -> SeenFaces:
    """Detections from pixel edges (left, top, right, bottom), five points each and scores."""
    height, width = image.shape[:2]
    landmarks = np.asarray(points, dtype=np.float64) / (width, height)
    found: SeenFaces = []
    for box, its_points, score in zip(np.asarray(edges).tolist(), landmarks.tolist(), scores, strict=True):
        left, top, right, bottom = box
        unit = to_unit(left, top, right, bottom, image)
        found.append(
            {"box": (unit["x"], unit["y"], unit["w"], unit["h"]), "score": float(score), "landmarks": its_points}
        )
    return found


def to_faces(seen: SeenFaces, threshold: float) -> tuple[FaceBox, ...]:
    """The detections at or above a threshold. One of which nothing is on the photo is none."""
    faces = []
    for face in seen:
        x, y, w, h = face["box"]
        if face["score"] >= threshold and w > 0 and h > 0:
            landmarks = tuple((px, py) for px, py in face["landmarks"])
            faces.append(FaceBox(x=x, y=y, w=w, h=h, score=face["score"], landmarks=landmarks))
    return tuple(faces)
