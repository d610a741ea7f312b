"""The file of `harness serve`: what is started for a team, and where it listens. Checked before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from harness.base.documents import checked
from harness.base.errors import ConfigError

LOOPBACK = "127.0.0.1"
Port = Annotated[int, Field(ge=1, le=65535)]


def _backend(address: str) -> str:
    if address and "://" not in address:
        raise ValueError(
            "expected the address of a database, such as postgresql+psycopg2://mlflow@localhost:5432/mlflow"
        )
    if urlsplit(address).password:
        raise ValueError("a password must not be in this file; use PGPASSWORD or ~/.pgpass")
    return address


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class MlflowPart(_Part):
    """The MLflow server. Without a `backend` its runs are in SQLite in the team's folder."""

    host: str = LOOPBACK
    port: Port = 5000
    backend: Annotated[str, AfterValidator(_backend)] = ""
    #: The names that clients call it by, with ports, where it listens for other machines.
    allowed_hosts: tuple[str, ...] = ()


class PagesPart(_Part):
    """The labelling pages; `overrides` are those of `harness ui`."""

    host: str = LOOPBACK
    port: Port = 8600
    overrides: tuple[str, ...] = ()


class HealthPart(_Part):
    """The page that says how the others are."""

    host: str = LOOPBACK
    port: Port = 8601


class Team(_Part):
    """All of the file. The folder has the runs of the server: its database, unless there is another, and its files."""

    folder: Path = Path("team")
    mlflow: MlflowPart = MlflowPart()
    ui: PagesPart = PagesPart()
    health: HealthPart = HealthPart()

    @model_validator(mode="after")
    def _ports_differ(self) -> Team:
        ports = [self.mlflow.port, self.ui.port, self.health.port]
        if twice := [port for port in ports if ports.count(port) > 1]:
            raise ValueError(f"port {twice[0]} is given twice; each server needs a port of its own")
        return self

    @property
    def database(self) -> str:
        """The address of the server's database."""
        return self.mlflow.backend or f"sqlite:///{self.folder.absolute() / 'mlflow.db'}"


def read_team(path: Path | None) -> Team:
    """The settings of a file; what it does not say, or no file, is the default."""
    if path is None:
        return Team()
    try:
        content = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from error
    return checked(Team, content or {}, str(path), ConfigError)
