"""Find the photos of somebody: by a picture of their face, by the number on their bib, or by both.

All photos of the staging set are searched, unless overrides say otherwise. The first search processes each photo, and
takes as long as a run. The best photos come first, each with its reasons. The threshold for similar faces is
calibrated on the photos themselves. The exit code is 0 also if nobody is found. The picture and its vector are not
kept.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import ConfigError
from harness.base.texts import aligned, one_line
from harness.cli.sets import compose_staging
from harness.cli.terminal import add_json, add_overrides, name_shadows, show_json

if TYPE_CHECKING:
    from harness.tasks.identity.finder import Finder, Found

NAME = "find"
HELP = "find somebody's photos by a selfie or a number"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--selfie", type=Path, metavar="FILE", help="a picture of the face")
    parser.add_argument("--number", metavar="NUMBER", help="the number on the bib")
    parser.add_argument(
        "--most", type=_count, default=50, metavar="N", help="show at most N photos (default: 50; 0: all)"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the photos, too")
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Search and show."""
    if arguments.selfie is None and arguments.number is None:
        raise ConfigError("nothing to search with: give --selfie FILE, --number NUMBER or both")
    _check_page(arguments.html)
    from harness.building import build_finder
    from harness.tasks.identity.telling import as_json

    config = compose_staging(arguments.overrides)
    name_shadows(config)
    finder = build_finder(config, whole=not any(item.startswith("references.split=") for item in arguments.overrides))
    found = _search(finder, arguments)
    if arguments.html is not None:
        _write_page(found, arguments.html, arguments.most)
    if arguments.json:
        show_json(as_json(found, arguments.most))
    else:
        _show(found, arguments.most)
    return 0


def _search(finder: Finder, arguments: argparse.Namespace) -> Found:
    """The query is looked at first: whatever is wrong with it is told before photos are."""
    finder.load()
    query = finder.query(arguments.selfie, arguments.number)
    return finder.open().answer(query)


def _show(found: Found, most: int) -> None:
    from harness.tasks.identity.telling import headline, notes, reasons, short, warnings

    photos, nearest = found.answer.photos, found.answer.nearest
    print(headline(found))
    _table(
        ("", "PHOTO", "WHY"),
        [(found.photo(each.photo).name, reasons(each, found.answer.numbers)) for each in photos],
        most,
    )
    if nearest:
        print("\nThe nearest, of which none is known to be similar enough:")
        rows = [(found.photo(each.photo).name, short(each.similarity)) for each in nearest]
        _table(("", "PHOTO", "SIMILARITY"), rows, most)
    for line in notes(found):
        print(line)
    sys.stdout.flush()
    for line in warnings(found):
        print(f"harness: {line}", file=sys.stderr, flush=True)


def _table(heads: tuple[str, ...], rows: list[tuple[str, str]], most: int) -> None:
    shown = rows[: most or None]
    if shown:
        numbered = [(str(place), one_line(name), why) for place, (name, why) in enumerate(shown, start=1)]
        print("\n" + "\n".join(aligned([heads, *numbered])))
    if len(rows) > len(shown):
        print(f"... and {len(rows) - len(shown):,} more (--most 0 shows all)")
    if shown:
        print()


def _check_page(target: Path | None) -> None:
    """Refuse a page that cannot be written, or would replace something else, before any work is done."""
    if target is None:
        return
    if target.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"--html {target}: expected a name that ends in .html")
    if target.is_dir() or not target.parent.is_dir():
        raise ConfigError(f"--html {target}: expected a file in a folder that exists")


def _write_page(found: Found, target: Path, most: int) -> None:
    from harness.base.disk import write_atomically
    from harness.references.photos import read_photo
    from harness.tasks.identity.found_page import found_page

    write_atomically(target, found_page(found, most, read_photo).encode())


def _count(text: str) -> int:
    count = int(text)
    if count < 0:
        raise argparse.ArgumentTypeError(f"{count}: expected 0 or more")
    return count
