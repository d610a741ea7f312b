"""The commands of docs/scale.md that set up a tracking server, run as they stand there on PostgreSQL and loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import REQUIRE_POSTGRES, ROOT
from tests.servers import answers, free_port, postgres, postgres_programs, running, wait_for

PAGE = (ROOT / "docs" / "scale.md").read_text()


def commands(title: str) -> list[str]:
    """The commands of a section: indented lines, those that end with a backslash joined with the next."""
    section = PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^    (.*)$", section.replace("\\\n", " "), re.MULTILINE)
    return [re.sub(r"\s+", " ", line) for line in lines]


def test_the_page_installs_what_is_pinned() -> None:
    (install,) = [line for line in commands("A tracking server") if line.startswith("pip install")]
    pinned = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert Requirement(install.split('"')[1]) in [Requirement(each) for each in pinned]
    assert install.endswith(" psycopg2-binary")
    import psycopg2  # type: ignore[import-untyped]  # noqa: F401 - what the driver of the address is called


@pytest.mark.slow
@pytest.mark.xdist_group("server")
def test_the_commands_of_the_page_make_a_server_that_takes_runs(tmp_path: Path) -> None:
    programs = postgres_programs()
    if programs is None:
        assert not os.environ.get(REQUIRE_POSTGRES), "no PostgreSQL; scripts/test installs it"
        pytest.skip("needs PostgreSQL; scripts/test installs it where it can")
    create_user, create_database, _, serve, run = commands("A tracking server")
    database, port = free_port(), free_port()
    place = {"0.0.0.0": "127.0.0.1", "mlflow.example:5000": f"127.0.0.1:{port}", "--port 5000": f"--port {port}"}
    place |= {"db.example:5432": f"127.0.0.1:{database}", "/srv/mlflow": str(tmp_path / "artifacts")}
    for there, here in place.items():
        serve, run = serve.replace(there, here), run.replace(there, here)
    paths = os.pathsep.join((str(Path(sys.executable).parent), str(programs), os.environ["PATH"]))
    user = {"PGHOST": "127.0.0.1", "PGPORT": str(database), "PGUSER": "harness"}
    environment = {**os.environ, **user, "PATH": paths, "HARNESS_CACHE": str(tmp_path / "cache")}
    with postgres(programs, database):
        for command in (create_user, create_database):
            subprocess.run(["sh", "-c", command], env=environment, check=True, capture_output=True)
        log = tmp_path / "server.log"
        with running(["sh", "-c", serve], signal.SIGTERM, log, PATH=paths) as server:
            wait_for(lambda: answers(port), server, log)
            # Without photos, whose pipeline takes longer than all the rest.
            small = f"{run} references=off confidence=sample"
            done = subprocess.run(["sh", "-c", small], cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            assert list((tmp_path / "artifacts").rglob("run.json"))
            assert not (tmp_path / "mlruns" / "mlflow.db").exists()
