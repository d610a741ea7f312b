"""Files that a page shows are read by what reads such files, and what it shows of the program's words is what it says.

Blocks of commands and of Python are looked at in test_docs_blocks.py; none is left out.
"""

from __future__ import annotations

import configparser
import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli.help import config_groups
from harness.config import compose
from harness.grading.rules import read_overrides, read_rules
from harness.search import server as search_server
from harness.search.experiment import read_experiment
from harness.serving.team import read_team
from harness.tasks.photos.prediction_lines import parse_line
from tests.conftest import ROOT
from tests.documentation import BLOCKS, PYTHON, Block, block
from tests.test_docs_commands import check as check_command
from tests.test_docs_commands import check_overrides


def written(block: Block, folder: Path, name: str) -> Path:
    """The block as a file of a reader."""
    (folder / name).write_text(block.text)
    return folder / name


class TestFiles:
    """Blocks that are files of the reader are read by what reads such files."""

    @pytest.mark.parametrize("beginning", ["# Where the server keeps", "ui:"])
    def test_of_a_team(self, beginning: str, tmp_path: Path) -> None:
        team = read_team(written(block("team.md", beginning), tmp_path, "team.yaml"))
        assert team.health.port == 8601
        check_overrides(team.ui.overrides)

    def test_of_a_team_has_the_defaults_that_it_says(self, tmp_path: Path) -> None:
        assert read_team(written(block("team.md", "# Where the server keeps"), tmp_path, "team.yaml")) == read_team(
            None
        )

    def test_of_a_service(self) -> None:
        unit = configparser.ConfigParser()
        unit.optionxform = str  # type: ignore[assignment, method-assign]
        unit.read_string(block("team.md", "[Service]").text)
        program, rest = unit["Service"]["ExecStart"].split(maxsplit=1)
        check_command(f"{Path(program).name} {rest}")

    @pytest.mark.parametrize(
        ("page", "beginning"),
        [("search.md", "description:"), ("judge.md", "base: [preset=balanced"), ("judge.md", "base: [preset=fast")],
    )
    def test_of_an_experiment(self, page: str, beginning: str, tmp_path: Path) -> None:
        experiment = read_experiment(written(block(page, beginning), tmp_path, "mine.yaml"))
        check_overrides(tuple(experiment.base))
        for key in experiment.space:
            assert key == "face" or key in flat(compose(experiment.base)), f"{key} is not in the config"

    def test_of_rules_and_overrides_of_grading(self, tmp_path: Path) -> None:
        rules = read_rules(written(block("grading.md", "match_key"), tmp_path, "rules.yaml"))
        assert rules.match_key == "no"
        (override,) = read_overrides(written(block("grading.md", "student,"), tmp_path, "overrides.csv"))
        assert override.student == "ben"

    def test_of_predictions(self) -> None:
        assert parse_line(one_line(block("predictions.md", '{"photo"'))).links
        assert parse_line(one_line(block("predictions.md", '{"selfie"'))).selfie

    def test_of_settings(self) -> None:
        tuned = yaml.safe_load(block("config.md", "tuned_for").text)["tuned_for"]
        for group, choices in tuned.items():
            assert set(choices) <= set(config_groups()[group])
        for page in ("config.md", "security.md"):
            assert yaml.safe_load(block(page, "api_key").text) == {"api_key": "${oc.env:OCR_TOKEN}"}

    def test_of_a_client_for_agents(self) -> None:
        server = json.loads(block("agents.md", '{"mcpServers"').text)["mcpServers"]["harness"]
        check_command(shlex.join([server["command"], *server["args"]]))


def one_line(block: Block) -> bytes:
    return " ".join(block.text.split("\n")).encode()


def flat(config: Any) -> set[str]:
    """All keys of a config, those within others with dots."""
    return {
        name
        for key, value in config.items()
        for name in (
            {str(key)} | {f"{key}.{inner}" for inner in flat(value)} if hasattr(value, "items") else {str(key)}
        )
    }


def test_digits_of_tokens_are_joined_as_the_page_says() -> None:
    tokens, numbers = re.split(r" {2,}", block("confidence.md", '["["').text)
    text = "".join(json.loads(tokens.replace(", ...]", "]")))
    assert [int(each) for each in re.findall(r"\d+", text)] == [int(each) for each in re.findall(r"\d+", numbers)]


def test_what_an_agent_may_call_is_there() -> None:
    called = [line.split()[0] for line in block("agents.md", "list_studies").text.splitlines()]
    assert [name for name in called if not callable(getattr(search_server, name, None))] == []


