"""The pins: complete, hashed, without a host, and within the ranges of pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FILES = ("run", "scale", "test", "uv")
#: The extras that `scripts/run` installs, and those that go beyond one machine.
EVERYTHING = ("all", "heic", "insightface", "postgres", "checkout")
BEYOND = ("shared", "ray", "submitit")


def pins(name: str) -> dict[str, list[str]]:
    """Package -> pinned versions (more than one where they differ by Python version)."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines():
        if match := re.match(r"([a-z0-9._-]+)==([^ ;]+)", line):
            found.setdefault(match[1], []).append(match[2])
    return found


def declared(*extras: str) -> list[Requirement]:
    """What a plain install asks for, and what these extras do; an extra may name others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in extras)]
    asked = [Requirement(line) for group in groups for line in group]
    others = {extra for one in asked if one.name == project["name"] for extra in one.extras} - set(extras)
    return declared(*extras, *others) if others else [one for one in asked if one.name != project["name"]]


@pytest.mark.parametrize(
    ("name", "extras"),
    [("run", EVERYTHING), ("scale", (*EVERYTHING, *BEYOND)), ("test", (*EVERYTHING, *BEYOND, "test"))],
)
def test_every_declared_package_is_pinned_within_its_range(name: str, extras: tuple[str, ...]) -> None:
    pinned = pins(name)
    for requirement in declared(*extras):
        versions = pinned.get(requirement.name, [])
        assert versions, f"{requirement.name} is not pinned"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_what_tests_run_on_is_what_users_run() -> None:
    tested, beyond = pins("test"), pins("scale")
    assert {name: tested.get(name) for name in beyond} == beyond
    assert {name: beyond.get(name) for name in pins("run")} == pins("run")


@pytest.mark.parametrize("name", FILES)
def test_pins_are_hashed_and_name_no_host(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    assert not re.search(r"https?:|--index|--find-links|--trusted", text)
    assert all("--hash=sha256:" in block for block in re.split(r"\n(?=\S)", text.strip()))


def test_only_one_opencv_is_installed() -> None:
    assert [name for name in pins("run") if name.startswith("opencv")] == ["opencv-python-headless"]
