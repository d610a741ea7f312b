"""How quick are the labelling pages on 20,000 photos, three bibs, three faces and as many suggestions each?

Time on the wall against a limit, the slowest of several goes. The app is driven in process, so that the server's side
counts, and the client's little with it. Every other go follows a save of one photo, as in a day of labelling, so that
the summary of all photos has to be renewed, and faces are regrouped aside while the next pages are asked for. *Start*
is reading and checking all files once, before the server listens; in processor time.

    scripts/bench labeling
"""

from __future__ import annotations

import gc
import hashlib
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from bench.measure import row, show
from bench.references import PHOTOS, make
from harness.building import build_finder
from harness.config import compose
from harness.exploring.opened import OpenedRuns
from harness.labeling.access import Access
from harness.labeling.app import make_app
from harness.labeling.context import Context
from harness.labeling.history import RunHistory
from harness.labeling.people.workbench import Workbench
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import StagingSource
from harness.pipeline.links.geometric import GeometricLinker
from harness.references.files import write_file
from harness.references.people import Change
from harness.references.store import LabelStore
from harness.references.suggestions import Suggestions
from harness.runs.gate import Gate
from harness.scoring.detection import Thresholds
from harness.tracking.store import LocalStore

PAGE_LIMIT, START_LIMIT, GROUPS_LIMIT, REGROUP_LIMIT = 0.3, 10.0, 240.0, 20.0
GOES = 7
PAGES = (
    "/",
    "/labels/",
    "/labels/?show=ghosts&split=holdout",
    "/faces/labels/?show=incomplete&page=300",
    "/links/",
    "/staging/",
    "/staging/?state=partial",
    "/staging/?cross_checks=true",
    "/runs/",
    "/docs/",
    "/labels/{photo}",
    "/links/{photo}?show=unlabelled",
    "/api/photos/{photo}",
    "/api/queue?dimension=links&show=suspects&at={photo}",
    "/api/progress",
    "/api/names",
    "/people/",
    "/people/known/",
    "/people/known/?search=runner_1",
    "/people/suspects/",
    "/api/people/state",
    "/api/people/groups",
    "/api/people/groups?start=5000",
    "/api/people/suspects",
    "/api/people/near/{photo}",
)


def make_suggestions(root: Path, hashes: list[str]) -> None:
    """Three bibs and three faces suggested for each photo; some of them are answered by labels."""
    rng = random.Random(1)

    def ghosts() -> list[dict[str, float]]:
        return [{side: rng.random() / 2 for side in "xywh"} | {"score": 0.9} for _ in range(3)]

    photos = {h: {"provenance": "bench", "bibs": ghosts(), "faces": ghosts(), "links": []} for h in hashes}
    write_file(root, Suggestions.model_validate({"photos": photos}))


def give_vectors(people: Workbench) -> None:
    """A vector for each face, as if models had looked at all photos: alike where the set gives them one name. Then two
    faces of three lose their names, so that there is something to group."""
    rng, centres = np.random.default_rng(0), dict[str | None, Any]()
    faces = list(people.index().by_name.values())
    for face in faces:
        centre = centres.setdefault(face.identity, rng.normal(size=128))
        vector = centre + 0.6 * rng.normal(size=128)
        people.embedder.know(face, np.asarray(vector / np.linalg.norm(vector), dtype=np.float32))
    people.change(Change({face.name: face.identity for at, face in enumerate(faces) if at % 3}, name=None))


def wait_for_groups(people: Workbench) -> float:
    """Until all faces are grouped; how long that took on the wall."""
    start = time.perf_counter()
    while not people.current(1.0)[1]:
        assert time.perf_counter() - start < GROUPS_LIMIT * 5
    return time.perf_counter() - start


