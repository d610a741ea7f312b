"""2,000 broken label files: each loads, or is refused with the file, the record and the field; none is touched."""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ReferenceSetError
from harness.references.audit_file import Audit, BlindLabels
from harness.references.files import FaceGroundTruth, FaceIdentities, FaceLabels, LabelFile, Selfies
from harness.references.reviews import CheckAnswer, PeopleReviews
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore
from harness.references.suggestions import PhotoSuggestions, Suggestions
from tests.references.builders import face, make_store, photo_hash

KINDS = (
    "photo_index", "bib_ground_truth", "face_ground_truth", "bib_face_links", "face_identities", "selfies",
    "suggestions", "people_reviews", "audit", "start_list",
)  # fmt: skip
#: The file, then what is wrong in it: not JSON at all, or the path of the field from the top.
MESSAGE = r"{name}\.json: (not JSON: |schema_version \d|the file: |[^:]+: \S)"
JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 2, 4, 0.5, 1.5, -0.1, 1e400, 2**70, "", "x", "bib", "NaN", "\x00", "é" * 90, [], {},
    [[]], [0, 0], [-1, 0], [0, 99], {"x": 1}, [None], "a" * 64,
]  # fmt: skip


def nodes(data: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON document: its container and its key."""
    found = []
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        found.append((data, key))
        found.extend(nodes(value))
    return found


def put_junk(rng: random.Random, text: bytes) -> bytes:
    data = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(nodes(data))
        container[key] = copy.deepcopy(rng.choice(JUNK))  # it may be broken further
    return json.dumps(data).encode()


def drop_a_node(rng: random.Random, text: bytes) -> bytes:
    data = json.loads(text)
    container, key = rng.choice(nodes(data))
    del container[key]
    return json.dumps(data).encode()


def rename_a_key(rng: random.Random, text: bytes) -> bytes:
    data = json.loads(text)
    container, key = rng.choice([node for node in nodes(data) if isinstance(node[0], dict)])
    container[rng.choice(["", "x", "labelled", key.upper(), key[:-1], "b" * 64])] = container.pop(key)
    return json.dumps(data).encode()


def flip_bytes(rng: random.Random, text: bytes) -> bytes:
    changed = bytearray(text)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(rng: random.Random, text: bytes) -> bytes:
    start, end = sorted(rng.randrange(len(text)) for _ in range(2))
    return rng.choice([text[:start], text[:start] + text[end:], text[start:end] * 2])


def replace_all(rng: random.Random, _: bytes) -> bytes:
    return rng.choice(
        [b"", b"null", b"[]", b"1", b'"x"', b"{}", b"[" * 5000, b'{"photos":' * 900, b"\xff\xfe", b"{}{}"]
    )


MUTATIONS: list[Callable[[random.Random, bytes], bytes]] = [
    put_junk, put_junk, put_junk, drop_a_node, rename_a_key, flip_bytes, cut, replace_all,
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> LabelStore:
    store = make_store(tmp_path / "set", photos=2, boxes=2)
    with store.edit() as draft:
        entry: dict[str, Any] = {
            "provenance": "k",
            "bibs": [{"x": 0, "y": 0, "w": 0.5, "h": 1, "number": "1", "score": 0.5}],
        }
        entry |= {"faces": [{"x": 0, "y": 0, "w": 0.5, "h": 1, "identity": None, "score": 0.5}], "links": [[0, 0]]}
        draft.put(Suggestions, photo_hash(0), PhotoSuggestions.model_validate(entry))
        draft.put(Selfies, photo_hash(7), "A")
        for number in range(2):
            boxes = [face(place / 10).model_copy(update={"id": f"f{place}"}) for place in range(2)]
            draft.put(FaceGroundTruth, photo_hash(number), FaceLabels(labeled=True, boxes=boxes, people=["A"]))
        one, other = (f"{photo_hash(number)}:f0" for number in range(2))
        cannot = [[one, f"{photo_hash(1)}:f1"]]
        draft.put_head(FaceIdentities, names=["A", "B"], must_link=[[one, other]], cannot_link=cannot)
        answer = CheckAnswer(check="c" * 20, answer="both", at="2026-01-02T03:04:05Z")
        draft.put_head(PeopleReviews, left_alone=[one], answers=[answer])
        draft.put_head(StartList, entrants=[Entrant(name="A", number="417"), Entrant(name="B")])
        blind = FaceLabels(labeled=True, boxes=[face(0.1)])
        draft.put(Audit, photo_hash(0), BlindLabels(drawn_at="2026-01-02T03:04:05Z", faces=blind))
    return store


def test_2000_mutated_label_files_load_or_are_refused_by_file_record_and_field(store: LabelStore) -> None:
    rng, root = random.Random(7), store.root
    told: list[str] = []
    wrong: list[str] = []
    originals = {name: (root / f"{name}.json").read_bytes() for name in KINDS}
    for round_ in range(2000):
        name = KINDS[round_ % len(KINDS)]
        mutated = rng.choice(MUTATIONS)(rng, originals[name])
        (root / f"{name}.json").write_bytes(mutated)
        try:
            fresh = LabelStore(root)
            fresh.contents()
            fresh.suggestions()
            fresh.reviews()
            fresh.audit()
            fresh.start_list()
        except ReferenceSetError as error:
            told.append(str(error))
            # Boxes that are gone leave links that point past them, and constraints: that is said of their files.
            file = next(file for file in (name, "bib_face_links", "face_identities") if f"{file}.json" in told[-1])
            wrong += [] if re.search(MESSAGE.format(name=file), told[-1]) and "\n" not in told[-1] else told[-1:]
        assert (root / f"{name}.json").read_bytes() == mutated
        (root / f"{name}.json").write_bytes(originals[name])
    assert {path.name for path in root.iterdir()} == {".lock", *(f"{name}.json" for name in KINDS)}
    assert wrong == []
    assert 800 < len(told) < 2000


def test_the_fuzz_knows_every_file() -> None:
    from harness.references.drafts import KINDS as KNOWN

    assert {kind.FILE_NAME for kind in KNOWN} == {f"{name}.json" for name in KINDS}
    assert all(issubclass(kind, LabelFile) for kind in KNOWN)
