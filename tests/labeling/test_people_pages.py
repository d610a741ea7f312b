"""The people of a run: their counts agree with the scorecard and the headline, and a runner's page says of each photo
how it came back or why not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from harness.exploring.opened import OpenedRun, open_run
from harness.exploring.people import People, PeopleSelection
from harness.exploring.person import person_of, places
from harness.labeling.people_routes import amount
from harness.references.store import LabelStore
from harness.runs.gate import Gate
from harness.runs.returns import RETURNS_FILE
from harness.runs.tags import SEALED_TAG
from harness.scoring.finding import CAUSES
from harness.tracking.store import LocalStore
from tests.labeling.conftest import BIB, FACE, Connect, bibs, faces, hash_of, put
from tests.labeling.people_runs import NEAR, ODD, found_at, keep_people

Kept = tuple[LocalStore, str, str, list[str]]


@pytest.fixture
def runs(root: Path, kept: LocalStore) -> Kept:
    """A run at a high threshold, one at a low one, and the photos in their order."""
    store = LabelStore(root)
    photos = [hash_of(store, f"{name}.jpg") for name in "abcd"]
    base, run = (keep_people(kept.open(), root, photos, threshold) for threshold in (0.5, 0.9))
    return kept, run, base, photos


def opened_of(runs: Kept) -> tuple[OpenedRun, People]:
    kept, run, base, _ = runs
    opened = open_run(kept.open(), Gate(strict=False), run, base)
    assert opened.people is not None
    return opened, opened.people


def read(client: TestClient, address: str) -> Any:
    """A page of a run, once that has been read."""
    while "is being read" in (answer := client.get(address)).text:
        pass
    return answer


def text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.slow
def test_the_rows_of_people_add_up_to_the_scorecard_and_the_headline(runs: Kept, connect: Connect) -> None:
    opened, people = opened_of(runs)
    card = found_at(0.9)[1].counted()
    for name in ("wanted", "selfie_found", "number_found", "both_found", "both_wrong", *CAUSES):
        assert sum(runner.counts[name] for runner in people.runners) == card.counts[name] == people.totals[name]
    kept, run, base, _ = runs
    page = text_of(read(connect(store=kept), f"/runs/{run}/people?against={base}").text)
    assert opened.run is not None
    assert opened.run.headline in page
    assert "Of the 4 photos that 2 runners want, 25 % come back by selfie, 67 % of 3 by number, 50 % by both" in page
    assert "All 2 runners who want photos 4 1 of 4 2 of 3 2 of 4 ▼ 1 fewer" in page
    assert "Ada 417 3 1 of 3 2 of 3 2 of 3 ▼ 1 fewer 1 × below threshold 1" in page


@pytest.mark.slow
def test_lost_runners_are_a_mistake_of_their_photos_with_the_cause(runs: Kept) -> None:
    opened, _ = opened_of(runs)
    photos = runs[3]
    lost = {row.sha256: (row.mistakes.get("lost_runners", 0), row.causes) for row in opened.rows}
    assert [lost[photo][0] for photo in photos] == [0, 1, 0, 1]
    assert "runner: below threshold" in lost[photos[NEAR]][1]
    assert "runner: nobody readable" in lost[photos[3]][1]
    assert opened.facets.mistakes["lost_runners"] == 2


@pytest.mark.slow
def test_selections_of_people(runs: Kept) -> None:
    _, people = opened_of(runs)

    def chosen(**selection: object) -> list[str]:
        return [runner.name for runner in PeopleSelection(**selection).among(people.runners)]  # type: ignore[arg-type]

    assert chosen() == ["Ada", ODD]
    assert chosen(sort="name") == ["Ada", ODD]
    assert (
        chosen(text="ADA") == chosen(text="41") == chosen(cause="below_threshold") == chosen(change="less") == ["Ada"]
    )
    assert chosen(cause="nobody_readable") == [ODD]
    assert chosen(strangers=True) == ["Ada"]
    assert chosen(change="more") == []
    assert people.changed == {"less": 1, "more": 0}


@pytest.mark.slow
def test_a_runner_sees_how_each_photo_came_back_and_the_near_miss_with_the_threshold(
    runs: Kept, connect: Connect
) -> None:
    kept, run, base, photos = runs
    client = connect(store=kept)
    put(client, photos[0], "bibs", bibs(BIB))
    put(client, photos[0], "faces", faces(FACE))
    page = read(client, f"/runs/{run}/people/Ada?against={base}").text
    cards = dict(re.findall(r'/photos/([0-9a-f]{64})\?.*?<span class="name">(.*?)</li>', page, re.DOTALL))
    told = {photos.index(sha256): text_of(card) for sha256, card in cards.items()}
    assert list(told) == [NEAR, 0, 3, 2]
    assert "▼ newly lost ✗ below threshold similarity 0.74, needs 0.90" in told[NEAR]
    assert "✓ by selfie and by number similarity 0.98, needs 0.90" in told[0]
    assert "✓ by number no face of theirs was compared" in told[3]
    assert "taken for them similarity 1.00, needs 0.90" in told[2]
    assert f'href="/runs/{run}/pictures/{photos[0]}/thumb"' in page
    boxes = re.findall(r'<rect class="(face|bib)" x="([\d.]+)"', cards_of(page, photos[0]))
    assert [(kind, round(float(x))) for kind, x in boxes] == [("face", round(0.42 * 120)), ("bib", round(0.4 * 120))]
    stranger = re.findall(r'<rect class="(face|bib)"', cards_of(page, photos[2]))
    assert stranger == ["face"], "the face that was found, though nobody labelled it"
    lost = read(client, f"/runs/{run}/people/Ada?against={base}&show=newly_lost").text
    assert re.findall(r"/pictures/([0-9a-f]{64})", lost) == [photos[NEAR]]


def cards_of(page: str, sha256: str) -> str:
    return next(card for card in page.split("<li") if f"/pictures/{sha256}" in card)


@pytest.mark.slow
def test_names_are_shown_as_they_are_and_lead_to_their_pages(runs: Kept, connect: Connect) -> None:
    kept, run, _, _ = runs
    client = connect(store=kept)
    page = read(client, f"/runs/{run}/people").text
    assert "<b>Ann</b>" not in page
    address = f"/runs/{run}/people/{quote(ODD, safe='')}"
    assert f'href="{address}"' in page
    own = read(client, address)
    assert own.status_code == 200
    assert "wants 1 photo: 0 of 1 by selfie, nobody asks by number, 0 of 1 by both." in text_of(own.text)
    assert "<b>Ann</b>" not in own.text


@pytest.mark.slow
def test_a_run_of_an_older_harness_has_counts_and_says_what_it_lacks(
    root: Path, kept: LocalStore, connect: Connect
) -> None:
    photos = [hash_of(LabelStore(root), f"{name}.jpg") for name in "abcd"]
    run = keep_people(kept.open(), root, photos, 0.9, returned=False)
    client = connect(store=kept)
    for address in ("people", "people/Ada"):
        page = read(client, f"/runs/{run}/{address}").text
        assert "does not say which photo came back for whom: it was made by an older harness" in page
    assert "1 of 3" in text_of(read(client, f"/runs/{run}/people").text)


@pytest.mark.slow
def test_a_damaged_file_of_what_came_back_costs_its_pages_alone(runs: Kept, connect: Connect) -> None:
    kept, run, base, photos = runs
    (path,) = Path(kept.root).rglob(f"{run}/**/{RETURNS_FILE}")
    path.write_bytes(path.read_bytes()[:-200])
    client = connect(store=kept)
    told = f"run {run[:8]}: {RETURNS_FILE}: not what came back in a run"
    for address in ("", "/photos", f"/photos/{photos[0]}", "/people", "/people/Ada"):
        answer = read(client, f"/runs/{run}{address}")
        assert answer.status_code == 200, answer.text
        assert (told in answer.text) == (address in ("/photos", "/people", "/people/Ada")), address
    assert "1 of 3" in text_of(read(client, f"/runs/{run}/people").text), "counts are in run.json"
    beside = text_of(read(client, f"/runs/{base}/people/Ada?against={run}").text)
    assert f"Of the other run: Which photo came back for whom cannot be read. {told}" in beside
    assert "similarity 0.74, needs 0.50" in beside, "this run's own file is whole"


@pytest.mark.slow
def test_what_is_not_there_is_told(runs: Kept, connect: Connect) -> None:
    kept, run, _, _ = runs
    client = connect(store=kept)
    for address, status, told in (
        (f"/runs/{run}/people/Nobody", 404, "has nobody called 'Nobody' who wants a photo"),
        ("/runs/feedbeef/people", 404, "feedbeef"),
        (f"/runs/{run}/people?cause=bad_luck", 422, "cause=bad_luck: no such cause; expected one of"),
        (f"/runs/{run}/people?colour=red", 422, "colour"),
        (f"/runs/{run}/selfies/{'0' * 64}", 404, "no such selfie"),
    ):
        answer = read(client, address)
        assert (answer.status_code, told in answer.text) == (status, True), answer.text


@pytest.mark.slow
def test_sealed_scores_show_nothing_of_people(root: Path, kept: LocalStore, connect: Connect) -> None:
    store = kept.open()
    run = keep_people(store, root, [hash_of(LabelStore(root), f"{name}.jpg") for name in "abcd"], 0.9)
    folder = store.reader.folder(run)
    assert folder is not None
    (folder / "run.json").unlink()
    store.client.set_tag(run, SEALED_TAG, str(root))
    client = connect(store=kept)
    for address in (f"/runs/{run}/people", f"/runs/{run}/people/Ada"):
        page = read(client, address).text
        assert "its scores are sealed" in page
        assert "417" not in page
        assert "similarity" not in page


@pytest.mark.slow
def test_selfies_are_shown_where_the_set_has_them_and_kept_nowhere(
    runs: Kept, connect: Connect, root: Path, tmp_path: Path
) -> None:
    kept, run, _, _ = runs
    client = connect(store=kept)
    assert "/selfies/" not in read(client, f"/runs/{run}/people/Ada").text
    sha256 = add_selfie(root, tmp_path)
    client = connect(store=kept)
    page = read(client, f"/runs/{run}/people/Ada").text
    assert f"/runs/{run}/selfies/{sha256}" in page
    answer = read(client, f"/runs/{run}/selfies/{sha256}")
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == ("image/jpeg", "no-store")
    assert not list((tmp_path / "cache").rglob(f"{sha256}*"))


def add_selfie(root: Path, tmp_path: Path) -> str:
    from harness.references.files import Selfies
    from harness.references.selfies import ImportedSelfie, copy_selfie

    Image.new("RGB", (64, 64), (200, 150, 120)).save(tmp_path / "ada.jpg")
    sha256 = copy_selfie(root, ImportedSelfie(path=tmp_path / "ada.jpg", identity="Ada", where="a test"))
    with LabelStore(root).edit() as draft:
        draft.put(Selfies, sha256, "Ada")
    return sha256


@pytest.mark.slow
def test_places_without_labels_and_without_the_set(runs: Kept) -> None:
    opened, _ = opened_of(runs)
    person = person_of(opened, "Ada")
    found = places(opened, person.photos, person)
    assert {runs[3].index(photo): [kind for kind, _ in boxes] for photo, boxes in found.items()} == {
        0: [],
        1: [],
        3: [],
        2: ["face"],
    }


@pytest.mark.parametrize(
    ("value", "told"), [(0, "0"), (3, "3"), (2.5, "2.5"), (2.99, "2.99"), (1234.0, "1,234"), (0.04, "0.04")]
)
def test_what_is_not_whole_never_reads_as_if_it_were(value: float, told: str) -> None:
    assert amount(value) == told
