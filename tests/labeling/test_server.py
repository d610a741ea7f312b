"""`harness ui` as a process: it starts, is killed, starts again, and stops when asked."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2 as httpx
import pytest

from harness.__main__ import run
from harness.labeling.source import FrozenError, SampleSource
from tests.labeling.conftest import BIB, bibs


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(root: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """A server that answers, ended at the latest when the block ends."""
    command = [sys.executable, "-m", "harness", "ui", "--no-browser", "--port", str(port), f"references.root={root}"]
    command.append(f"tracking.root={root.parent / 'mlruns'}")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            _wait(server, port)
            yield server
        finally:
            server.kill()


def _wait(server: subprocess.Popen[str], port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert server.poll() is None, server.stderr.read() if server.stderr else ""
        try:
            httpx.get(f"http://127.0.0.1:{port}/api/alive")
        except httpx.TransportError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the server does not answer")


def save(port: int, photo: str, number: str) -> int:
    address = f"http://127.0.0.1:{port}/api/photos/{photo}"
    etag, origins = httpx.get(address).headers["etag"], len(httpx.get(address).json()["bibs"]["boxes"])
    body = bibs(BIB | {"number": number}, origins=[0] if origins else [None])
    return httpx.put(f"{address}/bibs", json=body, headers={"If-Match": etag}).status_code


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_to_a_kill_and_ctrl_c_stops_it(root: Path, photo: str) -> None:
    port = free_port()
    with serving(root, port) as server:
        assert [save(port, photo, str(number)) for number in range(20)] == [200] * 20
        os.kill(server.pid, signal.SIGKILL)
        server.wait(10)
    with serving(root, port) as server:
        seen = httpx.get(f"http://127.0.0.1:{port}/api/photos/{photo}").json()
        assert seen["bibs"]["boxes"][0]["number"] == "19"
        httpx.get(f"http://127.0.0.1:{port}/", headers={"Host": "evil.example"})
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=10)
        assert server.returncode == 0
        assert f"at http://127.0.0.1:{port}/" in out
        assert err.count("\n") == 1
        assert "refused GET / from 127.0.0.1: 421 host" in err
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_in_use_is_an_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code = run(["ui", "--no-browser", "--port", str(port), f"references.root={root}"])
    assert code == 1
    assert capsys.readouterr().err.endswith(f"harness: port {port} is in use; choose another with --port\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["references.root=nowhere"], 1, "no reference set at nowhere"),
        (["references=frozen", "references.root=nowhere", "references.name=v9"], 1, "no frozen set v9"),
        (["--host", "no.such.host.invalid"], 1, "--host no.such.host.invalid: no such address"),
    ],
)
def test_what_cannot_be_shown_is_told(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    assert run(["ui", "--no-browser", "--port", str(free_port()), f"references.root={root}", *arguments]) == code
    assert message in capsys.readouterr().err


def test_a_set_that_has_no_pages_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ui", "--no-browser", "references=off"]) == 2
    assert "the pages show references=staging, references=frozen or references=sample" in capsys.readouterr().err


def test_a_port_that_does_not_exist_is_a_mistake_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ui", "--port", "99999"]) == 2
    assert "99999 is no port" in capsys.readouterr().err


def test_the_sample_is_shown_read_only(sample_root: Path) -> None:
    source = SampleSource(sample_root)
    assert (source.name, source.read_only, len(source.contents().index.photos)) == ("sample", True, 24)
    with pytest.raises(FrozenError, match="the sample never changes"):
        source.writable()
