"""Go from a folder of photos to the first verdict. The same command again continues where you left off.

  1. prepare    the photos are copied in, and labels suggested
  2. ui         you confirm them in the browser, and stop it with Ctrl-C
  3. freeze     what is labelled becomes a benchmark that never changes
  4. a run, which is pinned as the baseline that later ones are judged against

Each step is also a command of its own, which is printed before it is run. The reference set and the stored runs show
which steps are done. Without a terminal it ends before the labelling, and says what to do.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.base.errors import ConfigError, IncompleteError
from harness.base.progress import warn
from harness.base.screen import screen
from harness.base.texts import COMMAND, counted, listing, text_table
from harness.cli import prepare, ui
from harness.cli.sets import compose_staging, open_set
from harness.cli.terminal import add_overrides, confirm

if TYPE_CHECKING:
    from harness.spec import RunSpec

NAME = "start"
HELP = "from a folder of photos to the first verdict, step by step"

#: For how many photos it is told what the gate would see.
_PHOTOS = (60, 120, 240, 480)


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", metavar="FOLDER", help="a folder of photos")
    parser.add_argument("--name", help="what the frozen set is called (default: that of references=frozen)")
    parser.add_argument("--enough", action="store_true", help="go on with the photos that are labelled by now")
    parser.add_argument("--port", type=ui.port, default=8600, help="port of the pages (default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="print the address and open no browser")
    add_overrides(parser, "preset=fast or references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Do what is left to do. Each step looks for itself whether it is done."""
    if stray := next((word for word in arguments.overrides if word.startswith("references=")), None):
        raise ConfigError(f"{stray}: start labels the staging set and freezes it; references.root=FOLDER says where")
    steps = _Steps(arguments)
    steps.prepare()
    if not steps.frozen.is_dir():
        if not steps.label():
            return 0
        steps.freeze()
    steps.pin_first_run()
    steps.tell_next()
    return 0


@dataclass(frozen=True)
class _Labelled:
    """How far the photos of the set are, and which of them is the first to do."""

    photos: int
    complete: int
    first: str


