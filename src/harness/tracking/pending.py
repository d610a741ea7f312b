"""Runs that could not be logged: everything of one is kept in a folder, until `harness log` logs it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base.cache import cache_dir
from harness.base.disk import write_atomically
from harness.base.errors import HarnessError, PendingError
from harness.base.locks import file_lock
from harness.base.texts import COMMAND
from harness.tracking.patience import TOKEN_TAG, reason, told
from harness.tracking.runs import RunRecord, TrackedRun, write_record, write_table
from harness.tracking.store import LocalStore, OpenStore

if TYPE_CHECKING:
    from mlflow.entities import Run

    from harness.tracking.store import Store

_SHEET, _FILES = "pending.json", "files"
_FORMAT = 1


@dataclass(frozen=True)
class Pending:
    """A run that waits to be logged: its folder, and what the sheet in it says."""

    folder: Path
    sheet: dict[str, Any]

    @property
    def name(self) -> str:
        """What `harness log` calls it."""
        return self.folder.name

    @property
    def store(self) -> Store:
        """The store that it was made for."""
        from harness.tracking.remote import ServerStore

        given = {name: value for name, value in self.sheet["store"].items() if name != "kind"}
        return LocalStore(**given) if self.sheet["store"]["kind"] == "local" else ServerStore(**given)

    @property
    def line(self) -> tuple[str, ...]:
        """The run in a list."""
        ended = datetime.fromtimestamp(self.sheet["ended"] / 1000, UTC)
        return (self.name, f"{ended:%Y-%m-%d %H:%M}", self.sheet["run_name"], self.store.place, self.sheet["why"])


def pending_root() -> Path:
    """Where runs wait: beside the caches, which may be on another disk than the store."""
    return cache_dir() / "pending"


def keep(run: TrackedRun, record: RunRecord, status: str, ended: int, error: Exception) -> HarnessError:
    """Keep everything of a run that the store did not take; returns the error to end with. Where the disk of the caches
    takes nothing either, the temporary folder is tried."""
    what = f"run {run.run_id} could not be logged ({reason(error)})"
    problem: OSError | None = None
    for root in (pending_root(), Path(tempfile.gettempdir()) / "harness-pending"):
        try:
            folder = _keep_in(root, run, record, status, ended, reason(error))
        except OSError as found:
            problem = found
            continue
        word = folder.name if root == pending_root() else folder
        return PendingError(f"{what}; all of it is kept in {folder}; log it with: {COMMAND} log {word}")
    return HarnessError(f"{what}, nor be kept on disk ({problem}); what was predicted is in the stage cache")


def _keep_in(root: Path, run: TrackedRun, record: RunRecord, status: str, ended: int, why: str) -> Path:
    """Write the folder beside and rename it, so that it is there only when it is whole."""
    root.mkdir(parents=True, exist_ok=True)
    folder = root / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(ended / 1000))}-{run.run_id[:8]}"
    beside = Path(tempfile.mkdtemp(dir=root, prefix=".keeping-"))
    try:
        if record.files is not None:
            shutil.copytree(record.files, beside / _FILES, copy_function=_linked)
        else:
            (beside / _FILES).mkdir()
        for name, table in record.tables.items():
            (beside / _FILES / name).unlink(missing_ok=True)
            write_table(beside / _FILES / name, table)
        sheet = _sheet(run, record, status, ended) | {"why": why}
        write_atomically(beside / _SHEET, json.dumps(sheet).encode())
        return beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


def _linked(source: str, target: str) -> str:
    """A second name for a file where both are on one disk, which takes no room; else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def _sheet(run: TrackedRun, record: RunRecord, status: str, ended: int) -> dict[str, Any]:
    origin = run.store.origin
    if origin is None:
        raise OSError("it is not known which store the run belongs to")
    store = {"kind": "local" if isinstance(origin, LocalStore) else "server", **asdict(origin)}  # type: ignore[call-overload]
    if isinstance(origin, LocalStore):
        store["root"] = str(origin.folder)
    return {
        "format": _FORMAT,
        "store": store,
        "experiment": run.store.kind_of(run.experiment),
        "run_id": run.run_id,
        "run_name": run.name,
        "begun_with": dict(run.tags),
        "status": status,
        "ended": ended,
        "params": dict(record.params),
        "metrics": dict(record.metrics),
        "tags": dict(record.tags),
        "description": record.description,
        "curves": {name: sorted(steps.items()) for name, steps in record.curves.items()},
        "tables": list(record.tables),
        "dataset": record.dataset,
    }


def list_pending() -> list[Pending]:
    """The runs that wait, the oldest first."""
    root = pending_root()
    folders = sorted(path for path in root.glob("[!.]*") if (path / _SHEET).is_file()) if root.is_dir() else []
    return [read_pending(folder) for folder in folders]


def read_pending(folder: Path) -> Pending:
    """Read one. Raises a HarnessError that names the file where it is none."""
    try:
        sheet = json.loads((folder / _SHEET).read_bytes())
    except OSError as error:
        raise HarnessError(f"{folder}: no run waits here to be logged: {error.strerror}") from error
    except ValueError as error:
        raise HarnessError(f"{folder / _SHEET}: not JSON: {error}") from error
    if not isinstance(sheet, dict) or sheet.get("format") != _FORMAT:
        raise HarnessError(f"{folder / _SHEET}: expected a pending run of format {_FORMAT}")
    return Pending(folder, sheet)


def log_pending(pending: Pending, store: Store | None = None) -> str:
    """Log a run that waits, to its own store or to another one, and remove its folder; returns the id of the run.

    Called again after it was killed in the middle it goes on with the same run.
    """
    with file_lock(pending.folder.parent / ".lock"):
        if not pending.folder.is_dir():
            raise HarnessError(f"{pending.folder}: somebody else has logged it meanwhile")
        opened = (store or pending.store).open()
        sheet = pending.sheet
        with told(f"{pending.folder}: cannot be logged"):
            run_id = _run_of(opened, sheet)
            record = _record(sheet, pending.folder / _FILES)
            write_record(opened.client, run_id, record, sheet["status"], sheet["ended"])
        _remove(pending.folder)
    return run_id


def _record(sheet: dict[str, Any], files: Path) -> RunRecord:
    """The record as it was; its tables are among the files."""
    listed = [{"path": name, "type": "table"} for name in sheet["tables"]]
    shown = {"mlflow.loggedArtifacts": json.dumps(listed)} if listed else {}
    return RunRecord(
        params=sheet["params"],
        metrics=sheet["metrics"],
        tags=sheet["tags"] | shown,
        description=sheet["description"],
        curves={name: dict(steps) for name, steps in sheet["curves"].items()},
        files=files,
        dataset=tuple(sheet["dataset"]) if sheet["dataset"] else None,
    )


def _run_of(opened: OpenStore, sheet: dict[str, Any]) -> str:
    """The run in the store: the one that was begun or, where the store no longer has it, one that is made now, once."""
    experiment = opened.experiment_of(sheet["experiment"])
    query = f"tags.`{TOKEN_TAG}` = '{sheet['begun_with'][TOKEN_TAG]}'"
    found: Run | None = next(iter(opened.client.search_runs([experiment], query, max_results=1)), None)
    if found is None:
        found = opened.client.create_run(experiment, run_name=sheet["run_name"], tags=sheet["begun_with"])
    return str(found.info.run_id)


def _remove(folder: Path) -> None:
    """Take the folder away. What was killed in the middle of that is finished by the next call."""
    folder.rename(folder.with_name(f".logged-{folder.name}"))
    for left in folder.parent.glob(".logged-*"):
        shutil.rmtree(left, ignore_errors=True)
