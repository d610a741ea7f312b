"""Reading a store: what is asked of it, and what it answers. Two readers answer alike: `database.Database` reads the
SQLite file of a local store by itself, and `ClientReader` asks MLflow, whose import alone takes seconds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from harness.tracking.patience import told

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

#: MLflow gives at most this many runs at once.
_PAGE = 1000
#: What MLflow's filter language can quote: it has no way to escape anything.
_PLAIN = re.compile(r"[^'\"\\`]*")


@dataclass(frozen=True)
class StoredRun:
    """A run as a store has it. A metric that was logged several times has its latest value; `started` is in
    milliseconds since 1970."""

    run_id: str
    name: str
    status: str
    started: int
    artifact_uri: str
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Query:
    """Which runs of an experiment are meant, newest first; those that started at the same time by their id.

    `tags` have to be equal, and of `words` each has to be one of the words of its tag; `having` and `lacking` are tags
    that have to be there and that must not be. `id_begins` is how the id begins, and `measured` is a metric that has to
    be at least 0. `metrics` and `params` say what is read of each run beside its tags.
    """

    experiment: str
    tags: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    having: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    status: str = ""
    name: str = ""
    id_begins: str = ""
    measured: str = ""
    limit: int | None = None
    oldest_first: bool = False
    metrics: bool = True
    params: bool = False


def matches(query: Query, run: StoredRun) -> bool:
    """Whether a run of the experiment is meant, by its values alone."""
    return (
        all(run.tags.get(name) == value for name, value in query.tags.items())
        and all(word in run.tags.get(name, "").split(" ") for name, word in query.words.items())
        and all(name in run.tags for name in query.having)
        and not any(name in run.tags for name in query.lacking)
        and query.status in ("", run.status)
        and query.name in ("", run.name)
        and run.run_id.startswith(query.id_begins)
        and (not query.measured or run.metrics.get(query.measured, -1.0) >= 0)
    )


class Reader(Protocol):
    """What can be read from a store. What cannot be read raises a HarnessError."""

    def search(self, query: Query) -> Iterator[StoredRun]:
        """The runs that are meant, a few at a time. Runs that were deleted in MLflow are none."""

    def count(self, query: Query, /) -> int | None:
        """How many runs are meant, whatever the limit; None where they would have to be read to be counted."""

    def get(self, run_id: str) -> StoredRun:
        """One run with all its values, deleted or not."""

    def folder(self, run_id: str, /) -> Path | None:
        """Where the files of a run lie on this machine; None where they have to be downloaded."""

    def files(self, run_id: str) -> list[str]:
        """The names of the files and folders that a run left, without those inside folders."""

    def download(self, run_id: str, name: str, into: Path) -> Path:
        """A copy of one of them in a folder."""


@dataclass(frozen=True)
class ClientReader:
    """Reads a store through MLflow's client, which knows every kind of store and every schema."""

    connect: Callable[[], MlflowClient]

    def search(self, query: Query) -> Iterator[StoredRun]:
        """Page by page: the store is asked as exactly as its filters allow, and the rest is sorted out here."""
        found = (stored_run(run) for run in self._pages(query))
        return islice((run for run in found if matches(query, run)), query.limit)

    def _pages(self, query: Query) -> Iterator[Run]:
        client, token = self.connect(), None
        order = ["start_time ASC"] if query.oldest_first else ["start_time DESC"]
        # A few more than wanted, since some are sorted out here.
        page = min(_PAGE, 2 * query.limit + 10) if query.limit is not None else _PAGE
        while True:
            with told("the store cannot be searched"):
                found = client.search_runs(
                    [query.experiment], _filter(query), max_results=page, order_by=order, page_token=token
                )
            yield from found
            token = found.token
            if not token:
                return

    def count(self, _: Query) -> int | None:
        """MLflow has no way to count."""
        return None

    def get(self, run_id: str) -> StoredRun:
        """One run."""
        with told(f"run {run_id} cannot be read"):
            return stored_run(self.connect().get_run(run_id))

    def folder(self, _: str) -> Path | None:
        """Files are asked of MLflow, wherever it keeps them."""
        return None

    def files(self, run_id: str) -> list[str]:
        """What a run left."""
        with told(f"run {run_id}: its files cannot be listed"):
            return [item.path for item in self.connect().list_artifacts(run_id)]

    def download(self, run_id: str, name: str, into: Path) -> Path:
        """A copy of a file."""
        with told(f"run {run_id}: its {name} cannot be had from the store"):
            return Path(self.connect().download_artifacts(run_id, name, str(into)))


def stored_run(run: Run) -> StoredRun:
    """A run of MLflow's as all readers give it."""
    info, data = run.info, run.data
    return StoredRun(
        run_id=str(info.run_id),
        name=str(info.run_name or ""),
        status=str(info.status),
        started=int(info.start_time or 0),
        artifact_uri=str(info.artifact_uri),
        tags=data.tags,
        metrics=data.metrics,
        params=data.params,
    )


def _filter(query: Query) -> str:
    """The part of a query that MLflow can be asked; each value that its language cannot say is left out."""
    equal = {f"tags.`{name}`": value for name, value in query.tags.items()}
    equal |= {"attributes.status": query.status, "attributes.run_name": query.name}
    like = {f"tags.`{name}`": f"%{word}%" for name, word in query.words.items()}
    like |= {f"tags.`{name}`": "%" for name in query.having}
    like |= {"attributes.run_id": f"{query.id_begins}%"} if query.id_begins else {}
    said = [(name, "=", value) for name, value in equal.items() if value]
    said += [(name, "LIKE", value) for name, value in like.items()]
    parts = [f"{name} {how} '{value}'" for name, how, value in said if _PLAIN.fullmatch(value)]
    parts += [f"metrics.`{query.measured}` >= 0"] if query.measured else []
    return " and ".join(parts)
