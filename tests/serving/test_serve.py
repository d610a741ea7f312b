"""`harness serve` as its user meets it: the file, its mistakes, and the real servers under it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.serving.parts import parts_of
from harness.serving.team import Team, read_team
from tests.conftest import ROOT, Harness
from tests.servers import free_port
from tests.serving.test_supervisor import ended


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mlflow: [", "team.yaml: not valid YAML: "),
        ("mlfow: {}", "team.yaml: mlfow: no such key"),
        ("mlflow: {port: 99999}", "team.yaml: mlflow.port: must be less than or equal to 65535, got 99999"),
        ("ui: {port: 5000}", "port 5000 is given twice; each server needs a port of its own"),
        ("mlflow: {backend: mlflow.db}", "mlflow.backend: expected the address of a database, such as postgresql+"),
        (
            "mlflow: {backend: 'postgresql+psycopg2://me:hunter2@db/mlflow'}",
            "mlflow.backend: a password must not be in this file; use PGPASSWORD or ~/.pgpass",
        ),
    ],
)
def test_a_mistake_in_the_file_is_one_sentence(content: str, message: str, harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(content)
    told = harness("serve", "team.yaml")
    assert told.code == 2
    assert message in told.err
    assert "hunter2" not in told.err
    assert told.err.count("\n") == 1


def test_a_file_that_is_not_there_is_named(harness: Harness) -> None:
    told = harness("serve", "nowhere.yaml")
    assert (told.code, told.err) == (2, "harness: nowhere.yaml: cannot be read: No such file or directory\n")


def test_everything_listens_on_loopback_unless_the_file_says_otherwise() -> None:
    team = read_team(None)
    assert {team.mlflow.host, team.ui.host, team.health.host} == {"127.0.0.1"}


def test_no_command_line_has_a_secret_or_the_database() -> None:
    team = Team.model_validate({"mlflow": {"backend": "postgresql+psycopg2://me@db/mlflow"}, "ui": {"host": "0.0.0.0"}})
    server, pages = parts_of(team, "HARNESS_UI_TOKEN", "s3cret")
    assert "s3cret" not in " ".join([*server.command, *pages.command])
    assert "psycopg2" not in " ".join(server.command)
    assert server.environment["MLFLOW_BACKEND_STORE_URI"] == "postgresql+psycopg2://me@db/mlflow"
    assert server.environment["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert pages.environment["HARNESS_UI_TOKEN"] == "s3cret"
    assert "s3cret" not in repr(pages)


def test_a_taken_port_is_told_before_anything_is_started(harness: Harness, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "team.yaml").write_text(f"mlflow: {{port: {port}}}\nhealth: {{port: {free_port()}}}")
        told = harness("serve", "team.yaml")
    assert told.code == 1
    assert told.err == f"harness: mlflow.port: port {port} of 127.0.0.1 is in use; choose another in the file\n"
    assert not (tmp_path / "team").exists()


def asked(port: int) -> dict[str, Any]:
    """What the health page says; nothing before it is there."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            told: dict[str, Any] = json.load(answer)
    except urllib.error.HTTPError as error:
        told = json.load(error)
    except OSError:
        return {"ready": False}
    return told


def below(pid: int) -> set[int]:
    """A process and all that it has started."""
    found, ahead = {pid}, [pid]
    while ahead:
        parent = ahead.pop()
        for tasks in Path(f"/proc/{parent}/task").glob("*/children"):
            children = {int(each) for each in tasks.read_text().split()}
            ahead += children - found
            found |= children
    return found


@pytest.mark.slow
def test_real_servers_are_started_again_when_killed_and_nothing_is_left_at_the_end(
    tiny_set: Path, tmp_path: Path
) -> None:
    mlflow, pages, health = free_port(), free_port(), free_port()
    (tmp_path / "team.yaml").write_text(
        f"mlflow: {{port: {mlflow}}}\nhealth: {{port: {health}}}\n"
        f"ui: {{port: {pages}, overrides: ['references.root={tiny_set}', 'references=staging']}}\n"
    )
    command = [sys.executable, "-m", "harness", "serve", "team.yaml"]
    environment = {**os.environ, "HARNESS_UI_TOKEN": "of-tests-alone"}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as serve:
        try:

            def until_ready() -> None:
                deadline = time.monotonic() + 240
                while not asked(health)["ready"]:
                    assert serve.poll() is None, serve.communicate()
                    assert time.monotonic() < deadline, asked(health)
                    time.sleep(0.1)

            until_ready()
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(f"http://127.0.0.1:{pages}/")
            started = below(serve.pid)
            lines = {pid: Path(f"/proc/{pid}/cmdline").read_text() for pid in started}
            assert not [line for line in lines.values() if "of-tests-alone" in line]
            server = next(pid for pid, line in lines.items() if "mlflow\0server" in line)
            os.kill(server, signal.SIGKILL)
            while asked(health)["ready"]:
                time.sleep(0.05)
            until_ready()
            assert [part["restarts"] for part in asked(health)["parts"]] == [1, 0]
            started |= below(serve.pid)
            serve.send_signal(signal.SIGTERM)
            out, err = serve.communicate(timeout=60)
        finally:
            serve.kill()
    assert serve.returncode == 0
    assert "mlflow was ended by SIGKILL; it is started again in 1 s" in err
    assert f"Labelling pages: http://127.0.0.1:{pages}/?token=of-tests-alone" in out
    assert "/api/alive" not in err, "the pages refuse nothing of the supervisor"
    assert len(started) >= 4
    assert all(ended(pid) for pid in started)
    assert (tmp_path / "team" / "mlflow.db").is_file()


@pytest.mark.parametrize("block", re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "team.md").read_text(), re.DOTALL))
def test_the_files_of_the_page_are_taken(block: str, tmp_path: Path) -> None:
    (tmp_path / "team.yaml").write_text(block)
    assert read_team(tmp_path / "team.yaml").ui.port == 8600


def test_the_first_file_of_the_page_says_the_defaults(tmp_path: Path) -> None:
    block = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "team.md").read_text(), re.DOTALL)[0]
    (tmp_path / "team.yaml").write_text(block)
    assert read_team(tmp_path / "team.yaml") == read_team(None)
    assert set(yaml.safe_load(block)) == set(Team.model_fields)
