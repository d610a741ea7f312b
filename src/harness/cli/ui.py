"""Open the labelling pages: confirm suggestions, draw boxes, link bibs to faces, freeze.

It listens on this machine only, unless --host says otherwise; then a token is asked for. Ctrl-C stops it, and nothing
that was saved is lost. With references=frozen it shows a frozen set, which cannot be changed.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError
from harness.base.extras import need
from harness.base.signals import EndedError
from harness.cli.sets import compose_staging
from harness.cli.terminal import add_overrides, name_shadows

if TYPE_CHECKING:
    from harness.labeling.source import LabelSource

NAME = "ui"
HELP = "label photos in the browser"
#: A token that is not on the command line, where other users of the machine could read it.
TOKEN_VARIABLE = "HARNESS_UI_TOKEN"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--port", type=port, default=8600, help="port to listen on (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument(
        "--token", help=f"what others have to know with --host (default: {TOKEN_VARIABLE}, or a new one each time)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    parser.add_argument("--page", default="", help="the page to open, such as /persons/ (default: the home page)")
    parser.add_argument(
        "--mlflow-url",
        default="",
        help="where MLflow's pages are, for links to runs (default: the server of tracking=server)",
    )
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Serve until interrupted; SIGTERM is a way to stop it like another."""
    try:
        return open_pages(arguments)
    except EndedError:
        return 0


def open_pages(arguments: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises EndedError on SIGTERM."""
    need(NAME, "fastapi", "uvicorn")
    config = compose_staging(arguments.overrides)
    name_shadows(config)

    from harness.building import build_finder, instantiate
    from harness.exploring.opened import OpenedRuns
    from harness.labeling.context import Context
    from harness.labeling.history import RunHistory
    from harness.labeling.searching import PhotoSearch
    from harness.labeling.server import ServerSettings, serve
    from harness.tracking.remote import ServerStore

    source = _source(config, chosen=any(item.startswith("references") for item in arguments.overrides))
    store = instantiate(config, "tracking")
    history = RunHistory(store, source, instantiate(config, "scoring"))
    pages = arguments.mlflow_url or (store.uri if isinstance(store, ServerStore) else "")
    search = PhotoSearch(source, lambda: build_finder(config))
    opened = OpenedRuns(store, instantiate(config, "gate"), config.seed)
    # What `harness mlflow` prints has a page of MLflow behind its `#`.
    linker, pages = instantiate(config, "link"), f"{pages.partition('#')[0].rstrip('/')}/" if pages else ""
    context = Context(source, linker, history, search, opened, pages)
    token = arguments.token or os.environ.get(TOKEN_VARIABLE)
    settings = ServerSettings(arguments.host, arguments.port, token, not arguments.no_browser, arguments.page)
    return serve(context, settings)


def _source(config: Any, *, chosen: bool) -> LabelSource:
    """The set that is shown. Where nobody chose one and there is none yet, it is the sample that runs are made on."""
    from pathlib import Path

    from harness.building import instantiate
    from harness.labeling.source import FrozenSource, SampleSource, StagingSource
    from harness.references.frozen import FrozenSet
    from harness.references.sample import SampleSet, ensure_sample, made_sample
    from harness.references.sets import StagingSet
    from harness.references.store import LabelStore

    references = instantiate(config, "references")
    if isinstance(references, FrozenSet):
        return FrozenSource(Path(references.root), references.name)
    if isinstance(references, SampleSet):
        return SampleSource(Path(references.root) if references.root else ensure_sample())
    if not isinstance(references, StagingSet):
        raise ConfigError("references: the pages show references=staging, references=frozen or references=sample")
    root = Path(references.root)
    if not chosen and not (root / "photo_index.json").is_file() and (sample := made_sample()):
        print(f"There is no reference set in {root} yet (harness prepare makes one): this is the sample, read only.")
        return SampleSource(sample)
    return StagingSource(LabelStore(root))


def port(text: str) -> int:
    """A port as it is typed."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port; ports are 1 to 65535")
    return int(text)
