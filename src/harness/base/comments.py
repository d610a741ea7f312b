"""What the keys of config files mean, by the comments in the files themselves.

A comment stands above the key that it is about, or behind its value. A file begins with a comment on the choice as a
whole, and a comment that goes on with `...` goes on from the one before it. For example:

    # Text is looked for in the photo, scaled to this many pixels on its long side.
    long_side: 1280
    rule:
      # A digit that stands alone.
      lone_char_score: 0.75

says what `long_side` and `rule.lone_char_score` are. Nothing is composed and nothing is imported.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from harness.base.conf import choices, find_choice

_KEY = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z_][\w/]*):(?P<value>.*)$")
_COMMENT = re.compile(r"^ *#+ ?(?P<text>.*)$")
#: A comment behind a value; one inside of quotes is a part of the value.
_BEHIND = re.compile(r"""^(?P<value>(?:[^"'#]|"[^"]*"|'[^']*')*?)\s+# ?(?P<text>.*)$""")
#: What Hydra is told in a comment.
_PACKAGE = "@package"


@dataclass(frozen=True)
class FileMeaning:
    """What a config file says about itself: the choice as a whole, and its keys by their dotted names, each with the
    value that the file gives it, as it is written."""

    about: str = ""
    keys: dict[str, str] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)


def read_meanings(text: str) -> FileMeaning:
    """The comments of a config file by the keys that they are about."""
    about, keys, values = "", dict[str, str](), dict[str, str]()
    above, last, path = list[str](), "", list[tuple[int, str]]()
    for line in text.splitlines():
        if not line.strip():
            above = []
        elif comment := _COMMENT.match(line):
            above += [_set_off(comment["text"])] if _PACKAGE not in comment["text"] else []
        elif found := _KEY.match(line):
            told, above = " ".join(above), []
            if not path and not keys and not values and told:  # the first comment is about the whole file
                about, told = told.strip(), ""
            told = " ".join(told.split())
            indent, behind = len(found["indent"]), _BEHIND.match(found["value"])
            path = [*(item for item in path if item[0] < indent), (indent, found["key"])]
            key = ".".join(name for _, name in path)
            told = " ".join(filter(None, (told, behind["text"].strip() if behind else "")))
            if told.startswith("..."):
                told = f"{last.rstrip(' .,')} {told}"
            last = told or last
            if told:
                keys[key] = told
            values[key] = (behind["value"] if behind else found["value"]).strip()
        else:  # an item of a list, or the rest of a value
            above = []
    return FileMeaning(about, keys, values)


def _set_off(text: str) -> str:
    """A line of a comment; one that is indented, such as a command, keeps three blanks on both sides."""
    return f"   {text.strip()}   " if text.startswith("  ") else text.strip()


def meanings_of(group: str) -> dict[str, FileMeaning]:
    """Each choice of a group, with what its file says about it."""
    found: dict[str, Path | None] = {choice: find_choice(group, choice) for choice in choices(group)}
    return {choice: read_meanings(path.read_text()) for choice, path in found.items() if path is not None}


def meaning_of(key: str) -> str:
    """What a dotted key such as `link.max_drop` means, by the first file of its group that says so; "" where none
    does."""
    group, _, rest = key.partition(".")
    if not rest:
        return "; ".join(f"{choice}: {each.about}" for choice, each in meanings_of(group).items() if each.about)
    for each in meanings_of(group).values():
        place = rest
        while place:  # a key without words of its own is explained by what it is a part of
            if place in each.keys and rest in each.values:
                return each.keys[place]
            place = place.rpartition(".")[0]
        if rest in each.values and each.about:
            return each.about
    return ""
