"""Draw photos to be labelled again without suggestions, or show how far labels and blind labels agree."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.base.texts import counted, listing
from harness.cli.sets import compose_staging, open_set
from harness.cli.terminal import add_json, add_overrides, show_json

if TYPE_CHECKING:
    from harness.references.agreement import AuditReport

NAME = "audit"
HELP = "label a sample again without suggestions, and see how far the labels agree"
_SHOWN = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--draw", type=int, metavar="N", help="draw N photos that are labelled completely")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random choice (default: 0)")
    add_json(parser)
    add_overrides(parser, "references.root=FOLDER")


def run(arguments: argparse.Namespace) -> int:
    """Draw where that is asked for; tell how far it is."""
    from harness.references.agreement import audit_report
    from harness.references.audits import draw_audit

    store, _ = open_set(compose_staging(arguments.overrides))
    drawn = [] if arguments.draw is None else draw_audit(store, arguments.draw, arguments.seed)
    report = audit_report(store.contents(), store.audit())
    if arguments.json:
        show_json({"drawn": drawn, "audit": asdict(report) if report else None})
        return 0
    if drawn:
        print(f"{counted(len(drawn), 'photo')} drawn. Label them blind in the browser: harness ui, at /audit/")
    print(audit_words(report) if report else "Nothing is drawn yet: harness audit --draw 20 draws 20 photos.")
    return 0


def audit_words(report: AuditReport) -> str:
    """What an audit came to, in lines."""
    lines = [f"Blind audit: {counted(report.drawn, 'photo')} drawn"]
    for kind, found in (("bibs", report.bibs), ("faces", report.faces)):
        lines.append(f"  {kind}, {counted(found.photos, 'photo')} labelled blind")
        lines.append(f"    labels confirmed         {found.confirmed}")
        lines.append(f"    accepted as suggested    {found.accepted}")
        lines.append(f"    drawn, edited, imported  {found.others}")
        lines.append(f"    blind boxes with a label {found.found}")
    if report.disagreements:
        lines.append("  where they disagree:")
        lines.append(listing(report.disagreements, _SHOWN))
    return "\n".join(lines)
