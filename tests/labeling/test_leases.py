"""Two people never get the same photo: leases on what "continue" hands out, and how they end."""

from __future__ import annotations

import multiprocessing
from collections.abc import Collection
from pathlib import Path
from threading import Barrier, Thread

import pytest
from fastapi.testclient import TestClient

from harness.labeling.leases import SECONDS, Leases
from harness.references.store import LabelStore
from tests.labeling.conftest import Connect, hash_of

PHOTOS = [f"{number:064x}" for number in range(60)]


def take_all(root: Path, desk: str, times: int) -> list[str]:
    """Ask for the next free photo again and again, keeping all that were given; each call holds them all."""
    leases, mine = Leases(root), list[str]()

    def choose(taken: Collection[str]) -> list[str]:
        free = [photo for photo in PHOTOS if photo not in taken and photo not in mine]
        mine.extend(free[:1])
        return mine

    for _ in range(times):
        leases.take(desk, desk, None, choose)
    return mine


def _work(root: str, desk: str, results: multiprocessing.Queue[list[str]]) -> None:
    results.put(take_all(Path(root), desk, 10))


def test_processes_never_get_the_same_photo(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue[list[str]] = context.Queue()
    workers = [context.Process(target=_work, args=(str(tmp_path), f"desk-{n}", results)) for n in range(4)]
    for worker in workers:
        worker.start()
    given = [photo for _ in workers for photo in results.get(timeout=60)]
    for worker in workers:
        worker.join(60)
    assert len(given) == len(set(given)) == 40


def test_a_lease_ends_with_time_with_leaving_and_with_moving_on(tmp_path: Path) -> None:
    now = [1000.0]
    leases = Leases(tmp_path, lambda: now[0])
    leases.take("desk-one", "Ada", "aa", lambda _: ["bb", "cc"])
    assert leases.others("desk-two") == {"aa": "Ada", "bb": "Ada", "cc": "Ada"}
    assert leases.others("desk-one") == {}
    leases.take("desk-one", "Ada", "bb", lambda _: ["cc"])
    assert set(leases.others("desk-two")) == {"bb", "cc"}
    leases.take("desk-two", "Ben", "bb", lambda taken: [photo for photo in ("cc", "dd") if photo not in taken])
    assert set(leases.others("desk-one")) == {"dd"}, "what another desk holds stays theirs"
    leases.leave("desk-one")
    assert leases.others("desk-two") == {}
    now[0] += SECONDS + 1
    assert leases.others("desk-one") == {}


def test_a_book_that_cannot_be_read_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / ".leases.json").write_text("{not json")
    assert Leases(tmp_path).others() == {}


@pytest.fixture
def photos(root: Path) -> list[str]:
    return [hash_of(LabelStore(root), f"{name}.jpg") for name in "abcd"]


def take(client: TestClient, desk: str, at: str | None = None, by: str = "") -> dict[str, object]:
    query = f"?at={at}" if at else ""
    answer = client.post(f"/api/queue{query}", json={"desk": desk, "by": by})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_two_editors_are_led_to_different_photos(client: TestClient, photos: list[str]) -> None:
    a, b, c, d = photos
    first = take(client, "desk-0001", a, "Ada")
    assert first["todo"] == [b, c, d]
    second = take(client, "desk-0002", a)
    assert (second["held_by"], second["todo"], second["next_incomplete"]) == ("Ada", [], None)
    assert client.post("/api/queue/leave", json={"desk": "desk-0001"}).status_code == 204
    assert take(client, "desk-0002", a)["held_by"] is None


def test_threads_that_continue_at_once_share_no_photo(connect: Connect, photos: list[str]) -> None:
    client, gate = connect(), Barrier(3)
    given: dict[str, set[str]] = {}

    def work(desk: str) -> None:
        gate.wait()
        given[desk] = set(take(client, desk)["todo"])  # type: ignore[call-overload]

    threads = [Thread(target=work, args=(f"desk-000{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [photo for photos_of in given.values() for photo in photos_of]
    assert len(everything) == len(set(everything)) == len(photos)
