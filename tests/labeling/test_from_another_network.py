"""`harness ui --host` from another machine: two network namespaces with a cable between them, and nothing else.

What is tried is the address that the server prints, and what somebody on the network would try who does not know it.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

SERVER, CLIENT = "10.77.0.1", "10.77.0.2"
TOKEN = "of-tests-alone"
#: Host, port, method, path, headers and body.
Question = tuple[str, int, str, str, dict[str, str], str | None]

#: Asks each question that stands on standard input as JSON, and prints the answers.
ASKING = """
import http.client, json, sys
answers = []
for host, port, method, path, headers, body in json.load(sys.stdin):
    connection = http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answers.append([answer.status, dict(answer.getheaders()), answer.read().decode(errors="replace")])
    except OSError as error:
        answers.append([type(error).__name__, {}, ""])
print(json.dumps(answers))
"""


@contextmanager
def two_networks() -> Iterator[tuple[str, str]]:
    """The names of two namespaces; the first has the address of the server, the second that of the client."""
    names = [f"harness-{secrets.token_hex(3)}-{side}" for side in ("s", "c")]
    ends = [f"hv{secrets.token_hex(3)}{side}" for side in ("s", "c")]

    def ip(*words: str) -> None:
        done = subprocess.run(["ip", *words], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stderr)

    with ExitStack() as stack:
        for name in names:
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
        ip("-n", names[0], "link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", names[1])
        for name, end, address in zip(names, ends, (SERVER, CLIENT), strict=True):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
            ip("-n", name, "link", "set", end, "up")
            ip("-n", name, "link", "set", "lo", "up")
        yield names[0], names[1]


def inside(namespace: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", namespace, *command]


def ask(namespace: str, *questions: Question) -> list[list[Any]]:
    """The answers to questions that are asked from a namespace: status or kind of error, headers, text."""
    command = inside(namespace, sys.executable, "-c", ASKING)
    done = subprocess.run(command, input=json.dumps(questions), capture_output=True, text=True, check=True)
    answers: list[list[Any]] = json.loads(done.stdout)
    return answers


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make networks; scripts/test as root runs it")
def test_who_knows_the_printed_address_gets_in_and_nobody_else(root: Path, photo: str) -> None:
    shown, hidden = 8600, 8601
    store = f"tracking.root={root.parent / 'mlruns'}"
    start = (sys.executable, "-m", "harness", "ui", "--no-browser", f"references.root={root}", store)
    with two_networks() as (here, there), ExitStack() as stack:
        for words in (("--host", "0.0.0.0", "--port", str(shown)), ("--port", str(hidden))):
            command = inside(here, *start, *words)
            environment = {**os.environ, "HARNESS_UI_TOKEN": TOKEN} if "--host" in words else dict(os.environ)
            server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
            stack.callback(server.wait)
            stack.callback(server.terminate)

        def get(path: str, port: int = shown, **headers: str) -> Question:
            return SERVER, port, "GET", path, headers, None

        deadline = time.monotonic() + 120
        alive: Question = ("127.0.0.1", hidden, "GET", "/api/alive", {}, None)
        while ask(there, get("/api/alive"))[0][0] != 401 or ask(here, alive)[0][0] != 200:
            assert time.monotonic() < deadline
            time.sleep(0.3)

        label = f"/api/photos/{photo}/bibs"
        json_kind = {"Content-Type": "application/json", "If-Match": "*"}
        strangers = ask(
            there,
            *(
                get(path)
                for path in ("/", "/staging/", f"/api/photos/{photo}", f"/photos/{photo}.jpg", "/openapi.json")
            ),
            get("/?token=guessed"),
            get("/", Authorization="Bearer guessed"),
            get("/", Cookie="harness_token=guessed"),
            (SERVER, shown, "PUT", label, json_kind, "{}"),
        )
        assert [answer[0] for answer in strangers] == [401] * len(strangers)
        assert photo not in "".join(answer[2] for answer in strangers)
        assert TOKEN not in json.dumps(strangers)

        (first,) = ask(there, get(f"/?token={TOKEN}"))
        assert (first[0], first[1]["location"]) == (303, "/")
        cookie = first[1]["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        kept = cookie.partition(";")[0]
        home, by_program, elsewhere, loopback = ask(
            there,
            get("/", Cookie=kept),
            get(f"/api/photos/{photo}", Authorization=f"Bearer {TOKEN}"),
            get("/", Cookie=kept, Host="evil.example"),
            get("/api/alive", port=hidden),
        )
        assert (home[0], by_program[0], elsewhere[0]) == (200, 200, 421)
        assert TOKEN not in home[2]
        assert loopback[0] == "ConnectionRefusedError"  # without --host the pages are on this machine alone
