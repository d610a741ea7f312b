"""Label suspects as the pages have them: from the runs of the set, against the labels as they are now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from harness.labeling.suspicions import Suspicions
from harness.references.flags import Flag, add_flag, labels_digest
from harness.references.labels import save_bibs, view
from harness.references.sets import labels_of
from harness.references.store import LabelStore
from harness.tracking.store import LocalStore
from harness.types import BibScope
from tests.labeling.conftest import BIB, Connect, bibs, put, read
from tests.labeling.runs import STRANGER, keep_run, seen
from tests.report.reports import THRESHOLDS

LABEL = BIB | {"x": STRANGER.x, "y": STRANGER.y, "number": "88"}


@pytest.fixture
def witnessed(connect: Connect, photo: str, kept: LocalStore) -> TestClient:
    """The pages after two runs on staging that see a stranger, and one on another set."""
    store = kept.open()
    keep_run(store, photo, seen(STRANGER, 0.9))
    keep_run(store, photo, seen(STRANGER, 0.8))
    keep_run(store, photo, seen(replace(STRANGER, x=0.1), 0.8), name="benchmark_v1")
    return connect(store=kept)


@pytest.mark.slow
def test_a_suspect_is_shown_until_the_label_answers_it(witnessed: TestClient, photo: str) -> None:
    def listed(dimension: str) -> list[str]:
        page = witnessed.get(f"/api/photos?dimension={dimension}&show=suspects").json()
        return [each["sha256"] for each in page["photos"]]

    assert read(witnessed, photo)["suspects"] == []  # nobody said yet that these are all bibs
    put(witnessed, photo, "bibs", bibs(BIB))
    (suspect,) = read(witnessed, photo)["suspects"]
    assert (suspect["dimension"], suspect["number"], suspect["x"]) == ("bibs", "88", STRANGER.x)
    assert suspect["reason"] == "no label there; seen by 2 of 2 runs"
    assert (listed("bibs"), listed("faces")) == ([photo], [])
    assert witnessed.get("/api/progress").json()["suspects"] == {"bibs": 1, "faces": 0}
    assert "/labels/?show=suspects" in witnessed.get("/").text
    assert witnessed.get("/labels/").text.count("label suspect</span>") == 1
    assert "Continue labelling" in witnessed.get("/labels/").text
    assert "Open the first" in witnessed.get("/labels/?show=suspects").text  # all done there; the rest is elsewhere

    put(witnessed, photo, "bibs", bibs(BIB, LABEL, origins=[0, None]))
    assert (read(witnessed, photo)["suspects"], listed("bibs")) == ([], [])
    put(witnessed, photo, "bibs", bibs(BIB, LABEL | {"scope": "not_bib", "number": None}, origins=[0, 1]))
    assert read(witnessed, photo)["suspects"] == []
    put(witnessed, photo, "bibs", bibs(BIB, origins=[0]))
    assert listed("bibs") == [photo]


def test_only_photos_that_have_changed_are_looked_at_again(root: Path, photo: str) -> None:
    store = LabelStore(root)
    others = sorted(store.contents().index.photos.keys() - {photo})
    photos = [photo, *others]
    for each in photos:
        mine = view(store, each)
        save_bibs(store, each, mine.bibs.model_copy(update={"labeled": True}), mine.revisions, [])
    witnesses = [{each: seen(STRANGER, score) for each in photos} for score in (0.9, 0.8)]
    suspicions = Suspicions(witnesses, THRESHOLDS)
    before = suspicions.among(store.contents())
    assert sorted(before) == sorted(photos)

    mine = view(store, photo)
    box = bibs(LABEL | {"scope": BibScope.BIB})["boxes"][0]
    labels = type(mine.bibs).model_validate({"labeled": True, "boxes": [box], "tags": []})
    save_bibs(store, photo, labels, mine.revisions, [None])
    after = suspicions.among(store.contents())
    assert sorted(after) == others
    assert all(after[each] is before[each] for each in others)


def test_a_doubt_of_an_agent_is_in_the_queue_until_the_labels_are_changed(
    client: TestClient, root: Path, photo: str
) -> None:
    put(client, photo, "bibs", bibs(BIB))
    labels = labels_of(LabelStore(root).contents(), photo)
    told = {"photo": photo, "kind": "bib", "number": BIB["number"], "why": "it reads 471", "by": "agent a"}
    flag = Flag.model_validate({**told, "study": "s", "at": "2026-01-01", "labels": labels_digest(labels)})
    assert add_flag(root, flag)
    (suspect,) = read(client, photo)["suspects"]
    assert suspect["reason"] == "doubted by agent a: it reads 471"
    assert (suspect["runs"], suspect["witnesses"], suspect["w"]) == (0, 0, 1.0)
    listed = client.get("/api/photos?dimension=bibs&show=suspects").json()["photos"]
    assert [each["sha256"] for each in listed] == [photo]
    put(client, photo, "bibs", bibs(BIB | {"number": "471"}, origins=[0]))
    assert read(client, photo)["suspects"] == []
