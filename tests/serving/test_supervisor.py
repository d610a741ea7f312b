"""The supervisor on small real programs: readiness, restarts with a pause that grows, an end that leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import orjson
import pytest

from harness.base.errors import HarnessError
from harness.base.processes import _exists
from harness.serving import supervisor as module
from harness.serving.health import health, health_page, serving_health
from harness.serving.parts import Part, check_free
from harness.serving.supervisor import Supervisor
from tests.servers import free_port

#: Answers on a port, and has a child that ignores SIGTERM, as a server with a worker that hangs.
PROGRAM = """
import http.server, pathlib, subprocess, sys
stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", stubborn])
with open(sys.argv[2], "a") as kept:
    print(child.pid, file=kept)
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words): pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Quiet).serve_forever()
"""


def answering(tmp_path: Path, name: str = "one") -> Part:
    port = free_port()
    command = (sys.executable, "-c", PROGRAM, str(port), str(tmp_path / "children"))
    return Part(name, "127.0.0.1", port, command, dict(os.environ))


def until(holds: Callable[[], object], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@contextmanager
def watched(*parts: Part) -> Iterator[tuple[Supervisor, list[str]]]:
    """A supervisor that has started its parts and watches them from another thread."""
    told: list[str] = []
    supervisor = Supervisor(parts, told.append)
    watcher = threading.Thread(target=supervisor.watch)
    try:
        supervisor.start()
        watcher.start()
        yield supervisor, told
    finally:
        supervisor.stop()
        if watcher.ident:
            watcher.join()
        supervisor.end()


def kill(supervisor: Supervisor, place: int = 0) -> None:
    pid = supervisor.watched[place].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)


def ended(pid: int) -> bool:
    """Gone, or left for its new parent to collect, which in a container may be nobody."""
    return not _exists(pid) or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_part_that_is_killed_is_said_and_started_again_and_the_other_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.1)
    one, two = answering(tmp_path), answering(tmp_path, "two")
    with watched(one, two) as (supervisor, told):
        before = supervisor.watched[1].pid
        assert [state.state for state in supervisor.states()] == ["ready", "ready"]
        kill(supervisor)
        until(lambda: told and told[-1] == "one answers again")
        assert told[:-1] == ["one was ended by SIGKILL; it is started again in 0 s", "starting one again"]
        assert [state.restarts for state in supervisor.states()] == [1, 0]
        assert supervisor.watched[1].pid == before
        assert one.answers()
    children = [int(line) for line in (tmp_path / "children").read_text().split()]
    assert len(children) == 3
    until(
        lambda: all(ended(child) for child in children)
    )  # also that of the killed part, and those that ignore SIGTERM
    assert not one.answers()
    assert not two.answers()


def test_pauses_double_up_to_a_minute_and_begin_anew_after_a_minute_of_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    each = module.Watched(Part("x", "127.0.0.1", 1, ("false",), {}), told.append)
    now = 1000.0
    for _ in range(8):
        each._has_ended(1, now)
        each._begun = now
    assert [line.split()[-2] for line in told] == ["1", "2", "4", "8", "16", "32", "60", "60"]
    each._has_ended(1, now + 61)
    assert told[-1] == "x ended with exit code 1; it is started again in 1 s"


@pytest.mark.parametrize(("code", "how"), [(-9, "SIGKILL"), (-40, "signal 40")])
def test_a_part_that_a_signal_has_ended_says_which(tmp_path: Path, code: int, how: str) -> None:
    told: list[str] = []
    module.Watched(Part("x", "127.0.0.1", 1, ("false",), {}), told.append)._has_ended(code, 1000.0)
    assert told == [f"x was ended by {how}; it is started again in 1 s"]


def test_one_that_never_answers_ends_everything_in_a_sentence(tmp_path: Path) -> None:
    good = answering(tmp_path)
    bad = Part("ui", "127.0.0.1", free_port(), (sys.executable, "-c", "raise SystemExit(3)"), dict(os.environ))
    with pytest.raises(HarnessError, match="ui ended with exit code 3 before it answered"), watched(good, bad):
        pass
    assert not good.answers()


def test_the_page_says_how_each_part_is_and_its_code_whether_all_are_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 600.0)
    part, port = answering(tmp_path), free_port()

    def get(path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    with watched(part) as (supervisor, told), serving_health("127.0.0.1", port, supervisor.states):
        code, text = get("/health")
        assert (code, orjson.loads(text)["parts"][0]["state"]) == (200, "ready")
        assert "everything is ready" in get("/")[1]
        assert get("/other")[0] == 404
        kill(supervisor)
        until(lambda: told)
        code, page = get("/")
        assert code == 503
        assert "<td>one<td>waiting" in page
        assert "1, was ended by SIGKILL" in page


def test_one_that_runs_and_does_not_answer_is_silent_and_not_ready(tmp_path: Path) -> None:
    part = answering(tmp_path)
    with watched(part) as (supervisor, _):
        pid = supervisor.watched[0].pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        told = health(supervisor.states())
        os.kill(pid, signal.SIGCONT)
    assert (told["ready"], told["parts"][0]["state"]) == (False, "silent")
    assert "not everything is ready" in health_page(told)


def test_pages_are_asked_with_their_token() -> None:
    """Pages log each request that they refuse: a line for every look at the health page, and in the end a full pipe."""
    seen: list[str | None] = []

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Authorization"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Pages) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        try:
            for token in ("secret", ""):
                assert Part("ui", "127.0.0.1", pages.server_port, (), {}, "/api/alive", token).answers()
        finally:
            pages.shutdown()
    assert seen == ["Bearer secret", None]
    assert "secret" not in repr(Part("ui", "127.0.0.1", 1, (), {}, "/", "secret"))


@pytest.mark.parametrize("place", ["mlflow", "health"])
def test_a_port_that_is_taken_is_one_sentence(place: str) -> None:
    port, free = free_port(), free_port()
    part = Part("mlflow", "127.0.0.1", port if place == "mlflow" else free, (), {})
    with subprocess.Popen([sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]) as taken:
        try:
            until(lambda: Part("x", "127.0.0.1", port, (), {}).answers())
            expected = f"{place}.port: port {port} of 127.0.0.1 is in use; choose another in the file"
            with pytest.raises(HarnessError, match=expected):
                check_free((part,), ("127.0.0.1", free if place == "mlflow" else port))
        finally:
            taken.kill()


#: Starts one part, says its number and watches it.
WATCHING = """
import os, sys
from harness.serving.parts import Part
from harness.serving.supervisor import Supervisor
port = sys.argv[1]
command = (sys.executable, "-m", "http.server", port, "--bind", "127.0.0.1")
supervisor = Supervisor([Part("one", "127.0.0.1", int(port), command, dict(os.environ))], print)
supervisor.start()
print(supervisor.watched[0].pid, flush=True)
supervisor.watch()
"""


def test_a_supervisor_that_is_killed_takes_its_parts_along() -> None:
    command = [sys.executable, "-c", WATCHING, str(free_port())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as supervisor:
        assert supervisor.stdout is not None
        pid = int(supervisor.stdout.readline())
        assert not ended(pid)
        supervisor.kill()
    until(lambda: ended(pid))
