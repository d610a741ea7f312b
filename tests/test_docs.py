"""Documentation keeps step: every command, config group and exit code that exists is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.reference import pages

import harness
from harness.base import errors
from harness.base.errors import HarnessError
from harness.base.signals import EndedError, interrupted_code
from harness.cli import COMMANDS
from harness.cli.help import config_groups

ROOT = Path(__file__).parents[1]
COMMANDS_PAGE = (ROOT / "docs" / "commands.md").read_text()
CONFIG_PAGE = (ROOT / "docs" / "config.md").read_text()


@pytest.mark.parametrize("command", [command.NAME for command in COMMANDS])
def test_every_command_is_documented(command: str) -> None:
    assert f"## `harness {command}" in COMMANDS_PAGE


@pytest.mark.parametrize("group", config_groups())
def test_every_config_group_and_choice_is_documented(group: str) -> None:
    for choice in config_groups()[group]:
        assert f"`{group}={choice}`" in CONFIG_PAGE


def test_every_exit_code_is_documented() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, HarnessError)]
    for code in {kind.exit_code for kind in kinds} | {
        0,
        interrupted_code(KeyboardInterrupt()),
        interrupted_code(EndedError(15)),
        interrupted_code(EndedError(1)),
    }:
        assert re.search(rf"^\| {code} \|", COMMANDS_PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))], ids=lambda page: page.name
)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["config.md", "commands.md", "api.md"])
def test_reference_pages_are_what_the_program_says(name: str) -> None:
    written = (ROOT / "docs" / "reference" / name).read_text()
    assert written == pages()[name], f"docs/reference/{name} is old; scripts/docs --reference makes it anew"


def test_reference_pages_leave_nothing_out() -> None:
    made = pages()
    assert all(f"## harness {command.NAME}\n" in made["commands.md"] for command in COMMANDS)
    choices = [(group, choice) for group, choices in config_groups().items() for choice in choices]
    assert all(f"### {group}={choice}\n" in made["config.md"] for group, choice in choices)
    assert all(f"### harness.{name}\n" in made["api.md"] for name in harness.__all__ if name != "__version__")


def test_every_page_can_be_reached_on_the_site() -> None:
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    listed = set(re.findall(r'"([a-z0-9/_-]+\.md)"', (ROOT / "zensical.toml").read_text()))
    decisions = set(re.findall(r"\]\((\d[^)]+\.md)\)", (ROOT / "docs" / "decisions" / "index.md").read_text()))
    assert listed | {f"decisions/{page}" for page in decisions} == pages


def test_the_tree_names_no_machine() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "conf").rglob("*.yaml")]:
        assert not re.search(r"(/root/|/home/|/work/)", page.read_text()), page