def measure() -> list[dict[str, Any]]:
    """One entry a case: the seconds of the slowest go, the limit, and how often they fit into it."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        hashes = make(root)
        make_suggestions(root, hashes)
        source = StagingSource(LabelStore(root))
        store = LocalStore(str(root / "mlruns"), "bench")
        history = RunHistory(store, source, Thresholds(0.5, 0.5))
        linker = GeometricLinker(min_drop=0.8, max_drop=5.0, half_width=1.5, behind=0.5, nearer=1.25, threshold=0.0)
        search = PhotoSearch(source, lambda: build_finder(compose()))
        start = time.process_time()
        context = Context(source, linker, history, search, OpenedRuns(store, Gate(strict=False)))
        app = make_app(context, Access())
        started = time.process_time() - start
        give_vectors(context.people)
        grouped = wait_for_groups(context.people)
        gc.freeze()  # as the server does
        client = TestClient(app, base_url="http://127.0.0.1:8600")
        client.get("/")  # names were just taken from 40,000 faces: the summary of all photos is made anew
        seconds = {page: max(_waits(client, page, hashes)) for page in PAGES}
        saving = min(_save(client, photo) for photo in hashes[:GOES])
        saying = _say(client)
        wait_for_groups(context.people)
        _save(client, hashes[0])
        regrouped = wait_for_groups(context.people)
    slowest = max(seconds, key=lambda page: seconds[page])
    of_people = max((page for page in PAGES if "/people" in page), key=lambda page: seconds[page])
    name = slowest.replace("{photo}", "PHOTO")
    limit = f"limit of {PAGE_LIMIT:g} s"
    return [
        row(f"slowest of {len(PAGES)} pages, {PHOTOS:,} photos: {name}", seconds[slowest], limit, PAGE_LIMIT, 1.0),
        *(row(f"{what}, {3 * PHOTOS:,} faces", took, limit, PAGE_LIMIT, 1.0) for what, took in saying.items()),
        row(f"save one photo through the API, {PHOTOS:,} photos", saving, limit, PAGE_LIMIT, 1.0),
        row(f"group {3 * PHOTOS:,} faces aside, once", grouped, f"limit of {GROUPS_LIMIT:g} s", GROUPS_LIMIT, 1.0),
        row("... and after a bib was saved", regrouped, f"limit of {REGROUP_LIMIT:g} s", REGROUP_LIMIT, 1.0),
        row(f"slowest page of /people/, {3 * PHOTOS:,} faces: {of_people}", seconds[of_people], limit, PAGE_LIMIT, 1.0),
        row(f"start on {PHOTOS:,} photos", started, f"limit of {START_LIMIT:g} s", START_LIMIT, 1.0),
    ]


def _waits(client: TestClient, page: str, hashes: list[str]) -> list[float]:
    """What each go takes; every other one comes after a save."""
    waits = []
    for go in range(GOES):
        photo = hashes[int(hashlib.sha256(f"{page}{go}".encode()).hexdigest(), 16) % len(hashes)]
        if go % 2:
            _save(client, photo)
        start = time.perf_counter()
        answer = client.get(page.replace("{photo}", photo))
        waits.append(time.perf_counter() - start)
        assert answer.status_code == 200
    return waits


def _say(client: TestClient) -> dict[str, float]:
    """What it takes to name a group, to take that back and to answer a suspect, on the wall; the best of several."""
    took: dict[str, list[float]] = {}

    def send(what: str, path: str, body: dict[str, Any]) -> Any:
        start = time.perf_counter()
        answer = client.post(f"/api/people/{path}", json=body)
        took.setdefault(what, []).append(time.perf_counter() - start)
        assert answer.status_code == 200, answer.text
        return answer.json()

    for _ in range(3):
        group = client.get("/api/people/groups").json()["groups"][0]
        faces = {face["face"]: face["was"] for face in group["faces"]}
        done = send("name a group", "changes", {"do": "name", "faces": faces, "name": "somebody new"})
        send("take it back", "undo", {"undo": done["undo"]})
        while not (found := client.get("/api/people/suspects").json())["suspects"]:
            assert not found["fresh"], "this set has suspects"
            time.sleep(0.2)
        send("answer a suspect", "suspects", {"check": found["suspects"][0]["check"], "answer": "both"})
    return {what: min(each) for what, each in took.items()}


def _save(client: TestClient, photo: str) -> float:
    seen = client.get(f"/api/photos/{photo}")
    boxes = seen.json()["bibs"]["boxes"][1:] or []
    body = {"labeled": False, "boxes": boxes, "tags": [], "origins": list(range(1, len(boxes) + 1))}
    start = time.perf_counter()
    answer = client.put(f"/api/photos/{photo}/bibs", json=body, headers={"If-Match": seen.headers["etag"]})
    assert answer.status_code == 200
    return time.perf_counter() - start


if __name__ == "__main__":
    show(measure())