def test_what_the_labelling_api_takes_and_gives_is_in_its_code() -> None:
    folder = ROOT / "src" / "harness"
    code = "\n".join(path.read_text() for path in [*(folder / "labeling").rglob("*.py"), folder / "types.py"])
    code += "\n".join(path.read_text() for path in (folder / "references").glob("*.py"))
    blocks = [each for each in BLOCKS if each.page == "labeling.md" and API_BLOCK.match(each.first)]
    assert len(blocks) > 8
    for each in blocks:
        for key in re.findall(r'"(\w+)":', each.text):
            assert re.search(rf"\b{key}\b", code), f"{each}: nothing is called {key}"
        for address in re.findall(r"^(?:GET|PUT|POST) +(?:/api|\.\.\.)?(/[^\s?]*)", each.text, re.MULTILINE):
            last = [part for part in address.split("/") if not re.fullmatch(r"SHA256|\d|audit|api", part)][-1]
            assert re.search(rf"/{last}\b", code), f"{each}: no address ends like {address}"


#: Blocks that are read as files, above.
READ = (
    ("team.md", "# Where the server keeps"),
    ("team.md", "ui:"),
    ("team.md", "[Service]"),
    ("search.md", "description:"),
    ("judge.md", "base: [preset=balanced"),
    ("judge.md", "base: [preset=fast"),
    ("grading.md", "match_key"),
    ("grading.md", "student,"),
    ("predictions.md", "{"),
    ("config.md", "tuned_for"),
    ("config.md", "api_key"),
    ("security.md", "api_key"),
    ("agents.md", '{"mcpServers"'),
    ("agents.md", "list_studies"),
    ("architecture.md", "lambda labels"),
    ("confidence.md", '["["'),
)
#: How blocks about what the pages and their server tell each other begin.
API_BLOCK = re.compile(r"\{$|409 |(PUT|GET|POST) ")
#: Blocks that show what is printed, or say what belongs to what, with words of theirs that the program has.
SHOWN = {
    ("README.md", "Of the"): ["photos that", "come back", "of what comes back by both is theirs"],
    ("commands.md", "Found in 4 of"): ["PHOTO", "WHY", "number read", "linked to"],
    ("confidence.md", "raw:"): ["round_999_last"],
    ("install.md", "harness: search needs"): ["packages that are not installed", "install them with: pip install"],
    ("confidence.md", '{"object_idx"'): [
        "object_idx",
        "coord_token_count",
        "matched_token_indices",
        "ambiguous_matches",
    ],
    ("grading.md", "skipped "): ["are not in the grade; with", "cannot be graded or imported", "expected 3 or more"],
    ("identity.md", "Of the"): ["photos that", "come back", "of what comes back by both is theirs"],
    ("identity.md", "faces -> landmarks"): ["landmarks"],
    ("identity.md", "Faces are grouped"): ["Faces are grouped from an average similarity of", "cross-fitted"],
    ("pipeline.md", "faces -> bibs"): ["links"],
    ("predictions.md", "predictions.jsonl:212"): ["stick out of the photo", "expected a box from 0 to"],
    ("references.md", '"must_link"'): ["must_link", "cannot_link"],
    ("references.md", '{"x"'): ["origin", "suggestion", "backend"],
    ("references.md", "To review"): ["cross-checks between names and numbers", "differ by case or blanks only"],
    ("scale.md", "Went on from run"): ["Went on from run", "which was killed", "came from the stage cache"],
    ("search.md", "As the best of"): ["on left-out groups", "95 % bound"],
    ("statistics.md", "accuracy"): ["effective n"],
    ("statistics.md", "Verdict: CANNOT"): ["CANNOT TELL", "unseen below", "could go unseen"],
    ("statistics.md", "harness references=frozen"): ["NO WORSE", "its scores are sealed"],
    ("statistics.md", "A alone"): ["on left-out groups", "shown to be better", "candidate"],
    ("team.md", "Labelling pages"): ["Labelling pages: ", "MLflow: ", "Runs go there by: ", "Stop it with Ctrl-C"],
    ("tracking.md", "points"): ["points", "▼", "·"],
    ("tracking.md", "Code"): ["Code", "the harness itself"],
    ("tutorial.md", "Verdict"): ["REGRESSED", "unseen below", "CANNOT TELL"],
    ("judge.md", "harness judge 4f2c9e1 --experiment experiments/reader.yaml --hyp"): [
        "is better by more than chance explains",
        "on left-out groups",
    ],
}


@pytest.mark.parametrize(("page", "beginning"), SHOWN)
def test_what_is_shown_is_in_the_words_of_the_program(page: str, beginning: str) -> None:
    shown = block(page, beginning).text
    for words in SHOWN[page, beginning]:
        assert words in shown, f"{page}: the block has other words than these by now"
        assert words in program(), f"{page}: the program does not say {words!r}"


@cache
def program() -> str:
    """All text of the program, with sentences that go over several lines joined."""
    files = [each for each in (ROOT / "src" / "harness").rglob("*") if each.suffix in (".py", ".html", ".yaml")]
    return re.sub(r'["\']\s*\n\s*f?["\']', "", "\n".join(each.read_text() for each in files))


def test_no_block_is_left_unlooked_at() -> None:
    left = [
        str(each)
        for each in BLOCKS
        if not each.commands
        and each not in PYTHON
        and not (each.page == "labeling.md" and API_BLOCK.match(each.first))
        and not any(each.page == page and each.first.startswith(beginning) for page, beginning in (*SHOWN, *READ))
    ]
    assert left == []
