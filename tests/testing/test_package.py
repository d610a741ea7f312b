"""`harness.testing` as a package: its examples run, and where pytest is missing it says so."""

from __future__ import annotations

import doctest
import subprocess
import sys
from types import ModuleType

import pytest

from harness.base.errors import ConfigError
from harness.testing import backend_from, choices, draw_runners, photos, scorecard_from


@pytest.mark.parametrize("module", [choices, photos])
def test_the_examples_in_its_docstrings_run(module: ModuleType) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed


def test_without_pytest_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pytest'] = None; import harness.testing"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        done.stderr.splitlines()[-1] == "ImportError: harness.testing needs pytest; install it with: pip install pytest"
    )


def test_a_choice_that_does_not_exist_is_told_with_those_that_do() -> None:
    with pytest.raises(ConfigError, match=r"link=chains: no such choice; link is one of: geometric, rule_of_thumb"):
        backend_from("link", "chains")


def test_a_choice_of_scoring_without_cards_of_its_own_says_what_is_expected() -> None:
    with pytest.raises(
        ConfigError, match=r"scoring=standard: no cards; expected a list such as cards: \[standard.score"
    ):
        scorecard_from("standard")


def test_drawn_runners_are_where_their_labels_say() -> None:
    scene = draw_runners(["417", None, "S08B"], size=(640, 480))
    assert [bib.number for bib in scene.labels.bibs or ()] == ["417", "S08B"]
    assert [(link.bib_index, link.face_index) for link in scene.labels.links or ()] == [(0, 0), (1, 2)]
    for face in scene.labels.faces or ():
        x, y = round((face.x + face.w / 2) * 640), round((face.y + face.h / 2) * 480)
        assert tuple(scene.image[y, x]) == photos.SKIN
    assert (draw_runners(seed=3).image == draw_runners(seed=3).image).all()
    assert (draw_runners(seed=3).image != draw_runners(seed=4).image).any()
