"""Print where the report of a run is, or open it in a browser. A run without a report gets one now.

RUN is an id, the beginning of one, a name, or `latest`. On a local store the report is the file that the run left;
from a server a copy is written to the working folder. A report is made from the run's config and the stage cache, as
long as its photos, labels, models and code are what they were. With `report.pictures=24` or `report.explorer=ADDRESS`
it is drawn anew. With --pdf it is printed to the working folder by a Chromium or Chrome of this machine. With
--pictures the newly broken photos are written as files, for a comment on a pull request.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.cli.runs import compose_runs, existing_store
from harness.cli.terminal import add_overrides

if TYPE_CHECKING:
    from harness.runs.plan import Drawing
    from harness.tracking.entries import RunEntry
    from harness.tracking.store import OpenStore

NAME = "report"
HELP = "print where a run's report is, make it, or open it"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("run", nargs="?", metavar="RUN", help="id, beginning of an id, or name (default: latest)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--open", action="store_true", help="open it in a browser")
    form.add_argument("--pdf", action="store_true", help="print it as PDF to the working folder; needs Chromium")
    form.add_argument(
        "--pictures",
        type=Path,
        metavar="FOLDER",
        help="write the pictures of newly broken photos there, and print them as Markdown",
    )
    parser.add_argument(
        "--address",
        default="{name}",
        help="with --pictures: where each will be found, {name} being its file (default: %(default)s)",
    )
    add_overrides(parser, "tracking.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print where it is."""
    from harness.config import drawing_of
    from harness.tracking.finding import LATEST, find_run

    config = compose_runs(arguments, "run")
    store = existing_store(config).open()
    asked = any(word.startswith("report.") for word in arguments.overrides)
    chosen = find_run(store, arguments.run or LATEST)
    path = report_file(store, chosen, drawing_of(config) if asked else None)
    if arguments.pictures:
        from harness.report.broken_pictures import write_broken

        print(write_broken(path.read_text(), arguments.pictures, arguments.address), end="", flush=True)
        return 0
    if arguments.pdf:
        from harness.report.pdf import print_pdf

        page, path = path, Path.cwd() / f"report-{chosen.short_id}.pdf"
        print_pdf(page, path)
    print(path, flush=True)
    if arguments.open:
        import webbrowser

        if not webbrowser.open(path.as_uri()):
            raise HarnessError(f"no browser could be opened; the report is {path}")
    return 0


def report_file(store: OpenStore, run: RunEntry, drawing: Drawing | None = None) -> Path:
    """The report of a run as a file on this machine, which is made where the run has none, or where it is to be drawn
    otherwise. Raises where it cannot be."""
    from harness.report.html import REPORT_FILE

    if drawing or REPORT_FILE not in store.reader.files(run.run_id):
        if run.sealed or not run.finished:
            why = "its scores are sealed" if run.sealed else f"the run is {run.status}"
            raise HarnessError(f"run {run.short_id} ({run.name}) has no report: {why}")
        from harness.remaking import make_report

        try:
            make_report(store, run.run_id, drawing)
        except HarnessError as error:
            raise HarnessError(
                f"run {run.short_id} ({run.name}) has no report, and none can be made: {error}"
            ) from error
    folder = store.reader.folder(run.run_id)
    return folder / REPORT_FILE if folder else _copied(store, run, REPORT_FILE)


def _copied(store: OpenStore, run: RunEntry, name: str) -> Path:
    """A copy in the working folder. It is fetched each time: the report of a run that is judged anew changes."""
    import shutil
    import tempfile

    target = Path.cwd() / f"report-{run.short_id}.html"
    try:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(store.reader.download(run.run_id, name, Path(folder)), target)
    except OSError as error:
        raise HarnessError(f"{target}: the report cannot be written: {error.strerror}") from error
    return target
