"""The identity stage beside its bare model, search among 100,000 faces, and clusters of them.

*Faces to vectors* is all that the stage does in an empty cache: cutting out, aligning, the model, and keeping it.
*Search* is one query against 100,000 vectors of 128 numbers: beside numpy's own product and partition, which is the
library that it stands on, and beside faiss-cpu where that is installed. *Clusters* are compared with scipy's average
link on 5,000 faces, of which all pairs still fit into memory, cut at the same threshold: the result has to be the same.
Of 100,000 faces, three a photo, the limits are seconds of both cores together, which is at least what a clock on the
wall shows on two idle cores, and memory of a process that does nothing else. What grows with the photos is in
`identity_scale`.

    scripts/bench identity
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist

from bench.measure import best_in_turns, best_of, in_child, peak, row, show
from harness.building import build_pipeline
from harness.config import compose
from harness.pipeline.cache import StageCache
from harness.pipeline.identity.aligning import align
from harness.pipeline.identity.clustering import Clustering
from harness.pipeline.identity.constraints import ANY, Constraints
from harness.pipeline.identity.onnx import OnnxRecogniser
from harness.pipeline.identity.searching import Gallery
from harness.pipeline.looks import Look
from harness.scoring.boxes import Ints
from harness.scoring.clusters import score_clusters
from harness.scoring.people import Vectors
from harness.testing import Picture, draw_runners

FACES, FEWER, DIMENSIONS, A_PERSON, A_PHOTO = 100_000, 5_000, 128, 20, 3
FOUND, THRESHOLD = 10, 0.4
SECONDS_LIMIT, MEGABYTES_LIMIT = 60.0, 2000.0
CLUSTERING = Clustering(neighbours=64, number_weight=0.0, time_weight=0.0, seconds_apart=60.0)


def make_faces(faces: int, seed: int = 0, noise: float = 0.8) -> tuple[Vectors, Ints]:
    """Vectors around those of people, and who they are; with little noise faces of one person are about .6 similar."""
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(faces // A_PERSON, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    person = rng.integers(0, len(people), faces)
    vectors = people[person] + noise * rng.normal(size=(faces, DIMENSIONS)) / np.sqrt(DIMENSIONS)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), person


def measure() -> list[dict[str, Any]]:
    """All cases."""
    return [
        *_stage("sface"),
        *_stage("arcface"),
        *_search(),
        *_few_clusters(),
        *_many_clusters(),
    ]


def _stage(choice: str) -> list[dict[str, Any]]:
    """A photo's faces from pixels to vectors in an empty cache, beside the model alone on faces that are aligned."""
    recogniser = build_pipeline(compose([f"identity={choice}"])).identity
    assert isinstance(recogniser, OnnxRecogniser)
    recogniser = replace(recogniser, least_height=1)
    scene = draw_runners(["1", "2", "3", "4", "5", "6"])
    photo, faces = Picture(scene.image), scene.labels.faces or ()
    session, name = recogniser.opened()
    batch = recogniser.prepared(align(scene.image, faces[0], recogniser.side))

    with tempfile.TemporaryDirectory() as folder:
        cache, turns = StageCache(Path(folder), 10**9), count()

        def stage() -> None:
            # Moved a little each time, so that the cache has no answer and keeps a new one.
            shift = next(turns) * 1e-9
            seen = recogniser.embed(Look(photo, cache), [replace(face, x=face.x + shift) for face in faces])
            assert seen.enrolled.all()

        def alone() -> None:
            for _ in faces:
                session.run(None, {name: batch})

        stage()
        ours, peer = best_in_turns(stage, alone, 25)
    return [row(f"faces of a photo to vectors, {choice}", ours, "the model alone", peer, 1 / 1.15)]


def _search() -> list[dict[str, Any]]:
    vectors, _ = make_faces(FACES)
    query, gallery = vectors[0], Gallery.of(vectors)

    def numpy_alone() -> Ints:
        similar = vectors @ query
        best: Ints = np.argpartition(similar, FACES - FOUND)[FACES - FOUND :]
        return best[np.argsort(-similar[best])]

    assert gallery.search(query, most=FOUND).rows.tolist() == numpy_alone().tolist()
    first: dict[str, Callable[[], object]] = {
        "ours": lambda: gallery.search(query, most=FOUND),
        "numpy alone": numpy_alone,
    }
    above: dict[str, Callable[[], object]] = {
        "ours": lambda: gallery.search(query, least=THRESHOLD),
        "numpy alone": lambda: np.flatnonzero(vectors @ query >= THRESHOLD),
    }
    if find_spec("faiss"):
        index = importlib.import_module("faiss").IndexFlatIP(DIMENSIONS)
        index.add(vectors)
        first["faiss-cpu"] = lambda: index.search(query[None], FOUND)
        above["faiss-cpu"] = lambda: index.range_search(query[None], THRESHOLD)
    return [*_beside("first 10", first), *_beside("all above a threshold", above)]


def _beside(what: str, ways: dict[str, Callable[[], object]]) -> list[dict[str, Any]]:
    """The fastest of many searches each way. Time on the wall: numpy uses both cores, faiss one. They take turns of 20
    searches, since the first one after another way finds nothing of its vectors in the processor's cache."""
    least = dict.fromkeys(ways, np.inf)
    for _, (name, work), _ in product(range(15), ways.items(), range(20)):
        start = time.perf_counter()
        work()
        least[name] = min(least[name], time.perf_counter() - start)
    ours = least.pop("ours")
    return [row(f"search of 100,000 faces, {what}", ours, name, peer, 1 / 1.2) for name, peer in least.items()]


def _few_clusters() -> list[dict[str, Any]]:
    vectors, _ = make_faces(FEWER)
    alone = Constraints(np.full(FEWER, ANY))

    def plain() -> Any:
        return fcluster(linkage(pdist(vectors, "cosine"), "average"), 1 - THRESHOLD, "distance")

    ours, peer = CLUSTERING.cluster(vectors, THRESHOLD, alone), plain()
    compared = score_clusters(peer.astype(np.int64), ours)
    assert compared.pair_fp == compared.pair_fn == 0, "the clusters are not those of scipy"
    seconds = best_of(lambda: CLUSTERING.cluster(vectors, THRESHOLD, alone), 3)
    return [row("clusters of 5,000 faces", seconds, "scipy's average link", best_of(plain, 3), 1)]


def _many_clusters() -> list[dict[str, Any]]:
    told = in_child("bench.identity", "clusters")
    assert told["bcubed_f1"] > 0.95, told
    memory = row("clusters of 100,000 faces: memory", told["megabytes"], "limit", MEGABYTES_LIMIT, 1)
    return [
        row("clusters of 100,000 faces", told["seconds"], "limit", SECONDS_LIMIT, 1),
        {**memory, "unit": "M"},
    ]


def _clusters() -> dict[str, float]:
    """Cluster the large set in this process."""
    vectors, person = make_faces(FACES)
    constraints = Constraints(np.random.default_rng(1).permutation(FACES) // A_PHOTO)
    start, wall = time.process_time(), time.perf_counter()
    clusters = CLUSTERING.cluster(vectors, THRESHOLD, constraints)
    seconds, wall_seconds = time.process_time() - start, time.perf_counter() - wall
    return {
        "seconds": seconds,
        "wall_seconds": wall_seconds,
        "megabytes": peak(),
        "bcubed_f1": score_clusters(person, clusters).bcubed_f1,
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["clusters"]:
        print(json.dumps(_clusters()))
    else:
        show(measure())
