"""Every command that stands in the documentation is one that the harness takes: its options, keys, choices and values.

Pages whose commands are also run have tests of their own, such as docs/scale.md. All of docs/extending.md is run:
it is left out here.
"""

from __future__ import annotations

import re
import shlex
import shutil
from functools import cache

import pytest

from harness.base import conf
from harness.cli import COMMANDS
from harness.cli.new import KINDS
from harness.cli.parsing import CommandParser, is_override
from harness.config import compose
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: What pages have a reader make, and the choice that stands for it here.
READERS_OWN = {"face": {"my_faces": "yunet"}}
#: Pages that tests/test_outside.py makes and runs.
RUN_ELSEWHERE = ("extending.md",)
_FENCE = re.compile(r"^ *```(?P<kind>\w*)")
_BEGINS = re.compile(r"^(?:\$ )?(?P<command>(?:harness|scripts/run|python -m harness)(?: .*)?)$")


def command_lines(page: str) -> list[str]:
    """The commands in the blocks of a page, without what is said about them behind two spaces or a #."""
    lines, fence = list[str](), None
    for line in page.splitlines():
        if found := _FENCE.match(line):
            fence = None if fence is not None else found["kind"]
        elif fence in ("bash", "sh", "shell", "console") or (fence is None and line.startswith("    ")):
            lines.append(line.strip())
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    found_lines = [found["command"] for line in joined if (found := _BEGINS.match(line))]
    return [re.split(r" {2,}| # ", line)[0].strip() for line in found_lines]


def shown() -> list[tuple[str, str]]:
    """Every command with the name of its page, each once a page; where a word in capitals stands for the reader's own,
    it is left to the tables of options."""
    pairs = [
        (page.name, line)
        for page in PAGES
        if page.name not in RUN_ELSEWHERE
        for line in dict.fromkeys(command_lines(page.read_text()))
    ]
    return [(page, line) for page, line in pairs if not re.search(r"\b(RUN|KIND|NAME|FOLDER|OVERRIDE|STUDY)\b", line)]


@pytest.fixture(scope="module", autouse=True)
def readers_choices(tmp_path_factory: pytest.TempPathFactory) -> object:
    """A conf folder in which the readers' own choices are there."""
    folder = tmp_path_factory.mktemp("reader") / "conf"
    for group, choices in READERS_OWN.items():
        (folder / group).mkdir(parents=True)
        for own, ours in choices.items():
            shutil.copy(conf.conf_dir() / group / f"{ours}.yaml", folder / group / f"{own}.yaml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HARNESS_CONF", str(folder))
        yield


@cache
def check_overrides(overrides: tuple[str, ...]) -> None:
    """Raises where a key or a choice does not exist. Of a sweep the first value of each key is taken."""
    compose([item for item in overrides if not item.startswith("hydra")])


def first_values(overrides: list[str]) -> list[str]:
    """`face.threshold=0.5,0.6` -> `face.threshold=0.5`; a list in brackets is one value."""
    return [item if "[" in item else item.partition(",")[0] for item in overrides]


def check(line: str) -> None:
    words = shlex.split(line)
    words = words[3:] if words[0] == "python" else words[1:]
    names = {command.NAME: command for command in COMMANDS}
    if words and words[0] in names:
        parser = CommandParser(prog=words[0], allow_abbrev=False)
        names[words[0]].configure(parser)
        given = parser.parse_intermixed_args(words[1:])
        overrides = [word for word in getattr(given, "overrides", []) if is_override(word)]
    else:
        overrides = [word for word in words if word not in ("-m", "--cfg", "job")]
        assert all(map(is_override, overrides)), f"{line}: neither a command nor overrides"
    check_overrides(tuple(first_values(overrides)))


@pytest.mark.parametrize("page", sorted({page for page, _ in shown()}))
def test_every_command_of_a_page_is_one_that_the_harness_takes(page: str) -> None:
    for name, line in shown():
        if name == page:
            check(line)


def test_there_are_commands_to_check() -> None:
    assert len(shown()) > 120
    assert {"README.md", "commands.md", "team.md", "ci.md"} <= {page for page, _ in shown()}


@pytest.mark.parametrize(
    "line", ["harness face.treshold=0.5", "harness preset=fats", "harness ui --prot 1", "harness lst"]
)
def test_a_command_that_is_none_is_found(line: str) -> None:
    with pytest.raises((Exception, AssertionError)):
        check(line)


def test_blocks_are_read_as_a_reader_does() -> None:
    indented = "words harness no\n\n    harness list     what it does\n    harness a=1 \\\n      b=2   # why\n"
    assert command_lines(f"{indented}\n```bash\nharness ui\n```\n") == ["harness list", "harness a=1 b=2", "harness ui"]


def test_every_kind_that_can_be_started_is_explained() -> None:
    page = (ROOT / "docs" / "extending.md").read_text()
    assert [kind for kind in KINDS if f"| `{kind}` |" not in page] == []
