"""Jobs: what an agent asks for and a call is too short for. They outlive the server that was asked.

A job is a folder `experiments/<study>/jobs/<id>/` with what was asked (`request.json`, written once), how far it is
(`state.json`, replaced as a whole), the wish that it end (`cancel`) and the pictures of its result. It is worked on by
a *lane*: a process of its own for the trials of a study, for its search, for candidates that are
judged, and for whatever is looked at. While a lane
works on a job it holds the job's lock, which dies with it: a job that is said to be running and whose lock is free was
left, and is begun again by the next lane.

The id is made of what was asked, so that a call that is repeated finds the job that it began before.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from harness.base.disk import replace_file
from harness.base.documents import checked, read_json
from harness.base.errors import ConflictError, HarnessError
from harness.base.locks import file_lock, is_locked

FOLDER = "jobs"
_REQUEST, _STATE, _CANCEL, _LOCK = "request.json", "state.json", "cancel", "lock"

Lane = Literal["trials", "search", "looks", "judge"]
Status = Literal["queued", "running", "done", "failed", "cancelled"]
#: A job that has taken so many processes with it is not begun again.
MOST_ATTEMPTS = 3
#: Finished jobs beyond so many are forgotten, the oldest first, but not those with a key of the caller's.
MOST_KEPT = 100
#: How a job ends.
ENDED: tuple[Status, ...] = ("done", "failed", "cancelled")


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Request(_Kept):
    """What was asked, by whom and when; `key` is the caller's own name for it, where there is one."""

    id: str
    study: str
    kind: str
    lane: Lane
    arguments: dict[str, Any]
    by: str
    key: str = ""
    created: float


class State(_Kept):
    """How far a job is: `done` of `total` in `unit`, and what is known already. `error` says why it failed."""

    status: Status = "queued"
    attempts: int = 0
    done: int = 0
    total: int = 0
    unit: str = ""
    began: float = 0.0
    changed: float = 0.0
    partial: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: str = ""
    #: The name of the error, so that the advice that belongs to it can be given.
    error_kind: str = ""

    @property
    def rate(self) -> float | None:
        """So many are done in a second."""
        spent = self.changed - self.began
        return self.done / spent if self.done and spent > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes at this rate."""
        rate = self.rate
        return (self.total - self.done) / rate if rate and self.total else None


@dataclass(frozen=True)
class Job:
    """One job on disk."""

    folder: Path
    request: Request

    @property
    def id(self) -> str:
        """What it is called."""
        return self.request.id

    def state(self) -> State:
        """How far it is. One that is said to be running is not where nobody holds its lock: it is to be begun again."""
        if (found := self._read()).status == "running" and not is_locked(self.folder / _LOCK):
            found = self._read()  # once more: it may just have finished
            return found.model_copy(update={"status": "queued"}) if found.status == "running" else found
        return found

    def _read(self) -> State:
        path = self.folder / _STATE
        if not path.exists():
            return State()  # nobody has begun it
        return checked(State, read_json(path, HarnessError), str(path), HarnessError)

    def write(self, state: State) -> None:
        """Replace what is known of it; only who holds its lock does."""
        replace_file(self.folder / _STATE, state.model_dump_json().encode())

    def held(self) -> AbstractContextManager[None]:
        """The lock of whoever works on it."""
        return file_lock(self.folder / _LOCK)

    def wish_cancelled(self) -> None:
        """Ask whoever works on it to end it."""
        (self.folder / _CANCEL).touch()

    def is_unwanted(self) -> bool:
        """Whether its caller wants it to end."""
        return (self.folder / _CANCEL).exists()

    def picture(self, name: str) -> bytes:
        """A picture of its result."""
        return (self.folder / name).read_bytes()

    def keep_picture(self, name: str, content: bytes) -> None:
        """Keep a picture of its result."""
        replace_file(self.folder / name, content)


@dataclass(frozen=True)
class Jobs:
    """The jobs of one study."""

    folder: Path

    @classmethod
    def of(cls, study_folder: Path) -> Jobs:
        """Those of the study that keeps what it writes in a folder."""
        return cls(study_folder / FOLDER)

    def all(self) -> list[Job]:
        """Every job, in the order in which they were asked for."""
        found = [job for folder in self.folder.glob("[!.]*/") if (job := self._read(folder))]
        return sorted(found, key=lambda job: (job.request.created, job.id))

    def get(self, job: str) -> Job:
        """One job. Raises ConflictError where there is no such job."""
        found = self._read(self.folder / job) if job.replace("-", "").isalnum() else None
        if found is None:
            raise ConflictError(f"there is no job {job!r} of this study; the resource of its jobs lists them")
        return found

    def _read(self, folder: Path) -> Job | None:
        try:
            return Job(folder, checked(Request, read_json(folder / _REQUEST, HarnessError), str(folder), HarnessError))
        except HarnessError:
            return None  # it is being forgotten

    def add(
        self,
        study: str,
        kind: str,
        lane: Lane,
        arguments: Mapping[str, Any],
        by: str,
        key: str = "",
        lasting: bool = False,
    ) -> Job:
        """The job that was asked for: made now, or the one that the same call made before.

        With the caller's own `key` that is always the same job, and other arguments under it are a conflict. Without
        one it is the job of the same arguments for as long as it is under way, and beyond that where its result is
        `lasting` and it did not fail.
        """
        asked = json.loads(json.dumps(arguments, sort_keys=True))
        name = f"{kind.replace('_', '-')}-{_digest(study, kind, key or asked)}"
        while True:
            last = max((int(path.name.rpartition("-")[2]) for path in self.folder.glob(f"{name}-*")), default=0)
            known = self._read(self.folder / f"{name}-{last}")
            if known is not None:
                if key and known.request.arguments != asked:
                    raise ConflictError(f"the key {key!r} was used before, for other arguments; choose another one")
                status = known.state().status
                if key or status in ("queued", "running") or (lasting and status == "done"):
                    return known
            request = Request(
                id=f"{name}-{last + 1}",
                study=study,
                kind=kind,
                lane=lane,
                arguments=asked,
                by=by,
                key=key,
                created=time.time(),
            )
            if made := self._make(request):
                self._forget()
                return made
            # Another call has made it meanwhile: look again.

    def _make(self, request: Request) -> Job | None:
        """A new job, whole or not at all; None where another call has made it meanwhile."""
        beside = self.folder / f".{request.id}.{secrets.token_hex(4)}"
        beside.mkdir(parents=True)
        (beside / _REQUEST).write_text(request.model_dump_json())
        try:
            beside.rename(self.folder / request.id)
        except OSError:
            shutil.rmtree(beside)
            return None
        return Job(self.folder / request.id, request)

    def _forget(self) -> None:
        jobs = [job for job in self.all() if not job.request.key]
        for job in jobs[: max(0, len(jobs) - MOST_KEPT)]:
            if job.state().status in ENDED:
                shutil.rmtree(job.folder, ignore_errors=True)

    @property
    def stamp(self) -> int:
        """What changes when a job is added."""
        return self.folder.stat().st_mtime_ns

    def waiting(self, lane: Lane) -> Iterator[Job]:
        """The jobs of a lane that nobody works on, in order."""
        return (job for job in self.all() if job.request.lane == lane and job.state().status == "queued")

    def lane_lock(self, lane: Lane) -> Path:
        """The file that the process of a lane holds a lock on."""
        return self.folder / f"{lane}.lock"

    def lane_log(self, lane: Lane) -> Path:
        """What the process of a lane has printed."""
        return self.folder / f"{lane}.log"


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]
