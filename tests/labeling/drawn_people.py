"""A set of drawn people for the workbench: a face is a pattern of sixteen colours, one for each person, with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from harness.building import build_pipeline
from harness.config import compose
from harness.pipeline import Pipeline
from harness.pipeline.cache import CacheConfig
from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image as Pixels
from harness.pipeline.looks import Look
from harness.pipeline.weights import Model
from harness.references.adding import add_photos
from harness.references.sets import StagingSet
from harness.references.store import LabelStore
from harness.references.suggestions import (
    GhostBib,
    GhostFace,
    PhotoSuggestions,
    Provenance,
    StageProvenance,
    Suggestions,
)
from harness.tasks.identity.finder import Finder
from harness.tasks.photos.scores import PhotoScoring
from harness.tasks.photos.task import PhotosTask
from harness.types import BibBox, FaceBox, Split

#: A photo in short: who is in it, and the number that was read on each of them, if any.
Shot = Mapping[str, str | None]
SIDE, WIDTH, HEIGHT = 60, 480, 240


@dataclass(frozen=True)
class NoFaces:
    """Finds none: faces are where labels and suggestions say."""

    CHEAP: ClassVar = frozenset[str]()
    models: tuple[Model, ...] = ()

    def load(self) -> None:
        """Nothing to open."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        return ()

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        return ()


@dataclass(frozen=True, kw_only=True)
class Patterns(Recogniser):
    """A face is its pattern."""

    @property
    def models(self) -> tuple[Model, ...]:
        """None."""
        return ()

    @property
    def side(self) -> int:
        """Four pixels for each colour."""
        return 16

    def load(self) -> None:
        """Nothing to open."""

    def describe(self, face: Pixels) -> NDArray[np.float32]:
        small = face.astype(np.float32).reshape(4, 4, 4, 4, 3).mean(axis=(1, 3)).reshape(-1)
        return np.asarray(small - small.mean(), dtype=np.float32)


def finder(root: Path, cache: Path) -> Finder:
    """What compares drawn people."""
    ours = build_pipeline(compose([]))
    assert ours.identity is not None
    people = Patterns(least_height=20, gallery="all", fpir=0.01, clustering=ours.identity.clustering)
    pipeline = Pipeline(NoFaces(), NoFaces(), ours.link, people)
    staging, scoring = StagingSet(str(root), Split.FULL, "photo"), PhotoScoring(bib_iou=0.5, face_iou=0.5)
    return Finder(PhotosTask(staging, scoring, pipeline, CacheConfig(True, str(cache), 100)))


def face_place(position: int) -> tuple[float, float, float, float]:
    """Where the face at a position is."""
    return ((20 + position * 100) / WIDTH, 20 / HEIGHT, SIDE / WIDTH, SIDE / HEIGHT)


def draw(path: Path, people: Sequence[str], noise: int) -> None:
    """A photo of some people, side by side, each with a bib."""
    pixels = np.full((HEIGHT, WIDTH, 3), 90, dtype=np.uint8)
    for position, name in enumerate(people):
        pattern = np.random.default_rng([*name.encode()]).integers(0, 255, (4, 4, 3))
        noisy = pattern + np.random.default_rng([noise, position]).integers(-35, 36, (4, 4, 3))
        face = np.clip(noisy, 0, 255).astype(np.uint8).repeat(SIDE // 4, axis=0).repeat(SIDE // 4, axis=1)
        left = 20 + position * 100
        pixels[20 : 20 + SIDE, left : left + SIDE] = face
        pixels[120:160, left : left + SIDE] = 240
    Image.fromarray(pixels).save(path)


def make_set(folder: Path, shots: Mapping[str, Shot]) -> LabelStore:
    """Photos by file name, with suggestions for their faces, bibs and links, and no labels."""
    source, root = folder / "drawn", folder / "set"
    source.mkdir(parents=True)
    for noise, (name, people) in enumerate(shots.items()):
        draw(source / name, list(people), noise)
    store = LabelStore(root)
    add_photos(store, sorted(source.iterdir()))
    stage = StageProvenance(backend="drawn.Faces", version="harness 0", models={}, config={})
    made_by = Provenance(bib=stage, face=stage, link=stage)
    photos = store.contents().index.photos
    with store.edit() as draft:
        draft.put_head(Suggestions, provenances={made_by.key: made_by})
        for sha256, record in photos.items():
            draft.put(Suggestions, sha256, _suggested(shots[record.names[0]], made_by.key))
    return store


def _suggested(shot: Shot, key: str) -> PhotoSuggestions:
    faces: list[GhostFace] = []
    bibs: list[GhostBib] = []
    links: list[tuple[int, int]] = []
    for position, number in enumerate(shot.values()):
        x, y, w, h = face_place(position)
        faces.append(GhostFace(x=x, y=y, w=w, h=h, score=0.9))
        if number is not None:
            links.append((len(bibs), position))
            bibs.append(GhostBib(x=x, y=120 / HEIGHT, w=w, h=40 / HEIGHT, number=number, score=0.9))
    return PhotoSuggestions(provenance=key, bibs=bibs, faces=faces, links=links)


def a_race() -> dict[str, Shot]:
    """Six runners on four photos each, three of them with a number, and six people who are there once."""
    shots: dict[str, Shot] = {}
    for place, name in enumerate(("Ada", "Bo", "Cy", "Dee", "Eve", "Flo")):
        for photo in range(4):
            number = str(401 + place) if place < 3 and photo < 2 else None
            alone = {f"stranger {place}": None} if photo == 3 else {}
            shots[f"{name}_{photo}.png"] = {name: number, **alone}
    return shots
