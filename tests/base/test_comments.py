"""What the keys of config files mean, by their own comments."""

from __future__ import annotations

import pytest

from harness.base.comments import meaning_of, meanings_of, read_meanings
from harness.base.conf import conf_dir, groups
from harness.search.experiment import read_experiment, shipped

FILE = """\
# @package _global_
# The choice as a whole,
# in two lines.
_target_: somewhere.Thing
# How long the long side is.
long_side: 1280
# ... in so many parts.
tiles: 1   # at least 1
label: "# no comment"
# A part.
rule:
  least: 0.5
  # A digit that stands alone.
  lone: 0.75
list:
  # of an item
  - a: 1

# of nothing

last: 2
"""


def test_comments_belong_to_the_keys_below_them() -> None:
    found = read_meanings(FILE)
    assert found.about == "The choice as a whole, in two lines."
    assert found.keys == {
        "long_side": "How long the long side is.",
        "tiles": "How long the long side is ... in so many parts. at least 1",
        "rule": "A part.",
        "rule.lone": "A digit that stands alone.",
    }
    assert found.values["label"] == '"# no comment"'
    assert found.values["tiles"] == "1"
    assert found.values["last"] == "2"


@pytest.mark.parametrize("path", sorted(shipped().glob("*.yaml")), ids=lambda path: path.stem)
def test_every_parameter_of_a_shipped_experiment_has_a_meaning(path: object) -> None:
    from pathlib import Path

    assert isinstance(path, Path)
    for key in read_experiment(path).space:
        assert meaning_of(key), key


@pytest.mark.parametrize("group", sorted(groups()))
def test_every_file_of_a_group_can_be_read(group: str) -> None:
    found = meanings_of(group)
    assert set(found) >= {path.stem for path in (conf_dir() / group).glob("*.yaml")}


def test_a_key_without_words_is_explained_by_what_it_is_a_part_of() -> None:
    assert meaning_of("bib.rule.min_char_score").startswith("How sure a number has to be.")
    assert meaning_of("nope.nothing") == ""
    assert meaning_of("link.nothing") == ""
