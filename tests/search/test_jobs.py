"""Jobs outlive who asked for them, are found again, and are worked on by one process at a time."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import ConflictError, HarnessError, StaleCodeError
from harness.base.locks import is_locked
from harness.search import verbs, work
from harness.search.jobs import MOST_ATTEMPTS, MOST_KEPT, Job, Jobs, State
from harness.search.lane import Progress, run_lane, work_on
from harness.search.ledger import Ledger
from harness.search.loop import Watch, search
from harness.search.views import BudgetView
from tests.search.points import evaluate


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs.of(tmp_path / "study")


def add(jobs: Jobs, number: int = 1, **more: Any) -> Job:
    return jobs.add("study", "run_trial", "trials", {"number": number}, "agent a", **more)


def finished(job: Job, **changes: Any) -> Job:
    job.write(State(status="done", attempts=1, **changes))
    return job


def doing(monkeypatch: pytest.MonkeyPatch, result: Any) -> list[str]:
    """Let jobs come to this, or raise it; gives the ids of those that were done."""
    done: list[str] = []

    def do(job: Job, _: Progress) -> dict[str, Any]:
        done.append(job.id)
        if isinstance(result, BaseException):
            raise result
        return dict(result)

    monkeypatch.setattr(work, "do", do)
    return done


def test_the_same_call_finds_its_job_while_it_is_under_way(jobs: Jobs) -> None:
    first = add(jobs)
    assert add(jobs).id == first.id
    assert add(jobs, number=2).id != first.id
    finished(first)
    assert add(jobs).id != first.id
    assert jobs.all()[0].id == first.id


def test_a_result_that_stands_is_found_and_a_failure_is_tried_again(jobs: Jobs) -> None:
    first = finished(add(jobs, lasting=True))
    assert add(jobs, lasting=True).id == first.id
    first.write(State(status="failed", error="no disk"))
    assert add(jobs, lasting=True).id != first.id


def test_a_key_of_the_callers_is_one_job_for_ever(jobs: Jobs) -> None:
    first = finished(add(jobs, key="mine"))
    assert add(jobs, key="mine").id == first.id
    assert add(jobs).id != first.id
    with pytest.raises(ConflictError, match="the key 'mine' was used before, for other arguments"):
        add(jobs, number=2, key="mine")


def test_calls_at_the_same_moment_make_one_job(jobs: Jobs) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {job.id for job in pool.map(lambda _: add(jobs), range(40))}
    assert len(made) == len(jobs.all()) == 1


def test_old_jobs_are_forgotten_but_for_those_with_a_key(jobs: Jobs) -> None:
    kept = finished(add(jobs, key="mine"))
    for number in range(MOST_KEPT + 5):
        finished(add(jobs, number))
    names = [job.id for job in jobs.all()]
    assert kept.id in names
    assert MOST_KEPT <= len(names) <= MOST_KEPT + 2


def test_a_name_that_is_no_job_is_refused(jobs: Jobs) -> None:
    add(jobs)
    for name in ("nope", "../study", "", ".", "a/b"):
        with pytest.raises(ConflictError, match="there is no job"):
            jobs.get(name)


def test_a_lane_does_what_waits_in_order_and_ends(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    done = doing(monkeypatch, {"answer": 42})
    asked = [add(jobs, number).id for number in range(3)]
    jobs.add("study", "what_if", "looks", {}, "agent a")
    run_lane(jobs, "trials", idle=0.2)
    assert done == asked
    assert jobs.get(asked[0]).state().result == {"answer": 42}
    assert [job.request.kind for job in jobs.waiting("looks")] == ["what_if"]
    assert not is_locked(jobs.lane_lock("trials"))


def test_a_job_that_was_left_is_begun_again_but_not_for_ever(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    done = doing(monkeypatch, {})
    job = add(jobs)
    job.write(State(status="running", attempts=1))
    assert job.state().status == "queued"  # nobody holds its lock
    with job.held():
        assert job.state().status == "running"
    run_lane(jobs, "trials", idle=0.2)
    assert (job.state().status, job.state().attempts, done) == ("done", 2, [job.id])
    deadly = add(jobs, number=2)
    deadly.write(State(status="running", attempts=MOST_ATTEMPTS))
    run_lane(jobs, "trials", idle=0.2)
    assert deadly.state().error == "3 processes died over it"


def test_what_a_job_raises_fails_it_alone(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    job = add(jobs)
    doing(monkeypatch, ConflictError("labels have changed"))
    run_lane(jobs, "trials", idle=0.2)
    assert (job.state().status, job.state().error, job.state().error_kind) == (
        "failed",
        "labels have changed",
        "ConflictError",
    )
    other = add(jobs, number=2)
    doing(monkeypatch, ZeroDivisionError("division by zero"))
    run_lane(jobs, "trials", idle=0.2)
    assert other.state().error == "ZeroDivisionError: division by zero"


def test_edited_code_is_left_to_a_process_that_loads_it_anew(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    job = add(jobs)
    doing(monkeypatch, StaleCodeError("links.py: has changed since this process loaded it"))
    run_lane(jobs, "trials", idle=60)  # ends at once: this process is of no use any more
    assert job.state().status == "queued"


@contextmanager
def nobody_else_handles(number: int) -> Iterator[None]:
    """As in the process of a lane: what a test before this one has loaded, such as Ray, may handle the signal here."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


