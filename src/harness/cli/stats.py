"""Count what the staging set holds: labels, scopes, tags, splits, groups, completeness, identities, origins; and list
what somebody should look at."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.texts import COMMAND, aligned, count_table, counted, listing, one_line
from harness.cli.audit import audit_words
from harness.cli.sets import compose_staging, open_set
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.references.cross_checks import Finding
    from harness.references.stats import Stats

NAME = "stats"
HELP = "count the labels of the staging set"
_NAMES_SHOWN = 10
_PHOTOS_SHOWN = 3


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    from dataclasses import asdict

    from harness.references.groups import groups_of
    from harness.references.stats import count

    store, references = open_set(compose_staging(arguments.overrides))
    contents = store.contents()
    stats = count(contents, groups_of(contents, store.root, references.groups), store.audit())
    if arguments.json:
        show_json(asdict(stats))
        return 0
    splits = ", ".join(f"{count:,} {split}" for split, count in stats.splits.items())
    print(f"{store.root}: {stats.photos:,} photos ({splits})\n")
    print(_groups(stats))
    print(count_table("Completeness (photos)", stats.states, stats.photos))
    done = {"bibs": stats.done["bibs"], "faces": stats.done["faces"], "links, or none": stats.done["links"]}
    done |= {"who is in them": stats.done["people"]} if stats.done["people"] else {}
    print(count_table("\nDone (photos)", done, stats.photos))
    if stats.review:
        photos = counted(len(stats.review), "photo")
        print(
            f"\nTo review: {photos} that an older rule took for complete, though nobody said that the faces are done:"
        )
        print(listing(stats.review.values(), _NAMES_SHOWN))
    if stats.cross_checks:
        show_findings(stats.cross_checks)
    print(
        count_table(
            f"\nBibs: {stats.bib_boxes:,} boxes, {stats.bib_numbers:,} numbers", stats.bib_scopes, stats.bib_boxes
        )
    )
    if stats.bib_tags:
        print(count_table("  tags of photos", stats.bib_tags, stats.photos))
    print(count_table(f"\nFaces: {stats.face_boxes:,} boxes", stats.face_scopes, stats.face_boxes))
    if stats.face_box_tags:
        print(count_table("  tags of boxes", stats.face_box_tags, stats.face_boxes))
    if stats.face_tags:
        print(count_table("  tags of photos", stats.face_tags, stats.photos))
    print(f"\nLinks: {stats.links:,}")
    if stats.bib_boxes or stats.face_boxes:
        rows = [
            (how, str(stats.origins["bibs"][how]), str(stats.origins["faces"][how])) for how in stats.origins["bibs"]
        ]
        print("\nWhere boxes came from")
        print("\n".join(f"  {line}" for line in aligned([("", "BIBS", "FACES"), *rows])))
    if stats.audit:
        print(f"\n{audit_words(stats.audit)}")
    print(f"\nIdentities: {stats.known_names:,} known, {len(stats.identities):,} in use")
    _show_most(stats.identities)
    if stats.people:
        print(f"\nPeople who are said to be in photos: {len(stats.people):,}")
        _show_most(stats.people)
    if stats.selfies:
        present = stats.identities.keys() | stats.people.keys()
        strangers = sum(name not in present for name in stats.selfies)
        people = counted(len(stats.selfies), "person")
        print(f"\nSelfies: {sum(stats.selfies.values()):,} of {people}, {strangers:,} of them in no photo by name")
    return 0


def _show_most(counts: dict[str, int]) -> None:
    """The names with the highest counts."""
    most = dict(list(counts.items())[:_NAMES_SHOWN])
    if most:
        print("\n".join(f"  {name:<18} {count:>8,}" for name, count in most.items()))
    if len(counts) > _NAMES_SHOWN:
        print(f"  ... and {len(counts) - _NAMES_SHOWN:,} more (--json has all)")


def _groups(stats: Stats) -> str:
    """How photos belong together, and whether the split respects that."""
    found = {name: stats.groups[name] for name in ("groups", "largest", "cut", "broken")}
    named = {"groups": found["groups"], "largest (photos)": found["largest"], "ties cut": found["cut"]}
    lines = count_table("Groups", named | {"broken by split": found["broken"]})
    if found["broken"]:
        lines += f"\n  photos of one group are in both splits: {COMMAND} split --by-group brings them together"
    return f"{lines}\n"


def show_findings(findings: Sequence[Finding]) -> None:
    """Print the first findings of cross-checks, each with the first of its photos."""
    lines = [f"{finding.words}: {_photos(finding)}" for finding in findings[:_NAMES_SHOWN]]
    if len(findings) > _NAMES_SHOWN:
        lines.append(f"... and {len(findings) - _NAMES_SHOWN:,} more (--json has all)")
    print(f"\nTo review: {counted(len(findings), 'finding')} of cross-checks between names and numbers:")
    print("\n".join(f"  {line}" for line in lines))


def _photos(finding: Finding) -> str:
    names = [one_line(name) for name in finding.photos.values()]
    more = f" and {len(names) - _PHOTOS_SHOWN:,} more" if len(names) > _PHOTOS_SHOWN else ""
    return ", ".join(names[:_PHOTOS_SHOWN]) + more
