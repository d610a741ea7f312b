"""Commands, Python and names of files in the documentation: what is called is there, with what it is asked for.

The lines that begin with `harness` are checked by test_docs_commands.py, other blocks by test_docs_files.py.
docs/extending.md is run by test_outside.py, and docs/api.md by tests/api/test_examples.py.
"""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path

import pytest
from bench.__main__ import SUITES
from bench.mutation import TARGETS
from bench.soak.__main__ import SOAKS
from packaging.requirements import Requirement

import harness
from harness.base import conf
from harness.cli import COMMANDS
from harness.cli.parsing import is_override
from tests.conftest import ROOT
from tests.documentation import BLOCKS, PAGES, PYTHON, Block, block
from tests.test_docs_commands import check as check_command

COMMAND_BLOCKS = [each for each in BLOCKS if each.commands]


class TestCommands:
    """Lines that call something else than `harness`, and calls of `harness` within a line."""

    @pytest.mark.parametrize("block", COMMAND_BLOCKS, ids=str)
    def test_every_line_is_a_command_that_there_is(self, block: Block) -> None:
        for line in block.commands:
            if not line.startswith(("harness ", "scripts/run")):  # those are looked at in test_docs_commands.py
                for command in line.strip("()").split(" && "):
                    check_line(command)

    @pytest.mark.parametrize(
        "line", ["scripts/rum", "scripts/bench speed", "scripts/soak cats", "harness lst", "pip install a[b"]
    )
    def test_a_line_that_is_none_is_found(self, line: str) -> None:
        with pytest.raises(Exception, match=r"."):
            check_line(line)

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
    def test_commands_within_sentences_are_there_as_well(self, page: Path) -> None:
        names = {command.NAME for command in COMMANDS}
        for span in spans(page):
            words = span.split()
            if words[0] in ("harness", "scripts/run") and len(words) > 1 and not words[1].startswith(READERS_OWN):
                assert words[1] in names or is_override(words[1]) or words[1].startswith("-"), span
            elif words[0].startswith("scripts/") and "*" not in span and words[0] != "scripts/NAME":
                check_line(span)


def check_line(line: str) -> None:
    """Raises where a script, what it is asked for, or a requirement does not exist."""
    words = shlex.split(line)
    if words[0].startswith("scripts/") and words[0] != "scripts/run":
        script = ROOT / words[0]
        assert script.stat().st_mode & 0o100, f"{script} cannot be run"
        asked = [word for word in words[1:] if word.islower() and not word.startswith("-")]
        if words[0] in ARGUMENTS and asked:
            assert asked[0] in ARGUMENTS[words[0]], line
        for option in (word for word in words[1:] if word.startswith("--")):
            assert re.search(rf"[\s\"\[]{option}\b", source_of(words[0], *asked[:1])), f"{words[0]} has no {option}"
    elif words[:2] == ["pip", "install"]:
        for word in (word for word in words[2:] if not word.startswith("-")):
            check_requirement(word)
    elif words[0] in ("harness", "scripts/run") and not re.search(r"\b(RUN|NAME|FOLDER|PATH)\b", line):
        check_command(line)


#: What scripts take as their first word.
ARGUMENTS = {
    "scripts/bench": {*SUITES, "races", "people"},
    "scripts/soak": set(SOAKS),
    "scripts/mutate": set(TARGETS),
    "scripts/setup": {path.stem for path in (ROOT / "requirements").glob("*.txt")},
}


#: Words that stand for the reader's own.
READERS_OWN = ("OVERRIDE", "$", "[", "RUN")


@cache
def source_of(script: str, suite: str = "") -> str:
    """The text of a script and of the modules that it starts."""
    text = (ROOT / script).read_text()
    modules = [*re.findall(r"-m (bench[.\w]*)", text), f"bench.{suite}"]
    paths = [ROOT / name.replace(".", "/") for name in modules]
    files = [path for stem in paths for path in (stem.with_suffix(".py"), stem / "__main__.py") if path.is_file()]
    return "\n".join([text, *(path.read_text() for path in files)])


def check_requirement(text: str) -> None:
    """Ours has the extras that it is asked for; of others the versions are those that we are tested with."""
    asked, project = Requirement(text), tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    if asked.name == project["name"]:
        assert asked.extras <= set(extras), text
        return
    everything = [Requirement(each) for each in [*project["dependencies"], *(r for rs in extras.values() for r in rs)]]
    known = {each.name: each.specifier for each in everything}
    assert asked.name in known or not asked.specifier, f"{text}: no package of ours to compare the version with"
    assert not asked.specifier or asked.specifier == known[asked.name], (
        f"{text}: the project asks for {known[asked.name]}"
    )


def spans(page: Path) -> list[str]:
    """What stands between backticks within sentences."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [each.strip() for each in re.findall(r"`([^`\n]+)`", text) if each.strip()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_of_the_project_that_are_named_are_there(page: Path) -> None:
    roots = (ROOT, ROOT / "src" / "harness", ROOT / "docs", conf.conf_dir())
    folders = "src|tests|docs|bench|scripts|requirements"
    for span in spans(page):
        if re.fullmatch(rf"({folders})/[\w./-]+|[\w/]+/\w+\.py", span) and span not in EXAMPLES:
            assert any((root / span).exists() for root in roots), f"{page.name}: {span}"


#: Paths that no file is meant to have.
EXAMPLES = ("scoring/x.py",)


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_compiles_and_what_it_takes_of_the_harness_is_there(block: Block) -> None:
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "harness":
            assert node.attr in harness.__all__, f"harness.{node.attr}"


def test_the_worked_scorecard_is_the_one_that_is_tested() -> None:
    tested = (ROOT / "tests" / "tasks" / "photos" / "mean_iou.py").read_text()
    assert block("architecture.md", "@dataclass").text in re.sub(r'\n    """The IoU.*?"""\n', "", tested)
    tally = block("architecture.md", "lambda labels").text
    assert tally.removeprefix("lambda labels, found, at: ").partition("(")[0] in tested
