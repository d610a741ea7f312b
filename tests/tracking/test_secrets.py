"""Secrets that a config holds are in nothing that a run leaves: planted ones are looked for in every byte."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from harness.config import build, compose
from harness.runs.records import plan_code, run_key
from tests.conftest import Harness

TASK = """
from dataclasses import dataclass

from {base} import {parent}


@dataclass(frozen=True)
class Remote({parent}):
    api_key: str = ""
    server: str = ""
    login: str = ""
"""
#: A process imports a module of one name once.
NUMBERS = count()
PLANTED = {"OCR_TOKEN": "planted-by-name", "OCR_SERVER": "https://me:planted-in-address@ocr.example/v1"}
RUN = ("references=off", "confidence=sample")
TYPED = "planted-on-the-line"
NOTED = "see https://me:planted-in-note@wiki.example/"


@pytest.fixture
def remote(harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """A task of the user's that is given secrets in every way there is; the overrides of a run of it."""
    number = next(NUMBERS)
    base, module = f"numbers_{number}", f"remote_{number}"
    assert harness("new", "task", base).code == 0
    (tmp_path / f"{module}.py").write_text(TASK.format(base=base, parent=f"Numbers{number}"))
    config = (tmp_path / "conf" / "task" / f"{base}.yaml").read_text()
    config = config.replace(f"{base}.Numbers{number}", f"{module}.Remote")
    config += "api_key: ${oc.env:OCR_TOKEN}\nserver: ${oc.env:OCR_SERVER}\nlogin: ${oc.env:OCR_TOKEN}\n"
    (tmp_path / "conf" / "task" / "remote.yaml").write_text(config)
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    return ("references=off", "task=remote", f"note='{NOTED}'", f"tracking.root={tmp_path / 'mlruns'}")


def leaks(folder: Path) -> list[str]:
    """The files below a folder that hold something planted, be it in a database, a report or a name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path) for path in files if b"planted" in path.read_bytes() or "planted" in path.name]


def test_nothing_that_a_run_a_sweep_and_the_commands_on_them_leave_or_print_has_a_secret(
    harness: Harness, remote: tuple[str, ...], tmp_path: Path
) -> None:
    store = remote[-1]
    told = [harness("-m", *remote, "seed=1,2"), harness("baseline", "latest", store)]
    told += [harness(*remote, f"task.api_key={TYPED}", "report.make=on")]
    commands = (["list", "--json"], ["compare", "latest"], ["report", "latest"])
    told += [harness(word, *more, store) for word, *more in commands]
    assert [done.code for done in told] == [0] * len(told), [done.err for done in told]
    assert "planted" not in "".join(done.out + done.err for done in told)
    assert "no report of" not in told[0].err  # they are made from the stored config, with what the environment says
    assert (tmp_path / "mlruns" / "mlflow.db").is_file()
    assert len(list((tmp_path / "mlruns").rglob("run.json"))) == 3
    assert leaks(tmp_path / "mlruns") == []
    assert leaks(tmp_path / "cache") == []
    configs = [path.read_text() for path in sorted((tmp_path / "mlruns").rglob("config.yaml"))]
    assert all("server: ${oc.env:OCR_SERVER}" in config for config in configs)
    assert any("api_key: '***'" in config for config in configs)


def test_the_search_finds_a_secret_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"\0planted-by-name\0")
    assert leaks(tmp_path) == [str(tmp_path / "x.db")]


def test_runs_with_other_secrets_are_other_runs(remote: tuple[str, ...]) -> None:
    """A key may select a model at the server: what it selects is then no longer seen in the parameters."""
    keys = []
    for typed in ("a", "b"):
        spec = build(compose([*remote, f"task.api_key={typed}"]))
        assert spec.params["task.api_key"] == "***"
        keys.append(run_key(spec, plan_code(spec)))
    assert len(set(keys)) == 2


def test_a_secret_of_the_wrong_type_is_not_shown(remote: tuple[str, ...], harness: Harness) -> None:
    told = harness(*remote, "task.api_key=[planted]")
    assert (told.code, "task.api_key: " in told.err, "planted" in told.err) == (2, True, False), told.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*RUN, "tracking=server", "tracking.uri=http://me:planted@h:5000"], "the address is kept with each run"),
        ([*RUN, "tracking=server", "tracking.uri=postgres://me:planted@h/x"], "got 'postgres://***@h/x'"),
        (
            ["cache", "stats", "cache=shared", "cache.uri=s3://me:planted@bucket/x"],
            "it has a password, which would be logged",
        ),
        ([*RUN, "report.explorer=http://me:planted@h"], "report.explorer: it has a password"),
    ],
)
def test_addresses_with_passwords_are_refused_without_telling_them(
    arguments: list[str], message: str, harness: Harness
) -> None:
    told = harness(*arguments)
    assert told.code == 2
    assert message in told.err
    assert "planted" not in told.err


def test_the_address_of_a_server_in_the_environment_tells_no_password(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:planted@h:5000")
    told = harness(*RUN, "tracking=server")
    assert told.code == 2
    assert "MLFLOW_TRACKING_PASSWORD" in told.err
    assert "planted" not in told.err
