"""Identity on 20,000 photos: does memory stay flat, and how long does it take?

*Scorecards* are those of 20,000 photos with 60,000 faces of 3,000 runners: memory has to be about that of a quarter
of the photos, and seconds are told beside the bare products of all queries with all faces, which the four of them
cannot do without. Everybody searches by a selfie, and then by each of their faces: 3.6 billion pairs of a query and a
face, of which none is left out. *The stage* on 20,000 photos is drawn vectors through the stage cache, and *groups*
are those of 60,000 faces of `/people/`, of which three in ten have a name, and many are alike to nobody. *Run* is the
command `harness` on 20,000 tiny photos, whose 1,000 runners have a selfie each: everything from reading the photos to
the report, with vectors that are drawn.

    scripts/bench identity
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench import large
from bench.identity import A_PERSON, A_PHOTO, CLUSTERING, DIMENSIONS, MEGABYTES_LIMIT, SECONDS_LIMIT, make_faces
from bench.measure import in_child, peak, row, show
from harness.labeling.people.alike import faces_alike
from harness.labeling.people.clusters import cluster_faces
from harness.labeling.people.faces import Face, FaceIndex
from harness.labeling.people.grouping import make_groups
from harness.labeling.people.known import KnownPeople
from harness.pipeline.cache import StageCache
from harness.pipeline.identity.constraints import Constraints
from harness.pipeline.identity.hints import Hints
from harness.pipeline.identity.recognising import FaceVectors, Recogniser
from harness.pipeline.looks import Image, Look
from harness.scoring.people import Appearances, Evidence, Faces, Person, Photos, Queries, Vectors
from harness.scoring.searching import Search, operate
from harness.scoring.selfies import FPIRS
from harness.tasks.identity.grouping import Grouping
from harness.tasks.identity.scores import score
from harness.testing import draw_runners

PHOTOS, MEMORY_GROWTH, FLOOR_LIMIT = 20_000, 2.0, 30.0
EVERY_FACE_LIMIT = 600.0
GROUPED, NAMED, GROUPS_MEGABYTES = 60_000, 0.3, 1000.0


def measure() -> list[dict[str, Any]]:
    """All cases."""
    many, fewer = (
        _measured("scorecards", PHOTOS),
        _measured("scorecards", PHOTOS // 4),
    )
    memory = row(
        "scorecards of 20,000 photos: memory", many["megabytes"], "of 5,000", fewer["megabytes"], 1 / MEMORY_GROWTH
    )
    seconds = row("scorecards of 20,000 photos", many["seconds"], "bare products", many["floor"], 1 / FLOOR_LIMIT)
    every, stage, fewer_stage = (
        _measured("every_face", PHOTOS),
        _measured("stage", PHOTOS),
        _measured("stage", PHOTOS // 4),
    )
    stage_memory = row(
        "stage on 20,000 photos: memory", stage["megabytes"], "of 5,000", fewer_stage["megabytes"], 1 / MEMORY_GROWTH
    )
    groups = _measured("groups", GROUPED)
    run, fewer_run = (_run(size) for size in (PHOTOS, PHOTOS // 4))
    run_memory = row(
        "run of 20,000 photos: memory", run["megabytes"], "of 5,000", fewer_run["megabytes"], 1 / MEMORY_GROWTH
    )
    groups_memory = row(
        "groups of 60,000 faces for /people/: memory", groups["megabytes"], "limit", GROUPS_MEGABYTES, 1
    )
    return [
        {**stage_memory, "unit": "M"},
        {**memory, "unit": "M"},
        {**run_memory, "unit": "M"},
        row("groups of 60,000 faces for /people/", groups["seconds"], "limit", SECONDS_LIMIT, 1),
        {**groups_memory, "unit": "M"},
        seconds,
        row("scorecards of 60,000 faces that all search", every["seconds"], "limit", EVERY_FACE_LIMIT, 1),
        {
            **row(
                "scorecards of 60,000 faces that all search: memory", every["megabytes"], "limit", MEGABYTES_LIMIT, 1
            ),
            "unit": "M",
        },
    ]


def _run(photos: int) -> dict[str, float]:
    """`harness` on so many tiny photos whose runners have names and selfies, from an empty cache to the report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large.make_conf(folder / "conf")
        large.make_set(folder / str(photos), photos, named=True)
        return large.run(folder, photos, "stub")


def _measured(what: str, size: int) -> dict[str, float]:
    return in_child("bench.identity_scale", what, size)


def _scorecards(evidence: Evidence) -> dict[str, float]:
    """Search, compare and group faces in this process."""
    queries, faces = (each.vectors.astype(np.float64) for each in (evidence.queries, evidence.faces))
    start = time.process_time()
    for first in range(0, len(queries), 50):
        queries[first : first + 50] @ faces.T
    floor = time.process_time() - start
    del queries, faces
    start, search = time.process_time(), Search(evidence)
    points = operate(search, tuple(FPIRS))
    grouping = Grouping(
        evidence, CLUSTERING, Constraints(evidence.faces.photo), Hints.none(len(evidence.faces)), Path("drawn")
    )
    score(search, points[0], points, grouping.at(grouping.point(points[0].whole)))
    return {"seconds": time.process_time() - start, "floor": floor, "megabytes": peak()}


