"""The arguments of a command: what is wrong with them is told in one sentence that names what was meant."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Collection, Sequence
from typing import NoReturn

from harness.base import conf
from harness.base.errors import ConfigError

_REQUIRED = re.compile(r"the following arguments are required: (.*)")
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)")
_CHOICE = re.compile(r"argument (?P<name>.+?): invalid choice: '?(?P<given>.*?)'? \(choose from (?P<known>.*)\)")
_OPTIONAL = re.compile(r"\[.*?\]")
_OVERRIDE = re.compile(r"[+~]*[\w.@/]+=")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are ConfigErrors, as any other mistake in what was typed."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, what was probably meant, and where the rest is told."""
        raise ConfigError(f"{self._told(message)} ({self.prog} --help tells more)")

    def _told(self, message: str) -> str:
        command = self.prog.removeprefix("harness ")
        if found := _REQUIRED.fullmatch(message):
            return f"{command}: {'; '.join(self._missing(name) for name in found[1].split(', '))}"
        if found := _UNKNOWN.fullmatch(message):
            word = found[1].split()[0]
            options = [option for action in self._actions for option in action.option_strings]
            return f"{command}: {word}: no such option{meant(word, options)}"
        if found := _CHOICE.fullmatch(message):
            known = [name.strip("' ") for name in found["known"].split(",")]
            listed = ", ".join(known)
            return (
                f"{command}: {found['name']} {found['given']}: expected one of {listed}{meant(found['given'], known)}"
            )
        return f"{command}: {message.removeprefix('argument ')}"

    def _missing(self, name: str) -> str:
        """An argument that has to be there, with what its help says about it."""
        for action in self._actions:
            if name in (action.metavar, action.dest, "/".join(action.option_strings)):
                return f"{_OPTIONAL.sub('', name).strip()} is missing: {action.help}"
        return f"{name} is missing"


def meant(word: str, known: Collection[str]) -> str:
    """`; did you mean X?`, where one of the known words is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def no_such_command(word: str, commands: Collection[str]) -> str:
    """A word that is no command: perhaps a misspelled one, a group without a choice, or a choice without its group."""
    if word == "run":
        return "run: a run has no command; type harness and what it overrides, as in harness preset=fast"
    if word in conf.groups():
        return f"{word}: expected {word}=CHOICE; {word} is one of: {', '.join(conf.choices(word))}"
    groups = [group for group in sorted(conf.groups()) if word in conf.choices(group)]
    choice = f"; did you mean {groups[0]}={word}?" if groups else ""
    return f"{word}: no such command{meant(word, commands) or choice}"


def is_override(word: str) -> bool:
    """Whether a word is an override, and no path or name of a run."""
    return bool(_OVERRIDE.match(word))


def command_first(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """The arguments with the command before its overrides, as in `tracking.root=x list`. A word after overrides alone
    is taken for one, too: it is no override."""
    for place, word in enumerate(arguments):
        if word in commands or (word.isalnum() and not is_override(word)):
            return [word, *arguments[:place], *arguments[place + 1 :]]
        if not is_override(word):
            break
    return list(arguments)
