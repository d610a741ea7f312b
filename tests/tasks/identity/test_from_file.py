"""Who finds their photos by the embeddings of another program, which a file of predictions has."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import harness
from tests.conftest import PEOPLE, unit

#: Whose face is in which photo, and the angle of its vector: Ada is in two photos, and Bob in one.
FACES = {"P001": ("Ada", 0.0), "P005": ("Ada", 0.2), "P006": ("Bob", 1.6)}


def vector(angle: float, length: float = 1.0) -> list[float]:
    return [length * math.cos(angle), length * math.sin(angle)]


@pytest.fixture
def named_set(tiny_set: Path) -> Path:
    """The three photos with names on their faces, and a selfie of Ada."""
    path = tiny_set / "face_ground_truth.json"
    labels = json.loads(path.read_text())
    for photo in labels["photos"].values():
        photo["boxes"][0]["identity"] = FACES[photo["boxes"][0]["identity"]][0]
    path.write_text(json.dumps(labels))
    (tiny_set / "selfies").mkdir()
    picture = tiny_set / "selfies" / "ada.png"
    Image.new("RGB", (40, 40), (1, 2, 3)).save(picture)
    selfie = hashlib.sha256(picture.read_bytes()).hexdigest()
    picture.rename(picture.with_name(f"{selfie}.png"))
    (tiny_set / "selfies.json").write_text(json.dumps({"photos": {selfie: "Ada"}}))
    return tiny_set


def lines(**vectors: list[float] | None) -> list[dict[str, Any]]:
    """A line a photo, its face with the given vector."""
    return [
        {"photo": f"{name}.jpg", "faces": [{**unit(PEOPLE[name][1]), "score": 0.9, "embedding": vectors[name]}]}
        for name in FACES
    ]


def scored(named_set: Path, tmp_path: Path, given: list[dict[str, Any]], *more: str) -> harness.Run:
    where = ("references=staging", f"references.root={named_set}", f"tracking.root={tmp_path / 'mlruns'}")
    return harness.score(given, *where, "report.make=off", *more)


def test_faces_are_compared_by_the_vectors_of_the_file_whatever_their_lengths(named_set: Path, tmp_path: Path) -> None:
    own = {name: vector(angle, 3.0) for name, (_, angle) in FACES.items()}
    run = scored(named_set, tmp_path, lines(**own))
    # By her two faces Ada finds the other photo each time; Bob, who is in no other, finds nobody.
    assert run.metrics["find/by_selfie"] == 1.0
    assert run.metrics["find/by_both_precision"] == 1.0
    assert run.params["identity.fpir"] == "0.01"
    assert not any(name.startswith(("identity.least", "identity._target")) for name in run.params)
    strangers = {name: vector(0.1 * place) for place, name in enumerate(FACES)}
    worse = scored(named_set, tmp_path, lines(**strangers))
    assert worse.metrics["find/by_selfie"] < 1.0, "where Bob is as near as Ada herself, nobody can be told apart"


def test_a_selfie_searches_by_its_own_line_and_a_face_without_a_vector_is_not_compared(
    named_set: Path, tmp_path: Path
) -> None:
    (selfie,) = json.loads((named_set / "selfies.json").read_text())["photos"]
    own: dict[str, list[float] | None] = {name: vector(angle) for name, (_, angle) in FACES.items()}
    run = scored(named_set, tmp_path, [*lines(**own), {"selfie": selfie, "embedding": vector(0.1)}])
    assert run.metrics["count/selfie_queries"] >= 1
    assert run.metrics["find/by_selfie"] == 1.0
    unsearchable = scored(named_set, tmp_path, [*lines(**own), {"selfie": selfie, "embedding": None}])
    assert unsearchable.metrics["find/by_selfie"] == 0.0
    assert unsearchable.metrics["count/find_missed_face_not_found"] == 2
    small = scored(named_set, tmp_path, [*lines(**own), {"selfie": selfie, "embedding": None, "found": True}])
    assert small.metrics["count/find_missed_face_not_found"] == 0
    assert small.metrics["count/find_missed_not_enrolled"] == 2
    lost = scored(named_set, tmp_path, [*lines(**(own | {"P005": None})), {"selfie": selfie, "embedding": vector(0.0)}])
    assert lost.metrics["count/find_missed_not_enrolled"] == 1


def test_selfies_without_a_line_are_told_and_identity_can_be_off(named_set: Path, tmp_path: Path) -> None:
    own = {name: vector(angle) for name, (_, angle) in FACES.items()}
    run = scored(named_set, tmp_path, lines(**own))
    assert "1 of 1 selfie have no line" in run.kept.text()
    off = scored(named_set, tmp_path, lines(**own), "identity=off")
    assert not any(name.startswith("find/") for name in off.metrics)


def test_no_vector_leaves_the_file(named_set: Path, tmp_path: Path) -> None:
    secret = 0.123456789
    own = {name: [secret, angle] for name, (_, angle) in FACES.items()}
    scored(named_set, tmp_path, lines(**own))
    kept = [path for path in (tmp_path / "mlruns").rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if str(secret)[:9].encode() in path.read_bytes()]