@dataclass(frozen=True, kw_only=True)
class Drawn(Recogniser):
    """A recogniser without a model: a vector that is drawn anew for each face."""

    models = ()
    side = 112

    def load(self) -> None:
        """Nothing to open."""

    def describe(self, face: Image) -> Vectors:
        """By the pixels, so that equal faces are alike."""
        return np.random.default_rng(face[:8, :8].reshape(-1).tolist()).normal(size=DIMENSIONS).astype(np.float32)


@dataclass(frozen=True)
class Copy:
    """A photo by another hash."""

    image: Image
    sha256: str


def _staged(photos: int) -> dict[str, float]:
    """The stage on so many photos of three faces: computed, kept in the cache, and read from it once more."""
    drawn = Drawn(least_height=20, gallery="all", fpir=0.01, clustering=CLUSTERING)
    scene = draw_runners(["1", "2", "3"])
    faces = scene.labels.faces or ()
    start = time.process_time()
    kept: list[FaceVectors] = []
    with tempfile.TemporaryDirectory() as folder:
        for again in (False, True):
            cache = StageCache(Path(folder), 10**9)
            for place in range(photos):
                look = Look(Copy(scene.image, f"{place:064x}"), cache)
                seen = drawn.embed(look, faces)
                assert bool(look.hits) == again
                kept += [seen] if again else []
    assert sum(map(len, kept)) == A_PHOTO * photos
    return {"seconds": time.process_time() - start, "megabytes": peak()}


def _groups(count: int) -> dict[str, float]:
    """Groups of `/people/` from vectors that are known."""
    rng = np.random.default_rng(0)
    vectors, person = make_faces(count, noise=1.6)
    places, named, numbered = rng.random(count), rng.random(count) < NAMED, rng.random(count) < 0.5
    photo = rng.permutation(count) // A_PHOTO
    photos: dict[str, tuple[Face, ...]] = {}
    for face in np.argsort(photo, kind="stable").tolist():
        name, who = f"{photo[face]:064x}", str(person[face])
        number = who if numbered[face] else None
        box = (float(places[face]), 0.1, 0.1, 0.1)
        here = Face(f"{name}:f{face}", name, box, who if named[face] else None, not named[face], number)
        photos[name] = (*photos.get(name, ()), here)
    index = FaceIndex(photos, {})
    known = {face.where: vectors[int(face.name.partition(":f")[2])] for face in index.by_name.values()}
    start = time.process_time()
    clusters = cluster_faces(index, known, replace(CLUSTERING, number_weight=0.2), 0.01)
    people = KnownPeople(index, clusters)
    groups = make_groups(index, clusters, people, frozenset())
    faces_alike(index, clusters, people)
    assert sum(len(group.faces) for group in groups) == count - np.count_nonzero(named)
    return {"seconds": time.process_time() - start, "megabytes": peak()}


def make_evidence(photos: int) -> Evidence:
    """Photos with three runners each, whose numbers are read in seven of ten, and a selfie of every runner."""
    rng = np.random.default_rng(0)
    count, people = A_PHOTO * photos, photos * A_PHOTO // A_PERSON
    vectors, person = make_faces(count)
    photo = np.repeat(np.arange(photos), A_PHOTO)
    _, once = np.unique(person * photos + photo, return_index=True)  # nobody is in a photo twice
    once.sort()
    vectors, person, photo = vectors[once], person[once], photo[once]
    everywhere, read = np.ones(len(once), dtype=bool), rng.random(len(once)) < 0.7
    numbers = tuple(str(who) if there else None for who, there in zip(person.tolist(), read, strict=True))
    found: list[set[str]] = [set() for _ in range(photos)]
    for where, number in zip(photo.tolist(), numbers, strict=True):
        found[where] |= {number} if number else set()
    said = np.ones(photos, dtype=bool)
    _, selfies = np.unique(person, return_index=True)
    none = np.zeros(people, dtype=np.int64)
    away = np.full(len(selfies), -1)
    noisy = vectors[selfies] + 0.05 * rng.normal(size=(len(selfies), DIMENSIONS)).astype(np.float32)
    noisy /= np.linalg.norm(noisy, axis=1, keepdims=True)
    return Evidence(
        people=tuple(Person(str(who), numbers=(str(who),), group=str(who // 30)) for who in range(people)),
        photos=Photos(tuple(map(str, range(photos))), said, said, tuple(map(frozenset, found))),
        faces=Faces(vectors, photo, person, everywhere, np.full(len(once), 40.0), read, numbers),
        appearances=Appearances(
            person,
            photo,
            everywhere,
            np.arange(len(once)),
            everywhere,
            everywhere,
            read,
            ~everywhere,
            np.full(len(once), 40.0),
        ),
        queries=Queries(noisy, person[selfies], away, away, none, none),
    )


def by_every_face(evidence: Evidence) -> Evidence:
    """The same photos, where people have no selfie and search by each of their faces."""
    faces, none = evidence.faces, np.zeros(len(evidence.people), dtype=np.int64)
    return replace(
        evidence, queries=Queries(faces.vectors, faces.person, faces.photo, np.arange(len(faces)), none, none)
    )


if __name__ == "__main__":
    if not sys.argv[1:]:
        show(measure())
        sys.exit()
    what, size = sys.argv[1], int(sys.argv[2])
    if what == "stage":
        told = _staged(size)
    elif what == "groups":
        told = _groups(size)
    else:
        evidence = make_evidence(size)
        told = _scorecards(by_every_face(evidence) if what == "every_face" else evidence)
    print(json.dumps(told))
