"""A client of MLflow that outlasts a store which is away for a while: calls are made again until it is back.

This is the only layer that retries. MLflow's own would be below it: it repeats any request blindly (a run whose answer
was lost would be made twice), tells nobody, and cannot be given a time; `ServerStore` switches it off.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from harness.base.errors import HarnessError
from harness.base.progress import warn
from harness.tracking.quiet import quiet_mlflow

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

T = TypeVar("T")

#: On every run, a word that no other run has: one whose creation was not acknowledged is found by it.
TOKEN_TAG = "run.token"
#: How long a call is made again where nothing else is said.
PATIENCE = 300.0
_SHORTEST_WAIT, _FIRST_WAIT, _LONGEST_WAIT = 0.01, 0.25, 10.0
_PASSING_CODES = (408, 429, 500, 502, 503, 504)
#: What SQLite says about a database that somebody else is writing; MLflow itself waits 20 seconds for it.
_IN_USE = ("database is locked", "database table is locked")


@dataclass
class Patience:
    """How long calls to a store are repeated. Once that was in vain, `gone` is set and each later call has one try,
    until one succeeds."""

    place: str
    seconds: float = PATIENCE
    gone: bool = field(default=False)

    def call(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call the function, again and again where what stops it may pass, at growing intervals."""
        first, wait = None, _FIRST_WAIT
        while True:
            try:
                answer = function(*arguments, **named)
            except Exception as error:
                if not may_pass(error) or self.gone:
                    raise
                now = time.monotonic()
                if first is None:
                    first = now
                    self._tell(error)
                left = first + self.seconds - now
                if left < _SHORTEST_WAIT:
                    self.gone = True
                    raise
                time.sleep(min(wait * random.uniform(0.5, 1.0), left))
                wait = min(2 * wait, _LONGEST_WAIT)
            else:
                self.gone = False
                return answer

    def _tell(self, error: Exception) -> None:
        if self.seconds:
            warn(f"{self.place} does not answer ({reason(error)}); trying again for {self.seconds:g} seconds")


class _PatientClient:
    """MLflow's client with patience in all its calls."""

    def __init__(self, client: MlflowClient, patience: Patience) -> None:
        self.impatient, self.patience = client, patience

    def __getattr__(self, name: str) -> Any:
        if name in ("impatient", "patience"):  # asked for before there are any: one that is sent to another process
            raise AttributeError(name)
        value = getattr(self.impatient, name)
        return partial(self.patience.call, value) if callable(value) else value

    def create_run(self, experiment_id: str, tags: Mapping[str, str] | None = None, **named: Any) -> Run:
        """A new run, made once: where an earlier try was not acknowledged, the run that it may have made is taken."""
        said = {TOKEN_TAG: secrets.token_hex(16), **(tags or {})}
        tries = 0

        def create() -> Run:
            nonlocal tries
            tries += 1
            if tries > 1:
                query = f"tags.`{TOKEN_TAG}` = '{said[TOKEN_TAG]}'"
                for found in self.impatient.search_runs([experiment_id], query, max_results=1):
                    return found
            return self.impatient.create_run(experiment_id, tags=said, **named)

        return self.patience.call(create)


def patient(client: MlflowClient, patience: Patience) -> MlflowClient:
    """The same client that repeats what may pass."""
    return cast("MlflowClient", _PatientClient(client, patience))


def impatient(client: MlflowClient) -> MlflowClient:
    """The client below one that is patient, for what is not worth waiting for."""
    return cast("MlflowClient", getattr(client, "impatient", client))


def may_pass(error: BaseException) -> bool:
    """Whether an error says that a server or a database is away or busy, rather than that something is wrong."""
    from requests import RequestException

    for each in _chain(error):
        if isinstance(each, RequestException):
            return each.response is None or each.response.status_code in _PASSING_CODES
    return any(text in str(error) for text in _IN_USE)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and what it came from; one that was raised again may come from itself."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or error.__context__


def reason(error: BaseException) -> str:
    """What is wrong, in some words: the innermost error that the network or the disk reports."""
    from requests import RequestException

    told = [each for each in _chain(error) if isinstance(each, RequestException)]
    innermost = told[-1] if told else error
    text = str(innermost).partition("(Caused by ")[2] or str(innermost)
    return next(iter(text.strip().splitlines()), type(innermost).__name__)[:200]


@contextmanager
def told(what: str) -> Iterator[None]:
    """MLflow's own errors in the words of the harness."""
    quiet_mlflow()
    from mlflow.exceptions import MlflowException

    try:
        yield
    except (MlflowException, OSError) as error:
        raise HarnessError(f"{what}: {reason(error)}") from error
