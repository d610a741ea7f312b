"""`harness --help`, without importing anything heavy."""

from __future__ import annotations

from harness.base import conf
from harness.cli import COMMANDS

_USAGE = """\
harness judges a race-photo pipeline by scorecards on labelled photos and keeps every run in MLflow.

A run:
  harness                                   run the default preset on the built-in sample set
  harness preset=fast face.threshold=0.6    choose a preset, set a parameter
  harness -m preset=fast,best               a sweep: one run for each choice, and an overview
  harness --cfg job preset=fast             show the config that a run would use, and run nothing

Choices (harness GROUP=CHOICE):
{groups}

Your own choices and code: conf/GROUP/CHOICE.yaml where the command is run, or in --config-dir DIR, which every
command takes (docs/extending.md).
Any key of the config can be set: harness bib.long_side=1600. docs/reference/config.md lists all keys.

Commands (harness COMMAND --help tells more):
{commands}"""


def overview() -> str:
    """The help text for both halves of the command line."""
    groups = "\n".join(f"  {name:<12} {', '.join(choices)}" for name, choices in config_groups().items())
    commands = "\n".join(f"  {command.NAME:<12} {command.HELP}" for command in COMMANDS)
    return _USAGE.format(groups=groups, commands=commands)


def config_groups() -> dict[str, list[str]]:
    """The config groups and what each offers."""
    return {group: conf.choices(group) for group in sorted(conf.groups())}