def test_a_job_at_work_is_ended_when_its_caller_wants_that(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    job = add(jobs)

    def do(_: Job, progress: Progress) -> dict[str, Any]:
        for done in range(1000):
            progress.tell(done, 1000)
            progress.partial(best=done)
            time.sleep(0.05)
        raise AssertionError("nobody has ended it")

    monkeypatch.setattr(work, "do", do)
    threading.Timer(0.5, job.wish_cancelled).start()
    with job.held(), nobody_else_handles(signal.SIGTERM):
        assert work_on(job)
    state = job.state()
    assert state.status == "cancelled"
    assert (state.total, state.unit) == (1000, "photos")
    assert state.partial == {"best": state.done}
    assert state.rate
    waiting = add(jobs, number=2)
    waiting.wish_cancelled()
    run_lane(jobs, "trials", idle=0.2)
    assert waiting.state().status == "cancelled"


def test_progress_has_a_rate_and_a_time_left() -> None:
    state = State(status="running", done=10, total=40, began=100.0, changed=105.0)
    assert (state.rate, state.seconds_left) == (2.0, 15.0)
    assert State().seconds_left is None


def test_a_damaged_state_is_told(jobs: Jobs) -> None:
    job = add(jobs)
    (job.folder / "state.json").write_text("{")
    with pytest.raises(HarnessError, match=r"state.json: not JSON"):
        job.state()


def test_every_tool_with_a_job_has_a_kind() -> None:
    from harness.search import server

    tools = {tool.__name__ for tool in (*server.READERS, *server.ACTORS)}
    direct = {"list_studies", "describe_space", "budget_status", "job_status", "give_back_trial", "cancel_job"}
    assert set(work.KINDS) == tools - direct


def test_a_search_that_is_resumed_tells_as_many_trials_as_it_makes(
    jobs: Jobs, open_ledger: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trial that its dead process was at counts in the budget already, and is made all the same."""
    ledger = open_ledger(budget={"trials": 4, "minutes": 10})

    def searched(_study: str, _workers: int, watch: Watch) -> BudgetView:
        search(ledger, evaluate, watch)
        return BudgetView.of("formula", ledger.spending(), ledger.closed())

    monkeypatch.setattr(verbs, "begin", lambda _: ledger)
    monkeypatch.setattr(verbs, "run", searched)
    with ledger.worker() as dead:
        assert ledger.claim(dead)
    job = jobs.add("formula", "start_search", "search", {"trials": None, "workers": 1}, "agent a")
    progress = Progress(job, State(status="running", attempts=2))
    work.do(job, progress)
    assert (progress.state.done, progress.state.total) == (4, 4)
    assert ledger.spending().trials == 4