class _Steps:
    """The steps, on the set and the store that the overrides name."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        from harness.config import compose
        from harness.references.frozen import FOLDER, check_name

        self.given, self.overrides = arguments, list(arguments.overrides)
        store, _ = open_set(compose_staging(self.overrides))
        self.store, self.own = store, _about(self.overrides, "references.", "tracking")
        usual = str(compose(["references=frozen"]).references.name)
        self.name = arguments.name or usual
        check_name(self.name)
        self.frozen = store.root / FOLDER / self.name
        named = [] if self.name == usual else [f"references.name={self.name}"]
        self.on_frozen = ["references=frozen", *named]

    def prepare(self) -> None:
        """Copy in and suggest; a photo without suggestions can be labelled all the same."""
        try:
            _name_step(["prepare", self.given.folder, *self.overrides])
            prepare.copy_and_suggest(
                argparse.Namespace(
                    path=self.given.folder, refresh=False, reset_labels=False, force=False, overrides=self.overrides
                )
            )
        except IncompleteError as error:
            warn(str(error))

    def label(self) -> bool:
        """Have the photos labelled in the browser; returns whether there is something to go on with."""
        found = self._labelled()
        print(f"\n{found.complete:,} of {counted(found.photos, 'photo')} are labelled.", flush=True)
        if found.complete < found.photos and not self.given.enough:
            print(f"\n{self._power_words(found.photos)}\n", flush=True)
            if not sys.stdin.isatty():
                self._say_how_to_label(found)
                return False
            self._open_pages(found)
            found = self._labelled()
            print(f"\n{found.complete:,} of {counted(found.photos, 'photo')} are labelled.", flush=True)
        if not found.complete:
            self._say_how_to_label(found)
            return False
        if found.complete < found.photos:
            left = f"{counted(found.photos - found.complete, 'photo')} would stay out of {self.name}"
            question = f"Go on with those, and freeze them as {self.name}? {left}."
            confirm(self.given.enough, question, left, "--enough")
        return True

    def freeze(self) -> None:
        """Freeze what is labelled completely."""
        _do("freeze", "--name", self.name, *_about(self.overrides, "references."))

    def pin_first_run(self) -> None:
        """Run on the frozen set and pin the run, unless the set has a baseline already."""
        from harness.runs.records import all_data
        from harness.showing import run_and_show
        from harness.tracking.finding import list_baselines

        spec, typed = self._spec()
        data, open_store = all_data(spec), spec.tracking.open() if spec.tracking.exists else None
        known = list_baselines(open_store) if open_store else []
        pinned = next((run for run in known if (run.data_digest, run.data_split) == (data.digest, data.split)), None)
        if pinned is not None:
            print(f"\n{self.name} has a baseline: {pinned.short_id} ({pinned.name}).")
            return
        _name_step(typed)
        result = run_and_show(spec, typed)
        _do("baseline", result.run_id[:8], *_about(self.overrides, "tracking"))

    def tell_next(self) -> None:
        """What to do with a baseline."""
        self._tell_unlabelled_since()
        change = "preset=fast" if self._spec()[0].preset != "fast" else "preset=best"
        others = [word for word in self.overrides if not word.startswith("preset=")]
        print("\nChange a setting, and the verdict says what it did; then look at each photo beside the baseline:")
        print(f"  {_typed(*self.on_frozen, *others, change)}")
        print(f"  {_typed('ui', *self.on_frozen, *self.own)}", flush=True)

    def _spec(self) -> tuple[RunSpec, list[str]]:
        from harness.config import build, compose
        from harness.showing import in_name

        typed = [*self.on_frozen, *self.overrides]
        return build(compose(typed), in_name(typed)), typed

    def _labelled(self) -> _Labelled:
        from harness.references.freeze import choose

        contents = self.store.contents()
        done = choose(contents, include_incomplete=False, everything=False)
        index = contents.index.photos
        left = sorted((record.names[0], photo) for photo, record in index.items() if photo not in done)
        return _Labelled(len(index), len(done), left[0][1] if left else "")

    def _open_pages(self, found: _Labelled) -> None:
        print("In the browser, A accepts the marked person, D finishes the photo, ? shows all keys.")
        print("When you have labelled what you want, press Ctrl-C here: start then goes on by itself.", flush=True)
        page = f"persons/{found.first}#continue"
        _name_step(["ui", *self.own])
        ui.open_pages(
            argparse.Namespace(
                port=self.given.port,
                host="127.0.0.1",
                token=None,
                no_browser=self.given.no_browser,
                page=page,
                mlflow_url="",
                overrides=self.overrides,
            )
        )

    def _say_how_to_label(self, found: _Labelled) -> None:
        named = ["--name", self.given.name] if self.given.name else []
        again = ["start", self.given.folder, *named, *self.overrides]
        print("Label photos in the browser, then call the same command again; it goes on from there:")
        print(f"  {_typed('ui', '--page', '/persons/', *self.own)}\n  {_typed(*again)}")
        if found.complete:
            print(f"Or go on with the {found.complete:,} that are labelled:\n  {_typed(*again, '--enough')}")
        sys.stdout.flush()

    def _power_words(self, photos: int) -> str:
        """What the gate would see, on the photos of this set and on more of them."""
        from harness.scoring.power import CHURNS, photos_needed, smallest_loss

        judged, own = self._judged(), self._groups()
        margin, together = max(rule.margin for rule in judged.values()), len(judged)
        rows = [
            [f"{photos:,}", *(_points(smallest_loss(photos, churn, together)) for churn in CHURNS)]
            for photos in sorted({own, *_PHOTOS})
        ]
        needed = [f"{photos_needed(margin, churn, together):,} if {churn:.0%} differ" for churn in CHURNS]
        heads = ["LABELLED PHOTOS", *(f"{churn:.0%} DIFFER" for churn in CHURNS)]
        told = [
            "How small a loss can the gate report? The table has the smallest one, in points, that it reports in four "
            "of five cases, by the number of labelled photos and by the share of photos for which a change gives "
            f"another answer ({together} metrics are judged together):",
            listing(text_table(heads, rows).splitlines()),
            f"To see a loss of {100 * margin:g} points, label about so many photos: {', '.join(needed)}.",
            f"Your {counted(photos, 'photo')} count as {own:,} here: those of the holdout are kept aside, and photos "
            "of one burst or one runner count as one.",
        ]
        return screen().wrapped_text("\n".join(told))

    def _judged(self) -> dict[str, Any]:
        from harness.building import instantiate
        from harness.tasks.photos.scores import declared

        return dict(instantiate(compose_staging(self.overrides), "gate").judged(declared()))

    def _groups(self) -> int:
        """How many photos a run would judge, each group counted as one."""
        from harness.references.groups import groups_of
        from harness.types import Split

        contents, (_, references) = self.store.contents(), open_set(compose_staging(self.overrides))
        groups = groups_of(contents, self.store.root, references.groups)
        wanted = {references.split} if references.split != Split.FULL else {Split.ITERATION, Split.HOLDOUT}
        return len({groups.of[photo] for photo, record in contents.index.photos.items() if record.split in wanted})

    def _tell_unlabelled_since(self) -> None:
        from harness.references.frozen import read_manifest

        found, frozen = self._labelled(), read_manifest(self.frozen).photos
        if found.complete > frozen:
            newer = f"{found.complete - frozen:,} of {counted(found.photos, 'photo')} were labelled since"
            print(f"\n{newer} {self.name} was frozen: --name freezes them all under a new name.")


def _do(*words: str) -> None:
    from harness.cli import run_command

    _name_step(words)
    run_command(words)


def _name_step(words: Sequence[str]) -> None:
    print(f"\n$ {_typed(*words)}", flush=True)


def _typed(*words: str) -> str:
    return f"{COMMAND} {shlex.join(words)}"


def _about(overrides: Sequence[str], *beginnings: str) -> list[str]:
    return [word for word in overrides if word.startswith(beginnings)]


def _points(loss: float) -> str:
    return "none" if loss >= 1 else f"{100 * loss:.0f}"
